"""A small transformer with dropout, and a backend that runs its graphs cut by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from cutting import Chain
from torch import fx, nn

from residency.pipeline import torch_private
from residency.pipeline.segments import SegmentCompiler

WORDS = 40


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, width = x.shape
        q, k, v = (
            y.view(batch, time, 2, width // 2).transpose(1, 2)
            for y in self.qkv(self.norm(x)).chunk(3, -1)
        )
        weights = F.dropout(F.softmax(q @ k.transpose(-1, -2), -1), 0.1, self.training)
        y = (weights @ v).transpose(1, 2).reshape(batch, time, width)
        return x + F.dropout(self.out(y), 0.1, self.training)


class Transformer(nn.Module):
    def __init__(self, layers: int = 2, width: int = 16) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(WORDS, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = nn.Linear(width, WORDS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), ids.flatten())


def losses_and_gradients(
    model: nn.Module,
    backend: str | Callable,
    shapes: Sequence[tuple[int, int]] = ((2, 6),),
    any_batch: bool = False,
) -> list[torch.Tensor]:
    """Loss and gradients of one step for each shape, with a symbolic batch on demand; the same seeds on every call."""
    torch._dynamo.reset()
    step, record = torch.compile(model, backend=backend), []
    for seed, shape in enumerate(shapes):
        torch.manual_seed(seed)
        model.zero_grad()
        ids = torch.randint(0, WORDS, shape)
        if any_batch:
            torch._dynamo.mark_dynamic(ids, 0)
        loss = step(ids)
        loss.backward()
        record += [loss.detach(), *(p.grad.clone() for p in model.parameters())]
    return record


def cut_backend(
    compiler: SegmentCompiler,
    count: int = 1,
    backward_count: int | None = None,
    *,
    at: Callable[[fx.Node], bool] | None = None,
    donate: bool = False,
    decompositions: dict | None = None,
) -> Callable:
    """Runs each graph as a chain of `count` segments, backward of another number on demand, or cut where `at` says."""
    backward_count = backward_count or count
    inductor = compiler.mode == "inductor"
    split = torch_private.inductor_partition if inductor else torch_private.min_cut_partition
    user_outputs: list[int] = []

    def partition(joint, inputs, *, num_fwd_outputs, **options):
        user_outputs.append(num_fwd_outputs)
        return split(joint, inputs, num_fwd_outputs=num_fwd_outputs, **options)

    def forward(gm, inputs):
        chain = Chain(gm, inputs, compiler, count, at=at, visible=user_outputs[-1])
        torch_private.report_output_strides(chain.strides)
        return chain.boxed()

    def backward(gm, inputs):
        visible = len(gm.graph.output_node().args[0])
        chain = Chain(
            gm,
            inputs,
            compiler,
            backward_count,
            at=at,
            is_backward=True,
            visible=visible,
            donate=donate,
        )
        return chain.boxed()

    hooks = {"partition_fn": partition, "fw_compiler": forward, "bw_compiler": backward}
    if inductor:
        return torch_private.inductor_backend(**hooks)
    return torch_private.aot_backend(**hooks, decompositions=decompositions)


def node_by_node() -> Callable:
    """The same graphs as `cut_backend` has in eager mode, run by FX's interpreter."""

    def interpret(gm, inputs):
        def run(args: list) -> tuple:
            values = list(args)
            args.clear()
            return fx.Interpreter(gm).boxed_run(values)

        run._boxed_call = True
        return run

    return torch_private.aot_backend(
        fw_compiler=interpret, bw_compiler=interpret, partition_fn=torch_private.min_cut_partition
    )

"""Runs a few training steps and records everything that must not change."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import zoo
from torch import nn

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-2),
}


@dataclass
class Record:
    """Bits of a training run: losses, gradients of every step, and the final state (buffers included)."""

    losses: list[torch.Tensor] = field(default_factory=list)
    gradients: list[dict[str, torch.Tensor | None]] = field(default_factory=list)
    state: dict[str, torch.Tensor] = field(default_factory=dict)

    def differences(self, other: Record) -> list[str]:
        """Names of everything that is not equal bit for bit."""
        found = [
            f"loss {i}"
            for i, (a, b) in enumerate(zip(self.losses, other.losses, strict=True))
            if a != b
        ]
        for i, (a, b) in enumerate(zip(self.gradients, other.gradients, strict=True)):
            found += [f"gradient {n} of step {i}" for n in a if not same(a[n], b[n])]
        return found + [n for n in self.state if not same(self.state[n], other.state[n])]


def same(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    return a is b if a is None or b is None else torch.equal(a, b)


def build(name: str) -> tuple[nn.Module, dict[str, torch.Tensor]]:
    """A freshly initialised model in training mode and one batch; the same on every call."""
    torch.manual_seed(0)
    make_model, make_batch = zoo.MODELS[name]
    return make_model().train(), make_batch()


def train(
    model: nn.Module,
    batch: dict[str, torch.Tensor],
    prepare: Callable[[nn.Module], Callable],
    optimizers: tuple[str, ...] = ("sgd", "adamw"),
    steps: int = 3,
    after_forward: Callable[[], None] = lambda: None,
) -> dict[str, Record]:
    """Trains a copy of `model` from the same state with each optimizer; `prepare` compiles it once.

    Random numbers are the same for every `prepare`.
    """
    torch._dynamo.reset()
    model, start = copy.deepcopy(model), copy.deepcopy(model.state_dict())
    step, records = prepare(model), {}
    for name in optimizers:
        model.load_state_dict(start)
        update = OPTIMIZERS[name](model.parameters())
        records[name] = run_steps(model, batch, step, update, steps, after_forward)
    return records


def run_steps(
    model: nn.Module,
    batch: dict[str, torch.Tensor],
    step: Callable,
    update: torch.optim.Optimizer,
    steps: int,
    after_forward: Callable[[], None],
) -> Record:
    record = Record()
    for index in range(steps):
        torch.manual_seed(index)
        loss = step(batch)
        after_forward()
        loss.backward()
        record.losses.append(loss.detach())
        record.gradients.append(
            {n: None if p.grad is None else p.grad.clone() for n, p in model.named_parameters()}
        )
        update.step()
        update.zero_grad()
        del loss
    record.state = {n: t.clone() for n, t in model.state_dict().items()}
    return record


def node_by_node(model: nn.Module) -> Callable:
    """The same AOTAutograd graphs (same decompositions and partitioner), run node by node."""
    from residency.pipeline import torch_private

    def interpret(graph: torch.fx.GraphModule, inputs: object) -> Callable:
        def run(args: list) -> tuple:
            copied = list(args)
            args.clear()
            return torch.fx.Interpreter(graph).boxed_run(copied)

        run._boxed_call = True
        return run

    backend = torch_private.aot_backend(
        fw_compiler=interpret, partition_fn=torch_private.min_cut_partition
    )
    return torch.compile(model, backend=backend)


def residency(**options: object) -> Callable[[nn.Module], Callable]:
    """Our backend, which must take the whole step."""
    options = {"fallback": False, "segments": "eager", **options}
    return lambda model: torch.compile(model, backend="residency", options=options)

"""A model's training step as graphs or as a module, without compiling it."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torch_mlir import ir

from .importer import import_step
from .torch_private import aot_backend, inductor_decompositions, min_cut_partition


@dataclass(frozen=True)
class StepGraphs:
    """One step as AOTAutograd hands it to compilers."""

    forward: fx.GraphModule
    backward: fx.GraphModule | None
    """None when nothing requires gradients"""
    num_user_outputs: int
    """forward's outputs after these are saved for backward"""
    static_input_indices: tuple[int, ...]
    """forward's placeholders that are parameters or buffers"""


def capture_graphs(
    step: Callable[..., Any],
    *args: Any,
    decompositions: dict[Any, Callable] | None = None,
    partition: Callable = min_cut_partition,
    fullgraph: bool = True,
    dynamic: bool | None = None,
    **kwargs: Any,
) -> list[StepGraphs]:
    """Runs `step(*args, **kwargs)` once, uncompiled, and returns the graphs that torch.compile would compile.

    `decompositions` is an AOTAutograd table, inductor's if None; `partition` splits the joint graph. There is one item for each
    graph; with `fullgraph` a graph break raises torch's own error.
    """
    graphs: list[StepGraphs] = []

    def split(joint: fx.GraphModule, inputs: Any, *, num_fwd_outputs: int, **options: Any) -> Any:
        forward, backward = partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **options)
        static = options.get("static_lifetime_input_indices") or ()
        graphs.append(StepGraphs(forward, backward, num_fwd_outputs, tuple(static)))
        return forward, backward

    def inference(graph: fx.GraphModule, _: Any) -> fx.GraphModule:
        outputs = graph.graph.output_node().args[0]
        graphs.append(StepGraphs(graph, None, len(outputs), ()))
        return graph

    def unchanged(graph: fx.GraphModule, _: Any) -> fx.GraphModule:
        return graph

    backend = aot_backend(
        fw_compiler=unchanged,
        bw_compiler=unchanged,
        inference_compiler=inference,
        partition_fn=split,
        decompositions=inductor_decompositions() if decompositions is None else decompositions,
    )

    def run(*args: Any, **kwargs: Any) -> Any:
        return step(*args, **kwargs)

    # A code object of its own: torch.compile counts recompilations by it, and this one would soon have too many.
    fresh = types.FunctionType(
        run.__code__.replace(), run.__globals__, run.__name__, run.__defaults__, run.__closure__
    )
    torch.compile(fresh, backend=backend, fullgraph=fullgraph, dynamic=dynamic)(*args, **kwargs)
    return graphs


def capture(
    model: nn.Module | Callable[..., Any],
    *example_inputs: Any,
    loss: Callable[[Any], torch.Tensor] | None = None,
    **kwargs: Any,
) -> ir.Module:
    """The MLIR module of one training step, `@forward` and `@backward`, in the `imported` phase.

    `model(*example_inputs, **kwargs)` is run once. `loss` maps its result to a scalar; without it the step's outputs are the
    model's. A model without trainable parameters gives `@forward` alone. Raises torch's own error at a graph break.
    """

    def step(*args: Any, **kwargs: Any) -> Any:
        outputs = model(*args, **kwargs)
        return outputs if loss is None else loss(outputs)

    graphs = capture_graphs(step, *example_inputs, **kwargs)
    if len(graphs) != 1:
        raise ValueError(f"a step without tensor computation has no module, graphs: {len(graphs)}")
    (found,) = graphs
    return import_step(
        found.forward,
        found.backward,
        num_user_outputs=found.num_user_outputs,
        static_input_indices=found.static_input_indices,
    ).module

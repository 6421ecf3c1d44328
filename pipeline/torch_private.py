"""The only place that touches private torch APIs. Tried with torch 2.11 to 2.13.

Each function says what it wraps, so that a torch release that moves something breaks one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses import FakeTensor, FakeTensorMode

__all__ = [
    "FakeTensor",
    "FakeTensorMode",
    "HigherOrderOperator",
    "OpOverload",
    "aot_backend",
    "expression_of",
    "graph_module",
    "inductor_decompositions",
    "min_cut_partition",
    "schema_of",
]


def schema_of(target: Any) -> torch.FunctionSchema | None:
    """Schema of an op; None for anything else that a graph may call."""
    return getattr(target, "_schema", None)


def expression_of(value: Any) -> Any:
    """The expression behind a symbolic number, anything else as it is. Comparing the number itself would add a guard."""
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return value.node.expr
    return value


def graph_module(attributes: torch.nn.Module | dict[str, Any], graph: fx.Graph) -> fx.GraphModule:
    """A GraphModule whose Python code is generated only when it is called.

    Generating it for thousands of nodes costs as much as raising them, and the compilers never look at it.
    """
    from torch.fx import _lazy_graph_module

    with _lazy_graph_module._use_lazy_graph_module(True):
        return _lazy_graph_module._make_graph_module(attributes, graph)


def aot_backend(**options: Any) -> Callable:
    """A torch.compile backend over AOTAutograd (torch._dynamo.backends.common.aot_autograd)."""
    from torch._dynamo.backends.common import aot_autograd

    return aot_autograd(**options)


def min_cut_partition(*args: Any, **kwargs: Any) -> tuple[fx.GraphModule, fx.GraphModule]:
    """The partitioner that inductor uses: it recomputes cheap values instead of saving them."""
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    return min_cut_rematerialization_partition(*args, **kwargs)


def inductor_decompositions() -> dict[Any, Callable]:
    """Inductor's decomposition table."""
    from torch._inductor.decomposition import select_decomp_table

    return select_decomp_table()


def inductor_partition(*args: Any, **kwargs: Any) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Inductor's own partitioner, which runs its passes on the joint graph first."""
    from torch._inductor.compile_fx import partition_fn

    return partition_fn(*args, **kwargs)


def inductor_joint_passes(graph: fx.GraphModule) -> None:
    """The passes that Inductor runs on a graph which is not partitioned (inference)."""
    from torch._inductor.compile_fx import _recursive_joint_graph_passes

    _recursive_joint_graph_passes(graph)


def report_output_strides(strides: list[tuple[int, ...] | None]) -> None:
    """Tells AOTAutograd how the values really lie that forward returns: it compiles backward for them."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.output_strides is not None:
        context.output_strides.extend(strides)


def backend_options(compiled: Callable, backend: str) -> Any:
    """The options object that a compiled function hands to its backend, None if it was given none.

    Raises TypeError for a function that was not compiled with `backend`.
    """
    wrapper = getattr(getattr(compiled, "dynamo_ctx", None), "callback", None)
    if wrapper is None:  # a compiled function keeps its backend in a closure
        config = getattr(compiled, "get_compiler_config", None)
        cells = getattr(config, "__closure__", None) or ()
        wrapper = next((c.cell_contents for c in cells if c.cell_contents is not None), None)
        wrapper = getattr(wrapper, "callback", wrapper)
    while hasattr(wrapper, "_torchdynamo_orig_backend"):
        wrapper = wrapper._torchdynamo_orig_backend
    if getattr(wrapper, "compiler_name", None) != backend:
        raise TypeError(f'needs a function compiled with backend="{backend}", got: {compiled!r}')
    return wrapper.kwargs.get("options")

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

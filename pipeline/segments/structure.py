"""What makes two segments equal: their structure, however their nodes are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from ..torch_private import OpOverload, expression_of

READ_BY_COMPILER = (
    "eager_input_vals",
    "inductor_realize_to_strides",
    "custom",
    "unbacked_bindings",
)
"""keys of `node.meta`, besides values, that change what Inductor makes of a node"""


class Structure:
    """Text of graphs and values; equal texts mean equal code. Objects that have no text of their own go by identity.

    `objects` must live as long as the text is compared with others.
    """

    def __init__(self) -> None:
        self.objects: list[Any] = []

    def graph(self, gm: fx.GraphModule) -> str:
        numbers: dict[fx.Node, int] = {}
        lines = []
        for node in gm.graph.nodes:
            target = self.target(gm, node)
            args = self.text((node.args, node.kwargs), numbers)
            lines.append(f"{node.op} {target} {args}")
            numbers[node] = len(numbers)
        return "\n".join([*lines, repr(hidden_facts(gm))])

    def target(self, gm: fx.GraphModule, node: fx.Node) -> str:
        if node.op in ("placeholder", "output"):
            return ""
        if node.op == "call_method":
            return node.target
        if node.op in ("get_attr", "call_module"):
            value = gm
            for name in node.target.split("."):
                value = getattr(value, name)
            if isinstance(value, fx.GraphModule):
                return "{" + self.graph(value) + "}"
            return self.identity(value)
        return self.text(node.target, {})

    def text(self, value: Any, numbers: dict[fx.Node, int]) -> str:
        """`1`, `1.0` and `True` have three texts, `0.0` and `-0.0` two."""
        if isinstance(value, fx.Node):
            return f"%{numbers[value]}"
        if isinstance(value, tuple | list):
            inner = ",".join(self.text(v, numbers) for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner})"
        if isinstance(value, dict):
            return "{" + ",".join(f"{k!r}:{self.text(v, numbers)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return "slice" + self.text((value.start, value.stop, value.step), numbers)
        if isinstance(value, torch.Tensor):
            return self.identity(value)
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return f"{type(value).__name__} {expression_of(value)}"
        if isinstance(value, OpOverload):
            return str(value)
        if value is None or type(value) in (int, float, bool, str, complex):
            return repr(value)
        if isinstance(
            value, torch.dtype | torch.device | torch.layout | torch.memory_format | range
        ):
            return repr(value)
        return self.identity(value)

    def identity(self, value: Any) -> str:
        self.objects.append(value)
        return f"object {id(value)}"

    def argument(self, value: Any) -> str:
        """How an argument lies, or its value if it is not a tensor: numbers are compiled in."""
        return describe(value) if isinstance(value, torch.Tensor) else self.text(value, {})


def describe(value: torch.Tensor) -> str:
    """Type, sizes, strides and whereabouts of a tensor, symbolic ones as expressions."""
    shape = [str(expression_of(s)) for s in value.shape]
    text = f"{value.dtype} {value.device} {shape} {value.requires_grad} {type(value).__name__}"
    if value.layout is not torch.strided:
        return f"{text} {value.layout}"
    strides = [str(expression_of(s)) for s in value.stride()]
    flags = (value.is_conj(), value.is_neg())
    return f"{text} {strides} {expression_of(value.storage_offset())} {flags}"


def hidden_facts(gm: fx.GraphModule) -> list[tuple[int, str, str]]:
    """What decides how nodes are compiled and shows neither in the code nor in the inputs: (node number, key, value).

    Numbers run on through the graphs that `gm` contains.
    """
    graphs = [module.graph for module in gm.modules() if isinstance(module, fx.GraphModule)]
    nodes = [node for graph in graphs for node in graph.nodes]
    return [
        (number, key, _fact(node.meta[key]))
        for number, node in enumerate(nodes)
        for key in READ_BY_COMPILER
        if node.meta.get(key)
    ]


def _fact(value: Any) -> str:
    leaves = pytree.tree_leaves(value)
    return repr([describe(v) if isinstance(v, torch.Tensor) else str(v) for v in leaves])


def symbols_in(inputs: Sequence[Any]) -> bool:
    """True if a size, stride or number among the inputs is symbolic."""

    def symbolic(value: Any) -> bool:
        if isinstance(value, torch.Tensor):
            strides = value.stride() if value.layout is torch.strided else ()
            return any(isinstance(s, torch.SymInt) for s in (*value.shape, *strides))
        return isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)

    return any(symbolic(v) for v in inputs)

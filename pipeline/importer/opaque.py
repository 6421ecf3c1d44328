"""Calls without a form in the torch dialect: carried through untouched, their graph values as operands."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch_mlir import ir

from ...dialect import attributes as attr
from ..node_table import Attribute, Leaf, NodeInfo, OpaqueCall
from ..torch_private import schema_of
from .literals import Bound
from .names import OPAQUE_PREFIX
from .types import Typed

if TYPE_CHECKING:
    from .graph import GraphImporter


class Unknown:
    """Stands for a value that FX does not know."""


def value_of(node: fx.Node) -> Any:
    """FX's value of a node; where it has none, what the nodes that take it apart know, or Unknown."""
    for key in ("val", "example_value"):
        if key in node.meta:
            return node.meta[key]
    items = {u.args[1]: value_of(u) for u in node.users if u.target is operator.getitem}
    if items and all(type(i) is int and i >= 0 for i in items):
        return tuple(items.get(i, Unknown) for i in range(max(items) + 1))
    schema = schema_of(node.target)
    return None if schema is not None and not schema.returns else Unknown


def import_opaque(graph: GraphImporter, node: fx.Node) -> None:
    """Appends the opaque op of a call and binds its results."""
    template = Template(graph)
    args, kwargs = template.of(tuple(node.args)), template.of(dict(node.kwargs))
    target = node.target
    if node.op == "call_module":
        target = Attribute(target, graph.attribute(node))
    results: list[Typed] = []
    structure = _structure(graph, value_of(node), results)
    info = NodeInfo(node.name, dict(node.meta))
    info.call = OpaqueCall(node.op, target, args, kwargs, structure)
    shared = graph.shared
    handle = shared.handle(info)
    name = ir.StringAttr.get(f"{OPAQUE_PREFIX}{handle.value}", shared.context)
    shown = getattr(node.target, "__name__", None) or str(node.target)
    op = graph.append(
        "torch.operator",
        template.operands,
        [r.type for r in results],
        {"name": name, attr.FX: handle},
        shared.locations.named(shown, shared.locations.of(node)),
    )
    bound = [Bound(r, t.kind) for r, t in zip(op.results, results, strict=True)]
    graph.values[node] = _bind(structure, bound)
    graph.infos[node] = info


def import_output(graph: GraphImporter, outputs: Any) -> tuple[list[Bound], OpaqueCall]:
    """Outputs that are nested or hold objects: the values among them, and a template to rebuild the rest."""
    template = Template(graph)
    structure = template.of(outputs)
    bound = [Bound(value, graph.types.any.kind) for value in template.operands]
    return bound, OpaqueCall("output", None, (structure,), {}, None)


class Template:
    """Arguments with their graph values replaced by numbered leaves."""

    def __init__(self, graph: GraphImporter) -> None:
        self.graph = graph
        self.operands: list[ir.Value] = []

    def of(self, value: Any) -> Any:
        if isinstance(value, fx.Node):
            return self.node(value)
        if isinstance(value, Bound):
            return self.leaf(value)
        if isinstance(value, torch.Tensor):
            return self.leaf(self.graph.constant(value, "_tensor_constant"))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[self.of(v) for v in value])
        # Plain types, not FX's immutable ones: those cannot be rebuilt item by item.
        if isinstance(value, tuple | list):
            items = [self.of(v) for v in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, dict):
            return {k: self.of(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(self.of(value.start), self.of(value.stop), self.of(value.step))
        return value

    def node(self, node: fx.Node) -> Any:
        if node.op == "get_attr":
            value = self.graph.attribute(node)
            if isinstance(value, torch.nn.Module):
                return Attribute(node.target, value)
        return self.of(self.graph.read(node))

    def leaf(self, bound: Bound) -> Leaf:
        self.operands.append(bound.value)
        return Leaf(len(self.operands) - 1)


def _structure(graph: GraphImporter, value: Any, results: list[Typed]) -> Any:
    """Numbers the results in `value`; None stays None: it is known, and has no SSA value."""
    if value is None:
        return None
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        items = [_structure(graph, v, results) for v in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {k: _structure(graph, v, results) for k, v in value.items()}
    results.append(graph.types.of(value))
    return Leaf(len(results) - 1)


def _bind(structure: Any, results: list[Bound]) -> Any:
    if isinstance(structure, Leaf):
        return results[structure.index]
    if isinstance(structure, tuple | list):
        return type(structure)(_bind(s, results) for s in structure)
    if isinstance(structure, dict):
        return {k: _bind(s, results) for k, s in structure.items()}
    return structure

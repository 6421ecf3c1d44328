"""An FX graph under construction: its nodes with their meta, and the objects that it reads."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch_mlir import ir

from ..importer.opaque import Unknown
from ..node_table import Attribute, NodeInfo, NodeTable
from .errors import RaiseError
from .fake import Fakes
from .submodules import copy_of


class GraphBuilder:
    """Adds nodes; keeps what each SSA value became."""

    def __init__(self, table: NodeTable | None, fakes: Fakes) -> None:
        self.table, self.fakes = table, fakes
        self.graph = fx.Graph()
        self.attributes: dict[str, Any] = {}
        """objects that the graph reads by name"""
        self.values: dict[ir.Value, Any] = {}
        """SSA value -> node, Python constant, or list of them"""
        self.fresh = False
        """recorded fake values do not hold: the inputs differ from those of the import"""

    def attribute(self, name: str, value: Any) -> fx.Node:
        """Reads an object that the raised module holds."""
        base = name = name.replace(".", "_")
        count = 0
        while self.attributes.get(name, value) is not value:
            count += 1
            name = f"{base}_{count}"
        self.attributes[name] = value
        node = self.graph.get_attr(name)
        if isinstance(value, torch.Tensor):
            node.meta["val"] = self.fakes.of_value(value)
        return node

    def subgraph(self, attribute: Attribute) -> fx.Node:
        # A copy: compilers rewrite sub-graphs in place, and one table serves several raised graphs.
        return self.attribute(attribute.name, copy_of(attribute.value))

    def node(
        self,
        opcode: str,
        target: Any,
        args: tuple,
        kwargs: dict[str, Any],
        info: NodeInfo | None,
        op: ir.OpView,
    ) -> fx.Node:
        """A call, with the meta that FX had, or with the value that it computes."""
        node = self.graph.create_node(opcode, target, args, kwargs)
        if info is not None:
            node.meta = dict(info.meta)
        if self.fresh or "val" not in node.meta:
            node.meta.pop("tensor_meta", None)
            try:
                value = self.fakes.run(opcode, target, args, kwargs, self.attributes.__getitem__)
            except Exception as error:
                raise RaiseError(op, f"has no fake value, {target} fails: {error}") from error
            set_value(node, value)
        return node

    def parts(self, node: fx.Node, results: list[ir.Value], info: NodeInfo | None) -> None:
        """Binds the results of a node that are read, each by a getitem."""
        values = node.meta.get("val")
        for index, result in enumerate(results):
            if is_used(result):
                value = values[index] if isinstance(values, tuple | list) else Unknown
                self.values[result] = self.part(node, index, value, info)

    def part(self, node: fx.Node, key: Any, value: Any, info: NodeInfo | None) -> fx.Node:
        child = self.graph.call_function(operator.getitem, (node, key))
        known = info.result_meta.get(key) if info is not None and info.result_meta else None
        if known is not None:
            child.meta = dict(known)
            if not self.fresh and "val" in known:
                return child
        elif "stack_trace" in node.meta:
            child.meta["stack_trace"] = node.meta["stack_trace"]
        set_value(child, value)
        return child

    def structured(
        self, node: fx.Node, structure: Any, results: list[ir.Value], info: NodeInfo
    ) -> None:
        """Binds results to the parts of a structured value that are read."""

        def visit(at: fx.Node, inner: Any, value: Any) -> None:
            if isinstance(inner, tuple | list):
                items: Any = enumerate(inner)
            elif isinstance(inner, dict):
                items = inner.items()
            else:
                if inner is not None:
                    self.values[results[inner.index]] = at
                return
            for key, item in items:
                if not is_read(item, results):
                    continue
                known = value[key] if isinstance(value, tuple | list | dict) else Unknown
                visit(self.part(at, key, known, info if at is node else None), item, known)

        visit(node, structure, node.meta.get("val"))


def set_value(node: fx.Node, value: Any) -> None:
    """Records the value of a node; nothing is better than a wrong None."""
    if value is Unknown:
        node.meta.pop("val", None)
    else:
        node.meta["val"] = value


def is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


def is_read(structure: Any, results: list[ir.Value]) -> bool:
    """True if any result inside `structure` has a use."""
    if isinstance(structure, tuple | list):
        return any(is_read(s, results) for s in structure)
    if isinstance(structure, dict):
        return any(is_read(s, results) for s in structure.values())
    return structure is not None and is_used(results[structure.index])

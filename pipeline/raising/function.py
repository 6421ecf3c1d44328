"""One function of a module as an FX graph, exact by op name and schema."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch_mlir import ir

from ...dialect import attributes as attr
from ..importer.names import OPAQUE_PREFIX
from ..node_table import Attribute, NodeInfo, NodeTable
from ..torch_private import FakeTensorMode, graph_module
from .calls import (
    TRANSPARENT,
    call_of,
    fill,
    handle_of,
    opaque_call,
    opaque_info,
    operator_name,
)
from .errors import RaiseError
from .fake import Fakes, same_layout
from .literals import CONSTANT_PREFIX, literal_of
from .submodules import copy_of
from .transfers import TRANSFERS


def raise_function(
    func: ir.OpView | ir.Operation,
    table: NodeTable | None,
    *,
    fake_mode: FakeTensorMode | None = None,
    example_inputs: Sequence[Any] | None = None,
) -> fx.GraphModule:
    """The FX graph of one function, entry or segment.

    Fake values come from `table`, or are computed where it has none, or where `example_inputs` (one value for each argument
    but constants) have other strides than those recorded. Constants of the graph become attributes of the module again, calls
    of segments sub-modules, residency ops calls of `transfers.TRANSFERS`. The result's output is a tuple with one item for each
    result of the function. Raises RaiseError, naming the op, for an op that has no form in FX.
    """
    mode = fake_mode or (table.fake_mode if table is not None else None)
    return Raiser(func, table, Fakes(mode), {}).run(example_inputs)


class Raiser:
    """Raises one function; `segments` (name -> GraphModule) is shared by all functions of one call."""

    def __init__(
        self,
        func: ir.OpView | ir.Operation,
        table: NodeTable | None,
        fakes: Fakes,
        segments: dict[str, fx.GraphModule],
    ) -> None:
        self.func, self.table, self.fakes, self.segments = func.operation, table, fakes, segments
        self.graph = fx.Graph()
        self.attributes: dict[str, Any] = {}
        self.values: dict[ir.Value, Any] = {}
        self.fresh = False
        """recorded fake values do not hold: the inputs differ from those of the import"""
        self.handlers = {
            "torch.prim.ListConstruct": self.list_construct,
            "torch.prim.ListUnpack": self.list_unpack,
            "torch.operator": self.by_name,
            "torch.vtensor.literal": self.literal_tensor,
            "func.call": self.segment,
            "func.return": self.return_,
            **dict.fromkeys(TRANSPARENT, self.transparent),
        }

    def run(self, example_inputs: Sequence[Any] | None) -> fx.GraphModule:
        block = self.func.regions[0].blocks[0]
        self.arguments(block, example_inputs)
        values = self.values
        for op in block.operations:
            name = op.operation.name
            if name.startswith(CONSTANT_PREFIX):
                values[op.results[0]] = literal_of(op)
                continue
            handler = self.handlers.get(name)
            if handler is not None:
                handler(op)
            elif name.startswith("residency."):
                self.transfer(op, name)
            else:
                self.call(op, name)
        return graph_module(self.attributes, self.graph)

    # Arguments.

    def arguments(self, block: ir.Block, example_inputs: Sequence[Any] | None) -> None:
        known = self.func.attributes
        dicts = list(known["arg_attrs"]) if "arg_attrs" in known else [{}] * len(block.arguments)
        examples = None if example_inputs is None else list(example_inputs)
        constants = []
        position = 0
        for argument, attributes in zip(block.arguments, dicts, strict=True):
            if attr.CONSTANT in attributes:
                constants.append((argument, ir.IntegerAttr(attributes[attr.CONSTANT]).value))
                continue
            info = self.info(attributes)
            name = info.name if info else f"arg{position}"
            node = self.graph.placeholder(name)
            if info is not None:
                node.meta = dict(info.meta)
            if examples is not None:
                if position >= len(examples):
                    raise RaiseError(
                        self.func, f"needs more example inputs than there are: {len(examples)}"
                    )
                self.example(node, examples[position])
            elif "val" not in node.meta:
                node.meta["val"] = self.fakes.of_type(argument.type)
            self.values[argument] = node
            position += 1
        if examples is not None and position != len(examples):
            raise RaiseError(self.func, f"needs {position} example inputs, got: {len(examples)}")
        for argument, handle in constants:
            self.values[argument] = self.constant(handle)

    def info(self, attributes: Any) -> NodeInfo | None:
        if self.table is None or attr.FX not in attributes:
            return None
        return self.table[ir.IntegerAttr(attributes[attr.FX]).value]

    def example(self, node: fx.Node, example: Any) -> None:
        example = self.fakes.of_value(example)
        if "val" in node.meta and not same_layout(node.meta["val"], example):
            self.fresh = True
            node.meta.pop("tensor_meta", None)
        node.meta["val"] = example

    def constant(self, handle: int) -> fx.Node:
        if self.table is None:
            raise RaiseError(self.func, f"needs the node table for its constant, handle: {handle}")
        info = self.table[handle]
        return self.attribute(info.name, info.constant)

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

    # Ops.

    def operands(self, op: ir.OpView) -> list[Any]:
        values = self.values
        return [values[v] for v in op.operands]

    def transparent(self, op: ir.OpView) -> None:
        self.values[op.results[0]] = self.values[op.operands[0]]

    def list_construct(self, op: ir.OpView) -> None:
        self.values[op.results[0]] = self.operands(op)

    def list_unpack(self, op: ir.OpView) -> None:
        source = self.values[op.operands[0]]
        if isinstance(source, list):
            for result, item in zip(op.results, source, strict=True):
                self.values[result] = item
        else:
            self.items(source, list(op.results), None)

    def literal_tensor(self, op: ir.OpView) -> None:
        from .tensors import literal_tensor

        self.values[op.results[0]] = self.attribute("_literal", literal_tensor(op))

    def by_name(self, op: ir.OpView) -> None:
        name = operator_name(op)
        if not name.startswith(OPAQUE_PREFIX):
            self.call(op, "torch.operator")
            return
        info = opaque_info(op, name, self.table)
        call = info.call
        target, args, kwargs = opaque_call(call, self.operands(op), self.subgraph)
        if call.op == "call_module":
            self.attributes[target] = call.target
        node = self.node(call.op, target, args, kwargs, info, op)
        results = list(op.results)
        self.bind(node, call.results, results, info)

    def bind(self, node: fx.Node, structure: Any, results: list[ir.Value], info: NodeInfo) -> None:
        """Binds results to the parts of a structured value that are read."""

        def part(at: fx.Node, inner: Any, value: Any) -> None:
            if isinstance(inner, tuple | list):
                items = enumerate(inner)
            elif isinstance(inner, dict):
                items = inner.items()
            else:
                if inner is not None:
                    self.values[results[inner.index]] = at
                return
            for key, item in items:
                if _is_read(item, results):
                    has = isinstance(value, tuple | list | dict)
                    child = self.item(at, key, value[key] if has else None)
                    if at is node and info.result_meta and key in info.result_meta:
                        child.meta = {**info.result_meta[key], "val": child.meta.get("val")}
                    part(child, item, child.meta.get("val"))

        part(node, structure, node.meta.get("val"))

    def call(self, op: ir.OpView, name: str) -> None:
        handle = handle_of(op)
        info = None if self.table is None or handle is None else self.table[handle]
        target, args, kwargs = call_of(op, name, self.operands(op), info)
        node = self.node("call_function", target, args, kwargs, info, op)
        results = op.results
        if len(results) == 1:
            self.values[results[0]] = node
        else:
            self.items(node, list(results), info)

    def node(
        self,
        opcode: str,
        target: Any,
        args: tuple,
        kwargs: dict[str, Any],
        info: NodeInfo | None,
        op: ir.OpView,
    ) -> fx.Node:
        node = self.graph.create_node(opcode, target, args, kwargs)
        if info is not None:
            node.meta = dict(info.meta)
        if self.fresh or "val" not in node.meta:
            try:
                node.meta["val"] = self.fakes.run(target, args, kwargs, opcode)
            except Exception as error:
                raise RaiseError(op, f"has no fake value, {target} fails: {error}") from error
        return node

    def items(self, node: fx.Node, results: list[ir.Value], info: NodeInfo | None) -> None:
        """The results of a node that are read, each by a getitem."""
        values = node.meta.get("val")
        for index, result in enumerate(results):
            if not _used(result):
                continue
            value = values[index] if isinstance(values, tuple | list) else None
            child = self.item(node, index, value)
            meta = info.result_meta.get(index) if info is not None and info.result_meta else None
            if meta is not None:
                child.meta = {**meta, "val": child.meta.get("val")}
            self.values[result] = child

    def item(self, node: fx.Node, key: Any, value: Any) -> fx.Node:
        child = self.graph.call_function(operator.getitem, (node, key))
        child.meta["val"] = value
        trace = node.meta.get("stack_trace")
        if trace is not None:
            child.meta["stack_trace"] = trace
        return child

    def transfer(self, op: ir.OpView, name: str) -> None:
        target = TRANSFERS.get(name)
        if target is None:
            raise RaiseError(op, f"nothing is registered to run it, known: {', '.join(TRANSFERS)}")
        kwargs = {
            key: ir.FlatSymbolRefAttr(op.attributes[key]).value
            for key in ("slot", "param")
            if key in op.attributes
        }
        args = tuple(self.operands(op))
        node = self.graph.call_function(target, args, kwargs)
        if len(op.results):
            node.meta["val"] = self.transferred(op, args)
            self.values[op.results[0]] = node

    def transferred(self, op: ir.OpView, args: tuple) -> Any:
        """All transfers keep shape and layout, only gather and reduce have a type of their own."""
        if "gather" in op.operation.name or "reduce" in op.operation.name:
            text = str(op.results[0].type)
            inner = text.removeprefix("!residency.pending<") if "pending" in text else text
            return self.fakes.of_type(
                ir.Type.parse(inner.removesuffix(">") if inner != text else text, op.context)
            )
        return args[0].meta.get("val") if isinstance(args[0], fx.Node) else args[0]

    def segment(self, op: ir.OpView) -> None:
        name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        args = tuple(self.operands(op))
        raised = self.segments.get(name)
        if raised is None:
            examples = [a.meta.get("val") if isinstance(a, fx.Node) else a for a in args]
            callee = self.callee(op, name)
            raised = Raiser(callee, self.table, self.fakes, self.segments).run(examples)
            self.segments[name] = raised
        self.attributes[name] = raised
        node = self.graph.call_module(name, args)
        outputs = next(iter(reversed(raised.graph.nodes))).args[0]
        node.meta["val"] = fx.map_arg(outputs, lambda n: n.meta.get("val"))
        self.items(node, list(op.results), None)

    def callee(self, op: ir.OpView, name: str) -> ir.OpView:
        for candidate in self.func.parent.regions[0].blocks[0].operations:
            known = candidate.attributes
            if "sym_name" in known and ir.StringAttr(known["sym_name"]).value == name:
                return candidate
        raise RaiseError(op, f"calls a function that the module does not have: @{name}")

    def return_(self, op: ir.OpView) -> None:
        operands = self.operands(op)
        handle = handle_of(op)
        info = None if self.table is None or handle is None else self.table[handle]
        outputs: Any = tuple(operands)
        if info is not None and info.call is not None:
            outputs = fill(info.call.args[0], operands.__getitem__, self.subgraph)
        node = self.graph.output(outputs)
        if info is not None:
            described = info.meta.get("desc")
            meta = dict(info.meta)
            # One description for each output: worthless once a pass has changed how many there are.
            if described is not None and len(described) != len(operands):
                meta.pop("desc")
            node.meta = meta


def _used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


def _is_read(structure: Any, results: list[ir.Value]) -> bool:
    """True if any result inside `structure` has a use."""
    if isinstance(structure, tuple | list):
        return any(_is_read(s, results) for s in structure)
    if isinstance(structure, dict):
        return any(_is_read(s, results) for s in structure.values())
    return structure is not None and _used(results[structure.index])

"""One FX graph as the body of a function.

Per call: torch-mlir's own op where raising it gives the very same call again, else the op by name (`torch.operator`), else
an opaque op. So there is no call that import fails on. The graph is only read.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch_mlir import ir

from ...dialect import attributes as attr
from ..node_table import NodeInfo
from ..torch_private import OpOverload
from .builder import FunctionBuilder, Shared
from .literals import Bound
from .names import PYTHON_OPERATORS
from .opaque import Unknown, import_opaque, import_output, value_of
from .operands import Operands
from .schemas import plan
from .types import Kind, Typed


class GraphImporter(FunctionBuilder):
    """Imports one graph; `run` leaves `func`, `arguments` and `results`."""

    def __init__(self, shared: Shared, module: fx.GraphModule, name: str, body: ir.Block) -> None:
        super().__init__(shared, name, body)
        self.module = module
        self.operands = Operands(self)
        self.values: dict[fx.Node, Any] = {}
        """node -> Bound, None, or nested tuples, lists and dicts of them"""
        self.infos: dict[fx.Node, NodeInfo] = {}

    def run(self) -> None:
        nodes = list(self.module.graph.nodes)
        # All of them first: the arguments that constants become follow the graph's own.
        for node in nodes:
            if node.op == "placeholder":
                self.placeholder(node)
        for node in nodes:
            if node.op == "call_function":
                self.call(node)
            elif node.op == "output":
                self.output(node)
            elif node.op not in ("placeholder", "get_attr"):
                import_opaque(self, node)
        self.finish()

    def placeholder(self, node: fx.Node) -> None:
        handle = self.shared.handle(NodeInfo(str(node.target), dict(node.meta)))
        self.values[node] = self.argument(node, self.types.of(value_of(node)), {attr.FX: handle})

    def attribute(self, node: fx.Node) -> Any:
        """The object that a get_attr node reads."""
        value: Any = self.module
        for part in node.target.split("."):
            value = getattr(value, part)
        return value

    def read(self, node: fx.Node) -> Any:
        """The value of a node: Bound, None or nested; sub-graphs only exist inside opaque calls."""
        if node.op == "get_attr" and node not in self.values:
            self.values[node] = self.constant(self.attribute(node), node.target)
        return self.values[node]

    def call(self, node: fx.Node) -> None:
        target = node.target
        if target is operator.getitem:
            done = self.getitem(node)
        elif isinstance(target, OpOverload):
            done = self.overload(node, target)
        else:
            done = target in PYTHON_OPERATORS and self.arithmetic(node)
        if not done:
            import_opaque(self, node)

    def getitem(self, node: fx.Node) -> bool:
        source, index = node.args
        tree = self.values.get(source) if isinstance(source, fx.Node) else None
        if not isinstance(tree, tuple | list | dict) or isinstance(index, fx.Node):
            return False
        self.values[node] = tree[index]
        info = self.infos.get(source)
        if info is not None and not isinstance(index, slice):
            info.result_meta = info.result_meta or {}
            key = index if isinstance(tree, dict) else index % len(tree)
            info.result_meta.setdefault(key, dict(node.meta))
        return True

    def overload(self, node: fx.Node, target: OpOverload) -> bool:
        """Imports a call by name and schema; False if it has no exact form."""
        how = plan(target)
        values = None if how.opaque else _result_values(node, how.results)
        typed = [] if values is None else [self.result_type(value) for value in values]
        operands = None if values is None or None in typed else self.operands.of_call(node, how)
        if operands is None:
            self.dirty = True
            return False
        scalar = how.scalar and operands[1].kind in Kind.NUMBERS
        if not scalar:
            operands = self.operands.numbers_as_tensors(operands, how)
        info = NodeInfo(node.name, dict(node.meta), (len(node.args), tuple(node.kwargs)))
        location = self.shared.locations.of(node)
        name = how.scalar if scalar else how.registered
        op = self.create(name, operands, typed, info, location) if name else None
        if op is None:
            # Nothing constrains the operands of a `torch.operator`: what the registered op rejects is still exact there.
            op = self.create("torch.operator", operands, typed, info, location, how.name)
        if op is None:
            self.dirty = True
            return False
        bound = []
        for result, value, type_ in zip(op.results, values, typed, strict=True):
            if isinstance(value, list | tuple):
                bound.append(self.unpack(op, result, value, location))
            else:
                bound.append(None if value is None else Bound(result, type_.kind))
        self.values[node] = bound[0] if how.results == 1 else tuple(bound)
        self.infos[node] = info
        return True

    def arithmetic(self, node: fx.Node) -> bool:
        """Imports a Python operator on symbolic integers."""
        operands = [self.operands.integer(a) for a in node.args]
        if node.kwargs or None in operands:
            self.dirty = True
            return False
        info = NodeInfo(node.name, dict(node.meta))
        typed = self.types.of(value_of(node))
        name = PYTHON_OPERATORS[node.target]
        op = self.create(name, operands, [typed], info, self.shared.locations.of(node))
        if op is None:
            self.dirty = True
            return False
        self.values[node] = Bound(op.results[0], typed.kind)
        return True

    def result_type(self, value: Any) -> Typed | None:
        if isinstance(value, list | tuple):
            if all(self.types.of(v).kind == Kind.TENSOR for v in value):
                return Typed(self.types.parse("!torch.list<vtensor>"), Kind.LIST + Kind.TENSOR)
            return None
        return self.types.of(value)

    def unpack(
        self, op: ir.Operation, value: ir.Value, items: list | tuple, location: ir.Location
    ) -> list[Bound]:
        """The elements of a list-valued result."""
        typed = [self.types.of(item) for item in items]
        # It may keep the handle where the call's value is this list.
        handle = {attr.FX: op.attributes[attr.FX]} if len(op.results) == 1 else None
        types = [t.type for t in typed]
        unpacked = self.append("torch.prim.ListUnpack", [value], types, handle, location)
        return [Bound(r, t.kind) for r, t in zip(unpacked.results, typed, strict=True)]

    def output(self, node: fx.Node) -> None:
        outputs = node.args[0]
        info = NodeInfo(node.name, dict(node.meta))
        flat = isinstance(outputs, list | tuple)
        bound = [self.leaf(value) for value in outputs] if flat else [None]
        if None in bound:
            bound, info.call = import_output(self, outputs)
        self.results = bound
        handle = {attr.FX: self.shared.handle(info)}
        self.append("func.return", [b.value for b in bound], [], handle)

    def leaf(self, value: Any) -> Bound | None:
        """An output as one SSA value; None if it is nested or an object without an exact form."""
        if isinstance(value, fx.Node):
            found = self.read(value)
            if found is None:
                return self.literals.get(None)
            return found if isinstance(found, Bound) else None
        if isinstance(value, torch.Tensor):
            return self.constant(value, "_tensor_constant")
        return self.literals.get(value)


def _result_values(node: fx.Node, count: int) -> list[Any] | None:
    """What FX knows about each result of a call with `count` results; None if that is not enough."""
    value = value_of(node)
    if value is Unknown:
        return None
    if count == 1:
        return [value]
    if isinstance(value, list | tuple) and len(value) == count:
        return list(value)
    return None

"""One FX graph as the body of a function.

Per call: torch-mlir's own op where raising it gives the very same call again, else the op by name (`torch.operator`), else
an opaque op. So import has no call that it fails on. The graph is only read.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx
from torch_mlir import ir

from ...dialect import attributes as attr
from ..node_table import NodeInfo, NodeTable
from ..torch_private import OpOverload
from .literals import Bound, Literals
from .locations import Locations
from .names import PYTHON_OPERATORS
from .opaque import import_opaque
from .operands import Operands
from .schemas import plan
from .types import Kind, Typed, Types


class Shared:
    """What the graphs of one step share: the context, its types, the node table."""

    def __init__(self, context: ir.Context, table: NodeTable, strict: bool) -> None:
        self.context, self.table = context, table
        self.strict = strict
        """verify each op when it is made, not only one per form"""
        self.types = Types(context)
        self.locations = Locations(context)
        self.i64 = ir.IntegerType.get_signless(64, context)
        self.verified: dict[tuple, bool] = {}

    def handle(self, info: NodeInfo) -> ir.Attribute:
        return ir.IntegerAttr.get(self.i64, self.table.add(info))


class Argument:
    """An argument of the function under construction."""

    def __init__(self, node: fx.Node | None, typed: Typed, attributes: dict[str, ir.Attribute]):
        self.node, self.typed, self.attributes = node, typed, attributes


class GraphImporter:
    """Imports one graph; `run` leaves `func`, `arguments` and `results`."""

    def __init__(self, shared: Shared, module: fx.GraphModule, name: str, body: ir.Block) -> None:
        self.shared, self.module = shared, module
        self.types, self.table = shared.types, shared.table
        context = shared.context
        self.func = ir.Operation.create(
            "func.func",
            regions=1,
            attributes={
                "sym_name": ir.StringAttr.get(name, context),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [], context), context),
            },
            loc=shared.locations.unknown,
            ip=ir.InsertionPoint(body),
        )
        self.block = ir.Block.create_at_start(self.func.regions[0], [], [])
        self.end = ir.InsertionPoint(self.block)
        self.literals = Literals(self.types, self.block, shared.locations.unknown)
        self.operands = Operands(self)
        self.values: dict[fx.Node, Any] = {}
        """node -> Bound, None, or nested tuples, lists and dicts of them"""
        self.infos: dict[fx.Node, NodeInfo] = {}
        self.constants: dict[int, Bound] = {}
        """id of a constant object (alive: the node table holds it) -> its argument"""
        self.arguments: list[Argument] = []
        self.results: list[Bound] = []
        self.started = self.dirty = False

    def run(self) -> None:
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                self.placeholder(node)
            elif node.op == "call_function":
                self.call(node)
            elif node.op == "output":
                self.output(node)
            elif node.op != "get_attr":
                import_opaque(self, node)
        if self.dirty:
            self.literals.sweep()
        self.func.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(
                [a.typed.type for a in self.arguments],
                [r.value.type for r in self.results],
                self.shared.context,
            ),
            self.shared.context,
        )

    # Arguments.

    def placeholder(self, node: fx.Node) -> None:
        value = node.meta["val"] if "val" in node.meta else node.meta.get("example_value")
        handle = self.shared.handle(NodeInfo(str(node.target), dict(node.meta)))
        self.values[node] = self.argument(node, self.types.of(value), {attr.FX: handle})

    def argument(self, node: fx.Node | None, typed: Typed, attributes: dict) -> Bound:
        self.arguments.append(Argument(node, typed, attributes))
        value = self.block.add_argument(typed.type, self.shared.locations.unknown)
        return Bound(value, typed.kind)

    def constant(self, value: Any, name: str) -> Bound:
        """The argument through which a constant object arrives; literals in the IR would copy it."""
        found = self.constants.get(id(value))
        if found is None:
            handle = self.shared.handle(NodeInfo(name, constant=value))
            found = self.argument(None, self.types.of(value), {attr.CONSTANT: handle})
            self.constants[id(value)] = found
        return found

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

    # Calls.

    def call(self, node: fx.Node) -> None:
        target = node.target
        if target is operator.getitem:
            self.getitem(node)
        elif isinstance(target, OpOverload):
            if not self.overload(node, target):
                import_opaque(self, node)
        elif target not in PYTHON_OPERATORS or not self.arithmetic(node):
            import_opaque(self, node)

    def getitem(self, node: fx.Node) -> None:
        source, index = node.args
        tree = self.values.get(source) if isinstance(source, fx.Node) else None
        if isinstance(tree, tuple | list | dict) and not isinstance(index, fx.Node):
            self.values[node] = tree[index]
            info = self.infos.get(source)
            if info is not None and isinstance(index, int):
                info.result_meta = info.result_meta or {}
                info.result_meta.setdefault(index % len(tree), dict(node.meta))
        else:
            import_opaque(self, node)

    def overload(self, node: fx.Node, target: OpOverload) -> bool:
        """Imports a call by name and schema; False if it has no exact form."""
        how = plan(target)
        values = None if how.opaque else result_values(node, how.results)
        if values is None:
            return False
        typed = [self.result_type(value) for value in values]
        operands = self.operands.of_call(node, how)
        if operands is None or None in typed:
            self.dirty = True
            return False
        scalar = how.scalar and operands[1].kind != Kind.TENSOR
        if not scalar:
            operands = self.operands.numbers_as_tensors(operands, how)
        name = how.scalar if scalar else how.registered
        info = NodeInfo(node.name, dict(node.meta), (len(node.args), tuple(node.kwargs)))
        location = self.shared.locations.of(node)
        # By name in `torch.operator` nothing constrains operands: what the registered op rejects is still exact there.
        op = self.create(name, operands, typed, info, location) or self.create(
            "torch.operator", operands, typed, info, location, how.name
        )
        if op is None:
            self.dirty = True
            return False
        bound = [
            self.unpack(result, value, location) if isinstance(value, list | tuple) else
            None if value is None else Bound(result, type_.kind)
            for result, value, type_ in zip(op.results, values, typed, strict=True)
        ]  # fmt: skip
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
        typed = self.types.of(node.meta.get("val"))
        op = self.create(
            PYTHON_OPERATORS[node.target], operands, [typed], info, self.shared.locations.of(node)
        )
        if op is None:
            self.dirty = True
            return False
        self.values[node] = Bound(op.results[0], typed.kind)
        return True

    def result_type(self, value: Any) -> Typed | None:
        if isinstance(value, list | tuple):
            kinds = {self.types.of(v).kind for v in value}
            if kinds <= {Kind.TENSOR}:
                return Typed(self.types.parse("!torch.list<vtensor>"), Kind.LIST + Kind.TENSOR)
            return None
        return self.types.of(value)

    def unpack(self, value: ir.Value, items: Any, location: ir.Location) -> tuple[Bound, ...]:
        """The elements of a list-valued result."""
        typed = [self.types.of(item) for item in items]
        op = self.append("torch.prim.ListUnpack", [value], [t.type for t in typed], {}, location)
        return tuple(Bound(r, t.kind) for r, t in zip(op.results, typed, strict=True))

    def create(
        self,
        name: str,
        operands: list[Bound],
        results: list[Typed],
        info: NodeInfo,
        location: ir.Location,
        called: str | None = None,
    ) -> ir.Operation | None:
        """Appends an op and its entry in the table; None if there is no such op or it does not verify."""
        form = (name, called, *[o.kind for o in operands], "->", *[r.kind for r in results])
        good = self.shared.verified.get(form)
        if not name or good is False:
            return None
        if good is None and not called and not self.shared.context.is_registered_operation(name):
            self.shared.verified[form] = False
            return None
        attributes = {"name": ir.StringAttr.get(called, self.shared.context)} if called else {}
        values = [o.value for o in operands]
        op = self.append(name, values, [r.type for r in results], attributes, location, keep=False)
        if good is None or self.shared.strict:
            try:
                op.verify()
                self.shared.verified.setdefault(form, True)
            except ir.MLIRError:
                op.erase()
                self.shared.verified.setdefault(form, False)
                return None
        op.attributes[attr.FX] = self.shared.handle(info)
        self.start(op)
        return op

    def append(
        self,
        name: str,
        operands: list[ir.Value],
        results: list[ir.Type],
        attributes: dict[str, ir.Attribute],
        location: ir.Location,
        keep: bool = True,
    ) -> ir.Operation:
        op = ir.Operation.create(
            name,
            results=results,
            operands=operands,
            attributes=attributes,
            loc=location,
            ip=self.end,
        )
        op = op.operation
        if keep:
            self.start(op)
        return op

    def start(self, op: ir.Operation) -> None:
        """Constants stay before the first op that is none."""
        if not self.started:
            self.started = True
            self.literals.top = ir.InsertionPoint(op)

    # Results.

    def output(self, node: fx.Node) -> None:
        from .opaque import import_output

        outputs = node.args[0]
        info = NodeInfo(node.name, dict(node.meta))
        flat = outputs if isinstance(outputs, list | tuple) else None
        bound = None if flat is None else [self.leaf(value) for value in flat]
        if bound is None or None in bound:
            bound, info.call = import_output(self, outputs)
        self.results = bound
        self.append(
            "func.return",
            [b.value for b in bound],
            [],
            {attr.FX: self.shared.handle(info)},
            self.shared.locations.unknown,
        )

    def leaf(self, value: Any) -> Bound | None:
        """An output as one SSA value; None if it is nested or a literal without an exact form."""
        if isinstance(value, fx.Node):
            found = self.read(value)
            if found is None:
                return self.literals.get(None)
            return found if isinstance(found, Bound) else None
        if isinstance(value, torch.Tensor):
            return self.constant(value, "_tensor_constant")
        return self.literals.get(value)


def result_values(node: fx.Node, count: int) -> list[Any] | None:
    """What FX knows about each result of a call with `count` results; None if that is not enough."""
    value = node.meta.get("val")
    if "val" not in node.meta:
        return None
    if count == 1:
        return [value]
    if isinstance(value, list | tuple) and len(value) == count:
        return list(value)
    return None

"""A function under construction: its arguments, constants and ops."""

from __future__ import annotations

from typing import Any

from torch import fx
from torch_mlir import ir

from ...dialect import attributes as attr
from ..node_table import NodeInfo, NodeTable
from .literals import Bound, Literals
from .locations import Locations
from .types import Typed, Types


class Shared:
    """What the graphs of one step share: the context, its types, the node table."""

    def __init__(self, context: ir.Context, table: NodeTable, *, strict: bool) -> None:
        self.context, self.table = context, table
        self.strict = strict
        """verify each op when it is made, not only one of each form"""
        self.types = Types(context)
        self.locations = Locations(context)
        self.verified: dict[tuple, bool] = {}
        """form of an op (its name, kinds of operands and results) -> does it verify"""
        self._i64 = ir.IntegerType.get_signless(64, context)

    def handle(self, info: NodeInfo) -> ir.IntegerAttr:
        return ir.IntegerAttr.get(self._i64, self.table.add(info))


class Argument:
    """An argument of the function."""

    def __init__(self, node: fx.Node | None, typed: Typed, attributes: dict[str, ir.Attribute]):
        self.node, self.typed, self.attributes = node, typed, attributes
        """the placeholder, None for a constant of the graph; type and kind; argument attributes"""


class FunctionBuilder:
    """Appends to one function. `finish` gives it its type."""

    def __init__(self, shared: Shared, name: str, body: ir.Block) -> None:
        self.shared, self.types, self.table = shared, shared.types, shared.table
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
        self.arguments: list[Argument] = []
        self.results: list[Bound] = []
        self.dirty = False
        """there may be constants that nothing reads: a call turned out to have no exact form"""
        self._constants: dict[int, Bound] = {}
        """id of a constant object, which the node table keeps alive -> its argument"""
        self._started = False
        self._helpers: list[ir.Operation] = []
        """ops that only carry arguments of others"""

    def argument(self, node: fx.Node | None, typed: Typed, attributes: dict) -> Bound:
        self.arguments.append(Argument(node, typed, attributes))
        value = self.block.add_argument(typed.type, self.shared.locations.unknown)
        return Bound(value, typed.kind)

    def constant(self, value: Any, name: str) -> Bound:
        """The argument through which a constant object arrives; a literal in the IR would be a copy."""
        found = self._constants.get(id(value))
        if found is None:
            handle = self.shared.handle(NodeInfo(name, constant=value))
            found = self.argument(None, self.types.of(value), {attr.CONSTANT: handle})
            self._constants[id(value)] = found
        return found

    def create(
        self,
        name: str,
        operands: list[Bound],
        results: list[Typed],
        info: NodeInfo,
        location: ir.Location,
        called: str | None = None,
    ) -> ir.Operation | None:
        """Appends an op with an entry in the table; None if there is no such op or it does not verify.

        `called` is the name in a `torch.operator`.
        """
        context, verified = self.shared.context, self.shared.verified
        form = (name, called, *[o.kind for o in operands], "->", *[r.kind for r in results])
        good = verified.get(form)
        if good is None and not called and not context.is_registered_operation(name):
            good = verified[form] = False
        if good is False:
            return None
        op = ir.Operation.create(
            name,
            results=[r.type for r in results],
            operands=[o.value for o in operands],
            attributes={"name": ir.StringAttr.get(called, context)} if called else None,
            loc=location,
            ip=self.end,
        ).operation
        if good is None or self.shared.strict:
            try:
                op.verify()
            except ir.MLIRError:
                op.erase()
                verified.setdefault(form, False)
                return None
            verified.setdefault(form, True)
        op.attributes[attr.FX] = self.shared.handle(info)
        self._keep(op)
        return op

    def append(
        self,
        name: str,
        operands: list[ir.Value],
        results: list[ir.Type],
        attributes: dict[str, ir.Attribute] | None = None,
        location: ir.Location | None = None,
    ) -> ir.Operation:
        """Appends an op that is known to verify."""
        op = ir.Operation.create(
            name,
            results=results,
            operands=operands,
            attributes=attributes,
            loc=location or self.shared.locations.unknown,
            ip=self.end,
        ).operation
        self._keep(op)
        return op

    def helper(self, name: str, operands: list[ir.Value], result: ir.Type) -> ir.Value:
        """Appends an op that forms an argument of the next one."""
        op = self.append(name, operands, [result])
        self._helpers.append(op)
        return op.results[0]

    def finish(self) -> None:
        if self.dirty:
            for op in reversed(self._helpers):
                if next(iter(op.results[0].uses), None) is None:
                    op.erase()
            self.literals.sweep()
        context = self.shared.context
        type_ = ir.FunctionType.get(
            [a.typed.type for a in self.arguments], [r.value.type for r in self.results], context
        )
        self.func.attributes["function_type"] = ir.TypeAttr.get(type_, context)

    def _keep(self, op: ir.Operation) -> None:
        """Constants stay before the first op that is none."""
        if not self._started:
            self._started = True
            self.literals.top = ir.InsertionPoint(op)

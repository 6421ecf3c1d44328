"""Python constants as `torch.constant.*` ops.

Each constant of a function exists once, at the top of its body. That halves the number of ops, and moving an op up or down
never leaves a constant behind.
"""

from __future__ import annotations

from typing import Any

import torch
from torch_mlir import ir
from torch_mlir.extras.fx_importer import (
    TORCH_DTYPE_TO_INT,
    TORCH_LAYOUT_TO_INT,
    TORCH_MEMORY_FORMAT_TO_INT,
)

from .types import Kind, Types

ENUMS = {
    "ScalarType": dict(TORCH_DTYPE_TO_INT),
    "Layout": dict(TORCH_LAYOUT_TO_INT),
    "MemoryFormat": dict(TORCH_MEMORY_FORMAT_TO_INT),
}
"""schema type -> Python object -> the integer that torch-mlir writes for it"""

OBJECTS = {base: {number: key for key, number in table.items()} for base, table in ENUMS.items()}
"""schema type -> integer -> Python object"""

INT64 = range(-(1 << 63), 1 << 63)


class Bound:
    """An SSA value and its kind."""

    __slots__ = ("kind", "value")

    def __init__(self, value: ir.Value, kind: str) -> None:
        self.value, self.kind = value, kind


class Literals:
    """The constants of one function."""

    def __init__(self, types: Types, block: ir.Block, location: ir.Location) -> None:
        self.types, self.location = types, location
        self.top = ir.InsertionPoint(block)
        """moved by the importer to before the first op that is not a constant"""
        self._known: dict[tuple, Bound] = {}
        context = types.context
        self._i64 = ir.IntegerType.get_signless(64, context)
        self._i1 = ir.IntegerType.get_signless(1, context)
        self._str = types.parse("!torch.str")
        self._device = types.parse("!torch.Device")

    def get(self, value: Any) -> Bound | None:
        """The constant for a Python object; None if the torch dialect has no exact form of it."""
        # repr tells -0.0 from 0.0 and is equal for equal NaNs.
        key = (type(value), repr(value) if type(value) is float else value)
        try:
            found = self._known.get(key)
        except TypeError:
            return None
        if found is None:
            found = self._make(value)
            if found is not None:
                self._known[key] = found
        return found

    def list(self, values: list[Bound], element: str, kind: str) -> Bound:
        """The list of constants; once for equal ones."""
        key = (element, *[v.value for v in values])
        found = self._known.get(key)
        if found is None:
            type_ = self.types.parse(f"!torch.list<{element}>")
            op = ir.Operation.create(
                "torch.prim.ListConstruct",
                results=[type_],
                operands=[v.value for v in values],
                loc=self.location,
                ip=self.top,
            )
            found = self._known[key] = Bound(op.results[0], Kind.LIST + kind)
        return found

    def sweep(self) -> None:
        """Erases constants that nothing reads: left when a call turned out to have no exact form."""
        for bound in reversed(list(self._known.values())):
            if next(iter(bound.value.uses), None) is None:
                bound.value.owner.erase()
        self._known.clear()

    def _make(self, value: Any) -> Bound | None:
        types, context = self.types, self.types.context
        if value is None:
            return self._op("none", types.none.type, None, Kind.NONE)
        if type(value) is bool:
            attribute = ir.IntegerAttr.get(self._i1, int(value))
            return self._op("bool", types.bool.type, attribute, Kind.BOOL)
        if type(value) is int and value in INT64:
            return self._op("int", types.int.type, ir.IntegerAttr.get(self._i64, value), Kind.INT)
        if type(value) is float:
            attribute = ir.FloatAttr.get_f64(value, context)
            return self._op("float", types.float.type, attribute, Kind.FLOAT)
        if type(value) is str and value.isprintable() and value.isascii():
            return self._op("str", self._str, ir.StringAttr.get(value, context), "s")
        if isinstance(value, torch.device):
            return self._op("device", self._device, ir.StringAttr.get(str(value), context), "d")
        return None

    def _op(self, name: str, type_: ir.Type, value: ir.Attribute | None, kind: str) -> Bound:
        op = ir.Operation.create(
            f"torch.constant.{name}",
            results=[type_],
            attributes={} if value is None else {"value": value},
            loc=self.location,
            ip=self.top,
        )
        return Bound(op.results[0], kind)

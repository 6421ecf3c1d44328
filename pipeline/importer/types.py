"""MLIR types of FX values. vtensor types carry shape and dtype, not strides."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch_mlir import ir

ELEMENT_TYPES = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.uint64: "ui64",
    torch.int8: "si8",
    torch.int16: "si16",
    torch.int32: "si32",
    torch.int64: "si64",
    torch.bool: "i1",
    torch.complex32: "complex<f16>",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
    torch.float8_e5m2: "f8E5M2",
    torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e5m2fnuz: "f8E5M2FNUZ",
    torch.float8_e4m3fnuz: "f8E4M3FNUZ",
    torch.float8_e8m0fnu: "f8E8M0FNU",
}
"""a dtype that is not here becomes `unk`: the shape is known, the size in bytes is not"""


class Kind:
    """Kinds of values, as short strings: what an argument of an op may be is decided by them."""

    TENSOR, INT, FLOAT, BOOL, NONE, ANY = "t", "i", "f", "b", "n", "a"
    NUMBERS = (INT, FLOAT, BOOL)
    LIST = "L"
    """prefix: a list of that kind"""


class Typed(NamedTuple):
    type: ir.Type
    kind: str


class Types:
    """Types in one context, each parsed once."""

    def __init__(self, context: ir.Context) -> None:
        self.context = context
        self._parsed: dict[str, ir.Type] = {}
        self._tensors: dict[tuple, Typed] = {}
        self.int = Typed(self.parse("!torch.int"), Kind.INT)
        self.float = Typed(self.parse("!torch.float"), Kind.FLOAT)
        self.bool = Typed(self.parse("!torch.bool"), Kind.BOOL)
        self.none = Typed(self.parse("!torch.none"), Kind.NONE)
        self.any = Typed(self.parse("!torch.any"), Kind.ANY)

    def parse(self, text: str) -> ir.Type:
        found = self._parsed.get(text)
        if found is None:
            found = self._parsed[text] = ir.Type.parse(text, self.context)
        return found

    def of(self, value: Any) -> Typed:
        """The type of an FX value; `!torch.any` for what has no type of its own."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        # bool before int: it is a subclass.
        if isinstance(value, bool | torch.SymBool):
            return self.bool
        if isinstance(value, int | torch.SymInt):
            return self.int
        if isinstance(value, float | torch.SymFloat):
            return self.float
        return self.none if value is None else self.any

    def _tensor(self, value: torch.Tensor) -> Typed:
        # Layouts other than strided have no size in bytes that the type could tell: opaque.
        if value.layout is not torch.strided or value.is_nested:
            return self.any
        key = (value.dtype, *[d if type(d) is int else None for d in value.shape])
        found = self._tensors.get(key)
        if found is None:
            dims = ",".join("?" if d is None else str(d) for d in key[1:])
            element = ELEMENT_TYPES.get(value.dtype, "unk")
            found = Typed(self.parse(f"!torch.vtensor<[{dims}],{element}>"), Kind.TENSOR)
            self._tensors[key] = found
        return found

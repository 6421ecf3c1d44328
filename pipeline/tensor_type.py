"""Shape, dtype and bytes of tensor types, torch's and builtin ones. Imports no torch."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass

from torch_mlir import ir

_TORCH = re.compile(
    r"!torch\.v?tensor(?:<(?:\[(?P<shape>[\d?,]*)\]|\*),(?P<dtype>.+?)(?:,#.*)?>)?$"
)
_BUILTIN = re.compile(r"tensor<(?P<shape>(?:[\d?]+x)*)(?P<dtype>[^,]+?)(?:, .*)?>$")
_UNRANKED = re.compile(r"tensor<\*x(?P<dtype>[^,]+?)>$")
_WRAPPED = re.compile(r"!residency\.(?:host|pending)<(?P<inner>.*)>$")
_BITS = re.compile(r"[a-zA-Z!.]*?(?P<bits>\d+)")


@dataclass(frozen=True)
class TensorType:
    """What a tensor type says."""

    shape: tuple[int | None, ...] | None
    """sizes; None for a symbolic one, and in all if the rank is unknown"""
    dtype: str | None
    """element type as MLIR spells it ("f32", "si64", "i1"), None if unknown"""

    @property
    def count(self) -> int | None:
        """Number of elements, None when symbolic."""
        if self.shape is None or None in self.shape:
            return None
        return math.prod(self.shape)

    @property
    def bytes(self) -> int | None:
        """Bytes of a contiguous tensor of this type, None when symbolic or of unknown dtype."""
        width = None if self.dtype is None else dtype_bytes(self.dtype)
        return None if width is None or self.count is None else self.count * width


def tensor_type(type_: ir.Type) -> TensorType | None:
    """What `type_`, or the type in a `host` or `pending`, says; None if it is no tensor."""
    return parse(str(type_))


def byte_size(type_: ir.Type) -> int | None:
    """Bytes of a contiguous tensor of `type_`; None when symbolic or no tensor."""
    found = tensor_type(type_)
    return None if found is None else found.bytes


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> TensorType | None:
    """As `tensor_type`, from the type's text."""
    if wrapped := _WRAPPED.match(text):
        return parse(wrapped["inner"])
    if unranked := _UNRANKED.match(text):
        return TensorType(None, unranked["dtype"])
    if builtin := _BUILTIN.match(text):
        return TensorType(_shape(builtin["shape"].split("x")), builtin["dtype"])
    if torch := _TORCH.match(text):
        dtype = None if torch["dtype"] in (None, "unk") else torch["dtype"]
        return TensorType(
            None if torch["shape"] is None else _shape(torch["shape"].split(",")), dtype
        )
    return None


def dtype_bytes(dtype: str) -> int | None:
    """Bytes of one element in torch; None if the MLIR element type has no fixed size."""
    if dtype.startswith("complex<"):
        part = dtype_bytes(dtype.removeprefix("complex<").removesuffix(">"))
        return None if part is None else 2 * part
    found = _BITS.match(dtype)
    return None if found is None else (int(found["bits"]) + 7) // 8


def _shape(sizes: list[str]) -> tuple[int | None, ...]:
    return tuple(None if s == "?" else int(s) for s in sizes if s)

"""Fake values: what a compiler knows of a tensor without its data."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch_mlir import ir

from ..importer.types import ELEMENT_TYPES
from ..torch_private import FakeTensor, FakeTensorMode

_DTYPES = {text: dtype for dtype, text in ELEMENT_TYPES.items()}
_TENSOR = re.compile(r"!torch\.v?tensor<\[([^\]]*)\],([^>]+>?)>$|tensor<((?:[\d?]+x)*)([^>]+>?)>$")


class Fakes:
    """Makes the fake values of one raised function."""

    def __init__(self, mode: FakeTensorMode | None) -> None:
        self.mode = mode or FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())

    def of_type(self, type_: ir.Type) -> Any:
        """A contiguous tensor on the CPU, or a number, of an MLIR type; None for anything else."""
        text = str(type_)
        if text == "!torch.int":
            return self._size()
        match = _TENSOR.match(text)
        if match is None:
            return None
        dims, element = match.group(1, 2)
        sizes = dims.split(",") if dims else []
        if element is None:
            dims, element = match.group(3, 4)
            sizes = dims.split("x")[:-1]
        dtype = _DTYPES.get(element) or _DTYPES.get(f"s{element}")
        if dtype is None:
            return None
        shape = [self._size() if d == "?" else int(d) for d in sizes]
        with self.mode:
            return torch.empty(shape, dtype=dtype)

    def of_value(self, value: Any) -> Any:
        """A real tensor's fake; anything else as it is."""
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
            return self.mode.from_tensor(value, static_shapes=True)
        return value

    def _size(self) -> torch.SymInt:
        if self.mode.shape_env is None:
            raise ValueError("a size that is not static needs a fake mode with a shape environment")
        size = self.mode.shape_env.create_unbacked_symint()
        torch._check(size >= 0)
        return size

    def run(self, target: Any, args: tuple, kwargs: dict[str, Any], op: str) -> Any:
        """The value of a call on the values of its nodes."""
        args, kwargs = fx.map_arg((args, kwargs), self._value)
        if op == "call_method":
            target, args = getattr(args[0], target), args[1:]
        with self.mode, torch.no_grad():
            return target(*args, **kwargs)

    def _value(self, node: fx.Node) -> Any:
        return self.of_value(node.meta.get("val"))


def same_layout(left: Any, right: Any) -> bool:
    """True if what was computed from `left` holds for `right`."""
    if not (isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor)):
        return left is right or (type(left) is type(right) and not isinstance(left, torch.Tensor))
    return (
        left.dtype == right.dtype
        and left.device == right.device
        and tuple(left.shape) == tuple(right.shape)
        and (left.layout is not torch.strided or left.stride() == right.stride())
    )

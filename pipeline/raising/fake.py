"""Fake values: what a compiler knows of a tensor without its data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch_mlir import ir

from ..importer.opaque import Unknown
from ..importer.types import ELEMENT_TYPES
from ..torch_private import FakeTensor, FakeTensorMode, expression_of

_DTYPES = {text: dtype for dtype, text in ELEMENT_TYPES.items()}
_VTENSOR = re.compile(r"!torch\.v?tensor<\[([^\]]*)\],(.+)>$")
_BUILTIN = re.compile(r"tensor<((?:[\d?]+x)*)(.+)>$")


def mode_of(values: Iterable[Any]) -> FakeTensorMode | None:
    """The mode of the first fake tensor among `values`."""
    return next((v.fake_mode for v in values if isinstance(v, FakeTensor)), None)


class Fakes:
    """Makes the fake values of one raised function."""

    def __init__(self, mode: FakeTensorMode | None) -> None:
        self.mode = mode or FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())

    def of_type(self, type_: ir.Type) -> Any:
        """A contiguous tensor on the CPU, or a symbolic size, of an MLIR type; Unknown for anything else."""
        text = str(type_)
        if text == "!torch.int":
            return self._size()
        if match := _VTENSOR.match(text):
            sizes = match[1].split(",") if match[1] else []
        elif match := _BUILTIN.match(text):
            sizes = match[1].split("x")[:-1]
        else:
            return Unknown
        # Builtin integers have no sign: signed, as torch's are.
        dtype = _DTYPES.get(match[2]) or _DTYPES.get(f"s{match[2]}")
        if dtype is None:
            return Unknown
        shape = [self._size() if d == "?" else int(d) for d in sizes]
        with self.mode:
            return torch.empty(shape, dtype=dtype)

    def of_value(self, value: Any) -> Any:
        """A real tensor's fake; anything else as it is."""
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
            return self.mode.from_tensor(value, static_shapes=True)
        return value

    def run(
        self,
        opcode: str,
        target: Any,
        args: tuple,
        kwargs: dict[str, Any],
        attribute: Callable[[str], Any],
    ) -> Any:
        """The value of a call on the values of its nodes, Unknown if one of these is; `attribute` gives what a get_attr reads."""
        missing = False

        def value(node: fx.Node) -> Any:
            nonlocal missing
            if node.op == "get_attr":
                return self.of_value(attribute(node.target))
            missing = missing or "val" not in node.meta
            return self.of_value(node.meta.get("val"))

        args, kwargs = fx.map_arg((args, kwargs), value)
        if missing:
            return Unknown
        if opcode == "call_method":
            target, args = getattr(args[0], target), args[1:]
        elif opcode == "call_module":
            target = attribute(target)
        with self.mode, torch.no_grad():
            return target(*args, **kwargs)

    def _size(self) -> torch.SymInt:
        if self.mode.shape_env is None:
            raise ValueError("a size that is not static needs a fake mode with a shape environment")
        size = self.mode.shape_env.create_unbacked_symint()
        torch._check(size >= 0)
        return size


def same_layout(left: Any, right: Any) -> bool:
    """True if what was computed from `left` holds for `right`. Adds no guard on symbolic sizes."""
    if not isinstance(left, torch.Tensor) or not isinstance(right, torch.Tensor):
        return expression_of(left) == expression_of(right)
    if (left.dtype, left.device, left.layout) != (right.dtype, right.device, right.layout):
        return False
    if isinstance(left, FakeTensor) and left.fake_mode is not getattr(right, "fake_mode", None):
        return False
    if _keys(left.shape) != _keys(right.shape):
        return False
    return left.layout is not torch.strided or _keys(left.stride()) == _keys(right.stride())


def _keys(sizes: Iterable[int | torch.SymInt]) -> list[Any]:
    return [expression_of(s) for s in sizes]

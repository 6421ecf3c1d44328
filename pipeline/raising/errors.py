"""The error of this package."""

from __future__ import annotations

from torch_mlir import ir


class RaiseError(RuntimeError):
    """An op that has no form in FX. Names the op and its source location."""

    def __init__(self, op: ir.OpView | ir.Operation, message: str) -> None:
        super().__init__(f"{op.operation.name} at {op.location}: {message}")

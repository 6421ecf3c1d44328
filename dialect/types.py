"""Types: where a tensor is when compute cannot read it."""

from typing import Any

from torch_mlir import ir

from .base import Residency


class HostType(Residency.Type, name="host"):
    """`!residency.host<T>`: the bytes of a `T` that are not on the device (host memory or a file)."""

    payload: Any


class PendingType(Residency.Type, name="pending"):
    """`!residency.pending<T>`: a transfer or collective in flight that yields `T`; waited on exactly once."""

    payload: Any


def inner(type_: HostType | PendingType) -> ir.Type:
    """The `T` of a `host<T>` or `pending<T>`."""
    return ir.TypeAttr(type_.payload).value


def holds_type(type_: HostType | PendingType) -> bool:
    """False for `host<3>`: IRDL cannot say that the parameter is a type."""
    return isinstance(type_.payload.maybe_downcast(), ir.TypeAttr)

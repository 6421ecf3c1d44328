"""Scheduled ops: explicit time. Program order is execution order; a `*_start` returns at once."""

from typing import Any, TypeVar

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.ir import FlatSymbolRefAttr

from .base import Residency, check_attributes, check_device_type, device_input, fail
from .types import HostType, PendingType, holds_type, inner

T = TypeVar("T")


def _pending_on_device(op: ir.OpView) -> bool:
    """The value that a pending result yields is on the device."""
    if not check_attributes(op):
        return False
    types = [result.type for result in op.results if isinstance(result.type, PendingType)]
    return all(check_device_type(op, inner(type_)) for type_ in types if holds_type(type_))


class GatherStartOp(Residency.Operation, name="gather_start"):
    """Starts the all-gather of a sharded parameter.

        %p = "residency.gather_start"(%shard) {param = @w} : (tensor<4x8xf32>) -> !residency.pending<tensor<8x8xf32>>

    Constraints:
    - `pending` yields a value on the device
    - no other attribute
    """

    shard: ext.Operand[Any]
    param: FlatSymbolRefAttr
    pending: ext.Result[PendingType[T]]

    verify_invariants = staticmethod(_pending_on_device)


class ReduceStartOp(Residency.Operation, name="reduce_start"):
    """Starts the reduce-scatter of a gradient. `gradient` is read until the wait.

        %p = "residency.reduce_start"(%g) {param = @w} : (tensor<8x8xf32>) -> !residency.pending<tensor<4x8xf32>>

    Constraints:
    - `pending` yields a value on the device
    - no other attribute
    """

    gradient: ext.Operand[Any]
    param: FlatSymbolRefAttr
    pending: ext.Result[PendingType[T]]

    verify_invariants = staticmethod(_pending_on_device)


class OffloadStartOp(Residency.Operation, name="offload_start"):
    """Starts the copy of a value to its slot. `input` is read until the wait.

        %p = "residency.offload_start"(%x) {slot = @s}
             : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>

    Constraints:
    - `pending` yields the host type of `input`'s type
    - `input` is on the device
    - no other attribute
    """

    input: ext.Operand[T]
    slot: FlatSymbolRefAttr
    pending: ext.Result[PendingType[HostType[T]]]

    verify_invariants = staticmethod(device_input)


class ReloadStartOp(Residency.Operation, name="reload_start"):
    """Starts the copy of a slot to the device. The slot is read until the wait.

        %p = "residency.reload_start"(%h) {slot = @s}
             : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<tensor<4x8xf32>>

    Constraints:
    - `host` is the host type of what `pending` yields
    - `pending` yields a value on the device
    - no other attribute
    """

    host: ext.Operand[HostType[T]]
    slot: FlatSymbolRefAttr
    pending: ext.Result[PendingType[T]]

    verify_invariants = staticmethod(_pending_on_device)


class WaitOp(Residency.Operation, name="wait"):
    """Ends a transfer or collective: later ops see its result. The compute stream waits, the host does not.

        %x = "residency.wait"(%p) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>

    Constraints:
    - `out` has the type that `pending` yields
    - a pending value has exactly one use, its wait
    - no other attribute
    """

    pending: ext.Operand[PendingType[T]]
    out: ext.Result[T]

    @staticmethod
    def verify_invariants(op: ir.OpView) -> bool:
        for operand in op.operands:
            uses = sum(1 for _ in operand.uses)
            if uses != 1:
                return fail(op, f"needs a pending value with one use, got uses: {uses}")
        return check_attributes(op)


class FreeOp(Residency.Operation, name="free"):
    """Ends the device lifetime of a value's storage, on the compute stream.

        "residency.free"(%x) : (tensor<4x8xf32>) -> ()

    Constraints:
    - `input` is on the device
    - no other attribute
    """

    input: ext.Operand[Any]

    verify_invariants = staticmethod(device_input)

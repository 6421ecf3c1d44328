"""Placed ops: what moves, without saying when. Each yields a new value, so a type says where the tensor is."""

from typing import Any, TypeVar

from torch_mlir.dialects import ext
from torch_mlir.ir import FlatSymbolRefAttr

from .base import Residency, device_input, device_only, device_output
from .types import HostType

T = TypeVar("T")


class GatherOp(Residency.Operation, name="gather"):
    """All-gathers a sharded parameter.

    * `shard`: this rank's part. * `param`: the parameter's symbol. * `full`: the gathered parameter.

    It does not say when the gathered value is dropped: `release` does.

        %w = "residency.gather"(%shard) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>

    Constraints:
    - `shard` and `full` are on the device
    - no other attribute
    """

    shard: ext.Operand[Any]
    param: FlatSymbolRefAttr
    full: ext.Result[Any]

    verify_invariants = staticmethod(device_only)


class ReleaseOp(Residency.Operation, name="release"):
    """Returns `input` unchanged and says: once `input` exists, the gathered parameter is not needed any more.

    * `input`: the result of the parameter's last use. * `gathered`: what `gather` yielded.

    It copies nothing, and its result has its input's type: identity ops lose no information.

        %y2 = "residency.release"(%y, %w) {param = @w} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>

    Constraints:
    - `out` has the type of `input`
    - `input` and `gathered` are on the device
    - no other attribute
    """

    input: ext.Operand[T]
    gathered: ext.Operand[Any]
    param: FlatSymbolRefAttr
    out: ext.Result[T]

    verify_invariants = staticmethod(device_only)


class ReduceOp(Residency.Operation, name="reduce"):
    """Reduce-scatters the gradient of a sharded parameter.

    * `gradient`: of the gathered parameter. * `shard`: this rank's part of the reduced gradient.

        %s = "residency.reduce"(%g) {param = @w} : (tensor<8x8xf32>) -> tensor<4x8xf32>

    Constraints:
    - `gradient` and `shard` are on the device
    - no other attribute
    """

    gradient: ext.Operand[Any]
    param: FlatSymbolRefAttr
    shard: ext.Result[Any]

    verify_invariants = staticmethod(device_only)


class OffloadOp(Residency.Operation, name="offload"):
    """Moves a value that backward needs off the device.

    * `input`: the value on the device. * `slot`: its symbol. * `host`: its bytes in the slot's tier.

    It does not end the device lifetime of `input`: other uses of it remain legal.

        %h = "residency.offload"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>

    Constraints:
    - `host` is the host type of `input`'s type
    - `input` is on the device
    - no other attribute
    """

    input: ext.Operand[T]
    slot: FlatSymbolRefAttr
    host: ext.Result[HostType[T]]

    verify_invariants = staticmethod(device_input)


class ReloadOp(Residency.Operation, name="reload"):
    """Brings an offloaded value back.

    * `host`: its bytes in the slot's tier. * `slot`: its symbol. * `out`: the value on the device.

        %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>

    Constraints:
    - `host` is the host type of `out`'s type
    - `out` is on the device
    - no other attribute
    """

    host: ext.Operand[HostType[T]]
    slot: FlatSymbolRefAttr
    out: ext.Result[T]

    verify_invariants = staticmethod(device_output)

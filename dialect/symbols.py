"""Symbols: the identities that transfers and collectives are matched by. Flat in the module."""

from torch_mlir import ir
from torch_mlir.ir import StringAttr, TypeAttr

from .attributes import REASON, STAYS, TIERS
from .base import Residency, check_attributes, check_device_type, fail


class ParamOp(Residency.Operation, name="param"):
    """A parameter that is sharded over a group of ranks.

    * `type`: what a gather yields. * `shard`: what this rank holds. * `group`: name of the process group.

    It holds no value; the shard is an ordinary argument of the functions that use it.

        "residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0"} : () -> ()

    Constraints:
    - `type` and `shard` are types of values on the device
    - `group` is not empty
    - no other attribute
    """

    sym_name: StringAttr
    type: TypeAttr
    shard: TypeAttr
    group: StringAttr

    @staticmethod
    def verify_invariants(op: ir.OpView) -> bool:
        if not check_attributes(op):
            return False
        if not op.attributes["group"].value:
            return fail(op, 'needs the name of a process group, got: ""')
        return check_device_type(op, op.attributes["type"].value) and check_device_type(
            op, op.attributes["shard"].value
        )


class SlotOp(Residency.Operation, name="slot"):
    """One value that forward saves for backward.

    * `type`: the value's type on the device. * `tier`: where it is between the two, "device", "host" or "disk".
    * `stays` (optional): why it can never leave the device, known when the graphs are imported.
    * `reason` (optional): why placement chose the tier.

        "residency.slot"() {sym_name = "saved_0", type = tensor<4x8xf32>, tier = "device"} : () -> ()

    Constraints:
    - `tier` is one of device, host, disk
    - a slot that `stays` has tier "device"
    - `type` is a type of values on the device
    - no other attribute
    """

    sym_name: StringAttr
    type: TypeAttr
    tier: StringAttr

    @staticmethod
    def verify_invariants(op: ir.OpView) -> bool:
        if not check_attributes(op, (STAYS, REASON)):
            return False
        tier = op.attributes["tier"].value
        if tier not in TIERS:
            return fail(op, f"needs a tier out of {', '.join(TIERS)}, got: {tier}")
        if STAYS in op.attributes and tier != TIERS[0]:
            why = op.attributes[STAYS].value
            return fail(op, f"cannot leave the device ({why}), got tier: {tier}")
        return check_device_type(op, op.attributes["type"].value)

"""The dialect object that types and ops attach to, and the checks that several ops share.

MLIR runs these checks before IRDL's: an op may have too few operands, or attributes and types of any sort. So every check
starts with `check_attributes`, and what IRDL reports anyway passes here.
"""

import functools

from torch_mlir import ir
from torch_mlir.dialects import ext


class Residency(ext.Dialect, name="residency"):
    """Where each tensor of a training step lives, and when."""


def is_device(type_: ir.Type) -> bool:
    """True for a value that compute may read: neither on the host nor still in flight."""
    return not str(type_).startswith(("!residency.host<", "!residency.pending<"))


def fail(op: ir.OpView, message: str) -> bool:
    """Reports `message` at `op`; returns False so that a verifier can `return fail(...)`."""
    op.location.emit_error(f"'{op.operation.name}' op {message}")
    return False


@functools.cache
def _attributes(class_: type[ir.OpView]) -> dict[str, type[ir.Attribute]]:
    """The attributes that an op defines, with their classes."""
    return {f.name: f.constraint for f in class_._fields if isinstance(f, ext.AttributeDef)}


def check_attributes(op: ir.OpView, optional: tuple[str, ...] = ()) -> bool:
    """Rejects missing attributes, those of another class, and those that the op does not define.

    In generic form MLIR ignores a misspelt attribute, and IRDL takes nested symbols for flat ones.
    """
    defined, given = _attributes(type(op)), op.attributes
    for attribute in given:
        if attribute not in defined and attribute not in optional and "." not in attribute:
            return fail(op, f"has an unknown attribute: {attribute}")
    for attribute, class_ in defined.items():
        if attribute not in given:
            return fail(op, f"needs an attribute: {attribute}")
        if not isinstance(given[attribute], class_):
            return fail(op, f"needs a {class_.__name__} as {attribute}, got: {given[attribute]}")
    for attribute in optional:
        if attribute in given and not isinstance(given[attribute], ir.StringAttr):
            return fail(op, f"needs a StringAttr as {attribute}, got: {given[attribute]}")
    return True


def check_device_type(op: ir.OpView, type_: ir.Type) -> bool:
    """Rejects the type of a value that compute cannot read."""
    return is_device(type_) or fail(op, f"needs a value on the device, got: {type_}")


def check_device(op: ir.OpView, *values: ir.Value) -> bool:
    """Rejects operands or results that compute cannot read."""
    return all(check_device_type(op, value.type) for value in values)


def device_only(op: ir.OpView) -> bool:
    """Verifier of ops whose operands and results all are on the device."""
    return check_attributes(op) and check_device(op, *op.operands, *op.results)


def device_input(op: ir.OpView) -> bool:
    """Verifier of ops that read a value on the device."""
    return check_attributes(op) and check_device(op, *op.operands)


def device_output(op: ir.OpView) -> bool:
    """Verifier of ops that yield a value on the device."""
    return check_attributes(op) and check_device(op, *op.results)

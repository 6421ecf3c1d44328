"""The dialect object that types and ops attach to, and the checks that several ops share."""

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


def check_attributes(op: ir.OpView, optional: tuple[str, ...] = ()) -> bool:
    """Rejects attributes that the op does not define: in generic form a misspelt one would be ignored."""
    known = {f.name for f in type(op)._fields} | set(optional)
    for attribute in op.attributes:
        if attribute not in known and "." not in attribute:
            return fail(op, f"has an unknown attribute: {attribute}")
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

"""What an op aliases and writes, from its schema.

There is no list of view ops here: torch's operator schemas say which results share the storage of which arguments, list results
included. What has no schema is assumed to alias and to write everything that it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from torch_mlir import ir

CONSTANT = "torch.constant."
LISTS = ("torch.prim.ListConstruct", "torch.prim.TupleConstruct")
UNPACKS = ("torch.prim.ListUnpack", "torch.prim.TupleUnpack", "torch.prim.TupleIndex")
TENSOR_VIEWS = (
    "tensor.cast",
    "tensor.extract_slice",
    "tensor.expand_shape",
    "tensor.collapse_shape",
    "tensor.reshape",
    "torch_c.to_builtin_tensor",
    "torch_c.from_builtin_tensor",
)
RESIDENCY_ALIASES = ("residency.release",)


@dataclass(frozen=True)
class Effects:
    """Operand numbers. An op that is neither known nor pure has `opaque`."""

    aliased: tuple[int, ...] = ()
    """operands whose storage the results share"""
    written: tuple[int, ...] = ()
    opaque: bool = False
    """it may alias and write every operand, and its order among other opaque ops matters"""
    random: bool = False
    """it draws random numbers or has another effect that no operand shows"""


PURE, OPAQUE = Effects(), Effects(opaque=True, random=True)


def effects_of(op: ir.OpView | ir.Operation) -> Effects:
    """The effects of one op."""
    operation = op.operation
    name = operation.name
    if name == "torch.operator":
        name = "torch." + ir.StringAttr(operation.attributes["name"]).value.removeprefix("torch.")
    return _by_name(name, len(operation.operands))


@cache
def _by_name(name: str, operands: int) -> Effects:
    if name in LISTS or name in UNPACKS:
        return Effects(aliased=tuple(range(operands)))
    if name in TENSOR_VIEWS or name in RESIDENCY_ALIASES:
        return Effects(aliased=(0,))
    if name.startswith("torch.opaque."):
        return OPAQUE
    if not name.startswith("torch."):
        return PURE
    if name.startswith((CONSTANT, "torch.prim.", "torch.derefine", "torch.vtensor.literal")):
        return PURE
    return _by_schema(name, operands)


def _by_schema(name: str, operands: int) -> Effects:
    import torch

    from ..importer.names import OPERATORS, RENAMED, overload
    from ..torch_private import schema_of

    if name in OPERATORS:
        return PURE
    target = overload(RENAMED.get(name, name))
    if target is None:
        return OPAQUE
    schema = schema_of(target)
    if len(schema.arguments) != operands:
        return OPAQUE
    aliased, written = [], []
    for index, argument in enumerate(schema.arguments):
        info = argument.alias_info
        if info is None:
            continue
        if info.is_write:
            written.append(index)
        # `Tensor(a -> *)` is how a schema says that a list result holds views of the argument.
        wild = "*" in info.after_set
        if wild or any(
            r.alias_info is not None and r.alias_info.before_set & info.before_set
            for r in schema.returns
        ):
            aliased.append(index)
    random = torch.Tag.nondeterministic_seeded in target.tags or not schema.returns
    return Effects(tuple(aliased), tuple(written), random=random or bool(written))

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
ALIASES = (
    "residency.release",
    "torch.derefine",
    "torch.prim.unchecked_cast",
    "torch.prim.unchecked_cast.t",
    "torch.tensor_static_info_cast",
    # Its schema promises a new tensor, but it returns the one that it waits for.
    "torch._c10d_functional.wait_tensor",
)
"""ops that hand on their operand, which says something about time or types: nothing to do again elsewhere"""
UNSAFE_VIEWS = (
    "torch.aten._unsafe_view",
    "torch.aten.unsafe_chunk",
    "torch.aten.unsafe_split.Tensor",
    "torch.aten.unsafe_split_with_sizes",
)
"""their schemas promise new tensors to autograd; the storage is that of the operand all the same"""
MAY_RETURN_INPUT = frozenset(
    f"torch.aten.{op}"
    for op in (
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_tensors",
        "conj_physical",
        "lift",
        "meshgrid",
        "meshgrid.indexing",
        "sum_to_size",
    )
)
"""they return an operand when there is nothing to do, which their schemas do not say"""
CONTROL = ("func.call", "scf.", "cf.", "torch.prim.If", "torch.prim.Loop", "torch.prim.Call")
STRIDED = ("torch.aten.as_strided",)
"""views of what lies under a view: made of a base that was moved, they could show something else"""


@dataclass(frozen=True)
class Effects:
    """Operand numbers. An op that is neither known nor pure has `opaque`."""

    aliased: tuple[int, ...] = ()
    """operands whose storage the results share"""
    view: bool = False
    """the results only give another shape to the storage of the one aliased operand: they may be made again anywhere"""
    written: tuple[int, ...] = ()
    opaque: bool = False
    """it may alias and write every operand, and its order among other opaque ops matters"""
    random: bool = False
    """it draws random numbers or has another effect that no operand shows"""


PURE, OPAQUE = Effects(), Effects(opaque=True, random=True)


def effects_of(op: ir.OpView | ir.Operation) -> Effects:
    """The effects of one op."""
    return _by_name(torch_name(op), len(op.operation.operands))


def torch_name(op: ir.OpView | ir.Operation) -> str:
    """The name of an op; of a `torch.operator` that of the op it stands for."""
    operation = op.operation
    name = operation.name
    if name != "torch.operator":
        return name
    return "torch." + ir.StringAttr(operation.attributes["name"]).value.removeprefix("torch.")


@cache
def _by_name(name: str, operands: int) -> Effects:
    if name in LISTS:
        return Effects(aliased=tuple(range(operands)))
    if name in UNPACKS or name in TENSOR_VIEWS or name in UNSAFE_VIEWS:
        return Effects(aliased=(0,), view=True)
    if name in MAY_RETURN_INPUT:
        return Effects(aliased=(0,))
    if name in ALIASES:
        return Effects(aliased=(0,), random=name.startswith("torch._c10d"))
    if name.startswith(("torch.opaque.", *CONTROL)):
        return OPAQUE
    if not name.startswith("torch."):
        return PURE
    if name.startswith((CONSTANT, "torch.prim.", "torch.vtensor.literal")):
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
    returned = {s for r in schema.returns if r.alias_info for s in r.alias_info.before_set}
    aliased, written = [], []
    for index, argument in enumerate(schema.arguments):
        info = argument.alias_info
        if info is not None and info.is_write:
            written.append(index)
        # A list result that holds views of its argument is `Tensor(a -> *)`; a result that may be any of them is `(*)`.
        if "*" in returned or (info and ("*" in info.after_set or returned & info.before_set)):
            aliased.append(index)
    random = torch.Tag.nondeterministic_seeded in target.tags or not schema.returns
    random = random or bool(written)
    view = len(aliased) == 1 and not random and not name.startswith(STRIDED)
    return Effects(tuple(aliased), view, tuple(written), random=random)

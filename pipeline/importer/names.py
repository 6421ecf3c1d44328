"""How FX targets are spelled in the torch dialect, and back.

An FX target `aten.mm.default` is the op `torch.aten.mm`, `aten.add.Tensor` is `torch.aten.add.Tensor`. Where torch-mlir
models an FX call under another name, the table below says so; an FX call that really has that other name is then written
as `torch.operator "name"`, so that both ways are exact.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache

import torch

from ..torch_private import OpOverload, schema_of

SCALAR_FORMS = {
    "torch.aten.add.Tensor": "torch.aten.add.Scalar",
    "torch.aten.sub.Tensor": "torch.aten.sub.Scalar",
    "torch.aten.mul.Tensor": "torch.aten.mul.Scalar",
    "torch.aten.div.Tensor": "torch.aten.div.Scalar",
    "torch.aten.floor_divide": "torch.aten.floor_divide.Scalar",
}
"""FX writes `add.Tensor(x, 2)` with a Python number; torch-mlir's `.Tensor` form takes tensors only"""

SYMBOLIC_FORMS = {
    "torch.aten.sym_size.int": "torch.aten.size.int",
    "torch.aten.sym_numel": "torch.aten.numel",
}
"""sizes are `!torch.int` values in both worlds; torch-mlir lowers these names"""

PYTHON_OPERATORS: dict[Callable, str] = {
    operator.add: "torch.aten.add.int",
    operator.sub: "torch.aten.sub.int",
    operator.mul: "torch.aten.mul.int",
    operator.floordiv: "torch.aten.floordiv.int",
    operator.mod: "torch.aten.remainder.int",
    operator.neg: "torch.aten.neg.int",
    operator.truediv: "torch.aten.div.int",
    operator.eq: "torch.aten.eq.int",
    operator.ne: "torch.aten.ne.int",
    operator.lt: "torch.aten.lt.int",
    operator.le: "torch.aten.le.int",
    operator.gt: "torch.aten.gt.int",
    operator.ge: "torch.aten.ge.int",
}
"""arithmetic on symbolic integers, which FX records as calls of Python's operators"""

RENAMED = {new: old for old, new in (SCALAR_FORMS | SYMBOLIC_FORMS).items()}
"""registered op name -> name of the FX target that it stands for"""

OPERATORS = {name: target for target, name in PYTHON_OPERATORS.items()}

OPAQUE_PREFIX = "torch.opaque.n"


def dialect_name(target: OpOverload) -> str:
    """`aten.add.Tensor` -> `torch.aten.add.Tensor`; a default overload has no suffix."""
    schema = schema_of(target)
    namespace, _, name = schema.name.partition("::")
    suffix = f".{schema.overload_name}" if schema.overload_name else ""
    return f"torch.{namespace}.{name}{suffix}"


@cache
def overload(name: str) -> OpOverload | None:
    """The op whose `dialect_name` is `name`; None if this process does not have it."""
    parts = name.split(".")
    if len(parts) not in (3, 4) or parts[0] != "torch":
        return None
    packet = getattr(getattr(torch.ops, parts[1]), parts[2], None)
    found = getattr(packet, parts[3] if len(parts) == 4 else "default", None)
    return found if isinstance(found, OpOverload) else None

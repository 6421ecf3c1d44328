"""Python values of constant ops."""

from __future__ import annotations

from typing import Any

import torch
from torch_mlir import ir

from ..importer.literals import OBJECTS

CONSTANT_PREFIX = "torch.constant."


def literal_of(op: ir.OpView | ir.Operation) -> Any:
    """The Python value of a `torch.constant.*` op. dtypes, layouts and memory formats are integers here: only the schema of
    the op that reads one tells what it is."""
    kind = op.operation.name.removeprefix(CONSTANT_PREFIX)
    if kind == "none":
        return None
    value = op.attributes["value"]
    if kind in ("int", "number"):
        # Attributes come as what they are: `torch.constant.number` may hold either.
        return value.value
    if kind == "bool":
        return bool(ir.IntegerAttr(value).value)
    if kind == "float":
        return ir.FloatAttr(value).value
    if kind == "device":
        return torch.device(ir.StringAttr(value).value)
    if kind == "str":
        return ir.StringAttr(value).value
    raise ValueError(f"no Python value for this constant: {op.operation.name}")


def schema_object(value: Any, base: str) -> Any:
    """`value` as a parameter of schema type `base` wants it: integers become dtypes and the like."""
    table = OBJECTS.get(base)
    return table.get(value, value) if table is not None and type(value) is int else value

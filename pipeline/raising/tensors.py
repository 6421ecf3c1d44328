"""Tensor literals in the IR. Import never makes one; upstream passes do, by folding."""

from __future__ import annotations

import numpy
import torch
from torch_mlir import ir

from .errors import RaiseError


def literal_tensor(op: ir.OpView) -> torch.Tensor:
    """The value of a `torch.vtensor.literal`. Raises RaiseError for element types that numpy does not have."""
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr):
        raise RaiseError(op, f"is not a dense literal, got: {value.type}")
    try:
        array = numpy.array(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise RaiseError(op, f"numpy cannot hold this literal: {value.type}") from error
    return torch.from_numpy(array)

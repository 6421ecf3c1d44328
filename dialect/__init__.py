"""The residency dialect: typed ops that say where each tensor of a training step lives, and when.

Defined in Python on top of IRDL, in the same MLIR context as the torch dialect. `load` before use.
"""

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlir
from torch_mlir.dialects import torch as _torch_dialect  # noqa: F401  (registers op classes)

from . import attributes
from .base import Residency, is_device
from .placed import GatherOp, OffloadOp, ReduceOp, ReleaseOp, ReloadOp
from .scheduled import (
    FreeOp,
    GatherStartOp,
    OffloadStartOp,
    ReduceStartOp,
    ReloadStartOp,
    WaitOp,
)
from .symbols import ParamOp, SlotOp
from .types import HostType, PendingType, inner

__all__ = [
    "FreeOp",
    "GatherOp",
    "GatherStartOp",
    "HostType",
    "OffloadOp",
    "OffloadStartOp",
    "ParamOp",
    "PendingType",
    "ReduceOp",
    "ReduceStartOp",
    "ReleaseOp",
    "ReloadOp",
    "ReloadStartOp",
    "Residency",
    "SlotOp",
    "WaitOp",
    "attributes",
    "inner",
    "irdl",
    "is_device",
    "load",
]


_mlir.globals.append_dialect_search_prefix(__name__)  # finds residency.py


def load(context: ir.Context | None = None) -> ir.Context:
    """Makes the residency and torch dialects known to `context` (a new one if None), once; returns the context."""
    from torch_mlir.dialects.torch import register_dialect

    context = context or ir.Context()
    if not context.is_dialect_loaded(Residency.DIALECT_NAMESPACE):
        register_dialect(context)
        with context:
            Residency.load()
    return context


def irdl() -> str:
    """The dialect as IRDL text, for `mlir-opt --irdl-file=`. It has the types and the constraints
    that IRDL can say; what the Python verifiers add is listed under "Constraints" of each op."""
    load()
    return str(Residency._mlir_module)

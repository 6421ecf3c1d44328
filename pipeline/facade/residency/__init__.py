"""The names most users need; `import residency` alone loads neither torch nor torch_mlir."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .pipeline.capture import capture
    from .pipeline.report import explain
    from .runtime import trace

__all__ = ["capture", "explain", "trace"]

_MODULES = {
    "capture": ".pipeline.capture",
    "explain": ".pipeline.report",
    "trace": ".runtime",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("residency")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES, "__version__"])

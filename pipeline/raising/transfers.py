"""What residency ops do when a raised graph is run by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _first(value: Any, *_: Any, **__: Any) -> Any:
    """The op changes where bytes are, not what they are."""
    return value


def _nothing(*_: Any, **__: Any) -> None:
    return None


TRANSFERS: dict[str, Callable] = {
    "residency.release": _first,
    "residency.offload": _first,
    "residency.reload": _first,
    "residency.offload_start": _first,
    "residency.reload_start": _first,
    "residency.wait": _first,
    "residency.free": _nothing,
}
"""op name -> callable that takes the operands, and `slot` or `param` (the symbol's name) as keyword arguments. Whoever runs
transfers for real puts its own callables here, those of gather and reduce included: without a process group they mean nothing."""

OWN_TYPE = frozenset(
    f"residency.{verb}{suffix}" for verb in ("gather", "reduce") for suffix in ("", "_start")
)
"""ops whose result has another shape than their operand"""

"""What the compiler decided, for people: `print(residency.explain(step))`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .step import StepCompiler

_COMPILED: list[tuple[weakref.ref[StepCompiler], object]] = []
"""every live compiled graph with the options object its user gave, in order of compilation"""


@dataclass(frozen=True)
class SlotReport:
    """One saved value."""

    slot: str
    bytes: int | None
    """size, or None where it depends on a symbolic size"""
    tier: str
    """"device", "host" or "disk" """
    reason: str
    movable: bool
    """False for a value that no budget can move"""


@dataclass(frozen=True)
class GraphReport:
    """One compiled graph. `fallback` says why plain torch.compile runs it, or is None."""

    slots: tuple[SlotReport, ...]
    budget: float
    fallback: str | None = None

    def __str__(self) -> str:
        if self.fallback:
            return f"plain torch.compile: {self.fallback}"
        lines = [f"{'slot':<12} {'bytes':>14} {'tier':<7} reason"]
        for s in self.slots:
            size = "symbolic" if s.bytes is None else f"{s.bytes:,}"
            lines.append(f"{s.slot:<12} {size:>14} {s.tier:<7} {s.reason}")
        kept = sum(s.bytes or 0 for s in self.slots if s.tier == "device" and s.movable)
        moved = sum(s.bytes or 0 for s in self.slots if s.tier != "device")
        lines.append(
            f"kept on the device {kept:,} bytes of a budget of {self.budget:,}, moved {moved:,}"
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """All graphs of one compiled function: more than one after a graph break or for another shape."""

    graphs: tuple[GraphReport, ...]

    def __str__(self) -> str:
        if not self.graphs:
            return "nothing compiled yet: run a step first"
        return "\n\n".join(f"graph {i}\n{graph}" for i, graph in enumerate(self.graphs))


def remember(step: StepCompiler, options: Mapping[str, object] | None) -> None:
    """Keeps a weak note of a compiled graph for `explain`."""
    _COMPILED[:] = [entry for entry in _COMPILED if entry[0]() is not None]
    _COMPILED.append((weakref.ref(step), options))


def explain(compiled: Callable | None = None) -> Report:
    """The decisions for a function that `torch.compile(..., backend="residency")` returned, or for
    every graph of this process if None. Graphs appear once a step has run.

    Raises TypeError for a function that was not compiled with this backend.
    """
    from .torch_private import backend_options

    steps = [(ref(), options) for ref, options in _COMPILED]
    if compiled is not None:
        wanted = backend_options(compiled, "residency")
        own = [(step, options) for step, options in steps if options is wanted]
        # Dynamo hands a function that was compiled before with equal options its earlier code.
        steps = own or [(step, options) for step, options in steps if options == wanted]
    return Report(tuple(step.report() for step, _ in steps if step is not None))

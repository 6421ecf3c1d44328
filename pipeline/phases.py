"""The phases of a training step as lists of passes. Each phase ends in its gate; `legality.RULES` says what it allows."""

from __future__ import annotations

import math

from .passes._base import Pass
from .registry import create


def imported() -> list[Pass]:
    """What the importer made, or a module written by hand: compute and symbols."""
    return [create("residency-check-imported")]


def placed(*, budget: int | float = math.inf, min_bytes: int | float = 0) -> list[Pass]:
    """Says what leaves the device and what comes back.

    `budget` is the bytes of saved values that may stay on the device between forward and backward; values smaller than
    `min_bytes` are not moved.
    """
    return [
        # Must precede offload-saved because moving a view frees nothing while its base stays: only values that own their
        # storage are worth a slot.
        create("residency-sink-views"),
        create("residency-offload-saved", budget=budget, min_bytes=min_bytes),
        # Must follow offload-saved because an offload reads its value: a release in front of it would be too early.
        create("residency-insert-releases"),
        # Must follow all passes that add or remove an offload or a reload, because it proves that they come in pairs.
        create("residency-match-slots"),
        create("residency-check-placed"),
    ]


def scheduled() -> list[Pass]:
    """Says when each transfer starts, is waited for, and when device memory returns."""
    return [create("residency-schedule-transfers"), create("residency-check-scheduled")]


def outlined(*, layers: bool = False) -> list[Pass]:
    """Moves compute into private functions, equal ones once.

    With `layers`, segments also end where the model's layers do, so that a compiler sees one layer instead of all.
    """
    return [
        # Must precede outline-segments because cuts that miss the layers' period leave hardly any two segments equal.
        *([create("residency-tag-layers")] if layers else []),
        create("residency-outline-segments"),
        # Must follow outline-segments, which makes one function per segment, equal or not.
        create("residency-dedupe-segments"),
        create("residency-check-outlined"),
    ]


def backend(
    *, budget: int | float = math.inf, min_bytes: int | float = 0, layers: bool = False
) -> list[Pass]:
    """All phases, from an imported module to one that a target can be emitted for."""
    return [
        *imported(),
        *placed(budget=budget, min_bytes=min_bytes),
        *scheduled(),
        *outlined(layers=layers),
    ]

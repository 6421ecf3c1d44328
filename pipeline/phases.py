"""The phases of a training step as lists of passes. Each phase ends in its gate; `legality.RULES` says what it allows."""

from __future__ import annotations

import math

from .passes._base import Pass
from .registry import create


def imported() -> list[Pass]:
    """What the importer made, or a module written by hand: compute and symbols."""
    return [
        # Must precede the gate because modules written by hand name slots without defining them.
        create("residency-match-slots"),
        create("residency-check-imported"),
    ]


def placed(*, budget: int | float = math.inf, min_bytes: int | float = 0) -> list[Pass]:
    """Says what leaves the device and what comes back.

    `budget` is the bytes of saved values that may stay on the device between forward and backward; values smaller than
    `min_bytes` are not moved.
    """
    return [
        # Must precede offload-saved because moving a view frees nothing while its base stays: only values that own their
        # storage are worth a slot.
        create("residency-sink-views"),
        # Must follow sink-views and precede insert-releases because an offload reads its value: the release of a gathered
        # parameter that is saved would come too early.
        create("residency-offload-saved", budget=budget, min_bytes=min_bytes),
        create("residency-insert-releases"),
        # Must follow all passes that add or remove an offload or a reload because it proves that they come in pairs.
        create("residency-match-slots"),
        create("residency-check-placed"),
    ]


def scheduled(*, layers: bool = False) -> list[Pass]:
    """Says when each transfer starts, when it is waited for, and when device memory returns.

    With `layers`, this happens only where the model's layers meet, so that a compiler sees whole layers.
    """
    return [
        # Must precede schedule-transfers because transfers end segments: off the layers' period they leave no two equal.
        *([create("residency-tag-layers")] if layers else []),
        create("residency-schedule-transfers"),
        create("residency-check-scheduled"),
    ]


def outlined() -> list[Pass]:
    """Moves compute into private functions, equal ones once."""
    return [
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
        *scheduled(layers=layers),
        *outlined(),
    ]

"""The gate of phase `scheduled`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._gate import Gate


@dataclass(frozen=True)
class CheckScheduled(Gate):
    """Checks that every transfer has its time: no op is left that says only what moves.

    Requires nothing. Reports every offender, then fails; changes nothing.

    Input:

        %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>

    Output:

        error: op is not allowed in entry functions in phase scheduled: residency.reload
    """

    name = "residency-check-scheduled"
    phase: ClassVar[str] = "scheduled"
    """whose contract is checked"""

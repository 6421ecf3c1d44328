"""The gate of phase `placed`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._gate import Gate


@dataclass(frozen=True)
class CheckPlaced(Gate):
    """Checks that a module says what moves, by symbol, without saying when.

    Requires nothing. Reports every offender, then fails; changes nothing.

    Input:

        %x = "residency.wait"(%p) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>

    Output:

        error: op is not allowed in entry functions in phase placed: residency.wait
    """

    name = "residency-check-placed"
    phase: ClassVar[str] = "placed"
    """whose contract is checked"""

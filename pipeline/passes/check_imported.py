"""The gate of phase `imported`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._gate import Gate


@dataclass(frozen=True)
class CheckImported(Gate):
    """Checks that a module holds compute and symbols only: nothing has been placed yet.

    Requires nothing. Reports every offender, then fails; changes nothing.

    Input:

        func.func @forward(%x: tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>> {
          %h = "residency.offload"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
          return %h : !residency.host<tensor<4x8xf32>>
        }

    Output:

        error: op is not allowed in entry functions in phase imported: residency.offload
    """

    name = "residency-check-imported"
    phase: ClassVar[str] = "imported"
    """whose contract is checked"""

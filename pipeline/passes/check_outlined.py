"""The gate of phase `outlined`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._gate import Gate


@dataclass(frozen=True)
class CheckOutlined(Gate):
    """Checks that entry functions only move values and call segments, and that segments only compute.

    Views of arguments, with the numbers they take, may stay in entry functions.

    Requires nothing. Reports every offender, then fails; changes nothing.

    Input:

        func.func @forward(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
          %y = torch.aten.tanh %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
          return %y : !torch.vtensor<[4],f32>
        }

    Output:

        error: op is not allowed in entry functions in phase outlined: torch.aten.tanh
    """

    name = "residency-check-outlined"
    phase: ClassVar[str] = "outlined"
    """whose contract is checked"""

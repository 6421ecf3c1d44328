"""Which saved values stay under a budget: the policy of residency-offload-saved."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_mlir import ir

from ...dialect import HostType
from ...dialect import attributes as attr
from ..analysis.aliases import Aliases
from ..ir import results, slot_of, string
from ..tensor_type import byte_size

STAYS_VIEW = "a view that is saved as it is, "
"""how residency-sink-views begins its reason: it holds beside the reason for the tier"""


def view_reason(slot: ir.OpView) -> str:
    """What residency-sink-views said about a slot, "" if nothing."""
    reason = string(slot.attributes[attr.REASON]) if attr.REASON in slot.attributes else ""
    return reason[reason.index(STAYS_VIEW) :] if STAYS_VIEW in reason else ""


@dataclass(frozen=True)
class Choice:
    """What happens to one slot, and why."""

    move: bool
    reason: str


@dataclass(frozen=True)
class _Candidate:
    slot: str
    bytes: int | None
    """None where a size is symbolic"""
    returned: bool
    """the user gets it too, and may hold it after backward"""


def choose(
    forward: ir.OpView,
    slots: dict[str, ir.OpView],
    budget: float,
    min_bytes: float,
    requested: frozenset[str],
) -> dict[str, Choice]:
    """A choice for every slot that forward saves on the device.

    Moves as few bytes as it can: of what may move, the largest values stay that fit beside each other; what does not fit is
    passed over, not the end. `requested` slots move whatever the budget. Values that cannot move do not count
    against it: their slot says why they stay.
    """
    fixed, candidates = _candidates(forward, slots, min_bytes, requested)
    chosen = dict(fixed)
    free = [c for c in candidates if c.slot not in requested]
    for candidate in candidates:
        if candidate.slot in requested:
            chosen[candidate.slot] = Choice(True, "requested by name")
    kept = _keep(free, budget)
    for candidate in free:
        if candidate.slot in kept:
            chosen[candidate.slot] = Choice(False, "fits the budget")
        elif candidate.bytes is None:
            chosen[candidate.slot] = Choice(True, "its size is not known before the step runs")
        elif candidate.returned:
            chosen[candidate.slot] = Choice(True, "over the budget; the caller holds its own copy")
        else:
            chosen[candidate.slot] = Choice(True, "over the budget")
    return chosen


def _candidates(
    forward: ir.OpView, slots: dict[str, ir.OpView], min_bytes: float, requested: frozenset[str]
) -> tuple[dict[str, Choice], list[_Candidate]]:
    """Choices that are no choices, and the values that may go or stay."""
    aliases, returned = Aliases(forward), results(forward)
    of_user = {v for v, attributes in returned if slot_of(attributes) is None}
    saved = {slot_of(attributes): v for v, attributes in returned if slot_of(attributes)}
    owners: dict[ir.Value, list[str]] = {}
    for slot, value in saved.items():
        for root in aliases.roots(value):
            owners.setdefault(root, []).append(slot)
    fixed, candidates = {}, []
    for slot, value in saved.items():
        if isinstance(value.type, HostType):
            continue
        why = _stays(slots[slot], value, aliases)
        size = byte_size(value.type)
        beside = [s for root in aliases.roots(value) for s in owners[root] if s != slot]
        if why is None and beside:
            why = f"shares its storage with slot @{beside[0]}"
        if why is None and slot not in requested and size is not None and size < min_bytes:
            why = f"smaller than min-bytes: {size} bytes"
        if why is not None:
            fixed[slot] = Choice(False, why)
        else:
            user = any(v in of_user for v in aliases.same_storage(value))
            candidates.append(_Candidate(slot, size, user))
    return fixed, candidates


def _stays(slot: ir.OpView, value: ir.Value, aliases: Aliases) -> str | None:
    """Why a saved value cannot leave the device, whatever was asked for."""
    if attr.STAYS in slot.attributes:
        return string(slot.attributes[attr.STAYS])
    if not str(value.type).startswith(("!torch.vtensor<", "tensor<")):
        return f"not a tensor of known size: {value.type}"
    if any(isinstance(root, ir.BlockArgument) for root in aliases.roots(value)):
        return "an alias of a graph input: the caller holds it"
    return None


def _keep(candidates: list[_Candidate], budget: float) -> set[str]:
    """Slots that stay: largest first, then returned ones, so that as many bytes as possible need not move."""
    if budget == math.inf:
        return {c.slot for c in candidates}
    kept, room = set(), budget
    # A value that the caller holds anyway frees least by moving: it is the first to stay.
    for candidate in sorted(candidates, key=lambda c: (not c.returned, -(c.bytes or 0), c.slot)):
        if candidate.bytes is not None and candidate.bytes <= room:
            kept.add(candidate.slot)
            room -= candidate.bytes
    return kept

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

MAX_FILLINGS = 64
"""sizes that are tried as the largest that stays: models save few sizes, many times"""

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
    passed over, not the end. `requested` slots move whatever the budget. Values that forward made and that cannot move count
    against it first: if they alone exceed it, their slots say why they stay.
    """
    fixed, candidates, held = _candidates(forward, slots, min_bytes, requested)
    chosen = dict(fixed)
    free = [c for c in candidates if c.slot not in requested]
    for candidate in candidates:
        if candidate.slot in requested:
            chosen[candidate.slot] = Choice(True, "requested by name")
    kept = _keep(free, budget - held)
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
) -> tuple[dict[str, Choice], list[_Candidate], int]:
    """Choices that are no choices, the values that may go or stay, and the bytes that forward made and that stay anyway."""
    aliases, returned = Aliases(forward), results(forward)
    of_user = {v for v, attributes in returned if slot_of(attributes) is None}
    saved = {slot_of(attributes): v for v, attributes in returned if slot_of(attributes)}
    owners: dict[ir.Value, list[str]] = {}
    for slot, value in saved.items():
        for root in aliases.roots(value):
            owners.setdefault(root, []).append(slot)
    fixed, candidates, held = {}, [], {}
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
            held.update((root, byte_size(root.type)) for root in _made(value, aliases))
        else:
            user = any(v in of_user for v in aliases.same_storage(value))
            candidates.append(_Candidate(slot, size, user))
    return fixed, candidates, sum(size or 0 for size in held.values())


def _made(value: ir.Value, aliases: Aliases) -> frozenset[ir.Value]:
    """The storages of a saved value, if forward made them all."""
    roots = aliases.roots(value)
    return frozenset() if any(isinstance(r, ir.BlockArgument) for r in roots) else roots


def _stays(slot: ir.OpView, value: ir.Value, aliases: Aliases) -> str | None:
    """Why a saved value cannot leave the device, whatever was asked for."""
    if attr.STAYS in slot.attributes:
        return string(slot.attributes[attr.STAYS])
    if not str(value.type).startswith(("!torch.vtensor<", "tensor<")):
        return f"not a tensor of known size: {value.type}"
    if any(isinstance(root, ir.BlockArgument) for root in aliases.roots(value)):
        return "an alias of a graph input: the caller holds it"
    return None


def _keep(candidates: list[_Candidate], room: float) -> set[str]:
    """Slots that stay, so that as few bytes as possible need to move."""
    if room == math.inf:
        return {c.slot for c in candidates}
    known = sorted((c for c in candidates if c.bytes is not None), key=lambda c: (-c.bytes, c.slot))
    # A value that the caller holds anyway frees least by moving: it is the first to stay.
    returned = _fill([c for c in known if c.returned], room)
    rest = [c for c in known if not c.returned]
    room -= sum(c.bytes for c in returned)
    # The largest value may leave less room than two others fill: try without the largest, the two largest sizes, ...
    starts = [i for i, c in enumerate(rest) if i == 0 or rest[i - 1].bytes != c.bytes]
    fillings = [_fill(rest[start:], room) for start in starts[:MAX_FILLINGS]]
    best = max(fillings, key=lambda filling: sum(c.bytes for c in filling), default=[])
    return {c.slot for c in (*returned, *best)}


def _fill(candidates: list[_Candidate], room: float) -> list[_Candidate]:
    """Takes each in order that still fits."""
    taken = []
    for candidate in candidates:
        if candidate.bytes <= room:
            taken.append(candidate)
            room -= candidate.bytes
    return taken

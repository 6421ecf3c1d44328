"""residency-offload-saved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from ...dialect import HostType
from ...dialect import attributes as attr
from ..ir import (
    Attributes,
    arguments,
    at_begin,
    before,
    block,
    create,
    entries,
    results,
    return_op,
    set_argument_types,
    set_results,
    slot_of,
    slots,
    symbol_name,
)
from ._base import Pass
from ._choose_slots import Choice, choose, view_reason


@dataclass(frozen=True)
class OffloadSaved(Pass):
    """Moves saved values off the device between forward and backward, until what stays fits the budget.

    Forward and backward change together. The offload's operand is the very value that is saved, which may be a release; the
    result, the argument and the slot say that the bytes are on the host. Every slot gets the reason for its tier.

    Requires: phase `imported` or `placed`, after residency-sink-views; slots that carry `residency.slot` on both sides.
    Afterwards: saved values that forward made and that are on the device take at most `budget` bytes, except for those whose
    slot says why they stay; each slot in `slots` is moved, or the pass fails and says why not.

    Input:
        return %x {residency.slot = @s}
        func.func @backward(%a {residency.slot = @s}) { use(%a) }
    Output:
        %h = residency.offload %x {slot = @s}
        return %h {residency.slot = @s}
        func.func @backward(%a : host {residency.slot = @s}) { %x = residency.reload %a {slot = @s}; use(%x) }
    """

    name: ClassVar[str] = "residency-offload-saved"

    budget: int | float = math.inf
    """bytes of saved values that forward made and that may stay on the device"""
    min_bytes: int | float = 0
    """saved values smaller than this many bytes stay on the device"""
    slots: tuple[str, ...] = ()
    """slots that move whatever the budget"""
    tier: str = attr.HOST
    """where moved values go: "host" or "disk" """

    def run(self, module: ir.Module) -> None:
        functions = {symbol_name(f): f for f in entries(module)}
        forward, backward = functions.get("forward"), functions.get("backward")
        known = slots(module)
        if forward is None or backward is None:
            self.refuse_all(module, "the module has no @forward and @backward")
            return
        for name in self.slots:
            if name not in known:
                self.emit(module.operation, f"no such slot was saved, got: @{name}")
        choices = choose(forward, known, self.budget, self.min_bytes, frozenset(self.slots))
        for name, choice in choices.items():
            if name in self.slots and not choice.move:
                self.emit(known[name], f"slot @{name} cannot be offloaded: {choice.reason}")
            self.annotate(known[name], choice)
        moved = [name for name, choice in choices.items() if choice.move]
        if moved:
            self.offload(forward, moved)
            self.reload(backward, moved)

    def refuse_all(self, module: ir.Module, why: str) -> None:
        for name in self.slots:
            self.emit(module.operation, f"slot @{name} cannot be offloaded: {why}")

    def annotate(self, slot: ir.OpView, choice: Choice) -> None:
        context = slot.operation.context
        reason = "; ".join(filter(None, (choice.reason, view_reason(slot))))
        slot.attributes[attr.REASON] = ir.StringAttr.get(reason, context)
        if choice.move:
            slot.attributes["tier"] = ir.StringAttr.get(self.tier, context)

    def offload(self, forward: ir.OpView, moved: list[str]) -> None:
        """One offload per slot, however often forward returns it."""
        hosts: dict[str, ir.Value] = {}
        new, wanted = [], set(moved)
        for value, attributes in results(forward):
            slot = slot_of(attributes)
            if slot not in wanted or isinstance(value.type, HostType):
                new.append((value, attributes))
                continue
            if slot not in hosts:
                op = create(
                    "residency.offload",
                    [value],
                    [HostType.get(value.type)],
                    _slot(slot, value),
                    loc=_location(value),
                    ip=before(return_op(forward)),
                )
                hosts[slot] = op.results[0]
            new.append((hosts[slot], attributes))
        set_results(forward, new)

    def reload(self, backward: ir.OpView, moved: list[str]) -> None:
        """One reload per slot, at the top: placement says nothing about time."""
        wanted = set(moved)
        saved = [
            (index, value, value.type, slot)
            for index, (value, attributes) in enumerate(arguments(backward))
            if (slot := slot_of(attributes)) in wanted and not isinstance(value.type, HostType)
        ]
        reloaded: dict[str, ir.Value] = {}
        at = at_begin(block(backward))
        for _, value, type_, slot in saved:
            users = [use.owner for use in value.uses]
            if slot in reloaded:
                value.replace_all_uses_with(reloaded[slot])
                continue
            loc = users[-1].location if users else backward.location
            op = create("residency.reload", [value], [type_], _slot(slot, value), loc=loc, ip=at)
            value.replace_all_uses_except(op.results[0], [op.operation])
            reloaded[slot] = op.results[0]
        # Last, because backward may return what it reloads: its type follows from the return.
        set_argument_types(backward, {index: HostType.get(type_) for index, _, type_, _ in saved})


def _slot(name: str, value: ir.Value) -> Attributes:
    return {"slot": ir.FlatSymbolRefAttr.get(name, value.type.context)}


def _location(value: ir.Value) -> ir.Location:
    """Where a value was made: an offload is explained by the line that made what it moves."""
    return value.location

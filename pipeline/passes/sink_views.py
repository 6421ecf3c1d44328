"""residency-sink-views."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from torch_mlir import ir

from ...dialect import attributes as attr
from ..analysis.aliases import Aliases
from ..analysis.effects import effects_of, torch_name
from ..analysis.views import Chain, chain_of, is_number, is_view, view_ops
from ..ir import (
    Attributes,
    argument_attributes,
    arguments,
    block,
    clone,
    create,
    entries,
    results,
    return_op,
    set_arguments,
    set_results,
    slot_of,
    slots,
    symbol_name,
)
from ._base import Pass
from ._choose_slots import STAYS_VIEW


@dataclass(frozen=True)
class SinkViews(Pass):
    """Saves the base of a saved view in its place, and replays the view in backward.

    Moving a view would free nothing while its base stays, and a base that is saved beside its view would be moved twice. A
    view is told by its op's schema. Where the base is an argument, the argument is saved: the caller holds it anyway.

    Requires: phase `imported`.
    Afterwards: no saved value is a view of a storage that nothing writes, unless it takes a number that backward does not have:
    its slot says so; no value is saved under two names.

    Input:
        %v = torch.aten.view %y, %shape ...
        return %v  {residency.slot = @saved_0}
        func.func @backward(%a {residency.slot = @saved_0}) { use(%a) }
    Output:
        return %y  {residency.slot = @saved_1}
        func.func @backward(%b {residency.slot = @saved_1}) { %v = torch.aten.view %b, %shape; use(%v) }
    """

    name: ClassVar[str] = "residency-sink-views"

    def run(self, module: ir.Module) -> None:
        functions = {symbol_name(f): f for f in entries(module)}
        if "forward" not in functions or "backward" not in functions:
            return
        plan = _Plan(module, functions["forward"])
        if plan.chains:
            plan.rewrite_forward()
            plan.rewrite_backward(functions["backward"])
            plan.erase_dead_views()
            plan.erase_unused_slots()


@dataclass
class _Plan:
    """Which slots hold views, and the slots of their bases."""

    module: ir.Module
    forward: ir.OpView
    chains: dict[str, Chain] = field(default_factory=dict)
    """slot of a view -> how to get it from its base"""
    views: dict[str, ir.Value] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    """slot of a view -> slot of its base"""
    numbers: dict[ir.Value, str] = field(default_factory=dict)
    """saved number -> its slot: views may take what backward gets anyway"""
    next_number: int = 0

    def __post_init__(self) -> None:
        aliases, slots_ = Aliases(self.forward), slots(self.module)
        written = self.written_storages(aliases)
        slot_of_value: dict[ir.Value, str] = {}
        twice: dict[str, ir.Value] = {}
        for value, attributes in results(self.forward):
            slot = slot_of(attributes)
            if slot is not None and slot_of_value.setdefault(value, slot) != slot:
                twice[slot] = value
        self.numbers = {v: s for v, s in slot_of_value.items() if is_number(v.type)}
        for value, slot in list(slot_of_value.items()):
            chain = chain_of(value, self.numbers)
            if chain is not None and not self.is_fixed(chain.base, aliases, written):
                self.chains[slot], self.views[slot] = chain, value
            elif slot in slots_ and (views := view_ops(value)):
                why = "its storage is written" if chain else "backward lacks a number that it takes"
                self.explain(slots_[slot], views[0], why)
        for slot, value in twice.items():
            # One value under two names: what holds for the one holds for the other.
            self.chains[slot] = self.chains.get(slot_of_value[value], Chain(value, ()))
            self.views[slot] = value
        for slot, chain in self.chains.items():
            if chain.base not in slot_of_value:
                slot_of_value[chain.base] = self.new_slot(chain.base, slots_, slot)
            self.bases[slot] = slot_of_value[chain.base]

    def explain(self, slot: ir.OpView, view: ir.Operation, why: str) -> None:
        slot.attributes[attr.REASON] = ir.StringAttr.get(
            f"{STAYS_VIEW}{torch_name(view)}: {why}", self.module.context
        )

    def written_storages(self, aliases: Aliases) -> set[ir.Value]:
        found: set[ir.Value] = set()
        for op in block(self.forward).operations:
            effects = effects_of(op)
            positions = range(len(op.operands)) if effects.opaque else effects.written
            for index in positions:
                found |= aliases.roots(op.operands[index])
        return found

    def is_fixed(self, base: ir.Value, aliases: Aliases, written: set[ir.Value]) -> bool:
        """True if the base cannot be saved in the place of its view: it may change, or is a constant of the graph."""
        if aliases.roots(base) & written:
            return True
        if not isinstance(base, ir.BlockArgument):
            return False
        number = ir.BlockArgument(base).arg_number
        return attr.CONSTANT in argument_attributes(self.forward)[number]

    def new_slot(self, base: ir.Value, slots_: dict[str, ir.OpView], beside: str) -> str:
        """Makes the slot of a base that was not saved itself."""
        context, number = self.module.context, max(len(slots_), self.next_number)
        while f"saved_{number}" in slots_:
            number += 1
        self.next_number = number + 1
        attributes: Attributes = {
            "sym_name": ir.StringAttr.get(f"saved_{number}", context),
            "type": ir.TypeAttr.get(base.type, context),
            "tier": ir.StringAttr.get(attr.DEVICE, context),
        }
        if isinstance(base, ir.BlockArgument):
            attributes[attr.STAYS] = ir.StringAttr.get("graph input: the caller holds it", context)
        elif attr.STAYS in slots_[beside].attributes:
            attributes[attr.STAYS] = slots_[beside].attributes[attr.STAYS]
        at = slots_[beside]
        made = create(
            "residency.slot", attributes=attributes, loc=at.location, ip=ir.InsertionPoint(at)
        )
        slots_[symbol_name(made)] = made
        return symbol_name(made)

    def renamed(self, present: list[str | None]) -> list[str | None]:
        """The slot of each position afterwards; None where a slot that is already there would come twice."""
        kept = {slot for slot in present if slot is not None and slot not in self.chains}
        after: list[str | None] = []
        for slot in present:
            base = self.bases.get(slot)
            if base is None:
                after.append(slot)
            elif base in kept:
                after.append(None)
            else:
                kept.add(base)
                after.append(base)
        return after

    def rewrite_forward(self) -> None:
        old = results(self.forward)
        after = self.renamed([slot_of(attributes) for _, attributes in old])
        new = []
        for (value, attributes), slot in zip(old, after, strict=True):
            before = slot_of(attributes)
            if before == slot:
                new.append((value, attributes))
            elif slot is not None:
                new.append((self.chains[before].base, {**attributes, attr.SLOT: self.ref(slot)}))
        set_results(self.forward, new)

    def rewrite_backward(self, backward: ir.OpView) -> None:
        old = arguments(backward)
        present = [slot_of(attributes) for _, attributes in old]
        after = self.renamed(present)
        kinds = {attr.KIND: ir.StringAttr.get(attr.SAVED, self.module.context)}
        # Added behind the old arguments first: those may go only once the replayed views have taken their place.
        added = [
            (self.chains[before].base.type, {**kinds, attr.SLOT: self.ref(slot)})
            for before, slot in zip(present, after, strict=True)
            if before != slot and slot is not None
        ]
        values = set_arguments(backward, [*old, *added])
        fresh = iter(range(len(old), len(values)))
        order = [
            index if before == slot else next(fresh) if slot is not None else None
            for index, (before, slot) in enumerate(zip(present, after, strict=True))
        ]
        by_slot = {s: values[i] for i, s in zip(order, after, strict=True) if s is not None}
        for index, slot in enumerate(present):
            if slot in self.chains:
                # Where the view is used first: a view at the top would make its base come back at the top.
                at = ir.InsertionPoint(_first_user(values[index]) or return_op(backward))
                values[index].replace_all_uses_with(self.replay(slot, by_slot, at))
        everything = arguments(backward)
        set_arguments(backward, [everything[index] for index in order if index is not None])

    def replay(self, slot: str, saved: dict[str, ir.Value], at: ir.InsertionPoint) -> ir.Value:
        chain = self.chains[slot]
        mapping = {value: saved[s] for value, s in self.numbers.items() if s in saved}
        mapping[chain.base] = saved[self.bases[slot]]
        for op in chain.ops:
            clone(op, mapping, at)
        return mapping[self.views[slot]]

    def erase_dead_views(self) -> None:
        """Views that only the return read. They were cloned into backward, so they go last."""
        for op in reversed(list(block(self.forward).operations)):
            if is_view(op) and all(next(iter(r.uses), None) is None for r in op.results):
                op.operation.erase()

    def erase_unused_slots(self) -> None:
        remaining = {slot_of(attributes) for _, attributes in results(self.forward)}
        for slot, op in slots(self.module).items():
            if slot in self.chains and slot not in remaining:
                op.operation.erase()

    def ref(self, slot: str) -> ir.Attribute:
        return ir.FlatSymbolRefAttr.get(slot, self.module.context)


def _first_user(value: ir.Value) -> ir.Operation | None:
    """The first op that reads `value`."""
    first: ir.Operation | None = None
    for use in value.uses:
        user = use.owner.operation
        if first is None or user.is_before_in_block(first):
            first = user
    return first

"""residency-match-slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from torch_mlir import ir

from ...dialect import attributes as attr
from ...dialect import inner
from ..ir import (
    arguments,
    at_begin,
    block,
    create,
    entries,
    erase,
    results,
    slot_of,
    slots,
    source_line,
    string,
    symbol,
    symbol_name,
)
from ._base import Pass

SAVES = ("residency.offload", "residency.offload_start")
LOADS = ("residency.reload", "residency.reload_start")


@dataclass
class _Sides:
    """All that refers to one slot."""

    saved: list[ir.Type] = field(default_factory=list)
    """types of forward's results"""
    read: list[ir.Type] = field(default_factory=list)
    """types of backward's arguments"""
    offloads: list[ir.OpView] = field(default_factory=list)
    reloads: list[ir.OpView] = field(default_factory=list)


@dataclass(frozen=True)
class MatchSlots(Pass):
    """Pairs what forward saves with what backward reads, by symbol alone.

    Slots that a hand-written module only names get their symbol ops, in the order in which they are saved; slots that nothing
    refers to are erased. Where backward gets a slot twice, the first argument serves all readers.

    Requires: phase `placed` or `scheduled`.
    Afterwards: each slot is saved and read with one type; each slot on the host is offloaded once and reloaded once, and no
    other is; each slot has a `residency.slot`.

    Input:
        func.func @forward(...) -> (tensor<4xf32> {residency.slot = @s})
        func.func @backward(%a: tensor<4xf32> {residency.slot = @s})
    Output:
        residency.slot @s {type = tensor<4xf32>, tier = "device"}
    """

    name: ClassVar[str] = "residency-match-slots"

    def run(self, module: ir.Module) -> None:
        sides = self.collect(module)
        known = slots(module)
        for name, slot in list(known.items()):
            if name not in sides:
                erase(slot)
                del known[name]
        missing, at = [name for name in sides if name not in known], at_begin(module.body)
        for name in missing:
            known[name] = self.declare(module, name, sides[name], at)
        has_backward = any(symbol_name(f) == "backward" for f in entries(module))
        for name, side in sides.items():
            self.check(known[name], name, side, has_backward)

    def collect(self, module: ir.Module) -> dict[str, _Sides]:
        sides: dict[str, _Sides] = {}
        for func in entries(module):
            for value, attributes in results(func):
                if slot := slot_of(attributes):
                    sides.setdefault(slot, _Sides()).saved.append(value.type)
                    self.check_result(value, slot)
            given: dict[ir.Value, str] = {}
            first: dict[str, ir.Value] = {}
            for value, attributes in arguments(func):
                if slot := slot_of(attributes):
                    sides.setdefault(slot, _Sides()).read.append(value.type)
                    given[value] = slot
                    if first.setdefault(slot, value) != value and first[slot].type == value.type:
                        value.replace_all_uses_with(first[slot])
            for op in block(func).operations:
                if op.operation.name in SAVES:
                    sides.setdefault(symbol(op), _Sides()).offloads.append(op)
                elif op.operation.name in LOADS:
                    slot = symbol(op)
                    sides.setdefault(slot, _Sides()).reloads.append(op)
                    if (other := given.get(op.operands[0], slot)) != slot:
                        self.emit(op, f"slot @{slot} is reloaded from the argument of: @{other}")
        return sides

    def check_result(self, value: ir.Value, slot: str) -> None:
        """What forward returns for a slot is not what was offloaded for another one."""
        while not isinstance(value, ir.BlockArgument):
            op = value.owner
            if op.operation.name in SAVES and symbol(op) != slot:
                self.emit(op, f"slot @{symbol(op)} is offloaded into the result of: @{slot}")
            if op.operation.name != "residency.wait":
                return
            value = op.operands[0]

    def declare(
        self, module: ir.Module, name: str, side: _Sides, at: ir.InsertionPoint
    ) -> ir.OpView:
        """Makes the symbol op that a hand-written module left out."""
        context = module.context
        on_host = bool(side.offloads or side.reloads)
        types = [*side.saved, *side.read] or [
            op.results[0].type for op in [*side.offloads, *side.reloads]
        ]
        attributes = {
            "sym_name": ir.StringAttr.get(name, context),
            "type": ir.TypeAttr.get(_device_type(types[0]), context),
            "tier": ir.StringAttr.get(attr.HOST if on_host else attr.DEVICE, context),
        }
        loc = ir.Location.unknown(context)
        return create("residency.slot", attributes=attributes, loc=loc, ip=at)

    def check(self, slot: ir.OpView, name: str, side: _Sides, has_backward: bool) -> None:
        self.check_once(
            side.offloads, lambda where: f"slot @{name} is offloaded twice, first {where}"
        )
        self.check_once(
            side.reloads, lambda where: f"slot @{name} is reloaded twice, first {where}"
        )
        if side.reloads and not side.offloads:
            self.emit(side.reloads[0], f"slot @{name} is reloaded but never offloaded")
        if side.offloads and not side.reloads:
            self.emit(side.offloads[0], f"slot @{name} is offloaded but never reloaded")
        if side.saved and not side.read and has_backward:
            self.emit(
                slot, f"slot @{name} is saved by forward, but no argument of backward reads it"
            )
        if side.read and not side.saved:
            self.emit(slot, f"slot @{name} is read by backward, but no result of forward saves it")
        self.check_types(slot, name, side)
        tier, moved = string(slot.attributes["tier"]), bool(side.offloads or side.reloads)
        if moved and tier == attr.DEVICE:
            self.emit(slot, f"slot @{name} is moved, but its tier is: {tier}")
        if not moved and tier != attr.DEVICE:
            self.emit(slot, f"slot @{name} is never moved, but its tier is: {tier}")

    def check_once(self, ops: list[ir.OpView], message: Callable[[str], str]) -> None:
        for again in ops[1:]:
            self.emit(again, message(f"here: {source_line(ops[0].location) or ops[0].location}"))

    def check_types(self, slot: ir.OpView, name: str, side: _Sides) -> None:
        for saved in side.saved:
            for read in side.read:
                if saved != read:
                    self.emit(slot, f"slot @{name} is saved as {saved}, but read as: {read}")
                    return
        expected = ir.TypeAttr(slot.attributes["type"]).value
        for type_ in [*side.saved, *side.read]:
            if _device_type(type_) != expected:
                self.emit(slot, f"slot @{name} has type {expected}, but is used as: {type_}")
                return


def _device_type(type_: ir.Type) -> ir.Type:
    """The type on the device of a value that may be on the host or in flight."""
    while str(type_).startswith("!residency."):
        type_ = inner(type_)
    return type_

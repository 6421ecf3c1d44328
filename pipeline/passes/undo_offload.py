"""residency-undo-offload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from ...dialect import HostType, inner
from ...dialect import attributes as attr
from ..ir import (
    arguments,
    block,
    entries,
    erase,
    results,
    set_argument_types,
    set_results,
    slot_of,
    slots,
    symbol,
)
from ._base import Pass
from ._choose_slots import view_reason

OFFLOAD, RELOAD = "residency.offload", "residency.reload"


@dataclass(frozen=True)
class UndoOffload(Pass):
    """Takes offloads back, each with its reload: the exact inverse of residency-offload-saved.

    Users of an offload get its actual operand, which may be a release, never the value behind it: a release without a user
    would be erased, and the parameter never freed.

    Requires: phase `placed`.
    Afterwards: the module is textually what it was before the values were offloaded.

    Input:
        %h = residency.offload %x {slot = @s}
        return %h {residency.slot = @s}
    Output:
        return %x {residency.slot = @s}
    """

    name: ClassVar[str] = "residency-undo-offload"

    slots: tuple[str, ...] = ()
    """slots to take back; all if empty"""

    def run(self, module: ir.Module) -> None:
        known = slots(module)
        for name in self.slots:
            if name not in known:
                self.emit(module.operation, f"no such slot, got: @{name}")
        for func in entries(module):
            self.restore(func)
        for name, slot in known.items():
            if self.wants(name):
                slot.attributes["tier"] = ir.StringAttr.get(attr.DEVICE, module.context)
                before = view_reason(slot)
                if before:
                    slot.attributes[attr.REASON] = ir.StringAttr.get(before, module.context)
                elif attr.REASON in slot.attributes:
                    del slot.attributes[attr.REASON]

    def wants(self, slot: str | None) -> bool:
        return not self.slots or slot in self.slots

    def restore(self, func: ir.OpView) -> None:
        offloads, reloads = [], []
        for op in block(func).operations:
            name = op.operation.name
            if name in (OFFLOAD, RELOAD) and self.wants(symbol(op)):
                (offloads if name == OFFLOAD else reloads).append(op)
        self.undo_offloads(func, offloads)
        self.undo_reloads(func, reloads)

    def undo_offloads(self, func: ir.OpView, offloads: list[ir.OpView]) -> None:
        sources = {op.results[0]: op.operands[0] for op in offloads}
        if sources:
            set_results(func, [(sources.get(v, v), attributes) for v, attributes in results(func)])
        for op in offloads:
            erase(op)

    def undo_reloads(self, func: ir.OpView, reloads: list[ir.OpView]) -> None:
        for op in reloads:
            op.results[0].replace_all_uses_with(op.operands[0])
            erase(op)
        # By slot: a value that backward gets twice has one reload, and both arguments are on the host.
        types = {
            index: inner(value.type)
            for index, (value, attributes) in enumerate(arguments(func))
            if isinstance(value.type, HostType) and self.wants(slot_of(attributes))
        }
        if types:
            set_argument_types(func, types)

"""residency-undo-offload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from ...dialect import attributes as attr
from ..ir import (
    arguments,
    block,
    entries,
    erase,
    results,
    set_argument_type,
    set_results,
    slots,
    symbol,
)
from ._base import Pass


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
                if attr.REASON in slot.attributes:
                    del slot.attributes[attr.REASON]

    def wants(self, slot: str) -> bool:
        return not self.slots or slot in self.slots

    def restore(self, func: ir.OpView) -> None:
        transfers = [
            op
            for op in block(func).operations
            if op.operation.name in ("residency.offload", "residency.reload")
            and self.wants(symbol(op))
        ]
        offloads = {op.results[0]: op for op in transfers if "offload" in op.operation.name}
        if offloads:
            set_results(
                func,
                [
                    (offloads[v].operands[0] if v in offloads else v, attributes)
                    for v, attributes in results(func)
                ],
            )
            for op in offloads.values():
                op.results[0].replace_all_uses_with(op.operands[0])
                erase(op)
        numbers = {value: index for index, (value, _) in enumerate(arguments(func))}
        for op in transfers:
            if op.operation.name == "residency.reload":
                source = op.operands[0]
                op.results[0].replace_all_uses_with(source)
                type_ = op.results[0].type
                number = numbers[source]
                erase(op)
                set_argument_type(func, number, type_)

"""The gate that ends a phase: walks the module once, reports every offender, then fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from ...dialect import HostType, PendingType, inner
from ...dialect import attributes as attr
from ..ir import (
    Attributes,
    argument_attributes,
    is_private,
    params,
    result_attributes,
    slots,
    string,
    symbol_name,
    walk,
)
from ..legality import RULES, SYMBOLS, Rules
from ..tensor_type import tensor_type
from ._base import Pass

ON_ARGUMENTS = frozenset({attr.KIND, attr.SLOT, attr.FX, attr.CONSTANT})
ON_RESULTS = frozenset({attr.SLOT})
ON_OPS = frozenset(
    value
    for value in vars(attr).values()
    if isinstance(value, str)
    and value.startswith("residency.")
    and value not in (attr.KIND, attr.SLOT)
)


@dataclass(frozen=True)
class Gate(Pass):
    """Checks what a phase promises: allowed ops, resolved symbols, types that agree with them, known attributes."""

    phase: ClassVar[str]
    """the phase that the gate ends"""

    def run(self, module: ir.Module) -> None:
        _Check(self, module, RULES[self.phase]).run()


class _Check:
    def __init__(self, gate: Gate, module: ir.Module, rules: Rules) -> None:
        self.emit, self.module, self.rules = gate.emit, module, rules
        self.slots, self.params = slots(module), params(module)
        self.types = {name: op.attributes["type"].value for name, op in self.slots.items()}

    def run(self) -> None:
        for op in self.module.body.operations:
            name = op.operation.name
            if name == "func.func":
                self.function(op)
            elif name not in SYMBOLS:
                self.emit(op, f"op is not allowed outside of functions: {name}")
            elif name == "residency.slot" and not self.rules.tiers:
                self.on_device(op)

    def on_device(self, slot: ir.OpView) -> None:
        tier = slot.attributes["tier"].value
        if tier != attr.DEVICE:
            self.emit(
                slot,
                f"slot @{symbol_name(slot)} cannot have left the device in phase "
                f"{self.rules.phase}, got tier: {tier}",
            )

    def function(self, func: ir.OpView) -> None:
        name, segment = symbol_name(func), is_private(func)
        if segment and self.rules.segment is None:
            self.emit(func, f"private function is not allowed in phase {self.rules.phase}: @{name}")
            return
        blocks = len(func.operation.regions[0].blocks)
        if blocks != 1:
            self.emit(func, f"function @{name} must be straight-line code, got blocks: {blocks}")
            return
        self.attributes(func, ON_OPS)
        self.signature(func, name)
        for op in walk(func):
            self.op(op, segment)

    def signature(self, func: ir.OpView, name: str) -> None:
        """Attributes of arguments and results, and that their types are those of their slots."""
        type_ = ir.FunctionType(func.attributes["function_type"].value)
        sides = (
            ("argument", type_.inputs, argument_attributes(func), ON_ARGUMENTS),
            ("result", type_.results, result_attributes(func), ON_RESULTS),
        )
        for side, types, attributes, known in sides:
            for index, (value_type, given) in enumerate(zip(types, attributes, strict=True)):
                what = f"{side} {index} of @{name}"
                for key in given:
                    if key.startswith("residency.") and key not in known:
                        self.emit(func, f"{what} has an unknown attribute: {key}")
                if side == "argument":
                    self.kind(func, what, given)
                if attr.SLOT in given:
                    self.slot_type(func, what, given[attr.SLOT], value_type)

    def kind(self, func: ir.OpView, what: str, given: Attributes) -> None:
        if attr.KIND not in given:
            return  # modules written by hand mark only what matters
        attribute = given[attr.KIND]
        kind = string(attribute) if isinstance(attribute, ir.StringAttr) else str(attribute)
        if kind not in attr.KINDS:
            self.emit(func, f"{what} needs a kind out of {', '.join(attr.KINDS)}, got: {kind}")
        elif (kind == attr.SAVED) != (attr.SLOT in given):
            has = "has no slot" if kind == attr.SAVED else f"has slot {given[attr.SLOT]}"
            self.emit(func, f"{what} {has}, got kind: {kind}")

    def slot_type(
        self, func: ir.OpView, what: str, reference: ir.Attribute, type_: ir.Type
    ) -> None:
        """An argument or result is where the tier of its slot says."""
        slot = self.resolved(func, f"slot of {what}", reference, self.slots)
        if slot is None:
            return
        tier = self.slots[slot].attributes["tier"].value
        wanted = self.types[slot]
        on_host = isinstance(type_, HostType)
        if on_host == (tier == attr.DEVICE) or wanted != (inner(type_) if on_host else type_):
            self.emit(
                func, f"{what} has slot @{slot} of {wanted} in tier {tier}, got type: {type_}"
            )

    def op(self, op: ir.OpView, segment: bool) -> None:
        name = op.operation.name
        if not (self.rules.allows(name, in_segment=segment) or self.is_driver_op(op, segment)):
            where = "segments" if segment else "entry functions"
            self.emit(op, f"op is not allowed in {where} in phase {self.rules.phase}: {name}")
            return
        self.attributes(op, ON_OPS)
        if name.startswith("residency."):
            self.symbols(op)
        elif name == "func.call":  # the constraints of torch ops allow no such values anyway
            self.reads_device(op)

    def is_driver_op(self, op: ir.OpView, segment: bool) -> bool:
        """True for what entry functions do themselves, if they may: numbers, and views, which move no bytes."""
        if segment or not self.rules.views or not op.operation.name.startswith("torch."):
            return False
        if not any(tensor_type(result.type) for result in op.results):
            return len(op.results) > 0
        from ..analysis.effects import effects_of  # needs torch's op schemas

        effects = effects_of(op)
        return bool(effects.aliased) and not (effects.opaque or effects.written)

    def attributes(self, op: ir.OpView, known: frozenset[str]) -> None:
        for key in op.attributes:
            if key.startswith("residency.") and key not in known:
                self.emit(op, f"{op.operation.name} has an unknown attribute: {key}")

    def reads_device(self, op: ir.OpView) -> None:
        """Segments get no value that is on the host or in flight."""
        for index, operand in enumerate(op.operands):
            if isinstance(operand.type, HostType | PendingType):
                self.emit(
                    op,
                    f"operand {index} of {op.operation.name} is not on the device, "
                    f"got type: {operand.type}",
                )

    def symbols(self, op: ir.OpView) -> None:
        """The op's symbol is defined, and its values have the types that the symbol says."""
        for kind, table in (("slot", self.slots), ("param", self.params)):
            if kind not in op.attributes:
                continue
            what = f"{kind} of {op.operation.name}"
            name = self.resolved(op, what, op.attributes[kind], table)
            if name is not None:
                self.symbol_types(op, kind, name, table[name])

    def resolved(
        self, op: ir.OpView, what: str, reference: ir.Attribute, table: dict[str, ir.OpView]
    ) -> str | None:
        """The symbol that `reference` names, None after reporting that there is no such one."""
        if not isinstance(reference, ir.FlatSymbolRefAttr):
            self.emit(op, f"{what} must be one symbol, got: {reference}")
        elif reference.value not in table:
            self.emit(op, f"{what} is not defined: {reference}")
        else:
            return reference.value
        return None

    def symbol_types(self, op: ir.OpView, kind: str, name: str, defined: ir.OpView) -> None:
        for place, part in _PARTS[op.operation.name]:
            value = op.operands[1] if place == "gathered" else getattr(op, place)[0]
            found = _device_type(value.type)
            wanted = defined.attributes[part].value
            if found != wanted:
                self.emit(
                    op,
                    f"{op.operation.name} of {kind} @{name} needs {part} {wanted}, got: {found}",
                )


def _device_type(type_: ir.Type) -> ir.Type:
    """What a value of `type_` is once it is on the device."""
    while isinstance(type_, HostType | PendingType):
        type_ = inner(type_)
    return type_


_PARTS = {
    "residency.gather": (("operands", "shard"), ("results", "type")),
    "residency.release": (("gathered", "type"),),
    "residency.reduce": (("operands", "type"), ("results", "shard")),
    "residency.offload": (("operands", "type"),),
    "residency.reload": (("results", "type"),),
    "residency.gather_start": (("operands", "shard"), ("results", "type")),
    "residency.reduce_start": (("operands", "type"), ("results", "shard")),
    "residency.offload_start": (("operands", "type"),),
    "residency.reload_start": (("results", "type"),),
}
"""op with a symbol -> where a value is, and the attribute of the symbol that says its type"""

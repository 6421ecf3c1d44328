"""residency-tag-layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from ...dialect import attributes as attr
from ..analysis.effects import CONSTANT, LISTS
from ..ir import block, entries, string
from ._base import Pass
from ._periods import Period, periods


@dataclass(frozen=True)
class TagLayers(Pass):
    """Tags the ops behind which a layer ends, where a function repeats itself.

    A layer is told by what its ops are called and what they yield, never by names of values. Segments that end at tags are
    equal from layer to layer, so that each is compiled once; a transfer between tags would make every segment another one.
    Of the places that leave as many whole layers, the one that the fewest values cross is taken.

    Requires: phase `imported` or `placed`.
    Afterwards: the last op of each layer, and the last op before the first layer, has `residency.cut`; a function without a
    period has none.

    Input:
        %1 = torch.aten.mm %0, %w0; %2 = torch.aten.relu %1; %3 = torch.aten.mm %2, %w1; %4 = torch.aten.relu %3
    Output:
        %1 = torch.aten.mm %0, %w0; %2 = torch.aten.relu %1 {residency.cut}; %3 = ...; %4 = ... {residency.cut}
    """

    name: ClassVar[str] = "residency-tag-layers"

    min_ops: int = 8
    """fewest ops between two tags: a call for less costs more than it saves"""

    def run(self, module: ir.Module) -> None:
        if self.min_ops < 1:
            self.emit(module.operation, f"min-ops must be at least 1, got: {self.min_ops}")
            return
        unit = ir.UnitAttr.get(module.context)
        for func in entries(module):
            ops = [op.operation for op in block(func).operations if _counts(op.operation)]
            found = periods(_tokens(ops), self.min_ops)
            live = _crossing(ops) if any(period.slack for period in found) else []
            for period in found:
                for index in _ends(period, live):
                    ops[index].attributes[attr.CUT] = unit


def _counts(op: ir.Operation) -> bool:
    """True for compute: constants may be shared between layers or not, and transfers say nothing about the model."""
    name = op.name
    return not (
        name.startswith((CONSTANT, "residency.", "arith.constant"))
        or name in LISTS
        or name == "func.return"
    )


def _tokens(ops: list[ir.Operation]) -> list[int]:
    """A number for each op, the same for ops of one name that yield the same types."""
    numbers: dict[tuple, int] = {}
    tokens = []
    for op in ops:
        name = op.name
        if name == "torch.operator":
            # An opaque op has its handle in its name: each would be another op.
            name = string(op.attributes["name"]).rstrip("0123456789")
        key = (name, *(result.type for result in op.results))
        tokens.append(numbers.setdefault(key, len(numbers)))
    return tokens


def _crossing(ops: list[ir.Operation]) -> list[int]:
    """For each op, how many values made before it are read by it or later."""
    made: dict[ir.Value, int] = {}
    last: dict[ir.Value, int] = {}
    for index, op in enumerate(ops):
        for operand in op.operands:
            if operand in made:
                last[operand] = index
        for result in op.results:
            made[result] = index
    change = [0] * (len(ops) + 1)
    for value, index in last.items():
        change[made[value] + 1] += 1
        change[index + 1] -= 1
    crossing, live = [], 0
    for difference in change[:-1]:
        live += difference
        crossing.append(live)
    return crossing


def _ends(period: Period, crossing: list[int]) -> list[int]:
    """The last op before the first layer, and the last op of each."""

    def starts(begin: int) -> range:
        """Of the layers and of what follows, if the first layer starts at `begin`."""
        return range(begin, period.end + 1, period.length)

    def crossed(begin: int) -> int:
        return sum(crossing[i] for i in starts(begin) if i < len(crossing))

    begin = period.begin
    if period.slack:
        begin = min(range(begin, begin + period.slack + 1), key=crossed)
    return [i - 1 for i in starts(begin) if i > 0]

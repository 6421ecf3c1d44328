"""residency-insert-releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from ...dialect import is_device
from ..analysis.effects import torch_name
from ..analysis.uses import RETURN, Uses
from ..analysis.views import only_aliases
from ..ir import after, create, entries, erase, replace_uses, symbol, users
from ..tensor_type import tensor_type
from ._base import Pass


@dataclass(frozen=True)
class InsertReleases(Pass):
    """Says where each gathered parameter is not needed any more: once the result of its last real use exists.

    A use of any alias is a use: views, pieces of a split, and values that an unknown op may have kept. A view itself is no
    real use, what reads it is. Releases of one result are chained. Gathers of one shard are one gather: the parameters are tied.

    Requires: phase `placed`; straight-line functions.
    Afterwards: each gather has one release; gathers that nobody uses are erased; a gathered value that the caller gets is
    an error, because it can never be released.

    Input:
        %w = residency.gather %shard {param = @w}
        %y = torch.aten.mm %x, %w
        use(%y)
    Output:
        %w = residency.gather %shard {param = @w}
        %y = torch.aten.mm %x, %w
        %r = residency.release %y, %w {param = @w}
        use(%r)
    """

    name: ClassVar[str] = "residency-insert-releases"

    def run(self, module: ir.Module) -> None:
        for func in entries(module):
            gathers = [
                op
                for op in func.regions[0].blocks[0].operations
                if op.operation.name == "residency.gather"
            ]
            if not gathers:
                continue
            gathers = _merged(gathers)
            uses = Uses(func)
            # A later release goes behind an earlier one of the same result: in order of the gathers they nest as written.
            tail: dict[ir.Value, ir.Value] = {}
            for gather in gathers:
                self.release(gather, uses, tail)

    def release(self, gather: ir.OpView, uses: Uses, tail: dict[ir.Value, ir.Value]) -> None:
        full = gather.results[0]
        members = uses.aliases.same_storage(full)
        readers = sorted({p for member in members for p in uses.readers.get(member, ())})
        ops = [uses.ops[p] for p in readers]
        if any(op.name == "residency.release" for op in ops):
            return
        if any(op.name == RETURN for op in ops):
            self.emit(
                gather,
                f"gathered parameter @{symbol(gather, 'param')} is returned, so that it can never be released",
            )
            return
        real = [op for op in ops if not only_aliases(op)]
        if not real:
            for op in reversed(ops):
                erase(op)
            erase(gather)
            return
        last = real[-1]
        value = _released(last)
        if value is None:
            self.emit(
                gather,
                f"gathered parameter @{symbol(gather, 'param')} has a last use that yields nothing on the device: "
                f"{torch_name(last)}",
            )
            return
        self.insert(gather, value, tail)

    def insert(self, gather: ir.OpView, first: ir.Value, tail: dict[ir.Value, ir.Value]) -> None:
        value = tail.get(first, first)
        op = create(
            "residency.release",
            [value, gather.results[0]],
            [value.type],
            {"param": gather.attributes["param"]},
            loc=first.location,
            ip=after(value.owner),
        )
        value.replace_all_uses_except(op.results[0], [op.operation])
        tail[first] = op.results[0]


def _merged(gathers: list[ir.OpView]) -> list[ir.OpView]:
    """Tied parameters are one storage under two names: the first gather serves both, and is released after both."""
    first: dict[tuple[ir.Value, ir.Type], ir.OpView] = {}
    remaining = []
    for gather in gathers:
        key = (gather.operands[0], gather.results[0].type)
        if any(op.operation.name == "residency.release" for op in users(gather.results[0])):
            remaining.append(gather)  # released by hand: a later gather really gathers again
        elif key in first:
            replace_uses(gather.results[0], first[key].results[0])
            erase(gather)
        else:
            first[key] = gather
            remaining.append(gather)
    return remaining


def _released(last: ir.Operation) -> ir.Value | None:
    """The result of the last use that a release stands behind: a tensor if there is one."""
    results = [r for r in last.results if is_device(r.type)]
    return next((r for r in results if tensor_type(r.type)), next(iter(results), None))

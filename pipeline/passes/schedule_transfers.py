"""residency-schedule-transfers."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from torch_mlir import ir

from ...dialect import PendingType
from ...dialect import attributes as attr
from ..analysis.uses import RETURN, Uses
from ..analysis.views import only_aliases
from ..ir import before, block, create, entries, erase, replace_uses
from ..tensor_type import byte_size
from ._base import Pass, PassFailure

OFFLOAD, RELOAD = "residency.offload", "residency.reload"


@dataclass(frozen=True)
class ScheduleTransfers(Pass):
    """Says when each transfer starts, when it is waited for, and when device memory returns.

    An offload starts after the last read of its storage. It is waited for, and the storage freed, when the next one would put
    more than `inflight` bytes on the way: so memory returns while forward goes on. A reload starts as early as `lookahead`
    allows, is waited for right before its first use, and freed after the last use of its storage. Where ops carry
    `residency.cut`, all of this happens at cuts only, so that compute stays whole between them.

    Requires: phase `placed`.
    Afterwards: phase `scheduled`; a storage that the caller holds is not freed.

    Input:
        %h = residency.offload %x {slot = @s}
    Output:
        %p = residency.offload_start %x {slot = @s}
        %h = residency.wait %p
        residency.free %x
    """

    name: ClassVar[str] = "residency-schedule-transfers"

    lookahead: int = 0
    """bytes of reloads that may be on the way and not yet waited for; 0 means twice the largest"""
    inflight: int = 0
    """bytes of offloads that may be on the way and not yet waited for; 0 means twice the largest"""

    def run(self, module: ir.Module) -> None:
        for option, value in (("lookahead", self.lookahead), ("inflight", self.inflight)):
            if value < 0:
                raise PassFailure(module.operation, f"{option} must not be negative, got: {value}")
        for func in entries(module):
            names = {op.operation.name for op in block(func).operations}
            if {OFFLOAD, RELOAD} & names:
                schedule = _Schedule(func)
                schedule.offloads(self.inflight)
                schedule.reloads(self.lookahead)
                schedule.apply()
            for op in list(block(func).operations):
                if rewrite := IN_PLACE.get(op.operation.name):
                    rewrite(op)


@dataclass
class _Schedule:
    """What happens between which ops of one function."""

    func: ir.OpView
    events: list[tuple[int, int, Callable[[ir.InsertionPoint], None]]] = field(default_factory=list)
    """(number of the op it comes before, rank, what): rank 0 are frees, which let memory return before more is asked for"""

    def __post_init__(self) -> None:
        self.uses = Uses(self.func)
        ops = self.uses.ops
        self.end = len(ops) - 1
        cuts = [i + 1 for i, op in enumerate(ops) if attr.CUT in op.attributes]
        self.cuts = [0, *cuts, self.end] if cuts else []
        self.placed: list[ir.Operation] = []

    def at(self, position: int, rank: int, what: Callable[[ir.InsertionPoint], None]) -> None:
        self.events.append((position, rank, what))

    def late(self, position: int) -> int:
        """The first place at or behind `position` where compute may be cut."""
        if not self.cuts:
            return min(position, self.end)
        return self.cuts[min(bisect.bisect_left(self.cuts, position), len(self.cuts) - 1)]

    def early(self, position: int) -> int:
        """The last place at or before `position` where compute may be cut."""
        if not self.cuts:
            return position
        return self.cuts[bisect.bisect_right(self.cuts, position) - 1]

    def of(self, name: str) -> list[ir.Operation]:
        return [op for op in self.uses.ops if op.name == name]

    def compute_reads(self, value: ir.Value) -> list[int]:
        """Positions of the ops that read bytes of the storage of `value`; return and transfers excluded."""
        ops = self.uses.ops
        return [
            p
            for p in self.uses.storage_reads(value)
            if ops[p].name not in (OFFLOAD, RELOAD, RETURN) and not only_aliases(ops[p])
        ]

    def offloads(self, inflight: int) -> None:
        transfers = []
        for op in self.of(OFFLOAD):
            source = op.operands[0]
            reads = self.compute_reads(source)
            made = self.uses.position[source]
            transfers.append((self.late(max([made, *reads]) + 1), op))
        transfers.sort(key=lambda t: t[0])
        sizes = [byte_size(op.operands[0].type) or 0 for _, op in transfers]
        limit = inflight or 2 * max(sizes, default=0)
        # A storage that is offloaded more than once, under two names or beside a view of it, is freed by the last one to end.
        roots = [self.uses.aliases.roots(op.operands[0]) for _, op in transfers]
        last = {root: number for number, owners in enumerate(roots) for root in owners}
        frees = [all(last[root] == n for root in owners) for n, owners in enumerate(roots)]
        ended, on_the_way = 0, 0
        for number, (position, op) in enumerate(transfers):
            while ended < number and on_the_way + sizes[number] > limit:
                self.end_offload(transfers[ended][1], position, frees[ended])
                on_the_way -= sizes[ended]
                ended += 1
            self.at(position, 1, _Start(op, "residency.offload_start", self.pending))
            on_the_way += sizes[number]
        for (_, op), free in zip(transfers[ended:], frees[ended:], strict=True):
            self.end_offload(op, self.end, free)

    def end_offload(self, op: ir.Operation, position: int, free: bool) -> None:
        source = op.operands[0]
        keeps = self.uses.is_returned(source) or self.uses.is_argument(source)
        self.at(position, 1, _End(op, self.pending, source if free and not keeps else None))

    def reloads(self, lookahead: int) -> None:
        transfers = []
        for op in self.of(RELOAD):
            reads = self.compute_reads(op.results[0])
            returned = self.uses.is_returned(op.results[0])
            # A view reads no bytes, but it cannot come before the value that it is of.
            first = self.early(min(self.uses.readers.get(op.results[0], [self.end])))
            last = None if returned else self.late(max(reads, default=self.end - 1) + 1)
            transfers.append((first, last, op))
        transfers.sort(key=lambda t: t[0])
        sizes = [byte_size(op.results[0].type) or 0 for _, _, op in transfers]
        limit = lookahead or 2 * max(sizes, default=0)
        started, on_the_way, position = 0, 0, 0
        for number, (first, last, op) in enumerate(transfers):
            while started < len(transfers) and (
                started <= number or on_the_way + sizes[started] <= limit
            ):
                source = transfers[started][2]
                self.at(position, 1, _Start(source, "residency.reload_start", self.pending))
                on_the_way += sizes[started]
                started += 1
            self.at(first, 1, _End(op, self.pending, None))
            on_the_way -= sizes[number]
            if last is not None:
                self.at(max(last, first), 0 if last > first else 2, _Free(op, self.pending))
            position = first

    pending: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """a placed op's result -> the pending value, then what the wait yields; ops are no keys, their hash changes"""

    def apply(self) -> None:
        points = {p: ir.InsertionPoint(self.uses.ops[p]) for p, _, _ in self.events}
        transfers = self.of(OFFLOAD) + self.of(RELOAD)
        for position, _, what in sorted(self.events, key=lambda event: event[:2]):
            what(points[position])
        for op in transfers:
            replace_uses(op.results[0], self.pending[op.results[0]])
            erase(op)


@dataclass(frozen=True)
class _Start:
    op: ir.Operation
    name: str
    pending: dict[ir.Value, ir.Value]

    def __call__(self, at: ir.InsertionPoint) -> None:
        op = self.op
        made = create(
            self.name,
            [op.operands[0]],
            [PendingType.get(op.results[0].type)],
            {"slot": op.attributes["slot"]},
            loc=op.location,
            ip=at,
        )
        self.pending[op.results[0]] = made.results[0]


@dataclass(frozen=True)
class _End:
    """The wait, and the free of an offload's source."""

    op: ir.Operation
    pending: dict[ir.Value, ir.Value]
    source: ir.Value | None

    def __call__(self, at: ir.InsertionPoint) -> None:
        op = self.op
        pending, type_ = self.pending[op.results[0]], op.results[0].type
        waited = create("residency.wait", [pending], [type_], loc=op.location, ip=at)
        self.pending[op.results[0]] = waited.results[0]
        if self.source is not None:
            create("residency.free", [self.source], loc=op.location, ip=at)


@dataclass(frozen=True)
class _Free:
    """The free of a reloaded value."""

    op: ir.Operation
    pending: dict[ir.Value, ir.Value]

    def __call__(self, at: ir.InsertionPoint) -> None:
        create("residency.free", [self.pending[self.op.results[0]]], loc=self.op.location, ip=at)


def _collective(op: ir.OpView) -> None:
    """A gather or reduce starts where it was placed and is waited for at once."""
    result = op.results[0]
    started = create(
        f"{op.operation.name}_start",
        [op.operands[0]],
        [PendingType.get(result.type)],
        {"param": op.attributes["param"]},
        loc=op.location,
        ip=before(op),
    )
    waited = create(
        "residency.wait", [started.results[0]], [result.type], loc=op.location, ip=before(op)
    )
    replace_uses(result, waited.results[0])
    erase(op)


def _release(op: ir.OpView) -> None:
    """A release becomes the free of the gathered value."""
    create("residency.free", [op.operands[1]], loc=op.location, ip=before(op))
    replace_uses(op.results[0], op.operands[0])
    erase(op)


IN_PLACE = {
    "residency.gather": _collective,
    "residency.reduce": _collective,
    "residency.release": _release,
}

"""residency-outline-segments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from torch_mlir import ir

from ...dialect import attributes as attr
from ..analysis.effects import CONSTANT, LISTS, UNPACKS, effects_of
from ..analysis.uses import RETURN
from ..analysis.views import is_view
from ..ir import (
    Attributes,
    after,
    argument_attributes,
    block,
    clone,
    create,
    entries,
    symbol_name,
)
from ._base import Pass


@dataclass(frozen=True)
class OutlineSegments(Pass):
    """Moves compute into private functions; entry functions keep transfers and calls.

    A segment is the compute between two transfers, or up to an op tagged `residency.cut`. Views never cross its boundary: the
    value that owns the storage crosses, and its reader makes the view again, as it does with constants and with arithmetic on
    sizes. A view that forward returns comes from the segment that made its base; views of arguments stay in the entry function.

    Requires: phase `scheduled`.
    Afterwards: phase `outlined`.

    Input:
        %y = torch.aten.mm %x, %w
        %p = residency.offload_start %y {slot = @s}
    Output:
        %y = func.call @forward_seg_0(%x, %w)
        %p = residency.offload_start %y {slot = @s}
    """

    name: ClassVar[str] = "residency-outline-segments"

    def run(self, module: ir.Module) -> None:
        for func in entries(module):
            _Outliner(module, func).run()


@dataclass
class _Segment:
    """Compute ops that become one function, and what goes in and out."""

    ops: list[int] = field(default_factory=list)
    """numbers of the ops, ascending"""
    outputs: dict[ir.Value, None] = field(default_factory=dict)
    """values that others need, in order"""


def _is_scalar(type_: ir.Type) -> bool:
    return str(type_) in (
        "!torch.int",
        "!torch.float",
        "!torch.bool",
        "!torch.none",
        "!torch.number",
    )


def is_replayed(op: ir.Operation) -> bool:
    """True for what every reader makes again: constants, lists, views, and arithmetic on numbers."""
    name = op.name
    if name.startswith((CONSTANT, "arith.constant")) or name in LISTS:
        return True
    if name in UNPACKS:
        # Pieces of a split are views; a list that an op computed is taken apart where it is made.
        source = op.operands[0]
        return not isinstance(source, ir.BlockArgument) and is_replayed(source.owner.operation)
    if is_view(op):
        return True
    effects = effects_of(op)
    if effects.opaque or effects.random or effects.written:
        return False
    return all(_is_scalar(r.type) for r in op.results) and all(
        _is_scalar(v.type) or name.startswith(("torch.aten.size", "torch.aten.numel"))
        for v in op.operands
    )


class _Outliner:
    """Outlines one entry function.

    Ops are known by their number: the hash of an op changes with its operands, that of a value does not.
    """

    def __init__(self, module: ir.Module, func: ir.OpView) -> None:
        self.module, self.func, self.name = module, func, symbol_name(func)
        self.ops = [op.operation for op in block(func).operations]
        self.maker = {r: number for number, op in enumerate(self.ops) for r in op.results}
        """value -> number of the op that makes it; arguments have none"""
        self.attributes = argument_attributes(func)
        self.segments: list[_Segment] = [_Segment()]
        self.segment_of: dict[int, int] = {}
        self.replayed: set[int] = set()

    def run(self) -> None:
        self.divide()
        self.find_outputs(self.readers())
        for number, segment in enumerate(s for s in self.segments if s.ops):
            self.outline(number, segment)
        self.erase_outlined()

    def divide(self) -> None:
        """Assigns compute to segments, in program order."""
        for number, op in enumerate(self.ops):
            if op.name.startswith("residency."):
                self.close()
            elif is_replayed(op):
                self.replayed.add(number)
            elif op.name != RETURN:
                self.segments[-1].ops.append(number)
                self.segment_of[number] = len(self.segments) - 1
            if attr.CUT in op.attributes:
                del op.attributes[attr.CUT]
                self.close()

    def close(self) -> None:
        if self.segments[-1].ops:
            self.segments.append(_Segment())

    def readers(self) -> dict[ir.Value, set[int | None]]:
        """Value -> segments that read it, through replayed ops too; None stands for the entry function.

        Three of them tell as much as all: whether somebody reads a value outside its own segment.
        """
        found: dict[ir.Value, set[int | None]] = {}
        for number in reversed(range(len(self.ops))):
            # Backwards, so that all readers of a replayed op are known before those of its operands.
            op = self.ops[number]
            if number in self.replayed:
                by = set().union(*(found.get(r, ()) for r in op.results))
            else:
                by = {self.segment_of.get(number)}
            for operand in op.operands:
                known = found.setdefault(operand, set())
                if len(known) < 3:
                    known |= by
        return found

    def find_outputs(self, readers: dict[ir.Value, set[int | None]]) -> None:
        """A computed value that others read is an output of its segment; so is a view of it that the entry reads."""
        for number, home in self.segment_of.items():
            for result in self.ops[number].results:
                if readers.get(result, set()) - {home, None}:
                    self.segments[home].outputs[result] = None
        for number, op in enumerate(self.ops):
            if number in self.replayed or number in self.segment_of:
                continue
            for operand in op.operands:
                self.yield_to_entry(operand)

    def yield_to_entry(self, value: ir.Value) -> None:
        """Makes `value` an output of the segment it comes from; what the entry replays itself, its leaves."""
        leaves = self.leaves(value)
        homes = {self.home(leaf) for leaf in leaves} - {None}
        if not homes:
            return
        home = max(homes)
        if self.base_home(value) == home:
            self.segments[home].outputs[value] = None
            leaves = [leaf for leaf in leaves if self.home(leaf) != home]
        # A view whose shape a later segment computes is made by the entry: no segment may return a view of its input.
        for leaf in leaves:
            made = self.home(leaf)
            if made is not None:
                self.segments[made].outputs[leaf] = None

    def home(self, value: ir.Value) -> int | None:
        """The segment that computes `value`."""
        return self.segment_of.get(self.maker.get(value))

    def base_home(self, value: ir.Value) -> int | None:
        """The segment that computes the storage of `value`, or a number that is made of computed ones."""
        while self.maker.get(value) in self.replayed:
            op = self.ops[self.maker[value]]
            aliased = effects_of(op).aliased
            if not aliased:
                return max(
                    (h for h in map(self.home, self.leaves(value)) if h is not None), default=None
                )
            value = op.operands[aliased[0]]
        return self.home(value)

    def leaves(self, value: ir.Value) -> list[ir.Value]:
        """What replaying `value` starts from; `value` itself if it is not replayed."""
        found: dict[ir.Value, None] = {}
        pending, seen = [value], set()
        while pending:
            v = pending.pop()
            if v in seen:
                continue
            seen.add(v)
            if self.maker.get(v) in self.replayed:
                pending += self.ops[self.maker[v]].operands
            else:
                found[v] = None
        return list(found)

    def outline(self, number: int, segment: _Segment) -> None:
        """Makes the function and calls it behind its last op."""
        context = self.module.context
        outputs, first = list(segment.outputs), self.ops[segment.ops[0]]
        inputs, copied = self.plan(segment)
        name = f"{self.name}_seg_{number}"
        type_ = ir.FunctionType.get([v.type for v in inputs], [v.type for v in outputs], context)
        func = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(name, context),
                "function_type": ir.TypeAttr.get(type_, context),
                "sym_visibility": ir.StringAttr.get("private", context),
                attr.SEGMENT: ir.StringAttr.get(self.name, context),
            },
            regions=1,
            loc=first.location,
            ip=ir.InsertionPoint(self.module.body),
        )
        self.copy_handles(func, inputs)
        body = func.regions[0].blocks.append(
            *[v.type for v in inputs], arg_locs=[v.location for v in inputs]
        )
        mapping = dict(zip(inputs, body.arguments, strict=True))
        at = ir.InsertionPoint(body)
        for copy in copied:
            clone(self.ops[copy], mapping, at)
        ir.Operation.create(
            "func.return", operands=[mapping[v] for v in outputs], loc=self.func.location, ip=at
        )
        call = create(
            "func.call",
            inputs,
            [v.type for v in outputs],
            {"callee": ir.FlatSymbolRefAttr.get(name, context)},
            loc=first.location,
            ip=after(self.ops[segment.ops[-1]]),
        )
        for old, new in zip(outputs, call.results, strict=True):
            old.replace_all_uses_with(new)

    def plan(self, segment: _Segment) -> tuple[list[ir.Value], list[int]]:
        """Inputs in order of first use, and the ops to copy, replayed ones right before their first reader."""
        inputs: dict[ir.Value, None] = {}
        copied: dict[int, None] = {}
        inside = set(segment.ops)

        def need(value: ir.Value) -> None:
            maker = self.maker.get(value)
            if maker in self.replayed:
                if maker not in copied:
                    copy(maker)
            elif maker not in inside:
                inputs[value] = None

        def copy(number: int) -> None:
            for operand in self.ops[number].operands:
                need(operand)
            copied[number] = None

        for number in segment.ops:
            copy(number)
        for output in segment.outputs:
            need(output)
        return list(inputs), list(copied)

    def copy_handles(self, func: ir.Operation, inputs: list[ir.Value]) -> None:
        """Arguments that are the entry's keep their handle, for the names and hints behind it."""
        context = self.module.context
        dicts: list[Attributes] = []
        for value in inputs:
            attributes: Attributes = {}
            if isinstance(value, ir.BlockArgument):
                given = self.attributes[value.arg_number]
                if attr.FX in given and attr.CONSTANT not in given:
                    attributes[attr.FX] = given[attr.FX]
            dicts.append(attributes)
        if any(dicts):
            func.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [ir.DictAttr.get(d, context) for d in dicts], context
            )

    def erase_outlined(self) -> None:
        """What went into segments, and replayed ops that nothing in the entry function reads any more."""
        for number in reversed(range(len(self.ops))):
            op = self.ops[number]
            if number in self.segment_of or (
                number in self.replayed
                and all(next(iter(r.uses), None) is None for r in op.results)
            ):
                op.erase()

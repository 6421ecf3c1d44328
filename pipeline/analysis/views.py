"""Chains of views: how a value is computed from the one that owns its storage without touching bytes."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from torch_mlir import ir

from .effects import CONSTANT, LISTS, UNPACKS, effects_of

NUMBERS = frozenset(f"!torch.{t}" for t in ("int", "float", "bool", "number", "none"))


@dataclass(frozen=True)
class Chain:
    """`base` and the ops that make a value of it, in program order, those of their numbers included."""

    base: ir.Value
    ops: tuple[ir.Operation, ...]


def is_view(op: ir.OpView | ir.Operation) -> bool:
    """True for an op that only gives another shape to a storage: it may be done again anywhere.

    A release does not count: it says something about time.
    """
    return effects_of(op).view


def only_aliases(op: ir.OpView | ir.Operation) -> bool:
    """True for an op that reads no bytes: a view, or a list that holds values. What reads its result reads the storage."""
    return op.operation.name in LISTS or is_view(op)


def is_number(type_: ir.Type) -> bool:
    """True for the type of a Python number or None."""
    return str(type_) in NUMBERS


def view_ops(value: ir.Value) -> list[ir.Operation]:
    """The views between `value` and the value that owns its storage, the last one first."""
    ops: list[ir.Operation] = []
    while not isinstance(value, ir.BlockArgument) and is_view(value.owner):
        owner = value.owner.operation
        source = owner.operands[effects_of(owner).aliased[0]]
        if owner.name in UNPACKS and (
            isinstance(source, ir.BlockArgument) or not is_view(source.owner)
        ):
            break  # a piece of what an op computed owns its storage
        ops.append(owner)
        value = source
    return ops


def chain_of(value: ir.Value, known: Container[ir.Value] = frozenset()) -> Chain | None:
    """How to get `value` from its base by views; None if it is no view, or if there is no such way.

    Numbers among the operands are constants, `known`, or arithmetic on such.
    """
    views = view_ops(value)
    if not views:
        return None
    ops: dict[ir.Value, ir.Operation] = {}
    for view in reversed(views):
        source = effects_of(view).aliased[0]
        for index, operand in enumerate(view.operands):
            if index != source and not _collect(operand, known, ops):
                return None
        ops[view.results[0]] = view
    return Chain(views[-1].operands[effects_of(views[-1]).aliased[0]], tuple(ops.values()))


def _collect(
    value: ir.Value, known: Container[ir.Value], ops: dict[ir.Value, ir.Operation]
) -> bool:
    """Adds the ops that make a number, or a list of numbers, before their reader; False if it takes more than numbers."""
    if value in known:
        return True
    if isinstance(value, ir.BlockArgument):
        return False
    owner = value.owner.operation
    if owner.results[0] in ops:
        return True
    effects = effects_of(owner)
    constant = owner.name.startswith((CONSTANT, "arith.constant"))
    if not constant and owner.name not in LISTS:
        if effects.opaque or effects.random or not all(is_number(r.type) for r in owner.results):
            return False
        if not len(owner.operands):
            return False
    if not all(_collect(operand, known, ops) for operand in owner.operands):
        return False
    ops[owner.results[0]] = owner
    return True

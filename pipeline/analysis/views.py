"""Chains of views: how a value is computed from the one that owns its storage without touching bytes."""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from .effects import CONSTANT, LISTS, effects_of


@dataclass(frozen=True)
class Chain:
    """`base` and the ops that make a value of it, in program order, constants included."""

    base: ir.Value
    ops: tuple[ir.Operation, ...]


def is_view(op: ir.OpView | ir.Operation) -> bool:
    """True for an op that only gives another shape to a storage: it may be done again anywhere.

    A release does not count: it says something about time.
    """
    effects = effects_of(op)
    return (
        bool(effects.aliased)
        and not effects.opaque
        and not effects.random
        and not op.operation.name.startswith("residency.")
        and op.operation.name not in LISTS
    )


def only_aliases(op: ir.OpView | ir.Operation) -> bool:
    """True for an op that reads no bytes: a view, or a list that holds values. What reads its result reads the storage."""
    return is_view(op) or op.operation.name in LISTS


def is_constant(value: ir.Value) -> bool:
    """True for a constant, or a list of constants."""
    if isinstance(value, ir.BlockArgument):
        return False
    owner = value.owner.operation
    if owner.name.startswith(CONSTANT) or owner.name == "arith.constant":
        return True
    return owner.name in LISTS and all(is_constant(v) for v in owner.operands)


def chain_of(value: ir.Value) -> Chain | None:
    """How to get `value` from its base by views with constant operands; None if there is no such way."""
    ops: list[ir.Operation] = []
    base = value
    while not isinstance(base, ir.BlockArgument) and is_view(base.owner):
        owner = base.owner.operation
        aliased = effects_of(owner).aliased
        if len(aliased) != 1:
            return None
        rest = [v for i, v in enumerate(owner.operands) if i != aliased[0]]
        if not all(is_constant(v) for v in rest):
            return None
        ops.append(owner)
        for operand in rest:
            _collect_constant(operand, ops)
        base = owner.operands[aliased[0]]
    return Chain(base, tuple(reversed(ops))) if ops else None


def _collect_constant(value: ir.Value, ops: list[ir.Operation]) -> None:
    """Adds the ops of a constant behind its reader: chains are collected backwards."""
    owner = value.owner.operation
    ops.append(owner)
    for operand in owner.operands:
        _collect_constant(operand, ops)

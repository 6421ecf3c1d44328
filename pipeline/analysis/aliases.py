"""Which storage each value of a function lives in."""

from __future__ import annotations

from torch_mlir import ir

from ..ir import block
from .effects import effects_of

Roots = frozenset[ir.Value]


class Aliases:
    """Values -> the storages that they may share, each named by the value that owns it.

    Linear in ops. An argument owns its storage, and so does every result that the schema of its op does not say to
    alias an operand. Waits and reloads make new storages.
    """

    def __init__(self, func: ir.OpView) -> None:
        self._roots: dict[ir.Value, Roots] = {}
        self.members: dict[ir.Value, list[ir.Value]] = {}
        """owner of a storage -> all values that may share it, itself first"""
        body = block(func)
        for argument in body.arguments:
            self._add(argument, frozenset([argument]))
        for op in body.operations:
            self._visit(op.operation)

    def roots(self, value: ir.Value) -> Roots:
        """The owners of the storages that `value` may share."""
        return self._roots[value]

    def same_storage(self, value: ir.Value) -> list[ir.Value]:
        """All values that may share a storage with `value`, itself included."""
        return [member for root in self._roots[value] for member in self.members[root]]

    def _visit(self, op: ir.Operation) -> None:
        results = op.results
        if not len(results):
            return
        effects = effects_of(op)
        operands = range(len(op.operands)) if effects.opaque else effects.aliased
        if not operands:
            for result in results:
                self._roots[result], self.members[result] = frozenset([result]), [result]
            return
        shared: Roots = frozenset().union(*(self._roots[op.operands[i]] for i in operands))
        for result in results:
            owns = effects.opaque or not shared
            self._add(result, shared | {result} if owns else shared)

    def _add(self, value: ir.Value, roots: Roots) -> None:
        self._roots[value] = roots
        for root in roots:
            self.members.setdefault(root, []).append(value)

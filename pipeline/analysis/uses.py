"""Where values and storages of a function are read, by position of the op in its block."""

from __future__ import annotations

from torch_mlir import ir

from ..ir import block
from .aliases import Aliases

RETURN = "func.return"


class Uses:
    """Positions of definitions and reads. Linear in ops; the function must not change meanwhile."""

    def __init__(self, func: ir.OpView, aliases: Aliases | None = None) -> None:
        self.ops = [op.operation for op in block(func).operations]
        self.aliases = aliases or Aliases(func)
        self.position: dict[ir.Value, int] = dict.fromkeys(block(func).arguments, -1)
        """of the op that defines a value; -1 for arguments"""
        self.readers: dict[ir.Value, list[int]] = {}
        """value -> positions of the ops that read it, ascending"""
        readers, defined = self.readers, self.position
        for position, op in enumerate(self.ops):
            for operand in op.operands:
                known = readers.get(operand)
                if known is None:
                    readers[operand] = [position]
                else:
                    known.append(position)
            for result in op.results:
                defined[result] = position

    def storage_reads(self, value: ir.Value) -> list[int]:
        """Positions of the ops that read the storage of `value` through any alias, ascending."""
        positions = set()
        for member in self.aliases.same_storage(value):
            positions.update(self.readers.get(member, ()))
        return sorted(positions)

    def is_returned(self, value: ir.Value) -> bool:
        """True if the caller gets the storage of `value`."""
        last = len(self.ops) - 1
        return any(
            last in self.readers.get(member, ()) for member in self.aliases.same_storage(value)
        )

    def is_argument(self, value: ir.Value) -> bool:
        """True if the storage of `value` may be the caller's."""
        return any(isinstance(root, ir.BlockArgument) for root in self.aliases.roots(value))

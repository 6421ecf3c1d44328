"""Passes that MLIR itself brings, such as `canonicalize` and `func.func(cse)`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.passmanager import PassManager


@dataclass(frozen=True)
class UpstreamPass:
    """One element of an MLIR pipeline, run by MLIR's pass manager on the module."""

    text: str
    """the element as MLIR spells it, nesting and options included"""

    @property
    def name(self) -> str:
        """The element without options, usable in a file name: `func.func(cse{x=1})` -> `func.func-cse`."""
        return re.sub(r"\W*[(,]\W*", "-", re.sub(r"\{[^{}]*\}", "", self.text)).rstrip(")")

    def apply(self, module: ir.Module) -> list:
        """Runs the pass, which verifies the module; raises MLIRError with MLIR's diagnostics."""
        self.manager(module.context).run(module.operation)
        return []

    def manager(self, context: ir.Context) -> PassManager:
        """A pass manager with this pass. Raises ValueError with MLIR's message if there is no such pass."""
        manager = PassManager("builtin.module", context)
        manager.add(self.text)
        return manager

    def __str__(self) -> str:
        return self.text

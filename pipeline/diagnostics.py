"""MLIR diagnostics as Python values. Imports no torch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir

ERROR = "error"


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic with its notes."""

    severity: str
    """"error", "warning", "remark" or "note" """
    message: str
    location: ir.Location
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        lines = [f"{place(self.location)}: {self.severity}: {self.message}"]
        return "\n".join([*lines, *map(str, self.notes)])


def place(location: ir.Location) -> str:
    """`file:line:column`, in the manner of compilers; MLIR's own form where there is no file."""
    if isinstance(location, ir.FileLineColLoc):
        return f"{location.filename}:{location.start_line}:{location.start_col}"
    return str(location)


def copied(diagnostic: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    """A copy that outlives the handler which MLIR gave the diagnostic to."""
    return Diagnostic(
        str(diagnostic.severity).rpartition(".")[2].lower(),
        diagnostic.message,
        # The bindings hand out the base class here, which hides file and line.
        ir.Location.from_attr(diagnostic.location.attr, diagnostic.location.context),
        tuple(copied(note) for note in diagnostic.notes),
    )


@contextlib.contextmanager
def captured(context: ir.Context, *, only_errors: bool = False) -> Iterator[list[Diagnostic]]:
    """Collects what is emitted in `context` meanwhile, instead of handing it on to be printed.

    Errors inside MLIR's own parser, verifier and pass manager come as MLIRError: see `of_error`.
    """
    found: list[Diagnostic] = []

    def keep(diagnostic: ir.Diagnostic) -> bool:
        if only_errors and diagnostic.severity != ir.DiagnosticSeverity.ERROR:
            return False
        found.append(copied(diagnostic))
        return True

    handler = context.attach_diagnostic_handler(keep)
    try:
        yield found
    finally:
        handler.detach()


def of_error(error: ir.MLIRError) -> list[Diagnostic]:
    """The diagnostics that an exception of the bindings carries."""
    return [copied(d) for d in error.error_diagnostics]

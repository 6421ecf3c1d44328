"""Input of `residency-opt`: its parts between `// -----` lines, and diagnostics shown against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from torch_mlir import ir

from ..diagnostics import Diagnostic, place

BUFFER = "-"
"""the file name that the bindings give to text in memory"""

BYTECODE = b"ML\xefR"
"""how MLIR's binary form begins"""

MARKER = "// -----"


@dataclass(frozen=True)
class Chunk:
    """One module of the input."""

    text: str | bytes
    """what MLIR parses; lines are numbered as in the whole input, binary form as it is"""
    name: str
    """the input's name for diagnostics"""

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines() if isinstance(self.text, str) else []


def split_input(source: bytes, name: str, *, split: bool) -> list[Chunk]:
    """The modules of an input; `split` says whether `// -----` separates them."""
    if source.startswith(BYTECODE):
        return [Chunk(source, name)]
    text = source.decode()
    if not split:
        return [Chunk(text, name)]
    chunks, current, before = [], [], 0
    for number, line in enumerate(text.splitlines()):
        if line.startswith(MARKER):
            chunks.append((before, current))
            current, before = [], number + 1
        else:
            current.append(line)
    chunks.append((before, current))
    # Empty lines in front keep the line numbers of the file.
    return [Chunk("\n" * skipped + "\n".join(lines) + "\n", name) for skipped, lines in chunks]


def in_buffer(location: ir.Location) -> ir.FileLineColLoc | None:
    """The place in the input that `location` leads to, None if it leads elsewhere."""
    if isinstance(location, ir.FileLineColLoc):
        return location if location.filename == BUFFER else None
    if isinstance(location, ir.NameLoc):
        return in_buffer(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return in_buffer(location.callee) or in_buffer(location.caller)
    if isinstance(location, ir.FusedLoc):
        return next(filter(None, map(in_buffer, location.locations)), None)
    return None


def report(diagnostic: Diagnostic, chunk: Chunk, out: TextIO) -> None:
    """Writes a diagnostic and its notes, each with the line of input that it is about."""
    found = in_buffer(diagnostic.location)
    if found is None:
        out.write(f"{place(diagnostic.location)}: {diagnostic.severity}: {diagnostic.message}\n")
    else:
        line, column = found.start_line, found.start_col
        where = f"{chunk.name}:{line}:{column}" if line else chunk.name
        out.write(f"{where}: {diagnostic.severity}: {diagnostic.message}\n")
        if 0 < line <= len(chunk.lines):
            out.write(f"{chunk.lines[line - 1]}\n{' ' * (column - 1)}^\n")
    for note in diagnostic.notes:
        report(note, chunk, out)

"""`--verify-diagnostics`: `expected-error` comments, with the meaning that they have in `mlir-opt`.

`// expected-error {{text}}` expects an error that contains `text` on its own line, `@above` and `@below` on the nearest
line that is no such comment, `@+2` and `@-1` relative, `@unknown` without a place in the input. `-re` makes the parts
in double braces regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..diagnostics import Diagnostic
from .input_text import Chunk, in_buffer

COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}\s*$"
)
MISSPELT = re.compile(r"//\s*expected-(?:error|warning|remark|note)")

UNKNOWN = 0
"""the line of what has no place in the input"""

OPERATION_NOTE = "see current operation:"
"""mlir-opt switches this note off; the bindings cannot"""


@dataclass
class Expected:
    """One comment."""

    severity: str
    text: str
    regex: bool
    line: int
    """where the diagnostic is expected"""
    comment: int
    """where the comment is"""
    met: bool = False

    def matches(self, severity: str, line: int, message: str) -> bool:
        if self.met or (self.severity, self.line) != (severity, line):
            return False
        return bool(self.pattern.search(message)) if self.regex else self.text in message

    @property
    def pattern(self) -> re.Pattern:
        """Text outside of `{{...}}` is literal, text inside a regular expression."""
        parts = re.split(r"\{\{(.*?)\}\}", self.text)
        return re.compile("".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts)))


class Expectations:
    """The comments of one chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self.name = chunk.name
        self.malformed: list[str] = []
        self.all = list(self._parse(chunk.lines))

    def problems(self, diagnostics: Sequence[Diagnostic]) -> list[str]:
        """What was produced and not expected, or expected and not produced. Empty if all is as it should be."""
        problems = list(self.malformed)
        for diagnostic in diagnostics:
            for one in (diagnostic, *diagnostic.notes):
                problems += self._unexpected(one)
        problems += [
            f'{self.name}:{e.comment}: error: expected {e.severity} "{e.text}" was not produced'
            for e in self.all
            if not e.met
        ]
        return problems

    def _unexpected(self, diagnostic: Diagnostic) -> list[str]:
        severity, message = diagnostic.severity, diagnostic.message
        place = in_buffer(diagnostic.location)
        line = UNKNOWN if place is None else place.start_line
        for expected in self.all:
            if expected.matches(severity, line, message):
                expected.met = True
                return []
        if message.startswith(OPERATION_NOTE):
            return []
        where = f"{self.name}:{line}" if line else str(diagnostic.location)
        return [f"{where}: error: unexpected {severity}: {message}"]

    def _parse(self, lines: Sequence[str]) -> Iterator[Expected]:
        last_code, waiting = UNKNOWN, []
        for number, line in enumerate(lines, start=1):
            match = COMMENT.search(line)
            if match is None:
                if MISSPELT.search(line):
                    self.malformed.append(
                        f"{self.name}:{number}: error: not a form of expectation: {line.strip()}"
                    )
                # What waits for the line below has it now.
                for expected in waiting:
                    expected.line = number
                yield from waiting
                last_code, waiting = number, []
                continue
            where, line_of = match["where"], number
            if where == "above":
                line_of = last_code
            elif where == "unknown":
                line_of = UNKNOWN
            elif where not in (None, "below"):
                line_of = number + int(where)
            expected = Expected(
                match["severity"], match["text"], bool(match["regex"]), line_of, number
            )
            if where == "below":
                waiting.append(expected)
            else:
                yield expected
        yield from waiting

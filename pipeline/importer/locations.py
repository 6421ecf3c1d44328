"""Source locations from FX stack traces."""

from __future__ import annotations

import os
import re

import torch
from torch import fx
from torch_mlir import ir

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_TORCH = os.path.dirname(torch.__file__) + os.sep


class Locations:
    """Locations in one context; each stack trace is read once."""

    def __init__(self, context: ir.Context) -> None:
        self.context = context
        self.unknown = ir.Location.unknown(context)
        self._known: dict[str, ir.Location] = {}

    def of(self, node: fx.Node) -> ir.Location:
        """The innermost frame of the user's code; of PyTorch's code if there is no other."""
        trace = node.meta.get("stack_trace")
        if not trace:
            return self.unknown
        found = self._known.get(trace)
        if found is None:
            found = self._known[trace] = self._parse(trace)
        return found

    def named(self, name: str, location: ir.Location) -> ir.Location:
        """`location` with the name of an op that the IR alone would not tell."""
        return ir.Location.name(name, location, self.context)

    def _parse(self, trace: str) -> ir.Location:
        frames = _FRAME.findall(trace)
        if not frames:
            return self.unknown
        own = [frame for frame in frames if not frame[0].startswith(_TORCH)]
        file, line = (own or frames)[-1]
        return ir.Location.file(file, int(line), 0, self.context)

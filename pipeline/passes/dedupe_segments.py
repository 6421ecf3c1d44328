"""residency-dedupe-segments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from ...dialect import attributes as attr
from ..ir import entries, segments, symbol, symbol_name, walk
from ._base import Pass

_HANDLE = re.compile(rf"{re.escape(attr.FX)} = \d+ : i64(?:, )?")


@dataclass(frozen=True)
class DedupeSegments(Pass):
    """Merges segments that are equal but for names, locations and handles: layer 7 and layer 8 compile once.

    Opaque ops carry their handle in their name, so that segments with such ops are equal to no other.

    Requires: phase `outlined`.
    Afterwards: no two segments of one entry function are equal.

    Input:
        func.call @forward_seg_0; func.call @forward_seg_1   (the same compute)
    Output:
        func.call @forward_seg_0; func.call @forward_seg_0
    """

    name: ClassVar[str] = "residency-dedupe-segments"

    def run(self, module: ir.Module) -> None:
        first: dict[str, str] = {}
        kept: dict[str, str] = {}
        for func in segments(module):
            name = symbol_name(func)
            kept[name] = first.setdefault(canonical(func), name)
        for entry in entries(module):
            for op in walk(entry):
                if op.operation.name == "func.call":
                    callee = kept.get(symbol(op, "callee"))
                    if callee is not None:
                        op.attributes["callee"] = ir.FlatSymbolRefAttr.get(callee, module.context)
        for func in segments(module):
            if kept[symbol_name(func)] != symbol_name(func):
                func.operation.erase()


def canonical(func: ir.OpView) -> str:
    """The text of a segment without what two equal ones may differ in."""
    # In its own scope and without verifying again: otherwise each print costs as much as the whole module.
    text = func.operation.get_asm(assume_verified=True, use_local_scope=True)
    text = _HANDLE.sub("", text).replace(", }", "}").replace(" {}", "")
    return text.replace(f"@{symbol_name(func)}(", "@(", 1)

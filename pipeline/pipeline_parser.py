"""Parses pass pipelines: `residency-match-slots,canonicalize` and MLIR's `builtin.module(...)`.

A pipeline mixes our passes, which run on the module, with MLIR's, which may be nested in `func.func(...)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from torch_mlir import ir

from .pass_options import parse_options
from .passes._base import Pass
from .pipeline_text import PipelineError, split
from .registry import PASSES, pass_class
from .upstream import UpstreamPass

Element = Pass | UpstreamPass

WELL_KNOWN = ("canonicalize", "cse", "inline", "symbol-dce", "strip-debuginfo", "sccp")
"""MLIR's passes that a misspelt name is compared with; the bindings cannot list all"""

_ELEMENT = re.compile(
    r"(?P<name>[\w.-]+)\s*(?:\{(?P<options>.*)\}|\((?P<nested>.*)\))?$", re.DOTALL
)


def parse_pipeline(text: str, context: ir.Context | None = None) -> list[Element]:
    """The passes of a pipeline. Raises PipelineError, which lists the valid names and ends with the wrong one."""
    return list(_elements(text, context or ir.Context()))


def pipeline_text(passes: list[Element]) -> str:
    """The pipeline that `parse_pipeline` reads back as `passes`."""
    return ",".join(str(p) for p in passes)


def _elements(text: str, context: ir.Context) -> Iterator[Element]:
    for element in split(text, ","):
        match = _ELEMENT.match(element)
        if match is None:
            raise PipelineError(f"needs <pass>{{<options>}} or <op>(<passes>), got: {element!r}")
        name, nested = match["name"], match["nested"]
        if name in PASSES:
            if nested is not None:
                raise PipelineError(f"{name} is a pass and takes no nested ones, got: {element}")
            yield parse_options(pass_class(name), match["options"] or "")
        elif name == "builtin.module" and nested is not None:
            yield from _elements(nested, context)
        else:
            _check_names(element, name, nested)
            yield _upstream(element, name, context)


def _check_names(element: str, name: str, nested: str | None) -> None:
    """Rejects our names, right or misspelt, where only MLIR's can stand."""
    if nested is not None:
        for inner in split(nested, ","):
            match = _ELEMENT.match(inner)
            if match is not None and match["name"] in PASSES:
                raise PipelineError(
                    f"{match['name']} runs on the module, not inside {name}, got: {element}"
                )
    elif name.startswith("residency-"):
        raise _unknown(name)


def _upstream(element: str, name: str, context: ir.Context) -> UpstreamPass:
    upstream = UpstreamPass(element)
    try:
        upstream.manager(context)
    except ValueError as error:
        unknown = re.search(r"'([^']*)' does not refer to a registered pass", str(error))
        if unknown:
            raise _unknown(unknown[1]) from None
        reason = " ".join(str(error).replace("<Pass-Options-Parser>: ", "").split())
        raise PipelineError(f"MLIR does not take this element ({reason}), got: {element}") from None
    return upstream


def _unknown(name: str) -> PipelineError:
    near = get_close_matches(name, [*PASSES, *WELL_KNOWN], n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return PipelineError(
        f"no such pass{hint} (passes: {', '.join(sorted(PASSES))}, and those of MLIR), got: {name}"
    )

"""Runs passes on a module, verifies after each, and leaves behind what shows a failure again."""

from __future__ import annotations

import io
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from torch_mlir import ir

from . import collector
from .diagnostics import ERROR, Diagnostic, captured, of_error
from .pipeline_parser import Element, pipeline_text


class PassFailed(RuntimeError):
    """A pass failed, or left a module that does not verify."""

    def __init__(self, pass_: Element, diagnostics: list[Diagnostic], command: str | None) -> None:
        lines = [f"{pass_.name}: {diagnostics[0].message}", *map(str, diagnostics)]
        super().__init__("\n".join([*lines, *([] if command is None else [_again(command)])]))
        self.pass_, self.diagnostics, self.command = pass_, diagnostics, command


@dataclass(frozen=True)
class PassTiming:
    """How long a pass took, verification included."""

    name: str
    seconds: float


def run_passes(
    module: ir.Module,
    passes: Sequence[Element],
    *,
    dump: Path | str | None = None,
    print_after_all: TextIO | None = None,
    reproduce: bool = True,
) -> list[PassTiming]:
    """Runs `passes` in order on `module`, verifying after each.

    `dump` is a folder that gets the module before the first pass and after each, as `NN_<pass>.mlir`;
    `print_after_all` a stream that gets it after each.

    Raises PassFailed. Then the failing input and the command that shows the failure again are in
    `dump`, or in a new temporary folder; not if `reproduce` is False.
    """
    folder = None if dump is None else Path(dump)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "00_input.mlir", module)
    # Text costs more than most passes. Without a folder, one binary copy of the first input serves all.
    start, source = 0, _bytecode(module) if reproduce else None
    timings = []
    for index, pass_ in enumerate(passes):
        if reproduce and folder is not None and index > 0:
            start, source = index, _bytecode(module)
        began = time.perf_counter()
        try:
            errors = _apply(pass_, module)
        except Exception as error:
            command = _reproducer(source, module.context, passes[start : index + 1], folder)
            error.add_note(f"in {pass_.name}" + ("" if command is None else f"; {_again(command)}"))
            raise
        timings.append(PassTiming(pass_.name, time.perf_counter() - began))
        if folder is not None:
            _write(folder / f"{index + 1:02}_{pass_.name}.mlir", module)
        if errors:
            command = _reproducer(source, module.context, passes[start : index + 1], folder)
            raise PassFailed(pass_, errors, command)
        if print_after_all is not None:
            print_after_all.write(
                f"// -----// IR Dump After {pass_.name} //----- //\n{_text(module)}\n"
            )
    return timings


def _apply(pass_: Element, module: ir.Module) -> list[Diagnostic]:
    """Runs a pass and verifies; returns the errors."""
    with captured(module.context, only_errors=True) as emitted, collector.paused():
        try:
            pass_.apply(module)
            if not emitted:
                module.operation.verify()
        except ir.MLIRError as error:
            return emitted + (
                of_error(error) or [Diagnostic(ERROR, str(error), module.operation.location)]
            )
    return emitted


def _bytecode(module: ir.Module) -> bytes:
    """The module with its locations."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _text(module: ir.Module) -> str:
    return str(module.operation).rstrip("\n") + "\n"


def _write(path: Path, module: ir.Module) -> None:
    path.write_text(_text(module))


def _again(command: str) -> str:
    return f"to see it again: {command}"


def _reproducer(
    source: bytes | None, context: ir.Context, passes: Sequence[Element], folder: Path | None
) -> str | None:
    """Writes the input of a failure to `folder` or a new one; returns the command that shows it again."""
    if source is None:
        return None
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="residency-"))
    path = (folder / "failing_input.mlir").resolve()
    module = ir.Module.parse(source, context)
    path.write_text(module.operation.get_asm(enable_debug_info=True) + "\n")
    beside = shutil.which("residency-opt", path=str(Path(sys.executable).parent))
    tool = ["residency-opt"] if beside else [sys.executable, "-m", "residency.pipeline.tools.opt"]
    command = shlex.join([*tool, "-p", pipeline_text(list(passes)), str(path)])
    (folder / "reproduce.sh").write_text(f"#!/bin/sh\n{command}\n")
    return command

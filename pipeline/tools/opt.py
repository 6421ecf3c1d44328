"""`residency-opt`: runs passes on a module in MLIR's text or binary form, as `mlir-opt` does.

    residency-opt -p residency-match-slots,canonicalize in.mlir
    residency-opt --pass-pipeline='builtin.module(func.func(cse),residency-check-placed)' -

Imports torch only if a pass needs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from torch_mlir import ir

from ... import dialect
from ..diagnostics import ERROR, captured, of_error
from ..pass_manager import PassFailed, run_passes
from ..pipeline_parser import Element, parse_pipeline
from ..pipeline_text import PipelineError
from .expected_diagnostics import Expectations
from .input_text import Chunk, report, split_input


def main(argv: Sequence[str] | None = None) -> int:
    """Returns 0, or 1 after printing why to stderr; a wrong command line exits with 2."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.list_passes:
        from .list_passes import describe

        sys.stdout.write(describe())
        return 0
    context = _context(options)
    try:
        passes = parse_pipeline(f"{options.pipeline},{options.pass_pipeline}", context)
    except PipelineError as error:
        parser.error(str(error))
    if options.emit == "irdl":
        _open(options.output, lambda out: out.write(dialect.irdl().encode() + b"\n"))
        return 0
    try:
        source = (
            sys.stdin.buffer.read() if options.input == "-" else Path(options.input).read_bytes()
        )
    except OSError as error:
        parser.error(f"cannot read the input ({error.strerror}), got: {options.input}")
    name = "<stdin>" if options.input == "-" else options.input
    chunks = split_input(source, name, split=options.split_input_file)
    if options.emit == "bytecode" and len(chunks) > 1:
        parser.error(f"bytecode holds one module, got: {len(chunks)}")
    outputs, failed = [], False
    for index, chunk in enumerate(chunks):
        if index > 0:
            context = _context(options)
        dump = options.dump
        if dump is not None and len(chunks) > 1:
            dump = dump / f"chunk_{index}"
        run = _Run(options, passes, context, dump)
        outputs.append(run.on(chunk))
        failed |= run.failed
    _open(options.output, lambda out: out.write(b"// -----\n".join(o for o in outputs if o)))
    return 1 if failed else 0


class _Run:
    """Takes one module through the passes to its output."""

    def __init__(
        self,
        options: argparse.Namespace,
        passes: list[Element],
        context: ir.Context,
        dump: Path | None,
    ) -> None:
        self.options, self.passes, self.context, self.dump = options, passes, context, dump
        self.failed = False

    def on(self, chunk: Chunk) -> bytes:
        """The output for a chunk, empty if it failed; reports what there is to report."""
        output, diagnostics, command = b"", [], None
        with captured(self.context) as other:
            try:
                output = self.output(chunk)
            except ir.MLIRError as error:
                diagnostics = of_error(error)
            except PassFailed as error:
                diagnostics, command = error.diagnostics, error.command
        diagnostics = other + diagnostics
        if self.options.verify_diagnostics:
            problems = Expectations(chunk).problems(diagnostics)
            for problem in problems:
                sys.stderr.write(f"{problem}\n")
            self.failed = bool(problems)
            return output
        for diagnostic in diagnostics:
            report(diagnostic, chunk, sys.stderr)
        if command is not None:
            sys.stderr.write(f"to see it again: {command}\n")
        self.failed = any(d.severity == ERROR for d in diagnostics)
        return b"" if self.failed else output

    def output(self, chunk: Chunk) -> bytes:
        module = ir.Module.parse(chunk.text, self.context)
        after_all = sys.stderr if self.options.mlir_print_ir_after_all else None
        timings = run_passes(
            module,
            self.passes,
            dump=self.dump,
            print_after_all=after_all,
            reproduce=self.dump is not None,
        )
        if self.options.mlir_timing:
            for timing in timings:
                sys.stderr.write(f"{timing.seconds * 1e3:10.2f} ms  {timing.name}\n")
        return _emit(module, self.options)


def _emit(module: ir.Module, options: argparse.Namespace) -> bytes:
    operation = module.operation
    if options.emit == "python":
        from ..emit_python import EmitError, emit_module

        try:
            return emit_module(module).encode()
        except EmitError as error:
            operation.location.emit_error(str(error))
            return b""
    if options.emit == "bytecode":
        import io

        buffer = io.BytesIO()
        operation.write_bytecode(buffer)
        return buffer.getvalue()
    text = operation.get_asm(enable_debug_info=options.mlir_print_debuginfo)
    return (text.rstrip("\n") + "\n").encode()


def _context(options: argparse.Namespace) -> ir.Context:
    context = dialect.load()
    # Python passes hold the interpreter's lock anyway, and diagnostics come in program order.
    context.enable_multithreading(False)
    context.allow_unregistered_dialects = options.allow_unregistered_dialect
    return context


def _open(path: str, write: object) -> None:
    if path == "-":
        sys.stdout.flush()
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with Path(path).open("wb") as out:
        write(out)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("residency-opt", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("input", nargs="?", default="-", help="file, or - for standard input (default)")
    add("-o", dest="output", default="-", metavar="FILE", help="file, or - (default)")
    add("-p", dest="pipeline", default="", metavar="PASSES", help="pass{option=value},pass,...")
    add("--pass-pipeline", default="", metavar="PIPELINE", help="builtin.module(pass,...)")
    add("--emit", choices=("mlir", "bytecode", "irdl", "python"), default="mlir")
    add("--split-input-file", action="store_true", help="modules are separated by // -----")
    add("--verify-diagnostics", action="store_true", help="compare with expected-error comments")
    add("--allow-unregistered-dialect", action="store_true")
    add("--mlir-print-ir-after-all", action="store_true", help="to standard error")
    add("--mlir-print-debuginfo", action="store_true", help="print locations")
    add("--mlir-timing", action="store_true", help="time of each pass, to standard error")
    add("--dump", type=Path, metavar="DIR", help="folder for the module after every pass")
    add("--list-passes", action="store_true", help="our passes with their options")
    return parser


if __name__ == "__main__":
    sys.exit(main())

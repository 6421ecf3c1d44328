"""Running passes: failures are errors, verification is never skipped, and what failed can be seen again."""

import io
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from residency.dialect import load
from residency.pipeline.ir import create, function, return_op
from residency.pipeline.pass_manager import PassFailed, run_passes
from residency.pipeline.passes._base import Pass, PassFailure
from residency.pipeline.pipeline_parser import parse_pipeline

TEXT = """
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  "residency.free"(%x) : (tensor<4xf32>) -> () loc("model.py":7:3)
  return %x : tensor<4xf32>
}
"""


@dataclass(frozen=True)
class Reports(Pass):
    """Reports two offenders."""

    name = "residency-reports"

    def run(self, module: ir.Module) -> None:
        func = function(module, "forward")
        self.emit(func, "first, got: 1")
        self.emit(return_op(func), "second, got: 2")


@dataclass(frozen=True)
class Raises(Pass):
    """Gives up at the first offender."""

    name = "residency-raises"

    def run(self, module: ir.Module) -> None:
        raise PassFailure(function(module, "forward"), "no way, got: 3")


@dataclass(frozen=True)
class Breaks(Pass):
    """Leaves a module that does not verify."""

    name = "residency-breaks"

    def run(self, module: ir.Module) -> None:
        last = return_op(function(module, "forward"))
        type_ = ir.Type.parse("!residency.host<tensor<2xf32>>", module.context)
        slot = {"slot": ir.FlatSymbolRefAttr.get("s", module.context)}
        ip = ir.InsertionPoint(last)
        create("residency.offload", last.operands, [type_], slot, loc=last.location, ip=ip)


@dataclass(frozen=True)
class Crashes(Pass):
    """Has a fault of its own."""

    name = "residency-crashes"

    def run(self, module: ir.Module) -> None:
        raise ZeroDivisionError("a fault")


@dataclass(frozen=True)
class DoesNothing(Pass):
    """Succeeds."""

    name = "residency-does-nothing"

    def run(self, module: ir.Module) -> None:
        return None


@dataclass(frozen=True)
class OnlyEmits(Pass):
    """Emits an error through the bindings, which then report a success."""

    name = "residency-only-emits"

    def run(self, module: ir.Module) -> None:
        function(module, "forward").location.emit_error("unnoticed, got: 4")


def parsed() -> ir.Module:
    return ir.Module.parse(TEXT, load())


def test_all_offenders_are_in_the_failure() -> None:
    with pytest.raises(PassFailed) as failed:
        run_passes(parsed(), [Reports()], reproduce=False)
    assert [d.message for d in failed.value.diagnostics] == ["first, got: 1", "second, got: 2"]
    assert str(failed.value).splitlines()[0] == "residency-reports: first, got: 1"
    assert failed.value.command is None


def test_a_raised_failure_is_a_diagnostic_at_its_op() -> None:
    with pytest.raises(PassFailed) as failed:
        run_passes(parsed(), [Raises()], reproduce=False)
    (diagnostic,) = failed.value.diagnostics
    assert (diagnostic.severity, diagnostic.message) == ("error", "no way, got: 3")
    assert str(diagnostic) == "-:2:1: error: no way, got: 3"


@pytest.mark.parametrize("pass_", [Reports(), Raises()])
def test_the_pass_manager_of_mlir_sees_a_failure_too(pass_: Pass) -> None:
    module = parsed()
    manager = PassManager("builtin.module", module.context)
    manager.add(pass_, name=pass_.name)
    with pytest.raises(ir.MLIRError, match="got: "):
        manager.run(module.operation)


def test_the_pass_manager_of_mlir_sees_a_success() -> None:
    module = parsed()
    manager = PassManager("builtin.module", module.context)
    manager.add(DoesNothing(), name=DoesNothing.name)
    manager.run(module.operation)


def test_an_offender_is_not_lost_when_run_is_called_directly() -> None:
    with pytest.raises(PassFailure, match="first, got: 1"):
        Reports().run(parsed())


def test_an_error_emitted_behind_our_back_fails_the_pass() -> None:
    with pytest.raises(PassFailed, match=r"^residency-only-emits: unnoticed, got: 4\n"):
        run_passes(parsed(), [OnlyEmits()], reproduce=False)


def test_a_module_that_does_not_verify_fails_the_pass_that_made_it() -> None:
    module = parsed()
    passes = [*parse_pipeline("canonicalize", module.context), Breaks(), Crashes()]
    with pytest.raises(PassFailed, match=r"^residency-breaks: expected 'tensor<4xf32>' but got"):
        run_passes(module, passes, reproduce=False)


def test_nothing_is_printed_to_the_terminal(capfd: pytest.CaptureFixture) -> None:
    with pytest.raises(PassFailed):
        run_passes(parsed(), [Reports()], reproduce=False)
    assert capfd.readouterr() == ("", "")


def test_a_fault_in_a_pass_comes_through_with_its_reproducer(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as error:
        run_passes(parsed(), [DoesNothing(), Crashes()], dump=tmp_path)
    (note,) = error.value.__notes__
    assert note.startswith("in residency-crashes; to see it again: ")
    assert f"-p residency-crashes {tmp_path}/failing_input.mlir" in note


def test_the_failing_input_keeps_its_locations(tmp_path: Path) -> None:
    with pytest.raises(PassFailed) as failed:
        run_passes(parsed(), parse_pipeline("residency-check-placed"), dump=tmp_path)
    assert 'loc("model.py":7:3)' in (tmp_path / "failing_input.mlir").read_text()
    again = subprocess.run(
        shlex.split(failed.value.command), capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert "model.py:7:3: error: op is not allowed in entry functions" in again.stderr


def test_without_a_folder_the_whole_pipeline_is_run_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    module = parsed()
    passes = parse_pipeline("canonicalize,residency-check-placed", module.context)
    with pytest.raises(PassFailed) as failed:
        run_passes(module, passes)
    assert "-p canonicalize,residency-check-placed" in failed.value.command
    again = subprocess.run(
        shlex.split(failed.value.command), capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert "phase placed: residency.free" in again.stderr


def test_an_upstream_pass_fails_with_its_diagnostic() -> None:
    module = parsed()
    passes = parse_pipeline("one-shot-bufferize", module.context)
    with pytest.raises(PassFailed, match=r"^one-shot-bufferize: ") as failed:
        run_passes(module, passes, reproduce=False)
    assert failed.value.diagnostics[0].severity == "error"


def test_timings_and_dumps_name_the_passes(tmp_path: Path) -> None:
    stream = io.StringIO()
    timings = run_passes(
        parsed(), [DoesNothing(), DoesNothing()], dump=tmp_path, print_after_all=stream
    )
    assert [t.name for t in timings] == ["residency-does-nothing"] * 2
    assert all(t.seconds > 0 for t in timings)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "00_input.mlir",
        "01_residency-does-nothing.mlir",
        "02_residency-does-nothing.mlir",
    ]
    assert stream.getvalue().count("IR Dump After residency-does-nothing") == 2

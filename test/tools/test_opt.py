"""`residency-opt`: what lit cannot see, such as exit codes, imports and failures of the checker itself."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from residency.pipeline.registry import PASSES
from residency.pipeline.tools.opt import main

SLOT = '"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "TIER"} : () -> ()\n'
BAD, GOOD = SLOT.replace("TIER", "gpu"), SLOT.replace("TIER", "device")
MESSAGE = "'residency.slot' op needs a tier out of device, host, disk, got: gpu"
UNPLACED = (
    "func.func @forward(%x: tensor<4xf32>) {\n"
    '  "residency.free"(%x) : (tensor<4xf32>) -> ()\n'
    "  return\n"
    "}\n"
)


@pytest.fixture
def opt(tmp_path: Path, capfd: pytest.CaptureFixture):
    """Runs the tool on a text; returns exit code, output and errors."""

    def run(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "in.mlir"
        path.write_text(text)
        code = main([*arguments, str(path)])
        done = capfd.readouterr()
        return code, done.out, done.err.replace(str(path), "in.mlir")

    return run


def python(code: str, *arguments: str) -> float:
    """Seconds of processor time of a new interpreter that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_torch_stays_out(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(GOOD)
    code = (
        "import sys; from residency.pipeline.tools.opt import main\n"
        "code = main(sys.argv[1:])\n"
        "sys.exit(1 if 'torch' in sys.modules else code)"
    )
    pipeline = "residency-check-imported,canonicalize"
    python(code, "-p", pipeline, f"--dump={tmp_path}", str(tmp_path / "in.mlir"))


def test_starting_costs_little_more_than_the_bindings() -> None:
    bindings = "from torch_mlir import ir; from torch_mlir.dialects import torch, ext; ir.Context()"
    tool = "from residency.pipeline.tools.opt import main; main(['--emit=irdl'])"
    assert min(python(tool) for _ in range(3)) < max(
        0.6, 2 * min(python(bindings) for _ in range(3))
    )


def test_an_error_shows_the_line(opt) -> None:
    code, out, err = opt(f"// first\n{BAD}")
    assert (code, out) == (1, "")
    assert err == f"in.mlir:2:1: error: {MESSAGE}\n{BAD}^\n"


def test_a_syntax_error_shows_the_line(opt) -> None:
    code, out, err = opt("func.func @f() {\n  retrun\n}\n")
    assert (code, out) == (1, "")
    assert err.startswith("in.mlir:2:3: error: ")


def test_a_failed_pass_prints_no_module(opt) -> None:
    code, out, err = opt(UNPLACED, "-p", "residency-check-placed,canonicalize")
    assert (code, out) == (1, "")
    assert "in.mlir:2:3: error: op is not allowed in entry functions in phase placed" in err
    assert "to see it again" not in err


def test_wrong_pipelines_are_usage_errors(opt, capfd: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as error:
        opt(GOOD, "-p", "residency-check-place")
    assert error.value.code == 2
    err = capfd.readouterr().err
    assert "did you mean residency-check-placed?" in err
    assert err.endswith("got: residency-check-place\n")


def test_a_missing_input_is_a_usage_error(capfd: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as error:
        main(["/nowhere/in.mlir"])
    assert error.value.code == 2
    assert "(No such file or directory), got: /nowhere/in.mlir" in capfd.readouterr().err


def test_bytecode_holds_one_module(opt, capfd: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as error:
        opt(f"{GOOD}// -----\n{GOOD}", "--split-input-file", "--emit=bytecode")
    assert error.value.code == 2
    assert "bytecode holds one module, got: 2" in capfd.readouterr().err


def verify(opt, text: str, *arguments: str) -> tuple[int, list[str]]:
    code, _, err = opt(text, "--verify-diagnostics", *arguments)
    return code, err.splitlines()


def test_expected_errors_are_a_success(opt) -> None:
    assert verify(opt, f"// expected-error@below {{{{got: gpu}}}}\n{BAD}") == (0, [])


def test_an_error_that_nobody_expects_fails(opt) -> None:
    assert verify(opt, BAD) == (1, [f"in.mlir:1: error: unexpected error: {MESSAGE}"])


def test_an_expected_error_that_does_not_come_fails(opt) -> None:
    code, lines = verify(opt, f"// expected-error@below {{{{got: gpu}}}}\n{GOOD}")
    assert code == 1
    assert lines == ['in.mlir:1: error: expected error "got: gpu" was not produced']


def test_another_message_fails_twice(opt) -> None:
    code, lines = verify(opt, f"// expected-error@below {{{{got: tpu}}}}\n{BAD}")
    assert code == 1
    assert lines == [
        f"in.mlir:2: error: unexpected error: {MESSAGE}",
        'in.mlir:1: error: expected error "got: tpu" was not produced',
    ]


@pytest.mark.parametrize("where", ["@+2", "@above", "@unknown", ""])
def test_another_line_fails(opt, where: str) -> None:
    code, lines = verify(opt, f"// expected-error{where} {{{{got: gpu}}}}\n{BAD}")
    assert code == 1
    assert len(lines) == 2


def test_another_severity_fails(opt) -> None:
    code, lines = verify(opt, f"// expected-warning@below {{{{got: gpu}}}}\n{BAD}")
    assert code == 1
    assert len(lines) == 2


def test_one_expectation_meets_one_error(opt) -> None:
    text = (
        f"// expected-error@below {{{{got: gpu}}}}\n// expected-error@below {{{{got: gpu}}}}\n{BAD}"
    )
    assert verify(opt, text) == (
        1,
        ['in.mlir:2: error: expected error "got: gpu" was not produced'],
    )


def test_a_malformed_expectation_fails(opt) -> None:
    code, lines = verify(opt, f"// expected-error@blow {{{{got: gpu}}}}\n{GOOD}")
    assert code == 1
    assert lines == [
        "in.mlir:1: error: not a form of expectation: // expected-error@blow {{got: gpu}}"
    ]


def test_one_failing_chunk_fails_the_file(opt) -> None:
    text = f"{GOOD}// -----\n{BAD}// -----\n{GOOD}"
    code, lines = verify(opt, text, "--split-input-file")
    assert (code, lines) == (1, [f"in.mlir:3: error: unexpected error: {MESSAGE}"])


def test_failures_of_passes_are_verified(opt) -> None:
    expected = UNPLACED.replace("\n  r", " // expected-error {{phase placed: residency.free}}\n  r")
    assert verify(opt, expected, "-p", "residency-check-placed") == (0, [])


def test_dumps_are_numbered_and_a_failure_can_be_seen_again(opt, tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    passes = "canonicalize,residency-check-placed,cse"
    code, _, err = opt(UNPLACED, "-p", passes, f"--dump={folder}")
    assert code == 1
    assert sorted(p.name for p in folder.iterdir()) == [
        "00_input.mlir",
        "01_canonicalize.mlir",
        "02_residency-check-placed.mlir",
        "failing_input.mlir",
        "reproduce.sh",
    ]
    command = next(
        line.removeprefix("to see it again: ")
        for line in err.splitlines()
        if line.startswith("to see it again: ")
    )
    assert f"#!/bin/sh\n{command}\n" == (folder / "reproduce.sh").read_text()
    again = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, env=os.environ
    )
    assert again.returncode == 1
    assert "op is not allowed in entry functions in phase placed: residency.free" in again.stderr
    assert "-p residency-check-placed " in command


def test_every_chunk_has_its_own_dumps(opt, tmp_path: Path) -> None:
    text = f"{GOOD}// -----\n{GOOD}"
    assert opt(text, "--split-input-file", "-p", "cse", f"--dump={tmp_path / 'd'}")[0] == 0
    assert {str(p.relative_to(tmp_path / "d")) for p in (tmp_path / "d").glob("*/*")} == {
        f"chunk_{i}/{name}.mlir" for i in (0, 1) for name in ("00_input", "01_cse")
    }


def test_all_passes_are_listed_with_their_options(capfd: pytest.CaptureFixture) -> None:
    assert main(["--list-passes"]) == 0
    out = capfd.readouterr().out
    assert [line for line in out.splitlines() if not line.startswith(" ")] == sorted(PASSES)
    assert "{min-bytes=<int" in out

"""Builds the engine for debugging with warnings as errors, runs its C++ tests, and uses it from a project outside."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from residency.runtime import cmake_dir

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("transfers", "memory", "api", "header")


def run(*command: str | Path) -> str:
    """A command's output, errors included; fails the test with that output when the command fails."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))} returned {done.returncode}:\n{done.stdout}")
    return done.stdout


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("native")
    options = {
        "CMAKE_BUILD_TYPE": "Debug",
        "RESIDENCY_WERROR": "ON",
        "RESIDENCY_BUILD_TESTS": "ON",
        "CMAKE_INSTALL_PREFIX": folder / "installed",
    }
    run("cmake", "-S", ROOT, "-B", folder, *(f"-D{k}={v}" for k, v in options.items()))
    run("cmake", "--build", folder, "--parallel", "2")
    return folder


@pytest.mark.parametrize("name", TESTS)
def test_native(build: Path, name: str) -> None:
    run("ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-R", f"^{name}$")


def test_every_native_test_is_run(build: Path) -> None:
    listed = run("ctest", "--test-dir", build, "--show-only")
    assert f"Total Tests: {len(TESTS)}" in listed


def build_and_run_consumer(folder: Path, *where: str) -> None:
    run("cmake", "-S", ROOT / "test" / "embedding", "-B", folder, *where)
    run("cmake", "--build", folder)
    assert run(folder / "consumer") == "moved 1024 bytes there and 1024 back\n"


def test_a_project_outside_finds_builds_and_runs_the_engine(build: Path, tmp_path: Path) -> None:
    run("cmake", "--install", build)
    build_and_run_consumer(tmp_path, f"-DCMAKE_PREFIX_PATH={build / 'installed'}")


def test_a_project_outside_uses_the_engine_of_the_python_package(tmp_path: Path) -> None:
    try:
        found = cmake_dir()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    build_and_run_consumer(tmp_path, f"-Dresidency_DIR={found}")

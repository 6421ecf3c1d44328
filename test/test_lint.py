"""The sources pass the linters and are formatted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CPP = [p for ending in ("*.h", "*.cc", "*.c") for p in ROOT.glob(f"[!.]*/**/{ending}")]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["clang-format", "--dry-run", "--Werror", *(p for p in CPP if "build" not in p.parts)],
    ],
    ids=["ruff-check", "ruff-format", "clang-format"],
)
def test_sources_are_clean(command: list[str]) -> None:
    tool = Path(sys.executable).parent / command[0]
    done = subprocess.run(
        [tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr

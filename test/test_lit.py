"""Runs the lit suite as one test."""

import os
import subprocess
import sys
from pathlib import Path

LIT = "from lit.main import main; main()"


def test_the_lit_suite_passes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIT, "-v", "--no-progress-bar", str(Path(__file__).parent)],
        env={**os.environ, "RESIDENCY_LIT_OUTPUT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Passed" in done.stdout

"""What importing costs: a lowered program runs without MLIR, and the top package loads nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import residency


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import residency", ("torch", "torch_mlir", "numpy")),
        ("import residency.runtime", ("torch_mlir",)),
        ("from residency import trace", ("torch_mlir",)),
    ],
)
def test_an_import_loads_no_more_than_it_needs(statement: str, absent: tuple[str, ...]) -> None:
    check = f"{statement}; import sys; print([m for m in {absent!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", check], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_the_top_package_lists_and_refuses_names() -> None:
    assert set(residency.__all__) <= set(dir(residency))
    for name in residency.__all__:
        assert callable(getattr(residency, name))
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = residency.nothing

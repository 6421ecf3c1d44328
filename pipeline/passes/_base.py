"""What all passes share: options as fields, failures as diagnostics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import ClassVar

from torch_mlir import ir

from ..pipeline_text import quote

_failures: ContextVar[list[PassFailure] | None] = ContextVar("failures", default=None)
"""offenders that the running pass has reported so far; None outside `Pass.apply`"""


class PassFailure(Exception):
    """A pass cannot go on because of `op`; it becomes a diagnostic at the location of the op."""

    def __init__(self, op: ir.OpView | ir.Operation | ir.Module, message: str) -> None:
        super().__init__(message)
        self.op, self.message = op, message

    @property
    def location(self) -> ir.Location:
        """Where the offender is."""
        return self.op.operation.location


@dataclass(frozen=True)
class Pass(ABC):
    """A rewrite of a module. Deriving dataclasses are frozen; their fields are the pass's options.

    `apply` runs it; MLIR's pass manager takes it too: `manager.add(pass_, name=pass_.name)` on a
    module. Either way a failure is a diagnostic *and* a failed pass.
    """

    name: ClassVar[str]
    """name in pipelines: `residency-<verb>-<noun>`"""

    @abstractmethod
    def run(self, module: ir.Module) -> None:
        """Rewrites `module`. Raises PassFailure, or reports offenders with `emit` and returns."""

    def emit(self, op: ir.OpView | ir.Operation, message: str) -> None:
        """Reports an offender and goes on; the pass fails when `run` returns."""
        failure, reported = PassFailure(op, message), _failures.get()
        if reported is None:  # `run` was called directly: nothing else would make it fail
            raise failure
        reported.append(failure)
        failure.location.emit_error(message)

    def apply(self, module: ir.Module) -> list[PassFailure]:
        """Runs the pass; returns its failures, each already emitted as an MLIR error."""
        reported: list[PassFailure] = []
        token = _failures.set(reported)
        try:
            with module.context:
                self.run(module)
        except PassFailure as failure:
            reported.append(failure)
            failure.location.emit_error(failure.message)
        finally:
            _failures.reset(token)
        return reported

    def __call__(self, op: ir.Operation, external: object) -> None:
        """What MLIR's pass manager calls."""
        if self.apply(op.operation.opview):
            # Without this the pass manager reports success, whatever was emitted.
            external.signal_pass_failure()

    def __str__(self) -> str:
        """The pass as a pipeline string, with the options that differ from their defaults."""
        changed = [
            f"{option_name(f.name)}={_shown(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
            and not (callable(f.default_factory) and getattr(self, f.name) == f.default_factory())
        ]
        return f"{self.name}{{{' '.join(changed)}}}" if changed else self.name


def option_name(field: str) -> str:
    """`min_bytes` -> `min-bytes`."""
    return field.replace("_", "-")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(_shown(v) for v in value)
    return quote(str(value))

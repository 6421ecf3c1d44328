"""A timeline of transfers, for Perfetto or chrome://tracing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from .transfer_engine import engine, live_engines

_active = False


@contextlib.contextmanager
def trace(path: str | Path) -> Iterator[None]:
    """Records start and end of every operation of the process's engines and writes them to `path` as JSON: one process per
    engine, one track per stream.

    Raises RuntimeError inside another trace.
    """
    global _active  # noqa: PLW0603  (engines are the process's, so is their trace)
    if _active:
        raise RuntimeError(f"a trace is being recorded already, so none can go to: {path}")
    engine("host")
    engines = live_engines()
    _active = True
    try:
        for each in engines:
            each._native.trace_start()
        yield
    finally:
        _active = False
        parts = [
            each._native.trace_stop(number).strip()[1:-1] for number, each in enumerate(engines)
        ]
        events = ",".join(parts)
        Path(path).write_text(f'{{"traceEvents":[{events}],"displayTimeUnit":"ns"}}\n')

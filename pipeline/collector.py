"""Python's cycle collector."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Keeps the cycle collector from walking all of torch in the middle of our work.

    Thousands of new objects trigger it; one walk costs several times the import of a large step, and finds nothing.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

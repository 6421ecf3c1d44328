"""Settings of all tests."""

from __future__ import annotations

import os

# Set before torch is imported: workers that run side by side would otherwise fight for the cores.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

"""The engine that runs schedules: transfers between a device and the host, their memory and their counters.

Needs torch and nothing else of `residency`: a lowered program runs on a machine without MLIR.
"""

from __future__ import annotations

from .paths import cmake_dir
from .tracing import trace
from .transfer_engine import Counters, Engine, Pending, engine, engine_for

__all__ = ["Counters", "Engine", "Pending", "cmake_dir", "engine", "engine_for", "trace"]

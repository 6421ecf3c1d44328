"""Microseconds per start and per wait, from C and from Python. Prints JSON: medians of interleaved rounds.

python test/benchmark/engine_overhead.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from residency.runtime import Engine

ROOT = Path(__file__).resolve().parents[2]
GOALS = {"c": 5.0, "python": 15.0}
"""microseconds"""


def build(folder: Path) -> Path:
    """The C benchmark, compiled as the wheel's library is."""
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DRESIDENCY_BUILD_TESTS=ON")
    for command in (
        ("cmake", "-S", ROOT, "-B", folder, *options),
        ("cmake", "--build", folder, "--target", "engine_overhead"),
    ):
        subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    return folder / "test" / "runtime" / "engine_overhead"


def from_python(host: Engine, tensor: torch.Tensor, repeats: int = 2000) -> dict[str, float]:
    """Medians of single calls; every transfer is over before it is waited on."""
    slot, clock = host.slot("saved_0"), time.perf_counter
    times: dict[str, list[float]] = {"offload_start_us": [], "reload_start_us": [], "wait_us": []}
    for _ in range(repeats):
        start = clock()
        pending = host.offload_start(tensor, slot)
        times["offload_start_us"].append(clock() - start)
        host.synchronize()
        start = clock()
        on_host = host.wait(pending)
        times["wait_us"].append(clock() - start)
        start = clock()
        pending = host.reload_start(on_host, slot, "cpu")
        times["reload_start_us"].append(clock() - start)
        host.synchronize()
        host.wait(pending)
    return {name: statistics.median(values) * 1e6 for name, values in times.items()}


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(r[name] for r in rounds), 3) for name in rounds[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    host, tensor = Engine("host"), torch.randn(16, 16).t()
    in_c, in_python = [], []
    with tempfile.TemporaryDirectory() as folder:
        binary = build(Path(folder))
        for _ in range(rounds):
            done = subprocess.run([binary], check=True, capture_output=True, text=True)
            in_c.append(json.loads(done.stdout))
            in_python.append(from_python(host, tensor))
    result = {"c": medians(in_c), "python": medians(in_python), "goals_us": GOALS}
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

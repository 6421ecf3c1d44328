"""Cold compile seconds of 16 layers over 4 layers of Llama: shared segments beside torch.compile.

Each case runs in a process of its own with empty Inductor caches.

    python test/benchmark/inductor_compile.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from _common import llama, publish, tokens

BACKENDS = ("inductor", "residency")


def first_step(backend: str, layers: int) -> float:
    """Seconds of the first forward and backward."""
    import torch

    compiled, batch = torch.compile(llama(layers), backend=backend), tokens(2, 32)
    start = time.perf_counter()
    compiled(**batch).loss.backward()
    return time.perf_counter() - start


def cold(backend: str, layers: int) -> float:
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, __file__, backend, str(layers)],
            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout.split()[-1])


def main() -> None:
    seconds = {b: {n: cold(b, n) for n in (4, 16)} for b in BACKENDS}
    publish(
        "inductor_compile",
        seconds=seconds,
        ratio_16_over_4={b: times[16] / times[4] for b, times in seconds.items()},
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.stdout.write(f"{first_step(sys.argv[1], int(sys.argv[2]))}\n")
    else:
        main()

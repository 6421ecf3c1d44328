"""Our own compile time, import to emitted Python, without compiling segments: 32 and 64 layers of Llama.

python test/benchmark/compile_time.py
"""

from __future__ import annotations

import time

from _common import llama, median, publish, tokens

from residency.pipeline.capture import capture_graphs
from residency.pipeline.emit_python import emit_module
from residency.pipeline.importer import import_step
from residency.pipeline.pass_manager import run_passes
from residency.pipeline.phases import backend

ROUNDS = 5


def stages(graphs) -> dict[str, float]:
    """Seconds of each stage for one step."""
    start = time.perf_counter()
    step = import_step(graphs.forward, graphs.backward, num_user_outputs=graphs.num_user_outputs)
    imported = time.perf_counter()
    run_passes(step.module, backend(budget=1 << 20, min_bytes=0, layers=False))
    passed = time.perf_counter()
    emit_module(step.module, step.table)
    emitted = time.perf_counter()
    return {
        "import": imported - start,
        "passes": passed - imported,
        "emit": emitted - passed,
        "total": emitted - start,
    }


def main() -> None:
    graphs = {n: capture_graphs(llama(n), **tokens(1, 16))[0] for n in (32, 64)}
    rows: dict[int, list[dict[str, float]]] = {n: [] for n in graphs}
    for _ in range(ROUNDS):
        for layers, captured in graphs.items():
            rows[layers].append(stages(captured))
    medians = {
        n: {stage: median([row[stage] for row in runs]) for stage in runs[0]}
        for n, runs in rows.items()
    }
    publish(
        "compile_time",
        seconds=medians,
        total_64_over_32=medians[64]["total"] / medians[32]["total"],
    )


if __name__ == "__main__":
    main()

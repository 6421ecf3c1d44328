"""Step time with infinite budget over torch.compile, 8 layers of Llama, inductor segments.

python test/benchmark/step_time.py
"""

from __future__ import annotations

import torch
from _common import interleaved, llama, median, publish, tokens

ROUNDS = 20


def main() -> None:
    batch = tokens(4, 128)
    steps = {}
    for name, options in (
        ("torch_compile", None),
        ("residency_infinite", {"backend": "residency", "options": {"fallback": False}}),
        (
            "residency_zero",
            {"backend": "residency", "options": {"fallback": False, "device_budget": 0}},
        ),
    ):
        compiled = torch.compile(llama(8, hidden=256), **(options or {}))

        def step(compiled=compiled) -> None:
            compiled(**batch).loss.backward()
            compiled.zero_grad()

        step()
        step()
        steps[name] = step
    seconds = {name: median(values) for name, values in interleaved(steps, ROUNDS).items()}
    publish(
        "step_time",
        seconds=seconds,
        infinite_over_torch_compile=seconds["residency_infinite"] / seconds["torch_compile"],
        zero_over_torch_compile=seconds["residency_zero"] / seconds["torch_compile"],
    )


if __name__ == "__main__":
    main()

"""Real models train to the same bits under any budget, and the budget holds."""

from __future__ import annotations

import math
import os

import pytest
import torch
import zoo
from training import build, node_by_node, residency, train

import residency as package
from residency.runtime import engine


@pytest.mark.parametrize("name", zoo.MODELS)
def test_any_budget_gives_the_bits_of_the_graphs_run_node_by_node(name: str) -> None:
    model, batch = build(name)
    expected = train(model, batch, node_by_node)
    produced, host = 0, engine("host")
    for share in (math.inf, 0.5, 0.0):
        budget = math.inf if share == math.inf else int(share * produced)
        saved: list[int] = []
        compiled = []

        def prepare(copied, budget=budget, compiled=compiled):
            compiled.append(residency(device_budget=budget)(copied))
            return compiled[0]

        record = train(
            model,
            batch,
            prepare,
            after_forward=lambda saved=saved: saved.append(host.counters().saved_bytes),
        )
        for optimizer, reference in expected.items():
            assert not reference.differences(record[optimizer]), f"{optimizer}, budget {budget}"
        report = package.explain(compiled[0])
        stays = sum(
            s.bytes
            for g in report.graphs
            for s in g.slots
            if not s.movable and "graph input" not in s.reason
        )
        assert max(saved) <= budget + stays, str(report)
        if share == math.inf:
            produced = max(saved)
            assert produced > 0
        elif share == 0.5:
            assert min(saved) > 0, "half of the budget is not used at all"
        assert host.counters().saved_bytes == 0, "saved bytes outlive the step"


SLOW = os.environ.get("RESIDENCY_SLOW_TESTS") == "1"
INDUCTOR = list(zoo.MODELS) if SLOW else ["llama", "convnet"]


@pytest.mark.parametrize("name", INDUCTOR)
def test_inductor_segments_are_as_close_to_eager_as_torch_compile(name: str) -> None:
    model, batch = build(name)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # Inductor draws other random numbers than eager does
    eager = train(model, batch, lambda m: m, ("sgd",))["sgd"]
    compiled = train(model, batch, torch.compile, ("sgd",))["sgd"]
    prepare = residency(segments="inductor", device_budget=0)
    ours = train(model, batch, prepare, ("sgd",))["sgd"]
    for a, b, c in zip(eager.gradients, compiled.gradients, ours.gradients, strict=True):
        for key, value in a.items():
            if value is None:
                assert b[key] is None and c[key] is None
                continue
            allowed = max(
                (value - b[key]).abs().max().item(), 1e-5 * value.abs().max().item(), 1e-7
            )
            assert (value - c[key]).abs().max().item() <= 2 * allowed, key

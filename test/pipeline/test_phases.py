"""The phases as lists of passes: each ends in its gate, and options reach the passes."""

import math

import pytest

from residency.pipeline import phases
from residency.pipeline.legality import RULES
from residency.pipeline.pipeline_parser import parse_pipeline, pipeline_text


@pytest.mark.parametrize("phase", RULES)
def test_a_phase_ends_in_its_gate(phase: str) -> None:
    assert getattr(phases, phase)()[-1].name == f"residency-check-{phase}"


def test_the_backend_runs_all_phases_in_order() -> None:
    gates = [p.phase for p in phases.backend() if p.name.startswith("residency-check-")]
    assert gates == list(RULES)


@pytest.mark.parametrize("budget", [math.inf, 0, 6 << 30])
@pytest.mark.parametrize("layers", [False, True])
def test_a_pipeline_can_be_written_down(budget: float, layers: bool) -> None:
    passes = phases.backend(budget=budget, min_bytes=64, layers=layers)
    assert parse_pipeline(pipeline_text(passes)) == passes


def test_layers_are_tagged_before_transfers_are_scheduled() -> None:
    names = [p.name for p in phases.backend(layers=True)]
    assert names.index("residency-tag-layers") < names.index("residency-schedule-transfers")
    assert "residency-tag-layers" not in [p.name for p in phases.backend()]

"""Real training steps survive the round trip: same calls, same bits, forward and backward."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from round_trip import check_all, opaque_targets, record

from residency.pipeline.torch_private import inductor_decompositions

sys.path.append(str(Path(__file__).parents[1] / "models"))

from zoo import MODELS

DECOMPOSED = {"llama", "gpt2", "bert", "vit", "convnet"}
"""captured with inductor's decompositions; the others without any"""


@pytest.mark.parametrize("name", MODELS)
def test_training_step_survives_the_round_trip(name):
    torch.manual_seed(0)
    make, batch = MODELS[name]
    table = inductor_decompositions() if name in DECOMPOSED else None
    found = record(make(), batch(), decompositions=table)
    # Without handles every value is computed again, which takes long: the decomposed ones show that it works.
    steps = check_all(found, stripped=name in DECOMPOSED)
    # Nothing in these models is beyond the torch dialect but the update of BatchNorm's statistics.
    assert {t for s in steps for t in opaque_targets(s)} <= {"aten.copy_.default"}

"""Sharded parameters: meshes among the arguments, collectives by name."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from round_trip import check, function, opaque_targets, record
from torch import nn


@pytest.fixture
def two_ranks():
    """A process group of two ranks in this one process; its collectives move nothing."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("two_ranks")
def test_sharded_parameters_import_with_their_meshes_and_collectives():
    from torch.distributed.tensor import (
        Partial,
        Replicate,
        Shard,
        distribute_tensor,
        init_device_mesh,
    )

    mesh = init_device_mesh("cpu", (2,))
    layer = nn.Linear(8, 8)
    layer.weight = nn.Parameter(distribute_tensor(layer.weight.detach(), mesh, [Shard(0)]))

    def step(x):
        weight = layer.weight.redistribute(placements=[Replicate()])
        weight = weight.to_local(grad_placements=[Partial(reduce_op="avg")])
        return (x @ weight).sin().sum()

    (recorded,) = record(step, torch.randn(4, 8, requires_grad=True))
    imported = check(recorded)
    forward, backward = (str(function(imported.module, n)) for n in ("forward", "backward"))
    assert "!torch.any" in forward
    assert '"torch._c10d_functional.all_gather_into_tensor"' in forward
    assert '"torch._c10d_functional.reduce_scatter_tensor"' in backward
    assert opaque_targets(imported) == []

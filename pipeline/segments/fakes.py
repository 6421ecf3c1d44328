"""Fake values on their way from one segment to the next."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from .. import torch_private
from ..torch_private import FakeTensor, FakeTensorMode, expression_of

Strides = tuple[int | torch.SymInt, ...]


def restride(fake: Any, strides: Sequence[int | torch.SymInt] | None) -> Any:
    """`fake` as it really lies: same sizes, dtype and device, strides in elements.

    `fake` itself where `strides` is None (not a strided tensor, or not known) or says nothing new. Adds no guard on symbolic
    sizes.
    """
    if strides is None or not isinstance(fake, torch.Tensor) or fake.layout is not torch.strided:
        return fake
    if [expression_of(s) for s in fake.stride()] == [expression_of(s) for s in strides]:
        return fake
    if not isinstance(fake, FakeTensor):
        raise TypeError(f"only a fake tensor can be restrided, got: {type(fake).__name__}")
    with without_guards(fake.fake_mode), fake.fake_mode, torch.no_grad():
        return torch.empty_strided(fake.size(), strides, dtype=fake.dtype, device=fake.device)


def without_guards(mode: FakeTensorMode) -> contextlib.AbstractContextManager:
    """What is computed inside says nothing about which sizes the program may be called with."""
    return contextlib.nullcontext() if mode.shape_env is None else mode.shape_env.suppress_guards()


def strides_of(value: Any) -> Strides | None:
    """Strides in elements of a strided tensor, None for anything else."""
    if isinstance(value, torch.Tensor) and value.layout is torch.strided:
        return tuple(value.stride())
    return None


def mode_for(gm: fx.GraphModule, inputs: Sequence[Any]) -> FakeTensorMode:
    """The mode of the inputs; for a graph without tensor inputs, that of the values which its nodes recorded."""
    recorded = (node.meta.get("val") for node in gm.graph.nodes)
    for value in (*inputs, *recorded):
        if isinstance(value, FakeTensor):
            return value.fake_mode
    return torch_private.current_fake_mode() or torch_private.new_fake_mode()


def outputs_of(gm: fx.GraphModule, inputs: Sequence[Any]) -> list[Any]:
    """What `gm` returns for `inputs` by the rules of eager PyTorch; recorded in `meta["val"]` if it was not yet."""
    if not _describes(gm, inputs):
        torch_private.propagate(gm, inputs, mode_for(gm, inputs))
    return [
        item.meta.get("val") if isinstance(item, fx.Node) else item
        for item in gm.graph.output_node().args[0]
    ]


def _describes(gm: fx.GraphModule, inputs: Sequence[Any]) -> bool:
    """True if the values recorded in the graph were computed from these very inputs."""
    for node, value in zip(gm.graph.find_nodes(op="placeholder"), inputs, strict=True):
        recorded = node.meta.get("val", gm)
        if isinstance(value, torch.Tensor):
            if recorded is not value:
                return False
        elif type(recorded) is not type(value) or expression_of(recorded) != expression_of(value):
            return False
    return all("val" in node.meta for node in gm.graph.output_node().all_input_nodes)

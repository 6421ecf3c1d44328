"""Fake tensors of SSA values: what FX recorded when the graph was traced."""

from __future__ import annotations

from typing import Any

import torch
from torch_mlir import ir

from ..dialect import attributes as attr
from .ir import arguments
from .node_table import NodeTable


class FakeValues:
    """Fake values for one function: tensors, symbolic numbers or Python constants."""

    def __init__(self, func: ir.OpView, table: NodeTable) -> None:
        self.table = table
        self.known: dict[ir.Value, Any] = {}
        for argument, attributes in arguments(func):
            if attr.FX in attributes:
                handle = ir.IntegerAttr(attributes[attr.FX]).value
                self.known[argument] = table[handle].meta.get("val")

    def of(self, value: ir.Value) -> Any:
        """The fake value of `value`.

        A release has that of its input, a reload that of the value which was offloaded, and a host value is a CPU
        tensor with the same sizes and strides. Raises KeyError for a value that FX never knew.
        """
        if value in self.known:
            return self.known[value]
        result = ir.OpResult(value)
        op = result.owner.operation
        if op.name == "residency.release":
            fake = self.of(op.operands[0])
        elif op.name in ("residency.offload", "residency.offload_start"):
            fake = on_host(self.of(op.operands[0]))
        elif op.name == "residency.wait":
            fake = self.of(op.operands[0])
        elif op.name.startswith("torch.constant."):
            from .raising import literal_of

            fake = literal_of(op)
        else:
            fake = self.recorded(op, result.result_number)
        self.known[value] = fake
        return fake

    def recorded(self, op: ir.Operation, index: int) -> Any:
        if attr.FX not in op.attributes:
            raise KeyError(f"no fake value is known for a result of {op.name}: {index}")
        info = self.table[ir.IntegerAttr(op.attributes[attr.FX]).value]
        return info.values(len(op.results))[index]


def on_host(fake: torch.Tensor) -> torch.Tensor:
    """What the host tier holds for `fake`: same sizes, strides and dtype, in a storage of its own."""
    with fake.fake_mode:
        return torch.empty_strided(fake.size(), fake.stride(), dtype=fake.dtype, device="cpu")


def on_device(fake: torch.Tensor, device: torch.device) -> torch.Tensor:
    """What a reload of `fake` to `device` yields."""
    with fake.fake_mode:
        return torch.empty_strided(fake.size(), fake.stride(), dtype=fake.dtype, device=device)

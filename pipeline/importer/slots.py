"""Slots: the identity of each value that forward saves for backward."""

from __future__ import annotations

import torch
from torch import fx
from torch_mlir import ir

from ...dialect import attributes as attr
from .builder import Shared
from .graph import GraphImporter
from .types import Kind


class Slots:
    """The slots of what forward saves: one per value, however often it is saved."""

    def __init__(
        self, shared: Shared, fw: GraphImporter, device: torch.device, num_user_outputs: int
    ) -> None:
        self.shared, self.fw, self.device, self.first = shared, fw, device, num_user_outputs
        self.outputs = next(iter(reversed(fw.module.graph.nodes))).args[0]

    def make(self, module: ir.Module) -> list[str]:
        """Adds the slots to `module`, before its functions; returns the symbol of each saved result."""
        context = self.shared.context
        known: dict[ir.Value, str] = {}
        names = []
        before = ir.InsertionPoint.at_block_begin(module.body)
        for position in range(self.first, len(self.fw.results)):
            value = self.fw.results[position].value
            name = known.get(value)
            if name is None:
                name = known[value] = f"saved_{len(known)}"
                attributes = {
                    "sym_name": ir.StringAttr.get(name, context),
                    "type": ir.TypeAttr.get(value.type, context),
                    "tier": ir.StringAttr.get(attr.DEVICE, context),
                }
                why = self.stays(position)
                if why:
                    attributes[attr.STAYS] = ir.StringAttr.get(why, context)
                ir.Operation.create(
                    "residency.slot",
                    attributes=attributes,
                    loc=self.shared.locations.unknown,
                    ip=before,
                )
            names.append(name)
        return names

    def stays(self, position: int) -> str | None:
        """Why this saved value can never leave the device."""
        node = self.outputs[position]
        bound = self.fw.results[position]
        value = node.meta.get("val") if isinstance(node, fx.Node) else node
        if bound.kind in Kind.NUMBERS:
            return "symbolic integer" if bound.kind == Kind.INT else "symbolic number"
        if isinstance(value, torch.Tensor) and value.layout is not torch.strided:
            return f"sparse layout: {value.layout}"
        if bound.kind != Kind.TENSOR:
            return "not a tensor"
        if isinstance(bound.value, ir.BlockArgument):
            constant = self.fw.arguments[ir.BlockArgument(bound.value).arg_number].node is None
            return (
                "constant of the graph: the graph holds it"
                if constant
                else "graph input: the caller holds it"
            )
        if isinstance(value, torch.Tensor) and value.device != self.device:
            return f"on {value.device} while the step runs on {self.device}"
        return None

    def backward_order(self) -> list[int]:
        """Forward result numbers in the order in which backward takes them: symbolic numbers first."""
        saved = range(self.first, len(self.fw.results))
        symbolic = [i for i in saved if self.fw.results[i].kind in Kind.NUMBERS]
        return symbolic + [i for i in saved if self.fw.results[i].kind not in Kind.NUMBERS]

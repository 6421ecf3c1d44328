"""The FX graphs that AOTAutograd gets back from the partitioner.

AOTAutograd needs the calling convention of forward and backward: placeholders, outputs and the fake value of each. The
compute itself stays in our module, so that such a graph is one call between its placeholders and its outputs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch_mlir import ir

from ..dialect import HostType
from ..dialect import attributes as attr
from .fake_values import FakeValues, on_host
from .ir import arguments, results, return_op, slot_of
from .node_table import NodeTable

SYMBOLIC = (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool)
"""fake values that become outputs of the call; other outputs are constants"""


def emitted_body(*args: Any) -> Any:
    """Stands for the body of a graph whose code is emitted from the module."""
    raise RuntimeError(f"only the residency backend can run this graph, got arguments: {len(args)}")


def output_of_body(outputs: Any, index: int) -> Any:
    """Stands for one result of `emitted_body`."""
    return outputs[index]


def slot_fakes(forward: ir.OpView, fakes: FakeValues) -> dict[str, Any]:
    """Slot symbol -> fake value of what forward saves in it, on the device or on the host."""
    return {
        slot_of(attributes): fakes.of(value)
        for value, attributes in results(forward)
        if attr.SLOT in attributes
    }


def signature_graph(
    func: ir.OpView, table: NodeTable, fakes: FakeValues, saved: dict[str, Any] | None = None
) -> fx.GraphModule:
    """An FX graph with the arguments and results of `func`; `saved` are forward's `slot_fakes`."""
    graph, nodes = fx.Graph(), {}
    for argument, attributes in arguments(func):
        if attr.CONSTANT in attributes:
            continue  # the driver supplies it
        name, meta = f"saved_value_{len(nodes)}", {}
        if attr.FX in attributes:
            info = table[ir.IntegerAttr(attributes[attr.FX]).value]
            name, meta = info.name, dict(info.meta)
        if attr.SLOT in attributes and saved is not None:
            fakes.known[argument] = saved[slot_of(attributes)]
        elif isinstance(argument.type, HostType):
            fakes.known[argument] = on_host(fakes.of(argument))
        if fakes.known.get(argument) is not None:
            meta["val"] = fakes.known[argument]
        node = graph.placeholder(name)
        node.meta = meta
        nodes[argument] = node
    call = graph.call_function(emitted_body, tuple(nodes.values()))
    outputs = []
    for index, value in enumerate(return_op(func).operands):
        if value not in nodes:
            fake = fakes.of(value)
            if not isinstance(fake, SYMBOLIC):
                outputs.append(fake)
                continue
            node = graph.call_function(output_of_body, (call, index))
            node.meta = {"val": fake}
            nodes[value] = node
        outputs.append(nodes[value])
    graph.output(tuple(outputs))
    return fx.GraphModule(torch.nn.Module(), graph)

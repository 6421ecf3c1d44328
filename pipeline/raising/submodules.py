"""Copies of the sub-graphs that higher-order ops call."""

from __future__ import annotations

import torch
from torch import fx

from ..torch_private import graph_module


def copy_of(module: torch.nn.Module) -> torch.nn.Module:
    """A GraphModule with a graph of its own, its parameters shared; any other module as it is."""
    if not isinstance(module, fx.GraphModule):
        return module
    graph = fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    last = next(iter(reversed(module.graph.nodes)))
    next(iter(reversed(graph.nodes))).meta = dict(last.meta)
    attributes = {}
    for node in module.graph.nodes:
        if node.op in ("get_attr", "call_module"):
            value = module
            for part in node.target.split("."):
                value = getattr(value, part)
            attributes[node.target] = copy_of(value) if isinstance(value, fx.GraphModule) else value
    copy = graph_module(attributes, graph)
    copy.meta = dict(module.meta)
    return copy

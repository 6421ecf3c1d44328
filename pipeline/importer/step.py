"""The two graphs of a training step as one module, with a slot for every value that forward saves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import fx
from torch_mlir import ir

from ... import dialect
from ...dialect import attributes as attr
from .. import collector
from ..node_table import NodeTable
from .builder import Argument, Shared
from .graph import GraphImporter
from .slots import Slots
from .types import Kind


class StepError(ValueError):
    """Graphs that do not belong together."""


@dataclass(frozen=True)
class ImportedStep:
    """A module in the `imported` phase and what FX knew about its ops."""

    module: ir.Module
    table: NodeTable
    saved: tuple[str, ...]
    """slot symbol of each saved value, in the order of forward's results"""


def import_step(
    forward: fx.GraphModule,
    backward: fx.GraphModule | None,
    *,
    num_user_outputs: int,
    static_input_indices: Iterable[int] = (),
) -> ImportedStep:
    """Imports forward and backward (None for inference) into one module.

    Forward's outputs from `num_user_outputs` on are what it saves; backward's first placeholders are these, symbolic numbers
    first, as AOTAutograd orders them. `static_input_indices` are the placeholders that are parameters or buffers. The graphs
    are only read. Raises StepError if forward saves another number or other types of values than backward takes.
    """
    with collector.paused():
        # Each form of an op is verified once while it is made. Verifiers that look at shapes may still reject one op in a
        # form that others pass; then all is made again with every op verified by itself.
        try:
            step = _import(forward, backward, num_user_outputs, static_input_indices, strict=False)
            step.module.operation.verify()
        except ir.MLIRError:
            step = _import(forward, backward, num_user_outputs, static_input_indices, strict=True)
            step.module.operation.verify()
    return step


def _import(
    forward: fx.GraphModule,
    backward: fx.GraphModule | None,
    num_user_outputs: int,
    static_input_indices: Iterable[int],
    *,
    strict: bool,
) -> ImportedStep:
    context = dialect.load()
    module = ir.Module.create(ir.Location.unknown(context))
    shared = Shared(context, NodeTable(), strict=strict)
    static = set(static_input_indices)

    fw = GraphImporter(shared, forward, "forward", module.body)
    fw.run()
    kinds = [
        attr.PARAM if i in static and a.typed.kind == Kind.TENSOR else kind_of(a)
        for i, a in enumerate(fw.arguments)
    ]
    if backward is None:
        _annotate(fw, kinds, [None] * len(fw.arguments), [None] * len(fw.results))
        return ImportedStep(module, shared.table, ())

    bw = GraphImporter(shared, backward, "backward", module.body)
    bw.run()
    slots = Slots(shared, fw, _device(forward), num_user_outputs)
    saved = slots.make(module)
    order = slots.backward_order()
    _check(fw, bw, order)
    _annotate(fw, kinds, [None] * len(fw.arguments), [None] * num_user_outputs + saved)
    count = len(saved)
    inputs = [
        attr.SAVED if i < count else attr.TANGENT if is_own(a) else kind_of(a)
        for i, a in enumerate(bw.arguments)
    ]
    arguments = [saved[i - num_user_outputs] for i in order]
    arguments += [None] * (len(bw.arguments) - count)
    _annotate(bw, inputs, arguments, [None] * len(bw.results))
    return ImportedStep(module, shared.table, tuple(saved))


def is_own(argument: Argument) -> bool:
    """True for a tensor that is the graph's own placeholder, not a constant."""
    return argument.node is not None and argument.typed.kind == Kind.TENSOR


def kind_of(argument: Argument) -> str:
    kind = argument.typed.kind
    return {Kind.TENSOR: attr.INPUT, Kind.INT: attr.SYMINT}.get(kind, attr.OPAQUE)


def _device(graph: fx.GraphModule) -> torch.device:
    """The device that the step runs on: an accelerator if any tensor is there."""
    for node in graph.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.device.type not in ("cpu", "meta"):
            return value.device
    return torch.device("cpu")


def _check(fw: GraphImporter, bw: GraphImporter, order: list[int]) -> None:
    if len(order) > len([a for a in bw.arguments if a.node is not None]):
        raise StepError(
            f"forward saves {len(order)} values, more than backward's arguments: {len(bw.arguments)}"
        )
    for position, (index, argument) in enumerate(zip(order, bw.arguments, strict=False)):
        made, taken = fw.results[index].value.type, argument.typed.type
        if made != taken:
            raise StepError(
                f"backward argument {position} is saved as {made} by forward result {index}, "
                f"but is taken as: {taken}"
            )


def _annotate(
    graph: GraphImporter,
    kinds: list[str],
    argument_slots: list[str | None],
    result_slots: list[str | None],
) -> None:
    context = graph.shared.context

    def slot(name: str | None) -> dict[str, ir.Attribute]:
        return {} if name is None else {attr.SLOT: ir.FlatSymbolRefAttr.get(name, context)}

    arguments = [
        ir.DictAttr.get(
            {attr.KIND: ir.StringAttr.get(kind, context), **slot(name), **argument.attributes},
            context,
        )
        for kind, name, argument in zip(kinds, argument_slots, graph.arguments, strict=True)
    ]
    results = [ir.DictAttr.get(slot(name), context) for name in result_slots]
    graph.func.attributes["arg_attrs"] = ir.ArrayAttr.get(arguments, context)
    graph.func.attributes["res_attrs"] = ir.ArrayAttr.get(results, context)

"""One function of a module as an FX graph, exact by op name and schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import fx
from torch_mlir import ir

from ...dialect import attributes as attr
from ...dialect import inner
from .. import collector
from ..importer.names import OPAQUE_PREFIX
from ..importer.opaque import Unknown
from ..node_table import NodeInfo, NodeTable
from ..torch_private import FakeTensorMode, graph_module
from .builder import GraphBuilder, set_value
from .calls import TRANSPARENT, call_of, fill, handle_of, opaque_call, opaque_info, operator_name
from .errors import RaiseError
from .fake import Fakes, mode_of, same_layout
from .literals import CONSTANT_PREFIX, literal_of
from .tensors import literal_tensor
from .transfers import OWN_TYPE, TRANSFERS


def raise_function(
    func: ir.OpView | ir.Operation,
    table: NodeTable | None,
    *,
    fake_mode: FakeTensorMode | None = None,
    example_inputs: Sequence[Any] | None = None,
) -> fx.GraphModule:
    """The FX graph of one function, entry or segment. The caller keeps the function's module alive.

    Fake values come from `table`, or are computed where it has none, or where `example_inputs` (one value for each argument
    but constants) have other strides than those recorded. Constants of the graph become attributes of the module again, calls
    of segments sub-modules, residency ops calls of `TRANSFERS`. The result's output is a tuple with one item for each result of
    the function. Raises RaiseError, naming the op, for an op that has no form in FX.
    """
    mode = fake_mode or mode_of(example_inputs or ())
    if mode is None and table is not None:
        mode = table.fake_mode
    with collector.paused():
        return Raiser(func, table, Fakes(mode), {}).run(example_inputs)


class Raiser(GraphBuilder):
    """Raises one function; `segments` (name -> GraphModule) is shared by all functions of one call."""

    def __init__(
        self,
        func: ir.OpView | ir.Operation,
        table: NodeTable | None,
        fakes: Fakes,
        segments: dict[str, fx.GraphModule],
    ) -> None:
        super().__init__(table, fakes)
        self.func, self.segments = func.operation, segments
        self.handlers = {
            "torch.prim.ListConstruct": self.list_construct,
            "torch.prim.ListUnpack": self.list_unpack,
            "torch.operator": self.by_name,
            "torch.vtensor.literal": self.literal_tensor,
            "func.call": self.segment,
            "func.return": self.return_,
            **dict.fromkeys(TRANSPARENT, self.transparent),
        }

    def run(self, example_inputs: Sequence[Any] | None) -> fx.GraphModule:
        block = self.func.regions[0].blocks[0]
        self.arguments(block, example_inputs)
        values = self.values
        for op in block.operations:
            name = op.operation.name
            if name.startswith(CONSTANT_PREFIX):
                values[op.results[0]] = literal_of(op)
                continue
            handler = self.handlers.get(name)
            if handler is not None:
                handler(op)
            elif name.startswith("residency."):
                self.transfer(op, name)
            else:
                self.call(op, name)
        return graph_module(self.attributes, self.graph)

    # Arguments.

    def arguments(self, block: ir.Block, example_inputs: Sequence[Any] | None) -> None:
        known = self.func.attributes
        dicts = list(known["arg_attrs"]) if "arg_attrs" in known else [{}] * len(block.arguments)
        own = [
            a for a, known in zip(block.arguments, dicts, strict=True) if attr.CONSTANT not in known
        ]
        examples = [None] * len(own) if example_inputs is None else list(example_inputs)
        if len(examples) != len(own):
            raise RaiseError(self.func, f"needs {len(own)} example inputs, got: {len(examples)}")
        constants = []
        for argument, attributes in zip(block.arguments, dicts, strict=True):
            if attr.CONSTANT in attributes:
                constants.append((argument, attributes[attr.CONSTANT].value))
                continue
            position = len(self.values)
            info = None
            if self.table is not None and attr.FX in attributes:
                info = self.table[attributes[attr.FX].value]
            node = self.graph.placeholder(info.name if info else f"arg{position}")
            node.meta = dict(info.meta) if info else {}
            if example_inputs is not None:
                self.example(node, examples[position])
            elif "val" not in node.meta:
                set_value(node, self.fakes.of_type(argument.type))
            self.values[argument] = node
        # After the placeholders, which FX wants first.
        for argument, handle in constants:
            self.values[argument] = self.constant(handle)

    def example(self, node: fx.Node, example: Any) -> None:
        example = self.fakes.of_value(example)
        if example is Unknown:
            return
        if "val" in node.meta and not same_layout(node.meta["val"], example):
            self.fresh = True
            node.meta.pop("tensor_meta", None)
        node.meta["val"] = example

    def constant(self, handle: int) -> fx.Node:
        if self.table is None:
            raise RaiseError(self.func, f"needs the node table for its constant, handle: {handle}")
        info = self.table[handle]
        return self.attribute(info.name, info.constant)

    # Ops.

    def operands(self, op: ir.OpView) -> list[Any]:
        values = self.values
        return [values[v] for v in op.operands]

    def info(self, op: ir.OpView) -> NodeInfo | None:
        if self.table is None:
            return None
        handle = handle_of(op)
        return None if handle is None else self.table[handle]

    def transparent(self, op: ir.OpView) -> None:
        self.values[op.results[0]] = self.values[op.operands[0]]

    def list_construct(self, op: ir.OpView) -> None:
        self.values[op.results[0]] = self.operands(op)

    def list_unpack(self, op: ir.OpView) -> None:
        source = self.values[op.operands[0]]
        if isinstance(source, fx.Node):
            self.parts(source, list(op.results), self.info(op))
        else:
            self.values.update(zip(op.results, source, strict=True))

    def literal_tensor(self, op: ir.OpView) -> None:
        self.values[op.results[0]] = self.attribute("_literal", literal_tensor(op))

    def by_name(self, op: ir.OpView) -> None:
        name = operator_name(op)
        if not name.startswith(OPAQUE_PREFIX):
            self.call(op, "torch.operator")
            return
        info = opaque_info(op, name, self.table)
        call = info.call
        target, args, kwargs = opaque_call(call, self.operands(op), self.subgraph)
        if call.op == "call_module":
            self.attributes[target.name] = target.value
            target = target.name
        node = self.node(call.op, target, args, kwargs, info, op)
        self.structured(node, call.results, list(op.results), info)

    def call(self, op: ir.OpView, name: str) -> None:
        info = self.info(op)
        target, args, kwargs = call_of(op, name, self.operands(op), info)
        node = self.node("call_function", target, args, kwargs, info, op)
        results = op.results
        if len(results) == 1:
            self.values[results[0]] = node
        else:
            self.parts(node, list(results), info)

    def transfer(self, op: ir.OpView, name: str) -> None:
        target = TRANSFERS.get(name)
        if target is None:
            raise RaiseError(op, f"nothing is registered to run it, known: {', '.join(TRANSFERS)}")
        kwargs = {
            key: op.attributes[key].value for key in ("slot", "param") if key in op.attributes
        }
        args = tuple(self.operands(op))
        node = self.graph.call_function(target, args, kwargs)
        if not len(op.results):
            return
        if name in OWN_TYPE:
            type_ = op.results[0].type
            value = self.fakes.of_type(inner(type_) if name.endswith("_start") else type_)
        else:
            # Where bytes are changes neither shape nor layout.
            value = value_at(args[0])
        set_value(node, value)
        self.values[op.results[0]] = node

    def segment(self, op: ir.OpView) -> None:
        name = op.attributes["callee"].value
        args = tuple(self.operands(op))
        raised = self.segments.get(name)
        if raised is None:
            examples = [value_at(a) for a in args]
            callee = self.callee(op, name)
            raised = Raiser(callee, self.table, self.fakes, self.segments).run(examples)
            self.segments[name] = raised
        self.attributes[name] = raised
        node = self.graph.call_module(name, args)
        outputs = raised.graph.output_node().args[0]
        node.meta["val"] = fx.map_arg(outputs, value_at)
        self.parts(node, list(op.results), None)

    def callee(self, op: ir.OpView, name: str) -> ir.OpView:
        for candidate in self.func.parent.regions[0].blocks[0].operations:
            known = candidate.attributes
            if "sym_name" in known and known["sym_name"].value == name:
                return candidate
        raise RaiseError(op, f"calls a function that the module does not have: @{name}")

    def return_(self, op: ir.OpView) -> None:
        operands = self.operands(op)
        info = self.info(op)
        outputs: Any = tuple(operands)
        if info is not None and info.call is not None:
            outputs = fill(info.call.args[0], operands.__getitem__, self.subgraph)
        node = self.graph.output(outputs)
        if info is not None:
            node.meta = dict(info.meta)
            # One description for each output: worthless once a pass has changed how many there are.
            if len(node.meta.get("desc") or operands) != len(operands):
                del node.meta["desc"]


def value_at(argument: Any) -> Any:
    """The value of a node, or the constant that stands in its place."""
    return argument.meta.get("val", Unknown) if isinstance(argument, fx.Node) else argument

"""Import a step and raise it again; the graphs must be the same calls, and give the same bits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any

import torch
from torch import fx
from torch_mlir import ir

from residency.dialect import attributes as attr
from residency.pipeline.capture import StepGraphs
from residency.pipeline.importer import ImportedStep, import_step
from residency.pipeline.raise_fx import raise_function
from residency.pipeline.torch_private import aot_backend, min_cut_partition


@dataclass
class Recorded:
    """One graph pair and the arguments that it was run with."""

    graphs: StepGraphs
    inputs: dict[str, list[Any]] = field(default_factory=dict)


def record(
    step: Callable[..., Any], *args: Any, decompositions: Any = None, **options: Any
) -> list[Recorded]:
    """Compiles and runs `step`, and backward of the sum of its differentiable outputs."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    found: list[Recorded] = []

    def split(joint, inputs, *, num_fwd_outputs, **kwargs):
        pair = min_cut_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **kwargs)
        static = tuple(kwargs.get("static_lifetime_input_indices") or ())
        found.append(Recorded(StepGraphs(*pair, num_fwd_outputs, static)))
        return pair

    def recording(name: str) -> Callable:
        def compile(graph, _):
            if name == "inference":
                outputs = len(graph.graph.output_node().args[0])
                found.append(Recorded(StepGraphs(graph, None, outputs, ())))
                owner, key = found[-1], "forward"
            elif name == "forward":
                owner, key = found[-1], name
            else:
                signature = [n.name for n in graph.graph.find_nodes(op="placeholder")]
                owner = next(r for r in found if _placeholders(r.graphs.backward) == signature)
                key = name

            def run(inputs):
                owner.inputs.setdefault(key, [copy_of(i) for i in inputs])
                outputs = graph(*inputs)
                inputs.clear()
                return outputs

            run._boxed_call = True
            return run

        return compile

    backend = aot_backend(
        fw_compiler=recording("forward"),
        bw_compiler=recording("backward"),
        inference_compiler=recording("inference"),
        partition_fn=split,
        decompositions=decompositions,
        keep_inference_input_mutations=True,
    )
    outputs = torch.compile(step, backend=backend, **options)(*args)
    leaves = [
        o
        for o in torch.utils._pytree.tree_leaves(outputs)
        if isinstance(o, torch.Tensor) and o.requires_grad
    ]
    if leaves:
        sum((o.abs() if o.is_complex() else o).sum() for o in leaves).backward()
    return found


def _placeholders(graph: fx.GraphModule) -> list[str]:
    return [n.name for n in graph.graph.find_nodes(op="placeholder")]


def copy_of(value: Any) -> Any:
    """A copy with the same strides, which may overlap."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return value
    copy = torch.empty(0, dtype=value.dtype, device=value.device)
    storage = value.untyped_storage().clone()
    copy.set_(storage, value.storage_offset(), value.shape, value.stride())
    return copy.conj() if value.is_conj() else copy


def randomised(inputs: list[Any]) -> list[Any]:
    """The same inputs with other floating point data; integers may be indices and stay."""
    torch.manual_seed(1)
    out = []
    for value in inputs:
        out.append(copy := copy_of(value))
        strided = isinstance(copy, torch.Tensor) and copy.layout is torch.strided
        if strided and copy.dtype.is_floating_point and copy.element_size() > 1:
            data = torch.empty(0, dtype=copy.dtype).set_(copy.untyped_storage())
            data.copy_(torch.randn(data.shape, dtype=torch.float64))
    return out


def function(module: ir.Module, name: str) -> ir.OpView:
    for op in module.body.operations:
        if "sym_name" in op.attributes and op.attributes["sym_name"].value == name:
            return op
    raise AssertionError(f"no function of this name: {name}")


def run(graph: fx.GraphModule, inputs: list[Any]) -> list[Any]:
    """Outputs, and inputs after the run: graphs may write them."""
    inputs = [copy_of(i) for i in inputs]
    torch.manual_seed(2)
    with torch.no_grad():
        outputs = list(fx.Interpreter(graph).run(*inputs))
    return outputs + inputs


def assert_same_bits(left: list[Any], right: list[Any]) -> None:
    assert len(left) == len(right)
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        assert type(a) is type(b), f"value {index}: {type(a)} and {type(b)}"
        if not isinstance(a, torch.Tensor):
            assert a == b or repr(a) == repr(b), f"value {index}: {a} and {b}"
            continue
        assert (a.dtype, a.shape, a.layout) == (b.dtype, b.shape, b.layout), f"value {index}"
        strides = [t.stride() if t.layout is torch.strided else None for t in (a, b)]
        assert strides[0] == strides[1], f"value {index}: strides {strides}"
        assert torch.equal(bits_of(a), bits_of(b)), f"value {index} differs"


def bits_of(value: torch.Tensor) -> torch.Tensor:
    value = value.detach().to_dense() if value.layout is not torch.strided else value.detach()
    return value.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def listing(graph: fx.GraphModule) -> list[str]:
    """The calls of a graph with nodes as numbers, without nodes that nobody reads."""
    numbers: dict[fx.Node, str] = {}
    lines = []
    dead: set[fx.Node] = set()
    for node in reversed(graph.graph.nodes):
        if node.target is operator.getitem and all(u in dead for u in node.users):
            dead.add(node)
    for node in graph.graph.nodes:
        if node in dead:
            continue
        if node.op == "placeholder":
            numbers[node] = f"p{sum(n.op == 'placeholder' for n in numbers)}"
        elif node.op == "get_attr":
            numbers[node] = "attribute"
        elif node.target is operator.getitem:
            # Its place does not matter: it only names a part.
            numbers[node] = f"{numbers[node.args[0]]}[{node.args[1]}]"
        else:
            shown = fx.node.map_aggregate((node.args, node.kwargs), partial(_show, numbers))
            shown = repr(shown).replace("(", "[").replace(")", "]").replace(",]", "]")
            lines.append(f"{node.op} {'' if node.op == 'output' else node.target} {shown}")
            numbers[node] = f"n{len(lines)}"
    return lines


def _show(numbers: dict[fx.Node, str], value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _Shown("attribute")
    return _Shown(numbers[value]) if isinstance(value, fx.Node) else value


class _Shown(str):
    def __repr__(self) -> str:
        return str(self)


def strip(module: ir.Module) -> ir.Module:
    """The module without handles, as a parsed copy."""
    copy = ir.Module.parse(str(module), module.context)
    for func in copy.body.operations:
        if func.operation.name != "func.func":
            continue
        for op in func.regions[0].blocks[0].operations:
            if attr.FX in op.attributes:
                del op.attributes[attr.FX]
        dicts = []
        for known in func.attributes["arg_attrs"]:
            kept = {a.name: a.attr for a in known if a.name != attr.FX}
            dicts.append(ir.DictAttr.get(kept, module.context))
        func.attributes["arg_attrs"] = ir.ArrayAttr.get(dicts, module.context)
    return copy


def imported(graphs: StepGraphs) -> ImportedStep:
    return import_step(
        graphs.forward,
        graphs.backward,
        num_user_outputs=graphs.num_user_outputs,
        static_input_indices=graphs.static_input_indices,
    )


def check(recorded: Recorded, *, same_calls: bool = True, stripped: bool = True) -> ImportedStep:
    """Imports one recorded step and checks every way back."""
    step = imported(recorded.graphs)
    text = str(step.module)
    # Kept in names: an op does not keep its module alive.
    parsed = ir.Module.parse(text, step.module.context)
    bare_module = strip(step.module)
    assert str(parsed) == text
    for name, original in (
        ("forward", recorded.graphs.forward),
        ("backward", recorded.graphs.backward),
    ):
        if original is None or name not in recorded.inputs:
            continue
        real = recorded.inputs[name]
        raised = raise_function(function(step.module, name), step.table)
        if same_calls:
            unlike = [
                pair
                for pair in zip_longest(listing(original), listing(raised))
                if pair[0] != pair[1]
            ]
            assert not unlike, f"{name}: {len(unlike)} calls differ, first: {unlike[0]}"
        ways = [raised, raise_function(function(parsed, name), step.table)]
        if stripped:
            bare = function(bare_module, name)
            ways.append(raise_function(bare, step.table, example_inputs=real))
        for inputs in (real, randomised(real)):
            expected = run(original, inputs)
            for way in ways:
                assert_same_bits(expected, run(way, inputs))
    return step


def check_all(found: list[Recorded], **options: Any) -> list[ImportedStep]:
    assert found
    return [check(recorded, **options) for recorded in found]


def opaque_targets(step: ImportedStep) -> list[str]:
    """What an import carried through untouched."""
    return [str(info.call.target) for info in step.table if info.call is not None]

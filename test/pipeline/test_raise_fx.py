# ruff: noqa: E501 (IR lines)
"""MLIR to FX: calls by name and schema, segments, transfers, fake values, errors."""

from __future__ import annotations

import operator

import pytest
import torch
from round_trip import check, copy_of, function, imported, record, strip
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch_mlir import ir

from residency import dialect
from residency.dialect import attributes as attr
from residency.pipeline.importer import import_step
from residency.pipeline.raise_fx import (
    TRANSFERS,
    RaiseError,
    literal_of,
    raise_function,
    torch_call,
)

aten = torch.ops.aten


def parse(text):
    return ir.Module.parse(text, dialect.load())


def raised(module, name="forward", table=None, **options):
    return raise_function(function(module, name), table, **options)


def body(module, name="forward"):
    return list(function(module, name).regions[0].blocks[0].operations)


def calls(graph):
    return [n for n in graph.graph.nodes if n.op not in ("placeholder", "output")]


HAND_WRITTEN = """
func.func @forward(%x: !torch.vtensor<[4,8],f32>, %w: !torch.vtensor<[8,2],bf16>) -> (!torch.vtensor<[4,2],f32>, !torch.none) {
  %f32 = torch.constant.int 6
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten.to.dtype %w, %f32, %false, %false, %none : !torch.vtensor<[8,2],bf16>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[8,2],f32>
  %1 = torch.aten.mm %x, %0 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,2],f32> -> !torch.vtensor<[4,2],f32>
  return %1, %none : !torch.vtensor<[4,2],f32>, !torch.none
}
"""


def test_hand_written_function_needs_no_table():
    module = parse(HAND_WRITTEN)
    graph = raised(module)
    cast, product = calls(graph)
    assert (cast.target, cast.args[1:], cast.kwargs) == (aten.to.dtype, (torch.float32,), {})
    assert product.meta["val"].shape == (4, 2)
    x, w = torch.randn(4, 8), torch.randn(8, 2).bfloat16()
    result, nothing = graph(x, w)
    assert torch.equal(result, x @ w.float())
    assert nothing is None


def test_tuple_result_is_taken_apart_where_it_is_read():
    module = parse("""
    func.func @forward(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,2],si64> {
      %two = torch.constant.int 2
      %minus = torch.constant.int -1
      %true = torch.constant.bool true
      %values, %indices = torch.aten.topk %x, %two, %minus, %true, %true : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],si64>
      return %indices : !torch.vtensor<[4,2],si64>
    }""")
    topk, item = calls(raised(module))
    assert (topk.args[1:], topk.kwargs) == ((2,), {})
    assert (item.target, item.args) == (operator.getitem, (topk, 1))
    assert item.meta["val"].dtype == torch.int64


SEGMENTS = """
func.func @forward(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %0:2 = call @seg(%x) : (!torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>)
  %1:2 = call @seg(%0#1) : (!torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>)
  return %1#0, %0#0 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}
func.func private @seg(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %0 = torch.aten.sin %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.exp %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0, %1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}
"""


def test_segment_that_is_called_twice_is_one_module():
    module = parse(SEGMENTS)
    graph = raised(module)
    first, second = [n for n in graph.graph.nodes if n.op == "call_module"]
    assert first.target == second.target == "seg"
    assert len(list(graph.children())) == 1
    x = torch.randn(4)
    assert torch.equal(graph(x)[0], x.sin().exp().sin())
    assert [v.shape for v in first.meta["val"]] == [(4,), (4,)]


def test_call_of_a_function_that_is_not_there_is_an_error():
    module = parse(SEGMENTS)
    function(module, "seg").operation.erase()
    with pytest.raises(RaiseError, match="calls a function that the module does not have: @seg"):
        raised(module)


def test_transfers_are_calls_with_the_symbol_and_the_same_bits():
    module = parse("""
    "residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "host"} : () -> ()
    func.func @forward(%x: !torch.vtensor<[4],f32>, %w: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
      %0 = torch.aten.sin %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
      %1 = "residency.release"(%0, %w) {param = @w} : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
      %p = "residency.offload_start"(%1) {slot = @s} : (!torch.vtensor<[4],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4],f32>>>
      %h = "residency.wait"(%p) : (!residency.pending<!residency.host<!torch.vtensor<[4],f32>>>) -> !residency.host<!torch.vtensor<[4],f32>>
      "residency.free"(%1) : (!torch.vtensor<[4],f32>) -> ()
      %q = "residency.reload_start"(%h) {slot = @s} : (!residency.host<!torch.vtensor<[4],f32>>) -> !residency.pending<!torch.vtensor<[4],f32>>
      %r = "residency.wait"(%q) : (!residency.pending<!torch.vtensor<[4],f32>>) -> !torch.vtensor<[4],f32>
      %2 = torch.aten.cos %r : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
      return %2 : !torch.vtensor<[4],f32>
    }""")
    graph = raised(module)
    release, start = calls(graph)[1:3]
    assert (release.target, release.kwargs) == (TRANSFERS["residency.release"], {"param": "w"})
    assert start.kwargs == {"slot": "s"}
    assert calls(graph)[-1].meta["val"].shape == (4,)
    x = torch.randn(4)
    assert torch.equal(graph(x, x)[0], x.sin().cos())


GATHER = """
"residency.param"() {sym_name = "w", type = !torch.vtensor<[8],f32>, shard = !torch.vtensor<[4],f32>, group = "0"} : () -> ()
func.func @forward(%s: !torch.vtensor<[4],f32>) -> !torch.vtensor<[8],f32> {
  %p = "residency.gather_start"(%s) {param = @w} : (!torch.vtensor<[4],f32>) -> !residency.pending<!torch.vtensor<[8],f32>>
  %w = "residency.wait"(%p) : (!residency.pending<!torch.vtensor<[8],f32>>) -> !torch.vtensor<[8],f32>
  %0 = torch.aten.sin %w : !torch.vtensor<[8],f32> -> !torch.vtensor<[8],f32>
  return %0 : !torch.vtensor<[8],f32>
}
"""


def test_collective_runs_what_is_registered(monkeypatch):
    module = parse(GATHER)
    with pytest.raises(RaiseError, match=r"residency.gather_start at .*nothing is registered"):
        raised(module)
    monkeypatch.setitem(TRANSFERS, "residency.gather_start", lambda s, *, param: torch.cat([s, s]))
    graph = raised(module)
    assert calls(graph)[0].meta["val"].shape == (8,)
    x = torch.randn(4)
    assert torch.equal(graph(x)[0], torch.cat([x, x]).sin())


def test_op_that_torch_does_not_have_is_an_error_with_its_place():
    module = parse("""
    func.func @forward(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
      %0 = torch.operator "torch.nowhere.nothing"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> loc("train.py":7:0)
      return %0 : !torch.vtensor<[4],f32>
    }""")
    with pytest.raises(
        RaiseError, match=r"train.py.*torch has no op of this name: torch.nowhere.nothing"
    ):
        raised(module)


def test_tensor_literal_of_an_upstream_pass_becomes_an_attribute():
    module = parse("""
    func.func @forward(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
      %0 = torch.vtensor.literal(dense<[1.0, -2.5]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
      %1 = torch.aten.mul.Tensor %x, %0 : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
      return %1 : !torch.vtensor<[2],f32>
    }""")
    assert raised(module)(torch.ones(2))[0].tolist() == [1.0, -2.5]


def step_of(function_, *inputs):
    graph = make_fx(function_, tracing_mode="fake")(*inputs)
    return import_step(graph, None, num_user_outputs=0), graph


def test_call_is_written_as_fx_had_written_it():
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.randn(3)
    written = [((x, [0], False), {}), ((x,), {"dim": [0]}), ((x,), {"keepdim": False, "dim": [0]})]
    for args, kwargs in written:
        graph.call_function(aten.sum.dim_IntList, args, kwargs).meta["val"] = torch.randn(())
    graph.output(tuple(graph.nodes)[1:])
    step = import_step(fx.GraphModule(nn.Module(), graph), None, num_user_outputs=0)
    found = [
        (n.args[1:], list(n.kwargs.items())) for n in calls(raised(step.module, table=step.table))
    ]
    assert found == [(args[1:], list(kwargs.items())) for args, kwargs in written]


def test_call_without_a_hint_leaves_defaults_out():
    step, _ = step_of(lambda x: aten.sum.dim_IntList(x, [0], dtype=torch.float64), torch.randn(3))
    (call,) = calls(raised(strip(step.module), table=step.table))
    assert (call.args[1:], call.kwargs) == (([0],), {"dtype": torch.float64})


def test_operand_that_a_pass_changed_is_not_lost_to_the_hint():
    step, _ = step_of(
        lambda x: aten.sum.dim_IntList(x, [0]) + aten.sum.dim_IntList(x, [1], True).sum(),
        torch.randn(3, 3),
    )
    ops = body(step.module)
    true = next(o for o in ops if o.operation.name == "torch.constant.bool" and literal_of(o))
    first = next(o for o in ops if o.operation.name == "torch.aten.sum.dim_IntList")
    first.operation.operands[2] = true.results[0]
    reduced = calls(raised(step.module, table=step.table))[0]
    assert reduced.args[1:] == ([0], True)


def test_clone_of_an_op_keeps_its_value_and_a_new_op_gets_one():
    step, _ = step_of(lambda x: x.sin(), torch.randn(3))
    sin = next(o for o in body(step.module) if o.operation.name == "torch.aten.sin")
    copy = sin.operation.clone(ip=ir.InsertionPoint(body(step.module)[-1]))
    del copy.attributes[attr.FX]
    copy.operands[0] = sin.results[0]
    body(step.module)[-1].operation.operands[0] = copy.results[0]
    first, second = calls(raised(step.module, table=step.table))
    assert first.meta["val"] is step.table[sin.attributes[attr.FX].value].meta["val"]
    assert second.meta["val"].fake_mode is first.meta["val"].fake_mode
    assert second.meta["val"].shape == (3,)


def test_meta_of_fx_comes_back():
    (recorded,) = record(lambda x: x.topk(2)[0] * 2, torch.randn(4).requires_grad_())
    original = recorded.graphs.forward
    step = imported(recorded.graphs)
    graph = raised(step.module, table=step.table)
    originals = {(n.target, n.args[1:]): n for n in calls(original)}
    for node in calls(graph):
        known = originals[node.target, node.args[1:]].meta
        assert node.meta.keys() == known.keys()
        assert all(node.meta[key] is value for key, value in known.items())
    names = [[n.name for n in g.graph.find_nodes(op="placeholder")] for g in (original, graph)]
    assert names[0] == names[1]
    assert graph.graph.output_node().meta.keys() == original.graph.output_node().meta.keys()


def test_inputs_with_other_strides_give_other_values():
    step, _ = step_of(lambda x: x.sin().permute(1, 0), torch.randn(3, 4))
    with step.table.fake_mode:
        example = torch.empty(4, 3).t()
    assert example.shape == (3, 4)
    graph = raised(step.module, table=step.table, example_inputs=[example])
    assert [n.meta["val"].stride() for n in calls(graph)] == [(1, 3), (3, 1)]
    same = raised(step.module, table=step.table, example_inputs=[torch.empty(3, 4)])
    assert calls(same)[-1].meta["val"].stride() == (1, 4)


def test_number_of_example_inputs_is_checked():
    step, _ = step_of(lambda x: x.sin(), torch.randn(3))
    with pytest.raises(RaiseError, match="needs 1 example inputs, got: 2"):
        raised(step.module, table=step.table, example_inputs=[torch.empty(3)] * 2)


def test_symbolic_inputs_add_no_guard():
    (recorded,) = record(
        lambda x: (x @ x.t()).sin(), torch.randn(4, 6).requires_grad_(), dynamic=True
    )
    step = check(recorded)
    environment = step.table.fake_mode.shape_env
    examples = [n.meta["val"] for n in recorded.graphs.forward.graph.find_nodes(op="placeholder")]
    before = len(environment.guards)
    raised(step.module, table=step.table, example_inputs=examples)
    assert len(environment.guards) == before


def test_torch_call_gives_ssa_values_and_python_constants():
    step, _ = step_of(lambda x: x.view(2, 3).to(torch.float64) * 2, torch.randn(6))
    argument = function(step.module, "forward").regions[0].blocks[0].arguments[0]
    found = {
        op.operation.name: torch_call(op, step.table)
        for op in body(step.module)
        if op.operation.name.startswith("torch.aten")
    }
    assert found["torch.aten.view"] == (aten.view.default, (argument, [2, 3]), {})
    target, args, kwargs = found["torch.aten.mul.Scalar"]
    assert (target, args[1:], kwargs) == (aten.mul.Tensor, (2,), {})
    casts = [c for c in found.values() if c[0] is aten._to_copy.default]
    assert casts[0][2] == {"dtype": torch.float64}


def evaluate(func, table, *inputs):
    """Runs a function op by op with `torch_call`, as the emitted driver does."""
    block = func.regions[0].blocks[0]
    values = dict(zip(block.arguments, inputs, strict=True))
    for op in block.operations:
        if op.operation.name == "func.return":
            return [values[v] for v in op.operands]
        if op.operation.name.startswith("torch.constant."):
            values[op.results[0]] = literal_of(op)
            continue
        target, args, kwargs = torch_call(op, table)
        args, kwargs = torch.utils._pytree.tree_map(
            lambda a: values[a] if isinstance(a, ir.Value) else a, (args, kwargs)
        )
        results = target(*args, **kwargs)
        results = [results] if len(op.results) == 1 else results
        values.update(zip(op.results, results, strict=True))
    raise AssertionError("no return")


def test_torch_call_runs_whole_functions():
    layer = nn.Linear(6, 6)

    def step(x):
        a, b = layer(x).split(3, 1)
        strided = torch.as_strided(a * 1, (2, 2), (3, 1))
        return torch.cond(
            x.sum() > 0, lambda y: (y.sin(), y * 2), lambda y: (y.cos(), y + 2), (b,)
        ), strided

    (recorded,) = record(step, torch.randn(4, 6).requires_grad_())
    imported_ = check(recorded)
    for name, original in (
        ("forward", recorded.graphs.forward),
        ("backward", recorded.graphs.backward),
    ):
        inputs = recorded.inputs[name]
        with torch.no_grad():
            expected = torch.fx.Interpreter(original).run(*[copy_of(i) for i in inputs])
            found = evaluate(function(imported_.module, name), imported_.table, *inputs)
        for a, b in zip(expected, found, strict=True):
            assert (a is None and b is None) or torch.equal(a, b)


def test_opaque_call_with_structure_is_flattened():
    @torch.library.custom_op("residency_test::nested", mutates_args=())
    def nested(x: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        return x + 1, [x * 2, x * 3]

    @nested.register_fake
    def _(x):
        return torch.empty_like(x), [torch.empty_like(x), torch.empty_like(x)]

    def step(x):
        x.copy_(x * 2)
        first, rest = torch.ops.residency_test.nested(x)
        return first, *rest

    (recorded,) = record(step, torch.randn(3))
    imported_ = check(recorded)
    x = torch.randn(3)
    found = evaluate(function(imported_.module, "forward"), imported_.table, x.clone())
    assert [torch.equal(f, e) for f, e in zip(found, [x * 2 + 1, x * 4, x * 6], strict=True)]


def test_opaque_call_needs_its_table():
    step, _ = step_of(lambda x: torch.as_strided(x, (2,), (1,)), torch.randn(3))
    with pytest.raises(RaiseError, match="needs the node table of its import, got an opaque call"):
        raised(step.module)


def test_inputs_with_other_strides_reach_sub_graphs():
    def step(x):
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))

    (recorded,) = record(step, torch.randn(3, 4))
    imported_ = check(recorded)
    example = torch.randn(4, 3).t()
    graph = raised(imported_.module, table=imported_.table, example_inputs=[example])
    assert graph.graph.find_nodes(op="placeholder")[0].meta["val"].stride() == (1, 3)
    assert torch.equal(graph(example)[0], step(example))


def test_table_has_a_value_for_each_result():
    def step(x):
        x.copy_(x * 2)
        a, b = x.topk(2)
        return torch.cond(
            a.sum() > 0, lambda y: (y + 1, y - 1), lambda y: (y * 2, y + 3), (a,)
        ), b.split(1)

    (recorded,) = record(lambda x: step(x * 1), torch.randn(4))
    imported_ = check(recorded)
    for op in body(imported_.module):
        if attr.FX not in op.attributes or op.operation.name == "func.return":
            continue
        values = imported_.table[op.attributes[attr.FX].value].values(len(op.results))
        assert len(values) == len(op.results)
        for result, value in zip(op.results, values, strict=True):
            if isinstance(value, torch.Tensor):
                assert str(result.type).startswith(
                    f"!torch.vtensor<[{','.join(map(str, value.shape))}]"
                )

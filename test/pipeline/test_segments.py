"""Segments run node by node, what makes two of them equal, and their errors."""

from __future__ import annotations

import math
import operator
import weakref

import pytest
import torch
from small_transformer import Transformer, cut_backend, losses_and_gradients, node_by_node
from test_segments_inductor import built, sine
from torch import fx

from residency.pipeline.segments import SegmentCompiler, SegmentError, compile_segment, restride
from residency.pipeline.torch_private import new_fake_mode

aten = torch.ops.aten


def eager(gm: fx.GraphModule, fakes: list):
    return compile_segment(gm, fakes, mode="eager")


@pytest.mark.parametrize("count", [1, 3, 6])
def test_cut_graphs_have_the_bits_of_an_interpreter(count):
    compiler = SegmentCompiler("eager")
    got = losses_and_gradients(Transformer(), cut_backend(compiler, count))
    expected = losses_and_gradients(Transformer(), node_by_node())
    assert compiler.compiled + compiler.shared == 2 * count
    assert all(torch.equal(a, b) for a, b in zip(expected, got, strict=True))


def test_a_symbolic_batch_runs_node_by_node():
    shapes, compiler = ((2, 6), (3, 6), (5, 6)), SegmentCompiler("eager")
    model = Transformer(layers=1)
    got = losses_and_gradients(model, cut_backend(compiler, 3), shapes, any_batch=True)
    expected = losses_and_gradients(model, node_by_node(), shapes, any_batch=True)
    assert compiler.compiled + compiler.shared == 6
    assert all(torch.equal(a, b) for a, b in zip(expected, got, strict=True))


def test_equal_layers_share_code_when_cut_at_their_period():
    compiler = SegmentCompiler("eager")
    backend = cut_backend(
        compiler, at=lambda n: n.target is aten.native_layer_norm.default, decompositions={}
    )
    got = losses_and_gradients(Transformer(layers=6), backend)
    expected = losses_and_gradients(Transformer(layers=6), node_by_node())
    assert compiler.shared >= 4
    assert all(torch.equal(a, b) for a, b in zip(expected, got, strict=True))


def test_values_and_inputs_are_dropped_after_their_last_use():
    alive: list[bool] = []
    watched: list[weakref.ref] = []

    def watch(x: torch.Tensor) -> torch.Tensor:
        alive.append(any(r() is not None for r in watched))
        watched.append(weakref.ref(x))
        return x + 1

    graph = fx.Graph()
    value = graph.placeholder("x")
    for _ in range(3):
        value = graph.call_function(watch, (value,))
        value = graph.call_function(aten.sin.default, (value,))
    graph.output((value,))
    gm = fx.GraphModule({}, graph)
    fn = eager(gm, [new_fake_mode().from_tensor(torch.ones(4))]).fn
    watched.clear()
    alive.clear()
    (out,) = fn([torch.ones(4)])
    assert alive == [False, False, False] and all(r() is None for r in watched)
    assert torch.equal(out, torch.ones(4).add(1).sin().add(1).sin().add(1).sin())


def test_every_form_of_call_and_argument():
    class Scale(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    graph = fx.Graph()
    x = graph.placeholder("x")
    module = graph.call_module("scale", (x,))
    method = graph.call_method("add", (module,), {"other": graph.get_attr("constant"), "alpha": 3})
    clamped = graph.call_function(aten.clamp.default, (method,), {"min": -math.inf, "max": 9.5})
    part = graph.call_function(
        operator.getitem, (clamped, (slice(0, 2), slice(None, None, 2), None))
    )
    wide = graph.call_function(aten.to.dtype, (part, torch.float64))
    predicate = graph.call_function(
        aten.gt.Scalar, (graph.call_function(aten.sum.default, (wide,)), 0)
    )
    either = graph.call_function(
        torch.ops.higher_order.cond,
        (predicate, graph.get_attr("yes"), graph.get_attr("no"), (wide,)),
    )
    graph.output((graph.call_function(operator.getitem, (either, 0)), None, 7, x, x))
    branches = {
        name: fx.symbolic_trace(function)
        for name, function in {"yes": lambda t: (t.sin(),), "no": lambda t: (t.cos(),)}.items()
    }
    gm = fx.GraphModule({"scale": Scale(), "constant": torch.full((3, 4), 0.5), **branches}, graph)
    value = torch.randn(3, 4)
    fake = new_fake_mode().from_tensor(value, static_shapes=True)
    segment = eager(gm, [fake])
    args = [value]
    got, expected = segment.fn(args), gm(value)
    assert args == [] and segment.fn._boxed_call
    assert torch.equal(got[0], expected[0]) and got[1:3] == (None, 7) and got[3] is got[4] is value
    assert segment.output_strides == [got[0].stride(), None, None, (4, 1), (4, 1)]


def test_strides_are_those_of_the_inputs_given_not_of_the_trace():
    gm, fakes = built(sine, torch.randn(4, 6))
    turned = restride(fakes[0], (1, 4))
    segment = eager(gm, [turned])
    (out,) = segment.fn([torch.randn(6, 4).t()])
    assert segment.output_strides == [out.stride()] == [(1, 4)]


def key(build, *inputs, **changes) -> str:
    gm, fakes = built(build, *inputs)
    gm.graph.meta = {}
    options = {
        "is_backward": True,
        "is_inference": False,
        "user_visible": frozenset(),
        "donated": frozenset(),
    }
    return SegmentCompiler("inductor").key(gm, fakes, **{**options, **changes})


def plus(constant: object):
    return lambda graph, x: [graph.call_function(aten.add.Tensor, (x, constant))]


def test_segments_that_differ_do_not_share():
    x = torch.randn(4, 4)
    keys = [
        key(sine, x),
        key(sine, x.t()),
        key(sine, x[:2]),
        key(sine, x.double()),
        key(sine, torch.randn(5, 4)[1:]),
        key(sine, x, user_visible=frozenset({0})),
        key(sine, x, donated=frozenset({0})),
        key(sine, x, is_backward=False),
        key(sine, x, is_inference=True),
        *(key(plus(c), x) for c in (1, 1.0, True, 0.0, -0.0, math.inf, math.nan)),
        key(lambda graph, x, y: sine(graph, x), x, x),
        key(lambda graph, x, y: sine(graph, y), x, x),
        key(lambda graph, x, n: sine(graph, x), x, 1),
        key(lambda graph, x, n: sine(graph, x), x, 2),
    ]
    assert len(set(keys)) == len(keys)
    assert key(sine, x) == key(sine, torch.randn(4, 4))


def test_hints_that_the_compiler_reads_are_part_of_a_segment():
    def hinted(hint: dict):
        def build(graph, x):
            (node,) = sine(graph, x)
            node.meta.update(hint)
            return [node]

        return build

    x = torch.randn(4, 4)
    keys = {
        key(hinted(hint), x)
        for hint in (
            {},
            {"inductor_realize_to_strides": True},
            {"eager_input_vals": ((x,), {})},
            {"eager_input_vals": ((x.t(),), {})},
        )
    }
    assert len(keys) == 4


def test_constant_tensors_are_shared_by_identity_only():
    compiler, x = SegmentCompiler("eager"), torch.randn(3)

    def segment(constant: torch.Tensor):
        graph = fx.Graph()
        total = graph.call_function(aten.add.Tensor, (graph.placeholder("x"), graph.get_attr("c")))
        graph.output((total,))
        gm = fx.GraphModule({"c": torch.nn.Buffer(constant)}, graph)
        mode = new_fake_mode()
        return compiler.compile(gm, [mode.from_tensor(x, static_shapes=True)]).fn

    # Each constant dies with its graph: an address must not be taken for a constant.
    for value in range(20):
        assert torch.equal(segment(torch.full((3,), float(value)))([x])[0], x + value)
    assert (compiler.compiled, compiler.shared) == (20, 0)


def test_restride_keeps_sizes_and_adds_no_guard():
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext

    mode = new_fake_mode()
    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC, DimDynamic.STATIC])
    fake = mode.from_tensor(torch.randn(6, 4), symbolic_context=context)
    before = len(mode.shape_env.guards)
    turned = restride(fake, (1, fake.shape[0]))
    assert turned.shape == fake.shape and str(turned.stride()) == f"(1, {fake.shape[0]})"
    assert restride(fake, fake.stride()) is fake
    assert restride(7, None) == 7
    assert len(mode.shape_env.guards) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "fast"}, "got: 'fast'"),
        ({"user_visible": frozenset({1})}, "user_visible must be below 1, got: 1"),
        ({"donated": frozenset({-1})}, "donated must be below 1, got: -1"),
        ({"fake_inputs": []}, "takes 1 inputs, got: 0"),
    ],
)
def test_requests_that_make_no_sense_are_refused(options, message):
    gm, fakes = built(sine, torch.randn(2))
    with pytest.raises(SegmentError, match=message):
        compile_segment(gm, **{"fake_inputs": fakes, **options})

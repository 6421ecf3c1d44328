"""Segments compiled by Inductor against torch.compile, bit for bit. Each cold compilation costs seconds: keep them few."""

from __future__ import annotations

import pytest
import torch
from small_transformer import Transformer, cut_backend, losses_and_gradients
from torch import fx, nn

from residency.pipeline.segments import SegmentCompiler, compile_segment
from residency.pipeline.torch_private import new_fake_mode, propagate

aten = torch.ops.aten


def built(build, *inputs: object) -> tuple[fx.GraphModule, list]:
    """A graph that `build(graph, *placeholders)` fills, with fake values for real or fake `inputs`."""
    mode, graph = new_fake_mode(), fx.Graph()
    nodes = [graph.placeholder(f"in{i}") for i in range(len(inputs))]
    graph.output(tuple(build(graph, *nodes)))
    fakes = [
        mode.from_tensor(x, static_shapes=True) if isinstance(x, torch.Tensor) else x
        for x in inputs
    ]
    gm = fx.GraphModule({}, graph)
    propagate(gm, fakes, mode)
    return gm, fakes


def square(graph: fx.Graph, x: fx.Node) -> list[fx.Node]:
    return [graph.call_function(aten.mul.Tensor, (x, x))]


def sine(graph: fx.Graph, x: fx.Node) -> list[fx.Node]:
    return [graph.call_function(aten.sin.default, (x,))]


@pytest.fixture(scope="module")
def reference():
    return losses_and_gradients(Transformer(), "inductor")


@pytest.mark.parametrize(("forward", "backward"), [(1, 1), (3, 6)])
def test_cut_graphs_have_the_bits_of_torch_compile(reference, forward, backward):
    compiler = SegmentCompiler("inductor")
    backend = cut_backend(compiler, forward, backward, donate=True)
    got = losses_and_gradients(Transformer(), backend)
    assert compiler.compiled + compiler.shared == forward + backward
    assert all(torch.equal(a, b) for a, b in zip(reference, got, strict=True))


class Classifier(nn.Module):
    """Dropout, a loss and a batch of any size. From 4 rows on, Inductor's own rules set no limits on the size."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(
            nn.Embedding(40, 8), nn.Linear(8, 8), nn.Dropout(0.3), nn.Linear(8, 8)
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.layers(ids).tanh().mean()


def test_a_symbolic_batch_compiles_once():
    shapes, compiler = ((6, 6), (4, 6), (9, 6)), SegmentCompiler("inductor")
    expected = losses_and_gradients(Classifier(), "inductor", shapes, any_batch=True)
    got = losses_and_gradients(Classifier(), cut_backend(compiler, 2), shapes, any_batch=True)
    assert compiler.compiled == 4
    assert all(torch.equal(a, b) for a, b in zip(expected, got, strict=True))


def test_only_donated_inputs_are_overwritten():
    x = torch.randn(64)

    def result(donated: frozenset[int]) -> tuple[torch.Tensor, torch.Tensor]:
        gm, fakes = built(square, x)
        segment = compile_segment(gm, fakes, is_backward=True, donated=donated)
        given = x.clone()
        (out,) = segment.fn([given])
        return given, out

    given, out = result(frozenset())
    assert torch.equal(given, x) and torch.equal(out, x * x)
    given, out = result(frozenset({0}))
    assert out.data_ptr() == given.data_ptr() and torch.equal(out, x * x)


def test_reported_strides_are_those_of_what_is_returned():
    def transposed(graph, x):
        square = graph.call_function(aten.mul.Tensor, (x, x))
        flat = graph.call_function(aten.permute.default, (square, [1, 0]))
        return [graph.call_function(aten.clone.default, (flat,)), flat]

    x = torch.randn(4, 6)
    for visible in (frozenset(), frozenset({0, 1})):
        gm, fakes = built(transposed, x)
        segment = compile_segment(gm, fakes, user_visible=visible)
        given = [x]
        out = segment.fn(given)
        assert given == []
        assert [o.stride() for o in out] == segment.output_strides
        assert [o.stride() for o in segment.outputs] == segment.output_strides
        assert torch.equal(out[0], (x * x).t())
    assert segment.output_strides[0] == (x * x).t().clone().stride()


def test_equal_segments_get_one_callable_whatever_their_names():
    compiler = SegmentCompiler("inductor")
    first = compiler.compile(*built(sine, torch.randn(8)))
    gm, fakes = built(sine, torch.randn(8))
    for node in gm.graph.nodes:
        node.name = f"other_{node.name}"
    assert compiler.compile(gm, fakes).fn is first.fn
    assert (compiler.compiled, compiler.shared) == (1, 1) and compiler.seconds > 0


def test_numbers_and_none_among_the_inputs():
    def scaled(graph, x, factor, nothing):
        return [graph.call_function(aten.mul.Tensor, (x, factor)), factor, nothing]

    x = torch.randn(8)
    segment = compile_segment(*built(scaled, x, 3, None))
    out = segment.fn([x, 3, None])
    assert torch.equal(out[0], x * 3) and out[1:] == (3, None)
    assert segment.output_strides == [(1,), None, None]

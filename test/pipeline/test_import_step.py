"""The module of a step: slots, kinds, locations, and what does not matter to it."""

from __future__ import annotations

import pytest
import torch
from round_trip import check, function, imported, record
from torch import fx, nn
from torch_mlir import ir

from residency.pipeline.capture import capture, capture_graphs
from residency.pipeline.importer import StepError, import_step


def leaf(*shape):
    return torch.randn(*shape).requires_grad_()


def slots(module):
    found = [op for op in module.body.operations if op.operation.name == "residency.slot"]
    return {op.attributes["sym_name"].value: op.attributes for op in found}


def argument_attributes(step, name):
    return list(function(step.module, name).attributes["arg_attrs"])


def slot_names(dicts):
    return [d["residency.slot"].value if "residency.slot" in d else None for d in dicts]


def kinds(step, name):
    return [d["residency.kind"].value for d in argument_attributes(step, name)]


def stays(step):
    return {
        name: known["stays"].value for name, known in slots(step.module).items() if "stays" in known
    }


def graph_of(values, outputs):
    """A graph with a placeholder per value; `outputs` are numbers of placeholders or None."""
    graph = fx.Graph()
    nodes = []
    for index, value in enumerate(values):
        nodes.append(graph.placeholder(f"x{index}"))
        nodes[-1].meta["val"] = value
    graph.output(tuple(None if i is None else nodes[i] for i in outputs))
    return fx.GraphModule(nn.Module(), graph)


def test_forward_result_and_backward_argument_carry_one_slot():
    (recorded,) = record(lambda x, w: (x @ w).sin(), leaf(3, 4), leaf(4, 5))
    step = imported(recorded.graphs)
    results = slot_names(function(step.module, "forward").attributes["res_attrs"])
    saved = [name for name in results if name]
    assert results[: recorded.graphs.num_user_outputs] == [None]
    assert tuple(saved) == step.saved == ("saved_0", "saved_1", "saved_2")
    assert slot_names(argument_attributes(step, "backward")) == [*saved, None]
    assert kinds(step, "backward") == ["saved", "saved", "saved", "tangent"]
    for name, known in slots(step.module).items():
        index = results.index(name)
        returned = function(step.module, "forward").attributes["function_type"].value.results
        assert known["type"].value == returned[index]
        assert known["tier"].value == "device"


def test_value_that_is_saved_twice_has_one_slot():
    x = torch.randn(3)
    forward = graph_of([x, x], [0, 1, 0, 1])
    backward = graph_of([x, x, x, x], [0, 1, 2, 3])
    step = import_step(forward, backward, num_user_outputs=1)
    assert step.saved == ("saved_0", "saved_1", "saved_0")
    assert slot_names(argument_attributes(step, "backward")) == [
        "saved_0",
        "saved_1",
        "saved_0",
        None,
    ]
    assert len(slots(step.module)) == 2


def test_value_that_is_returned_and_saved_has_a_slot_on_the_saved_result_only():
    x = torch.randn(3)
    forward = graph_of([x], [0])
    with forward.graph.inserting_before(forward.graph.output_node()):
        sin = forward.graph.call_function(
            torch.ops.aten.sin.default, (forward.graph.output_node().args[0][0],)
        )
    sin.meta["val"] = x
    forward.graph.output_node().args = ((sin, sin),)
    step = import_step(forward, graph_of([x, x], [0]), num_user_outputs=1)
    assert slot_names(function(step.module, "forward").attributes["res_attrs"]) == [None, "saved_0"]
    terminator = list(function(step.module, "forward").regions[0].blocks[0].operations)[-1]
    assert len(set(terminator.operands)) == 1
    assert stays(step) == {}


def test_values_that_can_never_move_say_why():
    (recorded,) = record(lambda x, w: x * w * x.shape[0], leaf(3, 4), leaf(3, 4), dynamic=True)
    step = check(recorded)
    assert set(stays(step).values()) == {"graph input: the caller holds it", "symbolic integer"}
    assert kinds(step, "backward") == ["saved"] * len(step.saved) + ["tangent"]
    assert kinds(step, "forward").count("symint") == 2


def test_symbolic_numbers_come_first_in_backward():
    (recorded,) = record(lambda x: x.sin() * x.shape[0], leaf(3, 4), dynamic=True)
    step = check(recorded)
    results = function(step.module, "forward").attributes["function_type"].value.results
    numbers = [str(r) == "!torch.int" for r in results[-len(step.saved) :]]
    assert numbers == sorted(numbers)
    assert any(numbers)
    first = [name for name, number in zip(step.saved, numbers, strict=True) if number]
    rest = [name for name, number in zip(step.saved, numbers, strict=True) if not number]
    assert slot_names(argument_attributes(step, "backward")) == [*first, *rest, None]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (torch.Generator(), "not a tensor"),
        (torch.eye(3).to_sparse(), "sparse layout: torch.sparse_coo"),
    ],
)
def test_objects_and_sparse_tensors_stay(value, why):
    x = torch.randn(3)
    graph = graph_of([x, value], [0, 1])
    step = import_step(graph, graph_of([value, x], [1]), num_user_outputs=1)
    assert stays(step) == {"saved_0": why}
    assert kinds(step, "forward") == ["input", "opaque"]
    assert kinds(step, "backward") == ["saved", "tangent"]


def test_value_on_another_device_than_the_step_stays():
    forward = fx.Graph()
    x = forward.placeholder("x")
    x.meta["val"] = torch.empty(3, device="meta")
    count = forward.call_function(torch.ops.aten.zeros.default, ([2],))
    count.meta["val"] = torch.empty(2)
    forward.output((x, count))
    forward = fx.GraphModule(nn.Module(), forward)
    backward = graph_of([torch.empty(2), torch.empty(3)], [0])
    # No accelerator here: the device of the step is given by the only kind of tensor that is not on the CPU.
    fake = torch._subclasses.FakeTensorMode()
    with fake:
        x.meta["val"] = torch.empty(3, device="cuda:0")
    step = import_step(forward, backward, num_user_outputs=1)
    assert stays(step) == {"saved_0": "on cpu while the step runs on cuda:0"}


def test_parameters_and_buffers_are_told_from_inputs():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    (graphs,) = capture_graphs(lambda x: model(x).sum(), torch.randn(3, 4))
    step = imported(graphs)
    count = len(list(model.parameters())) + len(list(model.buffers()))
    assert kinds(step, "forward").count("param") == count
    assert kinds(step, "forward").count("input") == 1


def test_names_of_nodes_change_nothing():
    model = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 4))
    (graphs,) = capture_graphs(lambda x: model(x).split(2, 1)[1].topk(2), torch.randn(3, 4))
    before = imported(graphs)
    for graph in (graphs.forward, graphs.backward):
        for index, node in enumerate(reversed(graph.graph.nodes)):
            node.name = f"renamed_{index}"
            if node.op == "placeholder":
                node.target = f"argument_{index}"
    after = imported(graphs)
    assert str(before.module) == str(after.module)
    assert before.saved == after.saved


def test_locations_are_the_user_s_lines():
    def step(x):
        return x.sin().sum()

    line = step.__code__.co_firstlineno + 1
    (graphs,) = capture_graphs(step, leaf(3))
    text = imported(graphs).module.operation.get_asm(enable_debug_info=True)
    assert f'loc("{__file__}":{line}:0)' in text


def test_graphs_that_do_not_belong_together_are_refused():
    forward = graph_of([torch.randn(3)], [0, 0])
    with pytest.raises(
        StepError, match=r"backward argument 0 is saved as .*\[3\].*taken as: .*\[4\]"
    ):
        import_step(forward, graph_of([torch.randn(4)], [0]), num_user_outputs=1)
    with pytest.raises(
        StepError, match="forward saves 1 values, more than backward's arguments: 0"
    ):
        import_step(forward, graph_of([], []), num_user_outputs=1)


def test_inference_has_no_backward_and_no_slots():
    with torch.no_grad():
        module = capture(nn.Linear(3, 3), torch.randn(2, 3))
    assert slots(module) == {}
    names = [op.attributes["sym_name"].value for op in module.body.operations]
    assert names == ["forward"]


def test_capture_takes_a_loss_and_can_be_repeated():
    model = nn.Linear(3, 3)
    texts = {str(capture(model, torch.ones(2, 3), loss=lambda y: y.sum())) for _ in range(12)}
    assert len(texts) == 1
    assert all(isinstance(ir.Module.parse(t, capture_context()), ir.Module) for t in texts)


def capture_context():
    from residency import dialect

    return dialect.load()

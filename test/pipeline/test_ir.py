"""Helpers over the bindings: signatures stay consistent with attributes and the return op."""

import time

import pytest
from torch_mlir import ir

from residency.dialect import HostType, load
from residency.dialect import attributes as attr
from residency.pipeline import ir as rir
from residency.pipeline.passes.check_placed import CheckPlaced

TEXT = """
"residency.param"() {sym_name = "w", type = tensor<8xf32>, shard = tensor<4xf32>, group = "0"} : () -> ()
"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "device"} : () -> ()
func.func @forward(%x: tensor<4xf32> {residency.kind = "input"}, %n: i32, %y: tensor<8xf32> {residency.kind = "param"})
    -> (tensor<4xf32>, tensor<4xf32> {residency.slot = @s}) {
  %h = "residency.offload"(%x) {slot = @s} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>>
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @forward_seg_0() {
  return
}
func.func private @declared()
"""


@pytest.fixture
def module() -> ir.Module:
    return ir.Module.parse(TEXT, load())


@pytest.fixture
def forward(module: ir.Module):
    return rir.function(module, "forward")


def kinds(func) -> list[str | None]:
    return [
        rir.string(a[attr.KIND]) if attr.KIND in a else None for a in rir.argument_attributes(func)
    ]


def test_functions_and_symbols_are_found_by_their_sort(module: ir.Module) -> None:
    assert [rir.symbol_name(f) for f in rir.functions(module)] == [
        "forward",
        "forward_seg_0",
        "declared",
    ]
    assert [rir.symbol_name(f) for f in rir.entries(module)] == ["forward"]
    assert [rir.symbol_name(f) for f in rir.segments(module)] == ["forward_seg_0"]
    assert list(rir.slots(module)) == ["s"]
    assert list(rir.params(module)) == ["w"]
    with pytest.raises(KeyError, match="the module has no function: @backward"):
        rir.function(module, "backward")
    with pytest.raises(ValueError, match="must be straight-line code, got blocks: 0"):
        rir.block(rir.function(module, "declared"))


def test_a_walk_sees_ops_in_program_order(module: ir.Module) -> None:
    names = [op.operation.name for op in rir.walk(module)]
    assert names == [
        "residency.param",
        "residency.slot",
        "func.func",
        "residency.offload",
        "func.return",
        "func.func",
        "func.return",
        "func.func",
    ]


def test_the_op_at_hand_may_be_erased_while_walking(module: ir.Module) -> None:
    for op in rir.walk(module):
        if op.operation.name == "residency.offload":
            rir.erase(op)
    assert "residency.offload" not in str(module)


def test_an_argument_can_be_added_anywhere(module: ir.Module, forward) -> None:
    type_ = ir.Type.parse("tensor<2xf32>", module.context)
    kind = {attr.KIND: ir.StringAttr.get("tangent", module.context)}
    value = rir.add_argument(forward, type_, kind, 1)
    assert value == rir.block(forward).arguments[1]
    assert kinds(forward) == ["input", "tangent", None, "param"]
    assert [str(a.type) for a in rir.block(forward).arguments] == [
        "tensor<4xf32>",
        "tensor<2xf32>",
        "i32",
        "tensor<8xf32>",
    ]
    assert module.operation.verify()


def test_an_argument_that_is_used_moves_with_its_uses(module: ir.Module, forward) -> None:
    rir.add_argument(forward, ir.Type.parse("i8", module.context), {}, 0)
    first = rir.block(forward).arguments[1]
    assert [v == first for v, _ in rir.results(forward)] == [True, True]
    assert rir.block(forward).operations[0].operands[0] == first
    assert module.operation.verify()


def test_only_unused_arguments_can_be_removed(module: ir.Module, forward) -> None:
    rir.remove_argument(forward, 1)
    assert kinds(forward) == ["input", "param"]
    with pytest.raises(ValueError, match="@forward: an argument that is used cannot go: 0"):
        rir.remove_argument(forward, 0)
    assert module.operation.verify()


def test_arguments_can_be_set_at_once(module: ir.Module, forward) -> None:
    x, n, y = rir.arguments(forward)
    host = ir.Type.parse("!residency.host<tensor<4xf32>>", module.context)
    values = rir.set_arguments(forward, [y, (host, {}), x])
    assert len(values) == 3
    assert isinstance(values[1].type, HostType)
    assert kinds(forward) == ["param", None, "input"]
    assert rir.return_op(forward).operands[0] == values[2]
    assert module.operation.verify()
    del n


def test_results_keep_their_attributes(module: ir.Module, forward) -> None:
    y = rir.block(forward).arguments[2]
    rir.add_result(forward, y, index=0)
    assert [rir.slot_of(a) for a in rir.result_attributes(forward)] == [None, None, "s"]
    assert module.operation.verify()
    rir.remove_result(forward, 1)
    assert [rir.slot_of(a) for a in rir.result_attributes(forward)] == [None, "s"]
    assert module.operation.verify()
    host = rir.block(forward).operations[0].results[0]
    rir.replace_result(forward, 1, host)
    assert [rir.slot_of(a) for a in rir.result_attributes(forward)] == [None, "s"]
    assert rir.return_op(forward).operands[1] == host
    assert module.operation.verify()


def test_the_return_op_keeps_its_attributes(module: ir.Module, forward) -> None:
    handle = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, module.context), 7)
    rir.return_op(forward).attributes[attr.FX] = handle
    rir.remove_result(forward, 0)
    assert rir.return_op(forward).attributes[attr.FX] == handle


def test_a_type_can_change_in_place(module: ir.Module, forward) -> None:
    rir.set_argument_type(forward, 1, ir.Type.parse("i64", module.context))
    assert str(forward.attributes["function_type"]).startswith(
        "(tensor<4xf32>, i64, tensor<8xf32>)"
    )
    assert module.operation.verify()


def test_attributes_of_all_can_be_dropped(module: ir.Module, forward) -> None:
    rir.set_argument_attributes(forward, [{}, {}, {}])
    rir.set_result_attributes(forward, [{}, {}])
    assert "arg_attrs" not in forward.attributes
    assert "res_attrs" not in forward.attributes
    assert rir.argument_attributes(forward) == [{}, {}, {}]


def test_a_clone_reads_the_mapped_values(module: ir.Module, forward) -> None:
    offload = rir.block(forward).operations[0]
    x = rir.block(forward).arguments[0]
    fresh = rir.add_argument(forward, x.type)
    mapping = {x: fresh}
    copy = rir.clone(offload, mapping, rir.after(offload))
    assert copy.operands[0] == fresh
    assert mapping[offload.results[0]] == copy.results[0]
    assert rir.block(forward).operations[1] == copy
    assert module.operation.verify()


def test_an_op_in_use_cannot_be_erased(module: ir.Module, forward) -> None:
    offload = rir.block(forward).operations[0]
    rir.replace_result(forward, 0, offload.results[0])
    with pytest.raises(ValueError, match=r"cannot go: residency\.offload$"):
        rir.erase(offload)


def test_uses_can_be_replaced_but_for_one_user(module: ir.Module, forward) -> None:
    x = rir.block(forward).arguments[0]
    fresh = rir.add_argument(forward, x.type)
    rir.replace_uses(x, fresh, but=[rir.block(forward).operations[0]])
    assert [u.name for u in rir.users(x)] == ["residency.offload"]
    assert {u.name for u in rir.users(fresh)} == {"func.return"}
    assert len(rir.users(fresh)) == 2


LOCATIONS = {
    'loc("model.py":3:4)': "model.py:3",
    'loc("mul"("model.py":3:4))': "model.py:3",
    'loc(callsite("f"("a.py":1:2) at "b.py":3:4))': "a.py:1",
    'loc(callsite("f" at "b.py":3:4))': "b.py:3",
    'loc(fused["mul", "b.py":3:4, "c.py":5:6])': "b.py:3",
    'loc("mul")': None,
    "loc(unknown)": None,
}


@pytest.mark.parametrize("text", LOCATIONS)
def test_locations_lead_to_a_source_line(text: str) -> None:
    module = ir.Module.parse(f"module {{}} {text}", load())
    assert rir.source_line(module.operation.location) == LOCATIONS[text]


def step(ops: int) -> ir.Module:
    value = "!torch.vtensor<[4],f32>"
    body = "\n".join(f"  %{i + 1} = torch.aten.tanh %{i} : {value} -> {value}" for i in range(ops))
    text = f"func.func @forward(%0: {value}) -> {value} {{\n{body}\n  return %{ops} : {value}\n}}"
    # An identifier of digits cannot name an argument, so all get a letter.
    return ir.Module.parse(text.replace("%", "%v"), load())


def test_gates_are_linear_in_ops() -> None:
    seconds = {}
    for ops in (1000, 8000):
        module = step(ops)
        runs = []
        for _ in range(3):
            began = time.process_time()
            assert CheckPlaced().apply(module) == []
            runs.append(time.process_time() - began)
        seconds[ops] = min(runs)
    # Quadratic would be 64 times as long.
    assert seconds[8000] < 24 * seconds[1000]

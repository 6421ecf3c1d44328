"""Aliases and writes are told from schemas: all of ATen's views, lists of pieces, and what has no schema."""

import pytest
import torch
from torch_mlir import ir

from residency import dialect
from residency.pipeline.analysis.aliases import Aliases
from residency.pipeline.analysis.effects import effects_of
from residency.pipeline.analysis.views import chain_of, is_view
from residency.pipeline.ir import function, return_op
from residency.pipeline.passes.insert_releases import InsertReleases

TENSOR, LIST = "!torch.vtensor<[4,6],f32>", "!torch.list<vtensor<[4,6],f32>>"
TYPES = {"Tensor": TENSOR, "Tensor[]": LIST, "List[Tensor]": LIST, "Tensor?": TENSOR}


def view_schemas() -> list[torch.FunctionSchema]:
    """Every functional ATen op whose result shares the storage of its first argument, as its schema says."""
    found = []
    for schema in torch._C._jit_get_all_schemas():
        name, overload = schema.name.removeprefix("aten::"), schema.overload_name
        packet = getattr(torch.ops.aten, name, None) if schema.name.startswith("aten::") else None
        if packet is None or (overload or "default") not in packet.overloads():
            continue
        info = schema.arguments[0].alias_info if schema.arguments else None
        # Lists of strings and the like alias in TorchScript alone; a graph has no such value.
        tensors = str(schema.arguments[0].type) == "Tensor" if schema.arguments else False
        if info is not None and not info.is_write and tensors and schema.returns:
            found.append(schema)
    return found


VIEWS = view_schemas()
DOCUMENTED = {
    *("as_strided", "detach", "diagonal", "expand", "expand_as", "movedim", "narrow", "permute"),
    *("select", "slice", "squeeze", "transpose", "t", "real", "imag", "view_as_real"),
    *("view_as_complex", "unflatten", "unfold", "unsqueeze", "view", "view_as", "unbind", "split"),
    *("hsplit", "vsplit", "tensor_split", "split_with_sizes", "swapaxes", "swapdims", "chunk"),
    *("alias", "reshape", "flatten", "contiguous", "to", "positive", "_reshape_alias", "mT", "mH"),
}


def full_name(schema: torch.FunctionSchema) -> str:
    return ".".join(filter(None, (schema.name.replace("::", "."), schema.overload_name)))


modules: list[ir.Module] = []
"""what tests parsed: an op that is handed around does not keep its module alive"""


def parse(text: str) -> ir.Module:
    context = dialect.load()
    modules.append(ir.Module.parse(text, context))
    return modules[-1]


def use_of(schema: torch.FunctionSchema) -> str:
    """A function in which only a piece or a view of a gathered parameter is read."""
    types = [TYPES.get(str(a.type), "!torch.int") for a in schema.arguments]
    others = "".join(f", %a{i}: {t}" for i, t in enumerate(types[1:], 1))
    operands = ", ".join(["%w", *(f"%a{i}" for i in range(1, len(types)))])
    results = [TYPES[str(r.type)] for r in schema.returns]
    made = f"%v:{len(results)}" if len(results) > 1 else "%v"
    value = "%v#0" if len(results) > 1 else "%v"
    unpack = ""
    if results[0] == LIST:
        unpack = f"%p:2 = torch.prim.ListUnpack {value} : {LIST} -> {TENSOR}, {TENSOR}"
        value = "%p#1"
    return f"""
      func.func @f(%s: !torch.vtensor<[2,6],f32>, %x: {TENSOR}{others}) -> ({TENSOR}, {TENSOR}) {{
        %w = "residency.gather"(%s) {{param = @w}} : (!torch.vtensor<[2,6],f32>) -> {TENSOR}
        {made} = torch.operator "torch.{full_name(schema)}"({operands}) : ({", ".join(types)}) -> ({", ".join(results)})
        {unpack}
        %early = torch.aten.exp %x : {TENSOR} -> {TENSOR}
        %late = torch.aten.exp {value} : {TENSOR} -> {TENSOR}
        return %early, %late : {TENSOR}, {TENSOR}
      }}"""


def test_the_list_of_view_schemas_is_complete() -> None:
    """The ops that torch documents as views; a change of torch's schema list must not empty the tests below."""
    names = {s.name.removeprefix("aten::") for s in VIEWS}
    assert names >= DOCUMENTED


@pytest.mark.parametrize("schema", VIEWS, ids=full_name)
def test_a_parameter_is_released_after_the_reader_of_its_view(
    schema: torch.FunctionSchema,
) -> None:
    module = parse(use_of(schema))
    func = function(module, "f")
    late = return_op(func).operands[1]
    gather = next(o for o in func.regions[0].blocks[0].operations if "gather" in o.operation.name)
    assert gather.results[0] in Aliases(func).roots(late.owner.operands[0])
    assert InsertReleases().apply(module) == []
    release = return_op(func).operands[1].owner
    assert release.operation.name == "residency.release"
    assert list(release.operands) == [late, gather.results[0]]


STORAGE = torch.arange(24.0).reshape(4, 6)
RUN = {
    "torch.aten.view": ([24],),
    "torch.aten.transpose.int": (0, 1),
    "torch.aten.t": (),
    "torch.aten.slice.Tensor": (0, 1, 3, 1),
    "torch.aten.select.int": (0, 1),
    "torch.aten.expand": ([2, 4, 6],),
    "torch.aten.split.Tensor": (2, 0),
    "torch.aten.chunk": (2, 0),
    "torch.aten.unbind.int": (0,),
    "torch.aten.diagonal": (0, 0, 1),
    "torch.aten.unfold": (0, 2, 1),
    "torch.aten.detach": (),
    "torch.aten.view.dtype": (torch.int32,),
    "torch.aten.clone": (),
    "torch.aten.exp": (),
    "torch.aten.repeat": ([2, 2],),
    "torch.aten.index_select": (0, torch.tensor([1])),
    "torch.aten.unsafe_split.Tensor": (2, 0),
    "torch.aten.unsafe_split_with_sizes": ([2, 2], 0),
    "torch.aten.unsafe_chunk": (2, 0),
    "torch.aten._unsafe_view": ([24],),
    "torch.aten._reshape_alias": ([24], [1]),
    "torch.aten.unsqueeze": (0,),
    "torch.aten.permute": ([1, 0],),
    "torch.aten.alias": (),
    "torch.aten._to_copy": (),
    "torch.aten.constant_pad_nd": ([1, 1],),
}


@pytest.mark.parametrize("name", RUN)
def test_what_is_a_view_is_what_shares_the_storage(name: str) -> None:
    packet, _, overload = name.removeprefix("torch.aten.").partition(".")
    target = getattr(getattr(torch.ops.aten, packet), overload or "default")
    given = RUN[name]
    result = target(STORAGE, *given)
    first = result[0] if isinstance(result, tuple | list) else result
    shared = first.untyped_storage().data_ptr() == STORAGE.untyped_storage().data_ptr()
    operands = ", ".join(["%x"] + ["%n"] * (len(target._schema.arguments) - 1))
    types = ", ".join([TENSOR] + ["!torch.int"] * (len(target._schema.arguments) - 1))
    module = parse(f"""
      func.func @f(%x: {TENSOR}, %n: !torch.int) -> {TENSOR} {{
        %0 = torch.operator "{name}"({operands}) : ({types}) -> {TENSOR}
        return %0 : {TENSOR}
      }}""")
    (value,) = return_op(function(module, "f")).operands
    assert is_view(value.owner) == shared


def owner_of(body: str, arguments: str = f"%x: {TENSOR}, %y: {TENSOR}") -> ir.OpView:
    """The op that makes `%r`."""
    module = parse(f"func.func @f({arguments}) -> {TENSOR} {{\n{body}\nreturn %r : {TENSOR}\n}}")
    return return_op(function(module, "f")).operands[0].owner


def roots_of(body: str, arguments: str = f"%x: {TENSOR}, %y: {TENSOR}") -> list[int | str]:
    """Argument numbers, or names of ops, that own the storages of `%r`."""
    module = parse(f"func.func @f({arguments}) -> {TENSOR} {{\n{body}\nreturn %r : {TENSOR}\n}}")
    func = function(module, "f")
    roots = Aliases(func).roots(return_op(func).operands[0])
    return sorted(
        (
            r.arg_number if isinstance(r, ir.BlockArgument) else r.owner.operation.name
            for r in roots
        ),
        key=str,
    )


def test_an_op_without_a_schema_may_keep_and_write_all_it_gets() -> None:
    body = f'%r = torch.operator "torch.nobody.knows"(%x, %y) : ({TENSOR}, {TENSOR}) -> {TENSOR}'
    assert effects_of(owner_of(body)).opaque
    assert roots_of(body) == [0, 1, "torch.operator"]


def test_an_opaque_op_may_keep_and_write_all_it_gets() -> None:
    body = f'%r = torch.operator "torch.opaque.n7"(%x, %y) : ({TENSOR}, {TENSOR}) -> {TENSOR}'
    assert effects_of(owner_of(body)).opaque
    assert roots_of(body) == [0, 1, "torch.operator"]


def test_a_call_may_keep_and_write_all_it_gets() -> None:
    module = parse(f"""
      func.func private @g({TENSOR}) -> {TENSOR}
      func.func @f(%x: {TENSOR}) -> {TENSOR} {{
        %r = func.call @g(%x) : ({TENSOR}) -> {TENSOR}
        return %r : {TENSOR}
      }}""")
    assert effects_of(return_op(function(module, "f")).operands[0].owner).opaque


def test_a_write_in_place_aliases_and_writes() -> None:
    effects = effects_of(
        owner_of(
            "%false = torch.constant.bool false\n"
            f'%r = torch.operator "torch.aten.copy_"(%x, %y, %false) : ({TENSOR}, {TENSOR}, !torch.bool) -> {TENSOR}'
        )
    )
    assert (effects.aliased, effects.written, effects.view) == ((0,), (0,), False)


def test_a_keyword_operand_that_is_written_is_seen() -> None:
    body = f'%r = torch.operator "torch.aten.mm.out"(%x, %x, %y) : ({TENSOR}, {TENSOR}, {TENSOR}) -> {TENSOR}'
    effects = effects_of(owner_of(body))
    assert (effects.aliased, effects.written) == ((2,), (2,))


def test_random_ops_are_told_by_their_tag() -> None:
    body = (
        "%p = torch.constant.float 0.5\n%t = torch.constant.bool true\n"
        "%r, %m = torch.aten.native_dropout %x, %p, %t : "
        f"{TENSOR}, !torch.float, !torch.bool -> {TENSOR}, !torch.vtensor<[4,6],i1>"
    )
    assert effects_of(owner_of(body)).random


def test_an_op_that_yields_nothing_is_an_effect() -> None:
    module = parse(f"""
      func.func @f(%x: {TENSOR}, %m: !torch.str) {{
        torch.operator "torch.aten._assert_async.msg"(%x, %m) : ({TENSOR}, !torch.str) -> ()
        return
      }}""")
    assert effects_of(function(module, "f").regions[0].blocks[0].operations[0]).random


def test_waiting_for_a_collective_hands_on_its_tensor_and_is_no_view() -> None:
    body = f'%r = torch.operator "torch._c10d_functional.wait_tensor"(%x) : ({TENSOR}) -> {TENSOR}'
    assert roots_of(body) == [0]
    assert not is_view(owner_of(body))


def test_casts_between_optional_types_hand_on_their_tensor() -> None:
    body = (
        f"%o = torch.derefine %x : {TENSOR} to !torch.optional<vtensor<[4,6],f32>>\n"
        f"%r = torch.prim.unchecked_cast %o : !torch.optional<vtensor<[4,6],f32>> -> {TENSOR}"
    )
    assert roots_of(body) == [0]


def test_a_release_hands_on_its_input_and_is_no_view() -> None:
    body = f'%r = "residency.release"(%x, %y) {{param = @w}} : ({TENSOR}, {TENSOR}) -> {TENSOR}'
    assert roots_of(body) == [0]
    assert not is_view(owner_of(body))


def test_a_reload_makes_a_storage() -> None:
    host = f"!residency.host<{TENSOR}>"
    body = f'%r = "residency.reload"(%h) {{slot = @s}} : ({host}) -> {TENSOR}'
    assert roots_of(body, f"%h: {host}") == ["residency.reload"]


def test_ops_of_other_dialects_are_pure_unless_they_are_views() -> None:
    text = """func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
        %0 = math.exp %x : tensor<8xf32>
        %1 = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
        return %0, %1 : tensor<8xf32>, tensor<2x4xf32>
      }"""
    func = function(parse(text), "f")
    pure, view = return_op(func).operands
    aliases = Aliases(func)
    assert (is_view(pure.owner), is_view(view.owner)) == (False, True)
    assert aliases.roots(pure) == {pure}
    assert aliases.roots(view) == {func.regions[0].blocks[0].arguments[0]}


@pytest.mark.parametrize("form", ["torch.aten.as_strided", "torch.aten.as_strided_copy"])
def test_as_strided_is_never_made_again(form: str) -> None:
    body = (
        f"%l = torch.prim.ListConstruct : () -> !torch.list<int>\n%n = torch.constant.none\n"
        f'%r = torch.operator "{form}"(%x, %l, %l, %n) : '
        f"({TENSOR}, !torch.list<int>, !torch.list<int>, !torch.none) -> {TENSOR}"
    )
    assert chain_of(owner_of(body).results[0]) is None
    assert roots_of(body) == ([0] if form == "torch.aten.as_strided" else ["torch.operator"])


def test_a_chain_holds_the_numbers_its_views_take_before_them() -> None:
    module = parse(f"""
      func.func @f(%x: {TENSOR}) -> !torch.vtensor<[24],f32> {{
        %y = torch.aten.exp %x : {TENSOR} -> {TENSOR}
        %n = torch.constant.int 24
        %l = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
        %d = torch.aten.detach %y : {TENSOR} -> {TENSOR}
        %v = torch.aten.view %d, %l : {TENSOR}, !torch.list<int> -> !torch.vtensor<[24],f32>
        return %v : !torch.vtensor<[24],f32>
      }}""")
    chain = chain_of(return_op(function(module, "f")).operands[0])
    assert chain.base.owner.operation.name == "torch.aten.exp"
    names = [op.name for op in chain.ops]
    assert names == [
        "torch.aten.detach",
        "torch.constant.int",
        "torch.prim.ListConstruct",
        "torch.aten.view",
    ]

"""The result of every ATen op that aliases an argument without writing it lives in the storage of that argument."""

import pytest
import torch
from torch_mlir import ir

from residency import dialect
from residency.pipeline.analysis.aliases import Aliases
from residency.pipeline.ir import block, function, return_op

TENSOR, LIST = "!torch.vtensor<[4,4],f32>", "!torch.list<vtensor<[4,4],f32>>"
NONE = "!torch.none"
TYPES = {
    "Tensor": TENSOR,
    "Optional[Tensor]": TENSOR,
    "List[Tensor]": LIST,
    "int": "!torch.int",
    "List[int]": "!torch.list<int>",
}
TORCHSCRIPT = ("Dict[", "List[t]", "Optional[t]", "RRef[")
"""types of arguments that only interpreted TorchScript has: dictionaries, remote references, generic values"""


def aliasing_schemas() -> list[torch.FunctionSchema]:
    """Every functional ATen op with a result that shares the storage of an argument."""
    found = []
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::") or is_torchscript(schema):
            continue
        writes = any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
        if not writes and any(r.alias_info for r in schema.returns):
            found.append(schema)
    return found


def is_torchscript(schema: torch.FunctionSchema) -> bool:
    types = [str(a.type) for a in schema.arguments]
    return any(t.startswith(TORCHSCRIPT) for t in types)


def full_name(schema: torch.FunctionSchema) -> str:
    return ".".join(filter(None, (schema.name.replace("::", "."), schema.overload_name)))


def aliased(schema: torch.FunctionSchema) -> set[int]:
    """Numbers of the arguments whose storage the schema says that a result shares."""
    shared = {s for r in schema.returns if r.alias_info for s in r.alias_info.before_set}
    return {
        i
        for i, a in enumerate(schema.arguments)
        if a.alias_info
        and ("*" in a.alias_info.after_set or "*" in shared or a.alias_info.before_set & shared)
    }


def roots_of_results(text: str) -> list[set[int]]:
    """For each result of `@f` the numbers of the arguments that own its storage; -1 for storages that an op made."""
    module = ir.Module.parse(text, dialect.load())
    func = function(module, "f")
    arguments, aliases = list(block(func).arguments), Aliases(func)
    return [
        {arguments.index(root) if root in arguments else -1 for root in aliases.roots(value)}
        for value in return_op(func).operands
    ]


def function_of(name: str, types: list[str], results: list[str]) -> str:
    """A function that calls one op and returns its results; of a list, its pieces."""
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    operands = ", ".join(f"%a{i}" for i in range(len(types)))
    made = ", ".join(f"%r{i}" for i in range(len(results)))
    signature = f"({', '.join(types)}) -> ({', '.join(results)})"
    lines = [f'{made} = "torch.operator"({operands}) {{name = "{name}"}} : {signature}']
    values = []
    for i, type_ in enumerate(results):
        if type_ == LIST:
            lines.append(f"%p{i}:2 = torch.prim.ListUnpack %r{i} : {LIST} -> {TENSOR}, {TENSOR}")
            values += [f"%p{i}#0", f"%p{i}#1"]
        else:
            values.append(f"%r{i}")
    returned = ", ".join([TENSOR] * len(values))
    body = "\n".join(lines)
    return (
        f"func.func @f({arguments}) -> ({returned}) {{\n{body}\n"
        f"return {', '.join(values)} : {returned}\n}}"
    )


SCHEMAS = aliasing_schemas()


def test_the_schemas_hold_the_views_that_torch_documents() -> None:
    """Were the list of schemas to shrink or change its form, the tests below would check less and still pass."""
    names = {s.name.removeprefix("aten::") for s in SCHEMAS}
    assert names >= {"view", "t", "expand", "select", "slice", "split", "chunk", "unbind", "to"}
    assert all(aliased(s) for s in SCHEMAS)


@pytest.mark.parametrize("schema", SCHEMAS, ids=full_name)
def test_results_live_in_the_storages_that_the_schema_names(schema: torch.FunctionSchema) -> None:
    types = [TYPES.get(str(a.type), NONE) for a in schema.arguments]
    results = [TYPES[str(r.type)] for r in schema.returns]
    roots = roots_of_results(function_of(f"torch.{full_name(schema)}", types, results))
    assert roots
    assert all(r == aliased(schema) for r in roots)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("torch.aten.split.Tensor", ["!torch.int"] * 2),
        ("torch.aten.split.sizes", ["!torch.list<int>", "!torch.int"]),
        ("torch.aten.split_with_sizes", ["!torch.list<int>", "!torch.int"]),
        ("torch.aten.tensor_split.sections", ["!torch.int"] * 2),
        ("torch.aten.chunk", ["!torch.int"] * 2),
        ("torch.aten.unbind.int", ["!torch.int"]),
    ],
)
def test_each_piece_of_a_list_lives_in_what_was_taken_apart(name: str, numbers: list[str]) -> None:
    assert roots_of_results(function_of(name, [TENSOR, *numbers], [LIST])) == [{0}, {0}]


@pytest.mark.parametrize("name", ["torch.aten.clone", "torch.aten.exp", "torch.aten.mm"])
def test_what_computes_owns_its_storage(name: str) -> None:
    target = getattr(torch.ops.aten, name.rpartition(".")[2]).default
    types = [TYPES.get(str(a.type), NONE) for a in target._schema.arguments]
    assert roots_of_results(function_of(name, types, [TENSOR])) == [{-1}]


@pytest.mark.parametrize("name", ["torch.aten.split_with_sizes_copy", "torch.aten.unbind_copy.int"])
def test_pieces_that_are_copies_do_not_live_in_what_was_taken_apart(name: str) -> None:
    numbers = ["!torch.int"] if "unbind" in name else ["!torch.list<int>", "!torch.int"]
    assert roots_of_results(function_of(name, [TENSOR, *numbers], [LIST])) == [{-1}, {-1}]

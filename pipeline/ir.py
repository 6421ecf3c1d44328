"""Small helpers over the MLIR bindings that passes share. Imports no torch.

Functions here have one block: training steps are straight-line code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import func as func_dialect

from ..dialect import attributes as attr

Attributes = dict[str, ir.Attribute]
"""attributes of one function argument or result"""


# Finding things.


def functions(module: ir.Module) -> list[func_dialect.FuncOp]:
    """All functions, in order."""
    return [op for op in module.body.operations if isinstance(op, func_dialect.FuncOp)]


def entries(module: ir.Module) -> list[func_dialect.FuncOp]:
    """The functions that the outside calls: `@forward` and `@backward`."""
    return [f for f in functions(module) if not is_private(f) and not f.is_external]


def segments(module: ir.Module) -> list[func_dialect.FuncOp]:
    """The private functions that hold compute after outlining."""
    return [f for f in functions(module) if is_private(f) and not f.is_external]


def is_private(func: ir.OpView) -> bool:
    return (
        "sym_visibility" in func.attributes
        and string(func.attributes["sym_visibility"]) == "private"
    )


def function(module: ir.Module, name: str) -> func_dialect.FuncOp:
    """The function `@name`. Raises KeyError if the module has none."""
    for func in functions(module):
        if symbol_name(func) == name:
            return func
    raise KeyError(f"the module has no function: @{name}")


def block(func: ir.OpView) -> ir.Block:
    """The only block of a function. Raises ValueError if there is none or more than one."""
    blocks = func.operation.regions[0].blocks
    if len(blocks) != 1:
        raise ValueError(
            f"@{symbol_name(func)} must be straight-line code, got blocks: {len(blocks)}"
        )
    return blocks[0]


def return_op(func: ir.OpView) -> ir.OpView:
    """The `return` of a function."""
    operations = block(func).operations
    return operations[len(operations) - 1]


def slots(module: ir.Module) -> dict[str, ir.OpView]:
    """Symbol -> `residency.slot`."""
    return _symbols(module, "residency.slot")


def params(module: ir.Module) -> dict[str, ir.OpView]:
    """Symbol -> `residency.param`."""
    return _symbols(module, "residency.param")


def _symbols(module: ir.Module, op_name: str) -> dict[str, ir.OpView]:
    return {symbol_name(op): op for op in module.body.operations if op.operation.name == op_name}


def symbol_name(op: ir.OpView) -> str:
    """The symbol that `op` defines."""
    return string(op.attributes["sym_name"])


def symbol(op: ir.OpView, name: str = "slot") -> str:
    """The symbol that attribute `name` ("slot", "param", "callee") of `op` refers to."""
    return symbol_ref(op.attributes[name])


def symbol_ref(attribute: ir.Attribute) -> str:
    """`@s` -> "s"."""
    return ir.FlatSymbolRefAttr(attribute).value


def string(attribute: ir.Attribute) -> str:
    """`"text"` -> "text"."""
    return ir.StringAttr(attribute).value


def walk(parent: ir.OpView | ir.Operation | ir.Module | ir.Block) -> Iterator[ir.OpView]:
    """Every op inside `parent`, in program order, an op before the ops in its regions.

    The caller may erase an op without regions when it gets it, and add ops, which are not visited.
    """
    if not isinstance(parent, ir.Block):
        for region in parent.operation.regions:
            for inner in region.blocks:
                yield from walk(inner)
        return
    for op in list(parent.operations):
        regions = len(op.operation.regions) > 0
        yield op
        if regions:
            yield from walk(op)


# Attributes of arguments and results.


def argument_attributes(func: ir.OpView) -> list[Attributes]:
    """Attributes of each argument; changing the result changes nothing."""
    return _attributes(func, "arg_attrs", len(_type(func).inputs))


def result_attributes(func: ir.OpView) -> list[Attributes]:
    """Attributes of each result; changing the result changes nothing."""
    return _attributes(func, "res_attrs", len(_type(func).results))


def set_argument_attributes(func: ir.OpView, attributes: Sequence[Attributes]) -> None:
    """Replaces the attributes of all arguments."""
    _set_attributes(func, "arg_attrs", attributes)


def set_result_attributes(func: ir.OpView, attributes: Sequence[Attributes]) -> None:
    """Replaces the attributes of all results."""
    _set_attributes(func, "res_attrs", attributes)


def slot_of(attributes: Attributes) -> str | None:
    """The slot symbol of an argument or result, None if it has none."""
    return symbol_ref(attributes[attr.SLOT]) if attr.SLOT in attributes else None


def _type(func: ir.OpView) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value)


def _attributes(func: ir.OpView, name: str, count: int) -> list[Attributes]:
    if name not in func.attributes:
        return [{} for _ in range(count)]
    return [{a.name: a.attr for a in ir.DictAttr(d)} for d in ir.ArrayAttr(func.attributes[name])]


def _set_attributes(func: ir.OpView, name: str, attributes: Sequence[Attributes]) -> None:
    context = func.operation.context
    if any(attributes):
        func.attributes[name] = ir.ArrayAttr.get(
            [ir.DictAttr.get(dict(a), context) for a in attributes], context
        )
    elif name in func.attributes:
        del func.attributes[name]


# Arguments and results. Each change costs the whole signature: change many at once with
# `set_arguments` and `set_results`.


def arguments(func: ir.OpView) -> list[tuple[ir.Value, Attributes]]:
    """Each argument with its attributes."""
    return list(zip(block(func).arguments, argument_attributes(func), strict=True))


def results(func: ir.OpView) -> list[tuple[ir.Value, Attributes]]:
    """Each returned value with the attributes of the result."""
    return list(zip(return_op(func).operands, result_attributes(func), strict=True))


def set_arguments(
    func: ir.OpView, new: Iterable[tuple[ir.Value | ir.Type, Attributes]]
) -> list[ir.Value]:
    """Gives `func` the listed arguments; returns their values.

    A Value is an argument of now that stays, a Type makes a new one; arguments that are not listed
    must have no uses. Arguments behind the first change are made anew: afterwards only the returned
    values are valid.
    """
    new, body = list(new), block(func)
    old, location = list(body.arguments), func.operation.location
    staying = {v for v, _ in new if isinstance(v, ir.Value)}
    for argument in old:
        if argument not in staying and _used(argument):
            raise ValueError(
                f"@{symbol_name(func)}: an argument that is used cannot go: "
                f"{ir.BlockArgument(argument).arg_number}"
            )
    same = 0
    while same < min(len(old), len(new)) and new[same][0] == old[same]:
        same += 1
    values = old[:same]
    for value, _ in new[same:]:
        if isinstance(value, ir.Value):
            fresh = body.add_argument(value.type, value.location)
            value.replace_all_uses_with(fresh)
        else:
            fresh = body.add_argument(value, location)
        values.append(fresh)
    for index in reversed(range(same, len(old))):
        body.erase_argument(index)
    values = list(body.arguments)
    _set_type(func)
    set_argument_attributes(func, [a for _, a in new])
    return values


def set_results(func: ir.OpView, new: Iterable[tuple[ir.Value, Attributes]]) -> ir.OpView:
    """Makes `func` return the listed values; returns the new return op."""
    new, old = list(new), return_op(func)
    made = ir.Operation.create(
        "func.return",
        operands=[v for v, _ in new],
        attributes={name: old.attributes[name] for name in old.attributes},
        loc=old.operation.location,
        ip=before(old),
    )
    old.operation.erase()
    _set_type(func)
    set_result_attributes(func, [a for _, a in new])
    return made.opview


def add_argument(
    func: ir.OpView, type_: ir.Type, attributes: Attributes | None = None, index: int | None = None
) -> ir.Value:
    """Adds an argument (the last if `index` is None) and returns its value."""
    new: list[Any] = arguments(func)
    index = len(new) if index is None else index
    new.insert(index, (type_, attributes or {}))
    return set_arguments(func, new)[index]


def remove_argument(func: ir.OpView, index: int) -> None:
    """Removes an argument that has no uses."""
    new = arguments(func)
    del new[index]
    set_arguments(func, new)


def set_argument_type(func: ir.OpView, index: int, type_: ir.Type) -> ir.Value:
    """Changes an argument's type in place; its uses are the caller's to fix."""
    value = block(func).arguments[index]
    value.set_type(type_)
    _set_type(func)
    return value


def add_result(
    func: ir.OpView, value: ir.Value, attributes: Attributes | None = None, index: int | None = None
) -> None:
    """Adds a result (the last if `index` is None)."""
    new = results(func)
    new.insert(len(new) if index is None else index, (value, attributes or {}))
    set_results(func, new)


def remove_result(func: ir.OpView, index: int) -> None:
    """Removes a result."""
    new = results(func)
    del new[index]
    set_results(func, new)


def replace_result(func: ir.OpView, index: int, value: ir.Value) -> None:
    """Returns another value, of any type, in the place of result `index`; attributes stay."""
    return_op(func).operation.operands[index] = value
    _set_type(func)


def _set_type(func: ir.OpView) -> None:
    """Makes the function's type that of its block's arguments and of its return."""
    context = func.operation.context
    inputs = [a.type for a in block(func).arguments]
    returned = [v.type for v in return_op(func).operands]
    func.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, returned, context), context
    )


def _used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


# Rewriting.


def create(
    name: str,
    operands: Sequence[ir.Value] = (),
    results: Sequence[ir.Type] = (),
    attributes: Attributes | None = None,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.OpView:
    """Makes any op."""
    return ir.Operation.create(
        name, list(results), list(operands), dict(attributes or {}), loc=loc, ip=ip
    ).opview


def clone(op: ir.OpView, mapping: dict[ir.Value, ir.Value], ip: ir.InsertionPoint) -> ir.OpView:
    """Copies `op` with operands replaced by `mapping`, also inside its regions.

    The results of the copy are added to `mapping`.
    """
    copy = op.operation.clone(ip)
    nested = [i.operation for i in walk(copy)] if len(copy.regions) else ()
    for inner in (copy, *nested):
        for index, operand in enumerate(inner.operands):
            if operand in mapping:
                inner.operands[index] = mapping[operand]
    mapping.update(zip(op.operation.results, copy.results, strict=True))
    return copy.opview


def erase(op: ir.OpView | ir.Operation) -> None:
    """Removes `op`, whose results must have no uses."""
    for result in op.operation.results:
        if _used(result):
            raise ValueError(f"an op whose result is used cannot go: {op.operation.name}")
    op.operation.erase()


def replace_uses(old: ir.Value, new: ir.Value, *, but: Sequence[ir.OpView] = ()) -> None:
    """Makes every user of `old`, except the ops `but`, use `new`."""
    if but:
        old.replace_all_uses_except(new, [op.operation for op in but])
    else:
        old.replace_all_uses_with(new)


def users(value: ir.Value) -> list[ir.OpView]:
    """The ops that use `value`, each once per operand, in no order to rely on."""
    return [use.owner for use in value.uses]


def before(op: ir.OpView | ir.Operation) -> ir.InsertionPoint:
    """Where an op inserted next comes right before `op`."""
    return ir.InsertionPoint(op)


def after(op: ir.OpView | ir.Operation) -> ir.InsertionPoint:
    """Where an op inserted next comes right after `op`."""
    return ir.InsertionPoint.after(op)


def at_begin(body: ir.Block) -> ir.InsertionPoint:
    """Where an op inserted next is the first of `body`."""
    return ir.InsertionPoint.at_block_begin(body)


# Locations.


def source_line(location: ir.Location) -> str | None:
    """`file:line` of the user's Python line that `location` leads to, None if it leads to none."""
    if isinstance(location, ir.FileLineColLoc):
        return f"{location.filename}:{location.start_line}"
    if isinstance(location, ir.NameLoc):
        return source_line(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return source_line(location.callee) or source_line(location.caller)
    if isinstance(location, ir.FusedLoc):
        return next(filter(None, map(source_line, location.locations)), None)
    return None


# Many changes at once.


def set_argument_types(func: ir.OpView, types: dict[int, ir.Type]) -> None:
    """Changes the types of the arguments with these numbers in place; their uses are the caller's to fix."""
    body = block(func)
    for index, type_ in types.items():
        body.arguments[index].set_type(type_)
    _set_type(func)

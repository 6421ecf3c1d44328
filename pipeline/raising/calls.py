"""One op as a call: target, positional and keyword arguments, by op name and schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from torch_mlir import ir

from ...dialect import attributes as attr
from ..importer.names import OPAQUE_PREFIX, OPERATORS, RENAMED, overload
from ..importer.schemas import MISSING, Parameter, parameters
from ..node_table import Attribute, Leaf, NodeInfo, NodeTable, OpaqueCall
from ..torch_private import OpOverload
from .errors import RaiseError
from .literals import CONSTANT_PREFIX, literal_of, schema_object

Call = tuple[Any, tuple, dict[str, Any]]

TRANSPARENT = {
    "torch.prim.NumToTensor.Scalar",
    "torch.derefine",
    "torch.tensor_static_info_cast",
}
"""ops that stand for their operand: FX passes numbers as tensors, and has no static types"""


@dataclass(frozen=True)
class Form:
    """How one op name is called."""

    target: OpOverload
    parameters: tuple[Parameter, ...]
    names: tuple[str, ...]
    positions: dict[str, int]
    objects: tuple[int, ...]
    """parameters whose integers stand for dtypes and the like"""
    keyword_from: int
    """number of the first keyword-only parameter"""


@cache
def form(name: str, by_name: bool) -> Form | None:
    """The call that an op stands for; `by_name` for the name in a `torch.operator`. None if torch has no such op."""
    target = overload(name if by_name else RENAMED.get(name, name))
    if target is None:
        return None
    known = parameters(target)
    names = tuple(p.name for p in known)
    positional = sum(not p.keyword_only for p in known)
    objects = tuple(
        i for i, p in enumerate(known) if p.base in ("ScalarType", "Layout", "MemoryFormat")
    )
    return Form(target, known, names, {n: i for i, n in enumerate(names)}, objects, positional)


def handle_of(op: ir.OpView | ir.Operation) -> int | None:
    """Handle of an op in the node table, if it has one."""
    attributes = op.attributes
    return ir.IntegerAttr(attributes[attr.FX]).value if attr.FX in attributes else None


def operator_name(op: ir.OpView | ir.Operation) -> str:
    """The name that a `torch.operator` calls."""
    return ir.StringAttr(op.attributes["name"]).value


def opaque_info(op: ir.OpView | ir.Operation, name: str, table: NodeTable | None) -> NodeInfo:
    """Entry of an opaque op; the handle is in its name."""
    if table is None:
        raise RaiseError(op, f"needs the node table of its import, got an opaque call: {name}")
    return table[int(name.removeprefix(OPAQUE_PREFIX))]


def call_of(
    op: ir.OpView | ir.Operation, name: str, operands: Sequence[Any], info: NodeInfo | None
) -> Call:
    """The call of an op with one value per parameter, written as FX had written it, else without defaults."""
    by_name = name == "torch.operator"
    called = operator_name(op) if by_name else name
    if not by_name and name in OPERATORS:
        return OPERATORS[name], tuple(operands), {}
    how = form(called, by_name)
    if how is None:
        raise RaiseError(op, f"torch has no op of this name: {called}")
    if len(operands) != len(how.parameters):
        raise RaiseError(
            op, f"needs {len(how.parameters)} operands by its schema, got: {len(operands)}"
        )
    values = list(operands)
    for index in how.objects:
        values[index] = schema_object(values[index], how.parameters[index].base)
    return how.target, *_spelled(how, values, info.spelling if info else None)


def _spelled(
    how: Form, values: list[Any], spelling: tuple[int, tuple[str, ...]] | None
) -> tuple[tuple, dict[str, Any]]:
    """Splits values into positional and keyword arguments.

    What the hint leaves out must still be the default, since a pass may have changed the operands.
    """
    count, keywords = spelling or (0, ())
    kwargs = {k: values[how.positions[k]] for k in keywords if k in how.positions}
    for index in range(count, len(values)):
        parameter = how.parameters[index]
        if parameter.name in kwargs:
            continue
        if parameter.default is not MISSING and _is_default(parameter, values[index]):
            continue
        if index < how.keyword_from and not any(how.positions[k] <= index for k in kwargs):
            count = index + 1
        else:
            kwargs[parameter.name] = values[index]
    return tuple(values[:count]), kwargs


def _is_default(parameter: Parameter, value: Any) -> bool:
    return value is parameter.default or parameter.is_default(value)


def fill(template: Any, leaf: Callable[[int], Any], attribute: Callable[[Attribute], Any]) -> Any:
    """An argument template with its leaves and sub-graphs put in."""
    if isinstance(template, Leaf):
        return leaf(template.index)
    if isinstance(template, Attribute):
        return attribute(template)
    if isinstance(template, tuple) and hasattr(template, "_fields"):
        return type(template)(*[fill(t, leaf, attribute) for t in template])
    if type(template) in (tuple, list):
        return type(template)(fill(t, leaf, attribute) for t in template)
    if type(template) is dict:
        return {k: fill(t, leaf, attribute) for k, t in template.items()}
    if isinstance(template, slice):
        return slice(
            fill(template.start, leaf, attribute),
            fill(template.stop, leaf, attribute),
            fill(template.step, leaf, attribute),
        )
    return template


def opaque_call(
    call: OpaqueCall, operands: Sequence[Any], attribute: Callable[[Attribute], Any]
) -> Call:
    """The call that an opaque op stands for."""
    leaf = operands.__getitem__
    return call.target, fill(call.args, leaf, attribute), fill(call.kwargs, leaf, attribute)


def torch_call(op: ir.OpView | ir.Operation, table: NodeTable | None) -> Call:
    """The call of one op: target, args and kwargs whose leaves are `ir.Value`s and Python constants.

    By op name and schema only; `table` is needed for opaque ops. Called with the operands' values, the target returns a
    sequence with one item for each result, or the result itself where there is one. Raises RaiseError for an op that has no
    form in torch.
    """
    name = op.operation.name
    operands = [_static(v) for v in op.operands]
    if name == "torch.operator" and operator_name(op).startswith(OPAQUE_PREFIX):
        call = opaque_info(op, operator_name(op), table).call
        target, args, kwargs = opaque_call(call, operands, lambda attribute: attribute.value)
        return Flat.of(call, len(op.results)) or target, args, kwargs
    if name == "torch.prim.ListConstruct":
        return _list, tuple(operands), {}
    if name == "torch.prim.ListUnpack":
        return tuple, tuple(operands), {}
    if name in TRANSPARENT:
        return _same, tuple(operands), {}
    handle = handle_of(op)
    info = None if table is None or handle is None else table[handle]
    return call_of(op, name, operands, info)


def _static(value: ir.Value) -> Any:
    """A Python value for constants and lists of them; the SSA value itself for anything else."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return value
    name = owner.operation.name
    if name.startswith(CONSTANT_PREFIX):
        return literal_of(owner)
    if name == "torch.prim.ListConstruct":
        return [_static(v) for v in owner.operands]
    if name in TRANSPARENT:
        return _static(owner.operands[0])
    return value


def _list(*items: Any) -> list:
    return list(items)


def _same(value: Any) -> Any:
    return value


class Flat:
    """Calls what an opaque op stands for and returns its results one after the other."""

    def __init__(self, call: OpaqueCall) -> None:
        self.call = call
        self.__name__ = getattr(call.target, "__name__", "call")

    @classmethod
    def of(cls, call: OpaqueCall, results: int) -> Flat | None:
        """None if the call's own target does that already."""
        structure = call.results
        flat = structure == Leaf(0) or (
            isinstance(structure, tuple | list)
            and len(structure) > 1
            and list(structure) == [Leaf(i) for i in range(results)]
        )
        return None if call.op == "call_function" and (flat or not results) else cls(call)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        target = self.call.target
        if self.call.op == "call_method":
            value = getattr(args[0], target)(*args[1:], **kwargs)
        else:
            value = (target.value if isinstance(target, Attribute) else target)(*args, **kwargs)
        found: dict[int, Any] = {}
        self.call.flatten(value, found)
        items = tuple(found[i] for i in range(len(found)))
        return items[0] if len(items) == 1 else items

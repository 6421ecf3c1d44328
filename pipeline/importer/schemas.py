"""What an op's schema lets its arguments be, worked out once per op."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..torch_private import OpOverload, schema_of
from .literals import OBJECTS
from .names import RENAMED, SCALAR_FORMS, SYMBOLIC_FORMS, dialect_name, overload

MISSING = object()

ELEMENTS = {
    "Tensor": "vtensor",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "number": "number",
}
"""schema type -> element type of a list in the torch dialect"""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a schema."""

    name: str
    keyword_only: bool
    base: str
    """schema type without Optional and List"""
    is_list: bool
    optional: bool
    element_optional: bool
    default: Any

    def is_default(self, value: Any) -> bool:
        """True if leaving `value` out means the same: 1, 1.0 and True are different."""
        default = self.default
        return type(value) is type(default) and repr(value) == repr(default)


@dataclass(frozen=True)
class Plan:
    """How calls of one op are written."""

    target: OpOverload
    name: str
    """the name that FX's target spells"""
    registered: str
    """the op to try first"""
    scalar: str | None
    """the op for a Python number as second argument"""
    parameters: tuple[Parameter, ...]
    results: int
    opaque: str | None
    """why calls of this op are always opaque"""


_TYPE = re.compile(r"(Optional)?\[?(List)?\[?(Optional)?\[?([\w.]+?)\]*$")


def parameter(argument: Any) -> Parameter:
    """From a schema's argument."""
    match = _TYPE.match(str(argument.real_type))
    outer, is_list, inner, base = match.groups() if match else (None, None, None, "?")
    default = argument.default_value if argument.has_default_value() else MISSING
    if type(default) is int and base in OBJECTS:
        default = OBJECTS[base].get(default, default)
    # "Optional[Tensor]" alone is an optional value, "List[Optional[Tensor]]" a list of them.
    return Parameter(
        argument.name,
        argument.kwarg_only,
        base,
        bool(is_list),
        bool(outer),
        bool(is_list and inner),
        default,
    )


@cache
def parameters(target: OpOverload) -> tuple[Parameter, ...]:
    """The parameters of an op."""
    return tuple(parameter(a) for a in schema_of(target).arguments)


@cache
def plan(target: OpOverload) -> Plan:
    """How calls of `target` are imported."""
    schema = schema_of(target)
    name = dialect_name(target)
    opaque = None
    if name == "torch.aten.as_strided":
        opaque = "strides are not part of types"
    elif schema.is_mutable:
        opaque = "it writes its arguments"
    elif not schema.returns:
        opaque = "it is run for its effect"
    elif overload(name) is not target:
        opaque = "its name does not lead back to it"
    registered = SYMBOLIC_FORMS.get(name, name)
    # A call that FX itself gives the name of another call's form must keep to `torch.operator`.
    if name in RENAMED:
        registered = ""
    return Plan(
        target,
        name,
        registered,
        SCALAR_FORMS.get(name),
        parameters(target),
        len(schema.returns),
        opaque,
    )

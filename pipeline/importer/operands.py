"""Arguments of calls as SSA values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from .literals import ENUMS, Bound
from .schemas import ELEMENTS, MISSING, Parameter, Plan
from .types import Kind

if TYPE_CHECKING:
    from .graph import GraphImporter


class Operands:
    """Converts arguments for one graph. None everywhere means: there is no exact form."""

    def __init__(self, graph: GraphImporter) -> None:
        self.graph, self.literals, self.types = graph, graph.literals, graph.types

    def of_call(self, node: fx.Node, how: Plan) -> list[Bound] | None:
        """One value for each parameter of the schema, defaults included."""
        args, kwargs = node.args, node.kwargs
        named = 0
        operands = []
        if len(args) > len(how.parameters):
            return None
        for index, parameter in enumerate(how.parameters):
            if index < len(args):
                value = args[index]
            elif parameter.name in kwargs:
                value = kwargs[parameter.name]
                named += 1
            else:
                value = parameter.default
                if value is MISSING:
                    return None
            bound = self.argument(value, parameter)
            if bound is None:
                return None
            operands.append(bound)
        return operands if named == len(kwargs) else None

    def argument(self, value: Any, parameter: Parameter) -> Bound | None:
        if isinstance(value, fx.Node):
            value = self.graph.read(value)
        if value is None:
            takes_none = parameter.optional or parameter.base == "Any"
            return self.literals.get(None) if takes_none else None
        if isinstance(value, Bound):
            # Whatever it is: the op by name takes any value, and raising puts it back where it was.
            return value
        if parameter.is_list:
            return self.list(value, parameter) if isinstance(value, list | tuple) else None
        return self.element(value, parameter.base)

    def element(self, value: Any, base: str) -> Bound | None:
        """A literal for a parameter of schema type `base`; bool is not int, an int may be a float if that is exact."""
        type_ = type(value)
        if base == "int":
            return self.literals.get(value) if type_ is int else None
        if base == "float":
            if type_ is int and abs(value) <= 1 << 53:
                value = float(value)
            return self.literals.get(value) if type(value) is float else None
        if base == "bool":
            return self.literals.get(value) if type_ is bool else None
        if base in ("number", "Tensor"):
            if base == "Tensor" and isinstance(value, torch.Tensor):
                return self.graph.constant(value, "_tensor_constant")
            return self.literals.get(value) if type_ in (int, float, bool) else None
        if base == "str":
            return self.literals.get(value) if type_ is str else None
        if base == "Any":
            return self.literals.get(value) if type_ in (int, float, bool, str) else None
        if base == "Device":
            return self.literals.get(value) if isinstance(value, torch.device) else None
        number = ENUMS[base].get(value) if base in ENUMS else None
        return None if number is None else self.literals.get(number)

    def list(self, values: Any, parameter: Parameter) -> Bound | None:
        element = ELEMENTS.get(parameter.base)
        if element is None:
            return None
        bound, constant = [], True
        for argument in values:
            value = argument
            if isinstance(argument, fx.Node):
                value = self.graph.read(argument)
                constant = False
            if value is None:
                item = self.literals.get(None) if parameter.element_optional else None
            elif isinstance(value, Bound):
                constant = False
                item = value
            else:
                item = self.element(value, parameter.base)
                constant = constant and parameter.base != "Tensor"
            if item is None:
                return None
            bound.append(item)
        kinds = {b.kind for b in bound} - ({Kind.NONE} if parameter.element_optional else set())
        if element == "number":
            # A list has one element type; a mix of numbers has none that keeps each as it is.
            names = {Kind.INT: "int", Kind.FLOAT: "float", Kind.BOOL: "bool"}
            if len(kinds) != 1 or not kinds <= set(names):
                return None
            element = names[next(iter(kinds))]
        elif not kinds <= {element[:1] if element != "vtensor" else Kind.TENSOR}:
            return None
        kind = next(iter(kinds), Kind.NONE)
        if parameter.element_optional:
            element = f"optional<{element}>"
        if constant:
            return self.literals.list(bound, element, kind)
        type_ = self.types.parse(f"!torch.list<{element}>")
        value = self.graph.helper("torch.prim.ListConstruct", [b.value for b in bound], type_)
        return Bound(value, Kind.LIST + kind)

    def numbers_as_tensors(self, operands: list[Bound], how: Plan) -> list[Bound]:
        """Numbers that stand for tensors, as torch-mlir writes them; raising gives the number back."""
        return [
            self.tensor(bound)
            if parameter.base == "Tensor" and not parameter.is_list and bound.kind in Kind.NUMBERS
            else bound
            for bound, parameter in zip(operands, how.parameters, strict=True)
        ]

    def tensor(self, number: Bound) -> Bound:
        element = {Kind.INT: "si64", Kind.FLOAT: "f64", Kind.BOOL: "i1"}[number.kind]
        type_ = self.types.parse(f"!torch.vtensor<[],{element}>")
        value = self.graph.helper("torch.prim.NumToTensor.Scalar", [number.value], type_)
        return Bound(value, Kind.TENSOR)

    def integer(self, value: Any) -> Bound | None:
        """An operand of symbolic integer arithmetic."""
        if isinstance(value, fx.Node):
            found = self.graph.read(value)
            return found if isinstance(found, Bound) and found.kind == Kind.INT else None
        return self.literals.get(value) if type(value) is int else None

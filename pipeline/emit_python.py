"""Emits the Python target: straight-line code that calls segments and the runtime.

Program order is execution order. A value is dropped in the statement that uses it last, so that its memory returns while
the next segment runs: segments take a list that they empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from torch_mlir import ir

from .ir import block, entries, results, slot_of, symbol, symbol_name

PLAIN = (int, float, str, type(None))
"""constants whose `repr` is Python; bool is an int, infinities and NaN are bound to their names"""


LIST = "torch.prim.ListConstruct"


class EmitError(RuntimeError):
    """An op that the Python target cannot express."""


@dataclass
class Emitted:
    """Source of one entry function and what its free names stand for."""

    source: str
    segments: list[str] = field(default_factory=list)
    """segment function of call site i, whose global name is `segment_i`; it takes a list and empties it"""
    slots: dict[str, str] = field(default_factory=dict)
    """global name of a slot's handle -> slot symbol"""
    objects: dict[str, object] = field(default_factory=dict)
    """global name -> op or constant, for the compute that stays in the entry function (views of arguments)"""


def emit_entry(func: ir.OpView, table: object | None = None) -> Emitted:
    """Python source for an outlined entry function.

    The code reads the globals `engine`, `device` and those that the result lists. Raises EmitError, naming the op.
    """
    return _Emitter(func, table).run()


def emit_module(module: ir.Module, table: object | None = None) -> str:
    """Python source for every entry function of an outlined module."""
    return "\n\n".join(emit_entry(func, table).source for func in entries(module))


class _Emitter:
    def __init__(self, func: ir.OpView, table: object | None) -> None:
        self.func, self.table = func, table
        self.name = symbol_name(func)
        self.names: dict[ir.Value, str] = {}
        self.literals: dict[ir.Value, str] = {}
        self.lines: list[str] = []
        self.out = Emitted("")
        self.handlers = {
            "func.call": self.call,
            "func.return": self.return_,
            "residency.offload_start": self.offload_start,
            "residency.reload_start": self.reload_start,
            "residency.wait": self.wait,
            "residency.free": self.free,
        }

    def run(self) -> Emitted:
        body = block(self.func)
        for index, argument in enumerate(body.arguments):
            self.names[argument] = f"a{index}"
        names = listed([self.names[argument] for argument in body.arguments])
        self.lines += [f"def {self.name}(args):"]
        if names:
            self.lines += [f"    {names} = args"]
        self.lines += ["    args.clear()"]
        self.last = self.last_uses(body)
        unused = [a for a in body.arguments if a not in self.used]
        self.drop(unused)
        for op in body.operations:
            if op.operation.name.startswith("torch.constant."):
                self.literals[op.results[0]] = self.literal(op)
                continue
            if op.operation.name == LIST:
                continue  # written out where it is read
            handler = self.handlers.get(op.operation.name, self.compute)
            handler(op)
        self.out.source = "\n".join(self.lines) + "\n"
        return self.out

    def last_uses(self, body: ir.Block) -> dict[int, list[ir.Value]]:
        """Position of an op -> values that no later op reads."""
        last: dict[ir.Value, int] = {}
        for position, op in enumerate(body.operations):
            for operand in read_by(op):
                last[operand] = position
        self.used = set(last)
        by_position: dict[int, list[ir.Value]] = {}
        for value, position in last.items():
            by_position.setdefault(position, []).append(value)
        self.position = {op.operation: i for i, op in enumerate(body.operations)}
        return by_position

    def dying(self, op: ir.OpView) -> list[ir.Value]:
        return [v for v in self.last.get(self.position[op.operation], []) if v not in self.literals]

    def drop(self, values: list[ir.Value]) -> None:
        if values:
            self.lines.append("    del " + ", ".join(self.names[v] for v in values))

    def define(self, value: ir.Value) -> str:
        self.names[value] = name = f"v{len(self.names)}"
        return name

    def read(self, value: ir.Value) -> str:
        return self.literals[value] if value in self.literals else self.names[value]

    def literal(self, op: ir.OpView) -> str:
        from .raising import literal_of

        return self.show(literal_of(op))

    def slot(self, symbol_: str) -> str:
        """Global name of a slot's handle."""
        for known, other in self.out.slots.items():
            if other == symbol_:
                return known
        name = f"slot_{len(self.out.slots)}"
        self.out.slots[name] = symbol_
        return name

    def statement(self, op: ir.OpView, text: str) -> None:
        """One line for `op`; results get names, what dies here is dropped after it."""
        dying = self.dying(op)
        results = [self.define(r) for r in op.results]
        prefix = f"{', '.join(results)} = " if results else ""
        self.lines.append(f"    {prefix}{text}")
        self.drop(dying + [r for r in op.results if r not in self.used])

    def call(self, op: ir.OpView) -> None:
        callee = symbol(op, "callee")
        site = f"segment_{len(self.out.segments)}"
        self.out.segments.append(callee)
        dying = self.dying(op)
        arguments = ", ".join(self.read(v) for v in op.operands)
        self.lines.append(f"    t = [{arguments}]")
        self.drop(dying)
        results = listed([self.define(r) for r in op.results])
        self.lines.append(f"    {results}{' = ' if results else ''}{site}(t)  # {callee}")
        self.drop([r for r in op.results if r not in self.used])

    def offload_start(self, op: ir.OpView) -> None:
        self.statement(
            op, f"engine.offload_start({self.read(op.operands[0])}, {self.slot(symbol(op))})"
        )

    def reload_start(self, op: ir.OpView) -> None:
        host = self.read(op.operands[0])
        self.statement(op, f"engine.reload_start({host}, {self.slot(symbol(op))}, device)")

    def wait(self, op: ir.OpView) -> None:
        self.statement(op, f"engine.wait({self.read(op.operands[0])})")

    def free(self, op: ir.OpView) -> None:
        self.statement(op, f"engine.free({self.read(op.operands[0])})")

    def compute(self, op: ir.OpView) -> None:
        """An op of another dialect that stayed in the entry function: a view of an argument."""
        from .raising import torch_call

        if not op.operation.name.startswith("torch."):
            raise EmitError(f"the Python target has no form of this op: {op.operation.name}")
        target, args, kwargs = torch_call(op, self.table)
        name = f"{getattr(target, '__name__', 'target').replace('.', '_')}_{len(self.out.objects)}"
        self.out.objects[name] = target
        shown = [self.show(a) for a in args] + [f"{k}={self.show(v)}" for k, v in kwargs.items()]
        self.statement(op, f"{name}({', '.join(shown)})")

    def show(self, value: object) -> str:
        """Python text of an argument whose leaves may be SSA values."""
        if isinstance(value, ir.Value):
            return self.read(value)
        if isinstance(value, list | tuple):
            inner = "".join(f"{self.show(v)}, " for v in value)
            return f"[{inner.rstrip(', ')}]" if isinstance(value, list) else f"({inner.rstrip()})"
        return repr(value) if isinstance(value, PLAIN) else self.bind(value)

    def bind(self, value: object) -> str:
        """A global for an object whose `repr` is not Python."""
        name = f"object_{len(self.out.objects)}"
        self.out.objects[name] = value
        return name

    def return_(self, op: ir.OpView) -> None:
        retained = []
        for value, attributes in results(self.func):
            slot = slot_of(attributes)
            made_here = not isinstance(value, ir.BlockArgument) and value not in self.literals
            if slot is not None and made_here and is_tensor(value.type):
                retained.append(f"    engine.retain({self.read(value)}, {self.slot(slot)})")
        self.lines += dict.fromkeys(retained)
        self.lines.append(f"    return {listed([self.read(v) for v in op.operands]) or '()'}")


def read_by(op: ir.OpView | ir.Operation) -> Iterator[ir.Value]:
    """The values that the statement of `op` reads: lists are written out in it."""
    for operand in op.operands:
        if not isinstance(operand, ir.BlockArgument) and operand.owner.operation.name == LIST:
            yield from read_by(operand.owner)
        else:
            yield operand


def listed(names: list[str]) -> str:
    """The names as a tuple, without brackets where Python needs none."""
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def is_tensor(type_: ir.Type) -> bool:
    """True for a tensor on the device."""
    return str(type_).startswith(("!torch.vtensor", "!torch.tensor", "tensor<"))

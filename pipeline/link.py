"""Links an emitted entry function: compiles its segments, in program order, and binds its free names.

Segments are compiled with the strides that the segments before them really return, which differ from the traced ones
when Inductor lays out a value anew.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch_mlir import ir

from ..dialect import attributes as attr
from ..runtime import Engine
from . import torch_private
from .emit_python import emit_entry
from .fake_values import on_device, on_host
from .ir import arguments, block, functions, results, return_op, symbol, symbol_name
from .node_table import NodeTable
from .raising import literal_of, raise_function, torch_call
from .segments import SegmentCompiler


class Linker:
    """Makes callables of the entry functions of one outlined module."""

    def __init__(
        self, module: ir.Module, table: NodeTable, segments: SegmentCompiler, engine: Engine
    ) -> None:
        self.functions = {symbol_name(f): f for f in functions(module)}
        self.table, self.segments, self.engine = table, segments, engine

    def link(
        self,
        entry: str,
        inputs: list[Any],
        *,
        device: torch.device,
        is_backward: bool = False,
        is_inference: bool = False,
        dump: Path | None = None,
    ) -> tuple[Callable[[list], tuple], list[tuple[int, ...] | None]]:
        """A callable that takes a list, which it empties, and returns a tuple; and the strides of its results.

        `inputs` are fake values of the arguments that the caller passes.
        """
        func = self.functions[entry]
        emitted = emit_entry(func, self.table)
        if dump is not None:
            (dump / f"{entry}.py").write_text(emitted.source)
        walk = _Compile(self, func, inputs, device, is_backward, is_inference)
        namespace: dict[str, Any] = {
            "engine": self.engine,
            "device": device,
            "inf": math.inf,
            "nan": math.nan,
            **walk.segments,
            **emitted.objects,
            **{name: self.engine.slot(symbol) for name, symbol in emitted.slots.items()},
        }
        filename = f"<residency {entry} {id(func):x}>"
        linecache.cache[filename] = (
            len(emitted.source),
            None,
            emitted.source.splitlines(keepends=True),
            filename,
        )
        exec(compile(emitted.source, filename, "exec"), namespace)
        return _boxed(namespace[entry], walk.constants), walk.strides


def _boxed(run: Callable[[list], tuple], constants: list[torch.Tensor]) -> Callable[[list], tuple]:
    """`run` with the module's tensor constants behind the caller's arguments."""
    if not constants:
        boxed = run
    else:

        def boxed(args: list) -> tuple:
            args += constants
            return run(args)

    boxed._boxed_call = True
    return boxed


class _Compile:
    """Walks an entry function with fake values; compiles each segment where it is called first."""

    def __init__(
        self,
        linker: Linker,
        func: ir.OpView,
        inputs: list[Any],
        device: torch.device,
        is_backward: bool,
        is_inference: bool,
    ) -> None:
        self.linker, self.device = linker, device
        self.is_backward, self.is_inference = is_backward, is_inference
        self.segments: dict[str, Callable] = {}
        self.constants: list[torch.Tensor] = []
        self.env: dict[ir.Value, Any] = {}
        self.fake_mode = linker.table.fake_mode or torch_private.new_fake_mode()
        remaining = iter(inputs)
        for argument, attributes in arguments(func):
            if attr.CONSTANT in attributes:
                constant = linker.table[ir.IntegerAttr(attributes[attr.CONSTANT]).value].constant
                self.constants.append(constant)
                self.env[argument] = self.fake_mode.from_tensor(constant)
            else:
                self.env[argument] = next(remaining)
        self.visible = {v for v, attributes in results(func) if attr.SLOT not in attributes}
        for op in block(func).operations:
            self.step(op)
        self.strides = [
            tuple(int(s) if isinstance(s, int) else s for s in fake.stride())
            if isinstance(fake := self.env[value], torch.Tensor)
            else None
            for value in return_op(func).operands
        ]

    def step(self, op: ir.OpView) -> None:
        name = op.operation.name
        if name == "func.return":
            return
        if name == "func.call":
            self.call(op)
        elif name.startswith("residency."):
            for result in op.results:
                self.env[result] = self.moved(self.env[op.operands[0]], result.type)
        elif name.startswith("torch.constant."):
            self.env[op.results[0]] = literal_of(op)
        else:
            self.compute(op)

    def moved(self, fake: Any, type_: ir.Type) -> Any:
        """The fake value of a transfer's result: pending values stand for what they yield."""
        text = str(type_)
        return on_host(fake) if "!residency.host<" in text else on_device(fake, self.device)

    def compute(self, op: ir.OpView) -> None:
        target, args, kwargs = torch_call(op, self.linker.table)
        args, kwargs = torch.utils._pytree.tree_map(
            lambda leaf: self.env[leaf] if isinstance(leaf, ir.Value) else leaf, (args, kwargs)
        )
        with self.fake_mode, torch.no_grad():
            results = target(*args, **kwargs)
        for result, fake in zip(
            op.results, results if len(op.results) > 1 else (results,), strict=True
        ):
            self.env[result] = fake

    def call(self, op: ir.OpView) -> None:
        func = self.linker.functions[symbol(op, "callee")]
        fakes = [self.env[value] for value in op.operands]
        graph = raise_function(
            func, self.linker.table, fake_mode=self.fake_mode, example_inputs=fakes
        )
        compiled = self.linker.segments.compile(
            graph,
            fakes,
            is_backward=self.is_backward,
            is_inference=self.is_inference,
            user_visible=frozenset(i for i, r in enumerate(op.results) if r in self.visible),
            donated=frozenset(),
        )
        # One name per call site: calls of one function may need code for unlike strides.
        self.segments[f"segment_{len(self.segments)}"] = compiled.fn
        for result, fake in zip(op.results, compiled.outputs, strict=True):
            self.env[result] = fake

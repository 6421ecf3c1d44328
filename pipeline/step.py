"""One Dynamo graph on its way: partition, place, schedule, outline, then link forward and backward."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import fx
from torch_mlir import ir

from ..dialect import attributes as attr
from ..runtime import engine_for
from . import collector, phases, torch_private
from .fake_values import FakeValues
from .importer import ImportedStep, import_step
from .ir import argument_attributes, function, slots, string
from .link import Linker
from .options import Options
from .pass_manager import run_passes
from .passes._base import Pass
from .report import GraphReport, SlotReport
from .segments import SegmentCompiler
from .signature import signature_graph, slot_fakes
from .tensor_type import byte_size


class CannotCompile(RuntimeError):
    """A graph that residency cannot take; the message says why."""


@contextlib.contextmanager
def explained(what: str) -> Iterator[None]:
    """Turns any failure of ours into CannotCompile, so that training goes on without us."""
    try:
        yield
    except CannotCompile:
        raise
    except Exception as error:
        first_line = next(iter(str(error).splitlines()), "")
        raise CannotCompile(f"{what}: {type(error).__name__}: {first_line}") from error


class StepCompiler:
    """Compiles one graph; its methods are the hooks that AOTAutograd calls, in order."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.fallback_reason: str | None = None
        self.step: ImportedStep | None = None
        self.linker: Linker | None = None
        self.device = torch.device("cpu")
        self.is_inference = False

    def compile(self, gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        """The callable that Dynamo puts in the place of `gm`; raises CannotCompile."""
        make_backend = (
            torch_private.inductor_backend
            if self.options.segments == "inductor"
            else torch_private.aot_backend
        )
        backend = make_backend(
            partition_fn=self.partition,
            fw_compiler=self.compile_forward,
            bw_compiler=self.compile_backward,
            inference_compiler=self.compile_inference,
        )
        return backend(gm, example_inputs)

    def partition(
        self, joint: fx.GraphModule, joint_inputs: Any, *, num_fwd_outputs: int, **kwargs: Any
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        """Forward and backward together: what one saves and the other reads changes as one."""
        base = (
            torch_private.inductor_partition
            if self.options.segments == "inductor"
            else torch_private.min_cut_partition
        )
        forward, backward = base(joint, joint_inputs, num_fwd_outputs=num_fwd_outputs, **kwargs)
        static = kwargs.get("static_lifetime_input_indices") or ()
        with explained("importing and placing the step"), collector.paused():
            self.place(forward, backward, num_fwd_outputs, static)
            module, table = self.step.module, self.step.table
            fakes = FakeValues(function(module, "forward"), table)
            saved = slot_fakes(function(module, "forward"), fakes)
            graphs = (
                signature_graph(function(module, "forward"), table, fakes),
                signature_graph(
                    function(module, "backward"),
                    table,
                    FakeValues(function(module, "backward"), table),
                    saved,
                ),
            )
            self.schedule()
            return graphs

    def place(
        self,
        forward: fx.GraphModule,
        backward: fx.GraphModule | None,
        num_user_outputs: int,
        static: Sequence[int] = (),
    ) -> None:
        """Imports the graphs and says what moves: from here on the calling convention is fixed."""
        self.device = step_device(forward)
        self.step = import_step(
            forward, backward, num_user_outputs=num_user_outputs, static_input_indices=static
        )
        passes = phases.imported() + phases.placed(
            budget=self.options.device_budget, min_bytes=self.options.min_bytes
        )
        self.run(passes, "placed")

    def schedule(self) -> None:
        """Says when it moves, and makes segments of the compute."""
        layers = self.options.segments == "inductor"
        self.run(phases.scheduled(layers=layers) + phases.outlined(), "outlined")
        self.linker = Linker(
            self.step.module,
            self.step.table,
            SegmentCompiler(self.options.segments),
            engine_for(self.device),
        )

    def run(self, passes: list[Pass], folder: str) -> None:
        dump = self.options.dump
        run_passes(self.step.module, passes, dump=dump / folder if dump else None)

    def compile_forward(self, graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        return self.link("forward", graph, inputs)

    def compile_backward(self, graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        """Forward may have run already, so that plain torch.compile cannot take over: ATen does, segment by segment."""
        try:
            return self.link("backward", graph, inputs)
        except CannotCompile as error:
            if not self.options.fallback or self.options.segments == "eager":
                raise
            warnings.warn(f"residency runs this backward without Inductor: {error}", stacklevel=2)
        self.linker.segments = SegmentCompiler("eager")
        return self.link("backward", graph, inputs)

    def compile_inference(self, graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        self.is_inference = True
        if self.options.segments == "inductor":
            graph = torch_private.inductor_joint_passes(graph)
        with explained("importing the graph"):
            outputs = graph.graph.output_node().args[0]
            self.place(graph, None, len(outputs))
            self.schedule()
        return self.link("forward", graph, inputs)

    def link(self, entry: str, graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        with explained(f"compiling {entry}"):
            expected = sum(
                attr.CONSTANT not in a
                for a in argument_attributes(function(self.step.module, entry))
            )
            if expected != len(inputs):
                raise CannotCompile(
                    f"AOTAutograd changed the arguments of {entry} from {expected} to: {len(inputs)}"
                )
            run, strides = self.linker.link(
                entry,
                list(inputs),
                device=self.device,
                is_backward=entry == "backward",
                is_inference=self.is_inference,
                dump=self.options.dump,
            )
            if entry == "forward":
                torch_private.report_output_strides(strides)
            return run

    def report(self) -> GraphReport:
        """The decisions for this graph."""
        if self.fallback_reason or self.step is None:
            reason = self.fallback_reason or "not compiled yet"
            return GraphReport((), self.options.device_budget, reason)
        rows = []
        for name, slot in slots(self.step.module).items():
            stays = attr.STAYS in slot.attributes
            why = attr.STAYS if stays else attr.REASON
            rows.append(
                SlotReport(
                    slot=name,
                    bytes=byte_size(ir.TypeAttr(slot.attributes["type"]).value),
                    tier=string(slot.attributes["tier"]),
                    reason=string(slot.attributes[why]) if why in slot.attributes else "",
                    movable=not stays,
                )
            )
        return GraphReport(tuple(rows), self.options.device_budget)


def step_device(graph: fx.GraphModule) -> torch.device:
    """The device that the step computes on: the first accelerator among its inputs, else the CPU."""
    for node in graph.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.device.type not in ("cpu", "meta"):
            return value.device
    return torch.device("cpu")

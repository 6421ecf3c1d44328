"""Compiles the segments of a step, equal ones once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from torch import fx

from .compiled import CompiledSegment, check, compile_segment
from .fakes import Strides, mode_for, outputs_of, restride
from .structure import Structure, symbols_in


class SegmentCompiler:
    """Compiles segments in program order, each for inputs as the segments before it really return them."""

    def __init__(self, mode: str = "inductor") -> None:
        self.mode = mode
        self.compiled = 0
        """segments compiled so far"""
        self.shared = 0
        """segments that got the code of an equal one"""
        self.seconds = 0.0
        """time spent compiling"""
        self._known: dict[str, tuple[Callable[[list], tuple], list[Strides | None]]] = {}
        self._alive: list[Any] = []

    def compile(
        self,
        gm: fx.GraphModule,
        fake_inputs: Sequence[Any],
        *,
        is_backward: bool = False,
        is_inference: bool = False,
        user_visible: frozenset[int] = frozenset(),
        donated: frozenset[int] = frozenset(),
    ) -> CompiledSegment:
        """As `compile_segment`; equal segments share one callable."""
        check(gm, fake_inputs, self.mode, user_visible, donated)
        start = time.perf_counter()
        options = {
            "is_backward": is_backward,
            "is_inference": is_inference,
            "user_visible": user_visible,
            "donated": donated,
        }
        key = self.key(gm, fake_inputs, **options)
        if key in self._known:
            self.shared += 1
            fn, strides = self._known[key]
            outputs = outputs_of(gm, fake_inputs)
            outputs = [restride(o, s) for o, s in zip(outputs, strides, strict=True)]
            return CompiledSegment(fn, strides, outputs)
        result = compile_segment(gm, fake_inputs, mode=self.mode, **options)
        self._known[key] = result.fn, result.output_strides
        self.compiled += 1
        self.seconds += time.perf_counter() - start
        return result

    def key(
        self,
        gm: fx.GraphModule,
        fake_inputs: Sequence[Any],
        *,
        is_backward: bool,
        is_inference: bool,
        user_visible: frozenset[int],
        donated: frozenset[int],
    ) -> str:
        """Text that is equal for segments which may share code."""
        structure = Structure()
        parts = [self.mode, structure.graph(gm)]
        parts += [structure.argument(value) for value in fake_inputs]
        if self.mode == "inductor":
            parts.append(repr((is_backward, is_inference, sorted(user_visible), sorted(donated))))
        if symbols_in(fake_inputs):
            # A symbol means nothing outside the environment that made it.
            parts.append(structure.identity(mode_for(gm, fake_inputs).shape_env))
        if any(node.meta.get("unbacked_bindings") for node in gm.graph.nodes):
            # Each run of it makes new symbols, which the strides of its outputs may name.
            parts.append(structure.identity(gm))
        self._alive += structure.objects
        return "\n".join(parts)

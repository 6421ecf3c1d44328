"""One segment, compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import fx

from .eager import straight_line
from .fakes import Strides, outputs_of, restride, strides_of

MODES = ("inductor", "eager")


class SegmentError(ValueError):
    """A graph or a request that cannot be compiled as a segment."""


@dataclass(frozen=True)
class CompiledSegment:
    """A callable and the layout of what it returns."""

    fn: Callable[[list], tuple]
    """boxed: takes a list, which it empties, and returns a tuple"""
    output_strides: list[Strides | None]
    """for each output its real strides in elements; None for what is not a strided tensor"""
    outputs: list[Any]
    """for each output a fake tensor as it really lies, or the constant or symbolic number"""


def compile_segment(
    gm: fx.GraphModule,
    fake_inputs: Sequence[Any],
    *,
    mode: str = "inductor",
    is_backward: bool = False,
    is_inference: bool = False,
    user_visible: frozenset[int] = frozenset(),
    donated: frozenset[int] = frozenset(),
) -> CompiledSegment:
    """Compiles a graph for inputs that lie as `fake_inputs` do.

    `user_visible` are outputs whose strides must be those of eager PyTorch; the compiler may choose those of all others.
    `donated` are inputs that a backward segment may overwrite: nobody reads them later, and nothing else has their storage.
    Inductor takes `gm` for its own: it is not to be used afterwards. Raises SegmentError for a request that makes no sense, and
    whatever the compiler raises.
    """
    check(gm, fake_inputs, mode, user_visible, donated)
    outputs = outputs_of(gm, fake_inputs)
    if mode == "eager" or not computes(gm):
        return CompiledSegment(straight_line(gm), [strides_of(o) for o in outputs], outputs)
    from .inductor import compile_inductor

    fn, strides = compile_inductor(
        gm,
        fake_inputs,
        is_backward=is_backward,
        is_inference=is_inference,
        user_visible=user_visible,
        donated=donated,
    )
    outputs = [restride(o, s) for o, s in zip(outputs, strides, strict=True)]
    return CompiledSegment(fn, [strides_of(o) for o in outputs], outputs)


def computes(gm: fx.GraphModule) -> bool:
    """False for a graph that only hands on its inputs."""
    return any(n.op not in ("placeholder", "get_attr", "output") for n in gm.graph.nodes)


def check(
    gm: fx.GraphModule,
    inputs: Sequence[Any],
    mode: str,
    user_visible: frozenset[int],
    donated: frozenset[int],
) -> None:
    """Raises SegmentError for a request that makes no sense."""
    if mode not in MODES:
        raise SegmentError(f"mode must be one of {', '.join(MODES)}; got: {mode!r}")
    placeholders = gm.graph.find_nodes(op="placeholder")
    if len(placeholders) != len(inputs):
        raise SegmentError(f"the segment takes {len(placeholders)} inputs, got: {len(inputs)}")
    returned = gm.graph.output_node().args[0]
    if not isinstance(returned, list | tuple):
        raise SegmentError(f"a segment must return a tuple, got: {returned!r}")
    for what, indices, count in (
        ("user_visible", user_visible, len(returned)),
        ("donated", donated, len(inputs)),
    ):
        if wrong := [i for i in indices if not 0 <= i < count]:
            raise SegmentError(f"{what} must be below {count}, got: {wrong[0]}")

"""Compiles a segment with Inductor, for inputs that lie as the given fake values do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import fx

from .. import torch_private
from .fakes import Strides, mode_for
from .structure import hidden_facts


def compile_inductor(
    gm: fx.GraphModule,
    fake_inputs: Sequence[Any],
    *,
    is_backward: bool,
    is_inference: bool,
    user_visible: frozenset[int],
    donated: frozenset[int],
) -> tuple[Callable[[list], tuple], list[Strides | None]]:
    """A boxed callable, and for each output the strides that Inductor gave it; None where it says nothing.

    Rewrites `gm`.
    """
    output = gm.graph.output_node()
    visible = [i for i in sorted(user_visible) if isinstance(output.args[0][i], fx.Node)]
    output.meta["user_visible_output_idxs"] = visible
    # Inductor finds compiled graphs on disk again by their code and inputs; these facts are in neither.
    facts = repr((visible, sorted(donated), hidden_facts(gm)))
    run, strides = torch_private.inductor_compile(
        gm,
        list(fake_inputs),
        mode_for(gm, fake_inputs),
        is_backward=is_backward,
        is_inference=is_inference,
        donated=sorted(donated),
        key_tag=facts,
    )

    def segment(args: list) -> tuple:
        return run(args)

    segment._boxed_call = True
    return segment, strides

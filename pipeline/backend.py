"""The torch.compile backend: `torch.compile(model, backend="residency", options={...})`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx

from .options import Options
from .report import remember
from .step import CannotCompile, StepCompiler


def residency(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, object] | None = None,
) -> Callable[..., Any]:
    """Compiles one Dynamo graph; `options` are those of `residency.pipeline.options.Options`.

    A graph that cannot be compiled goes to plain torch.compile, with one warning that says why.
    Raises OptionError on an option that does not exist or makes no sense.
    """
    parsed = Options.parse(options)
    step = StepCompiler(parsed)
    remember(step, options)
    try:
        return step.compile(gm, example_inputs)
    except CannotCompile as error:
        if not parsed.fallback:
            raise
        step.fallback_reason = str(error)
        warnings.warn(
            f"residency hands a graph to plain torch.compile, nothing of it is moved: {error}",
            stacklevel=2,
        )
    plain = "inductor" if parsed.segments == "inductor" else "aot_eager"
    compiled = torch._dynamo.lookup_backend(plain)(gm, example_inputs)

    def run_plainly(*args: Any) -> Any:
        return compiled(*args)

    run_plainly.residency_step = (
        step  # so that `explain` finds the reason as long as the code lives
    )
    return run_plainly

"""The only place that touches private torch APIs. Tried with torch 2.11 to 2.13.

Each function says what it wraps, so that a torch release that moves something breaks one line here.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses import FakeTensor, FakeTensorMode

__all__ = [
    "FakeTensor",
    "FakeTensorMode",
    "HigherOrderOperator",
    "OpOverload",
    "aot_backend",
    "expression_of",
    "graph_module",
    "inductor_decompositions",
    "min_cut_partition",
    "schema_of",
]


def schema_of(target: Any) -> torch.FunctionSchema | None:
    """Schema of an op; None for anything else that a graph may call."""
    return getattr(target, "_schema", None)


def expression_of(value: Any) -> Any:
    """The expression behind a symbolic number, anything else as it is. Comparing the number itself would add a guard."""
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return value.node.expr
    return value


def graph_module(attributes: torch.nn.Module | dict[str, Any], graph: fx.Graph) -> fx.GraphModule:
    """A GraphModule whose Python code is generated only when it is called.

    Generating it for thousands of nodes costs as much as raising them, and the compilers never look at it.
    """
    from torch.fx import _lazy_graph_module

    with _lazy_graph_module._use_lazy_graph_module(True):
        return _lazy_graph_module._make_graph_module(attributes, graph)


def aot_backend(**options: Any) -> Callable:
    """A torch.compile backend over AOTAutograd (torch._dynamo.backends.common.aot_autograd)."""
    from torch._dynamo.backends.common import aot_autograd

    return aot_autograd(**options)


def min_cut_partition(*args: Any, **kwargs: Any) -> tuple[fx.GraphModule, fx.GraphModule]:
    """The partitioner that inductor uses: it recomputes cheap values instead of saving them."""
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    return min_cut_rematerialization_partition(*args, **kwargs)


def inductor_decompositions() -> dict[Any, Callable]:
    """Inductor's decomposition table."""
    from torch._inductor.decomposition import select_decomp_table

    return select_decomp_table()


def inductor_partition(*args: Any, **kwargs: Any) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Inductor's own partitioner, which runs its passes on the joint graph first."""
    from torch._inductor.compile_fx import partition_fn

    with _inductor_fake_mode():
        return partition_fn(*args, **kwargs)


def inductor_joint_passes(graph: fx.GraphModule) -> fx.GraphModule:
    """The passes that Inductor runs on a graph which is not partitioned (inference)."""
    from torch._inductor.compile_fx import _recursive_joint_graph_passes

    with _inductor_fake_mode():
        return _recursive_joint_graph_passes(graph)


def _inductor_fake_mode() -> contextlib.AbstractContextManager:
    """Inductor's passes make values (the seeds of dropout) in the mode that it keeps in a global of its own."""
    from torch._inductor.virtualized import V

    return V.set_fake_mode(current_fake_mode() or new_fake_mode())


def inductor_backend(**options: Any) -> Callable:
    """`aot_backend` with the decompositions, passes before autograd and settings that Inductor's own backend has."""
    from torch._dynamo import compiled_autograd
    from torch._functorch import config
    from torch._functorch.aot_autograd import aot_module_simplified

    options = {
        "decompositions": inductor_decompositions(),
        "keep_inference_input_mutations": True,
        **options,
    }
    if "pre_grad_passes" in inspect.signature(aot_module_simplified).parameters:
        from torch._inductor.compile_fx import run_pre_grad_passes

        options.setdefault("pre_grad_passes", run_pre_grad_passes)
    backend = aot_backend(**options)

    def compile_graph(gm: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        # Effect tokens stay inside the graph: nobody outside passes them.
        with compiled_autograd._disable(), config.patch(unlift_effect_tokens=True):
            return backend(gm, inputs)

    return compile_graph


def report_output_strides(strides: list[tuple[int, ...] | None]) -> None:
    """Tells AOTAutograd how the values really lie that forward returns: it compiles backward for them."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.output_strides is not None:
        context.output_strides.extend(strides)


def backend_options(compiled: Callable, backend: str) -> Any:
    """The options object that a compiled function hands to its backend, None if it was given none.

    Raises TypeError for a function that was not compiled with `backend`.
    """
    wrapper = getattr(getattr(compiled, "dynamo_ctx", None), "callback", None)
    if wrapper is None:  # a compiled function keeps its backend in a closure
        config = getattr(compiled, "get_compiler_config", None)
        cells = getattr(config, "__closure__", None) or ()
        wrapper = next((c.cell_contents for c in cells if c.cell_contents is not None), None)
        wrapper = getattr(wrapper, "callback", wrapper)
    while hasattr(wrapper, "_torchdynamo_orig_backend"):
        wrapper = wrapper._torchdynamo_orig_backend
    if getattr(wrapper, "compiler_name", None) != backend:
        raise TypeError(f'needs a function compiled with backend="{backend}", got: {compiled!r}')
    return wrapper.kwargs.get("options")


def current_fake_mode() -> FakeTensorMode | None:
    """The fake mode of the compilation that is going on, None outside of one."""
    return torch._guards.detect_fake_mode()


def new_fake_mode() -> FakeTensorMode:
    """A fake mode for a graph that belongs to none."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


def propagate(gm: fx.GraphModule, inputs: Sequence[Any], mode: FakeTensorMode) -> None:
    """Computes `meta["val"]` of every node anew from fake inputs; decompositions are those for symbolic shapes."""
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.passes.fake_tensor_prop import FakeTensorProp

    with enable_python_dispatcher(), torch.no_grad(), torch._C._DisableAutocast():
        FakeTensorProp(gm, mode=mode).propagate_dont_convert_inputs(*inputs)


def inductor_compile(
    gm: fx.GraphModule,
    inputs: list[Any],
    mode: FakeTensorMode,
    *,
    is_backward: bool,
    is_inference: bool,
    donated: list[int],
    key_tag: str,
) -> tuple[Callable[[list], Any], list[tuple[int | torch.SymInt, ...] | None]]:
    """Inductor's compile_fx_inner: the boxed callable, and the strides of its outputs where Inductor knows them.

    `donated` are inputs that a backward graph may overwrite. `key_tag` goes into the key of Inductor's cache on disk.
    """
    from types import SimpleNamespace

    from torch._inductor.compile_fx import compile_fx_inner
    from torch._inductor.utils import BoxedBool
    from torch._inductor.virtualized import V

    # A context of its own: Inductor reads what is donated from it and writes the strides into it.
    context = torch._guards.TracingContext(mode)
    context.fw_metadata = SimpleNamespace(bw_donated_idxs=donated)
    tag = f"{torch.compiler.config.cache_key_tag}|residency {key_tag}"
    with (
        torch._guards.tracing(context),
        V.set_fake_mode(mode),
        torch.no_grad(),
        torch._C._DisableAutocast(),
        torch.compiler.config.patch(cache_key_tag=tag),
    ):
        compiled = compile_fx_inner(
            gm,
            inputs,
            static_input_idxs=(),
            is_backward=is_backward,
            is_inference=is_inference,
            cudagraphs=BoxedBool(False),
        )
    # Those in the context are numbers for one size; the compiled code keeps expressions.
    strides = [
        None if expressions is None else tuple(_size(e, mode.shape_env) for e in expressions)
        for expressions in compiled.output_strides
    ]
    # What the object itself adds to each call serves the autotuner of GPU kernels.
    tunes = getattr(compiled, "_compile_context", None) is not None
    return compiled if tunes else compiled.current_callable, strides


def _size(expression: str, shape_env: Any) -> int | torch.SymInt:
    return int(expression) if shape_env is None else shape_env.deserialize_symexpr(expression)

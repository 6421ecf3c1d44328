"""A value saved behind the release of its weight moves, comes back, and gives the gradients of plain PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch_mlir import ir

from residency import dialect
from residency.pipeline import torch_private
from residency.pipeline.ir import slots, string
from residency.pipeline.link import Linker
from residency.pipeline.node_table import NodeTable
from residency.pipeline.pass_manager import run_passes
from residency.pipeline.pipeline_parser import parse_pipeline
from residency.pipeline.segments import SegmentCompiler
from residency.runtime import engine

X, W, B, Y = "vtensor<[4,8],f32>", "vtensor<[8,8],f32>", "vtensor<[8],f32>", "vtensor<[4,8],f32>"

FORWARD = """
"residency.param"() {sym_name = "w", type = !torch.vtensor<[8,8],f32>, shard = !torch.vtensor<[8,8],f32>, group = "0"} : () -> ()
"residency.param"() {sym_name = "b", type = !torch.vtensor<[8],f32>, shard = !torch.vtensor<[8],f32>, group = "0"} : () -> ()
func.func @forward(%x: !torch.vtensor<[4,8],f32>, %w: !torch.vtensor<[8,8],f32>, %b: !torch.vtensor<[8],f32>)
    -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32> {residency.slot = @y}) {
  %one = torch.constant.int 1
  %m = torch.aten.mm %x, %w : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32> -> !torch.vtensor<[4,8],f32>
  BODY
  %z = torch.aten.exp %y : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  return RETURNED, %y : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>
}
func.func @backward(%y: !torch.vtensor<[4,8],f32> {residency.kind = "saved", residency.slot = @y},
                    %g: !torch.vtensor<[4,8],f32> {residency.kind = "tangent"}) -> !torch.vtensor<[4,8],f32> {
  %e = torch.aten.exp %y : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %d = torch.aten.mul.Tensor %g, %e : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  return %d : !torch.vtensor<[4,8],f32>
}
"""


def release(result: str, value: str, gathered: str, kind: str) -> str:
    return (
        f'{result} = "residency.release"({value}, {gathered}) {{param = @{gathered[1:]}}} '
        f": (!torch.vtensor<[4,8],f32>, !torch.{kind}) -> !torch.vtensor<[4,8],f32>"
    )


ADD = (
    "%a = torch.aten.add.Tensor %m, %b, %one "
    ": !torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>, !torch.int -> !torch.vtensor<[4,8],f32>"
)
SORT = """%f = torch.constant.bool false
  %a, %i = torch.aten.sort %m, %one, %f
    : !torch.vtensor<[4,8],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],si64>"""

CASES = {
    "weight": (release("%y", "%m", "%w", W), "%z", lambda x, w, b: x @ w),
    "weight_and_bias": (
        "\n".join([ADD, release("%r", "%a", "%w", W), release("%y", "%r", "%b", B)]),
        "%z",
        lambda x, w, b: x @ w + b,
    ),
    "element_of_a_tuple": (
        "\n".join([SORT, release("%y", "%a", "%w", W)]),
        "%z",
        lambda x, w, b: (x @ w).sort(dim=1).values,
    ),
    "returned_and_saved": (release("%y", "%m", "%w", W), "%y", lambda x, w, b: x @ w),
}


@pytest.mark.parametrize("timing", ["lazy", "eager", "random", "async"])
@pytest.mark.parametrize("name", CASES)
def test_a_value_behind_a_release_moves_and_keeps_its_bits(name: str, timing: str) -> None:
    body, returned, reference = CASES[name]
    text = FORWARD.replace("BODY", body).replace("RETURNED", returned)
    context = dialect.load()
    module = ir.Module.parse(text, context)
    pipeline = (
        "residency-match-slots,residency-offload-saved{budget=0},residency-match-slots,"
        "residency-check-placed,residency-schedule-transfers,residency-check-scheduled,"
        "residency-outline-segments,residency-check-outlined"
    )
    run_passes(module, parse_pipeline(pipeline, context))
    assert string(slots(module)["y"].attributes["tier"]) == "host"

    torch.manual_seed(0)
    x, w, b, g = torch.randn(4, 8), torch.randn(8, 8), torch.randn(8), torch.randn(4, 8)
    mode, host = torch_private.new_fake_mode(), engine("host")
    linker = Linker(module, NodeTable(), SegmentCompiler("eager"), host)
    cpu = torch.device("cpu")
    forward, _ = linker.link("forward", [mode.from_tensor(t) for t in (x, w, b)], device=cpu)
    backward, _ = linker.link(
        "backward", [mode.from_tensor(t) for t in (x, g)], device=cpu, is_backward=True
    )
    y = reference(x, w, b)
    host.set_timing(timing, 3)
    try:
        before = host.counters()
        out, saved = forward([x, w, b])
        assert torch.equal(out, y if returned == "%y" else y.exp())
        (grad,) = backward([saved, g])
        after = host.counters()
    finally:
        host.set_timing("async")
    assert torch.equal(grad, g * y.exp())
    assert (after.offloads - before.offloads, after.reloads - before.reloads) == (1, 1)

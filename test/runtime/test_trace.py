"""The timeline that `residency.trace` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import residency
from residency.runtime import engine


def test_every_operation_is_on_its_stream_with_its_slot(tmp_path: Path) -> None:
    host = engine()
    slot = host.slot('odd "name"')
    path = tmp_path / "trace.json"
    with residency.trace(path):
        on_host = host.wait(host.offload_start(torch.randn(1000), slot))
        host.wait(host.reload_start(on_host, slot, "cpu"))
    host.wait(host.offload_start(torch.randn(1000), slot))  # after the trace: not in it
    events = json.loads(path.read_text())["traceEvents"]
    streams = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    spans = [e for e in events if e["ph"] == "X"]
    seen = sorted((streams[e["tid"]], e["name"].removesuffix(' @odd "name"')) for e in spans)
    assert seen == [
        ("compute", "offload_start"),
        ("compute", "reload_start"),
        ("compute", "wait"),
        ("compute", "wait"),
        ("d2h", "offload"),
        ("h2d", "reload"),
    ]
    for span in spans:
        assert span["dur"] >= 0 and span["args"]["slot"] == 'odd "name"'
    copies = [e for e in spans if streams[e["tid"]] in ("d2h", "h2d")]
    assert [e["args"]["bytes"] for e in copies] == [4000, 4000]


def test_traces_do_not_nest(tmp_path: Path) -> None:
    inner = residency.trace(tmp_path / "inner.json")
    with (
        residency.trace(tmp_path / "outer.json"),
        pytest.raises(RuntimeError, match=r"inner\.json"),
    ):
        inner.__enter__()
    assert json.loads((tmp_path / "outer.json").read_text())["traceEvents"]
    with residency.trace(tmp_path / "next.json"):
        pass


def test_a_trace_is_written_when_the_step_fails(tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError), residency.trace(tmp_path / "failed.json"):
        raise ArithmeticError
    assert json.loads((tmp_path / "failed.json").read_text())["traceEvents"]

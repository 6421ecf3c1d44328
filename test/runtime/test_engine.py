"""Tensors through the engine: the same bits, strides and lifetimes that PyTorch alone gives."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import torch

from residency.runtime import Engine, engine, engine_for

TIMINGS = ["async", "lazy", "eager", "random"]


@pytest.fixture(params=TIMINGS)
def host(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = Engine("host")
    made.set_timing(request.param, seed=7)
    yield made
    if made.counters().host_bytes:
        gc.collect()  # tracebacks of expected errors hold tensors
    assert made.counters().host_bytes == 0, "host memory is still held"


def there_and_back(host: Engine, tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    slot = host.slot("saved_0")
    on_host = host.wait(host.offload_start(tensor, slot))
    return on_host, host.wait(host.reload_start(on_host, slot, tensor.device))


def bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().flatten().view(torch.uint8)


SQUARE = torch.arange(36.0).reshape(6, 6)
LAYOUTS = {
    "contiguous": SQUARE,
    "transposed": SQUARE.t(),
    "permuted": torch.randn(2, 3, 4, 5).permute(2, 0, 3, 1),
    "channels_last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "rows with gaps": SQUARE[:, 1:3],
    "strided rows": SQUARE[::2],
    "expanded": torch.arange(4.0).expand(3, 4),
    "scalar": torch.tensor(3.5),
    "empty": torch.empty(0, 3),
    "offset": torch.arange(10.0)[3:7],
    "nan and infinities": torch.tensor([float("nan"), float("inf"), -0.0]),
}
DTYPES = [
    torch.float64, torch.float16, torch.bfloat16, torch.bool, torch.int8, torch.int64,
    torch.uint16, torch.complex64, torch.float8_e4m3fn,
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bits_and_strides_come_back(host: Engine, layout: str) -> None:
    tensor = LAYOUTS[layout]
    for moved in there_and_back(host, tensor):
        assert moved.stride() == tensor.stride()
        assert moved.shape == tensor.shape
        assert torch.equal(bits(moved), bits(tensor))
        assert tensor.numel() == 0 or moved.data_ptr() != tensor.data_ptr()
        assert not moved._is_view() and moved.storage_offset() == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_moves(host: Engine, dtype: torch.dtype) -> None:
    tensor = torch.arange(-6, 6).to(dtype).reshape(3, 4).t()
    for moved in there_and_back(host, tensor):
        assert moved.dtype == dtype and moved.stride() == tensor.stride()
        assert torch.equal(bits(moved), bits(tensor))


def test_square_and_its_transpose_keep_their_own_strides(host: Engine) -> None:
    slots = host.slot("saved_0"), host.slot("saved_1")
    pending = [host.offload_start(t, s) for t, s in zip((SQUARE, SQUARE.t()), slots, strict=True)]
    on_host = [host.wait(p) for p in pending]
    back = [host.wait(host.reload_start(h, s, "cpu")) for h, s in zip(on_host, slots, strict=True)]
    assert [t.stride() for t in back] == [(6, 1), (1, 6)]
    assert torch.equal(back[0], SQUARE) and torch.equal(back[1], SQUARE.t())


def test_lazy_conjugates_and_negatives_move_as_values(host: Engine) -> None:
    tensor = torch.randn(3, 4, dtype=torch.complex64)
    for lazy in (tensor.conj(), tensor.conj().imag):
        for moved in there_and_back(host, lazy):
            assert torch.equal(moved, lazy)


def test_a_second_wait_names_the_slot(host: Engine) -> None:
    slot = host.slot("saved_3")
    pending = host.offload_start(SQUARE, slot)
    on_host = host.wait(pending)
    with pytest.raises(RuntimeError, match="second wait for one transfer of slot @saved_3"):
        host.wait(pending)
    again = host.reload_start(on_host, slot, "cpu")
    host.wait(again)
    with pytest.raises(RuntimeError, match="@saved_3"):
        host.wait(again)
    assert host.counters().double_waits == 2


def test_a_reload_is_ordered_behind_its_offload_in_flight(host: Engine) -> None:
    slot = host.slot("saved_0")
    for step in range(10):
        tensor = torch.full((300, 300), float(step))
        offload = host.offload_start(tensor, slot)
        back = host.wait(host.reload_start(offload.result, slot, "cpu"))
        assert torch.equal(back, tensor)
        host.wait(offload)


def test_two_invocations_in_flight_have_their_own_memory(host: Engine) -> None:
    slot = host.slot("saved_0")
    first, second = torch.full((1000,), 1.0), torch.full((1000,), 2.0)
    pending = host.offload_start(first, slot), host.offload_start(second, slot)
    a, b = (host.wait(p) for p in pending)
    assert torch.equal(host.wait(host.reload_start(b, slot, "cpu")), second)
    assert torch.equal(host.wait(host.reload_start(a, slot, "cpu")), first)
    assert a.data_ptr() != b.data_ptr()


def test_a_reload_reads_memory_that_was_given_back_meanwhile(host: Engine) -> None:
    slot = host.slot("saved_0")
    for step in range(10):
        tensor = torch.full((50_000,), float(step))
        on_host = host.wait(host.offload_start(tensor, slot))
        reload = host.reload_start(on_host, slot, "cpu")
        del on_host
        other = host.wait(host.offload_start(torch.full((50_000,), -1.0), slot))
        assert torch.equal(host.wait(reload), tensor)
        assert other[0] == -1.0


def test_memory_is_flat_over_a_thousand_steps(host: Engine) -> None:
    tensors = [torch.randn(n, 16) for n in (1, 8, 8, 300)]
    slots = [host.slot(f"saved_{i}") for i in range(len(tensors))]
    steps = 1000
    for step in range(steps):
        pending = [host.offload_start(t, s) for t, s in zip(tensors, slots, strict=True)]
        on_host = [host.wait(p) for p in pending]
        for tensor, slot in zip(reversed(tensors), reversed(slots), strict=True):
            back = host.wait(host.reload_start(on_host.pop(), slot, "cpu"))
            assert torch.equal(back, tensor)
        if step == 0:
            first = host.counters()
    last = host.counters()
    assert last.slot_allocations == first.slot_allocations
    assert last.arena_bytes == first.arena_bytes
    assert last.host_bytes_peak == first.host_bytes_peak
    assert last.host_syncs == first.host_syncs == 0
    assert last.bytes_moved == steps * first.bytes_moved


def test_an_exception_between_start_and_wait_leaks_nothing(host: Engine) -> None:
    slot = host.slot("saved_0")

    def step(fail: bool) -> torch.Tensor:
        tensor = torch.randn(200, 200)
        offload = host.offload_start(tensor, slot)
        reload = host.reload_start(offload.result, slot, "cpu")
        if fail:
            raise ArithmeticError("in the middle")
        host.wait(offload)
        return host.wait(reload) - tensor

    for _ in range(5):
        with pytest.raises(ArithmeticError):
            step(fail=True)
        assert not step(fail=False).any()
    counters = host.counters()
    assert counters.discards == 10
    assert counters.host_bytes == counters.reloaded_bytes == 0
    assert counters.slot_allocations == 1


def test_a_foreign_host_tensor_is_copied_at_once(host: Engine) -> None:
    slot = host.slot("saved_5")
    for foreign in (SQUARE.t().clone(), torch.arange(4.0).expand(3, 4), torch.empty(0, 3)):
        reload = host.reload_start(foreign, slot, "cpu")
        back = host.wait(reload)
        assert torch.equal(back, foreign) and back.stride() == foreign.stride()
        with pytest.raises(RuntimeError, match="@saved_5"):
            host.wait(reload)


def test_host_tensors_outlive_the_engine() -> None:
    made = Engine("host")
    on_host = made.wait(made.offload_start(SQUARE, made.slot("saved_0")))
    del made
    gc.collect()
    assert torch.equal(on_host, SQUARE)


def test_threads_may_share_the_engine(host: Engine) -> None:
    failures: list[str] = []

    def work(number: int) -> None:
        tensor = torch.full((100, number + 1), float(number))
        for _ in range(50):
            if not all(torch.equal(moved, tensor) for moved in there_and_back(host, tensor)):
                failures.append(f"thread {number}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_child_process_drops_the_engine_and_makes_its_own() -> None:
    host = engine()
    host.set_timing("random", seed=1)
    slot = host.slot("saved_0")
    pending = [host.offload_start(torch.ones(100_000), slot) for _ in range(20)]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            del pending, host
            if all(torch.equal(moved, SQUARE) for moved in there_and_back(engine(), SQUARE)):
                status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all(host.wait(p).all() for p in pending)
    host.set_timing("async")


def test_freed_and_returned_memory_is_poisoned_on_request(host: Engine) -> None:
    host.set_poison(True)
    tensor = torch.ones(100)
    on_host = host.wait(host.offload_start(tensor, host.slot("saved_0")))
    host.free(tensor)
    assert tensor.isnan().all()
    back = host.wait(host.reload_start(on_host, 0, "cpu"))
    assert torch.equal(back, torch.ones(100))


def test_bad_arguments_are_named(host: Engine) -> None:
    with pytest.raises(ValueError, match="no such slot: 99"):
        host.offload_start(SQUARE, 99)
    with pytest.raises(ValueError, match="not: tape"):
        Engine("tape")
    with pytest.raises(ValueError, match="not: slow"):
        host.set_timing("slow")
    with pytest.raises(ValueError, match="meta"):
        engine_for(torch.device("meta"))


def test_the_process_has_one_engine_for_a_device() -> None:
    assert engine() is engine("host") is engine_for(torch.device("cpu"))


CHILD = """
import torch
from residency.runtime import engine

host = engine()
tensor = torch.ones(10)
pending = host.offload_start(tensor, host.slot("saved_0"))
host.free(tensor)  # poisons it; a lazy transfer reads it only now
kept = host.wait(pending)
assert kept.isnan().all(), kept
"""


def test_the_environment_configures_the_engine_and_exit_is_silent() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD],
        env={**os.environ, "RESIDENCY_TIMING": "lazy", "RESIDENCY_POISON": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""

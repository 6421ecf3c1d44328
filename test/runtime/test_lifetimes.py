"""Bytes count as saved, or reloaded, exactly as long as their storage lives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from residency.runtime import Engine

KILO = 1024
"""bytes of `tensor()`"""


@pytest.fixture
def host() -> Iterator[Engine]:
    made = Engine("host")
    yield made
    counters = made.counters()
    assert counters.saved_bytes == counters.reloaded_bytes == 0


def tensor() -> torch.Tensor:
    return torch.randn(16, 16)


class SaveRetained(torch.autograd.Function):
    """Doubles its input, and saves an intermediate value as compiled code does."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, host: Engine) -> torch.Tensor:
        saved = x.detach().clone()
        host.retain(saved, host.slot("saved_0"))
        ctx.save_for_backward(saved)
        return x * 2

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        (saved,) = ctx.saved_tensors
        return gradient * 2 + 0 * saved, None


def test_a_storage_counts_once_and_until_its_last_view_dies(host: Engine) -> None:
    x = tensor()
    for alias in (x, x, x.t(), x.view(-1)[3:], x.detach()):
        host.retain(alias, host.slot("saved_0"))
    assert host.counters().saved_bytes == KILO
    view = x.view(-1)[5:6].detach()
    del x, alias
    assert host.counters().saved_bytes == KILO
    del view
    assert host.counters().saved_bytes == 0
    assert host.counters().saved_bytes_peak == KILO


def test_autograd_keeps_saved_bytes_until_backward(host: Engine) -> None:
    x = tensor().requires_grad_()
    y = SaveRetained.apply(x, host)
    assert host.counters().saved_bytes == KILO
    y.sum().backward()
    assert host.counters().saved_bytes == 0


def test_forward_without_backward_gives_saved_bytes_back(host: Engine) -> None:
    x = tensor().requires_grad_()
    y = SaveRetained.apply(x, host)
    assert host.counters().saved_bytes == KILO
    del y
    assert host.counters().saved_bytes == 0


def test_two_forwards_before_a_backward_count_twice(host: Engine) -> None:
    x = tensor().requires_grad_()
    y = SaveRetained.apply(x, host) + SaveRetained.apply(x, host)
    assert host.counters().saved_bytes == 2 * KILO
    y.sum().backward()
    assert host.counters().saved_bytes == 0
    with torch.no_grad():
        SaveRetained.apply(x, host)
    assert host.counters().saved_bytes == 0


def test_a_retained_graph_keeps_its_saved_bytes(host: Engine) -> None:
    x = tensor().requires_grad_()
    y = SaveRetained.apply(x, host).sum()
    y.backward(retain_graph=True)
    assert host.counters().saved_bytes == KILO
    y.backward()
    assert host.counters().saved_bytes == 0


def test_values_without_a_storage_count_as_nothing(host: Engine) -> None:
    for value in (3, None, torch.eye(3).to_sparse()):
        host.retain(value, host.slot("saved_0"))
    assert host.counters().saved_bytes == 0


def test_a_dead_storage_does_not_hide_the_next_one(host: Engine) -> None:
    for _ in range(100):
        x = tensor()
        host.retain(x, host.slot("saved_0"))
        assert host.counters().saved_bytes == KILO
        del x
        assert host.counters().saved_bytes == 0


def test_peak_of_reloads_is_one_when_each_dies_before_the_next(host: Engine) -> None:
    slot = host.slot("saved_0")
    on_host = [host.wait(host.offload_start(tensor(), slot)) for _ in range(8)]
    while on_host:
        back = host.wait(host.reload_start(on_host.pop(), slot, "cpu"))
        assert host.counters().reloaded_bytes == KILO
        del back
    assert host.counters().reloaded_bytes_peak == KILO
    assert host.counters().reloaded_bytes_total == 8 * KILO


def test_peaks_start_again_from_now(host: Engine) -> None:
    x, y = tensor(), tensor()
    host.retain(x, host.slot("x"))
    host.retain(y, host.slot("y"))
    del y
    host.reset_peaks()
    assert host.counters().saved_bytes_peak == KILO


def test_autograd_gives_the_host_memory_back() -> None:
    class SaveOffloaded(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(host.wait(host.offload_start(x.detach().clone(), slot)))
            return x * 2

        @staticmethod
        def backward(ctx, gradient: torch.Tensor) -> torch.Tensor:
            (on_host,) = ctx.saved_tensors
            return gradient * host.wait(host.reload_start(on_host, slot, "cpu"))

    host = Engine("host")
    slot = host.slot("saved_0")
    x = tensor().requires_grad_()
    first, second = SaveOffloaded.apply(x), SaveOffloaded.apply(x)
    assert host.counters().host_bytes == 2 * KILO
    (first + second).sum().backward()
    assert torch.equal(x.grad, 2 * x.detach())
    assert host.counters().host_bytes == 0
    unused = SaveOffloaded.apply(x)
    assert host.counters().host_bytes == KILO
    del unused
    assert host.counters().host_bytes == 0
    assert host.counters().slot_allocations == 2

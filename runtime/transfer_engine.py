"""The engine as Python sees it: tensors in, tensors out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

import torch
from torch.utils.dlpack import from_dlpack

from . import _engine
from ._engine import Pending
from .lifetimes import StorageAccount
from .tensors import BYTES, TYPE_CODES, copy_covered, covered_elements, empty_as, over_memory

_HOST_COMPUTE = 0
"""the compute stream's handle on the host device, whose compute is the calling thread"""

TIMINGS = {
    "async": _engine.ASYNC,
    "lazy": _engine.LAZY,
    "eager": _engine.EAGER,
    "random": _engine.RANDOM,
}


@dataclass(frozen=True)
class Counters:
    """What an engine has done. All sizes in bytes."""

    saved_bytes: int
    """saved values on the device, now: storages given to `retain` that have not been freed"""
    saved_bytes_peak: int
    reloaded_bytes: int
    """reloaded values on the device, now"""
    reloaded_bytes_peak: int
    host_bytes: int
    """offloaded values on the host, now"""
    host_bytes_peak: int
    arena_bytes: int
    """host memory that the engine holds, in use or not"""
    slot_allocations: int
    """times the engine asked the system for host memory; flat once a step repeats"""
    offloads: int
    offloaded_bytes: int
    reloads: int
    reloaded_bytes_total: int
    waits: int
    double_waits: int
    """refused second waits"""
    discards: int
    """transfers dropped without a wait, by steps that did not finish"""
    frees: int
    host_syncs: int

    @property
    def bytes_moved(self) -> int:
        """Both directions."""
        return self.offloaded_bytes + self.reloaded_bytes_total


class _Ready:
    """A reload that is over when it starts."""

    def __init__(self, result: torch.Tensor, slot: str) -> None:
        self.result: torch.Tensor | None = result
        self._slot = slot

    def wait(self, _compute: int) -> torch.Tensor:
        if self.result is None:
            raise RuntimeError(f"second wait for one transfer of slot @{self._slot}")
        result, self.result = self.result, None
        return result


class Engine:
    """Moves tensors between one device and the host. All methods may be called from any thread.

    Most programs share one engine per device and process: see `engine`.
    """

    def __init__(self, device: str = "host") -> None:
        """`device` is "host". Raises ValueError for another."""
        self.device = device
        self._native = _engine.Engine(device)
        self._saved = StorageAccount(partial(self._native.account, _engine.SAVED))
        self._reloaded = StorageAccount(partial(self._native.account, _engine.RELOADED))
        self._slots: list[str] = []

    def slot(self, name: str) -> int:
        """The number of the slot `name`, the same for the same name."""
        number = self._native.slot(name)
        if number == len(self._slots):
            self._slots.append(name)
        return number

    def offload_start(self, tensor: torch.Tensor, slot: int) -> Pending:
        """Starts copying a tensor to the host. The wait returns an ordinary CPU tensor of the same size, strides and dtype;
        its memory goes back to the engine when its storage is freed.

        Raises ValueError for an unknown slot and MemoryError when the host has no memory left.
        """
        if tensor.is_conj() or tensor.is_neg():  # a bit of the tensor that its bytes do not show
            tensor = tensor.resolve_conj().resolve_neg()
        code = TYPE_CODES.get(tensor.dtype)
        if code is None:
            size = covered_elements(tensor) * tensor.element_size()
            layout = (size,), (1,), BYTES, 1
        else:
            layout = tensor.shape, tensor.stride(), code, tensor.element_size()
        pending, memory = self._native.offload_start(
            tensor.data_ptr(), *layout, slot, _HOST_COMPUTE, tensor
        )
        pending.result = over_memory(memory, tensor) if code is None else from_dlpack(memory)
        return pending

    def reload_start(
        self, host: torch.Tensor, slot: int, device: torch.device | str
    ) -> Pending | _Ready:
        """Starts copying what an offload returned to a new tensor of the same size, strides and dtype on `device`, which
        the wait returns.

        A tensor that is not of this engine, as hooks on saved tensors may put in its place, is copied at once.
        """
        result = empty_as(host, device)
        pending = self._native.reload_start(
            host.data_ptr(),
            result.data_ptr(),
            host.shape,
            host.stride(),
            host.element_size(),
            slot,
            _HOST_COMPUTE,
            result,
        )
        if pending is None:
            copy_covered(result, host)
            pending = _Ready(result, self._slots[slot])
        self._reloaded.add(result)
        return pending

    def wait(self, pending: Pending | _Ready) -> torch.Tensor:
        """What a transfer yields. Raises RuntimeError, naming the slot, the second time."""
        return pending.wait(_HOST_COMPUTE)

    def free(self, tensor: torch.Tensor) -> None:
        """Says that nothing reads the tensor's storage any more. The caller drops its references."""
        storage = tensor.untyped_storage()
        self._native.free(storage.data_ptr(), storage.nbytes(), _HOST_COMPUTE)

    def retain(self, value: object, slot: int) -> None:
        """Counts a value as saved on the device until its storage is freed; a storage counts once.

        Values without a storage of their own (numbers, sparse tensors) count as nothing.
        """
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            self._saved.add(value)

    def counters(self) -> Counters:
        """The counters now."""
        return Counters(**self._native.counters())

    def reset_peaks(self) -> None:
        """Sets the peaks to the values of now."""
        self._native.reset_peaks()

    def synchronize(self) -> None:
        """Blocks until no transfer is in flight. A step needs none."""
        self._native.synchronize()

    def set_timing(self, timing: str, seed: int = 0) -> None:
        """Sets when transfers run: "async" (as soon as they can), "lazy" (when waited for), "eager" (when started) or
        "random" (late by times drawn from `seed`). A right schedule gives the same bits under all.

        Raises ValueError for another name.
        """
        if timing not in TIMINGS:
            raise ValueError(f"timing is one of {', '.join(TIMINGS)}, not: {timing}")
        self._native.set_timing(TIMINGS[timing], seed)

    def set_poison(self, on: bool) -> None:
        """Overwrites what is freed, so that a use after the end of a lifetime shows in the numbers."""
        self._native.set_poison(on)


_ENGINES: dict[str, Engine] = {}


def engine(device: str = "host") -> Engine:
    """The process's engine for `device`, made on first use.

    The environment variables RESIDENCY_TIMING ("lazy", "eager", "random:7", ...) and RESIDENCY_POISON ("1") configure it.
    Raises ValueError for a device there is no engine for.
    """
    if device not in _ENGINES:
        made = Engine(device)
        timing, _, seed = os.environ.get("RESIDENCY_TIMING", "async").partition(":")
        made.set_timing(timing, int(seed or 0))
        made.set_poison(os.environ.get("RESIDENCY_POISON") == "1")
        made = _ENGINES.setdefault(device, made)
    return _ENGINES[device]


def engine_for(device: torch.device) -> Engine:
    """The engine that moves tensors of a torch device. Raises ValueError when there is none."""
    if device.type != "cpu":
        raise ValueError(f"no engine moves tensors of device: {device}")
    return engine("host")


def live_engines() -> list[Engine]:
    """The process's engines."""
    return list(_ENGINES.values())


# A child process has no copy threads; it makes its own engine.
os.register_at_fork(after_in_child=_ENGINES.clear)

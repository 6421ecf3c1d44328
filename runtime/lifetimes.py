"""Counts bytes from the moment a storage is named to the moment it is freed."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import torch


class _Counted(weakref.ref):
    __slots__ = ("key", "size")


class StorageAccount:
    """Adds a storage's bytes once, however many tensors name it, and takes them away when it is freed.

    torch keeps a storage's Python object as long as the storage itself, so a weak reference to it lives until no tensor, no view
    and no graph of autograd holds the memory.
    """

    def __init__(self, account: Callable[[int], None]) -> None:
        """`account` is told every change in bytes."""
        self._account = account
        self._live: dict[int, _Counted] = {}

    def add(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = id(storage)
        if key in self._live:
            return
        counted = _Counted(storage, self._gone)
        counted.key, counted.size = key, storage.nbytes()
        self._live[key] = counted
        self._account(counted.size)

    def _gone(self, counted: _Counted) -> None:
        del self._live[counted.key]
        self._account(-counted.size)

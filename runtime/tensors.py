"""Tensors as the engine sees them: the bytes of storage that a strided tensor covers."""

from __future__ import annotations

import torch
from torch.utils.dlpack import from_dlpack


def covered_elements(tensor: torch.Tensor) -> int:
    """Elements from the tensor's first to its last one, gaps between them included."""
    if tensor.is_contiguous():
        return tensor.numel()
    if tensor.numel() == 0:
        return 0
    return 1 + sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )


def over_memory(capsule: object, like: torch.Tensor) -> torch.Tensor:
    """A CPU tensor with the size, strides and dtype of `like` over the memory that a DLPack capsule owns.

    Its storage owns the memory, so a view or autograd keeps it as long as they need it.
    """
    storage = from_dlpack(capsule).untyped_storage()
    empty = torch.empty(0, dtype=like.dtype, device="cpu")
    return empty.set_(storage, 0, like.shape, like.stride())


def empty_as(tensor: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """An uninitialised tensor on `device` with the size, strides and dtype of `tensor`."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)


def copy_covered(destination: torch.Tensor, source: torch.Tensor) -> None:
    """Copies all covered bytes between tensors of one size and stride, also where elements overlap."""
    length = (covered_elements(source),)
    destination.as_strided(length, (1,)).copy_(source.as_strided(length, (1,)))

"""Tensors as the engine sees them: an address, a layout, and the bytes of storage that they cover."""

from __future__ import annotations

import torch
from torch.utils.dlpack import from_dlpack

BYTES = 1
"""DLPack's code for unsigned integers"""
TYPE_CODES = {
    torch.bool: 6,
    **dict.fromkeys((torch.int8, torch.int16, torch.int32, torch.int64), 0),
    **dict.fromkeys((torch.uint8, torch.uint16, torch.uint32, torch.uint64), BYTES),
    **dict.fromkeys((torch.float16, torch.float32, torch.float64), 2),
    torch.bfloat16: 4,
    **dict.fromkeys((torch.complex64, torch.complex128), 5),
}
"""DLPack's codes of the common dtypes; the others travel as bytes and get their dtype back at the end"""


def over_memory(capsule: object, like: torch.Tensor) -> torch.Tensor:
    """A CPU tensor with the size, strides and dtype of `like` over the bytes that a DLPack capsule owns.

    Its storage owns the memory, so a view or autograd keeps it as long as they need it.
    """
    storage = from_dlpack(capsule).untyped_storage()
    empty = torch.empty(0, dtype=like.dtype, device="cpu")
    return empty.set_(storage, 0, like.shape, like.stride())


def covered_elements(tensor: torch.Tensor) -> int:
    """Elements from the tensor's first to its last one, gaps between them included."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )


def empty_as(tensor: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """An uninitialised tensor on `device` with the size, strides and dtype of `tensor`."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)


def copy_covered(destination: torch.Tensor, source: torch.Tensor) -> None:
    """Copies all covered bytes between tensors of one size and stride, also where elements overlap."""
    length = (covered_elements(source),)
    destination.as_strided(length, (1,)).copy_(source.as_strided(length, (1,)))

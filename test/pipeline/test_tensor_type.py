"""Shapes, dtypes and bytes of tensor types."""

import pytest
from torch_mlir import ir

from residency.dialect import load
from residency.pipeline.tensor_type import TensorType, byte_size, tensor_type

KNOWN = {
    "!torch.vtensor<[4,8],f32>": ((4, 8), "f32", 128),
    "!torch.vtensor<[],f64>": ((), "f64", 8),
    "!torch.vtensor<[3],i1>": ((3,), "i1", 3),
    "!torch.vtensor<[2,3],bf16>": ((2, 3), "bf16", 12),
    "!torch.vtensor<[5],si64>": ((5,), "si64", 40),
    "!torch.vtensor<[5],complex<f32>>": ((5,), "complex<f32>", 40),
    "!torch.vtensor<[5],f8E4M3FN>": ((5,), "f8E4M3FN", 5),
    "!torch.vtensor<[0,7],f32>": ((0, 7), "f32", 0),
    "!torch.vtensor<[?,8],f32>": ((None, 8), "f32", None),
    "!torch.vtensor<*,f32>": (None, "f32", None),
    "!torch.vtensor<[4],unk>": ((4,), None, None),
    "!torch.vtensor": (None, None, None),
    "!torch.tensor<[4],f32>": ((4,), "f32", 16),
    "tensor<4x8xf32>": ((4, 8), "f32", 128),
    "tensor<f16>": ((), "f16", 2),
    "tensor<?x2xi64>": ((None, 2), "i64", None),
    "tensor<*xf32>": (None, "f32", None),
    "tensor<2xcomplex<f64>>": ((2,), "complex<f64>", 32),
    "tensor<4xindex>": ((4,), "index", None),
    "!residency.host<!torch.vtensor<[4],f32>>": ((4,), "f32", 16),
    "!residency.pending<!residency.host<tensor<4xf32>>>": ((4,), "f32", 16),
}


@pytest.mark.parametrize("text", KNOWN)
def test_tensor_types_are_read(text: str) -> None:
    shape, dtype, size = KNOWN[text]
    type_ = ir.Type.parse(text, load())
    assert str(type_) == text
    assert tensor_type(type_) == TensorType(shape, dtype)
    assert byte_size(type_) == size


@pytest.mark.parametrize(
    "text", ["!torch.int", "f32", "!torch.any", "!torch.list<vtensor>", "none"]
)
def test_other_types_are_no_tensors(text: str) -> None:
    type_ = ir.Type.parse(text, load())
    assert tensor_type(type_) is None
    assert byte_size(type_) is None

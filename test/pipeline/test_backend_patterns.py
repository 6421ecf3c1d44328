"""Small functions of every sort, with everything moved, under delayed transfers and poisoned frees."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from residency.runtime import engine

OPTIONS = {"device_budget": 0, "segments": "eager", "fallback": False}


def attention_of_pieces(x, w):
    q, k, v = (x @ w).chunk(3, -1)
    return (q @ k.t()).softmax(-1) @ v


def in_place(x):
    y = x.sin()
    return y.mul_(2).add_(x).sin_().exp()


def in_place_through_a_view(x):
    y = x.sin()
    y[0].mul_(2)
    return y.exp()


def aliasing_outputs(x):
    y = x.sin()
    return y, y.t(), y.exp()


def recurrent(x, w):
    h = x
    for _ in range(3):
        h = torch.tanh(x @ w + h)
    return h


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape) + 1))


CASES = {
    "split": (
        lambda x, w: sum(p.sin() @ w for p in (x @ w).split(2)),
        [normal(8, 8), normal(8, 8)],
    ),
    "chunk": (attention_of_pieces, [normal(4, 8), normal(8, 24)]),
    "unbind": (lambda x: sum(t.exp().sin() for t in x.sin().unbind(0)), [normal(4, 8)]),
    "expand": (lambda x: x.sin().unsqueeze(0).expand(3, 4).exp() * 2, [normal(4)]),
    "select": (lambda x: x.exp().select(0, 1).sin() * x.exp()[2].cos(), [normal(4, 8)]),
    "diagonal": (lambda x: x.exp().diagonal().sin(), [normal(5, 5)]),
    "as_strided": (lambda x: x.exp().as_strided((2, 2), (1, 2)).sin().exp(), [normal(5, 5)]),
    "complex": (lambda x: torch.view_as_real(torch.view_as_complex(x.sin()) ** 2), [normal(5, 2)]),
    "fft": (lambda x: torch.fft.rfft(x.sin()).abs().exp(), [normal(8)]),
    "view_of_input_returned": (lambda x: (x.view(-1), x.sin().exp()), [normal(4, 4)]),
    "input_returned": (lambda x: (x, x.sin().exp()), [normal(4, 4)]),
    "aliasing_outputs": (aliasing_outputs, [normal(4, 4)]),
    "bf16": (
        lambda x, w: (x.bfloat16() @ w.bfloat16()).sin().float(),
        [normal(4, 4), normal(4, 4)],
    ),
    "empty": (lambda x: x.sin().exp(), [normal(0, 4)]),
    "zero_dim": (lambda x: x.sin().exp().cos(), [torch.tensor(2.0)]),
    "transposed_input": (lambda x: x.t().sin().exp() @ x, [normal(4, 6).t()]),
    "frozen_weight": (lambda x, w: (x @ w.detach()).sin().exp(), [normal(4, 4), normal(4, 4)]),
    "index_put": (
        lambda x: x.sin().index_put((torch.tensor([0, 2]),), torch.ones(2, 4)).exp(),
        [normal(4, 4)],
    ),
    "masked": (
        lambda x: torch.where(x > 0, x.exp(), x.sin()).masked_fill(x < -1, 0.0).exp(),
        [normal(4, 4)],
    ),
    "topk": (lambda x: x.sin().topk(2).values.exp(), [normal(4, 4)]),
    "layer_norm": (lambda x: F.layer_norm(x.sin(), (4,)).exp(), [normal(4, 4)]),
    "checkpoint_with_dropout": (
        lambda x: checkpoint(
            lambda y: F.dropout(y.sin(), 0.5).exp(), x.exp(), use_reentrant=False
        ).sin(),
        [normal(4, 4)],
    ),
    "in_place": (in_place, [normal(4, 4)]),
    "in_place_through_a_view": (in_place_through_a_view, [normal(4, 4)]),
    "nested_outputs": (lambda x: {"a": x.sin().exp(), "b": [x.cos()]}, [normal(4, 4)]),
    "cond": (
        lambda x: torch.cond(x.sum() > 0, lambda y: y.sin().exp(), lambda y: y.cos(), (x.exp(),)),
        [normal(4, 4)],
    ),
    "channels_last": (
        lambda x, w: F.conv2d(x.to(memory_format=torch.channels_last), w).relu().sin(),
        [normal(2, 3, 8, 8), normal(4, 3, 3, 3)],
    ),
    "recurrent": (recurrent, [normal(4, 4), normal(4, 4)]),
    "one_value_twice": (lambda x: x.sin() @ x.sin(), [normal(4, 4)]),
    "dropout": (lambda x: F.dropout(F.gelu(x.sin()), 0.3), [normal(16, 16)]),
    "embedding": (lambda w: F.embedding(torch.tensor([1, 3, 1]), w.sin()).exp(), [normal(10, 4)]),
    "roll_and_flip": (lambda x: x.sin().roll(1, 0).flip(1).exp(), [normal(4, 4)]),
    "einsum": (
        lambda a, b: torch.einsum("bij,bjk->bik", a.sin(), b.exp()),
        [normal(2, 3, 4), normal(2, 4, 5)],
    ),
}


@pytest.fixture
def hostile_engine():
    """Transfers come late, and what is freed is overwritten."""
    host = engine("host")
    host.set_timing("random", 5)
    host.set_poison(True)
    yield host
    host.set_timing("async")
    host.set_poison(False)


def results_and_gradients(function, inputs):
    torch.manual_seed(0)
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    tensors = [
        t
        for t in torch.utils._pytree.tree_leaves(function(*leaves))
        if isinstance(t, torch.Tensor) and t.requires_grad
    ]
    sum((t * 1.5).abs().sum() for t in tensors).backward()
    return [t.detach() for t in tensors] + [x.grad for x in leaves]


@pytest.mark.parametrize("name", CASES)
def test_moving_everything_changes_no_bit(name, hostile_engine):
    torch._dynamo.reset()
    function, inputs = CASES[name]
    expected = results_and_gradients(function, inputs)
    step = torch.compile(function, backend="residency", options=OPTIONS)
    for a, b in zip(expected, results_and_gradients(step, inputs), strict=True):
        assert a is b is None or torch.equal(a, b)

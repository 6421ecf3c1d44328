"""Higher-order ops, custom ops, effects and symbolic sizes: carried through, exact."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from round_trip import check_all, opaque_targets, record
from torch import nn


def leaf(*shape):
    return torch.randn(*shape).requires_grad_()


def kinds(steps):
    return {target for step in steps for target in opaque_targets(step)}


def test_checkpoint_with_dropout():
    from torch.utils.checkpoint import checkpoint

    layer = nn.Linear(8, 8)

    def step(x):
        return checkpoint(lambda x: F.dropout(layer(x).relu(), 0.3), x, use_reentrant=False).sum()

    steps = check_all(record(step, leaf(4, 8)))
    assert kinds(steps) == {"run_and_save_rng_state", "run_with_rng_state"}


def test_cond_with_gradient():
    def step(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin() * 2, lambda x: x.cos(), (x,))

    assert kinds(check_all(record(step, leaf(3)))) == {"cond"}


def test_cond_with_tuple_results():
    def step(x):
        return torch.cond(x.sum() > 0, lambda x: (x.sin(), x + 1), lambda x: (x.cos(), x + 2), (x,))

    assert kinds(check_all(record(step, torch.randn(3)))) == {"cond"}


def test_while_loop():
    from torch._higher_order_ops.while_loop import while_loop

    def step(x):
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 1.1), (torch.tensor(0), x))

    assert kinds(check_all(record(step, torch.randn(3)))) == {"while_loop"}


def test_scan_with_gradient():
    from torch._higher_order_ops.scan import scan

    def step(x):
        return scan(lambda c, x: (c + x, c * x), torch.zeros(3), x)

    assert kinds(check_all(record(step, leaf(4, 3)))) == {"scan"}


def test_flex_attention():
    from torch.nn.attention.flex_attention import flex_attention

    def step(q, k, v):
        return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s * 2 + (i - j))

    inputs = [torch.randn(1, 2, 16, 8) for _ in range(3)]
    assert kinds(check_all(record(step, *inputs))) == {"flex_attention"}


@torch.library.custom_op("residency_test::mutate", mutates_args=("a",))
def mutate(a: torch.Tensor, b: torch.Tensor, text: str, factors: list[float]) -> torch.Tensor:
    a.add_(b)
    return a * factors[0]


@mutate.register_fake
def _(a, b, text, factors):
    return torch.empty_like(a)


@torch.library.custom_op("residency_test::pure", mutates_args=())
def pure(
    a: torch.Tensor,
    text: str = "x",
    n: int = 3,
    factor: float = 0.5,
    other: torch.Tensor | None = None,
    dtype: torch.dtype = torch.float32,
) -> list[torch.Tensor]:
    return [a * n * factor * len(text), (a + 1 if other is None else a + other).to(dtype)]


@pure.register_fake
def _(a, text="x", n=3, factor=0.5, other=None, dtype=torch.float32):
    return [torch.empty_like(a), torch.empty_like(a, dtype=dtype)]


def test_custom_op_that_writes_its_argument():
    def step(x, y):
        z = x * 1
        return torch.ops.residency_test.mutate(z, y, 'é"\n\\', [1.5, 2.0]), z

    assert kinds(check_all(record(step, torch.randn(3), torch.randn(3)))) == {
        "auto_functionalized_v2"
    }


@pytest.mark.parametrize("text", ["", "a b", 'quote" and \\', "ümlaut\n\0end"])
def test_custom_op_with_strings_and_defaults(text):
    def step(x):
        first = torch.ops.residency_test.pure(x, text, n=4, other=x, dtype=torch.float64)
        return first, torch.ops.residency_test.pure(x)

    check_all(record(step, torch.randn(3)))


def test_assertion_is_kept_in_order():
    def step(x):
        torch._assert_async(x.sum() > -1e9, "too small")
        return x * 2

    (imported,) = check_all(record(step, leaf(3)))
    assert opaque_targets(imported) == ["aten._assert_async.msg"]


def test_symbolic_sizes():
    layer = nn.Linear(8, 8)

    def step(x, y):
        n = x.shape[0]
        rows = layer(x).view(n * 2, -1)[:, : n // 2 + 1].sum(1) * n / 2
        return rows, torch.cat([x, y]).reshape(-1, n), torch.arange(n), x.new_zeros(n * 3 % 7), n

    steps = check_all(record(step, leaf(6, 8), leaf(3, 8), dynamic=True))
    assert "torch.aten.size.int" in str(steps[0].module) or "!torch.int" in str(steps[0].module)


def test_symbolic_arithmetic_without_a_form():
    def step(x, y):
        n = torch.sym_max(x.shape[0], y.shape[0])
        more = torch.sym_min(x.shape[0], 3), torch.sym_not(x.shape[0] == 3)
        return x.new_ones(n) * x.sum() * y.sum(), more, torch.sym_int(x.shape[0] / 2)

    assert "sym_max" in str(kinds(check_all(record(step, leaf(6, 8), leaf(3, 8), dynamic=True))))


def test_sizes_that_depend_on_data():
    def step(x, n):
        k = n.item()
        torch._check(k > 0)
        torch._check(k < 5)
        return x[:k] * k, x[x > 0].sum()

    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        check_all(record(step, leaf(6), torch.tensor(3)))

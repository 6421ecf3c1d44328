"""What torch.compile accepts must import, and raise back to the same calls with the same bits."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from round_trip import check_all, opaque_targets, record
from torch import nn

from residency.pipeline.torch_private import inductor_decompositions

CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


def leaf(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype).requires_grad_()


@case
def forty_bool_constants():
    def step(x):
        for i in range(40):
            mask = torch.tensor([bool(i >> k & 1) for k in range(4)])
            x = torch.where(mask, x * 1.01, x + 0.5)
        return x

    return step, leaf(4)


@case
def autocast():
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 4))

    def step(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return F.cross_entropy(model(x), torch.arange(4))

    return step, torch.randn(4, 8)


@case
def half_precision():
    half, brain = nn.Linear(8, 8).half(), nn.Linear(8, 8).bfloat16()
    return lambda x: (half(x.half()).relu(), brain(x.bfloat16()).relu()), torch.randn(4, 8)


@case
def double_precision():
    eye = torch.eye(4, dtype=torch.float64)
    return lambda x: torch.linalg.solve(x @ x.T + eye, x), leaf(4, 4, dtype=torch.float64)


@case
def complex_numbers():
    def step(x, y):
        z = torch.complex(x, y)
        return torch.view_as_real(z * z.conj() * (1 + 2j)), torch.fft.fft(x), z.abs()

    return step, leaf(4, 4), leaf(4, 4)


@case
def as_strided_forward_and_backward():
    return lambda x: x.sin().as_strided((2, 3), (1, 2), 1) * 2, leaf(4, 4)


@case
def dropout():
    return lambda x: F.dropout(x.sin(), 0.3) + F.dropout(x, 0.5, training=False), leaf(8, 8)


@case
def tied_weights():
    embedding, head = nn.Embedding(8, 4), nn.Linear(4, 8, bias=False)
    head.weight = embedding.weight
    return lambda i: head(embedding(i)).logsumexp(-1).sum(), torch.tensor([1, 2, 3])


@case
def batch_norm_statistics_in_place():
    layers = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.2), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(144, 2)), torch.randn(2, 3, 8, 8)


@case
def tuple_results():
    return lambda x: (x.topk(3), x.sort(descending=True), x.max(1), x.kthvalue(2, 1)), leaf(4, 8)


@case
def list_results():
    def step(w, x):
        q, k, v = w.chunk(3)
        a, b = w.split([4, 8])
        rows = w.unbind(0)
        pieces = torch.tensor_split(w, 4)[1], torch.stack(rows), torch.cat(w.split(5))
        return x @ q.T + x @ k.T + x @ v.T, a.sum() + b.mean(), rows[3] * rows[-1], pieces

    return step, leaf(12, 6), torch.randn(2, 6)


@case
def indices_with_none():
    def step(x, i):
        y = x * 2
        y[:, i] = x[:, i] * 3
        put = torch.ops.aten._unsafe_index_put(x, [None, i], x[:, i])
        return y[:, i, None], put, torch.ops.aten.index_put(x, [i], x[0], True), x[None, :, i]

    return step, leaf(4, 8), torch.tensor([1, 2])


@case
def every_dtype():
    dtypes = (torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16,
              torch.int32, torch.bool, torch.complex64, torch.float64, torch.bfloat16,
              torch.float8_e5m2, torch.float8_e4m3fn)  # fmt: skip
    return lambda x: [x.to(d) for d in dtypes], torch.rand(3, 4) * 5


@case
def uint16_arguments():
    return (
        lambda a, x: (a.to(torch.int32) + 1, x * 2),
        torch.tensor([1, 2]).to(torch.uint16),
        leaf(3),
    )


@case
def numbers():
    def step(x):
        inf, nan = float("inf"), float("nan")
        return (
            [x * inf, x.clamp(min=-inf), torch.where(x > 0, x, nan), x * -0.0, x + (1 << 40)],
            [x.new_full((2,), 2**62, dtype=torch.int64), x.masked_fill(x > 0, -0.0)],
            [torch.clamp(x, True), x.pow(2), 2**x, 1 - x, x / 3, x.detach() // 2, x % 3],
            [x.add(x, alpha=2), x.sub(1, alpha=3), torch.rsub(x, 2), x * True, x + 1e300],
        )

    return step, leaf(3, 4)


@case
def empty_and_scalar_tensors():
    def step(x, y):
        empty = [x[:0], torch.cat([x[:0], x]), x.new_empty(0), torch.zeros(())]
        return empty, x.mean() * y, y.expand(3)

    return step, leaf(3, 4), leaf(())


@case
def formats_and_devices():
    def step(x):
        return (
            x.to(memory_format=torch.channels_last) * 2,
            x.clone(memory_format=torch.preserve_format),
            torch.empty_like(x, memory_format=torch.contiguous_format).zero_(),
            x.new_zeros(2, device="cpu", dtype=torch.float64),
            torch.zeros(3, layout=torch.strided, device=torch.device("cpu")),
            F.gelu(x, approximate="tanh"),
        )

    return step, leaf(2, 3, 4, 4)


@case
def outputs_that_are_no_tensors():
    return lambda x: (x * 2, None, 3, "text", 2.5, True, x.shape[0]), leaf(3)


@case
def random_numbers():
    def step(x):
        noise = torch.rand(3) + torch.randn_like(x) + torch.randint(0, 5, (3,))
        more = torch.randperm(4), torch.multinomial(torch.ones(4), 2), torch.normal(0.0, 1.0, (2,))
        return x * noise + torch.bernoulli(torch.sigmoid(x)), more

    return step, leaf(3)


@case
def attention():
    def step(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return step, leaf(1, 2, 16, 8), leaf(1, 2, 16, 8), leaf(1, 2, 16, 8)


@case
def many_ops():
    def step(x):
        index = torch.zeros(1, 4, dtype=torch.long)
        return (
            [torch.cumsum(x, 0), x.scatter_add(0, index, x[:1]), torch.histc(x.detach())],
            [
                x.roll(1, 0),
                x.flip(0),
                x.tril(),
                torch.logsumexp(x, (0, 1)),
                x.std(),
                x.unfold(0, 2, 1),
            ],
            [x.var(0, correction=0), F.one_hot(torch.arange(3)), torch.linspace(0, 1, 5), x.norm()],
            [
                torch.arange(0, 1, 0.25),
                torch.arange(5, dtype=torch.int16),
                torch.triu_indices(3, 3),
            ],
            [torch.quantile(x, 0.5), F.group_norm(x[None], 3), torch.bucketize(x, x[0].sort()[0])],
            [F.embedding_bag(torch.tensor([0, 1]), x, torch.tensor([0])), x.view(torch.int32)],
            [
                F.nll_loss(x.log_softmax(1), torch.tensor([0, 1, -100])),
                x.diagonal_scatter(x[0, :3]),
            ],
        )

    return step, leaf(3, 4)


@case
def images():
    def step(x):
        sizes = F.interpolate(x, scale_factor=2.0, mode="bilinear"), F.interpolate(x, size=5)
        pools = F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 2), F.max_pool2d(x, 2)
        return sizes, pools, F.pad(x, (1, 1, 1, 1), mode="reflect")

    return step, leaf(1, 2, 4, 4)


@case
def mutated_inputs():
    def step(x, y):
        x.add_(1)
        y[0] = 3
        x.copy_(x * 2)
        return x * y

    return step, torch.randn(3), torch.randn(3)


@case
def foreach_optimizer():
    parameters = [leaf(3), leaf(4)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.AdamW(parameters, lr=1e-2, foreach=True)
    return optimizer.step


@case
def sparse_gradient():
    return lambda i, w: F.embedding(i, w, sparse=True).sum(), torch.tensor([1, 2]), leaf(5, 3)


@case
def graph_break():
    def step(x):
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos() * 2

    return step, leaf(3)


DECOMPOSED = {"autocast", "dropout", "batch_norm_statistics_in_place", "indices_with_none", "images",
              "every_dtype", "numbers", "random_numbers", "attention", "list_results"}  # fmt: skip
"""patterns that inductor's decompositions turn into other calls"""


def run(name, table):
    torch.manual_seed(0)
    made = CASES[name]()
    step, *inputs = made if isinstance(made, tuple) else (made,)
    return check_all(record(step, *inputs, decompositions=table))


@pytest.mark.parametrize("name", CASES)
def test_pattern_survives_the_round_trip(name):
    run(name, None)


@pytest.mark.parametrize("name", sorted(DECOMPOSED))
def test_decomposed_pattern_survives_the_round_trip(name):
    run(name, inductor_decompositions())


def test_scalar_bool_and_complex_numbers_stay_what_they_are():
    def step(x):
        return torch.clamp(x, True) * (1 + 2j)

    (step_,) = check_all(record(step, torch.randn(3)))
    assert opaque_targets(step_) == ["aten.mul.Tensor"]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("as_strided_forward_and_backward", "aten.as_strided.default"),
        ("mutated_inputs", "aten.copy_.default"),
        ("batch_norm_statistics_in_place", "aten.copy_.default"),
        ("every_dtype", "aten._to_copy.default"),
    ],
)
def test_calls_without_an_exact_form_are_opaque(name, target):
    (imported,) = run(name, None)
    assert set(opaque_targets(imported)) == {target}

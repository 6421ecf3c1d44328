"""The torch.compile backend against plain PyTorch, on the small cases that break such backends."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import residency
from residency.runtime import engine

EVERYTHING_MOVES = {"device_budget": 0, "segments": "eager", "fallback": False}


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()
    yield
    gc.collect()
    assert engine("host").counters().saved_bytes == 0, "saved bytes outlive the test"


def compiled(function, **options):
    return torch.compile(function, backend="residency", options={**EVERYTHING_MOVES, **options})


def gradients(function, *inputs: torch.Tensor) -> list[torch.Tensor]:
    """Result and gradients of `function(*inputs).sum()`-like losses, seeded."""
    torch.manual_seed(0)
    leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    result = function(*leaves)
    result.sum().backward()
    return [result.detach(), *(x.grad for x in leaves if x.grad is not None)]


def assert_same(function, *inputs: torch.Tensor, **options) -> None:
    for expected, got in zip(
        gradients(function, *inputs), gradients(compiled(function, **options), *inputs), strict=True
    ):
        assert torch.equal(expected, got)


def moved(step) -> list[str]:
    return [s.slot for g in residency.explain(step).graphs for s in g.slots if s.tier != "device"]


def test_saved_values_move_and_gradients_keep_their_bits():
    def f(x, w):
        return torch.sigmoid(torch.sin(x) @ w)

    assert_same(f, torch.randn(8, 8), torch.randn(8, 8))
    step = compiled(f)
    gradients(step, torch.randn(8, 8), torch.randn(8, 8))
    assert moved(step)


def test_a_value_that_is_both_returned_and_saved_moves():
    def f(x):
        return torch.exp(x)

    step = compiled(f)
    assert_same(f, torch.randn(16, 4))
    gradients(step, torch.randn(16, 4))
    assert moved(step)


def test_two_users_of_one_saved_value_share_a_slot():
    def f(x, w):
        y = torch.tanh(x @ w)
        return y * y + y.exp()

    assert_same(f, torch.randn(4, 4), torch.randn(4, 4))


def test_only_a_view_of_an_activation_is_saved():
    def f(x, w):
        y = torch.sin(x @ w).view(4, 2, 8).transpose(0, 1)
        return torch.bmm(y, y.transpose(1, 2))

    assert_same(f, torch.randn(8, 8), torch.randn(8, 8))


def test_graph_inputs_stay_and_say_why():
    def f(x, w):
        return x @ w

    step = compiled(f)
    gradients(step, torch.randn(4, 4), torch.randn(4, 4))
    slots = [s for g in residency.explain(step).graphs for s in g.slots]
    assert slots and all(s.tier == "device" and "graph input" in s.reason for s in slots)


def test_square_transposes_come_back_with_their_strides():
    def f(x):
        y = x.sin()
        return (y.t().contiguous().t() * y).cos() @ y.t()

    assert_same(f, torch.randn(6, 6))


def test_an_exception_in_forward_leaves_the_next_call_working():
    class Fails(torch.autograd.Function):
        armed = True

    @torch.library.custom_op("residency_test::may_fail", mutates_args=())
    def may_fail(x: torch.Tensor) -> torch.Tensor:
        if Fails.armed:
            raise ValueError("as asked")
        return x.clone()

    may_fail.register_fake(torch.empty_like)
    may_fail.register_autograd(lambda ctx, g: g)

    def f(x):
        return may_fail(x.sin().exp()).cos()

    step = compiled(f)
    x = torch.randn(8)
    with pytest.raises(ValueError, match="as asked"):
        gradients(step, x)
    Fails.armed = False
    for expected, got in zip(gradients(f, x), gradients(step, x), strict=True):
        assert torch.equal(expected, got)


def test_forward_without_backward_gives_its_slots_back():
    step = compiled(lambda x: x.sin().exp().cos())
    for _ in range(5):
        step(torch.randn(32, requires_grad=True))
    gc.collect()
    assert engine("host").counters().host_bytes == 0


def test_two_forwards_before_the_backward_of_their_sum():
    def f(x):
        return x.sin().exp().cos()

    x, y = torch.randn(8, requires_grad=True), torch.randn(8, requires_grad=True)
    step = compiled(f)
    (step(x) + step(y)).sum().backward()
    got = x.grad.clone(), y.grad.clone()
    x.grad = y.grad = None
    (f(x) + f(y)).sum().backward()
    assert torch.equal(got[0], x.grad) and torch.equal(got[1], y.grad)


def test_the_second_call_may_run_without_gradients():
    def f(x):
        return x.sin().exp().cos()

    step, x = compiled(f), torch.randn(8, requires_grad=True)
    step(x).sum().backward()
    with torch.no_grad():
        assert torch.equal(step(x), f(x))


def test_backward_may_run_twice_over_a_retained_graph():
    step, x = compiled(lambda x: x.sin().exp().cos()), torch.randn(8, requires_grad=True)
    loss = step(x).sum()
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad = None
    loss.backward()
    assert torch.equal(first, x.grad)


def test_each_side_of_a_graph_break_stands_alone():
    def f(x):
        y = x.sin().exp()
        torch._dynamo.graph_break()
        return y.cos().tanh()

    assert_same(f, torch.randn(8))


def test_two_models_compiled_in_one_process_interleave():
    torch.manual_seed(0)
    models = [nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8)) for _ in range(2)]
    steps, x = [compiled(m) for m in models], torch.randn(4, 8)
    losses = [step(x).pow(2).sum() for step in steps]
    for loss in reversed(losses):
        loss.backward()
    got = [[p.grad.clone() for p in m.parameters()] for m in models]
    for model, expected in zip(models, got, strict=True):
        model.zero_grad()
        model(x).pow(2).sum().backward()
        assert all(
            torch.equal(p.grad, g) for p, g in zip(model.parameters(), expected, strict=True)
        )


def test_compiling_twice_gives_the_same_plan():
    def plan():
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
        step = compiled(model, device_budget=600)
        step(torch.randn(4, 8)).sum().backward()
        return str(residency.explain(step))

    assert plan() == plan()


def test_dropout_has_one_mask_in_forward_and_backward():
    step = compiled(lambda x: F.dropout(x.sin(), 0.5, training=True))
    x = torch.randn(1000, requires_grad=True)
    y = step(x)
    y.sum().backward()
    assert torch.equal(y == 0, x.grad == 0)


def test_batch_norm_updates_its_statistics_in_place():
    torch.manual_seed(0)
    one = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    two = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    two.load_state_dict(one.state_dict())
    x = torch.randn(2, 2, 6, 6)
    step = compiled(two)
    for _ in range(3):
        one(x).sum().backward()
        step(x).sum().backward()
    for name, value in one.state_dict().items():
        assert torch.equal(value, two.state_dict()[name]), name


def test_a_second_batch_size_works():
    def f(x, w):
        return torch.tanh(x @ w).exp()

    step, w = compiled(f), torch.randn(4, 4)
    for batch in (3, 5, 9):
        x = torch.randn(batch, 4)
        for expected, got in zip(gradients(f, x, w), gradients(step, x, w), strict=True):
            assert torch.equal(expected, got)


def test_outputs_that_are_none_or_integers():
    def f(x):
        return None, 3, x.sin().exp()

    x = torch.randn(4, requires_grad=True)
    none, three, y = compiled(f)(x)
    y.sum().backward()
    assert none is None and three == 3
    assert torch.equal(x.grad, x.detach().sin().exp() * x.detach().cos())


def test_attention_with_unused_outputs():
    def f(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).sin()

    assert_same(f, *(torch.randn(1, 2, 8, 4) for _ in range(3)))


def test_infinite_budget_moves_nothing():
    step = compiled(lambda x: x.sin().exp().cos(), device_budget="inf")
    before = engine("host").counters().bytes_moved
    step(torch.randn(8, requires_grad=True)).sum().backward()
    assert engine("host").counters().bytes_moved == before


def test_a_budget_between_keeps_what_fits():
    def f(x):
        return x.sin().exp().cos() + x.tanh()

    x = torch.randn(64, requires_grad=True)
    step = compiled(f, device_budget=300)
    loss = step(x).sum()
    assert 0 < engine("host").counters().saved_bytes <= 300
    loss.backward()


def test_reloaded_values_do_not_pile_up_in_backward():
    layers, size = 12, 64 * 64 * 4

    def f(x, w):
        for _ in range(layers):
            x = torch.sin(x @ w)
        return x

    host = engine("host")
    host.reset_peaks()
    gradients(compiled(f), torch.randn(64, 64), torch.randn(64, 64))
    assert size <= host.counters().reloaded_bytes_peak <= 5 * size


def test_memory_is_flat_over_many_steps():
    step, x = compiled(lambda x: x.sin().exp().cos()), torch.randn(64, requires_grad=True)
    host = engine("host")
    for _ in range(3):
        step(x).sum().backward()
    before = host.counters()
    for _ in range(200):
        step(x).sum().backward()
    after = host.counters()
    assert after.slot_allocations == before.slot_allocations
    assert after.host_bytes == before.host_bytes == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"budget": 1},
            "device_budget, segments, min_bytes, dump, fallback; got an unknown one: 'budget'",
        ),
        ({"device_budget": "6 potatoes"}, "got: '6 potatoes'"),
        ({"device_budget": -1}, "got: -1"),
        ({"segments": "cuda"}, "got: 'cuda'"),
        ({"min_bytes": None}, "got: None"),
    ],
)
def test_bad_options_name_what_would_be_valid(options, message):
    with pytest.raises(Exception, match=r"residency|options|must") as caught:
        torch.compile(lambda x: x.sin(), backend="residency", options=options)(torch.randn(2))
    assert message in str(caught.value)


def test_what_cannot_be_compiled_falls_back_with_one_warning(monkeypatch):
    from residency.pipeline import step as step_module

    def refuse(*args, **kwargs):
        raise step_module.CannotCompile("node foo: as asked")

    monkeypatch.setattr(step_module, "import_step", refuse)
    x = torch.randn(4, requires_grad=True)
    step = compiled(lambda x: x.sin().exp(), fallback=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        step(x).sum().backward()
    ours = [w for w in caught if "residency" in str(w.message)]
    assert len(ours) == 1 and "node foo: as asked" in str(ours[0].message)
    assert torch.equal(x.grad, x.detach().sin().exp() * x.detach().cos())
    assert "node foo: as asked" in str(residency.explain(step))


def test_a_backward_that_inductor_refuses_runs_without_it(monkeypatch):
    from residency.pipeline import segments

    real = segments.SegmentCompiler.compile

    def refuse(self, graph, inputs, **options):
        if self.mode == "inductor" and options["is_backward"]:
            raise ValueError("as asked")
        return real(self, graph, inputs, **options)

    monkeypatch.setattr(segments.SegmentCompiler, "compile", refuse)
    x = torch.randn(4, requires_grad=True)
    step = compiled(lambda x: x.sin().exp(), segments="inductor", fallback=True)
    with pytest.warns(
        UserWarning, match="without Inductor: compiling backward: ValueError: as asked"
    ):
        step(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().sin().exp() * x.detach().cos())


def test_a_supported_model_shows_no_warning_of_ours(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            """
            import warnings
            import torch
            warnings.filterwarnings("error", module="residency")
            model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 1))
            step = torch.compile(model, backend="residency", options={"device_budget": 0, "segments": "eager"})
            for _ in range(2):
                step(torch.randn(4, 8)).sum().backward()
            """
        )
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr


def test_dump_holds_the_module_after_each_pass_and_the_emitted_code(tmp_path):
    step = compiled(lambda x: x.sin().exp().cos(), dump=str(tmp_path))
    step(torch.randn(8, requires_grad=True)).sum().backward()
    names = {p.name for p in tmp_path.rglob("*")}
    assert {"forward.py", "backward.py"} <= names
    assert any(n.endswith("_residency-schedule-transfers.mlir") for n in names), names


def test_every_row_of_a_tied_weight_is_trained():
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.head = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, tokens):
            return F.cross_entropy(self.head(self.embed(tokens).sin()), tokens)

    torch.manual_seed(0)
    plain, ours = Tied(), Tied()
    ours.load_state_dict(plain.state_dict())
    before, step = ours.embed.weight.detach().clone(), compiled(ours)
    for model, run in ((plain, plain), (ours, step)):
        update = torch.optim.SGD(model.parameters(), lr=0.1)
        run(torch.arange(7)).backward()
        update.step()
    assert torch.equal(plain.embed.weight, ours.embed.weight)
    assert (ours.embed.weight != before).any(dim=1).all()

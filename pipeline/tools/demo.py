"""`residency demo`: trains one model twice, plainly and under a device budget, and compares the two."""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch import nn

from ...runtime import engine
from ..options import parse_bytes
from .demo_model import Decoder, text_batches


@dataclass
class Run:
    """What one training run showed."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    parameters: list[torch.Tensor] = field(default_factory=list)
    saved_bytes: int = 0
    moved_bytes: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=8, help="training steps (default: 8)")
    parser.add_argument("--batch", type=int, default=4, help="sequences a step (default: 4)")
    parser.add_argument("--context", type=int, default=256, help="bytes a sequence (default: 256)")
    parser.add_argument("--layers", type=int, default=6, help="transformer layers (default: 6)")
    parser.add_argument("--width", type=int, default=384, help="hidden width (default: 384)")
    parser.add_argument(
        "--budget", default="16MiB", help="device bytes for saved activations (default: 16MiB)"
    )
    parser.add_argument(
        "--segments",
        choices=("eager", "inductor"),
        default="eager",
        help="what compiles the compute; inductor compares with torch.compile (default: eager)",
    )


def main(arguments: argparse.Namespace) -> int:
    """Returns 0 if losses and parameters of both runs are equal and the budget held, else 1."""
    budget = parse_bytes(arguments.budget, "--budget")
    console = Console()
    host = engine("host")
    with Progress(console=console, transient=True) as progress:
        plain = train(arguments, plain_step(arguments.segments), progress, "plain PyTorch")
        ours = train(
            arguments,
            lambda model: torch.compile(
                model,
                backend="residency",
                options={
                    "device_budget": budget,
                    "segments": arguments.segments,
                    "fallback": False,
                },
            ),
            progress,
            "residency",
        )
    counters = host.counters()
    ours.saved_bytes, ours.moved_bytes = counters.saved_bytes_peak, counters.bytes_moved
    # Inductor fuses, and so rounds, in another way where transfers cut the graph.
    return report(console, plain, ours, budget, 0.0 if arguments.segments == "eager" else 1e-4)


def plain_step(segments: str) -> Callable[[nn.Module], Callable]:
    """What the schedule is compared with: the same compute without a schedule."""
    return torch.compile if segments == "inductor" else lambda model: model


def train(
    arguments: argparse.Namespace,
    prepare: Callable[[nn.Module], Callable],
    progress: Progress,
    title: str,
) -> Run:
    """Trains a freshly initialised model; the first step includes compilation."""
    torch.manual_seed(0)
    model = Decoder(arguments.layers, arguments.width, context=arguments.context)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    step, run = prepare(model), Run()
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    task = progress.add_task(title, total=arguments.steps)
    batches = text_batches(arguments.steps, arguments.batch, arguments.context)
    for index, text in enumerate(batches):
        saved: dict[int, int] = {}

        def pack(tensor: torch.Tensor, saved: dict[int, int] = saved) -> torch.Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in parameters:
                saved[storage.data_ptr()] = storage.nbytes()
            return tensor

        start = time.perf_counter()
        if index == 0 and step is model:
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
                loss = step(text)
            run.saved_bytes = sum(saved.values())
        else:
            loss = step(text)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.seconds.append(time.perf_counter() - start)
        run.losses.append(loss.item())
        progress.advance(task)
    run.parameters = [p.detach().clone() for p in model.parameters()]
    return run


def report(console: Console, plain: Run, ours: Run, budget: float, tolerance: float) -> int:
    """Prints the comparison; returns the exit status. `tolerance` is relative, 0 compares bits."""
    table = Table(title="training step by step")
    for column in ("step", "plain loss", "residency loss", "equal", "plain s", "residency s"):
        table.add_column(column, justify="right")
    rows = zip(plain.losses, ours.losses, plain.seconds, ours.seconds, strict=True)
    for index, (a, b, s, t) in enumerate(rows):
        table.add_row(
            str(index),
            f"{a:.6f}",
            f"{b:.6f}",
            yes(math.isclose(a, b, rel_tol=tolerance)),
            f"{s:.2f}",
            f"{t:.2f}",
        )
    console.print(table)
    same_losses = all(
        math.isclose(a, b, rel_tol=tolerance)
        for a, b in zip(plain.losses, ours.losses, strict=True)
    )
    same_parameters = all(
        (a - b).norm() <= tolerance * a.norm()
        for a, b in zip(plain.parameters, ours.parameters, strict=True)
    )
    how = f"to {tolerance:g}" if tolerance else "bit for bit"
    in_budget = ours.saved_bytes <= budget
    summary = Table(show_header=False)
    if plain.saved_bytes:
        summary.add_row("saved activations on the device, plain", mib(plain.saved_bytes))
    summary.add_row("saved activations on the device, residency", mib(ours.saved_bytes))
    summary.add_row("device budget", mib(budget))
    summary.add_row("bytes moved, both directions", mib(ours.moved_bytes))
    summary.add_row(
        "median step, plain", f"{statistics.median(plain.seconds[1:] or plain.seconds):.3f} s"
    )
    summary.add_row(
        "median step, residency", f"{statistics.median(ours.seconds[1:] or ours.seconds):.3f} s"
    )
    summary.add_row(f"losses equal {how}", yes(same_losses))
    summary.add_row(f"trained parameters equal {how}", yes(same_parameters))
    summary.add_row("budget held", yes(in_budget))
    console.print(summary)
    return 0 if same_losses and same_parameters and in_budget else 1


def yes(value: bool) -> str:
    return "yes" if value else "NO"


def mib(count: float) -> str:
    return f"{count / (1 << 20):.1f} MiB" if count != float("inf") else "none"

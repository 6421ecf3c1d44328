"""What every benchmark shares: models, interleaved timing, JSON out."""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import nn


def llama(layers: int, hidden: int = 64, vocabulary: int = 128) -> nn.Module:
    """transformers' Llama with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=hidden,
            intermediate_size=2 * hidden,
            num_hidden_layers=layers,
            num_attention_heads=4,
            num_key_value_heads=4,
            use_cache=False,
        )
    )


def tokens(batch: int, sequence: int, vocabulary: int = 128) -> dict[str, torch.Tensor]:
    ids = torch.randint(
        0, vocabulary, (batch, sequence), generator=torch.Generator().manual_seed(0)
    )
    return {"input_ids": ids, "labels": ids.clone()}


def interleaved(cases: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each case in each round; the cases take turns, so that drift of the machine hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            start = time.perf_counter()
            case()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def median(values: list[float]) -> float:
    return statistics.median(values)


def publish(name: str, **results: object) -> None:
    """Prints the results as JSON, with what they were measured on."""
    machine = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "processor": platform.processor() or platform.machine(),
        "threads": torch.get_num_threads(),
    }
    json.dump({"benchmark": name, **results, "machine": machine}, sys.stdout, indent=2)
    sys.stdout.write("\n")

"""Tiny models whose training steps the tests run: real code from transformers, random weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

VOCABULARY, BATCH, SEQUENCE = 64, 2, 8


class Loss(nn.Module):
    """A model that is called with one dict of tensors and returns a scalar loss."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.model(**batch).loss


def text(**extra: torch.Tensor) -> dict[str, torch.Tensor]:
    ids = torch.randint(0, VOCABULARY, (BATCH, SEQUENCE))
    return {"input_ids": ids, "labels": ids.clone(), **extra}


def small(**extra: object) -> dict[str, object]:
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "use_cache": False,
        **extra,
    }


def llama() -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    return Loss(
        LlamaForCausalLM(LlamaConfig(**small(num_key_value_heads=2, attention_dropout=0.1)))
    )


def qwen3() -> nn.Module:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    return Loss(Qwen3ForCausalLM(Qwen3Config(**small(num_key_value_heads=2, head_dim=8))))


def mixtral() -> nn.Module:
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(
        **small(num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2)
    )
    return Loss(MixtralForCausalLM(config))


class NextToken(nn.Module):
    """Cross-entropy of the next token from a language model's logits."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        logits = self.model(input_ids=batch["input_ids"]).logits[:, :-1]
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), batch["input_ids"][:, 1:].flatten()
        )


def gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=16,
        use_cache=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    return NextToken(GPT2LMHeadModel(config))


def mamba() -> nn.Module:
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(
        vocab_size=VOCABULARY, hidden_size=32, state_size=4, num_hidden_layers=2, use_cache=False
    )
    return NextToken(MambaForCausalLM(config))


def bert() -> nn.Module:
    from transformers import BertConfig, BertForMaskedLM

    config = small(max_position_embeddings=16)
    del config["use_cache"]
    return Loss(BertForMaskedLM(BertConfig(**config)))


def t5() -> nn.Module:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=VOCABULARY,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        use_cache=False,
        decoder_start_token_id=0,
    )
    return Loss(T5ForConditionalGeneration(config))


def vit() -> nn.Module:
    from transformers import ViTConfig, ViTForImageClassification

    config = small(image_size=16, patch_size=8, hidden_dropout_prob=0.1, num_labels=10)
    del config["use_cache"], config["vocab_size"]
    return Loss(ViTForImageClassification(ViTConfig(**config)))


class ConvNet(nn.Module):
    """Convolutions with BatchNorm, whose statistics are updated in place."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.Dropout(0.2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, 10),
        )

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return nn.functional.cross_entropy(self.body(batch["pixel_values"]), batch["labels"])


def images() -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(BATCH, 3, 16, 16), "labels": torch.tensor([1, 7])}


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], dict[str, torch.Tensor]]]] = {
    "llama": (llama, text),
    "gpt2": (gpt2, text),
    "mixtral": (mixtral, text),
    "qwen3": (qwen3, text),
    "bert": (bert, text),
    "t5": (t5, text),
    "vit": (vit, images),
    "mamba": (mamba, text),
    "convnet": (ConvNet, images),
}
"""name -> (model, one batch for it)"""

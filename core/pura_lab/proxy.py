"""Mismatched proxies: a verifying model that differs from the generator's, derived from it.

In the paper's asymmetric setting, the verifier has a smaller model with the same tokenizer. As a
replacement, a model can lose some layers, get noise on its weights, have its weights rounded, or
learn from other text. Its distance from the source is always measured
(:func:`~pura.model.evidence.divergence_bits`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.errors import ModelError
from pura.model.head import decoder_of, find_head
from pura.scheme import I64

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

_LEARNT: Final = 128  # first tokens of a text that are learnt
_AT_ONCE: Final = 4  # texts of one step


def drop_layers(model: LanguageModel, dropped: Sequence[int]) -> LanguageModel:
    """Return a copy of a model without some of its layers.

    Args:
        model: The source.
        dropped: Numbers of the layers to remove, from 0.

    Raises:
        ModelError: The layers cannot be found, or a number is out of range.
    """
    network = copy.deepcopy(model.network)
    decoder = decoder_of(network)
    layers = getattr(decoder, "layers", None)
    if layers is None:
        raise ModelError("proxy.layer", name=model.name, count=0)
    removed = set(dropped)
    if not removed <= set(range(len(layers))):
        raise ModelError("proxy.layer", name=model.name, count=len(layers))
    remaining = [layer for number, layer in enumerate(layers) if number not in removed]
    decoder.layers = type(layers)(remaining)
    for number, layer in enumerate(remaining):
        _renumber(layer, number)
    _shorten(network, [n for n in range(len(layers)) if n not in removed])
    return _like(model, network, f"{model.name} without {len(removed)} of {len(layers)} layers")


def perturb_weights(model: LanguageModel, scale: float, rng: np.random.Generator) -> LanguageModel:
    """Return a copy of a model with normal noise on every weight matrix.

    Args:
        model: The source.
        scale: Standard deviation of the noise relative to that of the matrix.
        rng: Randomness.
    """
    import torch

    network = copy.deepcopy(model.network)
    noises = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() >= 2:
                noise = torch.randn(weight.shape, generator=noises).to(weight.device, weight.dtype)
                weight.add_(noise * (scale * float(weight.float().std())))
    return _like(model, network, f"{model.name} with {scale:g} noise on its weights")


def quantise_weights(model: LanguageModel, bits: int) -> LanguageModel:
    """Return a copy of a model with rounded weight matrices; each row has its own step.

    Args:
        model: The source.
        bits: Bits of each weight, 2 … 8; the largest weight of a row keeps its value.
    """
    import torch

    network = copy.deepcopy(model.network)
    largest = (1 << (bits - 1)) - 1
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() >= 2:
                step = weight.abs().amax(dim=-1, keepdim=True).clamp_(min=1e-12) / largest
                weight.copy_((weight / step).round_() * step)
    return _like(model, network, f"{model.name} with weights of {bits} bits")


def finetune(
    model: LanguageModel, texts: Sequence[I64], *, steps: int, rate: float = 2e-5, seed: int = 1
) -> LanguageModel:
    """Return a copy of a model that learnt a little from other texts.

    Args:
        model: The source.
        texts: int64 [L] each; the first 128 tokens of four are one step (AdamW).
        steps: Number of steps.
        rate: Learning rate.
        seed: Seed of the order of the texts.
    """
    import torch

    network = copy.deepcopy(model.network)
    network.requires_grad_(requires_grad=True)
    rng = np.random.default_rng(seed)
    size = min(_LEARNT, *(text.size for text in texts))
    learning = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.0)
    for _ in range(steps):
        batch = rng.choice(len(texts), _AT_ONCE, replace=len(texts) < _AT_ONCE)
        ids = torch.from_numpy(np.stack([texts[i][:size] for i in batch]))
        ids = ids.to(model.device.torch_device)
        # Commands do not load the loss functions of transformers.
        logits = network(input_ids=ids).logits[:, :-1].float()
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        learning.step()
        learning.zero_grad()
    network.requires_grad_(requires_grad=False)
    return _like(model, network, f"{model.name} after {steps} steps on other text")


def _renumber(layer: Any, number: int) -> None:
    # Attention modules find their entry in the cache by their number.
    for part in layer.modules():
        if hasattr(part, "layer_idx"):
            part.layer_idx = number


def _shorten(network: Any, remaining: Sequence[int]) -> None:
    config = network.config.get_text_config()
    config.num_hidden_layers = len(remaining)
    kinds = getattr(config, "layer_types", None)
    if kinds:
        config.layer_types = [kinds[n] for n in remaining]


def _like(model: LanguageModel, network: Any, name: str) -> LanguageModel:
    return replace(
        model,
        network=network,
        head=find_head(network),
        name=name,
        fingerprint="",  # the fingerprint would name the unchanged weights
        parameters=sum(w.numel() for w in network.parameters()),
    )

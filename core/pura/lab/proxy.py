"""Mismatched proxies: a verifier's model that is not the generator's, made from the generator's.

The paper's asymmetric setting has a smaller model of the same tokenizer. Where none is at hand, a
model with some layers left out, or with noise on its weights, is one: how far it is from the
source is measured (:func:`divergence_bits`), never assumed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.errors import ModelError
from pura.model.head import decoder_of, find_head

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

_BLOCK: Final = 64  # rows of the distribution held at once
_HINT: Final = "Use a decoder model whose layers stand in one list, as the Llama family's do."


def drop_layers(model: LanguageModel, dropped: Sequence[int]) -> LanguageModel:
    """Return a copy of a model without some of its layers.

    Args:
        model: The source.
        dropped: Numbers of the layers to leave out, from 0.

    Raises:
        ModelError: The layers cannot be found, or a number is none of them.
    """
    network = copy.deepcopy(model.network)
    decoder = decoder_of(network)
    layers = getattr(decoder, "layers", None)
    if layers is None:
        raise ModelError(f"The layers of “{model.name}” cannot be found.", _HINT)
    gone = set(dropped)
    if not gone <= set(range(len(layers))):
        raise ModelError(f"“{model.name}” has no such layer.", f"It has {len(layers)}, from 0.")
    kept = [layer for number, layer in enumerate(layers) if number not in gone]
    decoder.layers = type(layers)(kept)
    for number, layer in enumerate(kept):
        _renumber(layer, number)
    _shorten(network, [n for n in range(len(layers)) if n not in gone])
    return _like(model, network, f"{model.name} without {len(gone)} of {len(layers)} layers")


def perturb_weights(model: LanguageModel, scale: float, rng: np.random.Generator) -> LanguageModel:
    """Return a copy of a model with normal noise on every weight matrix.

    Args:
        model: The source.
        scale: Standard deviation of the noise relative to that of the matrix.
        rng: Randomness.
    """
    import torch

    network = copy.deepcopy(model.network)
    dice = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() >= 2:
                noise = torch.randn(weight.shape, generator=dice).to(weight.device, weight.dtype)
                weight.add_(noise * (scale * float(weight.float().std())))
    return _like(model, network, f"{model.name} with {scale:g} noise on its weights")


def divergence_bits(source: LanguageModel, proxy: LanguageModel, texts: Sequence[I64]) -> F64:
    """Return ``KL(source ‖ proxy)`` of the next-token distributions, at temperature 1.

    Args:
        source: The generating model.
        proxy: The verifying model, with the same tokenizer.
        texts: Token ids [L] each; every token but the first is predicted by both.

    Returns:
        float64 [Σ (L - 1)], in bits a token.
    """
    import torch

    rows = []
    with torch.inference_mode():
        for ids in texts:
            fed = torch.from_numpy(np.asarray(ids))[None, :-1].to(source.device.torch_device)
            hidden = [
                decoder_of(m.network)(input_ids=fed, use_cache=False).last_hidden_state[0]
                for m in (source, proxy)
            ]
            for start in range(0, hidden[0].shape[0], _BLOCK):
                part = [
                    m.head.logits(h[start : start + _BLOCK]).double().log_softmax(dim=1)
                    for m, h in zip((source, proxy), hidden, strict=True)
                ]
                rows.append((part[0].exp() * (part[0] - part[1])).sum(dim=1).cpu().numpy())
    return np.asarray(np.concatenate(rows) / np.log(2)) if rows else np.zeros(0)


def _renumber(layer: Any, number: int) -> None:
    # Attention modules find their place in the cache by their number.
    for part in layer.modules():
        if hasattr(part, "layer_idx"):
            part.layer_idx = number


def _shorten(network: Any, kept: Sequence[int]) -> None:
    config = network.config.get_text_config()
    config.num_hidden_layers = len(kept)
    kinds = getattr(config, "layer_types", None)
    if kinds:
        config.layer_types = [kinds[n] for n in kept]


def _like(model: LanguageModel, network: Any, name: str) -> LanguageModel:
    return replace(
        model,
        network=network,
        head=find_head(network),
        name=name,
        parameters=sum(w.numel() for w in network.parameters()),
    )

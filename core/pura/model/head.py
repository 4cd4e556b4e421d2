"""The output head, from hidden states to logits, and the secret orders of many keys.

The orders add up the probability before a token in the secret order of each key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.errors import ModelError
from pura.model.product import product
from pura.model.reading import full_order
from pura.scheme import SecretKey, ranks

if TYPE_CHECKING:
    import torch


_PROBE_TOKENS: Final = 5
_UNKNOWN: Final = ModelError("model.architecture")


@dataclass(frozen=True, kw_only=True, eq=False)
class Head:
    """The map from hidden states to logits: ``cap(scale · (h Wᵀ + b))``.

    Attributes:
        weight: [R, D], R ≥ V rows.
        bias: [R] or None.
        scale: Factor on the logits (Cohere, Granite); 1 for most.
        cap: Soft cap ``c·tanh(z/c)`` of the Gemma family; None for most.
    """

    weight: Any
    bias: Any
    scale: float
    cap: float | None

    @property
    def rows(self) -> int:
        """``R``, the number of logits."""
        return int(self.weight.shape[0])

    def columns(self, hidden: Any, first: int = 0, last: int | None = None) -> Any:
        """Return the logits ``first … last - 1`` of some rows, one column for each row, in float32.

        Args:
            hidden: [N, D], in the dtype of the weights.
            first: First logit.
            last: One past the last one; all when None.

        Returns:
            float32 [last - first, N]. The product runs in the dtype of the weights, as in the
            network itself, so 16-bit weights give the logits that the generator saw.
        """
        out = product(self.weight[first:last], hidden)
        if self.bias is not None:
            out = out + self.bias[first:last, None]
        out = out.float()
        if self.scale != 1.0:
            out.mul_(self.scale)
        if self.cap is not None:
            out.div_(self.cap).tanh_().mul_(self.cap)
        return out

    def logits(self, hidden: Any) -> Any:
        """Return all logits of some rows: float32 [N, R]."""
        return self.columns(hidden).T.contiguous()


def decoder_of(network: Any) -> Any:
    """Return the part of the network that ends in the hidden states."""
    decoder = network.get_decoder() if hasattr(network, "get_decoder") else None
    return network.base_model if decoder is None or decoder is network else decoder


def new_cache(network: Any) -> Any:
    """Return an empty cache for a network: its own, or that of the transformers library.

    Layers with a sliding window keep all states too: other pieces may begin with them.
    """
    if hasattr(network, "new_cache"):
        return network.new_cache()
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    cache = DynamicCache(config=network.config)
    cache.layers = [
        DynamicLayer() if type(layer) is DynamicSlidingWindowLayer else layer  # type: ignore[no-untyped-call]
        for layer in cache.layers
    ]
    return cache


def find_head(network: Any) -> Head:
    """Describe the head of a network, and test the description.

    Raises:
        ModelError: The logits computed with it differ from those of the network.
    """
    layer = network.get_output_embeddings()
    if layer is None or getattr(layer, "weight", None) is None or layer.weight.ndim != 2:
        raise _UNKNOWN
    config = network.config.get_text_config()
    cap = getattr(config, "final_logit_softcapping", None)
    multiply = getattr(config, "logit_scale", None) or getattr(config, "lm_head_multiplier", None)
    divide = getattr(config, "logits_scaling", None)
    head = Head(
        weight=layer.weight.detach(),
        bias=None if getattr(layer, "bias", None) is None else layer.bias.detach(),
        scale=float(multiply or 1.0) / float(divide or 1.0),
        cap=float(cap) if cap else None,
    )
    _prove(network, head)
    return head


def _prove(network: Any, head: Head) -> None:
    import torch

    with torch.inference_mode():
        ids = torch.arange(_PROBE_TOKENS, device=head.weight.device)[None] % head.rows
        passed: list[Any] = []
        watch = decoder_of(network).register_forward_hook(
            lambda *arguments: passed.append(arguments[-1])
        )
        try:
            expected = network(input_ids=ids, use_cache=False).logits[0].float()
            logits = head.logits(passed[-1].last_hidden_state[0])
        except (AttributeError, TypeError, IndexError, RuntimeError):
            raise _UNKNOWN from None
        finally:
            watch.remove()
        if not bool(torch.isfinite(expected).all()):
            raise ModelError("model.not-finite", code="model-not-finite")
        # 16-bit heads round differently from tile to tile; a wrong rule is off by far more.
        tolerance = 1e-3 if head.weight.dtype == torch.float32 else 5e-2
        scale = float(expected.abs().max()) + 1.0
        if (
            logits.shape != expected.shape
            or float((logits - expected).abs().max()) > tolerance * scale
        ):
            raise _UNKNOWN


RUN: Final = 128
_KEYS: Final = 8  # keys worked out together
_FEW: Final = 4  # keys up to which the rows stay side by side as they are …
_ROWS: Final = 32  # … and rows that lie together beyond, so that a line of memory holds one token


@dataclass(frozen=True, kw_only=True, eq=False)
class Orders:
    """The secret orders of ``K`` keys over ``R`` logits.

    Attributes:
        order: int32 [K, R], the logit at each rank.
        rank: int32 [K, R], the rank of each logit.
    """

    order: torch.Tensor
    rank: torch.Tensor

    @classmethod
    def of(cls, keys: Sequence[SecretKey], vocab_size: int, head: Head) -> Orders:
        """Compute the orders of some keys for a head, on its device."""
        import torch

        orders = np.zeros((len(keys), head.rows), dtype=np.int32)
        inverse = np.zeros_like(orders)
        for number, key in enumerate(keys):
            full = full_order(key, vocab_size, head.rows)
            orders[number], inverse[number] = full, ranks(full)
        device = head.weight.device
        return cls(
            order=torch.from_numpy(orders).to(device), rank=torch.from_numpy(inverse).to(device)
        )

    def __len__(self) -> int:
        return int(self.order.shape[0])

    def below(self, masses: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the mass before each row's token in each order.

        Args:
            masses: float32 [R, N], contiguous, not negative.
            targets: int64 [N], the token of each row.

        Returns:
            float64 [K, N]; on the CPU where the device has no float64.
        """
        import torch

        keys, rows = len(self), int(targets.shape[0])
        device = torch.device("cpu") if masses.device.type == "mps" else masses.device
        order, rank = self.order.to(device), self.rank.to(device)
        masses, targets = masses.to(device), targets.to(device)
        out = torch.zeros((keys, rows), dtype=torch.float64, device=device)
        step = rows if keys <= _FEW else _ROWS
        for begin in range(0, rows if keys else 0, step):
            row_part = slice(begin, begin + step)
            part_masses = masses[:, row_part].contiguous()
            for key in range(0, keys, _KEYS):
                key_part = slice(key, key + _KEYS)
                out[key_part, row_part] = _below(
                    part_masses, order[key_part], rank[key_part, targets[row_part]]
                )
        return out


def _below(masses: torch.Tensor, order: torch.Tensor, token_ranks: torch.Tensor) -> torch.Tensor:
    """Return the mass before the rank ``token_ranks`` of each row, [k, N], in orders [k, R]."""
    import torch

    keys, size, rows = len(order), int(order.shape[1]), int(token_ranks.shape[1])
    device, token_ranks = masses.device, token_ranks.to(torch.int64)
    starts = torch.arange(0, size, RUN, dtype=torch.int32, device=device)
    offsets = torch.arange(keys, dtype=torch.int32, device=device)[:, None] * size + starts
    runs = torch.nn.functional.embedding_bag(
        order.reshape(-1), masses, offsets.reshape(-1), mode="sum"
    ).view(keys, -1, rows)
    upto = runs.to(torch.float64).cumsum(dim=1)
    run = token_ranks // RUN
    before = upto.gather(1, (run - 1).clamp(min=0)[:, None])[:, 0]
    before = torch.where(run > 0, before, 0.0)
    inside = run[..., None] * RUN + torch.arange(RUN, device=device)  # ranks, [k, N, RUN]
    tokens = order.gather(1, inside.clamp(max=size - 1).reshape(keys, -1)).to(torch.int64)
    columns = torch.arange(rows, device=device)[None, :, None]
    run_masses = masses[tokens.view(keys, rows, RUN), columns]
    return before + torch.where(inside < token_ranks[..., None], run_masses, 0.0).sum(
        dim=2, dtype=torch.float64
    )

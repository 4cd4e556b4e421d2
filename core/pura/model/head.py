"""How a network turns hidden states into logits, made explicit and proven.

The evidence pass never asks the network for its logits: it takes the hidden states and applies
the output head tile by tile. Architectures scale, cap or shift their logits; what they do is read
from the config and then checked against the network itself on a few tokens, so an architecture
that does something else is refused instead of being read wrongly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pura.base.errors import ModelError

_PROBE_TOKENS: Final = 5
_UNKNOWN: Final = ModelError("model.architecture")


@dataclass(frozen=True, kw_only=True, eq=False)
class Head:
    """The way from hidden states to logits: ``cap(scale · (h Wᵀ + b))``.

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
        """Return the logits ``first … last - 1`` of some rows, a column a row, in float32.

        Args:
            hidden: [N, D], in the dtype of the weights.
            first: First logit.
            last: One past the last one; all when None.

        Returns:
            float32 [last - first, N]. The product runs in the dtype of the weights, as in the
            network itself, so 16-bit weights give the logits that the generator saw.
        """
        import torch

        out = torch.nn.functional.linear(self.weight[first:last], hidden)
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


def find_head(network: Any) -> Head:
    """Describe the head of a network and prove the description.

    Raises:
        ModelError: The logits computed through it are not the network's own.
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
        watch = decoder_of(network).register_forward_hook(lambda *seen: passed.append(seen[-1]))
        try:
            expected = network(input_ids=ids, use_cache=False).logits[0].float()
            found = head.logits(passed[-1].last_hidden_state[0])
        except (AttributeError, TypeError, IndexError, RuntimeError):
            raise _UNKNOWN from None
        finally:
            watch.remove()
        if not bool(torch.isfinite(expected).all()):
            raise ModelError("model.not-finite", code="model-damaged")
        # 16-bit heads round differently from tile to tile; a wrong rule is off by far more.
        room = 1e-3 if head.weight.dtype == torch.float32 else 5e-2
        scale = float(expected.abs().max()) + 1.0
        if found.shape != expected.shape or float((found - expected).abs().max()) > room * scale:
            raise _UNKNOWN

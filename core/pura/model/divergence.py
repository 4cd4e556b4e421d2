"""How far one model is from another: the divergence of their next-token distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from pura.model.head import decoder_of

if TYPE_CHECKING:
    import torch

    from pura.model.load import LanguageModel

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

_BLOCK: Final = 64  # rows of the distribution held at once


def divergence_bits(
    source: LanguageModel,
    proxy: LanguageModel,
    texts: Sequence[I64],
    checkpoint: Callable[[], None] | None = None,
) -> F64:
    """Return ``KL(source ‖ proxy)`` of the next-token distributions, at temperature 1.

    Args:
        source: The generating model.
        proxy: The verifying model, with the same tokenizer.
        texts: Token ids [L] each; every token but the first is predicted by both.
        checkpoint: Called between texts; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        float64 [Σ (L - 1)], in bits a token.
    """
    import torch

    size = min(source.vocab_size, source.head.rows, proxy.head.rows)
    rows = []
    with torch.inference_mode():
        for ids in texts:
            if checkpoint is not None:
                checkpoint()
            hidden = [_hidden(m, ids) for m in (source, proxy)]
            for start in range(0, hidden[0].shape[0], _BLOCK):
                # Rows beyond the tokenizer differ from model to model and mean nothing.
                part = [
                    m.head.logits(h[start : start + _BLOCK])[:, :size]
                    .double()
                    .cpu()
                    .log_softmax(dim=1)
                    for m, h in zip((source, proxy), hidden, strict=True)
                ]
                rows.append((part[0].exp() * (part[0] - part[1])).sum(dim=1).numpy())
    return np.asarray(np.concatenate(rows) / np.log(2)) if rows else np.zeros(0)


def _hidden(model: LanguageModel, ids: I64) -> torch.Tensor:
    import torch

    fed = torch.from_numpy(np.asarray(ids))[None, :-1].to(model.device.torch_device)
    output = decoder_of(model.network)(input_ids=fed, use_cache=False)
    hidden = output.last_hidden_state[0]
    assert isinstance(hidden, torch.Tensor)
    return hidden

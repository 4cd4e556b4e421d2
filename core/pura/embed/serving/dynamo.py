"""NVIDIA Dynamo, whose ``BaseLogitsProcessor`` is one interface for three engines.

TensorRT-LLM, which Dynamo wraps by ``create_trtllm_adapters``, calls it for each request. Its
wrapper logs an error of a processor and goes on without it, so that text is unmarked: check a text
of each deployment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pura.embed.serving.marker import SingleText

if TYPE_CHECKING:
    import torch


class PuraLogitsProcessor(SingleText):
    """Marks one request; a new one for each."""

    def __call__(self, input_ids: Sequence[int], logits: torch.Tensor) -> None:
        """Choose the next token and leave nothing else standing, in place.

        Args:
            input_ids: [P + t]; see :meth:`SingleText.next_token`.
            logits: float [V].

        Raises:
            GenerationError: See :meth:`SingleText.next_token`.
        """
        token = self.next_token(input_ids, logits)
        logits.fill_(float("-inf"))
        logits[token] = 0.0

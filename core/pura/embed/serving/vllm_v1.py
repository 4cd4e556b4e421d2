"""vLLM, the first model runner of its V1 engine (``VLLM_USE_V2_MODEL_RUNNER=0``).

``--logits-processors pura.embed.serving.vllm_v1:PuraLogitsProcessor``. Made for the interface of
``vllm.v1.sample.logits_processor``; all texts are marked in one step, which the interface for
single requests (``AdapterLogitsProcessor``) would not allow. vLLM gives this runner's processors no
part in speculative decoding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from pura.embed.serving.marker import NO_TOKEN
from pura.embed.serving.vllm_requests import MarkedRequests, refuse_drafts, ticket_of

if TYPE_CHECKING:
    import torch


class PuraLogitsProcessor(MarkedRequests, LogitsProcessor):
    """Marks the requests that bring a ticket.

    Raises:
        GenerationError: Speculative decoding is on.
    """

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        if vllm_config.speculative_config is not None:
            raise refuse_drafts()
        self._marker = self.marker(vllm_config)
        self._texts: dict[int, tuple[int, list[int]]] = {}  # by index: text, vLLM's own list

    def is_argmax_invariant(self) -> bool:
        """Greedy search gets the chosen token too."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow requests that came, left or moved: removed, added, moved, in this order."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._end(index)
        for index, params, prompt, output in batch_update.added:
            self._end(index)
            ticket = ticket_of(params)
            if ticket is not None:
                # A prompt of embeddings has no tokens.
                told: Callable[[], list[int]] | None
                told = None if prompt is None else partial(list, prompt)
                self._texts[index] = self._marker.begin(ticket, told), output
        for source, target, direction in batch_update.moved:
            moved, other = self._texts.pop(source, None), self._texts.pop(target, None)
            if moved is not None:
                self._texts[target] = moved
            if other is not None and direction == MoveDirectionality.SWAP:
                self._texts[source] = other
            elif other is not None:
                self._marker.end(other[0])

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Choose the next token of every marked request."""
        if not self._texts:
            return logits
        texts: list[int | None] = [None] * logits.shape[0]
        self._marker.prepare([text for text, _ in self._texts.values()])
        for index, (text, output) in self._texts.items():
            texts[index] = text
            last = output[-1] if output and output[-1] != NO_TOKEN else None
            self._marker.agree(text, len(output), last, partial(self._read, text, output))
        self._marker.mark(logits, texts)
        return logits

    def _read(self, text: int, output: list[int]) -> list[int]:
        """Return a text's tokens; what vLLM does not know yet is what was drawn."""
        own = [*self._marker.drawn(text), *([0] * len(output))]
        return [own[i] if token == NO_TOKEN else token for i, token in enumerate(output)]

    def _end(self, index: int) -> None:
        text = self._texts.pop(index, None)
        if text is not None:
            self._marker.end(text[0])

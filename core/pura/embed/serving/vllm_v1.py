"""vLLM, the first model runner of its V1 engine (``VLLM_USE_V2_MODEL_RUNNER=0``).

``--logits-processors pura.embed.serving.vllm_v1:PuraLogitsProcessor``. Made for the interface of
``vllm.v1.sample.logits_processor``; all rows are marked in one step, which the interface for
single requests (``AdapterLogitsProcessor``) would not allow.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from pura.embed.serving.marker import MarkedRequests

if TYPE_CHECKING:
    import torch

UNKNOWN = -1  # vLLM's word for a token that has been drawn and is not on the host yet


class PuraLogitsProcessor(MarkedRequests, LogitsProcessor):
    """Marks the requests whose ``extra_args`` name a payload."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._marker = self.marker(vllm_config)
        self._texts: dict[int, tuple[int, list[int]]] = {}  # by index: row, vLLM's own list

    def is_argmax_invariant(self) -> bool:
        """Greedy search gets the chosen token too."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow requests that came, left or moved: removed, added, moved, in this order."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._end(index)
        for index, params, _prompt, output in batch_update.added:
            self._end(index)
            row = self._marker.begin(params.extra_args)
            if row is not None:
                self._texts[index] = row, output
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
        rows: list[int | None] = [None] * logits.shape[0]
        for index, (row, output) in self._texts.items():
            rows[index] = row
            last = output[-1] if output and output[-1] != UNKNOWN else None
            self._marker.agree(row, len(output), last, partial(self._read, row, output))
        return self._marker.mark(logits, rows)

    def _read(self, row: int, output: list[int]) -> list[int]:
        """Return a text's tokens; what vLLM does not know yet is what was drawn."""
        own = [*self._marker.drawn(row), *([0] * len(output))]
        return [own[at] if token == UNKNOWN else token for at, token in enumerate(output)]

    def _end(self, index: int) -> None:
        text = self._texts.pop(index, None)
        if text is not None:
            self._marker.end(text[0])

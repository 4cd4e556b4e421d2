"""vLLM, the second model runner (``VLLM_USE_V2_MODEL_RUNNER=1``).

``--logits-processors pura.embed.serving.vllm_v2:PuraLogitsProcessor``. Made for the interface of
``vllm.v1.worker.gpu.sample.logits_processor``, the one place of this runner's sampling that lets a
class from outside in. It never says that a request has left, so a row lives until its slot is
given to another one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

from pura.base.catalogue import phrase
from pura.base.errors import GenerationError
from pura.embed.serving.marker import MarkedRequests

if TYPE_CHECKING:
    import torch


class PuraLogitsProcessor(MarkedRequests, LogitsProcessor):
    """Marks the requests whose ``extra_args`` name a payload."""

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        self._marker = self.marker(vllm_config)
        self._states = req_states
        self._rows: dict[int, int] = {}  # by slot

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Begin the text of a slot, also one that comes back after it was preempted."""
        before = self._rows.pop(req_idx, None)
        if before is not None:
            self._marker.end(before)
        row = self._marker.begin(sampling_params.extra_args)
        if row is not None:
            self._rows[req_idx] = row
        return row is not None

    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        """Choose the next token of every marked request whose prompt has been read to its end."""
        slots = ctx.idx_mapping_np.tolist()
        if not any(slot in self._rows for slot in slots):
            return logits
        if len(slots) != logits.shape[0]:  # several lines a request
            raise GenerationError("processor.breaks", what=phrase("decoding.assisted"))
        rows: list[int | None] = [None] * len(slots)
        lengths = ctx.seq_lens_upper_bound_np.tolist()
        fed = ctx.input_ids.tolist()
        for line, (slot, length) in enumerate(zip(slots, lengths, strict=True)):
            row = self._rows.get(slot)
            if row is None or length < self._states.prefill_len.np[slot]:
                continue  # not ours, or vLLM throws away what is drawn in the middle of a prompt
            start = int(self._states.prompt_len.np[slot])
            rows[line] = row
            read = partial(self._read, slot, start, length)
            self._marker.agree(row, length - start, fed[line], read)
        return self._marker.mark(logits, rows)

    def _read(self, slot: int, start: int, length: int) -> list[int]:
        tokens: list[int] = self._states.all_token_ids.gpu[slot, start:length].tolist()
        return tokens

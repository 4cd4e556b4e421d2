"""vLLM, the second model runner (``VLLM_USE_V2_MODEL_RUNNER=1``), with speculative decoding or not.

``--logits-processors pura.embed.serving.vllm_v2:PuraLogitsProcessor``. Made for the interface of
``vllm.v1.worker.gpu.sample.logits_processor``, the one place of this runner's sampling that lets a
class from outside in. It never says that a request has left, so a text lives until its slot is
given to another one.

Where vLLM guesses ahead, a request has a line of logits behind its text and behind each token of
the draft. A line is marked where all drafted tokens before it are those that the marker chose.
Each marked line has one token left, and the request is greedy, so that vLLM's verification accepts
the draft exactly as far as it agrees and takes the marker's token where it ends: the text is the
same as without drafts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

from pura.base.catalogue import phrase
from pura.embed.serving.vllm_requests import MarkedRequests, refuse_drafts, ticket_of

if TYPE_CHECKING:
    import torch

# Draws at random whether a draft is accepted, whatever the logits say: for measurements of speed.
_SYNTHETIC: Final = "synthetic"


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """The lines of one marked request in this step.

    Attributes:
        text: The marked text.
        slot: vLLM's slot of the request.
        first: Index of its first line, the one behind the text; the others follow.
        length: How many tokens prompt and text have.
        last: The last of these tokens.
        drafts: The drafted tokens, one behind each line but the last.
    """

    text: int
    slot: int
    first: int
    length: int
    last: int
    drafts: list[int]


class PuraLogitsProcessor(MarkedRequests, LogitsProcessor):
    """Marks the requests that bring a ticket.

    Raises:
        GenerationError: Drafts are accepted by chance.
    """

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        speculation = vllm_config.speculative_config
        if getattr(speculation, "rejection_sample_method", None) == _SYNTHETIC:
            raise refuse_drafts(phrase("decoding.synthetic"))
        self._marker = self.marker(vllm_config)
        self._states = req_states
        self._texts: dict[int, int] = {}  # by slot
        self._slots: dict[str, int] = {}  # by ticket

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Begin the text of a slot, also one that comes back after it was preempted."""
        self._end(req_idx)
        ticket = ticket_of(sampling_params)
        if ticket is None:
            return False
        if ticket in self._slots:  # it was preempted, and got another slot
            self._end(self._slots[ticket])
        self._slots[ticket] = req_idx
        self._texts[req_idx] = self._marker.begin(ticket, partial(self._prompt, req_idx))
        return True

    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        """Choose the next tokens of every marked request whose prompt has been read to its end."""
        slots = ctx.idx_mapping_np.tolist()
        if not any(slot in self._texts for slot in slots):
            return logits
        requests = list(self._lines(ctx))
        self._marker.prepare([request.text for request in requests])
        for request in requests:
            start = int(self._states.prompt_len.np[request.slot])
            read = partial(self._read, request.slot, start, request.length)
            self._marker.agree(request.text, request.length - start, request.last, read)
        depth = 0
        while requests:
            texts: list[int | None] = [None] * logits.shape[0]
            for request in requests:
                texts[request.first + depth] = request.text
            chosen = self._marker.mark(logits, texts).tolist()
            requests = [
                request
                for request in requests
                if depth < len(request.drafts)
                and chosen[request.first + depth] == request.drafts[depth]
            ]
            depth += 1
        return logits

    def _lines(self, ctx: Any) -> Iterator[_Lines]:
        """Yield the lines of each marked request that vLLM will take a token of."""
        import torch

        columns = (ctx.expanded_idx_mapping, ctx.expanded_local_pos, ctx.pos, ctx.input_ids)
        # One copy from the device instead of four.
        copied = torch.stack([column.to(torch.int64) for column in columns])
        slots, depths, positions, fed = copied.tolist()
        starts = [i for i, depth in enumerate(depths) if depth == 0]
        for first, end in zip(starts, [*starts[1:], len(slots)], strict=True):
            text = self._texts.get(slots[first])
            length = positions[first] + 1
            # In the middle of a prompt vLLM throws away what is drawn.
            if text is not None and length >= self._states.prefill_len.np[slots[first]]:
                yield _Lines(
                    text=text,
                    slot=slots[first],
                    first=first,
                    length=length,
                    last=fed[first],
                    drafts=fed[first + 1 : end],
                )

    def _read(self, slot: int, start: int, length: int) -> list[int]:
        tokens: list[int] = self._states.all_token_ids.gpu[slot, start:length].tolist()
        return tokens

    def _prompt(self, slot: int) -> list[int]:
        """Return what stands before the text of a slot."""
        return self._read(slot, 0, int(self._states.prompt_len.np[slot]))

    def _end(self, slot: int) -> None:
        text = self._texts.pop(slot, None)
        if text is not None:
            self._marker.end(text)
            self._slots = {t: s for t, s in self._slots.items() if s != slot}

"""The marks of a text: passages that state one each, or the text as a whole as one mark.

docs/evidence.md §4. Passages with one payload are one mark.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.decode.evidence_sums import EvidenceSums
from pura.decode.marks import (
    LEAST_POSTERIOR,
    MOST_CANDIDATES,
    Candidate,
    Mark,
    PayloadPosterior,
    payload_posterior,
    places_of,
)
from pura.decode.passages import SCALES, FoundPassage, FoundPassages, find_passages
from pura.decode.trellis.base import RegisterTrellis

F64 = npt.NDArray[np.float64]

_NEARLY_ALL: Final = 0.9  # of the steps: the whole text's posterior is that of the one mark


class StatedMarks(NamedTuple):
    """The marks of a text, in its order, and which of them the headline is about."""

    marks: tuple[Mark, ...]
    headline: int
    at_least: bool


def state_marks(
    weighed: EvidenceSums,
    whole: PayloadPosterior,
    level: float,
    checkpoint: Callable[[], None],
) -> StatedMarks:
    """Return every mark of a text, each with a statement of its own.

    Where no window states one, the payload that the text as a whole names stands as one mark.

    Args:
        weighed: The evidence.
        whole: What the text as a whole says of payloads, strongest first.
        level: Natural log of what the e-value of a passage must reach.
        checkpoint: Called often; may raise.
    """
    text, profile, payload = weighed.chain_text, weighed.seen.profile, whole.payload
    if not weighed.usable:
        return StatedMarks((), 0, at_least=False)
    passages = FoundPassages(passages=())
    windows = weighed.usable > SCALES[0][0] and weighed.log_e >= 0
    if windows and isinstance(weighed.prior.trellis, RegisterTrellis):
        passages = find_passages(
            weighed.anywhere,
            text.index,
            weighed.prior,
            profile,
            level,
            payload.bits[None],
            checkpoint,
            steps=None if text.whole == text.tokens else text.whole,
        )
    if not passages.passages:
        member = weighed.best_chain(payload.bits, checkpoint)
        (seen,) = places_of(text, payload.bits[None], None, int(member[0]), profile, checkpoint)
        only = Mark(
            payload=payload,
            log_e=weighed.log_e,
            candidates=_in_question(whole.candidates),
            bit_posteriors=whole.bit_posteriors,
            marked=seen.marked,
            log_ratio=seen.log_ratio,
            extents=seen.extents,
        )
        return StatedMarks((only,), 0, at_least=passages.at_least)
    marks = _marks_of(weighed, passages, whole, checkpoint)
    bits = np.stack([mark.payload.bits for mark in marks])
    headline = int(np.argmax(weighed.log_shares(bits)))
    return StatedMarks(marks, headline, at_least=passages.at_least)


def _marks_of(
    weighed: EvidenceSums,
    found: FoundPassages,
    whole: PayloadPosterior,
    checkpoint: Callable[[], None],
) -> tuple[Mark, ...]:
    """Make marks of passages: those with one payload are one mark."""
    profile = weighed.seen.profile
    issued = None if weighed.issued is None else weighed.issued.issued

    def said_of(passages: list[FoundPassage]) -> PayloadPosterior:
        checkpoint()
        rows = np.concatenate([np.arange(p.first, p.after) for p in passages])
        same = passages[0].bits.tobytes() == whole.payload.bits.tobytes()
        if same and rows.size >= _NEARLY_ALL * weighed.usable:
            return PayloadPosterior(_in_question(whole.candidates), whole.bit_posteriors)
        phi = weighed.grid_text.potentials(rows)
        return payload_posterior(phi, passages[0].bits, weighed.prior, profile, issued)

    groups: dict[bytes, list[FoundPassage]] = {}
    for passage in found.passages:
        groups.setdefault(passage.bits.tobytes(), []).append(passage)
    said = {name: said_of(passages) for name, passages in groups.items()}
    while True:
        # Read by themselves, passages may turn out to carry what others carry.
        joined: dict[bytes, list[FoundPassage]] = {}
        for name, passages in groups.items():
            joined.setdefault(said[name].payload.bits.tobytes(), []).extend(passages)
        changed = {name for name, passages in joined.items() if passages != groups.get(name)}
        if not changed or len(joined) == len(groups):
            said = {said[name].payload.bits.tobytes(): said[name] for name in groups}
            groups = joined
            break
        said = {name: said_of(passages) for name, passages in joined.items()}
        groups = joined
    token = weighed.seen.schedule.token
    spans = [
        [(int(token[p.first]), int(token[p.after - 1])) for p in passages]
        for passages in groups.values()
    ]
    payloads = np.stack([said[name].payload.bits for name in groups])
    strongest = payloads[int(np.argmax(weighed.log_shares(payloads)))]
    member = weighed.best_chain(strongest, checkpoint)
    places = places_of(weighed.chain_text, payloads, spans, int(member[0]), profile, checkpoint)
    marks = [
        Mark(
            payload=said[name].payload,
            log_e=max(passage.log_e for passage in passages),
            candidates=said[name].candidates,
            bit_posteriors=said[name].bit_posteriors,
            marked=place.marked,
            log_ratio=place.log_ratio,
            extents=place.extents,
        )
        for (name, passages), place in zip(groups.items(), places, strict=True)
    ]
    return tuple(sorted(marks, key=lambda mark: mark.ranges[0]))


def _in_question(found: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return the candidates that a mark lists."""
    least = math.log(LEAST_POSTERIOR)
    listed = [c for c in found[:MOST_CANDIDATES] if c.log_posterior >= least]
    return tuple(listed or found[:1])

"""Decode texts whose truth is known.

Count what came of it, and 95 % intervals of shares and means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.detect.decode import exact, paper
from pura.detect.decode.exact import ExactDecision
from pura.detect.decode.likelihood import Intervals, LikelihoodModel
from pura.detect.decode.prior import Issued
from pura.detect.local.evidence import local_evidence
from pura.scheme import F64, I64, Payload, Profile, Schedule, SecretKey, schedule

if TYPE_CHECKING:
    from pura.model.reading import Reading


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the interval of a share (Wilson 1927).

    Args:
        successes: 0 … trials.
        trials: At least 1.

    Examples:
        >>> [round(end, 2) for end in wilson(16, 16)]
        [0.81, 1.0]
    """
    from scipy.stats import binomtest  # late: it takes a second

    interval = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def student(values: Sequence[float]) -> tuple[float, float]:
    """Return the interval of a mean (Student 1908); at least two values."""
    from scipy.stats import sem, t

    half = float(t.ppf(0.975, len(values) - 1) * sem(values))
    middle = float(np.mean(values))
    return middle - half, middle + half


@dataclass(frozen=True, kw_only=True, eq=False)
class TextReading:
    """What a verifier's model says of one text under one key.

    Attributes:
        ids: int64 [L].
        entropy_bits: float64 [L].
        probability: float64 [L].
        lo: float64 [L].
        hi: float64 [L].
    """

    ids: I64
    entropy_bits: F64
    probability: F64
    lo: F64
    hi: F64

    @classmethod
    def of(cls, seen: Reading) -> TextReading:
        """Return what a reading says under the first of its keys."""
        return cls(
            ids=seen.ids,
            entropy_bits=seen.entropy_bits,
            probability=seen.probability,
            lo=seen.lo[0],
            hi=seen.hi[0],
        )

    def first(self, tokens: int) -> TextReading:
        """Return the reading of the first tokens: no token's reading looks ahead."""
        return self.part(0, tokens)

    def part(self, first: int, after: int) -> TextReading:
        """Return what the reading says of the tokens ``first`` to ``after - 1``."""
        return TextReading(**{name: array[first:after] for name, array in vars(self).items()})


def joined(parts: Sequence[TextReading]) -> TextReading:
    """Return what several readings say one after the other."""
    columns = {f.name: [getattr(p, f.name) for p in parts] for f in fields(TextReading)}
    return TextReading(**{name: np.concatenate(arrays) for name, arrays in columns.items()})


@dataclass(frozen=True, kw_only=True)
class MeasuredText:
    """How one text came out.

    Attributes:
        usable: Steps that carry bits.
        paper_match: The published decoder found the whole payload.
        paper_bits: Share of payload bits that it found.
        exact_match: The exact decoder found the whole payload.
        exact_bits: Share of payload bits that it found.
        log10_e: The evidence.
    """

    usable: int
    paper_match: bool
    paper_bits: float
    exact_match: bool
    exact_bits: float
    log10_e: float


def evaluate(
    reading: TextReading,
    key: SecretKey,
    payload: Payload,
    profile: Profile,
    *,
    prompt_known: bool,
) -> MeasuredText:
    """Decode a text twice and compare with the payload that was put in."""
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    published = paper.decode(steps, local_evidence(steps, reading.lo, reading.hi, profile), profile)
    decision = decide(reading, steps, profile, prompt_known=prompt_known)
    truth = payload.array
    return MeasuredText(
        usable=len(steps),
        paper_match=published.payload == payload,
        paper_bits=float((published.payload.array == truth).mean()),
        exact_match=decision.payload == payload,
        exact_bits=float((decision.payload.array == truth).mean()),
        log10_e=decision.log10_e,
    )


def decide(
    reading: TextReading,
    steps: Schedule,
    profile: Profile,
    *,
    prompt_known: bool,
    model: LikelihoodModel | None = None,
    issued: Issued | None = None,
) -> exact.ExactDecision:
    """Run the exact decoder on a reading; one candidate will do."""
    seen = intervals_of(reading, steps, profile, prompt_known=prompt_known, model=model)
    return exact.decide(seen, candidates=1, issued=issued)


def intervals_of(
    reading: TextReading,
    steps: Schedule,
    profile: Profile,
    *,
    prompt_known: bool = False,
    model: LikelihoodModel | None = None,
) -> Intervals:
    """Return what the decoder weighs of a reading."""
    return Intervals.of(
        steps,
        reading.entropy_bits,
        reading.lo,
        reading.hi,
        profile,
        probability=reading.probability,
        prompt_known=prompt_known,
        model=model,
    )


@dataclass(frozen=True, kw_only=True)
class TableLine:
    """One line of a table.

    Attributes:
        texts: How many.
        paper_match: Texts whose payload the published decoder found.
        exact_match: Texts whose payload the exact decoder found.
        paper_bits: Mean bit accuracy of the published decoder.
        exact_bits: Mean bit accuracy of the exact decoder.
        only_paper: Texts that only the published decoder got right.
        only_exact: Texts that only the exact decoder got right.
        found: Texts whose evidence reached ``log10 e >= 6``.
        median_log10_e: Median evidence.
        median_usable: Median of the usable positions.
    """

    texts: int
    paper_match: int
    exact_match: int
    paper_bits: float
    exact_bits: float
    only_paper: int
    only_exact: int
    found: int
    median_log10_e: float
    median_usable: float


def summarise(outcomes: Sequence[MeasuredText], threshold: float = 6.0) -> TableLine:
    """Add up the outcomes of a cell."""
    return TableLine(
        texts=len(outcomes),
        paper_match=sum(o.paper_match for o in outcomes),
        exact_match=sum(o.exact_match for o in outcomes),
        paper_bits=float(np.mean([o.paper_bits for o in outcomes])),
        exact_bits=float(np.mean([o.exact_bits for o in outcomes])),
        only_paper=sum(o.paper_match and not o.exact_match for o in outcomes),
        only_exact=sum(o.exact_match and not o.paper_match for o in outcomes),
        found=sum(o.log10_e >= threshold for o in outcomes),
        median_log10_e=float(np.median([o.log10_e for o in outcomes])),
        median_usable=float(np.median([o.usable for o in outcomes])),
    )


PLACES: Final = ("start", "middle", "end")
"""Where in a document a passage may stand."""

READ_WHOLE: Final = 0.8
"""What counts of the evidence of a spliced document: read whole, documents had up to a quarter less
(study.md §5)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedText:
    """A marked text, read where a document may have it.

    Attributes:
        alone: Read with nothing before it.
        behind: Read after the first tokens of the text around it, these included.
        lead: How many tokens those are.
    """

    alone: TextReading
    behind: TextReading
    lead: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SplicedDocument:
    """A document with one marked passage.

    Attributes:
        reading: Of the whole of it.
        begin: First token of the passage.
        marked: Tokens of the passage.
    """

    reading: TextReading
    begin: int
    marked: int


def spliced(
    passage: PlacedText, around: TextReading, *, marked: int, tokens: int, place: str
) -> SplicedDocument:
    """Put the first tokens of a passage into the text around it.

    Args:
        passage: The passage; its lead is the beginning of ``around``.
        around: The text around, a ring that is opened where the lead begins: what stands before
            the lead in a document is taken from its end.
        marked: Tokens of the passage.
        tokens: Length of the document.
        place: One of :data:`PLACES`.

    Raises:
        ValueError: The text around is too short, or the document shorter than the passage.
    """
    rest = tokens - marked
    if not 0 <= rest <= around.ids.size:
        raise ValueError(f"{tokens} tokens; {around.ids.size} around {marked}")
    if place == PLACES[0]:
        parts = [passage.alone.part(0, marked), around.part(0, rest)]
        return SplicedDocument(reading=joined(parts), begin=0, marked=marked)
    before = rest if place == PLACES[2] else rest // 2
    lead, size = passage.lead, around.ids.size
    parts = [
        around.part(size - max(0, before - lead), size),
        passage.behind.part(max(0, lead - before), lead + marked),
        around.part(lead, lead + rest - before),
    ]
    return SplicedDocument(reading=joined(parts), begin=before, marked=marked)


@dataclass(frozen=True, kw_only=True)
class DocumentResult:
    """How one document came out.

    Attributes:
        usable: Steps of the document that carry bits.
        marked_usable: Those of them that stand in the passage.
        log10_e: The evidence.
        log10_e_whole: The half of it that takes the document as marked from end to end.
        right: The payload was found.
        off: Tokens between the passage's true limits and the reported ones, first and last token;
            empty where no passage was reported.
    """

    usable: int
    marked_usable: int
    log10_e: float
    log10_e_whole: float
    right: bool
    off: tuple[int, ...]


def finding(
    document: SplicedDocument, token: np.ndarray, decision: ExactDecision, payload: Payload
) -> DocumentResult:
    """Compare a decision with the truth.

    Args:
        document: The document.
        token: int64 [S], tokens that carry bits.
        decision: What was made of it.
        payload: The payload of the passage.
    """
    last = document.begin + document.marked - 1
    ranges = () if decision.strongest is None else decision.strongest.ranges
    off = (abs(ranges[0][0] - document.begin), abs(ranges[-1][1] - last)) if ranges else ()
    return DocumentResult(
        usable=decision.usable,
        marked_usable=int(np.count_nonzero((token >= document.begin) & (token <= last))),
        log10_e=decision.log10_e,
        log10_e_whole=float(decision.log_e_whole / np.log(10)),
        right=decision.payload == payload,
        off=off,
    )

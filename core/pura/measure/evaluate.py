"""Decode a text whose truth is known with both decoders, and count what came out right.

The truth enters after the decoding, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from pura.decode import exact, paper
from pura.decode.intervals import Intervals
from pura.decode.issued import Issued
from pura.decode.model import LikelihoodModel
from pura.extract.local import local_evidence
from pura.scheme import Payload, Profile, Schedule, SecretKey, schedule

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


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
    model: LikelihoodModel | None = None,
) -> MeasuredText:
    """Decode a text twice and compare with the payload that was put in."""
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    published = paper.decode(steps, local_evidence(steps, reading.lo, reading.hi, profile), profile)
    decision = decide(reading, steps, profile, prompt_known=prompt_known, model=model)
    truth = payload.bits
    return MeasuredText(
        usable=len(steps),
        paper_match=published.payload == payload,
        paper_bits=float((published.payload.bits == truth).mean()),
        exact_match=decision.payload == payload,
        exact_bits=float((decision.payload.bits == truth).mean()),
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

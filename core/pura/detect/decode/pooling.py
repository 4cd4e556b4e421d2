"""The posterior of the evidence: which mark a text carries, over readings, prompts and keys.

evidence.md §4. The evidence is a weighted sum over readings of the text and over keys, and each
e-value is a sum over payloads. So it is a sum over marks, each a key and a payload, and the
posterior of a mark is its share in that sum, never the share in one reading of several.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pura.detect.decode.payloads import (
    LEAST_POSTERIOR,
    MOST_CANDIDATES,
    PayloadPosterior,
    PayloadWeights,
    StepWeights,
    log_near_weight,
)
from pura.detect.decode.prior import log_prior
from pura.scheme import F64, U8
from pura.scheme.payload import Payload

Bits = U8


@dataclass(frozen=True, kw_only=True, eq=False)
class WeighedReading:
    """What one key makes of one reading of a stretch of text, and what that counts.

    Attributes:
        key: Fingerprint of the key; a key that was tried twice is one key.
        log_weight: Natural log of what its e-value counts in the evidence.
        weights: What it says of payloads.
    """

    key: str
    log_weight: float
    weights: PayloadWeights

    @property
    def log_share(self) -> float:
        """Natural log of what it adds to the evidence."""
        return self.log_weight + self.weights.log_e


@dataclass(frozen=True, kw_only=True)
class MarkCandidate:
    """A mark that the evidence leaves in question: a payload under a key.

    Attributes:
        key: Fingerprint of the key.
        payload: The payload.
        log_posterior: Natural log of its share in the evidence.
    """

    key: str
    payload: Payload
    log_posterior: float

    @property
    def posterior(self) -> float:
        """Share in the evidence, in [0, 1]."""
        return float(min(1.0, np.exp(self.log_posterior)))


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledPosterior:
    """How the evidence is spread over marks.

    Attributes:
        candidates: Marks in question, strongest first.
        bit_shares: By key, float64 [L_m, 2]: probability that the mark is of this key and that the
            bit of its payload is 0, or 1. Of all keys they add up to one.
    """

    candidates: tuple[MarkCandidate, ...]
    bit_shares: dict[str, F64]

    @property
    def best(self) -> MarkCandidate:
        """The most probable mark."""
        return self.candidates[0]

    def best_of(self, key: str) -> MarkCandidate | None:
        """Return the most probable mark of a key; None where none of its marks is in question."""
        return next((one for one in self.candidates if one.key == key), None)

    def doubted(self, key: str, payload: Payload, log_odds: float) -> PooledPosterior:
        """Return the same where a mark is true with some odds, whatever was said of it before."""
        if log_odds < math.log(LEAST_POSTERIOR):
            return self
        share = 1 / (1 + math.exp(-log_odds))
        candidates = [
            replace(one, log_posterior=one.log_posterior + math.log1p(-share))
            for one in self.candidates
            if (one.key, one.payload) != (key, payload)
        ]
        candidates.append(MarkCandidate(key=key, payload=payload, log_posterior=math.log(share)))
        bit_shares = {name: (1 - share) * shares for name, shares in self.bit_shares.items()}
        bit_shares[key][np.arange(payload.array.size), payload.array] += share
        return PooledPosterior(candidates=_ranked(candidates), bit_shares=bit_shares)


def pool(readings: Sequence[WeighedReading], *, log_unread: float = -math.inf) -> PooledPosterior:
    """Spread the evidence of several readings and keys over marks.

    Args:
        readings: All that the evidence is the sum of; at least one.
        log_unread: Natural log of what counts against every mark beside them.
    """
    total = _log_sum([*(one.log_share for one in readings), log_unread])
    candidates: list[MarkCandidate] = []
    bit_shares: dict[str, F64] = {}
    for key in dict.fromkeys(one.key for one in readings):
        own = [one for one in readings if one.key == key]
        rows = {
            candidate.payload.text: candidate.payload.array
            for one in own
            for candidate in one.weights.posterior.candidates
        }
        bits = np.stack(list(rows.values()))
        log_shares = [one.log_weight + one.weights.log_shares(bits) for one in own]
        log_posterior = np.minimum(np.logaddexp.reduce(log_shares, axis=0) - total, 0.0)
        candidates += [
            MarkCandidate(key=key, payload=Payload(text=text), log_posterior=float(value))
            for text, value in zip(rows, log_posterior, strict=True)
        ]
        shares = np.exp([one.log_share - total for one in own])
        ones = shares @ np.stack([one.weights.posterior.bit_posteriors for one in own])
        bit_shares[key] = np.stack([shares.sum() - ones, ones], axis=1).clip(0.0, 1.0)
    return PooledPosterior(candidates=_ranked(candidates), bit_shares=bit_shares)


def of_one_reading(key: str, posterior: PayloadPosterior) -> PooledPosterior:
    """Return the posterior of the evidence where it has one reading under one key."""
    ones = posterior.bit_posteriors
    return PooledPosterior(
        candidates=tuple(
            MarkCandidate(key=key, payload=one.payload, log_posterior=one.log_posterior)
            for one in posterior.candidates
        ),
        bit_shares={key: np.stack([1 - ones, ones], axis=1)},
    )


def _ranked(candidates: Iterable[MarkCandidate]) -> tuple[MarkCandidate, ...]:
    """Return the marks in question, strongest first; at least one."""
    ranked = sorted(candidates, key=lambda one: -one.log_posterior)
    kept = [one for one in ranked if one.log_posterior >= math.log(LEAST_POSTERIOR)]
    return tuple(kept[:MOST_CANDIDATES] or ranked[:1])


def log_odds_repeated(
    readings: Sequence[tuple[float, StepWeights]], stronger: Bits, elsewhere: float = -math.inf
) -> float:
    """Return the log odds that passages repeat a stronger mark's payload.

    Beforehand a further passage repeats a payload with chance 1/2. Else its payload is as likely to
    be few bits apart, each number of bits alike, as to be any; so the payload that is repeated is
    held against the sum over all others, not against the best of them.

    Args:
        readings: What the steps of the passages say under the key of the stronger mark, and the
            natural log of what each reading counts.
        stronger: uint8 [L_m], payload of the stronger mark.
        elsewhere: Natural log of what other keys add to the evidence of these passages.
    """
    repeated = _log_sum(
        log_weight + float(steps.log_ratios(stronger[None])[0]) for log_weight, steps in readings
    )
    # Against the one payload that each reading found there the odds are no smaller than against all
    # others; mostly they are so small that the sum over all need not be worked out.
    one = _log_sum(log_weight + _log_found(steps, stronger) for log_weight, steps in readings)
    at_most = repeated - _log_sum([one, elsewhere + math.log(2)])
    if at_most < math.log(LEAST_POSTERIOR):
        return at_most
    everyone = _log_sum(
        log_weight + _log_sum([steps.log_near(stronger), steps.log_e]) - math.log(2)
        for log_weight, steps in readings
    )
    return repeated - _log_sum([everyone, elsewhere + math.log(2)])


def _log_found(steps: StepWeights, stronger: Bits) -> float:
    """Return what the payload that was found there adds to the sum over all others, as a log."""
    found = steps.near[None]
    apart = int((steps.near != stronger).sum())
    before = float(log_prior(found, steps.prior, steps.issued)[0])
    if apart:
        before = _log_sum([before, log_near_weight(stronger.size, apart)])
    return float(steps.log_ratios(found)[0]) + before - math.log(2)


def _log_sum(values: Iterable[float]) -> float:
    return float(np.logaddexp.reduce(list(values)))

"""What some steps of a text say of every payload: shares, candidates, bits.

evidence.md §4. The sums run over all ``2^{L_m}`` payloads by the trellis. Of the grid, the members
that hardly fit are left out of them: they would cost as much as the others and change nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, Protocol

import numpy as np

from pura.detect.decode.prior import Issued, PayloadPrior, log_prior
from pura.detect.decode.trellis import codeword_scores
from pura.scheme import F64, U8
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile, encode_rows

Bits = U8

LEAST_POSTERIOR: Final = 1e-4
"""Payloads that weigh less are not in question."""

MOST_CANDIDATES: Final = 64

_LEAST_WEIGHT: Final = 0.02  # grid members below this share add nothing that could be seen
_MOST_MEMBERS: Final = 3
_ALL_ISSUED: Final = 1 << 17  # up to so many issued payloads are weighed one by one


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A payload that the evidence leaves in question.

    Attributes:
        payload: Its bits.
        log_posterior: Natural log of its weight, under the prior of the evidence: all payloads
            alike, or those within limits or issued ones more.
    """

    payload: Payload
    log_posterior: float

    @property
    def posterior(self) -> float:
        """Weight among all payloads, in [0, 1]."""
        return float(min(1.0, np.exp(self.log_posterior)))


class PayloadPosterior(NamedTuple):
    """How the weight is spread over the payloads.

    Attributes:
        candidates: Payloads in question, strongest first; their posteriors are shares of all
            payloads. At most :data:`MOST_CANDIDATES`, and but for the first none below
            :data:`LEAST_POSTERIOR`.
        bit_posteriors: float64 [L_m], probability that each payload bit is 1.
    """

    candidates: tuple[Candidate, ...]
    bit_posteriors: F64

    @property
    def payload(self) -> Payload:
        """The most probable payload."""
        return self.candidates[0].payload

    def doubted(self, other: Payload, log_odds: float) -> PayloadPosterior:
        """Return the same where another payload is true with some odds."""
        if log_odds < math.log(LEAST_POSTERIOR):
            return self
        share = 1 / (1 + math.exp(-log_odds))
        candidates = [
            Candidate(payload=one.payload, log_posterior=one.log_posterior + math.log1p(-share))
            for one in self.candidates
            if one.payload != other
        ]
        candidates.append(Candidate(payload=other, log_posterior=math.log(share)))
        return PayloadPosterior(
            tuple(sorted(candidates, key=lambda one: -one.log_posterior)[:MOST_CANDIDATES]),
            (1 - share) * self.bit_posteriors + share * other.array,
        )


class PayloadWeights(Protocol):
    """What a reading says of payloads: the terms that its e-value is the sum of."""

    @property
    def log_e(self) -> float:
        """Natural log of the e-value: the sum of what all payloads add."""

    @property
    def posterior(self) -> PayloadPosterior:
        """How the e-value is spread over the payloads."""

    def log_ratios(self, bits: Bits) -> F64:
        """Return the log likelihood ratios of payloads, without what they weigh beforehand.

        Args:
            bits: uint8 [C, L_m].

        Returns:
            float64 [C], in nats.
        """

    def log_shares(self, bits: Bits) -> F64:
        """Return the log of what payloads add to the e-value; uint8 [C, L_m] to float64 [C]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StepWeights:
    """What some of a text's steps say of payloads (a :class:`PayloadWeights`).

    Attributes:
        phi: float64 [G, n, 8], window potentials of these steps at every grid point.
        near: uint8 [L_m], a payload that fits them well.
        prior: What payloads weigh beforehand, and the trellis of the code.
        profile: The profile.
        issued: Payloads that weigh more than that; None without a register as prior.
    """

    phi: F64
    near: Bits
    prior: PayloadPrior
    profile: Profile
    issued: Issued | None

    @cached_property
    def _strong(self) -> F64:
        """``φ`` of the grid points that fit, float64 [G', n, 8]."""
        fit = codeword_scores(self.phi, encode_rows(self.near[None], self.profile))[:, 0]
        order = np.argsort(-fit, kind="stable")[:_MOST_MEMBERS]
        kept = fit[order] >= fit.max() + math.log(_LEAST_WEIGHT)
        return np.asarray(self.phi[order[kept]])

    @property
    def _log_members(self) -> float:
        """Natural log of the number of grid points that the mean runs over."""
        return math.log(len(self.phi))

    @cached_property
    def _log_sums(self) -> F64:
        """The sums over all payloads by their weights, times ``2^{L_m}``; float64 [G']."""
        phi = self._strong
        return self.prior.weighted(self.prior.trellis.log_sum(phi), phi)

    @cached_property
    def log_e(self) -> float:
        """Natural log of the mean likelihood ratio over payloads and grid."""
        mean = float(np.logaddexp.reduce(self._log_sums)) - self.prior.log_all
        if self.issued is not None:
            of_issued = _log_sum_issued(self._strong, self.issued, self.profile)
            weight = self.issued.weight
            mean = float(
                np.logaddexp(
                    math.log1p(-weight) + mean, math.log(weight / len(self.issued)) + of_issued
                )
            )
        return mean - self._log_members

    def log_ratios(self, bits: Bits) -> F64:
        """Return the log likelihood ratios of payloads, mean over the grid; [C, L_m] to [C]."""
        scores = codeword_scores(self._strong, encode_rows(bits, self.profile))
        return np.asarray(np.logaddexp.reduce(scores, axis=0) - self._log_members)

    def log_shares(self, bits: Bits) -> F64:
        """Return the log of what payloads add to the e-value; uint8 [C, L_m] to float64 [C]."""
        return self.log_ratios(bits) + log_prior(bits, self.prior, self.issued)

    @cached_property
    def posterior(self) -> PayloadPosterior:
        """How the e-value is spread over the payloads."""
        phi, pool = self._strong, self.near[None]
        log_posterior = self._log_posterior(pool)
        if -math.expm1(float(log_posterior[0])) >= LEAST_POSTERIOR:
            named = [bits for one in phi for bits in self.prior.k_best(one, MOST_CANDIDATES)]
            if self.issued is not None:
                named.extend(_strongest_issued(phi, self.issued, self.profile))
            pool = np.unique(np.array([self.near, *named], dtype=np.uint8), axis=0)
            log_posterior = self._log_posterior(pool)
        kept = np.argsort(-log_posterior, kind="stable")[:MOST_CANDIDATES]
        in_question = log_posterior[kept] >= math.log(LEAST_POSTERIOR)
        kept = kept[in_question | (np.arange(kept.size) == 0)]
        return PayloadPosterior(
            candidates=tuple(
                Candidate(payload=Payload.from_bits(bits), log_posterior=float(value))
                for bits, value in zip(pool[kept], log_posterior[kept], strict=True)
            ),
            bit_posteriors=self._bit_posteriors(pool[kept], np.exp(log_posterior[kept])),
        )

    def _log_posterior(self, bits: Bits) -> F64:
        return np.asarray(np.minimum(self.log_shares(bits) - self.log_e, 0.0))

    def _bit_posteriors(self, listed: Bits, weight: F64) -> F64:
        """Add up the listed payloads; of the others the trellis says how their bits are spread."""
        rest = max(0.0, 1.0 - float(weight.sum()))
        ones = weight @ listed.astype(np.float64)
        if rest < LEAST_POSTERIOR:
            return np.asarray(np.clip(ones + rest / 2, 0.0, 1.0))
        phi, log_sums = self._strong, self._log_sums
        share = np.exp(log_sums - np.logaddexp.reduce(log_sums))
        alike = share @ np.stack([self.prior.posteriors(one) for one in phi])
        ratio = np.logaddexp.reduce(codeword_scores(phi, encode_rows(listed, self.profile)), axis=0)
        # The sums are times 2^{L_m}: a weight counts by what it is above all alike.
        above = self.prior.log_weight(listed) + self.prior.log_all
        named_alike = np.exp(ratio + above - np.logaddexp.reduce(log_sums))
        left = np.clip(alike - named_alike @ listed, 0.0, 1.0)
        unlisted = max(1e-300, 1.0 - float(named_alike.sum()))
        ones = ones + rest * np.clip(left / unlisted, 0.0, 1.0)
        return np.asarray(np.clip(ones, 0.0, 1.0))

    def log_near(self, other: Bits) -> float:
        """Return the log of the mean likelihood ratio of the payloads near another one.

        Each number of bits that a payload may be apart from the other one, ``1 … L_m``, has the
        same weight, and so has each payload that is so far apart.

        Args:
            other: uint8 [L_m].

        Returns:
            In nats.
        """
        # Where each bit is flipped with chance q, d given bits are with q^d (1-q)^(L-d). Its
        # integral over q is 1 / ((L+1) binom(L, d)): the weights asked for, but for d = 0. The sum
        # over all payloads is a polynomial in q, which so many nodes of Gauss integrate exactly.
        size = self.prior.trellis.payload_bits
        nodes, weights = np.polynomial.legendre.leggauss(size // 2 + 1)
        flipped = (nodes + 1) / 2
        parts = [
            self.prior.trellis.log_sum(self._strong, _flipped(other, chance)) + math.log(weight / 2)
            for chance, weight in zip(flipped.tolist(), weights.tolist(), strict=True)
        ]
        everyone = float(np.logaddexp.reduce(np.concatenate(parts))) - self._log_members
        itself = float(self.log_ratios(other[None])[0]) - math.log(size + 1)
        # Never below what the payload alone adds that these steps were found with.
        apart = int((self.near != other).sum())
        least = -math.inf
        if apart:
            least = float(self.log_ratios(self.near[None])[0]) + log_near_weight(size, apart)
        if itself >= everyone:  # rounding: all else is too little beside it to be seen
            return least
        others = everyone + math.log(-math.expm1(itself - everyone))
        return max(least, others + math.log((size + 1) / size))


def log_near_weight(size: int, apart: int) -> float:
    """Return the log of what a payload weighs that is some bits apart from another one.

    Args:
        size: ``L_m``.
        apart: Bits in which they differ, at least 1.
    """
    return -math.log(size * math.comb(size, apart))


def _flipped(bits: Bits, chance: float) -> F64:
    """Return bit weights of a payload each of whose bits is flipped with a chance; [L_m, 2]."""
    same = np.arange(2)[None, :] == bits[:, None]
    return np.where(same, math.log1p(-chance), math.log(chance))


def _log_sum_issued(phi: F64, issued: Issued, profile: Profile) -> float:
    """Add up the likelihood ratios of the issued payloads, if they are few enough to."""
    if len(issued) > _ALL_ISSUED:
        return -math.inf
    parts = [
        np.logaddexp.reduce(codeword_scores(phi, encode_rows(bits, profile)).ravel())
        for _, bits in issued.blocks()
    ]
    return float(np.logaddexp.reduce(parts))


def _strongest_issued(phi: F64, issued: Issued, profile: Profile) -> list[Bits]:
    """Return the issued payloads that fit best, if they are few enough to weigh."""
    if len(issued) > _ALL_ISSUED:
        return []
    rows: list[Bits] = []
    for _, bits in issued.blocks():
        fit = codeword_scores(phi, encode_rows(bits, profile)).max(axis=0)
        rows.extend(bits[np.argsort(-fit, kind="stable")[:MOST_CANDIDATES]])
    return rows


def in_question(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return the candidates that a mark lists."""
    least = math.log(LEAST_POSTERIOR)
    listed = [one for one in candidates[:MOST_CANDIDATES] if one.log_posterior >= least]
    return tuple(listed or candidates[:1])

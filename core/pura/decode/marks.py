"""What is said of one mark: where it stands and which payload it carries (docs/evidence.md §4).

Payload, candidates and bit posteriors come from the steps of the mark's own passages alone; the
weight of payloads that are not listed counts against those that are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.decode import chain
from pura.decode.chain import ChainText
from pura.decode.issued import Issued, log_prior
from pura.decode.prior import PayloadPrior
from pura.decode.windows import codeword_scores, codeword_windows, window_potentials
from pura.scheme.codeword import encode_rows
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

LEAST_POSTERIOR: Final = 1e-4
"""Payloads that weigh less are not in question."""

MOST_CANDIDATES: Final = 64

_LEAST_WEIGHT: Final = 0.02  # grid members below this share say nothing of their own
_MOST_MEMBERS: Final = 3
_ALL_ISSUED: Final = 1 << 17  # so many are weighed one by one


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


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One payload and where in the text it stands.

    Attributes:
        payload: Its bits.
        log_e: Natural log of the e-value of the statement that its passages carry a mark: that of
            the best window inside them, divided by how many such statements there are, so that it
            holds of all marks at once. Where the text is no longer than a window, or none of its
            windows reaches the level, the statement is about the whole text: its evidence.
        candidates: Payloads in question for this mark, strongest first; their posteriors are
            shares of all payloads. At most :data:`MOST_CANDIDATES`, and but for the first none
            below :data:`LEAST_POSTERIOR`.
        bit_posteriors: float64 [L_m], probability that each of its payload bits is 1.
        marked: float64 [L], posterior that the token belongs to a passage of this mark.
        log_ratio: float64 [L], what each token adds to the log likelihood ratio of this payload.
        ranges: First and last token (inclusive) of each passage, in order.
    """

    payload: Payload
    log_e: float
    candidates: tuple[Candidate, ...]
    bit_posteriors: F64
    marked: F64
    log_ratio: F64
    ranges: tuple[tuple[int, int], ...]

    @property
    def log10_e(self) -> float:
        """``log10`` of the e-value of its statement."""
        return float(self.log_e / np.log(10))


@dataclass(frozen=True, kw_only=True)
class GridText:
    """What some steps of a text say of payloads at every grid point.

    Attributes:
        windows: float64 [T, S, 8], densities of the steps for the bits ahead of them.
        table: int64 [G], row of ``windows`` that each grid point reads.
        eta: float64 [G, S], probability that the step is desynchronised.
        index: int64 [S], first codeword position of each step.
        length: ``n``.
    """

    windows: F64
    table: I64
    eta: F64
    index: I64
    length: int

    def potentials(self, rows: I64) -> F64:
        """Return ``φ`` of some steps; float64 [G, n, 8]."""
        eta = self.eta[:, rows, None]
        log_f = np.log((1 - eta) * self.windows[self.table[:, None], rows[None, :]] + eta)
        return window_potentials(log_f, self.index[rows], self.length)


class PayloadPosterior(NamedTuple):
    """What the steps of a mark say of its payload; attributes as of :class:`Mark`."""

    candidates: tuple[Candidate, ...]
    bit_posteriors: F64

    @property
    def payload(self) -> Payload:
        """The most probable payload."""
        return self.candidates[0].payload


def payload_posterior(
    phi: F64, near: Bits, prior: PayloadPrior, profile: Profile, issued: Issued | None
) -> PayloadPosterior:
    """Weigh all payloads on the steps of one mark.

    Args:
        phi: float64 [G, n, 8], of these steps.
        near: uint8 [L_m], the payload that they were found with.
        prior: What payloads weigh beforehand, and the trellis of the code.
        profile: The profile.
        issued: Payloads that weigh more than that.
    """
    fit = codeword_scores(phi, encode_rows(near[None], profile))[:, 0]
    order = np.argsort(-fit, kind="stable")[:_MOST_MEMBERS]
    phi = phi[order[fit[order] >= fit.max() + math.log(_LEAST_WEIGHT)]]
    log_sums = prior.weighted(prior.trellis.log_sum(phi), phi)
    total = float(np.logaddexp.reduce(log_sums)) - profile.payload_bits * math.log(2)
    if issued is not None:
        total = float(
            np.logaddexp(
                math.log1p(-issued.weight) + total,
                math.log(issued.weight / len(issued)) + _log_sum_issued(phi, issued, profile),
            )
        )

    def weigh(bits: Bits) -> F64:
        ratio = np.logaddexp.reduce(codeword_scores(phi, encode_rows(bits, profile)), axis=0)
        return np.asarray(np.minimum(ratio + log_prior(bits, prior, issued) - total, 0.0))

    pool = near[None]
    log_posterior = weigh(pool)
    if -math.expm1(float(log_posterior[0])) >= LEAST_POSTERIOR:
        named = [bits for one in phi for bits in prior.k_best(one, MOST_CANDIDATES)]
        if issued is not None:
            named.extend(_strongest_issued(phi, issued, profile))
        pool = np.unique(np.array([near, *named], dtype=np.uint8), axis=0)
        log_posterior = weigh(pool)
    kept = np.argsort(-log_posterior, kind="stable")[:MOST_CANDIDATES]
    kept = kept[(log_posterior[kept] >= math.log(LEAST_POSTERIOR)) | (np.arange(kept.size) == 0)]
    weight = np.exp(log_posterior[kept])
    rest = max(0.0, 1.0 - float(weight.sum()))
    if rest < LEAST_POSTERIOR:
        other = np.full(profile.payload_bits, 0.5)
        ones = weight @ pool[kept].astype(np.float64) + rest * other
    else:
        share = np.exp(log_sums - np.logaddexp.reduce(log_sums))
        alike = share @ np.stack([prior.posteriors(one) for one in phi])
        ratio = np.logaddexp.reduce(codeword_scores(phi, encode_rows(pool[kept], profile)), axis=0)
        # The sums are times 2^{L_m}: a weight counts by what it is above all alike.
        above = prior.log_weight(pool[kept]) + prior.log_all
        named_alike = np.exp(ratio + above - np.logaddexp.reduce(log_sums))
        # Of what is not listed, the trellis says how its bits are spread.
        left = np.clip(alike - named_alike @ pool[kept], 0.0, 1.0)
        unlisted = max(1e-300, 1.0 - float(named_alike.sum()))
        ones = weight @ pool[kept].astype(np.float64) + rest * np.clip(left / unlisted, 0.0, 1.0)
    return PayloadPosterior(
        candidates=tuple(
            Candidate(payload=Payload.from_bits(pool[i]), log_posterior=float(log_posterior[i]))
            for i in kept
        ),
        bit_posteriors=np.asarray(np.clip(ones, 0.0, 1.0)),
    )


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
    """Return the issued payloads that fit best, if they are few enough to ask."""
    if len(issued) > _ALL_ISSUED:
        return []
    rows: list[Bits] = []
    for _, bits in issued.blocks():
        fit = codeword_scores(phi, encode_rows(bits, profile)).max(axis=0)
        rows.extend(bits[np.argsort(-fit, kind="stable")[:MOST_CANDIDATES]])
    return rows


@dataclass(frozen=True, kw_only=True)
class MarkExtent:
    """Where one mark stands; attributes as of :class:`Mark`."""

    marked: F64
    log_ratio: F64
    ranges: tuple[tuple[int, int], ...]


def limits_of(
    text: ChainText,
    payloads: Bits,
    spans: Sequence[Sequence[tuple[int, int]]],
    member: int,
    profile: Profile,
    checkpoint: Callable[[], None],
) -> list[MarkExtent]:
    """Return where marks begin and end, token by token.

    One chain runs over the text; around the passages of a mark it reads the mark's payload, up to
    the middle between them and those of another mark. So many marks cost what one does.

    Args:
        text: The text.
        payloads: uint8 [K, L_m], all different.
        spans: First and last token of the passages that are known of each, apart from each other.
        member: Which chain.
        profile: The profile.
        checkpoint: Called often; may raise.
    """
    owner = _owners(text.tokens, spans)
    words = codeword_windows(encode_rows(payloads, profile))
    tokens = np.flatnonzero(text.row >= 0)
    rows = text.row[tokens]
    read = words[owner[tokens], text.index[rows]]
    picked = np.ones(text.windows.shape[:2])
    picked[:, rows] = text.windows[:, rows, read]
    of_owner = replace(text, windows=np.broadcast_to(picked[:, :, None], text.windows.shape))
    found = chain.posteriors(of_owner, words[:1], np.array([member]), checkpoint)
    out = []
    for number, own in enumerate(spans):
        there = owner == number
        marked = np.where(there, found.marked[0], 0.0)
        ranges = runs(marked, text.model.least_tokens)
        stated = [r for r in ranges if any(r[0] <= b and a <= r[1] for a, b in own)]
        inside = np.zeros(text.tokens, dtype=bool)
        for first, last in stated or own:
            inside[first : last + 1] = True
        out.append(
            MarkExtent(
                marked=np.where(inside | (marked <= 0.5), marked, 0.0),
                log_ratio=np.where(there, found.log_ratio[0], 0.0),
                ranges=tuple(stated or own),
            )
        )
    return out


def _owners(tokens: int, spans: Sequence[Sequence[tuple[int, int]]]) -> I64:
    """Return whose payload is read at each token; int64 [L]."""
    placed = sorted((first, last, k) for k, own in enumerate(spans) for first, last in own)
    out = np.full(tokens, placed[0][2], dtype=np.int64)
    for (_, before, _), (first, _, number) in itertools.pairwise(placed):
        out[(before + first + 1) // 2 :] = number
    return out


def runs(marked: F64, least: int) -> tuple[tuple[int, int], ...]:
    """Return the stretches whose posterior is above one half, first and last token.

    Shorter ones than ``least`` tokens are left out, and so are shorter gaps between two.
    """
    inside = np.concatenate([[False], marked > 0.5, [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    joined: list[list[int]] = []
    for first, after in edges.reshape(-1, 2).tolist():
        if joined and first - joined[-1][1] < least:
            joined[-1][1] = after
        else:
            joined.append([first, after])
    return tuple((first, after - 1) for first, after in joined if after - first >= least)

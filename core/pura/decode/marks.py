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
from pura.decode.extents import Extent, PassageText, extent_of
from pura.decode.issued import Issued, log_prior
from pura.decode.prior import PayloadPrior
from pura.decode.windows import codeword_scores, codeword_windows, window_potentials
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile, encode_rows

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

LEAST_POSTERIOR: Final = 1e-4
"""Payloads that weigh less are not in question."""

MOST_CANDIDATES: Final = 64

_LEAST_WEIGHT: Final = 0.02  # grid members below this share say nothing of their own
_MOST_MEMBERS: Final = 3
PASSAGE_NATS: Final = 3 * math.log(10)
"""Least evidence, its payload being known, of each of several passages of one mark."""

_LEAST_EDITED: Final = 0.01  # share of edited tokens that a limit reckons with in any passage
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
        extents: Where each passage stands, in order, with intervals for its limits.
    """

    payload: Payload
    log_e: float
    candidates: tuple[Candidate, ...]
    bit_posteriors: F64
    marked: F64
    log_ratio: F64
    extents: tuple[Extent, ...]

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """First and last token (inclusive) of each passage."""
        return tuple((one.first, one.last) for one in self.extents)

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
class MarkPlace:
    """Where one mark stands; attributes as of :class:`Mark`."""

    marked: F64
    log_ratio: F64
    extents: tuple[Extent, ...]


def places_of(
    text: ChainText,
    payloads: Bits,
    spans: Sequence[Sequence[tuple[int, int]]] | None,
    member: int,
    profile: Profile,
    checkpoint: Callable[[], None],
) -> list[MarkPlace]:
    """Return where marks begin and end, token by token.

    One chain runs over the text; around the passages of a mark it reads the mark's payload, up to
    the middle between them and those of another mark. So many marks cost what one does.

    Args:
        text: The text.
        payloads: uint8 [K, L_m], all different.
        spans: First and last token of the passages that are known of each, apart from each other;
            None where there is one payload and nothing is known.
        member: Which chain.
        profile: The profile.
        checkpoint: Called often; may raise.
    """
    owner = np.zeros(text.tokens, np.int64) if spans is None else _owners(text.tokens, spans)
    words = codeword_windows(encode_rows(payloads, profile))
    tokens = np.flatnonzero(text.row >= 0)
    rows = text.row[tokens]
    read = words[owner[tokens], text.index[rows]]
    picked = np.ones(text.windows.shape[:2])
    picked[:, rows] = text.windows[:, rows, read]
    of_owner = replace(text, windows=np.broadcast_to(picked[:, :, None], text.windows.shape))
    found = chain.posteriors(of_owner, words[:1], np.array([member]), checkpoint)
    ranges: list[tuple[int, int, int]] = []
    for number in range(len(payloads)):
        there = runs(np.where(owner == number, found.marked[0], 0.0), text.model.least_tokens)
        own = there if spans is None else spans[number]
        stated = [r for r in there if any(r[0] <= b and a <= r[1] for a, b in own)]
        ranges += [(*one, number) for one in stated or own]
    extents = _extents(text, words, sorted(ranges), member, checkpoint)
    out = []
    for number in range(len(payloads)):
        inside = np.zeros(text.tokens, dtype=bool)
        for one in extents[number]:
            inside[one.first : one.last + 1] = True
        marked = np.where(owner == number, found.marked[0], 0.0)
        out.append(
            MarkPlace(
                marked=np.where(inside, marked, np.minimum(marked, 0.5)),
                log_ratio=np.where(owner == number, found.log_ratio[0], 0.0),
                extents=tuple(extents[number]),
            )
        )
    return out


def _extents(
    text: ChainText,
    words: I64,
    ranges: Sequence[tuple[int, int, int]],
    member: int,
    checkpoint: Callable[[], None],
) -> list[list[Extent]]:
    """Return the limits of passages, by mark.

    Of the passages of one mark those are left out that say too little for themselves: next to a
    passage, text that is hardly counted stays probable by the chain's expectation alone.

    Args:
        text: The text.
        words: int64 [K, n], window indices of the codewords.
        ranges: First and last token of each passage and the number of its mark, in order.
        member: Which chain.
        checkpoint: Called often; may raise.
    """
    read = [passage_text(text, word, member) for word in words]
    gains: list[list[float]] = [[] for _ in words]
    out: list[list[Extent]] = [[] for _ in words]
    taken = -1
    for at, (first, last, number) in enumerate(ranges):
        most = ranges[at + 1][0] - 1 if at + 1 < len(ranges) else text.tokens - 1
        seen, first = read[number], max(first, taken + 1)
        if not seen.counted[first : last + 1].any():
            continue
        one = extent_of(seen, (first, last), (taken + 1, max(most, last)), checkpoint)
        out[number].append(one)
        gains[number].append(seen.gain(one.first, one.last))
        taken = one.last
    for number, own in enumerate(out):
        least = min(PASSAGE_NATS, max(gains[number], default=0.0))
        out[number] = [e for e, gain in zip(own, gains[number], strict=True) if gain >= least]
    return out


def passage_text(text: ChainText, word: I64, member: int) -> PassageText:
    """Return what a text says of one payload, token by token.

    Args:
        text: The text.
        word: int64 [n], window indices of the payload's codeword.
        member: Which chain.
    """
    clean = int(text.table[member])
    tokens = np.flatnonzero(text.row >= 0)
    rows = text.row[tokens]
    densities = np.ones((2, text.tokens))
    for place, row in enumerate((clean + text.windows.shape[0] // 2, clean)):
        densities[place, tokens] = text.windows[row, rows, word[text.index[rows]]]
    edited = text.edits(np.array([member]), 0, text.tokens)[:, 0, 0]
    return PassageText(
        young=densities[0],
        clean=densities[1],
        counted=text.row >= 0,
        edited=np.maximum(edited, _LEAST_EDITED),
        context_window=text.context_window,
    )


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

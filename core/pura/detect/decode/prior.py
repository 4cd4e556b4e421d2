"""What is known of a payload beforehand: the code's prior, lists of payloads, issued ones.

All payloads weigh alike, or, where a profile states limits of its fields, those within share most
of the weight (evidence.md §3, "Limits as prior"). The weights are fixed before any phase is
looked at. A register of issued payloads is mixed in on top of them.

The sum over a list of payloads is bounded by the sum over all of them, however the list was
chosen, so everything here may look at the phases: it decides how strong the evidence becomes, never
whether it is valid. Windows of many lengths are looked at with the ring left open, which is cheap;
those are decoded whose evidence no payload found so far accounts for, the largest rest first.

evidence.md §3, "The register as prior". The evidence is a mean over payloads. Without a
register all weigh alike; with one, part of the weight lies on the issued ones. These weights are
fixed before any phase is looked at, so the mean stays one, whatever the register holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.detect.decode.limited import Issuable, LimitedTrellis
from pura.detect.decode.significance import open_log_mean
from pura.detect.decode.trellis import Trellis, codeword_scores, codeword_windows, window_potentials
from pura.scheme import F64, I64, U8
from pura.scheme.profile import Profile, encode_rows

Bits = U8


@dataclass(frozen=True, kw_only=True, eq=False)
class PayloadPrior:
    """Payloads' weights and the trellis that adds up under them.

    Attributes:
        trellis: Of the code.
        issuable: The payloads within limits; None where all payloads weigh alike.
    """

    trellis: Trellis
    issuable: Issuable | None = None

    @cached_property
    def _limited(self) -> LimitedTrellis | None:
        if self.issuable is None:
            return None
        return LimitedTrellis(trellis=self.trellis, issuable=self.issuable)

    @property
    def log_all(self) -> float:
        """Natural log of the number of payloads."""
        return self.trellis.payload_bits * math.log(2)

    def log_weight(self, bits: Bits) -> F64:
        """Return what payloads weigh, natural log; uint8 [C, L_m] to [C]."""
        if self.issuable is None:
            return np.full(len(bits), -self.log_all)
        return self.issuable.log_prior(bits)

    def weighted(self, log_sums: F64, phi: F64) -> F64:
        """Return ``log Σ_c p(c)·2^{L_m}·exp(Σ_i φ_i)``: the sum over payloads by their weights.

        Args:
            log_sums: float64 [G], the sum over payloads that weigh alike.
            phi: float64 [G, n, 8].
        """
        if self.issuable is None or self._limited is None:
            return log_sums
        within = self._limited.log_sum(phi) - self.issuable.log_share
        return self._mixed(log_sums, within)

    def most(self, phi: F64) -> F64:
        """Return an upper bound of the log mean over payloads; the ring may end elsewhere.

        Args:
            phi: float64 [N, n, 8].
        """
        alike = open_log_mean(self.trellis, phi) + closing_nats(self.trellis)
        if self.issuable is None or self._limited is None:
            return alike
        return self._mixed(
            alike, self._limited.open_log_sum(phi) - self.log_all - self.issuable.log_share
        )

    def _mixed(self, alike: F64, within: F64) -> F64:
        assert self.issuable is not None
        outside = self.issuable.outside
        return np.asarray(np.logaddexp(math.log(outside) + alike, math.log1p(-outside) + within))

    def k_best(self, phi: F64, k: int) -> list[Bits]:
        """Return the ``k`` payloads that have the most weight given the text; phi [n, 8]."""
        found = self.trellis.k_best(phi, k)
        if self._limited is None:
            return [bits for bits, _ in found]
        rows = {bits.tobytes(): (bits, score) for bits, score in found}
        rows |= {bits.tobytes(): (bits, score) for bits, score in self._limited.k_best(phi, k)}
        bits = np.stack([one for one, _ in rows.values()])
        value = np.array([score for _, score in rows.values()]) + self.log_weight(bits)
        return [bits[i] for i in np.argsort(-value, kind="stable")[:k]]

    def posteriors(self, phi: F64) -> F64:
        """Return how probable each payload bit is 1; [n, 8] to [L_m]."""
        alike = self.trellis.posteriors(phi)
        if self.issuable is None or self._limited is None:
            return alike
        log_sum = self.trellis.log_sum(phi[None])
        share = np.exp(
            math.log(self.issuable.outside) + log_sum - self.weighted(log_sum, phi[None])
        )
        return np.asarray(share * alike + (1 - share) * self._limited.posteriors(phi))


def closing_nats(trellis: Trellis) -> float:
    """Open walks that there are for one payload, as a logarithm: what the mean over them loses."""
    _, steps, branches = trellis.windows(np.zeros((1, trellis.codeword_length, 8))).shape
    closing = math.log2(branches // 2) + steps - trellis.payload_bits
    return float(closing * math.log(2))


LISTED: Final = 64
"""Payloads that are weighed at most."""

KEPT: Final = 12
"""Payloads far apart that are weighed under every chain, and as many neighbours of theirs."""

_NEIGHBOUR_BITS: Final = 4
_LEAST_WINDOW: Final = 64  # steps; half of it is the stride of the shortest windows
_WORTH_NATS: Final = 3.0  # evidence of a window, ring closed, from which on it is decoded
_OF_A_WINDOW: Final = 4  # payloads that a window names
_DECODED_AT_LEAST: Final = 2
_STEPS_A_DECODING: Final = 160  # a longer text affords more decodings
_DECODED_AT_MOST: Final = 48
_CHUNK: Final = 256  # windows looked at together


def window_payloads(
    log_f: F64,
    index: I64,
    prior: PayloadPrior,
    profile: Profile,
    known: Bits,
    checkpoint: Callable[[], None],
) -> tuple[Bits, tuple[int, float] | None]:
    """Return the payloads that windows of a text name, and the most promising short window.

    Args:
        log_f: float64 [S, 8], log likelihoods of the steps, mean over a few grid points.
        index: int64 [S], first codeword position of each step.
        prior: What payloads weigh, and the trellis of the code.
        profile: The profile.
        known: uint8 [C, L_m], payloads that the whole text names.
        checkpoint: Called often; may raise.

    Returns:
        uint8 [C', L_m], those that are not known yet; and the first step of the
        window with its evidence in nats, the ring closed in the mean, None in a text of one.
    """
    if index.size <= _LEAST_WINDOW:
        return np.zeros((0, prior.trellis.payload_bits), dtype=np.uint8), None
    windows, evidence, look = _worthwhile(log_f, index, prior, checkpoint)
    # What is left of each window's evidence once a payload that is known accounts for it.
    left = evidence.copy()
    for bits in known[:_OF_A_WINDOW]:
        left = np.minimum(left, evidence - _alone(bits, windows, prior, profile))
    found: list[Bits] = []
    budget = min(_DECODED_AT_MOST, _DECODED_AT_LEAST + index.size // _STEPS_A_DECODING)
    while budget and left.size and left.max() >= _WORTH_NATS:
        checkpoint()
        budget -= 1
        at = int(np.argmax(left))
        named = prior.k_best(windows[at].astype(np.float64), _OF_A_WINDOW)
        found += named
        left = np.minimum(left, evidence - _alone(named[0], windows, prior, profile))
        left[at] = 0.0
    rows = np.array(found, dtype=np.uint8).reshape(-1, prior.trellis.payload_bits)
    return np.unique(rows, axis=0), look


def _worthwhile(
    log_f: F64, index: I64, prior: PayloadPrior,
    checkpoint: Callable[[], None],
) -> tuple[npt.NDArray[np.float32], F64, tuple[int, float]]:  # fmt: skip
    """Return the windows that may hold a mark: potentials [N, n, 8], evidence in nats [N]."""
    potentials, evidence = [], []
    look = (0, -math.inf)
    for scale, windows in enumerate(scaled_windows(log_f, index, prior.trellis.codeword_length)):
        for first in range(0, len(windows), _CHUNK):
            checkpoint()
            some = windows[first : first + _CHUNK]
            values = prior.most(some.astype(np.float64))
            best = int(np.argmax(values))
            if scale == 0 and values[best] > look[1]:
                look = ((first + best) * _LEAST_WINDOW // 2, float(values[best]))
            worth = values >= _WORTH_NATS
            potentials.append(some[worth])
            evidence.append(values[worth])
    return np.concatenate(potentials), np.concatenate(evidence), look


def scaled_windows(log_f: F64, index: I64, length: int) -> Iterator[npt.NDArray[np.float32]]:
    """Yield the windows of each scale, half overlapping: potentials float32 [N, n, 8]."""
    stride = _LEAST_WINDOW // 2
    blocks = -(-index.size // stride)
    place = np.arange(index.size) // stride * length + index
    level = window_potentials(log_f, place, blocks * length).astype(np.float32)
    level = level.reshape(blocks, length, 8)
    while len(level) > 2:
        yield level[:-1] + level[1:]
        if len(level) % 2:
            level = np.concatenate([level, np.zeros_like(level[:1])])
        level = level[::2] + level[1::2]


def _alone(
    bits: Bits, windows: npt.NDArray[np.float32], prior: PayloadPrior, profile: Profile
) -> F64:
    """Return the evidence of one payload in each window, in nats."""
    read = codeword_windows(encode_rows(bits[None], profile)[0])
    score = windows[:, np.arange(read.size), read].sum(axis=1)
    return np.asarray(score + float(prior.log_weight(bits[None])[0]), dtype=np.float64)


def strongest_payloads(
    phi: F64, payloads: Bits, prior: PayloadPrior, profile: Profile, count: int
) -> Bits:
    """Return the payloads that have the most weight given the text as a whole.

    Args:
        phi: float64 [G, n, 8].
        payloads: uint8 [C, L_m].
        prior: What they weigh.
        profile: The profile.
        count: How many to return at most.
    """
    if len(payloads) <= count:
        return payloads
    scores = np.logaddexp.reduce(codeword_scores(phi, encode_rows(payloads, profile)), axis=0)
    if prior.issuable is not None:
        scores = scores + prior.log_weight(payloads)
    return payloads[np.argsort(-scores, kind="stable")[:count]]


def kept_payloads(payloads: Bits, scores: F64, floor: float, behind: float) -> I64:
    """Choose which payloads are weighed under every chain after a first look.

    A payload that decodes well takes its neighbours along, which differ from it in a few bits and
    may not crowd out another mark's payload.

    Args:
        payloads: uint8 [C, L_m].
        scores: float64 [C], of the first look, in nats.
        floor: Below it a payload is of no use.
        behind: So far behind the payload whose neighbour it is, a payload is of no use.

    Returns:
        int64 [C'], at least the strongest.
    """
    leaders: list[int] = []
    followers: list[int] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if leaders and scores[i] < floor:
            break
        apart = np.count_nonzero(payloads[leaders] != payloads[i], axis=1)
        near = np.flatnonzero(apart <= _NEIGHBOUR_BITS)
        if near.size and scores[i] < scores[leaders[near[0]]] - behind:
            continue
        group = followers if near.size else leaders
        if len(group) < KEPT:
            group.append(i)
    return np.array(leaders + followers, dtype=np.int64)


_BLOCK: Final = 2048  # payloads scored at a time
_STRONGEST: Final = 16  # issued payloads that the whole text puts on the list; windows: as many
_IN_WINDOWS: Final = 1 << 17  # issued payloads up to which every window is scored, too
_WINDOWS: Final = 512  # windows scored at a time
_UNHEARD_NATS: Final = 40.0  # behind the strongest; what is further adds nothing to a posterior


@dataclass(frozen=True, kw_only=True, eq=False)
class Issued:
    """The payloads of a register, fixed before the text was seen. Make it with :meth:`of`.

    Attributes:
        payload_bits: ``L_m``.
        weight: Part of the prior that they share equally, in (0, 1); all payloads share the rest.
        rows: Packed payloads as byte strings [N], ascending, all different.
    """

    payload_bits: int
    weight: float
    rows: npt.NDArray[np.bytes_]

    @classmethod
    def of(cls, payloads: Iterable[Bits], payload_bits: int, weight: float) -> Issued:
        """Take issued payloads in.

        Args:
            payloads: Blocks of payloads, uint8 [M, L_m] each.
            payload_bits: ``L_m``.
            weight: In (0, 1).

        Raises:
            ValueError: There is no payload, or the weight is not one.
        """
        rows = [_packed(block) for block in payloads if len(block)]
        if not rows or not 0 < weight < 1:
            raise ValueError("a prior needs issued payloads and a weight between 0 and 1")
        return cls(payload_bits=payload_bits, weight=weight, rows=np.unique(np.concatenate(rows)))

    def __len__(self) -> int:
        return int(self.rows.size)

    def holds(self, bits: Bits) -> npt.NDArray[np.bool_]:
        """Return which payloads were issued; uint8 [C, L_m] to bool [C]."""
        wanted = _packed(bits)
        at = np.minimum(np.searchsorted(self.rows, wanted), len(self) - 1)
        return np.asarray(self.rows[at] == wanted)

    def bits(self, at: I64 | slice) -> Bits:
        """Return some payloads; uint8 [M, L_m]."""
        some = np.ascontiguousarray(self.rows[at])
        packed = some.view(np.uint8).reshape(some.size, self.rows.itemsize)
        return np.unpackbits(packed, axis=1, count=self.payload_bits)

    def blocks(self) -> Iterator[tuple[slice, Bits]]:
        """Walk over all payloads, some thousand at a time: which, and their bits."""
        for first in range(0, len(self), _BLOCK):
            some = slice(first, min(first + _BLOCK, len(self)))
            yield some, self.bits(some)


def _packed(bits: Bits) -> npt.NDArray[np.bytes_]:
    packed = np.packbits(np.ascontiguousarray(bits), axis=1)
    return packed.view(f"S{packed.shape[1]}").reshape(-1)


def log_prior(bits: Bits, prior: PayloadPrior, issued: Issued | None) -> F64:
    """Return what payloads weigh before the text is seen, natural log; uint8 [C, L_m] to [C]."""
    weight = prior.log_weight(bits)
    if issued is None:
        return weight
    share = np.where(issued.holds(bits), math.log(issued.weight / len(issued)), -np.inf)
    return np.asarray(np.logaddexp(weight + math.log1p(-issued.weight), share))


@dataclass(frozen=True, kw_only=True)
class IssuedScores:
    """What the text as a whole says of every issued payload.

    Attributes:
        issued: The payloads.
        log_ratio: float64 [N], log likelihood ratio of each, mean over the grid.
        strongest: uint8 [C, L_m], those worth weighing by the chains.
    """

    issued: Issued
    log_ratio: F64
    strongest: Bits

    @property
    def log_mean(self) -> float:
        """Natural log of the mean over them."""
        return float(np.logaddexp.reduce(self.log_ratio) - math.log(len(self.issued)))

    def mean_bits(self) -> F64:
        """Return the mean of their bits, each with its likelihood ratio as weight; [L_m]."""
        top = float(self.log_ratio.max())
        heard = np.flatnonzero(self.log_ratio >= top - _UNHEARD_NATS)
        total, weight = np.zeros(self.issued.payload_bits), 0.0
        for first in range(0, heard.size, _BLOCK):
            some = heard[first : first + _BLOCK]
            share = np.exp(self.log_ratio[some] - top)
            total += share @ self.issued.bits(some)
            weight += float(share.sum())
        return total / weight


def score_issued(
    issued: Issued,
    phi: F64,
    log_f: F64,
    index: I64,
    profile: Profile,
    checkpoint: Callable[[], None],
) -> IssuedScores:
    """Weigh all issued payloads on the whole text, and find those that windows speak for.

    Args:
        issued: The payloads.
        phi: float64 [G, n, 8], of the whole text.
        log_f: float64 [S, 8], log likelihoods of the steps at one grid point.
        index: int64 [S], first codeword position of each step.
        profile: The profile.
        checkpoint: Called often; may raise.
    """
    windows = _windows(log_f, index, profile) if len(issued) <= _IN_WINDOWS else []
    log_ratio, inside = np.empty(len(issued)), np.full(len(issued), -np.inf)
    for some, bits in issued.blocks():
        checkpoint()
        words = encode_rows(bits, profile)
        scores = codeword_scores(phi, words)
        log_ratio[some] = np.logaddexp.reduce(scores, axis=0) - math.log(len(phi))
        if windows:
            chosen = _one_hot(words)
            inside[some] = np.max([(chosen @ part.T).max(axis=1) for part in windows], axis=0)
    strongest = np.concatenate([_largest(log_ratio), _largest(inside if windows else log_ratio)])
    return IssuedScores(
        issued=issued, log_ratio=log_ratio, strongest=issued.bits(np.unique(strongest))
    )


def _largest(values: F64) -> I64:
    return np.argsort(-values, kind="stable")[:_STRONGEST]


def _windows(log_f: F64, index: I64, profile: Profile) -> list[npt.NDArray[np.float32]]:
    """Return the windows of all scales, some hundred at a time: potentials [W, 8n]."""
    return [
        windows[first : first + _WINDOWS].reshape(-1, 8 * profile.codeword_length)
        for windows in scaled_windows(log_f, index, profile.codeword_length)
        for first in range(0, len(windows), _WINDOWS)
    ]


def _one_hot(words: Bits) -> npt.NDArray[np.float32]:
    """Return which entries of the potentials codewords read; uint8 [C, n] to [C, 8n]."""
    count, length = words.shape
    chosen = np.zeros((count, 8 * length), dtype=np.float32)
    np.put_along_axis(chosen, 8 * np.arange(length) + codeword_windows(words), 1.0, axis=1)
    return chosen

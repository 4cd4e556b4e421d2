"""Which payloads are worth weighing on their own: the list of docs/evidence.md §3.

The sum over a list of payloads is bounded by the sum over all of them, however the list was
chosen, so everything here may look at the phases: it decides how strong the evidence becomes, never
whether it is valid. Windows of many lengths are looked at with the ring left open, which is cheap;
those are decoded whose evidence no payload found so far accounts for, the largest rest first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.decode.prior import PayloadPrior
from pura.decode.trellis.register import RegisterTrellis
from pura.decode.windows import codeword_scores, codeword_windows, window_potentials
from pura.scheme.profile import Profile, encode_rows

F64 = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint8]

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


class FirstLook(NamedTuple):
    """Which of the shortest windows the first look ranks highest.

    Attributes:
        step: Its first step.
        log_e: Natural log of its evidence, the ring closed in the mean.
    """

    step: int
    log_e: float


def window_payloads(
    log_f: F64,
    index: npt.NDArray[np.int64],
    prior: PayloadPrior,
    profile: Profile,
    known: Bits,
    checkpoint: Callable[[], None],
) -> tuple[Bits, FirstLook | None]:
    """Return the payloads that windows of a text name, and the most promising short window.

    Args:
        log_f: float64 [S, 8], log likelihoods of the steps, mean over a few grid points.
        index: int64 [S], first codeword position of each step.
        prior: What payloads weigh, and the trellis of the code.
        profile: The profile.
        known: uint8 [C, L_m], payloads that the whole text names.
        checkpoint: Called often; may raise.

    Returns:
        uint8 [C', L_m], those that are not known yet; and the window, None in a text of one.
    """
    if index.size <= _LEAST_WINDOW or not isinstance(prior.trellis, RegisterTrellis):
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
    log_f: F64, index: npt.NDArray[np.int64], prior: PayloadPrior,
    checkpoint: Callable[[], None],
) -> tuple[npt.NDArray[np.float32], F64, FirstLook]:  # fmt: skip
    """Return the windows that may hold a mark: potentials [N, n, 8], evidence in nats [N]."""
    potentials, evidence = [], []
    look = FirstLook(0, -math.inf)
    for scale, windows in enumerate(scaled_windows(log_f, index, prior.trellis.codeword_length)):
        for first in range(0, len(windows), _CHUNK):
            checkpoint()
            some = windows[first : first + _CHUNK]
            values = prior.most(some.astype(np.float64))
            best = int(np.argmax(values))
            if scale == 0 and values[best] > look.log_e:
                look = FirstLook((first + best) * _LEAST_WINDOW // 2, float(values[best]))
            worth = values >= _WORTH_NATS
            potentials.append(some[worth])
            evidence.append(values[worth])
    return np.concatenate(potentials), np.concatenate(evidence), look


def scaled_windows(
    log_f: F64, index: npt.NDArray[np.int64], length: int
) -> Iterator[npt.NDArray[np.float32]]:
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


def kept_payloads(
    payloads: Bits, scores: F64, floor: float, behind: float
) -> npt.NDArray[np.int64]:
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

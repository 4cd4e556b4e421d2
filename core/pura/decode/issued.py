"""Payloads that were issued: what each payload weighs before the text is seen.

docs/evidence.md §3, "The register as prior". The evidence is a mean over payloads. Without a
register all weigh alike; with one, part of the weight lies on the issued ones. These weights are
fixed before any phase is looked at, so the mean stays one, whatever the register holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.decode.listed import scaled_windows
from pura.decode.prior import PayloadPrior
from pura.decode.windows import codeword_scores, codeword_windows
from pura.scheme.profile import Profile, encode_rows

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

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

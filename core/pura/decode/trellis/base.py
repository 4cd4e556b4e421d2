"""The answers of a trellis, for any code that is a walk of a shift register."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from pura.decode.trellis import register
from pura.decode.trellis.listing import best_walks
from pura.decode.trellis.protocol import F64, Bits
from pura.decode.windows import codeword_windows

I64 = npt.NDArray[np.int64]


class RegisterTrellis(ABC):
    """Answers in the log domain; a code says what its register holds."""

    payload_bits: int

    @property
    @abstractmethod
    def codeword_length(self) -> int:
        """``n``."""

    @abstractmethod
    def windows(self, phi: F64) -> F64:
        """Turn window potentials of the ring, [G, n, 8], into those of the register, [G, T, 2S]."""

    @abstractmethod
    def payloads(self, walks: Bits) -> Bits:
        """Read the payloads, uint8 [K, L_m], off the bits shifted in, uint8 [K, T]."""

    @abstractmethod
    def payload_bit(self) -> I64:
        """Return the payload bit that each step reads, by the state after it; int64 [T, S].

        -1 throughout a step that reads none. Steps read the payload in its order.
        """

    @abstractmethod
    def payload_posteriors(self, states: F64) -> F64:
        """Read the payload bits' posteriors off those of the states after each step, [T, S]."""

    def best(self, phi: F64) -> tuple[Bits, float]:
        """Return the most likely payload, uint8 [L_m], and its score in nats."""
        return self.k_best(phi, 1)[0]

    def k_best(self, phi: F64, k: int) -> list[tuple[Bits, float]]:
        """Return the ``k`` most likely payloads and their scores, strongest first."""
        if k < 1:
            raise ValueError(f"k = {k}; at least one payload must be asked for")
        walks, scores = best_walks(self.windows(self._checked(phi, 2)[None])[0], k)
        if not scores.size:
            return [(np.zeros(self.payload_bits, dtype=np.uint8), -np.inf)]
        found = zip(self.payloads(walks), scores, strict=True)
        return [(payload, float(score)) for payload, score in found]

    def log_sum(self, phi: F64) -> F64:
        """Return ``log Σ exp(Σ_i φ_i)`` over all payloads; [..., n, 8] to [...]."""
        flat = self._checked(phi).reshape(-1, self.codeword_length, 8)
        return self._log_sums(flat).reshape(phi.shape[:-2])

    def _log_sums(self, phi: F64) -> F64:
        windows = self.windows(phi)
        starts = np.arange(windows.shape[-1] // 2)
        homes = register.closings(windows, starts, np.logaddexp)
        return np.asarray(np.logaddexp.reduce(homes, axis=-1))

    def posteriors(self, phi: F64) -> F64:
        """Return how probable each payload bit is 1; float64 [L_m]."""
        found = self._posteriors(self.windows(self._checked(phi, 2)[None])[0])
        return np.full(self.payload_bits, 0.5) if found is None else found.clip(0.0, 1.0)

    def _posteriors(self, windows: F64) -> F64 | None:
        starts = np.arange(windows.shape[-1] // 2)
        states = state_posteriors(windows, starts)
        return None if states is None else self.payload_posteriors(states)

    def score(self, phi: F64, codeword: Bits) -> float:
        """Return ``Σ_i φ_i`` of one codeword, uint8 [n], in nats."""
        table = self._checked(phi, 2)
        bits = np.asarray(codeword, dtype=np.uint8)
        if bits.shape != (self.codeword_length,):
            raise ValueError(f"codeword of shape {bits.shape}; expected ({self.codeword_length},)")
        return float(table[np.arange(bits.size), codeword_windows(bits)].sum())

    def _checked(self, phi: F64, dimensions: int | None = None) -> F64:
        table = np.asarray(phi, dtype=np.float64)
        wrong = dimensions is not None and table.ndim != dimensions
        if wrong or table.shape[-2:] != (self.codeword_length, 8):
            lead = "" if dimensions else "..., "
            raise ValueError(
                f"window potentials of shape {table.shape}; "
                f"expected ({lead}{self.codeword_length}, 8)"
            )
        if not np.all(table < np.inf):  # also false for NaN
            raise ValueError("window potentials hold NaN or +inf")
        return table


def state_posteriors(windows: F64, starts: register.States) -> F64 | None:
    """Return the probability of each state after each step, given that the walk is closed.

    Args:
        windows: float64 [T, 2S] in nats.
        starts: int64 [P], the starts that count.

    Returns:
        float64 [T, S], each row adding up to 1; None when no walk is possible.
    """
    if not starts.size:
        return None
    joint = register.pasts(windows, starts, np.logaddexp)[1:]
    joint += register.futures(windows, starts, np.logaddexp)[1:]
    peak = joint.max()
    if np.isneginf(peak):
        return None
    weight = np.exp(joint - peak).sum(axis=-1)
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))

"""What payloads weigh before a text is seen, and the answers of a trellis under these weights.

All payloads weigh alike, or, where a profile states limits of its fields, those within share most
of the weight (docs/evidence.md §3, "Limits as prior"). The weights are fixed before any phase is
looked at. A register of issued payloads is mixed in on top of them (:mod:`pura.decode.issued`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pura.decode.issuable import Issuable
from pura.decode.significance import open_log_mean
from pura.decode.trellis import Trellis
from pura.decode.trellis.limited import LimitedTrellis
from pura.decode.trellis.register import RegisterTrellis

F64 = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint8]


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
        if self.issuable is None or not isinstance(self.trellis, RegisterTrellis):
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
        trellis = self.trellis
        if not isinstance(trellis, RegisterTrellis):
            raise TypeError("a bound needs the walk of a register")
        alike = open_log_mean(trellis, phi) + closing_nats(trellis)
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


def closing_nats(trellis: RegisterTrellis) -> float:
    """Open walks that there are for one payload, as a logarithm: what the mean over them loses."""
    _, steps, branches = trellis.windows(np.zeros((1, trellis.codeword_length, 8))).shape
    closing = math.log2(branches // 2) + steps - trellis.payload_bits
    return float(closing * math.log(2))

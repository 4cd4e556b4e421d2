"""What every trellis can answer about window potentials."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint8]


class Trellis(Protocol):
    """Exact answers over all ``2^{L_m}`` payloads of a code.

    ``φ`` are window potentials in nats, ``φ[i, 4·c_i + 2·c_{i+1} + c_{i+2}]`` with positions
    counted round the ring of ``n``. ``-inf`` is allowed and rules windows out; NaN and ``+inf``
    are refused with a ``ValueError``, as is a wrong shape.
    """

    @property
    def payload_bits(self) -> int:
        """``L_m``."""
        ...

    @property
    def codeword_length(self) -> int:
        """``n``."""
        ...

    def best(self, phi: F64) -> tuple[Bits, float]:
        """Return the most likely payload and its score.

        Args:
            phi: float64 [n, 8].

        Returns:
            uint8 [L_m] and ``Σ_i φ_i`` in nats. When every payload is ruled out: zeros, ``-inf``.
        """
        ...

    def k_best(self, phi: F64, k: int) -> list[tuple[Bits, float]]:
        """Return the ``k`` most likely payloads, strongest first, all different.

        Args:
            phi: float64 [n, 8].
            k: How many, at least 1.

        Returns:
            Payload and score of each; fewer than ``k`` when the code has fewer payloads that are
            not ruled out (score ``-inf``), but never less than what ``best`` returns.
        """
        ...

    def log_sum(self, phi: F64) -> F64:
        """Return ``log Σ exp(Σ_i φ_i)`` over all payloads.

        Args:
            phi: float64 [..., n, 8], for example one table a grid point.

        Returns:
            float64 [...], in nats; ``-inf`` where every payload is ruled out.
        """
        ...

    def posteriors(self, phi: F64) -> F64:
        """Return how probable each payload bit is 1, all payloads being equally likely before.

        Args:
            phi: float64 [n, 8].

        Returns:
            float64 [L_m] in 0 … 1; 0.5 everywhere when every payload is ruled out.
        """
        ...

    def score(self, phi: F64, codeword: Bits) -> float:
        """Return ``Σ_i φ_i`` of one codeword in nats.

        Args:
            phi: float64 [n, 8].
            codeword: uint8 [n].
        """
        ...

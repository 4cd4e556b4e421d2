"""Simulating a mark in a plain text afterwards, as if the text had been generated with it.

A marked step draws its token at the anchor ``A = U + (S + ½)/K``, and ``A`` is uniform whatever
the payload is, since ``U`` is. A plain step draws at a uniform point too. So a text drawn at the
points ``P_t`` is the text of *any* payload, code, gate, window and history under the function
``U(context) = P_t - (S + ½)/K``: those phases are uniform and independent, as those of an ideal
pseudo-random function are, and jointly distributed with the text as they would be. One set of plain
texts serves every experiment that changes the scheme and not the sampling, and cells that differ in
one thing are compared on the same texts. Where a point is not known it is drawn uniformly from the
interval of the token that it drew; the generator's own reading, with the prompt, knows that.

Like the paper, this assumes that the pseudo-random function behaves like an ideal one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pura.scheme import F64, I64, U8, Profile, Scheduler, SecretKey, anchor
from pura.scheme.gray import sector_of
from pura.scheme.keys import LABEL_SEED
from pura.scheme.schedule import Step, context_bytes

_TOP: Final = 1 << 53


class FixedPhaseKey(SecretKey):
    """A key with chosen phases for the contexts of one text, and its own phases for all others.

    Args:
        data: 32 bytes.
        order_of: Key with the secret order of the intervals; None for this key.
    """

    __slots__ = ("_laid", "_order_of")

    def __init__(self, data: bytes, order_of: SecretKey | None = None) -> None:
        super().__init__(data)
        self._laid: dict[bytes, int] = {}
        self._order_of = order_of

    def lay(self, phases: dict[bytes, float]) -> None:
        """Set the phases of some contexts."""
        self._laid = {context: int(phase * _TOP) << 75 for context, phase in phases.items()}

    def vocabulary_order(self, vocab_size: int) -> I64:
        """Return the secret order of the tokens."""
        if self._order_of is not None:
            return self._order_of.vocabulary_order(vocab_size)
        return super().vocabulary_order(vocab_size)

    def prf(self, label: bytes, context: bytes) -> int:
        """Return the chosen phase of a context, or the pseudo-random function."""
        laid = self._laid.get(context) if label == LABEL_SEED else None
        return super().prf(label, context) if laid is None else laid


def binary_sector(bits: Sequence[int]) -> int:
    """Return the sector whose plain number is ``bits``, most significant bit first."""
    return int("".join(str(int(b)) for b in bits), 2)


def lay_mark(
    ids: I64,
    entropy_bits: F64,
    points: F64,
    key: FixedPhaseKey,
    codeword: U8,
    profile: Profile,
    *,
    sector: Callable[[Sequence[int]], int] = sector_of,
) -> FixedPhaseKey:
    """Choose the phases of a key so that a text carries a codeword.

    Args:
        ids: int64 [L].
        entropy_bits: float64 [L], entropies of the generator.
        points: float64 [L], points at which the tokens were drawn in the secret order.
        key: The key, which is changed and returned.
        codeword: uint8 [n], as long as the profile's.
        profile: Gate, window, history, length; its code does not matter.
        sector: Maps bits to the number of their sector.
    """
    walk, code = Scheduler(key, profile), codeword.tolist()
    phases: dict[bytes, float] = {}
    window, tokens = profile.context_window, ids.tolist()
    for t, (token, entropy) in enumerate(zip(tokens, entropy_bits.tolist(), strict=True)):
        step = walk.step(entropy)
        if step.arity:
            bits = [code[(step.index + j) % len(code)] for j in range(step.arity)]
            offset = anchor(Step(step.arity, 0.0, 0, step.gate), sector(bits))
            phases[context_bytes(tokens[t - window : t])] = (float(points[t]) - offset) % 1.0
        walk.push(token)
    key.lay(phases)
    return key

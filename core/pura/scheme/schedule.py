"""The schedule of the steps that carry bits (scheme.md §3, paper §4.1).

Generator and verifier share this code, since two copies would diverge. The paper calls it
"context-gated payload scheduling".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.base.progress import Checkpoint, never_cancelled
from pura.scheme.keys import LABEL_INDEX, LABEL_SEED, SecretKey, unit_interval
from pura.scheme.profile import Profile


class Gate(IntEnum):
    """Reason why a token carries bits or not."""

    CARRIES = 0
    NO_CONTEXT = 1
    LOW_ENTROPY = 2
    REPEATED_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Step:
    """The decision of the schedule for one token.

    Attributes:
        arity: ``a_t``, bits that this step carries; 0 means ordinary sampling.
        phase: ``U_t`` in [0, 1); 0 if the step carries nothing.
        index: ``idx_t``, the first codeword position; 0 if the step carries nothing.
        gate: Reason for the decision.
    """

    arity: int
    phase: float
    index: int
    gate: Gate


_TOKEN_BYTES: Final = 4
_EMPTY: Final = {gate: Step(0, 0.0, 0, gate) for gate in Gate}


def context_bytes(token_ids: Iterable[int]) -> bytes:
    """Return ``ctx_t``: each token id as 4 bytes little-endian."""
    return b"".join(int(v).to_bytes(_TOKEN_BYTES, "little") for v in token_ids)


def contexts_before(
    texts: Iterable[npt.NDArray[np.int64]], before: Iterable[Sequence[int]], profile: Profile
) -> frozenset[bytes]:
    """Return the contexts of a text that also occur in the known text before it.

    If the earlier text was written under the same key, the phases of these contexts are not new, so
    an audit reads nothing at them (evidence.md §3, "Known context"). This needs no key.

    Args:
        texts: int64 [L] each, the token ids of the forms of the text.
        before: The token ids of all texts that preceded it, or may have.
        profile: Profile with the context window.
    """
    width = profile.context_window
    text_contexts = {context for ids in texts for context in _contexts(ids.tolist(), width)}
    return frozenset(
        context for ids in before for context in _contexts(ids, width) if context in text_contexts
    )


def _contexts(ids: Sequence[int], width: int) -> Iterator[bytes]:
    packed, size = context_bytes(ids), _TOKEN_BYTES * width
    return (packed[i : i + size] for i in range(0, len(packed) - size + 1, _TOKEN_BYTES))


class Scheduler:
    """Decides for each token of a text, in order, how many bits it carries.

    Args:
        key: The secret key. Hazard: kept in memory while the scheduler is in use.
        profile: Thresholds, context window, history rule, codeword length.
        before: Contexts that carry nothing, since the verifier knows that they precede the text;
            see :func:`contexts_before`. A generator gives none.
    """

    def __init__(
        self, key: SecretKey, profile: Profile, *, before: frozenset[bytes] = frozenset()
    ) -> None:
        self._key = key
        self._before = before
        self._width = _TOKEN_BYTES * profile.context_window
        self._thresholds = profile.entropy_thresholds_bits
        self._remember_all = profile.history == "all"
        self._length = profile.codeword_length
        self._context = b""
        self._history: set[int] = set()
        self._added: list[int | None] = []  # for each step the seed that it added to the history

    def step(self, entropy_bits: float) -> Step:
        """Return the decision for the next token, before the token is known.

        Args:
            entropy_bits: ``H_t``, Shannon entropy in bits of the next-token distribution after
                temperature, top-k and top-p.
        """
        self._added.append(None)
        if len(self._context) < self._width:
            return _EMPTY[Gate.NO_CONTEXT]
        arity = sum(1 for threshold in self._thresholds if entropy_bits >= threshold)
        if arity == 0 and not self._remember_all:
            return _EMPTY[Gate.LOW_ENTROPY]
        context = self._context
        if context in self._before:
            return _EMPTY[Gate.REPEATED_CONTEXT if arity else Gate.LOW_ENTROPY]
        seed = self._key.prf(LABEL_SEED, context)
        if seed in self._history:
            return _EMPTY[Gate.REPEATED_CONTEXT if arity else Gate.LOW_ENTROPY]
        self._history.add(seed)
        self._added[-1] = seed
        if arity == 0:
            return _EMPTY[Gate.LOW_ENTROPY]
        index = self._key.prf(LABEL_INDEX, context) % self._length
        return Step(arity, unit_interval(seed), index, Gate.CARRIES)

    def push(self, token_id: int) -> None:
        """Append the token of this step to the context."""
        self._context = (self._context + context_bytes((token_id,)))[-self._width :]

    def rewind(self, tokens: Sequence[int]) -> None:
        """Undo the last steps, as if their tokens had never been drawn.

        Args:
            tokens: The remaining text, from its beginning.
        """
        self._history.difference_update(
            seed for seed in self._added[len(tokens) :] if seed is not None
        )
        del self._added[len(tokens) :]
        self._context = context_bytes(tokens[-self._width // _TOKEN_BYTES :])


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The steps of one text that carry bits.

    Attributes:
        token: int64 [S], index of the step's token in the text.
        arity: int64 [S], 1 … 3.
        phase: float64 [S], ``U_t`` in [0, 1).
        index: int64 [S], first codeword position.
        gate: uint8 [L], a :class:`Gate` for every token of the text.
    """

    token: npt.NDArray[np.int64]
    arity: npt.NDArray[np.int64]
    phase: npt.NDArray[np.float64]
    index: npt.NDArray[np.int64]
    gate: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return int(self.token.size)

    def part(self, rows: slice) -> Schedule:
        """Return some of the steps; the gate remains that of the whole text."""
        return Schedule(
            token=self.token[rows],
            arity=self.arity[rows],
            phase=self.phase[rows],
            index=self.index[rows],
            gate=self.gate,
        )


def schedule(
    ids: npt.NDArray[np.int64],
    entropy_bits: npt.NDArray[np.float64],
    key: SecretKey,
    profile: Profile,
    *,
    before: frozenset[bytes] = frozenset(),
    checkpoint: Checkpoint = never_cancelled,
) -> Schedule:
    """Return the schedule of a whole text.

    Args:
        ids: int64 [L], the token ids of the text alone: no prompt, no special tokens.
        entropy_bits: float64 [L], entropy of the distribution that predicted each token.
        key: The secret key.
        profile: The profile that generator and verifier share.
        before: Contexts that also occur in the known text before it.
        checkpoint: Called every few thousand tokens; may raise
            :class:`~pura.base.errors.Cancelled`.

    Returns:
        The steps that carry bits, and the reason for every other token.
    """
    walk = Scheduler(key, profile, before=before)
    rows: list[tuple[int, int, float, int]] = []
    gate = np.empty(ids.size, dtype=np.uint8)
    for t, (token_id, entropy) in enumerate(zip(ids.tolist(), entropy_bits.tolist(), strict=True)):
        if t % 4096 == 0:
            checkpoint()
        step = walk.step(entropy)
        gate[t] = step.gate
        if step.arity:
            rows.append((t, step.arity, step.phase, step.index))
        walk.push(token_id)
    token, arity, phase, index = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Schedule(
        token=np.array(token, dtype=np.int64),
        arity=np.array(arity, dtype=np.int64),
        phase=np.array(phase, dtype=np.float64),
        index=np.array(index, dtype=np.int64),
        gate=gate,
    )


def anchors(
    phase: npt.NDArray[np.float64], arity: npt.NDArray[np.int64] | int
) -> npt.NDArray[np.float64]:
    """Return the anchors of the sectors, ``A = (U + (s + 0.5) / K) mod 1`` (paper, eq. anchor).

    Args:
        phase: float64 [S].
        arity: One arity for all rows.

    Returns:
        float64 [S, 2**a].
    """
    sectors = 1 << int(arity)
    offsets = (np.arange(sectors) + 0.5) / sectors
    return np.asarray((phase[:, None] + offsets) % 1.0)


def anchor(step: Step, sector: int) -> float:
    """Return the anchor of one sector of one step."""
    return (step.phase + (sector + 0.5) / (1 << step.arity)) % 1.0

"""The likelihood of a codeword when only parts of a text carry it, and those were edited.

evidence.md §3, "Passages and edits". A hidden chain runs over the tokens. Its states are

* *unmarked*: the token did not come from the source;
* *young*: a passage has just begun, and what stood before it at the source is not known;
* *broken* 0 … ``W``: so many tokens ago a token of the passage was edited (0: this one), so the
  step's token or its context is not the source's;
* *clean*: the step counts.

Young and clean tokens are weighed, each with a density of its own; in every other state the factor
is 1. The chances of the chain follow from the text and from frozen numbers, never from a phase, so
for a fixed codeword the likelihood is a mixture of products of mean-one factors.

A step of the chain is a matrix, so stretches of a text are walked side by side, each from every
state, and put together afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pura.detect.decode.likelihood import ChainPoint, PassageModel, edit_probability
from pura.scheme import F64, I64

_BLOCK: Final = 512  # tokens whose factors are laid out at a time, one after the other
_LANE: Final = 32  # tokens of a stretch that is walked beside others
_LANES: Final = 64  # stretches side by side at most
_ENTRIES: Final = 32_768  # numbers that are worked on at once; they should fit into a cache
_RESCALED: Final = 16  # tokens between two rescalings; a density is at most e^8


@dataclass(frozen=True, kw_only=True)
class ChainText:
    """What the chain needs of a text; nothing in it but ``windows`` knows a phase.

    Attributes:
        windows: float64 [2T, S, 8], densities of the steps for the bits ahead of them: of each
            table in a clean state, then of each in a young one.
        index: int64 [S], first codeword position of each step.
        row: int64 [L], step of each token; -1 for tokens that carry no bits.
        probability: float64 [L], what the model gave each token.
        members: The chains that the mean runs over.
        table: int64 [M], row of ``windows`` that each member reads.
        model: Frozen numbers.
        context_window: ``W``.
        vocab_size: ``V``.
        whole: Tokens of the whole text, of which these are the first.
    """

    windows: F64
    index: I64
    row: I64
    probability: F64
    members: tuple[ChainPoint, ...]
    table: I64
    model: PassageModel
    context_window: int
    vocab_size: int
    whole: int

    @property
    def tokens(self) -> int:
        """``L``."""
        return int(self.row.size)

    @property
    def enter(self) -> float:
        """The chance that a passage begins: so many passages a text, however long it is.

        It follows from the whole text also where only its first tokens were read: a chance that
        changed with every look would leave no martingale (evidence.md §3).
        """
        return 1 / max(self.model.least_gap, self.whole / self.model.passages)

    def leave(self, members: I64) -> F64:
        """Return the chance that a passage ends, of some members; [M', 1]."""
        return np.array([[1 / self.members[m].mean_passage] for m in members])

    def without(self, ranges: Sequence[tuple[int, int]]) -> ChainText:
        """Return the text with the steps of some token ranges (inclusive) taken out."""
        row = self.row.copy()
        for first, last in ranges:
            row[first : last + 1] = -1
        return replace(self, row=row)

    def edits(self, members: I64, first: int, last: int) -> F64:
        """Return how probably each token was edited; [last - first, M', 1]."""
        out = np.empty((last - first, members.size, 1))
        for column, m in enumerate(members):
            point = self.members[m]
            out[:, column, 0] = (
                point.share
                if point.family == "constant"
                else edit_probability(point.share, self.probability[first:last], self.vocab_size)
            )
        return out

    def factors(self, words: I64, first: int, last: int) -> F64:
        """Return the factors of clean and of young tokens for some codewords.

        Args:
            words: int64 [C, n], window index of each codeword at each ring position.
            first: First token.
            last: Token after the last.

        Returns:
            float64 [last - first, 2T, C]; 1 for tokens that carry no bits.
        """
        count = self.windows.shape[0]
        out = np.ones((last - first, count, words.shape[0]))
        carries = np.flatnonzero(self.row[first:last] >= 0)
        row = self.row[first:last][carries]
        read = words[:, self.index[row]].T
        for t, table in enumerate(self.windows):
            eta = self.model.residual if t < count // 2 else self.model.young_residual
            out[carries, t] = (1 - eta) * table[row[:, None], read] + eta
        return out


class _Chances:
    """Transition chances of some members over a block of tokens, the lanes side by side."""

    def __init__(self, text: ChainText, members: I64, block: _Block) -> None:
        leave = text.leave(members)
        edited = block.side_by_side(text.edits(members, block.first, block.last))
        self.enter, self.leave = text.enter, leave
        self.broken = (1 - leave) * edited
        self.intact = (1 - leave) * (1 - edited)
        grow = 1 / text.model.young_tokens
        self.young, self.grown = (1 - leave) * (1 - grow), (1 - leave) * grow


@dataclass(frozen=True, kw_only=True)
class _Block:
    """Tokens that are worked on together: lanes of equal length, each behind the one before."""

    first: int
    lanes: int
    length: int

    @property
    def last(self) -> int:
        return self.first + self.lanes * self.length

    def side_by_side(self, values: F64) -> F64:
        """Lay out values of the tokens, [lanes · length, ...], as [length, lanes, ...]."""
        split = values.reshape(self.lanes, self.length, *values.shape[1:])
        return np.ascontiguousarray(split.swapaxes(0, 1))

    def factors(self, values: F64) -> F64:
        """Lay out factors, [lanes · length, 2, M, C], as [length, 2, lanes, M, C]."""
        return np.ascontiguousarray(self.side_by_side(values).swapaxes(1, 2))


def _blocks(text: ChainText, columns: int) -> Iterator[_Block]:
    """Cut a text into blocks; ``columns`` chains are walked along it.

    A lane is walked from every state, which many columns do not leave memory for; they, and what is
    left over at the end, go token by token.
    """
    most = min(_LANES, _ENTRIES // ((text.context_window + 4) ** 2 * columns))
    first = 0
    while first < text.tokens:
        left = text.tokens - first
        lanes = min(most, left // _LANE)
        if lanes < 2:
            yield _Block(first=first, lanes=1, length=min(left, _BLOCK))
            first += min(left, _BLOCK)
        else:
            yield _Block(first=first, lanes=lanes, length=_LANE)
            first += lanes * _LANE


def _read_by(text: ChainText, members: I64) -> I64:
    """Return the rows of the factors that members read: clean, then young; [2, M']."""
    clean = text.table[members]
    return np.stack([clean, clean + text.windows.shape[0] // 2])


def _start(text: ChainText, columns: tuple[int, ...]) -> F64:
    """Return the chances before the first token.

    [W + 4, ...]: unmarked, young, broken 0 … W, clean.
    """
    state = np.zeros((text.context_window + 4, *columns))
    state[0] = 1 - text.model.begins_marked
    state[-1] = text.model.begins_marked
    return state


def _advance(state: F64, out: F64, chances: _Chances, at: int, factor: F64) -> None:
    """Carry the chances over one token; all [W + 4, ..., lanes, M, C] but ``factor``, [2, …]."""
    broken, intact = chances.broken[at], chances.intact[at]
    old = np.add.reduce(state[2:], axis=0)
    np.multiply(state[-2] + state[-1], intact, out=out[-1])
    np.multiply(state[2:-2], intact, out=out[3:-1])
    np.multiply(old, broken, out=out[2])
    out[-1] += state[1] * chances.grown
    out[-1] *= factor[0]
    entering = state[0] * chances.enter
    np.multiply(state[1], chances.young, out=out[1])
    out[1] += entering
    out[1] *= factor[1]
    old += state[1]
    old *= chances.leave
    np.subtract(state[0], entering, out=out[0])
    out[0] += old


def _walk(state: F64, chances: _Chances, factors: F64) -> tuple[F64, F64]:
    """Carry the chances along the lanes.

    Args:
        state: float64 [W + 4, ..., lanes, M, C]; overwritten.
        chances: Of the block.
        factors: float64 [length, 2, lanes, M, C].

    Returns:
        The chances after the last token, scaled, and the logarithm of the scale, [lanes, M, C].
    """
    spare = np.empty_like(state)
    total = np.zeros(state.shape[-3:])
    every = tuple(range(state.ndim - 3))
    for at, factor in enumerate(factors):
        _advance(state, spare, chances, at, factor)
        state, spare = spare, state
        if at % _RESCALED == _RESCALED - 1 or at == len(factors) - 1:
            scale = np.add.reduce(state, axis=every)
            state /= scale
            total += np.log(scale)
    return state, total


def _across(text: ChainText, block: _Block, chances: _Chances, factors: F64) -> tuple[F64, F64]:
    """Return what each lane makes of every state it may begin in.

    Returns:
        Matrices float64 [W + 4 to, W + 4 from, lanes, M, C], scaled, and the logarithms of the
        scales, [lanes, M, C].
    """
    states = text.context_window + 4
    begin = np.zeros((states, states, *factors.shape[2:]))
    begin[np.arange(states), np.arange(states)] = 1.0
    return _walk(begin, chances, factors)


def _over(lane: F64, state: F64) -> tuple[F64, F64]:
    """Carry [W + 4, M, C] over a lane, [to, from, M, C]; the scaled result, and its scale."""
    state = np.add.reduce(lane * state, axis=1)
    scale = np.add.reduce(state, axis=0)
    return state / scale, scale


def log_likelihoods(
    text: ChainText, words: I64, members: I64, checkpoint: Callable[[], None]
) -> F64:
    """Return the log likelihood ratio of codewords under some members of the chain.

    Args:
        text: The text.
        words: int64 [C, n], window indices of the codewords.
        members: int64 [M'], which members.
        checkpoint: Called often; may raise.

    Returns:
        float64 [M', C], in nats.
    """
    shape, read = (members.size, words.shape[0]), _read_by(text, members)
    total = np.zeros(shape)
    state = _start(text, shape)
    for block in _blocks(text, members.size * words.shape[0]):
        checkpoint()
        chances = _Chances(text, members, block)
        factors = block.factors(text.factors(words, block.first, block.last)[:, read])
        if block.lanes == 1:
            after, gained = _walk(state[:, None], chances, factors)
            state = after[:, 0]
            total += gained[0]
            continue
        lanes, gained = _across(text, block, chances, factors)
        total += np.add.reduce(gained, axis=0)
        for lane in range(block.lanes):
            state, scale = _over(lanes[:, :, lane], state)
            total += np.log(scale)
    return total


def posteriors(
    text: ChainText, words: I64, members: I64, checkpoint: Callable[[], None]
) -> tuple[F64, F64]:
    """Return what the chain says of each token, each codeword under a member of its own.

    Args:
        text: The text.
        words: int64 [K, n].
        members: int64 [K], the member of each codeword.
        checkpoint: Called often; may raise.

    Returns:
        float64 [K, L], posterior that the token belongs to a marked passage; and [K, L], what each
        token adds to the log likelihood ratio, the tokens before it being known.
    """
    count, own, read = members.size, np.arange(members.size), _read_by(text, members)
    states = text.context_window + 4
    past = np.empty((text.tokens, states, count))
    log_ratio = np.empty((text.tokens, count))
    marked = np.empty((text.tokens, count))

    def laid_out(block: _Block) -> tuple[_Chances, F64]:
        checkpoint()
        factors = text.factors(words, block.first, block.last)[:, read, own]
        return _Chances(text, members, block), block.factors(factors[:, :, :, None])

    # Forward: what a lane makes of every state, hence each lane's beginning; then all of them.
    blocks = list(_blocks(text, count))
    crossed: list[F64] = []
    state = _start(text, (count, 1))
    for block in blocks:
        chances, factors = laid_out(block)
        lanes, _ = _across(text, block, chances, factors)
        crossed.append(lanes)
        begin = np.empty((states, block.lanes, count, 1))
        for lane in range(block.lanes):
            begin[:, lane] = state
            state, _ = _over(lanes[:, :, lane], state)
        rows = _rows(block)
        for at in range(block.length):
            after = np.empty_like(begin)
            _advance(begin, after, chances, at, factors[at])
            scale = np.add.reduce(after, axis=0)
            after /= scale
            log_ratio[rows[at]] = np.log(scale[:, :, 0])
            past[rows[at]] = after[:, :, :, 0].swapaxes(0, 1)
            begin = after
    # Backward: the same matrices, turned round.
    state = np.ones((states, count, 1))
    for block, lanes in zip(reversed(blocks), reversed(crossed), strict=True):
        chances, factors = laid_out(block)
        future = np.empty((states, block.lanes, count, 1))
        for lane in reversed(range(block.lanes)):
            future[:, lane] = state
            state, _ = _over(lanes[:, :, lane].swapaxes(0, 1), state)
        rows = _rows(block)
        for at in reversed(range(block.length)):
            joint = past[rows[at]].swapaxes(0, 1) * future[:, :, :, 0]
            marked[rows[at]] = 1 - joint[0] / joint.sum(axis=0)
            future = _retreat(future, chances, at, factors[at])
    return np.ascontiguousarray(marked.T.clip(0.0, 1.0)), np.ascontiguousarray(log_ratio.T)


def _rows(block: _Block) -> I64:
    """Return the tokens of a block, [length, lanes]."""
    return block.first + np.arange(block.lanes * block.length).reshape(block.lanes, -1).T


def _retreat(future: F64, chances: _Chances, at: int, factor: F64) -> F64:
    """Carry the likelihood of what follows back over one token, scaled."""
    broken, intact = chances.broken[at], chances.intact[at]
    young, clean = future[1] * factor[1], future[-1] * factor[0]
    out = np.empty_like(future)
    out[0] = (1 - chances.enter) * future[0] + chances.enter * young
    out[1:] = chances.leave * future[0]
    out[1] += chances.young * young + chances.grown * clean
    out[2:] += broken * future[2]
    out[2:-2] += intact * future[3:-1]
    out[-2:] += intact * clean
    return np.asarray(out / out.sum(axis=0))

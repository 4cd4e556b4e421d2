"""Payloads whose fields are limited: what a limit says, and the trellis of what may be issued.

evidence.md §3, "Limits as prior". Whoever issues payloads knows what can have been issued
without keeping a list: customers below a number, days up to today, versions that exist. Per field
that is a set of numbers; which payloads lie within is told by an automaton that reads them bit by
bit, and how many they are by a product. Nothing here looks at a text.

The automaton of :class:`Issuable` reads the payload bits that a walk of the
register shifts in, so register and automaton together are again a finite machine, and every answer
of the trellis holds over the walks that both of them allow. Where the automaton goes follows from
the register's state after a step alone: each code keeps there the bits that tell the payload bit.
The sum is worked out as in ``bridge``, the futures being those within the limits.

Shapes: ``moves`` int64 [T, Q, S], the automaton's next state by its present one and the register's
state after the step, -1 where the payload leaves the limits; values have an axis Q before S.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.detect.decode.trellis import (
    Bits,
    Bridge,
    States,
    Trellis,
    advance,
    join,
    log_home,
    retreat,
    step_backward,
    step_forward,
)
from pura.scheme import F64, I64

Ranges = tuple[tuple[int, int], ...]
"""Numbers from the first to the last (inclusive) of each pair; ascending, apart from each other."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Issuable:
    """The payloads within stated limits, fixed before the text was seen. Make it with :meth:`of`.

    Attributes:
        outside: Part of the prior that all payloads share, whether within or not, in (0, 1); those
            within share the rest equally.
        count: How many are within.
        following: int64 [L_m, Q, 2], the automaton: where each state goes with a bit 0 and 1; -1
            where no payload within begins like that. It begins in state 0, and all that is within
            ends there.
    """

    outside: float
    count: int
    following: I64

    @classmethod
    def of(cls, fields: Sequence[tuple[int, Ranges]], outside: float) -> Issuable:
        """Take limits in.

        Args:
            fields: Width in bits and numbers of each field, in the order of the payload.
            outside: In (0, 1).

        Raises:
            ValueError: A field admits nothing, or the weight is none.
        """
        if not 0 < outside < 1 or any(not ranges for _, ranges in fields):
            raise ValueError("limits need a number in each field and a weight between 0 and 1")
        rows = [row for width, ranges in fields for row in _automaton(width, ranges)]
        states = max(len(row) for row in rows)
        following = np.full((len(rows), states, 2), -1, dtype=np.int64)
        for place, row in enumerate(rows):
            following[place, : len(row)] = row
        count = math.prod(sum(b - a + 1 for a, b in ranges) for _, ranges in fields)
        return cls(outside=outside, count=count, following=following)

    @property
    def payload_bits(self) -> int:
        """``L_m``."""
        return len(self.following)

    @cached_property
    def log_share(self) -> float:
        """Natural log of the share of all payloads that is within."""
        return math.log(self.count) - self.payload_bits * math.log(2)

    def holds(self, bits: Bits) -> npt.NDArray[np.bool_]:
        """Return which payloads are within; uint8 [C, L_m] to bool [C]."""
        state = np.zeros(len(bits), dtype=np.int64)
        for place, row in enumerate(self.following):
            state = np.where(state < 0, -1, row[state, bits[:, place]])
        return np.asarray(state >= 0)

    def log_prior(self, bits: Bits) -> F64:
        """Return what payloads weigh before the text is seen, natural log; [C, L_m] to [C]."""
        everywhere = math.log(self.outside) - self.payload_bits * math.log(2)
        within = np.logaddexp(everywhere, math.log1p(-self.outside) - math.log(self.count))
        return np.where(self.holds(bits), within, everywhere)


def _automaton(width: int, ranges: Ranges) -> list[list[tuple[int, int]]]:
    """Return the smallest automaton that reads the numbers of one field, highest bit first.

    Its states are what may follow: a set of numbers of the bits that are left.
    """
    rows: list[list[tuple[int, int]]] = []
    states: list[Ranges] = [ranges]
    for left in reversed(range(width)):
        numbers: dict[Ranges, int] = {}
        row = []
        for state in states:
            halves = (_part(state, 0, 1 << left), _part(state, 1 << left, 1 << left))
            row.append(tuple(numbers.setdefault(h, len(numbers)) if h else -1 for h in halves))
        rows.append([(zero, one) for zero, one in row])
        states = list(numbers)
    return rows


def _part(ranges: Ranges, first: int, size: int) -> Ranges:
    """Return the numbers from ``first`` on, ``size`` of them at most, counted from there."""
    cut = ((max(a, first) - first, min(b, first + size - 1) - first) for a, b in ranges)
    return tuple((a, b) for a, b in cut if a <= b)


_Routes = list[tuple[int, int, npt.NDArray[np.bool_]]]

_FEW_STATES: Final = 16  # of the register, up to which the log domain is as fast
_JOINED: Final = 4  # steps in one matrix product
_STARTS: Final = 16  # looked at together
_ENTRIES: Final = 1 << 20  # weights worked out at a time
_NEGLIGIBLE: Final = 60.0  # nats below the best start from which on one cannot be felt


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitedTrellis:
    """Exact answers over the payloads within limits; arguments as of ``Trellis``.

    Attributes:
        trellis: Of the code.
        issuable: The limits.
    """

    trellis: Trellis
    issuable: Issuable

    @cached_property
    def moves(self) -> I64:
        """The automaton beside the register; int64 [T, Q, S]."""
        following = self.issuable.following
        read = self.trellis.payload_bit()  # [T, S], -1 where a step reads none
        stay = np.arange(following.shape[1])[:, None]
        out = np.empty((len(read), following.shape[1], read.shape[1]), dtype=np.int64)
        place = 0
        for t, bits in enumerate(read):
            if (bits < 0).all():
                out[t] = stay
                continue
            out[t] = following[place][:, bits]
            place += 1
        return out

    @cached_property
    def routes(self) -> list[_Routes]:
        """The same by step: from where to where, and in which states of the register."""
        return [_routes(move) for move in self.moves]

    def log_sum(self, phi: F64) -> F64:
        """Return ``log Σ exp(Σ_i φ_i)`` over the payloads within; [..., n, 8] to [...]."""
        flat = phi.reshape(-1, *phi.shape[-2:])
        out = np.array([self._log_sum(self.trellis.windows(one[None])[0]) for one in flat])
        return out.reshape(phi.shape[:-2])

    def _log_sum(self, windows: F64) -> float:
        states = windows.shape[-1] // 2
        if states > _FEW_STATES:
            chain = _Chain.of(windows, self.moves)
            value = chain.log_return()
            if value >= chain.floor:
                return value
        homes = self._closings(windows, np.arange(states), np.logaddexp)
        return float(np.logaddexp.reduce(homes))

    def open_log_sum(self, phi: F64) -> F64:
        """Return the same with the ring left open, which is no less; [..., n, 8] to [...]."""
        flat = phi.reshape(-1, *phi.shape[-2:])
        out = np.empty(len(flat))
        chunk = max(1, _ENTRIES // self.moves[0].size // len(self.moves))
        for first in range(0, len(flat), chunk):
            windows = self.trellis.windows(flat[first : first + chunk])
            out[first : first + chunk] = _open_walk(windows, self.routes, self.moves.shape[1])
        return out.reshape(phi.shape[:-2])

    def posteriors(self, phi: F64) -> F64:
        """Return how probable each payload bit is 1, the payload being within; [n, 8] to [L_m]."""
        windows = self.trellis.windows(phi[None])[0]
        starts = np.arange(windows.shape[-1] // 2)
        if starts.size > _FEW_STATES:
            found = _Chain.of(windows, self.moves).bit_posteriors()
            if found is not None:
                return found.clip(0.0, 1.0)
        homes = self._closings(windows, starts, np.logaddexp)
        if np.isneginf(homes.max()):
            return np.full(self.trellis.payload_bits, 0.5)
        starts = starts[homes >= homes.max() - _NEGLIGIBLE]
        joint = self._pasts(windows, starts)[1:] + self._futures(windows, starts)[1:]
        weight = np.exp(joint - joint.max()).sum(axis=(1, 3))
        states = weight / weight.sum(axis=-1, keepdims=True)
        return self.trellis.payload_posteriors(states).clip(0.0, 1.0)

    def k_best(self, phi: F64, k: int) -> list[tuple[Bits, float]]:
        """Return the ``k`` most likely payloads within and their scores, strongest first."""
        windows = self.trellis.windows(phi[None])[0]
        states, moves = windows.shape[-1] // 2, self.moves
        starts = self._best_starts(windows, k)
        home = self._futures(windows, starts, np.maximum)
        walks = np.zeros((starts.size, len(windows)), dtype=np.uint8)
        state, column = starts, np.arange(starts.size)
        within, weight = np.zeros(starts.size, dtype=np.int64), np.zeros(starts.size)
        for t in range(len(windows)):
            window = (2 * state[:, None] + np.arange(2)).ravel()
            origin, column = np.repeat(np.arange(state.size), 2), np.repeat(column, 2)
            after = window % states
            moved = moves[t, within[origin], after]
            grown = weight[origin] + windows[t, window]
            rating = np.where(moved < 0, -np.inf, grown + home[t + 1, moved, after, column])
            kept = np.argsort(-rating, kind="stable")[:k]
            kept = kept[np.isfinite(rating[kept])]
            walks = walks[origin[kept]]
            walks[:, t] = window[kept] & 1
            state, column, within, weight = after[kept], column[kept], moved[kept], grown[kept]
        order = np.argsort(-weight, kind="stable")
        payloads = self.trellis.payloads(walks[order])
        return [(bits, float(score)) for bits, score in zip(payloads, weight[order], strict=True)]

    def _best_starts(self, windows: F64, k: int) -> States:
        """Return the starts of the ``k`` best walks: a bound says which need not be looked at."""
        bound = _free_futures(windows, self.moves, np.maximum)[1]
        order = np.argsort(-bound, kind="stable")
        found = np.full(bound.size, -np.inf)
        for first in range(0, order.size, _STARTS):
            some = order[first : first + _STARTS]
            least = np.sort(found)[-min(k, found.size)]
            if bound[some[0]] < least or np.isneginf(bound[some[0]]):
                break
            found[some] = self._closings(windows, some, np.maximum)
        best = np.argsort(-found, kind="stable")[:k]
        return np.asarray(best[np.isfinite(found[best])])

    def _closings(self, windows: F64, starts: States, plus: np.ufunc) -> F64:
        """Return the sum of all walks from each start back to itself; float64 [P]."""
        values = self._begin(windows, starts)
        for window, routes in zip(windows, self.routes, strict=True):
            values = _forward(values, window, routes, plus)
        return np.asarray(values[0, starts, np.arange(starts.size)])

    def _begin(self, windows: F64, starts: States) -> F64:
        shape = (self.moves.shape[1], windows.shape[-1] // 2, starts.size)
        values = np.full(shape, -np.inf)
        values[0, starts, np.arange(starts.size)] = 0.0
        return values

    def _pasts(self, windows: F64, starts: States) -> F64:
        values = [self._begin(windows, starts)]
        for window, routes in zip(windows, self.routes, strict=True):
            values.append(_forward(values[-1], window, routes, np.logaddexp))
        return np.stack(values)

    def _futures(self, windows: F64, ends: States, plus: np.ufunc = np.logaddexp) -> F64:
        values = [self._begin(windows, ends)]
        for window, move in zip(windows[::-1], self.moves[::-1], strict=True):
            values.append(_backward(values[-1], window, move, plus))
        return np.stack(values[::-1])


def _gathered(values: F64, move: I64, nothing: float = -np.inf) -> F64:
    """Return the values where the automaton goes; [Q, S, ...] to [Q, S, ...]."""
    found = values[move, np.arange(move.shape[1])]
    found[move < 0] = nothing
    return np.asarray(found)


def _routes(move: I64) -> _Routes:
    """Return from where to where the automaton goes, and in which states of the register."""
    return [
        (q, int(after), row == after)
        for q, row in enumerate(move)
        for after in np.unique(row)
        if after >= 0
    ]


def _forward(values: F64, window: F64, routes: _Routes, plus: np.ufunc) -> F64:
    moved = step_forward(values, np.tile(window, (len(values), 1)), plus)
    out = np.full_like(values, -np.inf)
    for q, after, states in routes:
        out[after, states] = plus(out[after, states], moved[q, states])
    return out


def _backward(values: F64, window: F64, move: I64, plus: np.ufunc) -> F64:
    come = _gathered(values, move)
    return step_backward(come, np.tile(window, (len(values), 1)), plus)


def _open_walk(windows: F64, routes: Sequence[_Routes], within: int) -> F64:
    """Walk once along the register from all its states; windows [R, T, 2S] to log sums [R]."""
    runs, length, branches = windows.shape
    half, peak = branches // 2, windows.max(axis=2)
    weights = np.exp(windows - peak[:, :, None])
    values = np.zeros((runs, within, half))
    values[:, 0] = 1.0
    total = peak.sum(axis=1)
    for t in range(length):
        grown = np.repeat(values, 2, axis=2) * weights[:, t, None]
        moved = grown[..., :half] + grown[..., half:]
        values = np.zeros_like(values)
        for q, after, states in routes[t]:
            values[:, after, states] += moved[:, q, states]
        scale = values.sum(axis=(1, 2))
        values /= scale[:, None, None]
        total += np.log(scale)
    return np.asarray(total)


def _free_futures(windows: F64, moves: I64, plus: np.ufunc) -> tuple[F64, F64]:
    """Return the sums from every state to any end, weighed by the best lap that could follow.

    Returns:
        float64 [T + 1, Q, S], and for each start ``h_0(s) - h_T(s)``, float64 [S].
    """
    steps, shape = len(windows), (moves.shape[1], moves.shape[2], 1)
    end = np.full(shape, -np.inf)
    end[0] = 0.0
    for t in reversed(range(steps)):
        end = _backward(end, windows[t], moves[t], np.maximum)
    value = np.full(shape, -np.inf)
    value[0] = end[0]
    sums = np.empty((steps + 1, *shape[:2]))
    sums[steps] = value[..., 0]
    for t in reversed(range(steps)):
        value = _backward(value, windows[t], moves[t], plus)
        sums[t] = value[..., 0]
    possible = np.isfinite(sums[steps, 0])
    bound = np.full(shape[1], -np.inf)
    np.subtract(sums[0, 0], sums[steps, 0], out=bound, where=possible)
    return sums, bound


@dataclass(frozen=True, kw_only=True, eq=False)
class _Chain:
    """The chain of ``bridge``, within limits.

    Attributes:
        bridge: With blocks [Q, S / 2^j, 2^j, 2^j], by the automaton's state before the block.
        moves: int64 [Q, S], of the automaton over each block, by the register's state after it.
        alive: The automaton's states in which a payload may be before each block.
    """

    bridge: Bridge
    moves: tuple[I64, ...]
    alive: tuple[I64, ...]

    @classmethod
    def of(cls, windows: F64, moves: I64) -> _Chain:
        """Build it; ``windows`` float64 [T, 2S]."""
        sums, log_weight = _free_futures(windows, moves, np.logaddexp)
        states = moves.shape[2]
        before = np.where(np.isneginf(sums[:-1]), np.inf, sums[:-1])
        after = np.stack([_gathered(sums[t + 1], move) for t, move in enumerate(moves)])
        # By branch: the register's older state is its upper part, the newer one its lower.
        chance = np.repeat(-before, 2, axis=-1) + windows[:, None]
        chance += np.concatenate([after, after], axis=-1)
        np.exp(chance, out=chance)
        older = np.arange(2 * states) // 2
        blocks, joint, alive = [], [], [np.zeros(1, dtype=np.int64)]
        for first in range(0, len(windows), _JOINED):
            within = np.repeat(np.arange(moves.shape[1])[:, None], states, axis=1)
            parts = []
            for t in range(first, min(first + _JOINED, len(windows))):
                ahead = within[:, older]
                part = chance[t][ahead, np.arange(2 * states)]
                parts.append(np.where(ahead < 0, 0.0, part))
                # The bits of the block stand in the register, whatever was the oldest one.
                come = within[:, np.arange(states) // 2]
                within = np.where(come < 0, -1, moves[t][come, np.arange(states)])
            blocks.append(join(np.stack(parts, axis=1)[:, None])[0])
            joint.append(within)
            reached = np.unique(within[alive[-1]])
            alive.append(reached[reached >= 0])
        return cls(
            bridge=Bridge(blocks=tuple(blocks), log_weight=log_weight),
            moves=tuple(joint),
            alive=tuple(alive),
        )

    @property
    def floor(self) -> float:
        """As of the bridge, with the automaton's states on top."""
        return self.bridge.floor + float(np.log(self.moves[0].shape[0]))

    def _pasts(self) -> Iterator[F64]:
        """Yield ``P(state | start)`` before each block and at the end; float64 [Q, S, S] each."""
        states = self.bridge.log_weight.size
        value = np.zeros((self.moves[0].shape[0], states, states))
        value[0] = np.eye(states)
        yield value
        moved = np.empty((states, states))
        for block, move, alive in zip(self.bridge.blocks, self.moves, self.alive, strict=False):
            following = np.zeros_like(value)
            for q in alive.tolist():
                advance(block[q], value[q], moved)
                for after in np.unique(move[q]).tolist():
                    if after >= 0:
                        there = move[q] == after
                        following[after, there] += moved[there]
            value = following
            yield value

    def log_return(self) -> float:
        """Return ``log Σ exp(weight)`` over all closed walks within; ``-inf`` without any."""
        for past in self._pasts():
            home = past[0].diagonal()
        return log_home(self.bridge, home)

    def bit_posteriors(self) -> F64 | None:
        """Return how probable each bit is 1; None where underflow might be felt."""
        pasts = list(self._pasts())
        if np.isneginf(self.bridge.log_weight.max()):
            return None
        if log_home(self.bridge, pasts[-1][0].diagonal()) < self.floor:
            return None
        states = self.bridge.log_weight.size
        memory = states.bit_length() - 1
        weight = np.exp(self.bridge.log_weight - self.bridge.log_weight.max())
        ones = (np.arange(states) >> np.arange(memory)[::-1, None]) & 1
        ends = np.cumsum([b.shape[-1].bit_length() - 1 for b in self.bridge.blocks])
        bits = np.empty(int(ends[-1]))
        future = np.zeros_like(pasts[0])
        future[0] = np.eye(states)
        spare = np.empty((states, states))
        for i in reversed(range(ends.size)):
            posterior = (pasts[i + 1] * future).sum(axis=0) @ weight
            width = int(ends[i]) - (int(ends[i - 1]) if i else 0)
            bits[ends[i] - width : ends[i]] = (ones @ posterior / posterior.sum())[memory - width :]
            come = _gathered(future, self.moves[i], 0.0)
            future = np.zeros_like(future)
            for q in self.alive[i].tolist():
                retreat(self.bridge.blocks[i][q], come[q], spare)
                future[q] = spare
        return bits

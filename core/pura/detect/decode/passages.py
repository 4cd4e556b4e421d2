"""Every passage of a text that carries a mark, each with a statement of its own.

evidence.md §4. Windows are fixed by the number of carrying steps alone, before any phase is
looked at. Each has an e-value for "the steps of this window came about independently of the key",
which says nothing about the rest of the text: the mean over all payloads by their prior, on its
steps alone. Those that reach the level name payloads; the best path over the steps, unmarked or
with one of them, gives the passages; a passage is reported where a window of it reaches the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from pura.detect.decode.prior import PayloadPrior
from pura.detect.decode.trellis import codeword_windows, window_potentials
from pura.scheme import F64, I64, U8
from pura.scheme.profile import Profile, encode_rows

Bits = U8

SCALES: Final = ((64, 8), (96, 12), (128, 16), (192, 24), (256, 32))
"""Steps of a window, and between the beginnings of two."""

REPEATS: Final = 0.1
"""Share of the chance of an error that passages have which repeat a payload; windows the rest."""

_ETA: Final = 0.15  # a passage may be edited
_LOOKED: Final = ((64, 16), (128, 32), (256, 64))  # windows that name payloads: some of all
_GRAIN: Final = 16  # these begin and end at a multiple of it, or at the end of the text
_TOGETHER: Final = 256  # windows looked at together
_BELOW_NATS: Final = 5 * math.log(10)  # so far below the level a window names a payload …
_NAMES_NATS: Final = 4 * math.log(10)  # … if it reaches this: the best of all windows may do better
_ENTER_NATS: Final = math.log(1 / 400)
_LEAVE_NATS: Final = math.log(1 / 200)
_ALIVE_NATS: Final = 11.0  # in no window below it can a payload pay for coming and going
_AROUND: Final = 32  # steps around such a window
_LEFT_NATS: Final = (
    4.0  # evidence of a window that the path may leave out; the look is an upper bound
)
_LEAST_STEPS: Final = 20
_IN_QUESTION: Final = math.log(1e-4)  # least share of a payload in a window that speaks for it
_ROUNDS: Final = 16
_LOOKED_AT: Final = 4  # windows of a passage whose e-value is worked out
DECODED_AT_MOST: Final = 8192


class StepWindow(NamedTuple):
    """Steps ``first`` to ``after - 1``."""

    first: int
    after: int


def step_windows(scales: Sequence[tuple[int, int]], steps: int) -> I64:
    """Return the windows of some sizes and strides, each once; int64 [K, 2].

    A text of no more than one window has one, itself.
    """
    if steps <= SCALES[0][0]:
        return np.array([[0, steps]])
    first = [np.arange(0, max(1, steps - size + stride), stride) for size, stride in scales]
    after = [begin + size for begin, (size, _) in zip(first, scales, strict=True)]
    both = np.stack([np.concatenate(first), np.minimum(np.concatenate(after), steps)], axis=1)
    return np.asarray(np.unique(both, axis=0), dtype=np.int64)


def log_anywhere(young: F64) -> F64:
    """Return the log of the one density a step that windows are looked at with.

    Args:
        young: float64 [T, S, 8], densities as at a passage's beginning, by mismatch table.

    Returns:
        float64 [S, 8].
    """
    return np.asarray(np.log((1 - _ETA) * young.mean(axis=0) + _ETA))


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundPassage:
    """A passage that is there by a statement of its own.

    Attributes:
        bits: uint8 [L_m], the payload that fits it best.
        first: First step.
        after: Step after the last.
        log_e: Natural log of the e-value of its statement, divided by how many such statements
            there are: of its best window, or, of a passage that repeats the payload of another
            one, of this payload on its steps.
    """

    bits: Bits
    first: int
    after: int
    log_e: float


class _Segment(NamedTuple):
    number: int
    first: int
    after: int


def find_passages(
    log_f: F64,
    index: I64,
    prior: PayloadPrior,
    profile: Profile,
    level: float,
    known: Bits,
    checkpoint: Callable[[], None],
    *,
    steps: int | None = None,
) -> tuple[tuple[FoundPassage, ...], bool]:
    """Return the passages that carry a mark.

    Args:
        log_f: float64 [S, 8], log of one density a step, chosen before its phase was looked at.
        index: int64 [S], first codeword position of each step.
        prior: What payloads weigh, and the trellis of the code.
        profile: The profile.
        level: Natural log of what the e-value of a statement, divided by how many there are, must
            reach times the number of passages that are reported.
        known: uint8 [C, L_m], payloads to begin with.
        checkpoint: Called often; may raise.
        steps: How many there are at most in the whole text, where these are only its first;
            ``S`` when absent.

    Returns:
        The passages in the order of the text; and whether a limit was reached: there may be more.
    """
    most = index.size if steps is None else max(steps, index.size)
    search = _Search(log_f, index, prior, profile, level, most, checkpoint)
    return search.run(known) if search.reached.size else ((), False)


class _Search:
    def __init__(
        self,
        log_f: F64,
        index: I64,
        prior: PayloadPrior,
        profile: Profile,
        level: float,
        most: int,
        checkpoint: Callable[[], None],
    ) -> None:
        self._log_f, self._index, self._prior = log_f, index, prior
        self._profile, self._checkpoint = profile, checkpoint
        self._first, self._after = step_windows(_LOOKED, index.size).T
        self._windows = step_windows(SCALES, index.size)
        count = len(step_windows(SCALES, most))
        self._level = level
        self._statements = math.log(count / (1 - REPEATS))
        self._repeats = math.log(count / REPEATS) + math.log(most)
        self._bound = np.concatenate(list(self._looks()))
        alone = level + self._statements
        self.reached = np.flatnonzero(
            self._bound >= min(alone, max(alone - _BELOW_NATS, _NAMES_NATS))
        )
        self._bits: list[Bits] = []
        self._weights: list[float] = []
        self._numbers: dict[bytes, int] = {}
        self._alive: list[list[tuple[int, int, F64]]] = []
        self._decoded: set[int] = set()
        self._decodings = 0
        self._asked: set[StepWindow] = set()
        self._looked_at: dict[_Segment, list[tuple[StepWindow, float]]] = {}
        self._weighed: dict[StepWindow, float] = {}

    def _looks(self) -> Iterator[F64]:
        """Yield an upper bound of each window's evidence: the ring may end in another state."""
        for start in range(0, self._first.size, _TOGETHER):
            self._checkpoint()
            begins = self._first[start : start + _TOGETHER]
            ends = self._after[start : start + _TOGETHER]
            first, after = int(begins.min()), int(ends.max())
            blocks, length = -(-(after - first) // _GRAIN), self._profile.codeword_length
            place = np.arange(after - first) // _GRAIN * length + self._index[first:after]
            level = window_potentials(self._log_f[first:after], place, blocks * length)
            total = np.concatenate([np.zeros((1, length * 8)), level.reshape(blocks, -1)])
            np.cumsum(total, axis=0, out=total)
            begin = (begins - first) // _GRAIN
            end = -(-(ends - first) // _GRAIN)
            yield self._prior.most((total[end] - total[begin]).reshape(-1, length, 8))

    def run(self, known: Bits) -> tuple[tuple[FoundPassage, ...], bool]:
        for bits in known:
            self._add(bits)
        stated = self._consistent(self._stated(self._read_alone(self._named())))
        passages = tuple(
            FoundPassage(bits=self._bits[s.number], first=s.first, after=s.after, log_e=log_e)
            for s, log_e in stated
        )
        return passages, self._decodings >= DECODED_AT_MOST

    def _consistent(self, stated: list[tuple[_Segment, float]]) -> list[tuple[_Segment, float]]:
        """Return as many passages as reach the level that holds where so many are reported."""
        order = sorted((log_e for _, log_e in stated), reverse=True)
        fits = [r for r, log_e in enumerate(order, start=1) if log_e >= self._level - math.log(r)]
        least = order[fits[-1] - 1] if fits else math.inf
        return [one for one in stated if one[1] >= least]

    def _named(self) -> list[_Segment]:
        """Name payloads until no window is left that the path does not account for."""
        path = self._path() if self._bits else []
        for _ in range(_ROUNDS):
            if not self._name(path):
                break
            path = self._path()
        return path

    def _stated(self, path: list[_Segment]) -> list[tuple[_Segment, float]]:
        """Return the passages that have a statement of their own, and its e-value.

        The more are reported, the less each must reach: as many as the path has, or fewer.
        """
        reported = len(path)
        while path:
            least = self._level - math.log(reported)
            stated = self._reaching(path, least)
            kept = {s.number for s, _ in stated}
            fitting = self._fitting([s for s in path if s.number not in kept], least)
            if len(stated) >= reported and not fitting:
                return stated
            # What has no statement of its own takes no steps from what has one, or may have.
            if not fitting:
                reported = len(stated)
            if {s.number for s in path} != kept | fitting:
                self._alive = [
                    runs if number in kept | fitting else []
                    for number, runs in enumerate(self._alive)
                ]
                path = self._path()
        return []

    def _fitting(self, path: Sequence[_Segment], least: float) -> set[int]:
        """Return payloads that fit windows of some passages which reach a level by others."""
        out = set()
        for segment in path:
            for window, own in self._best_windows(segment):
                log_e = self._log_e(window)
                others = own < log_e - math.log(2) and log_e - self._statements >= least
                if others and window not in self._asked:
                    self._asked.add(window)
                    bits = self._best(*window)
                    self._add(bits)
                    out.add(self._numbers[bits.tobytes()])
        return out

    def _add(self, bits: Bits) -> bool:
        """Take in a payload; says whether it is new."""
        if bits.tobytes() in self._numbers:
            return False
        self._checkpoint()
        self._numbers[bits.tobytes()] = len(self._bits)
        self._bits.append(bits)
        self._weights.append(float(self._prior.log_weight(bits[None])[0]))
        gain = self._gain(bits, 0, self._index.size)
        inside = self._sums(gain) >= _ALIVE_NATS
        spans: list[list[int]] = []
        for first, after in sorted(
            zip(self._first[inside].tolist(), self._after[inside].tolist(), strict=True)
        ):
            first, after = max(0, first - _AROUND), min(self._index.size, after + _AROUND)
            if spans and first <= spans[-1][1]:
                spans[-1][1] = max(spans[-1][1], after)
            else:
                spans.append([first, after])
        self._alive.append([(first, after, gain[first:after].copy()) for first, after in spans])
        return True

    def _gain(self, bits: Bits, first: int, after: int) -> F64:
        """Return what each of some steps adds to the log likelihood ratio of a payload."""
        read = codeword_windows(encode_rows(bits[None], self._profile)[0])
        rows = np.arange(first, after)
        return np.asarray(self._log_f[rows, read[self._index[rows]]])

    def _sums(self, values: F64) -> F64:
        """Add up values of the steps over every window."""
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[self._after] - total[self._first])

    def _name(self, path: Sequence[_Segment]) -> bool:
        """Decode windows whose evidence the path leaves out; says whether a payload is new."""
        left = self._bound
        # Payloads of one weight account for windows together: all of them, but where limits are.
        for weight in {self._weights[segment.number] for segment in path}:
            gain = np.zeros(self._index.size)
            for segment in path:
                if self._weights[segment.number] == weight:
                    gain[segment.first : segment.after] = self._segment_gain(segment)
            left = np.minimum(left, self._bound - np.maximum(self._sums(gain) + weight, 0.0))
        order = self.reached[np.argsort(-left[self.reached], kind="stable")]
        taken = np.zeros(-(-self._index.size // _GRAIN), dtype=bool)
        new = False
        for at in order.tolist():
            if left[at] < _LEFT_NATS or self._decodings >= DECODED_AT_MOST:
                break
            place = slice(self._first[at] // _GRAIN, -(-self._after[at] // _GRAIN))
            if at in self._decoded or taken[place].any():
                continue
            taken[place] = True
            self._decoded.add(at)
            new |= self._add(self._best(self._first[at], self._after[at]))
        return new

    def _best(self, first: int, after: int) -> Bits:
        """Return the payload that fits some steps best."""
        self._checkpoint()
        self._decodings += 1
        return self._prior.k_best(self._potentials(np.arange(first, after)), 1)[0]

    def _log_e(self, window: StepWindow) -> float:
        """Return the natural log of the e-value of a window."""
        if window not in self._weighed:
            self._weighed[window] = self._log_e_of(np.arange(*window))
        return self._weighed[window]

    def _log_e_of(self, rows: I64) -> float:
        """Return the natural log of the e-value of some steps."""
        phi = self._potentials(rows)[None]
        log_sums = self._prior.weighted(self._prior.trellis.log_sum(phi), phi)
        return float(log_sums[0]) - self._prior.log_all

    def _potentials(self, rows: I64) -> F64:
        return window_potentials(
            self._log_f[rows], self._index[rows], self._profile.codeword_length
        )

    def _segment_gain(self, segment: _Segment) -> F64:
        first, _, gain = next(
            run for run in self._alive[segment.number] if run[0] <= segment.first < run[1]
        )
        return gain[segment.first - first : segment.after - first]

    def _path(self) -> list[_Segment]:
        self._checkpoint()
        count = sum(1 for runs in self._alive if runs)
        enter = _ENTER_NATS - math.log(max(1, count))
        runs = [(*run, number) for number, runs in enumerate(self._alive) for run in runs]
        return [s for s in best_path(runs, enter) if s.after - s.first >= _LEAST_STEPS]

    def _read_alone(self, path: list[_Segment]) -> list[_Segment]:
        """Decode every passage by itself: windows see parts of it, or more than it."""
        read: set[_Segment] = set()
        for _ in range(_ROUNDS):
            new = False
            for segment in self._doubtful([one for one in path if one not in read]):
                if self._decodings < DECODED_AT_MOST:
                    new |= self._add(self._best(segment.first, segment.after))
            read.update(path)
            if not new:
                break
            path = self._path()
        return path

    def _doubtful(self, path: Sequence[_Segment]) -> list[_Segment]:
        """Return the passages of which another payload might fit the steps better.

        None does where the payload has more than half of what all have at the most.
        """
        out = []
        for start in range(0, len(path), _TOGETHER):
            some = path[start : start + _TOGETHER]
            phi = np.stack([self._potentials(np.arange(s.first, s.after)) for s in some])
            most = self._prior.most(phi) - math.log(2)
            own = [float(self._segment_gain(s).sum()) + self._weights[s.number] for s in some]
            out += [s for s, top, gain in zip(some, most, own, strict=True) if gain < top]
        return out

    def _reaching(self, path: Sequence[_Segment], least: float) -> list[tuple[_Segment, float]]:
        """Return the passages whose own statement reaches a level, and its e-value."""
        by_window = {segment: self._statement(segment, path, least) for segment in path}
        named: dict[int, list[StepWindow]] = {}
        for segment, found in by_window.items():
            if found is not None:
                named.setdefault(segment.number, []).append(found[1])
        out = []
        for segment, found in by_window.items():
            log_e = self._repeated(segment, named) if found is None else found[0]
            if log_e is not None:
                out.append((segment, log_e))
        return out

    def _repeated(self, segment: _Segment, named: dict[int, list[StepWindow]]) -> float | None:
        """Return the e-value of a payload on the steps of a passage that repeats it.

        The payload must be the best one of a window that shares no step with the passage.
        """
        log_e = float(self._segment_gain(segment).sum()) - self._repeats
        if log_e < self._level:
            return None
        for window in named.get(segment.number, ()):
            if window.after <= segment.first or segment.after <= window.first:
                bits = self._bits[segment.number]
                if np.array_equal(self._best(*window), bits):
                    return log_e
        return None

    def _statement(
        self, segment: _Segment, path: Sequence[_Segment], least: float
    ) -> tuple[float, StepWindow] | None:
        """Return the e-value of a window inside that reaches a level; None if none does.

        It must do so by the payload of the passage, and without the steps of other passages.
        """
        others = [other for other in path if other.number != segment.number]
        for window, own in self._best_windows(segment):
            log_e = self._log_e(window)
            if log_e - self._statements < least or own - log_e < _IN_QUESTION:
                continue
            rows = np.arange(*window)
            for other in others:
                rows = rows[(rows < other.first) | (rows >= other.after)]
            whole = rows.size == window.after - window.first
            if whole or self._log_e_of(rows) - self._statements >= least:
                return log_e - self._statements, window
        return None

    def _best_windows(self, segment: _Segment) -> list[tuple[StepWindow, float]]:
        """Return windows that a passage holds more than half of, the best ones, best first.

        Returns:
            Each with the natural log of what the payload adds to its e-value, which is no less.
        """
        if segment not in self._looked_at:
            first, after = self._windows.T
            shared = np.minimum(after, segment.after) - np.maximum(first, segment.first)
            inside = self._windows[2 * shared > after - first]
            begin, end = int(inside.min(initial=self._index.size)), int(inside.max(initial=0))
            gain = self._gain(self._bits[segment.number], begin, max(begin, end))
            total = np.concatenate([[0.0], np.cumsum(gain)])
            own = total[inside[:, 1] - begin] - total[inside[:, 0] - begin]
            own += self._weights[segment.number]
            best = np.argsort(-own, kind="stable")[:_LOOKED_AT]
            self._looked_at[segment] = [
                (StepWindow(*map(int, inside[at])), float(own[at])) for at in best
            ]
        return self._looked_at[segment]


def best_path(
    runs: Sequence[tuple[int, int, F64, int]], enter: float, leave: float = _LEAVE_NATS
) -> list[_Segment]:
    """Return the best way through a text that is unmarked or carries one of some payloads.

    Args:
        runs: Where a payload may stand: first step, step after the last, what each of these steps
            adds to its log likelihood ratio, and its number. Elsewhere it does not stand.
        enter: Natural log of the chance that a passage of one payload begins at a step.
        leave: Of the chance that it ends.

    Returns:
        The passages, in the order of the text.
    """
    edges = sorted({edge for run in runs for edge in run[:2]})
    begins: dict[int, list[int]] = {}
    for which, run in enumerate(runs):
        begins.setdefault(run[0], []).append(which)
    way = _Way(runs, enter, leave)
    for first, after in zip(edges, edges[1:] + edges[-1:], strict=True):
        way.leave_and_enter(first, begins.get(first, []))
        gains = [
            runs[which][2][first - runs[which][0] : after - runs[which][0]].tolist()
            for which in way.active
        ]
        if len(gains) == 1:
            way.along_one(first, gains[0])
        elif gains:
            way.along(first, gains)
    return _segments(way.history)


class _Way:
    """The best ways to a step: unmarked there, or with each of the payloads that may stand there.

    A history is (step where it began or ended, number or None, the history before).
    """

    def __init__(
        self, runs: Sequence[tuple[int, int, F64, int]], enter: float, leave: float
    ) -> None:
        self._runs, self._enter, self._leave = runs, enter, leave
        self._outside = 0.0
        self.history: object = None
        self.active: list[int] = []
        self._value: list[float] = []
        self._past: list[object] = []

    def leave_and_enter(self, step: int, coming: list[int]) -> None:
        """End the runs that end at a step, and begin others."""
        kept = []
        for place, which in enumerate(self.active):
            if self._runs[which][1] > step:
                kept.append(place)
            elif self._value[place] + self._leave > self._outside:
                self._outside = self._value[place] + self._leave
                self.history = (step, None, self._past[place])
        self.active = [self.active[place] for place in kept] + coming
        self._value = [self._value[place] for place in kept] + [-math.inf] * len(coming)
        self._past = [self._past[place] for place in kept] + [None] * len(coming)

    def along_one(self, first: int, gains: list[float]) -> None:
        """The same as :meth:`along` with one payload, as it mostly is, at a third of the time."""
        outside, enter, leave = self._outside, self._enter, self._leave
        number, here, past = self._runs[self.active[0]][3], self._value[0], self._past[0]
        for step, gain in enumerate(gains, start=first):
            if here + leave > outside:
                outside, self.history = here + leave, (step, None, past)
            if outside + enter > here:
                here, past = outside + enter, (step, number, self.history)
            here += gain
        self._outside, self._value[0], self._past[0] = outside, here, past

    def along(self, first: int, gains: list[list[float]]) -> None:
        """Carry all ways over the steps to which these gains belong, a list for each payload."""
        value, past = self._value, self._past
        for step, each in enumerate(zip(*gains, strict=True), start=first):
            best = max(value)
            if best + self._leave > self._outside:
                self._outside = best + self._leave
                self.history = (step, None, past[value.index(best)])
            entered = self._outside + self._enter
            for place, gain in enumerate(each):
                if entered > value[place]:
                    value[place] = entered + gain
                    past[place] = (step, self._runs[self.active[place]][3], self.history)
                else:
                    value[place] += gain


def _segments(history: object) -> list[_Segment]:
    """Follow a path back to the beginning of the text."""
    out: list[_Segment] = []
    after = 0
    while isinstance(history, tuple):
        step, number, history = history
        if number is None:
            after = step
        else:
            out.append(_Segment(number, step, after))
            after = step
    return out[::-1]

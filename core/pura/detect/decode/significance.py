"""How surprising the evidence is when there is no mark (evidence.md §3, redraws)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.base.progress import Checkpoint, never_cancelled
from pura.detect.decode.likelihood import (
    SIXTEENTHS,
    GridPoint,
    Intervals,
    StepLikelihoods,
    log_likelihoods,
    step_likelihoods,
    window_likelihoods,
)
from pura.detect.decode.trellis import Trellis, make_trellis, window_potentials
from pura.scheme import F64, I64


def open_log_mean(trellis: Trellis, phi: F64) -> F64:
    """Return ``log`` of the mean weight over all open walks.

    Args:
        trellis: Of the code.
        phi: float64 [..., n, 8], finite.

    Returns:
        float64 [...], in nats.
    """
    flat = phi.reshape(-1, *phi.shape[-2:])
    out = np.empty(flat.shape[0])
    chunk = max(1, (1 << 20) // (trellis.codeword_length * 512 // 3))
    for first in range(0, flat.shape[0], chunk):
        out[first : first + chunk] = _walk(trellis.windows(flat[first : first + chunk]))
    return out.reshape(phi.shape[:-2])


def _walk(windows: F64) -> F64:
    """Walk once along the register; windows float64 [R, T, 2S] to log means float64 [R]."""
    runs, length, branches = windows.shape
    half = branches // 2
    peak = windows.max(axis=2)
    # -inf rules a branch out; a step where every branch is out cannot come from finite φ.
    weights = np.exp(windows - peak[:, :, None])
    state = np.full((runs, half), 1.0 / half)
    total = peak.sum(axis=1)
    for t in range(length):
        # A branch holds the old state and the new bit; the new state is its lower part.
        moved = np.repeat(state, 2, axis=1) * weights[:, t]
        state = (moved[:, :half] + moved[:, half:]) / 2
        scale = state.sum(axis=1, keepdims=True)
        state /= scale
        total += np.log(scale[:, 0])
    return np.asarray(total)


TURNS: Final = 16 * SIXTEENTHS
_CHUNK: Final = 64  # redraws worked out together …
_BLOCK: Final = 4096  # … over so many steps: 70 MB
_WALK_MEMBERS: Final = 2
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class RedrawTest:
    """A redraw p-value and how it came about.

    Attributes:
        p: The p-value, at least ``1 / (draws + 1)``.
        draws: Redraws that were made.
        seed: Of the redraws.
        stopped: The redraws ended early, after ``stop_after`` had reached the observed statistic.
    """

    p: float
    draws: int
    seed: int
    stopped: bool


def p_bound(log10_e: float) -> float:
    """Return ``min(1, 1/e)``, the proven bound on a chance result at least as strong."""
    return float(10.0 ** -max(0.0, log10_e))


def combine(log10_e: npt.ArrayLike, *, tried: int | None = None) -> float:
    """Return log10 of the mean e-value over the keys and profiles that were tried.

    The mean of e-values is an e-value whatever their dependence; it is never smaller than the
    largest of them divided by their number.

    Args:
        log10_e: [K], one a key or profile.
        tried: How many were tried, when some gave nothing to list; those count as 0.

    Returns:
        log10 of the mean; 0 when nothing was tried.
    """
    values = np.asarray(log10_e, dtype=np.float64).ravel()
    count = values.size if tried is None else tried
    if count < values.size:
        raise ValueError("fewer keys tried than e-values given")
    if count == 0:
        return 0.0
    if values.size == 0:
        return float("-inf")
    log_sum = np.logaddexp.reduce(values * np.log(10))
    return float((log_sum - np.log(count)) / np.log(10))


def correct_p(p: float, tried: int) -> float:
    """Return the p-value of the best of several keys (Bonferroni)."""
    return min(1.0, p * max(1, tried))


def e_bh(log10_e: npt.ArrayLike, alpha: float) -> npt.NDArray[np.bool_]:
    """Choose the documents of a batch with a false discovery rate of at most ``alpha``.

    The e-BH procedure of Wang and Ramdas (2022), valid under any dependence: the ``k`` largest
    e-values, for the largest ``k`` whose k-th largest e-value is at least ``N / (alpha·k)``.

    Args:
        log10_e: [N], one a document.
        alpha: Level, in (0, 1).

    Returns:
        bool [N].
    """
    if not 0 < alpha < 1:
        raise ValueError("alpha lies between 0 and 1")
    values = np.asarray(log10_e, dtype=np.float64).ravel()
    order = np.argsort(-values, kind="stable")
    rank = np.arange(1, values.size + 1)
    reached = np.flatnonzero(values[order] >= np.log10(values.size / (alpha * rank)))
    chosen = np.zeros(values.size, dtype=bool)
    if reached.size:
        chosen[order[: reached[-1] + 1]] = True
    return chosen


def redraw_p(
    seen: Intervals,
    *,
    seed: int,
    draws: int = 999,
    stop_after: int | None = 20,
    checkpoint: Checkpoint = never_cancelled,
) -> RedrawTest:
    """Compare a text's phases with redrawn ones.

    Each redraw turns every phase by a random multiple of 1/256 of the circle. Without a mark the
    phases are uniform, turned or not, so the observed statistic is one among equals and the
    p-value is exact, however coarse the turns (a randomisation test over a finite group).

    The statistic, ``walk``, is the likelihood summed over all payloads with the ring left open,
    averaged over two members of the grid: nearly as sharp as the sum over closed walks and far
    cheaper. It takes the text as marked from end to end.

    Args:
        seen: The text.
        seed: Of the redraws; the same seed gives the same p-value.
        draws: At most so many.
        stop_after: End when so many redraws have reached the observed statistic; ``p`` is then
            their share (Besag and Clifford 1991, as exact). None: make all of them.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        The test. Without a usable step ``p`` is 1 and no redraw is made.
    """
    if draws < 1 or (stop_after is not None and stop_after < 1):
        raise ValueError("at least one draw")
    if not len(seen.schedule):
        return RedrawTest(p=1.0, draws=0, seed=seed, stopped=False)
    grid = walk_grid(seen.model.grids[seen.prompt_known])
    redraws = _Redraws(seen, grid, checkpoint)
    made, exceeding = _count(redraws, seed, draws, stop_after)
    stopped = exceeding == stop_after
    return RedrawTest(
        p=exceeding / made if stopped else (1 + exceeding) / (draws + 1),
        draws=made,
        seed=seed,
        stopped=stopped,
    )


class _Redraws:
    """The statistic of turned phases, a block of steps after the other.

    A text of one block keeps its densities; a longer one works them out once for all redraws, so
    that memory does not grow with the text.
    """

    def __init__(
        self,
        seen: Intervals,
        grid: tuple[GridPoint, ...],
        checkpoint: Callable[[], None],
    ) -> None:
        def prepare(first: int) -> StepLikelihoods:
            return step_likelihoods(seen, grid, rows=slice(first, first + _BLOCK), resolution=TURNS)

        self._schedule, self._length = seen.schedule, seen.profile.codeword_length
        self._prepare = cache(prepare) if len(self._schedule) <= _BLOCK else prepare
        self._members, self._checkpoint = len(grid), checkpoint
        self._trellis = make_trellis(seen.profile)

    def together(self, draws: int) -> int:
        """Return how many redraws to ask for at a time."""
        return _CHUNK if len(self._schedule) <= _BLOCK else draws

    def values(self, count: int, turns: Callable[[int, int], I64]) -> F64:
        """Return the statistic of each redraw; float64 [R].

        Args:
            count: ``R``.
            turns: Gives the turns of so many redraws of so many steps, int64 [R', S'].
        """
        phi = np.zeros((self._members, count, self._length, 8))
        for first in range(0, len(self._schedule), _BLOCK):
            steps = self._prepare(first)
            index = self._schedule.index[first : first + _BLOCK]
            for begin in range(0, count, _CHUNK):
                self._checkpoint()
                some = min(_CHUNK, count - begin)
                log_f = log_likelihoods(steps, window_likelihoods(steps, turns(some, index.size)))
                phi[:, begin : begin + some] += window_potentials(log_f, index, self._length)
        return np.asarray(np.logaddexp.reduce(open_log_mean(self._trellis, phi), axis=0))


def _count(redraws: _Redraws, seed: int, draws: int, stop_after: int | None) -> tuple[int, int]:
    """Return how many redraws were made and how many of them reached the observed value."""
    still = redraws.values(1, lambda rows, size: np.zeros((rows, size), dtype=np.int64))
    observed = float(still[0])
    # Ties count against the text, even when rounding parts them.
    threshold = observed - _ROUNDING * max(1.0, abs(observed))
    rng = np.random.default_rng(seed)

    def turns(rows: int, size: int) -> I64:
        return rng.integers(0, TURNS, (rows, size))

    exceeding = made = 0
    while made < draws:
        count = min(redraws.together(draws), draws - made)
        reached = np.flatnonzero(redraws.values(count, turns) >= threshold)
        if stop_after is not None and exceeding + reached.size >= stop_after:
            return made + int(reached[stop_after - exceeding - 1]) + 1, stop_after
        exceeding += int(reached.size)
        made += count
    return made, exceeding


def walk_grid(grid: tuple[GridPoint, ...]) -> tuple[GridPoint, ...]:
    """Return the members of the grid that the statistic averages over.

    A light and a heavy share of desynchronised steps: the first member and the constant one
    whose share is nearest to one half. Fixed before any phase is seen.
    """
    middle = min(
        (p for p in grid if p.family == "constant"),
        key=lambda p: abs(p.share - 0.5),
        default=grid[-1],
    )
    return tuple(dict.fromkeys((grid[0], middle)))[:_WALK_MEMBERS]

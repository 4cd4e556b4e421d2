"""How improbable a large e-value is for a text without a mark, by importance sampling.

``python bench/rare.py`` prints it for the study's text whose evidence reached 10^4.28 under a key
that did not write it (study.md §11). Tokens, secret order and ring positions are those of text and
key. Counting random phases would take millions of them. Instead a payload is drawn from the prior,
a member from the grid, and each phase from the density that the step has for that payload. Drawn
like this, a set of phases is ``e_whole`` times as likely as without a mark, so it counts
``1 / e_whole``:

    P(e >= x) = E[ 1{e >= x} / e_whole ],     E[e] = E[ e / e_whole ].
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from limits import LIMITS, OUTSIDE, PROFILES, payload_within, random_key, read_under, unmarked_texts
from pura.detect.decode.exact import decide
from pura.detect.decode.likelihood import (
    SIXTEENTHS,
    Intervals,
    StepLikelihoods,
    log_likelihoods,
    step_likelihoods,
    window_likelihoods,
)
from pura.detect.decode.limited import Issuable
from pura.detect.decode.trellis import codeword_windows
from pura.scheme import Payload, encode

SEED: Final = 286
LEVELS: Final = (1.0, 2.0, 3.0, 4.27, 6.0)
POINTS: Final = 128 * SIXTEENTHS
"""Phases that a density is worked out at: 2,048, where it is blurred by 0.002 and more."""
STEPS_AT_ONCE: Final = 16  # 2 MB of densities


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A text under a key that did not write it.

    Attributes:
        code: Code of the payload.
        text: Number of the text, as ``bench/limits.py --real`` counts them.
        key: Number of its random key.
    """

    code: str = "spc"
    text: int = 27
    key: int = 6


def intervals_of(model: Any, trial: Trial) -> Intervals:
    """Return what the key sees of the text."""
    _, ids = unmarked_texts(model)[trial.text]
    key = random_key(trial.text, trial.key)
    return next(read_under(model, ids, [key], PROFILES[trial.code]))


def phases_drawn(steps: StepLikelihoods, member: int, window: Any, rng: Any) -> Any:
    """Draw a phase for each step from its density under one member of the grid; float64 [S].

    Args:
        steps: Prepared for phases of 0, so that a turn is a phase.
        member: Which member.
        window: int64 [S], what the codeword has at each step.
        rng: Random generator.
    """
    count, table = len(window), steps.table[member]
    turns = np.broadcast_to(np.arange(POINTS)[:, None], (POINTS, count))
    density = np.empty((POINTS, count))
    for first in range(0, count, STEPS_AT_ONCE):
        rows = slice(first, first + STEPS_AT_ONCE)
        part = StepLikelihoods(
            density=steps.density[[table], rows],
            arity_weights=steps.arity_weights[[table], rows],
            eta=steps.eta[[member], rows],
            table=np.zeros(1, dtype=np.int64),
        )
        (log_f,) = log_likelihoods(part, window_likelihoods(part, turns[:, rows]))
        density[:, rows] = np.exp(log_f[:, np.arange(log_f.shape[1]), window[rows]])
    total = np.cumsum(density, axis=0)
    drawn = rng.random(count) * total[-1]
    turn = (total < drawn).sum(axis=0)
    return ((turn + rng.random(count) - 0.5) / POINTS) % 1.0


def law(trial: Trial, seen: Intervals, fields: Any, draws: int, seed: int) -> list[str]:
    """Draw phases and weigh them; a row of the table."""
    rng, profile = np.random.default_rng(seed), PROFILES[trial.code]
    issuable = None if fields is None else Issuable.of(fields, OUTSIDE)
    grid = seen.model.grids[seen.prompt_known]
    plain = replace(seen, schedule=replace(seen.schedule, phase=np.zeros(len(seen.schedule))))
    steps = step_likelihoods(plain, grid, resolution=POINTS)
    log10_e, log10_whole = [], []
    for _ in range(draws):
        if fields is not None and rng.random() >= OUTSIDE:
            payload = payload_within(rng, fields)
        else:
            payload = Payload.from_bits(rng.integers(0, 2, profile.payload_bits).astype(np.uint8))
        window = codeword_windows(encode(payload, profile))[seen.schedule.index]
        phase = phases_drawn(steps, int(rng.integers(len(grid))), window, rng)
        drawn = replace(seen, schedule=replace(seen.schedule, phase=phase))
        decision = decide(drawn, issuable=issuable, least=np.inf)
        log10_e.append(decision.log10_e)
        log10_whole.append(decision.log_e_whole / np.log(10))
    e, weight = np.array(log10_e), 10.0 ** -np.array(log10_whole)
    observed = decide(seen, issuable=issuable, least=np.inf).log10_e
    return [
        "without" if fields is None else "with",
        f"{observed:.2f}",
        _mean(10.0**e * weight, "{:.2f}"),
        *(_mean(weight * (e >= level), "{:.1e}") for level in LEVELS),
    ]


def _mean(values: Any, form: str) -> str:
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return f"{form.format(values.mean())} ± {form.format(error)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, weigh, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000, help="sets of phases a row")
    args = parser.parse_args(arguments)
    _common.print_facts("How improbable a large e-value is without a mark", SEED)
    trial = Trial()
    seen = intervals_of(_common.load_builtin(), trial)
    head = ["limits", "observed log10 e", "mean e", *(f"P(e ≥ 10^{level:g})" for level in LEVELS)]
    fields = next(iter(LIMITS.values()))
    rows = [law(trial, seen, limits, args.draws, SEED) for limits in (None, fields)]
    _common.print_table(head, rows)


if __name__ == "__main__":
    main()

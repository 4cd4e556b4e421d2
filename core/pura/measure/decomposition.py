"""Effect of an attack on the evidence, in the paper's terms (its section on robustness).

Every reading of a codeword position by a step of the edited text gives one normalised aligned
value ``Z_t = (2 c_i - 1) Λ_t / B`` in [-1, 1]. A step is *synchronised* when its token and the
``W`` before it stood together in the original. Then

* ``ρ`` is the share of readings that are synchronised,
* ``μ_c`` the mean of ``Z`` over those, ``μ_adv`` over the others,
* ``Γ = ρ μ_c + (1 - ρ) μ_adv``, which is the mean of ``Z``,

and the paper bounds a position's error by ``exp(-T Γ²/2)`` with its ``T`` readings. Its ``Γ`` is a
lower limit that holds almost surely; here an estimate is used. So the number beside the measured
error is the bound for the case that the estimate were the limit, and not a guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.detect.decode.likelihood import (
    default_model,
    log_likelihoods,
    step_likelihoods,
    window_likelihoods,
)
from pura.detect.local.evidence import local_evidence
from pura.measure.evaluate import TextReading, intervals_of
from pura.scheme import F64, I64, U8, Profile, Schedule

Bools = npt.NDArray[np.bool_]

DRAWS: Final = 1000
"""Draws of the bootstrap."""
STRETCH: Final = 10
"""Tokens of one text that the bootstrap draws together, several times the context window."""
_SHARE: Final = 0.1  # share of desynchronised steps in the grid member that is used


def align(before: I64, after: I64) -> I64:
    """Return the original position of each token, by an edit alignment of least cost.

    Args:
        before: int64 [L].
        after: int64 [L'].

    Returns:
        int64 [L'], -1 for a token that was inserted or changed.
    """
    size = after.size
    columns = np.arange(size + 1)
    rows = np.empty((before.size + 1, size + 1), dtype=np.int32)
    rows[0] = columns
    for number, token in enumerate(before.tolist(), start=1):
        best = np.minimum(rows[number - 1, 1:] + 1, rows[number - 1, :-1] + (after != token))
        row = np.concatenate([[number], best])
        rows[number] = np.minimum.accumulate(row - columns) + columns
    origin = np.full(size, -1, dtype=np.int64)
    i, j = before.size, size
    while i and j:
        cost, same = rows[i, j], before[i - 1] == after[j - 1]
        if same and cost == rows[i - 1, j - 1]:
            i, j = i - 1, j - 1
            origin[j] = i
        elif cost == rows[i - 1, j - 1] + 1:
            i, j = i - 1, j - 1
        elif cost == rows[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return origin


def survived(origin: I64, window: int) -> Bools:
    """Return which tokens still follow their original context.

    Args:
        origin: int64 [L'], from :func:`align` or from an attack on tokens.
        window: ``W``.

    Returns:
        bool [L']; the first ``W`` tokens have no window and do not count.
    """
    out = np.zeros(origin.size, dtype=bool)
    if origin.size > window:
        in_order = origin[window:] >= window
        for back in range(1, window + 1):
            in_order &= origin[window - back : -back] == origin[window:] - back
        out[window:] = in_order
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class BitReadings:
    """All readings of one text, with one entry for each.

    Attributes:
        token: int64 [R], token of the edited text.
        position: int64 [R], codeword position.
        z: float64 [R], ``Z_t``.
        synchronised: bool [R], whether the step is synchronised.
        length: ``n``.
    """

    token: I64
    position: I64
    z: F64
    synchronised: Bools
    length: int


def bit_readings(
    steps: Schedule, llr: F64, bound: float, codeword: U8, synchronised: Bools
) -> BitReadings:
    """Compare the local log ratios of a text with its codeword.

    Args:
        steps: The steps of the edited text that carry bits.
        llr: float64 [S, 3], positive for 1; NaN beyond a step's arity.
        bound: ``B``, upper bound of the ratios.
        codeword: uint8 [n].
        synchronised: bool [L'], from :func:`survived`.
    """
    row, j = np.nonzero(np.isfinite(llr))
    position = (steps.index[row] + j) % codeword.size
    sign = 2.0 * codeword[position] - 1
    return BitReadings(
        token=steps.token[row],
        position=position,
        z=sign * llr[row, j] / bound,
        synchronised=synchronised[steps.token[row]],
        length=codeword.size,
    )


def paper_llrs(reading: TextReading, steps: Schedule, profile: Profile) -> tuple[F64, float]:
    """Return the paper's local LLRs, float64 [S, 3], and their bound ``log((1-ε)/ε)``."""
    local = local_evidence(steps, reading.lo, reading.hi, profile)
    return local.llr_nats, float(np.log(1 / profile.llr_clip - 1))


def exact_llrs(
    reading: TextReading,
    steps: Schedule,
    profile: Profile,
    *,
    prompt_known: bool,
) -> tuple[F64, float]:
    """Return the exact log ratio of each bit a step may read, and the largest in the text.

    The member of the decoder's grid is used with a chance of desynchronised steps nearest to one
    in ten. A step's arity is uncertain there, so it reads three bits, the later ones with little
    weight. The ratios are bounded only by the blur; they are divided by their largest, so ``Γ`` of
    different texts is on different scales.

    Returns:
        float64 [S, 3] and the bound.
    """
    model = default_model()
    points = [p for p in model.grids[prompt_known] if p.family == "constant"]
    point = min(points, key=lambda p: abs(p.share - _SHARE))
    parts = step_likelihoods(
        intervals_of(reading, steps, profile, prompt_known=prompt_known, model=model), (point,)
    )
    log_f = log_likelihoods(parts, window_likelihoods(parts))[0]
    cube = np.exp(log_f).reshape(-1, 2, 2, 2)
    sums = [cube.sum(axis=tuple(a for a in (1, 2, 3) if a != j + 1)) for j in range(3)]
    llr = np.stack([np.log(s[:, 1]) - np.log(s[:, 0]) for s in sums], axis=1)
    return llr, max(float(np.abs(llr).max(initial=0.0)), 1e-9)


@dataclass(frozen=True, kw_only=True)
class Margin:
    """The decomposition, as means over positions and texts.

    Attributes:
        rho: ``ρ̂``.
        mu_c: ``μ̂_c``; 0 if nothing survived.
        mu_adv: ``μ̂_adv``; 0 if everything survived.
        gamma: ``Γ̂``.
        readings: ``T``, mean readings of a position.
        error: Share of positions with a sum that is not positive.
        bound: Mean over positions of ``exp(-T Γ̂²/2)``, 1 if ``Γ̂`` is not positive.
        text_error: Share of texts with such a position.
        text_bound: Mean over texts of the sum of the positions' bounds, at most 1.
    """

    rho: float
    mu_c: float
    mu_adv: float
    gamma: float
    readings: float
    error: float
    bound: float
    text_error: float
    text_bound: float


NAMES: Final = tuple(f.name for f in fields(Margin))


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """A margin with 95 % intervals of the bootstrap.

    Attributes:
        margin: Margin of all texts.
        low: Lower ends of the intervals.
        high: Upper ends of the intervals.
        texts: Number of texts. Of several, complete texts are drawn. Of a single one, stretches of
            :data:`STRETCH` tokens are drawn, which shows the uncertainty for texts with this kind
            of evidence, not for other texts.
    """

    margin: Margin
    low: Margin
    high: Margin
    texts: int


@dataclass(frozen=True, kw_only=True)
class BitMargin:
    """One codeword position of one text.

    Attributes:
        readings: ``T`` of the position.
        gamma: Mean of its ``Z``; 0 without a reading.
        wrong: Whether the sum of its ``Z`` is not positive.
        bound: ``exp(-T Γ̂²/2)`` with its ``T`` and the text's ``Γ̂``; 1 if that is not positive.
    """

    readings: int
    gamma: float
    wrong: bool
    bound: float


def decompose(texts: Sequence[BitReadings], rng: np.random.Generator) -> Decomposition:
    """Decompose the readings of some texts.

    Args:
        texts: At least one.
        rng: Randomness of the bootstrap.
    """
    sums = np.stack([_sums(text) for text in texts])
    if len(texts) > 1:
        draws = rng.integers(0, len(texts), (DRAWS, len(texts)))
        values = np.array([_values(sums[rows]) for rows in draws])
    else:
        parts = _stretches(texts[0])
        times = rng.multinomial(len(parts), np.full(len(parts), 1 / len(parts)), DRAWS)
        values = np.array([_values(np.tensordot(t, parts, 1)[None]) for t in times.astype(float)])
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    return Decomposition(
        margin=_margin(_values(sums)), low=_margin(low), high=_margin(high), texts=len(texts)
    )


def margin_of(texts: Sequence[BitReadings]) -> Margin:
    """Return the margin of some texts alone, without intervals."""
    return _margin(_values(np.stack([_sums(text) for text in texts])))


def bits_of(text: BitReadings) -> tuple[BitMargin, ...]:
    """Return the margin of each codeword position of a text."""
    total, _, z_kept, z_lost = _sums(text)
    gamma = max(margin_of([text]).gamma, 0.0)
    return tuple(
        BitMargin(
            readings=int(t),
            gamma=float(z / t) if t else 0.0,
            wrong=bool(z <= 0),
            bound=float(np.exp(-t * gamma**2 / 2)),
        )
        for t, z in zip(total, z_kept + z_lost, strict=True)
    )


def _margin(values: F64) -> Margin:
    return Margin(**dict(zip(NAMES, values.tolist(), strict=True)))


def _stretches(text: BitReadings) -> F64:
    """Return the sums of :func:`_sums` of each stretch of the text; float64 [S, 4, n]."""
    numbers = text.token // STRETCH
    return np.stack(
        [
            _sums(
                BitReadings(
                    token=text.token[inside],
                    position=text.position[inside],
                    z=text.z[inside],
                    synchronised=text.synchronised[inside],
                    length=text.length,
                )
            )
            for inside in (numbers == number for number in range(int(numbers.max(initial=0)) + 1))
        ]
    )


def _sums(text: BitReadings) -> F64:
    """Return by position: all and synchronised readings, sums of Z of both; float64 [4, n]."""
    n = text.length

    def add(weights: F64 | None, selected: Bools) -> F64:
        selected_weights = None if weights is None else weights[selected]
        return np.bincount(text.position[selected], weights=selected_weights, minlength=n).astype(
            np.float64
        )

    everywhere = np.ones(text.z.size, dtype=bool)
    return np.stack(
        [
            add(None, everywhere),
            add(None, text.synchronised),
            add(text.z, text.synchronised),
            add(text.z, ~text.synchronised),
        ]
    )


def _values(sums: F64) -> F64:
    """Return the fields of a margin from sums, float64 [K, 4, n]."""
    total, synchronised, z_kept, z_lost = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3]
    read = total > 0
    rho = _mean(synchronised[read] / total[read])
    mu_c = _mean(z_kept[synchronised > 0] / synchronised[synchronised > 0])
    lost = total - synchronised
    mu_adv = _mean(z_lost[lost > 0] / lost[lost > 0])
    z = z_kept + z_lost
    gamma = _mean(z[read] / total[read])
    wrong = z <= 0
    bounds = np.exp(-total * max(gamma, 0.0) ** 2 / 2)
    return np.array(
        [
            rho,
            mu_c,
            mu_adv,
            gamma,
            float(total.mean()),
            float(wrong.mean()),
            float(bounds.mean()),
            float(wrong.any(axis=1).mean()),
            float(np.minimum(bounds.sum(axis=1), 1.0).mean()),
        ]
    )


def _mean(values: F64) -> float:
    return float(values.mean()) if values.size else 0.0

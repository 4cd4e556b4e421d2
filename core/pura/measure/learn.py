"""Learning the parameters of the step likelihood from texts with known truth (evidence.md §3).

For texts that were generated here, the anchor of every step is known. Its distance from the
verifier's interval is modelled as a mixture of blurs; EM learns the shares for each position bin.
The difference of the two entropies is the noise that softens the arity. The learnt parameters are
frozen, and results are never reported on the texts used for learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.detect.decode.likelihood import (
    LikelihoodModel,
    MismatchTable,
    arity_weights,
    blur_scale,
    blurred_interval,
)
from pura.scheme import F64, I64, Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of
from pura.scheme.schedule import Gate

_ROUNDS: Final = 500
_TOLERANCE: Final = 1e-7
_RARE: Final = 1e-3  # lower bound of the probability of an arity, which limits the cost of outliers
NOISES: Final = tuple(float(x) for x in np.geomspace(0.005, 3.0, 30))
SHIFTS: Final = tuple(float(x) for x in np.arange(-24, 13) / 8)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownSteps:
    """Steps with known truth, joined from many texts.

    Attributes:
        position: int64 [N], token position in its text.
        arity: int64 [N], bits that the source embedded, 0 … 3; -1 for a repeated context, which
            tells nothing about entropies.
        anchor: float64 [N], the source's anchor; NaN if it embedded no bits.
        lo: float64 [N], the verifier's interval.
        hi: float64 [N].
        entropy_bits: float64 [N], the verifier's.
    """

    position: I64
    arity: I64
    anchor: F64
    lo: F64
    hi: F64
    entropy_bits: F64


def known_steps(
    ids: I64,
    source_entropy_bits: F64,
    key: SecretKey,
    payload: Payload,
    profile: Profile,
    *,
    entropy_bits: F64,
    lo: F64,
    hi: F64,
) -> KnownSteps:
    """Combine the verifier's intervals of an unedited text with the source's anchors.

    Args:
        ids: int64 [L].
        source_entropy_bits: float64 [L], entropies that the generator saw.
        key: The key.
        payload: The embedded payload.
        profile: The profile.
        entropy_bits: float64 [L], the verifier's.
        lo: float64 [L], the verifier's.
        hi: float64 [L], the verifier's.

    Returns:
        The steps of all tokens with a context.
    """
    walk, code = Scheduler(key, profile), encode(payload, profile).tolist()
    arities, anchors = [], []
    for token, entropy in zip(ids.tolist(), source_entropy_bits.tolist(), strict=True):
        step = walk.step(entropy)
        bits = [code[(step.index + j) % len(code)] for j in range(step.arity)]
        arities.append(-1 if step.gate is Gate.REPEATED_CONTEXT else step.arity)
        anchors.append(anchor(step, sector_of(bits)) if bits else np.nan)
        walk.push(token)
    rows = slice(profile.context_window, None)
    return KnownSteps(
        position=np.arange(ids.size)[rows],
        arity=np.array(arities, dtype=np.int64)[rows],
        anchor=np.array(anchors, dtype=np.float64)[rows],
        lo=lo[rows],
        hi=hi[rows],
        entropy_bits=entropy_bits[rows],
    )


def join(parts: Sequence[KnownSteps]) -> KnownSteps:
    """Join the steps of many texts."""
    return KnownSteps(
        **{name: np.concatenate([vars(p)[name] for p in parts]) for name in vars(parts[0])}
    )


def component_densities(steps: KnownSteps, blur_widths: F64) -> F64:
    """Return the density of each component at the true anchors.

    Returns:
        float64 [N, C + 1]; the last column is the uniform, 1 throughout.
    """
    scale = blur_scale(steps.lo, steps.hi)
    columns = [
        blurred_interval(steps.lo, steps.hi, steps.anchor, width * scale)
        for width in blur_widths.tolist()
    ]
    return np.stack([*columns, np.ones(steps.position.size)], axis=1)


def mixture_weights(densities: F64, guess: F64 | None = None, *, prior: float = 1.0) -> F64:
    """Return the shares of a mixture that make the observations most probable (EM).

    Args:
        densities: float64 [N, C], density of each component at each observation.
        guess: float64 [C], prior mean of the shares; None for uniform.
        prior: Weight of the guess, in observations; above zero it keeps every share positive, so
            that no later text is impossible.

    Returns:
        float64 [C], adding up to 1.
    """
    count = densities.shape[1]
    believed = prior * (np.full(count, 1.0 / count) if guess is None else guess)
    shares = np.full(count, 1.0 / count)
    before = -np.inf
    for _ in range(_ROUNDS):
        joint = densities * shares
        total = joint.sum(axis=1)
        score = float(np.log(total).sum() + (believed * np.log(shares)).sum())
        gathered = (joint / total[:, None]).sum(axis=0) + believed
        shares = gathered / gathered.sum()
        if score - before < _TOLERANCE * max(1.0, abs(score)):
            break
        before = score
    return np.asarray(shares)


def entropy_gap(steps: KnownSteps, thresholds: tuple[float, float, float]) -> tuple[float, float]:
    """Return shift and spread of the source's entropy that make its arities most probable.

    The search covers :data:`SHIFTS` and :data:`NOISES`, on the steps that pass the verifier's gate.

    Returns:
        Mean of the source's entropy minus the verifier's, and the standard deviation around it;
        both in bits.
    """
    read = (steps.arity >= 0) & (steps.entropy_bits >= thresholds[0])
    entropy, arity = steps.entropy_bits[read], steps.arity[read]
    if not arity.size:
        return 0.0, NOISES[-1]
    rows, bins = np.arange(arity.size), np.zeros(arity.size, dtype=np.int64)
    best = (-np.inf, 0.0, NOISES[-1])
    for shift in SHIFTS:
        for noise in NOISES:
            table = MismatchTable(
                name="",
                weights=np.zeros((1, 1)),
                uniform=np.ones(1),
                entropy_shift_bits=np.array([shift]),
                entropy_noise_bits=np.array([noise]),
            )
            share = arity_weights(table, bins, entropy, thresholds)[rows, arity]
            best = max(best, (float(np.log(np.maximum(share, _RARE)).sum()), shift, noise))
    return best[1], best[2]


def learn_table(
    name: str,
    steps: KnownSteps,
    model: LikelihoodModel,
    thresholds: tuple[float, float, float],
) -> MismatchTable:
    """Learn one mismatch table.

    The shares over all bins, mixed with a little of the uniform, are the prior of each bin, which
    keeps bins with few steps stable.

    Args:
        name: Name of the table.
        steps: Steps of the learning texts, read by the verifier of the table.
        model: Widths and position bins.
        thresholds: Entropy thresholds of the gate.
    """
    bins = model.bins(steps.position)
    weights, gaps = [], []
    carried = _where(steps, steps.arity > 0)
    pooled = mixture_weights(component_densities(carried, model.blur_widths))
    guess = 0.9 * pooled + 0.1 / pooled.size
    for number in range(model.position_edges.size + 1):
        bin_steps = _where(steps, bins == number)
        carried = _where(bin_steps, bin_steps.arity > 0)
        weights.append(
            mixture_weights(component_densities(carried, model.blur_widths), guess, prior=20.0)
        )
        gaps.append(entropy_gap(bin_steps, thresholds))
    table = np.array(weights)
    return MismatchTable(
        name=name,
        weights=table[:, :-1],
        uniform=table[:, -1],
        entropy_shift_bits=np.array([shift for shift, _ in gaps]),
        entropy_noise_bits=np.array([noise for _, noise in gaps]),
    )


def rounded(table: MismatchTable) -> MismatchTable:
    """Round a table to five digits, so that its rows still add up to one."""
    shares: F64 = np.round(np.column_stack([table.weights, table.uniform]), 5).astype(np.float64)
    largest = shares.argmax(axis=1)
    shares[np.arange(largest.size), largest] += 1 - shares.sum(axis=1)
    shares = np.round(shares, 5).astype(np.float64)
    return replace(
        table,
        weights=shares[:, :-1],
        uniform=shares[:, -1],
        entropy_shift_bits=np.round(table.entropy_shift_bits, 4),
        entropy_noise_bits=np.round(table.entropy_noise_bits, 4),
    )


def _where(steps: KnownSteps, mask: npt.NDArray[np.bool_]) -> KnownSteps:
    return KnownSteps(**{name: array[mask] for name, array in vars(steps).items()})

"""The exact decoder: evidence, payload, candidates and bit posteriors (docs/evidence.md §2, §3).

For every member of the grid of likelihoods the trellis adds up the likelihood ratio of all
payloads. Their mean over payloads and grid is the e-value. Decoding averages over the grid too: the
strongest payloads of the members that carry weight are scored under all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.decode.likelihood import (
    StepLikelihoods,
    log_likelihoods,
    step_likelihoods,
    window_likelihoods,
)
from pura.decode.model import GridPoint, LikelihoodModel, default_model
from pura.decode.trellis import Trellis, make_trellis
from pura.decode.windows import codeword_scores, codeword_windows, window_potentials
from pura.scheme.codeword import encode, encode_rows
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile
from pura.scheme.schedule import Schedule

F64 = npt.NDArray[np.float64]

_LEAST_WEIGHT: Final = 0.02  # grid members below this share name no candidates of their own
_MOST_MEMBERS: Final = 3
_SCORED_AT_ONCE: Final = 2048  # codewords; 20 MB at 12 grid points and 108 positions
_NEGLIGIBLE_REST: Final = 1e-6  # mass outside the list that bit posteriors may leave out


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A payload that the evidence leaves in question.

    Attributes:
        payload: Its bits.
        log_posterior: Natural log of its weight, all payloads being equally likely before.
    """

    payload: Payload
    log_posterior: float

    @property
    def posterior(self) -> float:
        """Weight among all payloads, in [0, 1]."""
        return float(min(1.0, np.exp(self.log_posterior)))


@dataclass(frozen=True, kw_only=True)
class ExactDecision:
    """What the exact decoder makes of a text.

    Attributes:
        payload: The most probable payload. Means nothing when ``usable`` is 0.
        codeword: uint8 [n], its codeword.
        candidates: The most probable payloads, strongest first.
        bit_posteriors: float64 [L_m], probability that each payload bit is 1.
        log_e: Natural log of the e-value: the mean likelihood ratio over payloads and grid.
        grid: The grid points.
        log_e_grid: float64 [G], natural log of the mean likelihood ratio at each of them.
        grid_point: The one with the largest evidence.
        log_sum_grid: float64 [G], log of the sum over payloads.
        potentials: ``φ``, float64 [G, n, 8].
        token_log_f: float64 [L], natural log of each token's likelihood ratio for the decoded
            payload at ``grid_point``; 0 for tokens that carry no bits.
        token_density: float64 [L], the same without desynchronisation, as a plain ratio; 1 for
            tokens that carry no bits. What :mod:`pura.decode.passages` works on.
        usable: ``S``, steps that carry bits.
        prompt_known: Which grid was used.
        model_fingerprint: Of the frozen numbers.
    """

    payload: Payload
    codeword: npt.NDArray[np.uint8]
    candidates: tuple[Candidate, ...]
    bit_posteriors: F64
    log_e: float
    grid: tuple[GridPoint, ...]
    log_e_grid: F64
    grid_point: int
    log_sum_grid: F64
    potentials: F64
    token_log_f: F64
    token_density: F64
    usable: int
    prompt_known: bool
    model_fingerprint: str

    @property
    def log10_e(self) -> float:
        """``log10`` of the e-value."""
        return float(self.log_e / np.log(10))

    def log_posteriors(self, bits: npt.NDArray[np.uint8], profile: Profile) -> F64:
        """Return the log posterior of any payloads, all payloads being equally likely before.

        Args:
            bits: uint8 [C, L_m], for example those of a register; millions of rows are scored a
                few thousand at a time.
            profile: The profile of the decision.

        Returns:
            float64 [C], natural log; ``exp`` of it sums to 1 over all ``2**L_m`` payloads.
        """
        parts = []
        for start in range(0, len(bits), _SCORED_AT_ONCE):
            words = encode_rows(bits[start : start + _SCORED_AT_ONCE], profile)
            scores = codeword_scores(self.potentials, words)
            parts.append(_log_posteriors(scores, self.log_sum_grid))
        return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True, kw_only=True)
class _Weighed:
    """The evidence before anything is decoded; shapes as in :class:`ExactDecision`."""

    steps: StepLikelihoods
    windows: F64
    log_f: F64
    phi: F64
    trellis: Trellis
    log_sums: F64
    log_e_grid: F64

    @property
    def best(self) -> int:
        return int(np.argmax(self.log_e_grid))

    @property
    def log_e(self) -> float:
        if not self.steps.eta.shape[1]:
            return 0.0
        return float(np.logaddexp.reduce(self.log_e_grid) - np.log(self.log_e_grid.size))


def _weigh(
    schedule: Schedule,
    entropy_bits: F64,
    lo: F64,
    hi: F64,
    profile: Profile,
    *,
    model: LikelihoodModel,
    grid: tuple[GridPoint, ...],
    token_probability: F64 | None,
) -> _Weighed:
    steps = step_likelihoods(
        schedule, entropy_bits, lo, hi, profile, model, grid, token_probability=token_probability
    )
    windows = window_likelihoods(steps)
    log_f = log_likelihoods(steps, windows)
    phi = window_potentials(log_f, schedule.index, profile.codeword_length)
    trellis = make_trellis(profile)
    log_payloads = profile.payload_bits * np.log(2)
    # Without a step every payload weighs 1: exactly, not up to rounding.
    log_sums = trellis.log_sum(phi) if len(schedule) else np.full(len(grid), log_payloads)
    return _Weighed(
        steps=steps,
        windows=windows,
        log_f=log_f,
        phi=phi,
        trellis=trellis,
        log_sums=log_sums,
        log_e_grid=log_sums - log_payloads,
    )


def log_evidence(
    schedule: Schedule,
    entropy_bits: F64,
    lo: F64,
    hi: F64,
    profile: Profile,
    *,
    model: LikelihoodModel | None = None,
    prompt_known: bool = False,
    token_probability: F64 | None = None,
) -> float:
    """Return the natural log of the e-value and decode nothing; arguments as :func:`decide`."""
    model = default_model() if model is None else model
    return _weigh(
        schedule,
        entropy_bits,
        lo,
        hi,
        profile,
        model=model,
        grid=model.grids[prompt_known],
        token_probability=token_probability,
    ).log_e


def decide(
    schedule: Schedule,
    entropy_bits: F64,
    lo: F64,
    hi: F64,
    profile: Profile,
    *,
    model: LikelihoodModel | None = None,
    prompt_known: bool = False,
    candidates: int = 8,
    token_probability: F64 | None = None,
) -> ExactDecision:
    """Weigh the evidence of a text and decode it.

    Args:
        schedule: The steps that carry bits.
        entropy_bits: float64 [L], the verifier's.
        lo: float64 [L], start of every token's interval.
        hi: float64 [L], end of it.
        profile: Code, thresholds, context window.
        model: The frozen numbers of the likelihood; the shipped ones when absent.
        prompt_known: The verifier read the prompt before the text.
        candidates: How many payloads to list, at least 1.
        token_probability: float64 [L]; ``hi - lo`` when absent.

    Returns:
        The decision. When no step carries bits, ``log_e`` is exactly 0 and every bit posterior
        one half: the text says nothing.
    """
    model = default_model() if model is None else model
    grid = model.grids[prompt_known]
    weighed = _weigh(
        schedule,
        entropy_bits,
        lo,
        hi,
        profile,
        model=model,
        grid=grid,
        token_probability=token_probability,
    )
    found = _candidates(weighed, profile, max(1, candidates))
    codeword = encode(found[0].payload, profile)
    token_log_f, token_density = _by_token(weighed, codeword, schedule, lo.size)
    return ExactDecision(
        payload=found[0].payload,
        codeword=codeword,
        candidates=tuple(found[: max(1, candidates)]),
        bit_posteriors=_bit_posteriors(weighed, found, usable=len(schedule)),
        log_e=weighed.log_e,
        grid=grid,
        log_e_grid=weighed.log_e_grid,
        grid_point=weighed.best,
        log_sum_grid=weighed.log_sums,
        potentials=weighed.phi,
        token_log_f=token_log_f,
        token_density=token_density,
        usable=len(schedule),
        prompt_known=prompt_known,
        model_fingerprint=model.fingerprint,
    )


def _by_token(
    weighed: _Weighed, codeword: npt.NDArray[np.uint8], schedule: Schedule, tokens: int
) -> tuple[F64, F64]:
    """Return log likelihood and synchronised density of each token for one codeword."""
    read = codeword_windows(codeword)[schedule.index]
    rows = np.arange(len(schedule))
    log_f = np.zeros(tokens)
    log_f[schedule.token] = weighed.log_f[weighed.best, rows, read]
    density = np.ones(tokens)
    density[schedule.token] = weighed.windows[weighed.steps.table[weighed.best], rows, read]
    return log_f, density


def _log_posteriors(scores: F64, log_sums: F64) -> F64:
    """Average over the grid: scores [G, C] and log sums [G] to log posteriors [C]."""
    total = np.logaddexp.reduce(log_sums)
    return np.asarray(np.minimum(np.logaddexp.reduce(scores, axis=0) - total, 0.0))


def _members(log_sums: F64) -> npt.NDArray[np.int64]:
    """Return the grid points that carry weight, strongest first; at least one."""
    weight = np.exp(log_sums - np.logaddexp.reduce(log_sums))
    order = np.argsort(-weight, kind="stable")[:_MOST_MEMBERS]
    return np.asarray(order[(weight[order] >= _LEAST_WEIGHT) | (np.arange(order.size) == 0)])


def _candidates(weighed: _Weighed, profile: Profile, count: int) -> list[Candidate]:
    """Return the payloads that any strong grid point lists, by their averaged posterior."""
    trellis, phi, log_sums = weighed.trellis, weighed.phi, weighed.log_sums
    payloads: dict[str, Payload] = {}
    for g in _members(log_sums):
        for bits, _ in trellis.k_best(phi[g], count):
            payload = Payload.from_bits(bits)
            payloads.setdefault(payload.text, payload)
    listed = list(payloads.values())
    words = np.stack([encode(p, profile) for p in listed])
    log_posterior = _log_posteriors(codeword_scores(phi, words), log_sums)
    order = np.argsort(-log_posterior, kind="stable")
    return [Candidate(payload=listed[i], log_posterior=float(log_posterior[i])) for i in order]


def _bit_posteriors(weighed: _Weighed, found: list[Candidate], *, usable: int) -> F64:
    """Return the bits' posteriors, averaged over the grid points that carry weight."""
    trellis, phi, log_sums = weighed.trellis, weighed.phi, weighed.log_sums
    if not usable:
        return np.full(trellis.payload_bits, 0.5)
    weight = np.exp([c.log_posterior for c in found])
    bits = np.stack([c.payload.bits for c in found]).astype(np.float64)
    rest = 1.0 - float(weight.sum())
    if rest <= _NEGLIGIBLE_REST:
        # The list holds all that matters; no bit is further from its posterior than the rest.
        return np.asarray(np.clip(weight @ bits + max(rest, 0.0) / 2, 0.0, 1.0))
    members = _members(log_sums)
    share = np.exp(log_sums[members] - np.logaddexp.reduce(log_sums[members]))
    each = np.stack([trellis.posteriors(phi[g]) for g in members])
    return np.asarray(np.clip(share @ each, 0.0, 1.0))

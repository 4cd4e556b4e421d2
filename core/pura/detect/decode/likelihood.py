"""What an interval says of a sector: the likelihood model and log-likelihood ratios.

evidence.md §3. They are learnt on other texts than any under audit, shipped in
``resources/likelihood.json`` with the conditions they were learnt under, and never fitted to the
text at hand: that is what keeps the false-positive bound a theorem.

What the decoder weighs, and how much likelier an anchor is under the mark.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from pura.base.catalogue import phrase
from pura.base.errors import PuraError, unusable
from pura.base.json_text import former, sha256
from pura.base.paths import resource
from pura.detect.local.evidence import circular_distance, kernel_overlap, kernel_value
from pura.scheme import F64, I64
from pura.scheme.gray import MAX_ARITY, sector_of
from pura.scheme.profile import Profile
from pura.scheme.schedule import Schedule

FAMILIES: Final = ("constant", "plausibility")
MAX_GRID: Final = 12
MAX_CHAINS: Final = 32
_SUM_TOLERANCE: Final = 1e-6
_PROMPT: Final = {False: "prompt-unknown", True: "prompt-known"}


class LikelihoodError(PuraError):
    """The table of the step likelihood is damaged."""

    code = "likelihood"


def _refuse(name: str) -> LikelihoodError:
    return unusable(LikelihoodError, "likelihood", phrase("what.unfit"), name)


@dataclass(frozen=True, kw_only=True)
class MismatchTable:
    """How far the true anchor lies from the verifier's interval, by position in the text.

    Attributes:
        name: Its name.
        weights: float64 [P, C], share of each blur width in each position bin.
        uniform: float64 [P], share that no width explains: the anchor is anywhere. Each row of
            ``weights`` and this share add up to 1.
        entropy_shift_bits: float64 [P], mean of the source's entropy minus the verifier's.
        entropy_noise_bits: float64 [P], standard deviation around that mean; the two soften the
            arity near a threshold.
    """

    name: str
    weights: F64
    uniform: F64
    entropy_shift_bits: F64
    entropy_noise_bits: F64


@dataclass(frozen=True, kw_only=True)
class GridPoint:
    """One member of the family of likelihoods that the e-value averages over.

    Attributes:
        table: Name of the mismatch table.
        family: ``constant``, every step is desynchronised with the same probability, or
            ``plausibility``, a step is the more probably so the less the model expected its token
            or one of its context.
        share: The constant probability ``η`` of a desynchronised step; with ``plausibility`` the
            prior share ``r`` of edited tokens.
    """

    table: str
    family: str
    share: float


@dataclass(frozen=True, kw_only=True)
class ChainPoint(GridPoint):
    """One member of the family of chains that the list's evidence averages over.

    Its family and share are of edited tokens of a passage.

    Attributes:
        mean_passage: Expected length of a marked passage, in tokens.
    """

    mean_passage: float


@dataclass(frozen=True, kw_only=True)
class PassageModel:
    """Frozen numbers of :mod:`pura.detect.decode.chain`.

    Attributes:
        passages: How many passages a text is expected to begin, whatever its length …
        least_gap: … with gaps of at least so many tokens between them, on average.
        begins_marked: Chance that the text begins inside a passage.
        residual: Share of clean steps whose anchor is anywhere all the same.
        young_tokens: For how many tokens, on average, the verifier is as badly off in a passage …
        young_position: … as it is at this position of a text.
        young_residual: Share of steps there whose anchor is anywhere all the same.
        least_tokens: A shorter passage is not reported.
        members: Chains for a verifier that knows the prompt (True) or not (False).
    """

    passages: float
    least_gap: float
    begins_marked: float
    residual: float
    young_tokens: float
    young_position: int
    young_residual: float
    least_tokens: int
    members: dict[bool, tuple[ChainPoint, ...]]


@dataclass(frozen=True, kw_only=True)
class LikelihoodModel:
    """Everything that ``f_t`` needs beside the text (evidence.md §3).

    Attributes:
        version: Which table this is.
        provenance: Where its numbers come from, in words.
        blur_widths: float64 [C], half-widths of the raised cosine at the middle of the circle.
        position_edges: int64 [P - 1], token positions at which a new bin begins.
        tables: The mismatch tables.
        grids: Grid points for a verifier that knows the prompt (True) or not (False).
        passages: Chains over marked passages and edits.
    """

    version: str
    provenance: str
    blur_widths: F64
    position_edges: I64
    tables: tuple[MismatchTable, ...]
    grids: dict[bool, tuple[GridPoint, ...]]
    passages: PassageModel

    @classmethod
    def from_dict(cls, data: Any) -> LikelihoodModel:
        """Read a model from parsed JSON.

        Raises:
            LikelihoodError: Something is missing, does not add up or is out of range.
        """
        try:
            model = cls(
                version=str(data["version"]),
                provenance=str(data["provenance"]),
                blur_widths=np.array(data["blur_widths"], dtype=np.float64),
                position_edges=np.array(data["position_edges"], dtype=np.int64),
                tables=tuple(_table(entry) for entry in data["tables"]),
                grids=_members(data["grids"], GridPoint),
                passages=_passages(data["passages"]),
            )
        except (KeyError, TypeError, ValueError):
            raise unusable(LikelihoodError, "likelihood", phrase("likelihood.entry")) from None
        _check(model)
        return model

    @classmethod
    def load(cls, path: Path) -> LikelihoodModel:
        """Read a model from a file.

        Raises:
            LikelihoodError: The file cannot be read, or is not a valid table.
        """
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            raise unusable(LikelihoodError, "likelihood", phrase("what.no-json")) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain JSON values."""
        return {
            "version": self.version,
            "provenance": self.provenance,
            "blur_widths": self.blur_widths.tolist(),
            "position_edges": self.position_edges.tolist(),
            "tables": [
                {n: v if isinstance(v, str) else v.tolist() for n, v in vars(t).items()}
                for t in self.tables
            ],
            "grids": _plain(self.grids),
            "passages": vars(self.passages) | {"members": _plain(self.passages.members)},
        }

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits over every number; words do not count."""
        data = self.to_dict()
        del data["provenance"]
        return sha256(former(data))[:16]

    def bins(self, positions: I64) -> I64:
        """Return the position bin of tokens; int64, the shape of ``positions``."""
        return np.searchsorted(self.position_edges, positions, side="right").astype(np.int64)


P = TypeVar("P", bound=GridPoint)


def _plain(members: Mapping[bool, Sequence[GridPoint]]) -> dict[str, list[dict[str, Any]]]:
    return {_PROMPT[known]: [vars(p).copy() for p in points] for known, points in members.items()}


def _members(entry: Any, kind: type[P]) -> dict[bool, tuple[P, ...]]:
    return {known: tuple(kind(**p) for p in entry[name]) for known, name in _PROMPT.items()}


def _passages(entry: Any) -> PassageModel:
    return PassageModel(**entry | {"members": _members(entry["members"], ChainPoint)})


def _table(entry: Any) -> MismatchTable:
    names = [f.name for f in fields(MismatchTable) if f.name != "name"]
    arrays = {name: np.array(entry[name], dtype=np.float64) for name in names}
    return MismatchTable(name=str(entry["name"]), **arrays)


def _check(model: LikelihoodModel) -> None:
    widths, bins = model.blur_widths, model.position_edges.size + 1
    if widths.ndim != 1 or not widths.size or not np.all((widths > 0) & (widths <= 0.5)):
        raise _refuse("blur_widths")
    if np.any(np.diff(model.position_edges) <= 0):
        raise _refuse("position_edges")
    for table in model.tables:
        _check_table(table, bins, widths.size)
    names = [t.name for t in model.tables]
    if len(set(names)) != len(names):
        raise _refuse("tables")
    for grid in model.grids.values():
        if not 1 <= len(grid) <= MAX_GRID:
            raise _refuse("grids")
        if not all(_fits(point, names) for point in grid):
            raise _refuse("grids")
    _check_passages(model.passages, names)


def _fits(point: GridPoint, tables: list[str]) -> bool:
    return point.table in tables and point.family in FAMILIES and 0 < point.share < 1


def _check_passages(passages: PassageModel, tables: list[str]) -> None:
    for members in passages.members.values():
        if not 1 <= len(members) <= MAX_CHAINS:
            raise _refuse("passages")
        if not all(_fits(point, tables) and point.mean_passage > 1 for point in members):
            raise _refuse("passages")
    if not (
        passages.passages > 0
        and passages.least_gap > 1
        and 0 < passages.begins_marked < 1
        and 0 < passages.residual < 1
        and passages.young_tokens > 1
        and passages.young_position >= 0
        and 0 < passages.young_residual < 1
        and passages.least_tokens >= 1
    ):
        raise _refuse("passages")


def _check_table(table: MismatchTable, bins: int, widths: int) -> None:
    if table.weights.shape != (bins, widths) or table.uniform.shape != (bins,):
        raise _refuse(f"{table.name}.weights")
    total = table.weights.sum(axis=1) + table.uniform
    low = min(float(table.weights.min()), float(table.uniform.min()))
    if not low >= 0 or not np.all(np.abs(total - 1) <= _SUM_TOLERANCE):
        raise _refuse(f"{table.name}.weights")
    noise = table.entropy_noise_bits
    if noise.shape != (bins,) or not all(x >= 0 and math.isfinite(x) for x in noise.tolist()):
        raise _refuse(f"{table.name}.entropy_noise_bits")
    shift = table.entropy_shift_bits
    if shift.shape != (bins,) or not np.all(np.isfinite(shift)):
        raise _refuse(f"{table.name}.entropy_shift_bits")


@cache
def default_model() -> LikelihoodModel:
    """Return the shipped model.

    Raises:
        LikelihoodError: The shipped table is damaged.
    """
    return LikelihoodModel.load(resource("likelihood.json"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """What one key sees of a reading.

    Attributes:
        schedule: The steps that carry bits.
        entropy_bits: float64 [L], the verifier's.
        lo: float64 [L], start of every token's interval in the key's secret order.
        hi: float64 [L], end of it.
        probability: float64 [L], what the model gave each token.
        profile: Code, thresholds, context window.
        prompt_known: The model read the prompt first.
        text_tokens: Tokens of the whole text; more than ``L`` where these are only its first.
        model: The frozen numbers of the likelihood.
    """

    schedule: Schedule
    entropy_bits: F64
    lo: F64
    hi: F64
    probability: F64
    profile: Profile
    prompt_known: bool = False
    text_tokens: int
    model: LikelihoodModel = field(default_factory=default_model)

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        entropy_bits: F64,
        lo: F64,
        hi: F64,
        profile: Profile,
        *,
        probability: F64 | None = None,
        prompt_known: bool = False,
        text_tokens: int | None = None,
        model: LikelihoodModel | None = None,
    ) -> Intervals:
        """Make them of a whole text; ``hi - lo`` is the probability where none is given."""
        return cls(
            schedule=schedule,
            entropy_bits=entropy_bits,
            lo=lo,
            hi=hi,
            probability=hi - lo if probability is None else probability,
            profile=profile,
            prompt_known=prompt_known,
            text_tokens=lo.size if text_tokens is None else text_tokens,
            model=default_model() if model is None else model,
        )

    @property
    def tokens(self) -> int:
        """``L``."""
        return int(self.lo.size)

    @property
    def stopped(self) -> bool:
        """Reading was stopped early."""
        return self.tokens < self.text_tokens


SIXTEENTHS: Final = 16
"""Every anchor of every arity lies a multiple of 1/16 behind the phase (scheme.md §4)."""

_LEAST_BLUR: Final = 1e-5
_POINT: Final = 1e-6  # an interval narrower than this share of the blur is a point
_LEAST_ETA: Final = 0.005  # no step may cost more than log(1/0.005), whatever stands there
_LEAST_NOISE: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class StepLikelihoods:
    """The functions ``f_t`` of one text, before any phase is looked at, read at some anchors.

    Attributes:
        density: float64 [T, S, J], the blurred interval of each mismatch table at the points
            ``U_t + j / J``; its mean over the circle is 1. Where passages were asked for, each
            table stands here twice: as it is, then as at a passage's beginning.
        arity_weights: float64 [T, S, 4], probability that the source's arity was 0 … 3.
        eta: float64 [G, S], probability that the step is desynchronised.
        table: int64 [G], mismatch table of each grid point.
    """

    density: F64
    arity_weights: F64
    eta: F64
    table: I64


def _sector_offsets() -> I64:
    # [4, 8]: sixteenths from the phase to the anchor of the bits in a window index, by arity.
    offsets = np.zeros((MAX_ARITY + 1, 8), dtype=np.int64)
    for arity in range(1, MAX_ARITY + 1):
        for combo in range(8):
            bits = [(combo >> (2 - j)) & 1 for j in range(arity)]
            offsets[arity, combo] = (2 * sector_of(bits) + 1) * (SIXTEENTHS // 2 >> arity)
    return offsets


SECTOR_OFFSETS: Final = _sector_offsets()


def blur_scale(lo: F64, hi: F64) -> F64:
    """Return ``2·sqrt(F(1-F))`` at the intervals' midpoints: a CDF is surest at its ends."""
    middle = np.clip((lo + hi) / 2, 0.0, 1.0)
    return np.asarray(2 * np.sqrt(middle * (1 - middle)))


def blurred_interval(lo: F64, hi: F64, anchor: F64, sigma: F64) -> F64:
    """Return the density of the interval's indicator blurred by a raised cosine, on the circle.

    ``(1_{[lo,hi)} * κ_σ)(A) / (hi - lo)`` in closed form; an interval without width is the point
    in its middle, the limit. The integral over ``A`` is 1.

    Args:
        lo: Start of the intervals, in [0, 1].
        hi: End of the intervals, in [lo, 1].
        anchor: Points ``A`` in [0, 1).
        sigma: Half-width ``σ`` of the raised cosine, in (0, 1/2].

    Returns:
        float64 in the broadcast shape, between 0 and ``1/σ``.
    """
    sigma = np.clip(sigma, _LEAST_BLUR, 0.5)
    width = hi - lo
    point = width <= _POINT * sigma
    safe = np.where(point, 1.0, width)
    # The raised cosine of unit mass is the cosine kernel of the scheme divided by its radius.
    spread = kernel_overlap("cosine", lo, hi, anchor, sigma) / (sigma * safe)
    middle = circular_distance((lo + hi) / 2, anchor)
    return np.where(point, kernel_value("cosine", middle, sigma) / sigma, spread)


def mixture_density(
    model: LikelihoodModel,
    tables: Sequence[tuple[MismatchTable, I64]],
    lo: F64,
    hi: F64,
    anchor: F64,
) -> F64:
    """Return the mixture of blurred intervals for some mismatch tables.

    Args:
        model: Widths.
        tables: Weights, and int64 [S], the position bin of each step.
        lo: float64 [S].
        hi: float64 [S].
        anchor: float64 [S, J].

    Returns:
        float64 [T, S, J]; the mean over a uniform anchor is 1.
    """
    scale = blur_scale(lo, hi)[:, None]
    out = np.empty((len(tables), *anchor.shape))
    for row, (table, bins) in zip(out, tables, strict=True):
        row[:] = table.uniform[bins][:, None]
    for c, width in enumerate(model.blur_widths.tolist()):
        part = blurred_interval(lo[:, None], hi[:, None], anchor, width * scale)
        for row, (table, bins) in zip(out, tables, strict=True):
            row += table.weights[bins, c][:, None] * part
    return out


def arity_weights(
    table: MismatchTable, bins: I64, entropy_bits: F64, thresholds: tuple[float, float, float]
) -> F64:
    """Return the probability of each arity at the source, given the verifier's entropy.

    Args:
        table: Says how far the two entropies differ.
        bins: int64 [S].
        entropy_bits: float64 [S], the verifier's.
        thresholds: The gate's, ascending.

    Returns:
        float64 [S, 4], rows add up to 1; 0 means that the source's step carried nothing.
    """
    noise = np.maximum(table.entropy_noise_bits[bins], _LEAST_NOISE)[:, None]
    expected = (entropy_bits + table.entropy_shift_bits[bins])[:, None]
    gap = (expected - np.array(thresholds)[None, :]) / noise
    # Logistic with the same standard deviation: heavier tails than the normal, and no erf needed.
    above = 1 / (1 + np.exp(-np.clip(gap * (np.pi / np.sqrt(3)), -500, 500)))
    steps = np.concatenate(
        [np.ones((above.shape[0], 1)), above, np.zeros((above.shape[0], 1))], axis=1
    )
    return np.asarray(steps[:, :-1] - steps[:, 1:])


def edit_probability(share: float, token_probability: F64, vocab_size: int) -> F64:
    """Return how probably each token was put in from outside (evidence.md §3).

    ``q_i = (r/V) / (r/V + (1-r)·π(x_i))``: an edit picks any token, the model picks its own.

    Args:
        share: ``r``, prior share of edited tokens.
        token_probability: float64 [L], ``π(x_i)``.
        vocab_size: ``V``.

    Returns:
        float64 [L], in (0, 1].
    """
    edited = share / vocab_size
    return edited / (edited + (1 - share) * np.clip(token_probability, 0.0, 1.0))


def desynchronisation(
    point: GridPoint, token: I64, token_probability: F64, profile: Profile
) -> F64:
    """Return ``η_t``, the probability that a step's phase or token is not the source's.

    Args:
        point: Family and share.
        token: int64 [S], index of each step's token.
        token_probability: float64 [L], of all tokens of the text.
        profile: Context window and vocabulary size.

    Returns:
        float64 [S].
    """
    if point.family == "constant":
        return np.full(token.size, max(point.share, _LEAST_ETA))
    q = edit_probability(point.share, token_probability, profile.vocab_size)
    # The token itself and its W context tokens: one edit among them breaks the step.
    around = token[:, None] - np.arange(profile.context_window + 1)[None, :]
    intact = np.prod(1 - q[around], axis=1) if token.size else np.zeros(0)
    return np.clip(1 - intact, _LEAST_ETA, 1.0)


def step_likelihoods(
    seen: Intervals,
    grid: tuple[GridPoint, ...],
    *,
    rows: slice | I64 = slice(None),
    tables: Sequence[str] = (),
    passages: bool = False,
    resolution: int = SIXTEENTHS,
) -> StepLikelihoods:
    """Prepare the functions ``f_t`` of a text.

    Args:
        seen: The text.
        grid: Which members of the family.
        rows: Which of its steps.
        tables: Names of the mismatch tables, in the order of the result; those of the grid when
            empty.
        passages: Add every table once more, as at the beginning of a passage: the verifier knows
            as little of what stood before it as after so many tokens of a text.
        resolution: ``J``, points on the circle, a multiple of 16. 16 reads the anchors of the
            observed phases; more is for redrawn phases.

    Returns:
        Densities, arity weights and ``η``.
    """
    model, profile = seen.model, seen.profile
    token, phase = seen.schedule.token[rows], seen.schedule.phase[rows]
    bins = model.bins(token)
    anchor = (phase[:, None] + np.arange(resolution)[None, :] / resolution) % 1.0
    thresholds = profile.entropy_thresholds_bits
    named = {table.name: table for table in model.tables}
    names = list(tables) or list(dict.fromkeys(p.table for p in grid))
    chosen = [(named[name], bins) for name in names]
    if passages:
        young = np.minimum(bins, model.bins(np.array(model.passages.young_position)))
        chosen += [(table, young) for table, _ in chosen]
    return StepLikelihoods(
        density=mixture_density(model, chosen, seen.lo[token], seen.hi[token], anchor),
        arity_weights=np.stack(
            [arity_weights(t, b, seen.entropy_bits[token], thresholds) for t, b in chosen]
        ),
        eta=np.stack([desynchronisation(p, token, seen.probability, profile) for p in grid]),
        table=np.array([names.index(p.table) for p in grid], dtype=np.int64),
    )


def window_likelihoods(steps: StepLikelihoods, turn: I64 | None = None) -> F64:
    """Return the blurred density of every step for every value of the three bits ahead of it.

    Args:
        steps: Of :func:`step_likelihoods`.
        turn: int64 [R, S], turns of each phase in units of ``1/J``, for redraws; none when
            absent.

    Returns:
        float64 [T, S, 8], or [T, R, S, 8] with turns; last index ``4·c_i + 2·c_{i+1} + c_{i+2}``.
        Arities are mixed, steps taken to be synchronised.
    """
    size = steps.density.shape[2]
    offsets = SECTOR_OFFSETS * (size // SIXTEENTHS)
    rows = np.arange(steps.density.shape[1])[:, None]
    total: F64 | None = None
    for arity in range(1, MAX_ARITY + 1):
        if turn is None:
            read = steps.density[:, rows, offsets[arity][None, :]]
            share = steps.arity_weights[:, :, arity, None]
        else:
            place = (turn[:, :, None] + offsets[arity]) % size
            read = steps.density[:, rows[None, :, :], place]
            share = steps.arity_weights[:, None, :, arity, None]
        total = share * read if total is None else total + share * read
    nothing = steps.arity_weights[:, :, 0, None]
    assert total is not None
    return total + (nothing if turn is None else nothing[:, None])


def log_likelihoods(steps: StepLikelihoods, windows: F64) -> F64:
    """Return ``log f_t`` at every grid point.

    Args:
        steps: Of :func:`step_likelihoods`.
        windows: float64 [T, ..., S, 8], of :func:`window_likelihoods`.

    Returns:
        float64 [G, ..., S, 8], in nats, finite.
    """
    eta = steps.eta[:, :, None]
    if windows.ndim == 4:
        eta = eta[:, None]
    return np.asarray(np.log((1 - eta) * windows[steps.table] + eta))

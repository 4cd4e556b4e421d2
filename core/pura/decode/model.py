"""The frozen numbers of the step likelihood: blur widths, mixture weights, grid.

docs/evidence.md §3. They are learnt on other texts than any under audit, shipped in
``resources/likelihood.json`` with the conditions they were learnt under, and never fitted to the
text at hand: that is what keeps the false-positive bound a theorem.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.catalogue import phrase
from pura.base.errors import PuraError, unusable
from pura.base.json_text import former, sha256
from pura.base.paths import resource

F64 = npt.NDArray[np.float64]

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
class ChainPoint:
    """One member of the family of chains that the list's evidence averages over.

    Attributes:
        table: Name of the mismatch table.
        family: ``constant``, every token of a passage was edited with the same probability, or
            ``plausibility``, the more probably the less the model expected it.
        share: That probability; with ``plausibility`` the prior share of edited tokens.
        mean_passage: Expected length of a marked passage, in tokens.
    """

    table: str
    family: str
    share: float
    mean_passage: float


@dataclass(frozen=True, kw_only=True)
class PassageModel:
    """Frozen numbers of :mod:`pura.decode.chain`.

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
    """Everything that ``f_t`` needs beside the text (docs/evidence.md §3).

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
    position_edges: npt.NDArray[np.int64]
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
                grids={
                    known: tuple(GridPoint(**p) for p in data["grids"][name])
                    for known, name in _PROMPT.items()
                },
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
                {
                    "name": t.name,
                    "weights": t.weights.tolist(),
                    "uniform": t.uniform.tolist(),
                    "entropy_shift_bits": t.entropy_shift_bits.tolist(),
                    "entropy_noise_bits": t.entropy_noise_bits.tolist(),
                }
                for t in self.tables
            ],
            "grids": {_PROMPT[k]: [vars(p).copy() for p in v] for k, v in self.grids.items()},
            "passages": vars(self.passages)
            | {
                "members": {
                    _PROMPT[k]: [vars(p).copy() for p in v]
                    for k, v in self.passages.members.items()
                }
            },
        }

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits over every number; words do not count."""
        data = self.to_dict()
        del data["provenance"]
        return sha256(former(data))[:16]

    def table_number(self, name: str) -> int:
        """Return the place of a table."""
        return [t.name for t in self.tables].index(name)

    def bins(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the position bin of tokens; int64, the shape of ``positions``."""
        return np.searchsorted(self.position_edges, positions, side="right").astype(np.int64)


def _table(entry: Any) -> MismatchTable:
    return MismatchTable(
        name=str(entry["name"]),
        weights=np.array(entry["weights"], dtype=np.float64),
        uniform=np.array(entry["uniform"], dtype=np.float64),
        entropy_shift_bits=np.array(entry["entropy_shift_bits"], dtype=np.float64),
        entropy_noise_bits=np.array(entry["entropy_noise_bits"], dtype=np.float64),
    )


def _passages(entry: Any) -> PassageModel:
    plain = {name: value for name, value in entry.items() if name != "members"}
    members = {
        known: tuple(ChainPoint(**p) for p in entry["members"][name])
        for known, name in _PROMPT.items()
    }
    return PassageModel(**plain, members=members)


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
        for point in grid:
            if point.table not in names or point.family not in FAMILIES:
                raise _refuse("grids")
            if not 0 < point.share < 1:
                raise _refuse("grids")
    _check_passages(model.passages, names)


def _check_passages(passages: PassageModel, tables: list[str]) -> None:
    for members in passages.members.values():
        if not 1 <= len(members) <= MAX_CHAINS:
            raise _refuse("passages")
        for point in members:
            if point.table not in tables or point.family not in FAMILIES:
                raise _refuse("passages")
            if not (0 < point.share < 1 and point.mean_passage > 1):
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

"""An experiment is a table of cells and what is measured of one text in a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.measure.evaluate import wilson

if TYPE_CHECKING:
    from pura_lab.experiments.bench import ExperimentBench

Cell = Mapping[str, Any]
"""What makes a cell: plain values by name; the names are columns of the result."""
Row = Mapping[str, Any]
"""What was measured of one text: numbers, truth values, and lists that figures need."""

DRAWS: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is done.

    Attributes:
        texts: Texts a cell.
        full: Every cell, instead of those that show the shape.
        judge: The model that judges how good texts are; empty for one of letters.
        attacker: The model that attacks texts; empty for the one that wrote them.
    """

    texts: int = 24
    full: bool = False
    judge: str = ""
    attacker: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """How the results are drawn.

    Attributes:
        x: The column along the axis.
        y: The columns that are drawn, one line each.
        lines: Columns of the cells that make further lines.
        panels: Column of the cells that makes a picture each; empty for one.
        log: The axis is logarithmic.
    """

    x: str
    y: tuple[str, ...] = ("paper_match", "exact_match")
    lines: tuple[str, ...] = ()
    panels: str = ""
    log: bool = False


@dataclass(frozen=True, kw_only=True)
class Number:
    """A mean with its 95 % interval: Wilson's for shares, else of the bootstrap over texts.

    Attributes:
        value: The mean.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment.

    Attributes:
        name: As it is asked for.
        title: For people.
        paper: The figure or table of the paper that it answers.
        cells: Its cells at a scale, the most important first.
        row: What is measured of text ``number`` in a cell.
        figure: How it is drawn.
        columns: Measured columns that its table shows; others are in the Parquet file.
        pooled: Numbers of a cell that are of all its texts together, with their intervals if they
            have some.
        most: Texts a cell at most, where a text is dear.
    """

    name: str
    title: str
    paper: str
    cells: Callable[[Scale], Sequence[Cell]]
    row: Callable[[ExperimentBench, Cell, int], Row]
    figure: Figure
    columns: tuple[str, ...]
    pooled: Callable[[Sequence[Row]], Mapping[str, Number | float]] | None = None
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """A cell and what its texts gave.

    Attributes:
        cell: The cell.
        texts: How many.
        numbers: By measured column.
        rows: One a text.
    """

    cell: Cell
    texts: int
    numbers: Mapping[str, Number]
    rows: Sequence[Row] = field(repr=False)


def summarise(experiment: Experiment, cell: Cell, rows: Sequence[Row]) -> CellResult:
    """Add up the texts of a cell."""
    dice = np.random.default_rng(1)
    numbers = {}
    for name, first in rows[0].items():
        if isinstance(first, bool):
            count = sum(bool(r[name]) for r in rows)
            numbers[name] = Number(value=count / len(rows), **_ends(wilson(count, len(rows))))
        elif isinstance(first, int | float):
            values = np.array([float(r[name]) for r in rows])
            means = values[dice.integers(0, values.size, (DRAWS, values.size))].mean(axis=1)
            ends = np.quantile(means, [0.025, 0.975])
            numbers[name] = Number(value=float(values.mean()), **_ends(ends))
    if experiment.pooled is not None:
        for name, value in experiment.pooled(rows).items():
            if isinstance(value, Number):
                numbers[name] = value
            else:
                numbers[name] = Number(value=value, low=value, high=value)
    return CellResult(cell=cell, texts=len(rows), numbers=numbers, rows=rows)


def _ends(pair: Sequence[float] | np.ndarray) -> dict[str, float]:
    return {"low": float(pair[0]), "high": float(pair[1])}

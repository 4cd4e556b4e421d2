"""What came out: lines as Parquet, cells as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from pura.measure.intervals import wilson
from pura_lab.compare.methods import METHODS
from pura_lab.compare.work import ResultLine


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """The texts of one method, payload length and condition.

    Attributes:
        method: As in :class:`~pura_lab.compare.work.ResultLine`.
        bits: ``L_m``.
        condition: What was done to the texts.
        texts: How many.
        match: Texts whose payload was read whole.
        low: Lower end of the 95 % interval of the match rate.
        high: Upper end.
        accuracy: Mean share of right bits.
        erased: Mean share of erased bits.
        edited: Mean edit rate.
        read_seconds: Median processor seconds for reading a text.
        write_seconds: Median processor seconds for marking one.
        perplexity: Of the model that wrote the texts, over all their tokens.
        published: Match rate in percent in the PURA paper's table, of another model and corpus.
    """

    method: str
    bits: int
    condition: str
    texts: int
    match: int
    low: float
    high: float
    accuracy: float
    erased: float
    edited: float
    read_seconds: float
    write_seconds: float
    perplexity: float
    published: float | None


def summarise(lines: Iterable[ResultLine]) -> tuple[TableCell, ...]:
    """Return the cells of some lines: by condition and payload length, best match first."""
    groups: dict[tuple[str, int, str], list[ResultLine]] = {}
    for line in lines:
        groups.setdefault((line.condition, line.bits, line.method), []).append(line)
    cells = [_cell(group) for group in groups.values()]
    order = {name: place for place, name in enumerate(dict.fromkeys(c.condition for c in cells))}
    return tuple(
        sorted(
            cells,
            key=lambda c: (order[c.condition], c.bits, -c.match / c.texts, -c.accuracy, c.method),
        )
    )


def _cell(lines: Sequence[ResultLine]) -> TableCell:
    first = lines[0]
    match = sum(line.match for line in lines)
    low, high = wilson(match, len(lines))
    method = METHODS[first.method.removesuffix("-paper")]
    # The paper's own figures are those of its decoder.
    comparable = method.make is not None or first.method.endswith("-paper")

    def mean(name: str) -> float:
        return float(np.mean([getattr(line, name) for line in lines]))

    def median(name: str) -> float:
        return float(np.median([getattr(line, name) for line in lines]))

    return TableCell(
        method=first.method,
        bits=first.bits,
        condition=first.condition,
        texts=len(lines),
        match=match,
        low=low,
        high=high,
        accuracy=mean("accuracy"),
        erased=mean("erased"),
        edited=mean("edited"),
        read_seconds=median("read_seconds"),
        write_seconds=median("write_seconds"),
        perplexity=float(np.exp(-mean("log_p"))),
        published=method.published.get(first.bits) if comparable else None,
    )


def write_parquet(path: Path, lines: Sequence[ResultLine]) -> None:
    """Write a row for every text, condition and decoder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f.name: [getattr(line, f.name) for line in lines] for f in fields(ResultLine)}
    pq.write_table(pa.table(columns), path)

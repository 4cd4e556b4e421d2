"""Run an experiment: rows one by one into a file, so that a stop loses one text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pura.base.canonical import canonical
from pura.base.progress import Checkpoint, Progress, Stage, unstopped, untold
from pura_lab.experiments.base import Cell, CellResult, Experiment, Row, Scale, summarise
from pura_lab.experiments.bench import SEED, ExperimentBench


def run(
    experiment: Experiment,
    bench: ExperimentBench,
    scale: Scale,
    folder: Path,
    *,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> list[CellResult]:
    """Measure what is not measured yet, and add up every cell.

    Args:
        experiment: Which one.
        bench: Texts and readings.
        scale: How much.
        folder: Gets ``NAME.jsonl`` with a line for each text of each cell.
        progress: Told of every text.
        checkpoint: Called before each; may raise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{experiment.name}.jsonl"
    known = _known(path)
    cells = list(experiment.cells(scale))
    texts = min(scale.texts, experiment.most or scale.texts)
    total, done = len(cells) * texts, 0
    bench.ahead = texts
    results = []
    with path.open("a", encoding="utf-8") as file:
        for cell in cells:
            rows = []
            for number in range(texts):
                name = _name(bench, cell, number)
                if name not in known:
                    checkpoint()
                    row = dict(experiment.row(bench, cell, number))
                    known[name] = row
                    file.write(json.dumps({"name": name, "row": _plain(row)}) + "\n")
                    file.flush()
                rows.append(known[name])
                done += 1
                progress(Stage(name="experiment", done=done, total=total))
            results.append(summarise(experiment, cell, rows))
    return results


def _name(bench: ExperimentBench, cell: Cell, number: int) -> str:
    return canonical([bench.model.fingerprint, SEED, dict(cell), number]).decode()


def _known(path: Path) -> dict[str, Row]:
    """Return the rows of a file; a last line that a stop cut short is left out."""
    known: dict[str, Row] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            known[entry["name"]] = entry["row"]
    return known


def _plain(row: Row) -> Mapping[str, Any]:
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in row.items()}


def write_results(
    experiment: Experiment, results: Sequence[CellResult], folder: Path
) -> tuple[Path, Path, Path]:
    """Write Parquet with a row a text, Markdown with a row a cell, and the figure.

    Returns:
        Their paths.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pura_lab.experiments.figures import draw

    rows = [{**{k: _text(v) for k, v in r.cell.items()}, **row} for r in results for row in r.rows]
    parquet, markdown, figure = (
        folder / f"{experiment.name}{end}" for end in (".parquet", ".md", ".svg")
    )
    pq.write_table(pa.Table.from_pylist(rows), parquet)
    markdown.write_text(to_markdown(experiment, results), encoding="utf-8")
    draw(experiment, results, figure)
    return parquet, markdown, figure


def to_markdown(experiment: Experiment, results: Sequence[CellResult]) -> str:
    """Return the results as a table; intervals in brackets."""
    names = list(dict.fromkeys(name for r in results for name in r.cell if name != "pool"))
    same = {n for n in names if len({_text(r.cell.get(n)) for r in results}) == 1}
    shown = [n for n in names if n not in same or len(names) == 1]
    columns = [c for c in experiment.columns if any(c in r.numbers for r in results)]
    head = [*shown, "texts", *columns]
    lines = [_line(head), _line(["---"] * len(head))]
    for r in results:
        cells = [_text(r.cell.get(n, "")) for n in shown]
        lines.append(_line([*cells, str(r.texts), *(_number(r, c) for c in columns)]))
    fixed = ", ".join(f"{n} {_text(results[0].cell[n])}" for n in names if n in same)
    paper = "which the paper leaves open"
    if experiment.paper != "–":
        paper = f"{experiment.paper} of the paper"
    about = f"{experiment.title} ({paper})."
    return f"{about}{' For all: ' + fixed + '.' if fixed else ''}\n\n" + "\n".join(lines) + "\n"


def _number(result: CellResult, column: str) -> str:
    number = result.numbers.get(column)
    if number is None or np.isnan(number.value):
        return "–"
    share = isinstance(result.rows[0].get(column), bool) or column.endswith("bits")
    if share:
        low, high = 100 * number.low, 100 * number.high
        return f"{100 * number.value:.1f} ({low:.0f}-{high:.0f})"
    digits = 0 if abs(number.value) >= 100 else 1 if abs(number.value) >= 10 else 3
    if number.low == number.high:
        return f"{number.value:.{digits}f}"
    return f"{number.value:.{digits}f} ({number.low:.{digits}f}-{number.high:.{digits}f})"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(_text(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)

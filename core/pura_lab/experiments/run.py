"""Running an experiment row by row into a file, and drawing its results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, Final

import numpy as np

from pura.base.json_text import canonical
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura_lab.experiments.bench import (
    SEED,
    Cell,
    CellResult,
    Experiment,
    ExperimentBench,
    Row,
    Scale,
    summarise,
)


def run(
    experiment: Experiment,
    bench: ExperimentBench,
    scale: Scale,
    folder: Path,
    *,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> list[CellResult]:
    """Measure the missing rows, and summarise every cell.

    Args:
        experiment: The experiment.
        bench: Texts and readings.
        scale: Extent of the experiment.
        folder: Folder of ``NAME.jsonl``, with a line for each text of each cell.
        progress: Called after every text.
        checkpoint: Called before each; may raise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{experiment.name}.jsonl"
    stored = _stored_rows(path)
    cells = list(experiment.cells(scale))
    texts = min(scale.texts, experiment.max_texts or scale.texts)
    total, finished = len(cells) * texts, 0
    bench.ahead = texts
    results = []
    with path.open("a", encoding="utf-8") as file:
        for cell in cells:
            rows = []
            for number in range(texts):
                name = _name(bench, cell, number)
                if name not in stored:
                    checkpoint()
                    row = dict(experiment.row(bench, cell, number))
                    stored[name] = row
                    file.write(json.dumps({"name": name, "row": _plain(row)}) + "\n")
                    file.flush()
                rows.append(stored[name])
                finished += 1
                progress(Stage(name="experiment", done=finished, total=total))
            results.append(summarise(experiment, cell, rows))
    return results


def _name(bench: ExperimentBench, cell: Cell, number: int) -> str:
    return canonical([bench.model.fingerprint, SEED, dict(cell), number]).decode()


def _stored_rows(path: Path) -> dict[str, Row]:
    """Return the rows of a file, without an incomplete last line."""
    stored: dict[str, Row] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            stored[entry["name"]] = entry["row"]
    return stored


def _plain(row: Row) -> Mapping[str, Any]:
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in row.items()}


def write_results(
    experiment: Experiment, results: Sequence[CellResult], folder: Path
) -> tuple[Path, Path, Path]:
    """Write Parquet with a row for each text, Markdown with a row for each cell, and the figure.

    Returns:
        The paths of the three files.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

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
    varying = [n for n in names if n not in same or len(names) == 1]
    columns = [c for c in experiment.columns if any(c in r.numbers for r in results)]
    head = [*varying, "texts", *columns]
    lines = [_line(head), _line(["---"] * len(head))]
    for r in results:
        cells = [_text(r.cell.get(n, "")) for n in varying]
        lines.append(_line([*cells, str(r.texts), *(_number(r, c) for c in columns)]))
    fixed = ", ".join(f"{n} {_text(results[0].cell[n])}" for n in names if n in same)
    paper = "which the paper leaves open"
    if experiment.paper != "–":
        paper = f"{experiment.paper} of the paper"
    caption = f"{experiment.title} ({paper})."
    return f"{caption}{' For all: ' + fixed + '.' if fixed else ''}\n\n" + "\n".join(lines) + "\n"


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


_INKS: Final = ("#2B6CB0", "#A64A0C", "#1F7A55", "#7A3FA8", "#18202C", "#8A6D00")
_DASHES: Final = ("-", "--", ":", "-.")
_MARKERS: Final = "osD^vPX*"
_ACROSS: Final = 3
_BINS: Final = 40


def draw(plan: Experiment, results: Sequence[CellResult], path: Path) -> None:
    """Draw the results of an experiment."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(str(r.cell.get(plan.panels, "")) for r in results))
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    names = _names(plan, results)
    height = max(2.4, 0.6 + 0.1 * (len(plan.y) + 1) * len(names)) if names else 2.4
    # Text stays text, and the file is reproducible.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "pura", "font.size": 9}):
        size = (2.7 * across + 0.9, height * down + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharex=bool(names), sharey=True)
        for number, name in enumerate(panels):
            axis = axes[number // across][number % across]
            panel_results = [r for r in results if str(r.cell.get(plan.panels, "")) == name]
            if plan.y == ("aligned",):
                _densities(axis, plan, panel_results)
            else:
                _lines(axis, plan, panel_results, names)
            axis.set_title(f"{plan.panels} {name}" if name[:1].isdigit() else name, fontsize=9)
        for spare in axes.ravel()[len(panels) :]:
            spare.set_visible(False)
        if not plan.panels:
            figure.suptitle(fill(plan.title, 44), fontsize=9)
        handles, labels = axes[0][0].get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(
                handles,
                labels,
                loc="outside lower center",
                ncols=min(4, across + 1, len(labels)),
                fontsize=8,
            )
        figure.savefig(path, metadata={"Date": None})


def _names(plan: Experiment, results: Sequence[CellResult]) -> list[str]:
    """Return the values along the axis if they are names; nothing for numbers."""
    values = [r.cell[plan.x] for r in results]
    if all(isinstance(v, int | float) for v in values):
        return []
    return list(dict.fromkeys(map(_tick, values)))


def _lines(axis: Any, plan: Experiment, results: Sequence[CellResult], names: list[str]) -> None:
    """Draw a line over numbers, or a column of points beside names; intervals side by side."""
    lines: dict[tuple[str, ...], list[CellResult]] = {}
    for r in results:
        lines.setdefault(tuple(str(r.cell.get(n)) for n in plan.lines), []).append(r)
    drawn = [
        (key, column, measured)
        for key, line in lines.items()
        for column in plan.y
        if (measured := [r for r in line if column in r.numbers])
    ]
    ticks = sorted({float(r.cell[plan.x]) for r in results}) if not names else []
    for style, (key, column, measured) in enumerate(drawn):
        numbers = [r.numbers[column] for r in measured]
        values = np.array([n.value for n in numbers])
        spread = np.abs(np.array([[n.low, n.high] for n in numbers]).T - values)
        shift = style - (len(drawn) - 1) / 2
        appearance = {
            "color": _INKS[style % len(_INKS)],
            "marker": _MARKERS[style % len(_MARKERS)],
            "markersize": 4,
            "capsize": 2,
            "linewidth": 1.2,
            "label": " ".join([*key, column.replace("_", " ")]),
        }
        if names:
            rows = np.array([names.index(_tick(r.cell[plan.x])) for r in measured], dtype=float)
            rows += 0.7 * shift / len(drawn)
            axis.errorbar(values, rows, xerr=spread, linestyle="none", **appearance)
            continue
        positions = np.array([float(r.cell[plan.x]) for r in measured])
        wide = ticks[-1] / ticks[0] if plan.log else ticks[-1] - ticks[0]
        positions = (
            positions * wide ** (0.012 * shift) if plan.log else positions + 0.015 * shift * wide
        )
        axis.errorbar(
            positions, values, yerr=spread, linestyle=_DASHES[style % len(_DASHES)], **appearance
        )
    if names:
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.4, -0.6)
    else:
        if plan.log:
            axis.set_xscale("log")
        axis.set_xticks(ticks, [_tick(t) for t in ticks], rotation=45 if len(ticks) > 6 else 0)
        axis.minorticks_off()
        axis.set_xlabel(plan.x.replace("_", " "))
    axis.grid(visible=True, color="#DFE3E9", linewidth=0.6)


def _densities(axis: Any, experiment: Experiment, results: Sequence[CellResult]) -> None:
    for number, r in enumerate(results):
        values = np.concatenate([np.asarray(row["aligned"], dtype=float) for row in r.rows])
        axis.hist(
            values,
            bins=_BINS,
            density=True,
            histtype="step",
            color=_INKS[number],
            linestyle=_DASHES[number % len(_DASHES)],
            label=_tick(r.cell[experiment.x]),
        )
    axis.axvline(0, color="#18202C", linewidth=0.8)
    axis.set_xlabel("aligned sum of LLRs, nats")


def _tick(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)

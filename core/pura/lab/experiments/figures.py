"""Figures of experiments as SVG: readable in print, in black and white too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from pura.lab.experiments.base import CellResult, Experiment

_INKS: Final = ("#2B6CB0", "#A64A0C", "#1F7A55", "#7A3FA8", "#18202C", "#8A6D00")
_DASHES: Final = ("-", "--", ":", "-.")
_MARKERS: Final = "osD^vPX*"
_ACROSS: Final = 3
_BINS: Final = 40


def draw(experiment: Experiment, results: Sequence[CellResult], path: Path) -> None:
    """Draw the results of an experiment."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    plan = experiment.figure
    panels = list(dict.fromkeys(str(r.cell.get(plan.panels, "")) for r in results))
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    # Text stays text, and nothing in the file changes from run to run.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "pura", "font.size": 9}):
        figure = Figure(figsize=(3.4 * across + 0.6, 2.7 * down + 0.5), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharey=True)
        for number, name in enumerate(panels):
            axis = axes[number // across][number % across]
            some = [r for r in results if str(r.cell.get(plan.panels, "")) == name]
            if plan.y == ("aligned",):
                _densities(axis, experiment, some)
            else:
                _lines(axis, experiment, some)
            axis.set_title(f"{plan.panels} {name}" if name else experiment.title, fontsize=9)
        for spare in axes.ravel()[len(panels) :]:
            spare.set_visible(False)
        handles, labels = axes[0][0].get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(
                handles, labels, loc="outside lower center", ncols=min(4, len(labels)), fontsize=8
            )
        figure.savefig(path, metadata={"Date": None})


def _lines(axis: Any, experiment: Experiment, results: Sequence[CellResult]) -> None:
    plan = experiment.figure
    lines: dict[tuple[str, ...], list[CellResult]] = {}
    for r in results:
        lines.setdefault(tuple(str(r.cell.get(n)) for n in plan.lines), []).append(r)
    named = not all(isinstance(r.cell[plan.x], int | float) for r in results)
    ticks = list(dict.fromkeys(_tick(r.cell[plan.x]) for r in results))
    style = 0
    for key, some in lines.items():
        for column in plan.y:
            known = [r for r in some if column in r.numbers]
            if not known:
                continue
            places = [
                float(ticks.index(_tick(r.cell[plan.x]))) if named else float(r.cell[plan.x])
                for r in known
            ]
            numbers = [r.numbers[column] for r in known]
            values = np.array([n.value for n in numbers])
            spread = np.abs(np.array([[n.low, n.high] for n in numbers]).T - values)
            shift = 0.06 * style if named else 0.0
            axis.errorbar(
                np.array(places) + shift,
                values,
                yerr=spread,
                color=_INKS[style % len(_INKS)],
                linestyle="none" if named else _DASHES[style % len(_DASHES)],
                marker=_MARKERS[style % len(_MARKERS)],
                markersize=4,
                capsize=2,
                linewidth=1.2,
                label=" ".join([*key, column.replace("_", " ")]),
            )
            style += 1
    if named:
        axis.set_xticks(range(len(ticks)), ticks, rotation=30, ha="right")
    elif plan.log:
        axis.set_xscale("log")
        axis.set_xticks([float(t) for t in ticks], ticks)
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
            label=_tick(r.cell[experiment.figure.x]),
        )
    axis.axvline(0, color="#18202C", linewidth=0.8)
    axis.set_xlabel("sum of LLRs, positive where the bit is right, nats")


def _tick(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)

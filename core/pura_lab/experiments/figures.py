"""Figures of experiments as SVG: readable in print, in black and white too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, Final

import numpy as np

from pura_lab.experiments.base import CellResult, Experiment
from pura_lab.experiments.base import Figure as Plan

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
    names = _names(plan, results)
    height = max(2.4, 0.6 + 0.1 * (len(plan.y) + 1) * len(names)) if names else 2.4
    # Text stays text, and nothing in the file changes from run to run.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "pura", "font.size": 9}):
        size = (2.7 * across + 0.9, height * down + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharex=bool(names), sharey=True)
        for number, name in enumerate(panels):
            axis = axes[number // across][number % across]
            some = [r for r in results if str(r.cell.get(plan.panels, "")) == name]
            if plan.y == ("aligned",):
                _densities(axis, experiment, some)
            else:
                _lines(axis, experiment, some, names)
            axis.set_title(f"{plan.panels} {name}" if name[:1].isdigit() else name, fontsize=9)
        for spare in axes.ravel()[len(panels) :]:
            spare.set_visible(False)
        if not plan.panels:
            figure.suptitle(fill(experiment.title, 44), fontsize=9)
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


def _names(plan: Plan, results: Sequence[CellResult]) -> list[str]:
    """Return the values along the axis when they are names; nothing for numbers."""
    values = [r.cell[plan.x] for r in results]
    if all(isinstance(v, int | float) for v in values):
        return []
    return list(dict.fromkeys(map(_tick, values)))


def _lines(
    axis: Any, experiment: Experiment, results: Sequence[CellResult], names: list[str]
) -> None:
    """Draw a line over numbers, or a column of points beside names; intervals side by side."""
    plan = experiment.figure
    lines: dict[tuple[str, ...], list[CellResult]] = {}
    for r in results:
        lines.setdefault(tuple(str(r.cell.get(n)) for n in plan.lines), []).append(r)
    drawn = [
        (key, column, known)
        for key, some in lines.items()
        for column in plan.y
        if (known := [r for r in some if column in r.numbers])
    ]
    ticks = sorted({float(r.cell[plan.x]) for r in results}) if not names else []
    for style, (key, column, known) in enumerate(drawn):
        numbers = [r.numbers[column] for r in known]
        values = np.array([n.value for n in numbers])
        spread = np.abs(np.array([[n.low, n.high] for n in numbers]).T - values)
        shift = style - (len(drawn) - 1) / 2
        look = {
            "color": _INKS[style % len(_INKS)],
            "marker": _MARKERS[style % len(_MARKERS)],
            "markersize": 4,
            "capsize": 2,
            "linewidth": 1.2,
            "label": " ".join([*key, column.replace("_", " ")]),
        }
        if names:
            rows = np.array([names.index(_tick(r.cell[plan.x])) for r in known], dtype=float)
            rows += 0.7 * shift / len(drawn)
            axis.errorbar(values, rows, xerr=spread, linestyle="none", **look)
            continue
        at = np.array([float(r.cell[plan.x]) for r in known])
        wide = ticks[-1] / ticks[0] if plan.log else ticks[-1] - ticks[0]
        at = at * wide ** (0.012 * shift) if plan.log else at + 0.015 * shift * wide
        axis.errorbar(at, values, yerr=spread, linestyle=_DASHES[style % len(_DASHES)], **look)
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
            label=_tick(r.cell[experiment.figure.x]),
        )
    axis.axvline(0, color="#18202C", linewidth=0.8)
    axis.set_xlabel("aligned sum of LLRs, nats")


def _tick(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)

"""Pictures of the evidence for notebooks, drawn with matplotlib from the record alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Protocol

import numpy as np

from pura.base.catalogue import catalogue
from pura.base.errors import InputError
from pura.record.course import ReadText, course
from pura.record.evidence import BitEvidence
from pura.record.finding import Finding

KINDS: Final = ("course", "bits", "tokens")
"""What can be drawn."""
_SIZE: Final = (9.0, 2.8)  # inches; the width of a notebook's column
# Blue and orange of Okabe and Ito, which people with any kind of colour vision tell apart; what
# speaks against the payload is hatched as well.
_FOR: Final = "#0072B2"
_AGAINST: Final = "#D55E00"
_PASSAGE: Final = "#0072B2"
_PALE: Final = 0.12  # opacity of the ground of a passage


class DrawnRecord(ReadText, Protocol):
    """A record, as far as it is drawn."""

    @property
    def bits(self) -> tuple[BitEvidence, ...]:
        """One entry for every codeword position."""

    @property
    def policy(self) -> Mapping[str, object]:
        """The policy that was applied."""

    @property
    def finding(self) -> Finding:
        """What may be said of the text."""


def plot(audit: DrawnRecord, kind: str) -> Any:
    """Draw a figure; see :meth:`~pura.record.audit.Audit.plot`.

    Raises:
        InputError: There is no matplotlib, no such kind, or nothing was read.
    """
    if kind not in KINDS:
        raise InputError("choice.unknown", name=f"{kind!r}", known=", ".join(KINDS), code="usage")
    if not audit.tokens.ids.size or (kind == "bits" and not audit.bits):
        raise InputError("plot.nothing", code="usage")
    try:
        figures = import_module("matplotlib.figure")
    except ImportError:
        raise InputError(
            "extra.missing", name="matplotlib", extra="pura-audit[notebook]", code="usage"
        ) from None
    # A figure of its own: pyplot would keep every one until it is closed, and chooses a window.
    figure = figures.Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_title(_words(f"plot.{kind}"), loc="left", fontsize=10)
    axes.set_ylabel("log₁₀")
    axes.spines[["top", "right"]].set_visible(False)
    {"course": _draw_course, "bits": _draw_bits, "tokens": _draw_tokens}[kind](audit, axes)
    return figure


def _words(key: str) -> str:
    return catalogue("findings").fill(key, "en", {})


def _draw_course(audit: DrawnRecord, axes: Any) -> None:
    """Draw the evidence along the text, with the threshold of the policy."""
    heights = course(audit)
    axes.plot(np.arange(heights.size), heights, color=_FOR, linewidth=1.6)
    axes.axhline(0.0, color="#888888", linewidth=0.6)
    threshold = audit.policy.get("t_found")
    if isinstance(threshold, int | float):
        axes.axhline(threshold, color=_AGAINST, linewidth=1.0, linestyle="--")
        axes.annotate(
            _words("plot.threshold"),
            (0, threshold),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=8,
            color=_AGAINST,
        )
    _shade_passages(audit, axes)
    axes.set_xlabel(_words("plot.token"))


def _draw_tokens(audit: DrawnRecord, axes: Any) -> None:
    """Draw what each token adds: up for the payload, down against it."""
    heights = audit.tokens.log10_evidence
    _bars(axes, heights, heights >= 0)
    _shade_passages(audit, axes)
    axes.set_xlabel(_words("plot.token"))


def _draw_bits(audit: DrawnRecord, axes: Any) -> None:
    """Draw the log-likelihood ratio of each position: up for 1, down for 0."""
    heights = np.array([bit.llr_log10 for bit in audit.bits])
    decoded = np.array([bool(bit.bit) for bit in audit.bits])
    _bars(axes, heights, (heights > 0) == decoded)
    axes.set_xlabel(_words("plot.position"))


def _bars(axes: Any, heights: Any, agrees: Any) -> None:
    positions = np.arange(heights.size)
    axes.bar(positions[agrees], heights[agrees], color=_FOR, width=0.8)
    axes.bar(
        positions[~agrees],
        heights[~agrees],
        color="none",
        edgecolor=_AGAINST,
        hatch="////",
        width=0.8,
        linewidth=0.6,
    )
    axes.axhline(0.0, color="#888888", linewidth=0.6)


def _shade_passages(audit: DrawnRecord, axes: Any) -> None:
    for passage in audit.finding.places:
        axes.axvspan(passage.first_token, passage.last_token + 1, color=_PASSAGE, alpha=_PALE, lw=0)

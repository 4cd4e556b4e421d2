"""Figures as SVG, drawn from the record."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

import numpy as np

from pura.base import numerals
from pura.record.audit import Audit
from pura.record.course import course
from pura.record.evidence import BitEvidence
from pura.report.blocks import Labels
from pura.words.sentences import scale

WIDTH: Final = 680
INK, MUTED, LINE, PALE = "#18202C", "#5A6576", "#DFE3E9", "#F5F6F8"
FOR, AGAINST, FOUND, REPAIRED = "#2B6CB0", "#A64A0C", "#1F7A55", "#7A3FA8"
MARKS: Final = (FOUND, FOR, REPAIRED)  # of the marks of a text, as in the window …
DASHES: Final = ("", "6 3", "2 2", "6 2 2 2")  # … and their lines
ROW: Final = 54  # positions in a row of bars
_TALLEST: Final = 1.3  # height of a picture by its width
_HATCH: Final = (
    f'<pattern id="h" width="4" height="4" patternUnits="userSpaceOnUse" '
    f'patternTransform="rotate(45)"><rect width="4" height="4" fill="#fff"/>'
    f'<rect width="2" height="4" fill="{FOR}"/></pattern>'
)


class _Svg:
    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []

    def rect(self, x: float, y: float, w: float, h: float, fill: str, stroke: str = "none") -> None:
        self.parts.append(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(w, 0):.2f}" height="{max(h, 0):.2f}" '
            f'fill="{fill}" stroke="{stroke}"/>'
        )

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        ink: str,
        wide: float = 1.0,
        dash: str = "",
    ) -> None:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{ink}" '
            f'stroke-width="{wide}"{dashed}/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 9,
        ink: str = MUTED,
        anchor: str = "middle",
        weight: int = 400,
    ) -> None:
        self.parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" font-family="Inter" font-size="{size}" '
            f'font-weight="{weight}" fill="{ink}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def ring(self, x: float, y: float) -> None:
        self.parts.append(
            f'<circle cx="{x:.2f}" cy="{y:.2f}" r="2.4" fill="#fff" stroke="{REPAIRED}" '
            f'stroke-width="1.4"/>'
        )

    def add(self, part: str) -> None:
        self.parts.append(part)

    def done(self) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" '
            f'height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}">'
            f"<defs>{_HATCH}</defs>{''.join(self.parts)}</svg>"
        )


def threshold(audit: Audit) -> float:
    """Return from which log10 evidence on a mark counts as found."""
    return float(str(audit.policy.get("t_found", 6.0)))


def scale_strip(audit: Audit, labels: Labels) -> str:
    """Draw the verbal scale with finding and threshold; widths are not to scale."""
    rows = scale(labels.language)
    size = abs(audit.evidence.log10_e)
    here = max(i for i, row in enumerate(rows) if size >= row.low)
    if audit.evidence.log10_e < 0:
        here = min(here, 2)
    svg = _Svg(WIDTH, 58)
    width = WIDTH / len(rows)
    for i, row in enumerate(rows):
        ours = i == here
        svg.rect(i * width + 1, 2, width - 2, 30, "#E6EEF9" if ours else PALE, LINE)
        if ours:
            svg.rect(i * width + 1, 2, width - 2, 30, "none", FOR)
        for j, part in enumerate(_two_lines(row.word)):
            y = 20 if len(_two_lines(row.word)) == 1 else 14 + 11 * j
            svg.text(
                (i + 0.5) * width, y, part, ink=INK if ours else MUTED, weight=600 if ours else 400
            )
        if i:
            svg.text(i * width, 44, numerals.count(round(10**row.low), labels.language), size=8)
    at = min(width * sum(row.low < threshold(audit) for row in rows), WIDTH - 1)
    svg.line(at, 0, at, 35, AGAINST, 1.4, "4 3")
    anchor = "end" if at > WIDTH - width / 2 else "middle"
    svg.text(at, 55, labels("figure.threshold"), size=8, ink=AGAINST, anchor=anchor)
    return svg.done()


def _two_lines(words: str) -> list[str]:
    if len(words) <= 18:
        return [words]
    middle = min(
        (i for i, c in enumerate(words) if c == " "), key=lambda i: abs(i - len(words) / 2)
    )
    return [words[:middle], words[middle + 1 :]]


def bits_chart(bits: Sequence[BitEvidence], labels: Labels) -> str:
    """Draw one bar a codeword position: its log-likelihood ratio, up for 1 and down for 0."""
    rows = math.ceil(len(bits) / ROW)
    high, left = 74, 24
    svg = _Svg(WIDTH, rows * (high + 18) + 20)
    largest = max((abs(b.llr_log10) for b in bits), default=1.0) or 1.0
    step = (WIDTH - left) / ROW
    for r in range(rows):
        top = r * (high + 18) + 4
        middle = top + high / 2
        svg.line(left, middle, WIDTH, middle, MUTED, 0.6)
        svg.text(0, top + 8, f"+{largest:.0f}", anchor="start", size=8)
        svg.text(0, middle + 3, "0", anchor="start", size=8)
        svg.text(0, top + high - 1, f"\u2212{largest:.0f}", anchor="start", size=8)
        for i, bit in enumerate(bits[r * ROW : (r + 1) * ROW]):
            _bar(svg, left + i * step, middle, step, high / 2 / largest, bit)
            svg.text(
                left + (i + 0.5) * step,
                top + high + 9,
                str(bit.bit),
                size=7,
                ink=REPAIRED if bit.repaired else INK,
            )
    _legend(svg, left, rows * (high + 18) + 10, labels)
    return svg.done()


def _bar(svg: _Svg, x: float, middle: float, step: float, scale_: float, bit: BitEvidence) -> None:
    wide = max(step - 2.5, 1)
    if bit.readings == 0:
        svg.rect(x + 1, middle - 3, wide, 6, "#fff", MUTED)
        return
    tall = abs(bit.llr_log10) * scale_
    y = middle - tall if bit.llr_log10 > 0 else middle
    against = (bit.llr_log10 > 0) != bool(bit.bit)
    fill = AGAINST if against else "url(#h)" if bit.parity else FOR
    svg.rect(x + 1, y, wide, max(tall, 0.8), fill, FOR if bit.parity and not against else "none")
    if bit.repaired:
        end = y - 5 if bit.llr_log10 > 0 else middle + tall + 5
        svg.ring(x + 1 + wide / 2, end)
    elif bit.weak:
        end = y - 3 if bit.llr_log10 > 0 else middle + tall + 3
        svg.line(x, end, x + wide + 2, end, AGAINST, 1.2)


def _legend(svg: _Svg, x: float, y: float, labels: Labels) -> None:
    for kind, *inks in (
        ("data", FOR, "none"),
        ("parity", "url(#h)", FOR),
        ("against", AGAINST, "none"),
        ("repaired",),
        ("weak",),
        ("unread", "#fff", MUTED),
    ):
        if kind == "repaired":
            svg.ring(x + 4, y - 2)
        elif kind == "weak":
            svg.line(x, y - 2, x + 9, y - 2, AGAINST, 1.4)
        else:
            svg.rect(x, y - 6, 8, 8, *inks)
        words = labels(f"bit.{kind}")
        svg.text(x + 13, y + 1, words, anchor="start", size=8.5)
        x += 30 + 5.2 * len(words)


def course_chart(audit: Audit, labels: Labels) -> str:
    """Draw how the evidence adds up along the text, the threshold and the passages."""
    values = course(audit)
    svg = _Svg(WIDTH, 132)
    left, right, top, bottom = 30, WIDTH, 8, 106
    below = bottom + 9  # passages stand below the curve, clear of the threshold
    found = threshold(audit)
    low, high = min(float(values.min()), 0.0), max(float(values.max()), found + 1)
    size = max(values.size - 1, 1)

    def y(value: float) -> float:
        return bottom - (value - low) / max(high - low, 1e-9) * (bottom - top)

    def x(token: float) -> float:
        return left + token / size * (right - left)

    for value in _ticks(low, high):
        svg.line(left, y(value), right, y(value), LINE, 0.6)
        words = f"{value:+.0f}".replace("-", "\u2212") if value else "0"
        svg.text(0, y(value) + 3, words, anchor="start", size=8)
    for token in _ticks(0, size):
        words, last = numerals.count(round(token), labels.language), token > 0.97 * size
        svg.text(x(token), bottom + 22, words, size=8, anchor="end" if last else "middle")
    svg.line(left, y(found), right, y(found), AGAINST, 1, "4 3")
    svg.text(right, y(found) - 4, labels("figure.threshold"), anchor="end", size=8.5, ink=AGAINST)
    for mark, passage in audit.finding.passages:
        a, b = x(passage.first_token), x(passage.last_token + 1)
        ink = MARKS[mark % len(MARKS)]
        svg.line(a, below, b, below, ink, 2, DASHES[mark % len(DASHES)])
        svg.line(a, below - 4, a, below + 1, ink, 1.5)
        svg.line(b, below - 4, b, below + 1, ink, 1.5)
        if len(audit.finding.marks) > 1:
            svg.text((a + b) / 2, below - 3, str(mark + 1), size=8.5, ink=ink, weight=600)
    picked = np.unique(np.linspace(0, values.size - 1, min(values.size, 700)).astype(int))
    points = " ".join(f"{x(t):.1f},{y(float(values[t])):.1f}" for t in picked.tolist())
    svg.add(f'<polyline points="{points}" fill="none" stroke="{FOR}" stroke-width="1.6"/>')
    return svg.done()


def page_picture(png: bytes) -> str:
    """Frame the picture of a page, so that it fits on a page together with its caption."""
    wide, tall = struct.unpack(">II", png[16:24])
    svg = _Svg(max(wide, tall / _TALLEST), tall)
    left = (svg.width - wide) / 2
    data = base64.b64encode(png).decode()
    place = f'x="{left:.2f}" width="{wide}" height="{tall}"'
    svg.add(f'<image {place} href="data:image/png;base64,{data}"/>')
    svg.rect(left, 0, wide, tall, "none", LINE)
    return svg.done()


def _ticks(low: float, high: float) -> list[float]:
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / 4))
    step = next(m * power for m in (1, 2, 5, 10) if span / (m * power) <= 5)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [i * step for i in range(first, last + 1)]

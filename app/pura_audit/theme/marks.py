"""How the marks of a text are told apart: by number, by pattern of the line, and by colour.

Three colours and four patterns: no two of twelve marks have both in common, and neighbours have
neither. A number stands beside each where there are several.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme

BADGE: Final = 16  # pixels across
_PATTERNS: Final = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)


def mark_pen(theme: Theme, number: int, width: int = 2) -> QPen:
    """Return the line of a mark's brackets; 0 is the first mark."""
    pen = QPen(theme.mark(number), width, _PATTERNS[number % len(_PATTERNS)])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def paint_badge(painter: QPainter, theme: Theme, number: int, box: QRectF) -> None:
    """Draw the number of a mark on a disc of its colour; 0 is the first mark, written as 1."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.mark(number))
    painter.drawEllipse(box)
    painter.setPen(theme.colour("card"))
    painter.setFont(fonts.face(fonts.LABEL, strong=True))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(number + 1))
    painter.restore()

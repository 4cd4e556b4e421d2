"""Type: four sizes of one face, and icons drawn in a colour of the theme."""

from __future__ import annotations

import logging
from functools import cache
from typing import Final

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QIcon,
    QPainter,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from pura.base.paths import resource

_INK = b"#000000"


def icon(name: str, colour: str, size: int = 16) -> QIcon:
    """Return a line icon in one colour, sharp up to 300 % scaling."""
    line_icon = QIcon()
    for factor in (1, 2, 3):
        # A window shows the same few icons dozens of times.
        key = f"pura/{name}/{colour}/{size}/{factor}"
        pixmap = QPixmap()
        if not QPixmapCache.find(key, pixmap):
            pixmap = _drawn(name, colour, size, factor)
            QPixmapCache.insert(key, pixmap)
        line_icon.addPixmap(pixmap)
    return line_icon


def _drawn(name: str, colour: str, size: int, factor: int) -> QPixmap:
    svg = resource("ui", "icons", f"{name}.svg").read_bytes().replace(_INK, colour.encode())
    pixmap = QPixmap(QSize(size, size) * factor)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg)).render(painter, QRectF(0, 0, size * factor, size * factor))
    painter.end()
    pixmap.setDevicePixelRatio(factor)
    return pixmap


def app_icon() -> QIcon:
    """Return the program's own icon."""
    return QIcon(str(resource("ui", "icons", "app.svg")))


ANSWER: Final = 22
READING: Final = 15
BODY: Final = 13
LABEL: Final = 11
SMALLEST: Final = 11  # of the examined text, which its reader sizes …
LARGEST: Final = 32  # … up to here
FAMILY: Final = "Inter"
_FILES: Final = ("Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf")
_log = logging.getLogger(__name__)


def install(app: QApplication) -> None:
    """Load the shipped face and make it the application's font."""
    for name in _FILES:
        try:
            path = resource("ui", "fonts", name)
        except FileNotFoundError:
            _log.warning("the font file %s is missing; the system's font is used", name)
            return
        if QFontDatabase.addApplicationFont(str(path)) < 0:
            _log.warning("the font file %s cannot be loaded", name)
    _known.cache_clear()
    use_bundled_fonts(app)


def use_bundled_fonts(app: QApplication) -> None:
    """Set the font of every kind of widget, since a new style restores the desktop's fonts."""
    app.setFont(face(BODY))


@cache
def _known() -> bool:
    """Return whether the shipped face is loaded; cached, since drawing asks thousands of times."""
    return FAMILY in QFontDatabase.families()


def face(size: int, *, strong: bool = False, medium: bool = False) -> QFont:
    """Return the interface's face with tabular figures.

    Args:
        size: In device-independent pixels.
        strong: Semi-bold.
        medium: Medium weight.
    """
    general = QFontDatabase.SystemFont.GeneralFont
    font = QFont(FAMILY) if _known() else QFontDatabase.systemFont(general)
    font.setPixelSize(size)
    if strong:
        font.setWeight(QFont.Weight.DemiBold)
    elif medium:
        font.setWeight(QFont.Weight.Medium)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def mono(size: int, *, strong: bool = False) -> QFont:
    """Return the monospaced face, for payloads and fingerprints only."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    # Measured, since some monospaced faces (Noto Sans Mono) do not say that they are.
    widths = QFontMetricsF(font)
    if widths.horizontalAdvance("i") != widths.horizontalAdvance("m"):
        font.setFamily("DejaVu Sans Mono")
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setPixelSize(size)
    if strong:
        font.setWeight(QFont.Weight.DemiBold)
    return font

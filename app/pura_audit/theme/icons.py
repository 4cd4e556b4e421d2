"""Icons from ``resources/ui/icons``, drawn in a colour of the theme."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from pura.base.paths import resource

_INK = b"#000000"


def icon(name: str, colour: str, size: int = 16) -> QIcon:
    """Return a line icon in one colour, sharp up to 300 % scaling."""
    found = QIcon()
    for factor in (1, 2, 3):
        # A window shows the same few icons dozens of times.
        key = f"pura/{name}/{colour}/{size}/{factor}"
        pixmap = QPixmap()
        if not QPixmapCache.find(key, pixmap):
            pixmap = _drawn(name, colour, size, factor)
            QPixmapCache.insert(key, pixmap)
        found.addPixmap(pixmap)
    return found


def _drawn(name: str, colour: str, size: int, factor: int) -> QPixmap:
    data = resource("ui", "icons", f"{name}.svg").read_bytes().replace(_INK, colour.encode())
    pixmap = QPixmap(QSize(size, size) * factor)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(data)).render(painter, QRectF(0, 0, size * factor, size * factor))
    painter.end()
    pixmap.setDevicePixelRatio(factor)
    return pixmap


def app_icon() -> QIcon:
    """Return the program's own icon."""
    return QIcon(str(resource("ui", "icons", "app.svg")))

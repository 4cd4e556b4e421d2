"""Icons from ``resources/ui/icons``, drawn in a colour of the theme."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from pura.base.resources import resource

_INK = b"#000000"


def icon(name: str, colour: str, size: int = 16) -> QIcon:
    """Return a line icon in one colour, sharp up to 300 % scaling."""
    data = resource("ui", "icons", f"{name}.svg").read_bytes().replace(_INK, colour.encode())
    renderer = QSvgRenderer(QByteArray(data))
    found = QIcon()
    for factor in (1, 2, 3):
        pixmap = QPixmap(QSize(size, size) * factor)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(0, 0, size * factor, size * factor))
        painter.end()
        pixmap.setDevicePixelRatio(factor)
        found.addPixmap(pixmap)
    return found


def app_icon() -> QIcon:
    """Return the program's own icon."""
    return QIcon(str(resource("ui", "icons", "app.svg")))

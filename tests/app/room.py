"""What is cut or overlaps in a widget, for the tests of the window and of every dialog."""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QCheckBox,
    QLabel,
    QScrollArea,
    QSizeGrip,
    QSplitterHandle,
    QWidget,
)

from pura_audit.widgets.card import ElidedLabel

NEVER = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


def parts(root: QWidget) -> Iterator[QWidget]:
    """What is on screen, without the insides of views."""
    for child in root.findChildren(QWidget, options=DIRECT):
        if child.isVisible() and not child.isWindow():
            yield child
            if not isinstance(child, QAbstractItemView):
                yield from parts(child)


def cut(widget: QWidget) -> bool:
    """Whether its words need more room than it has, and it does not shorten them."""
    room, metrics = widget.contentsRect(), widget.fontMetrics()
    if isinstance(widget, QLabel) and not isinstance(widget, ElidedLabel) and widget.text():
        if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height()
        words = widget.text() if widget.buddy() is None else widget.text().replace("&", "")
        lines = words.split("\n")
        wide = max(map(metrics.horizontalAdvance, lines))
        return wide > room.width() or len(lines) * metrics.height() > room.height() + 1
    if isinstance(widget, QAbstractButton):
        frame = 20 if isinstance(widget, QCheckBox) else 0  # the box
        words = widget.text().replace("&", "")
        return bool(words) and metrics.horizontalAdvance(words) + frame > widget.width()
    return False


def faults(window: QWidget) -> list[str]:
    found = []
    seen = [window, *parts(window)]
    for widget in seen:
        words = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
        name = f"{type(widget).__name__} “{words:.50}”"
        if cut(widget):
            found.append(f"cut: {name}")
        above = widget.parentWidget()
        inside = (
            widget.isWindow()
            or above is None
            or isinstance(above.parentWidget(), QAbstractScrollArea)
        )
        if not inside and not above.rect().adjusted(-1, -1, 1, 1).contains(widget.geometry()):
            found.append(f"outside {type(above).__name__}: {name}")
        children = [
            child
            for child in widget.findChildren(QWidget, options=DIRECT)
            if child in seen and not isinstance(child, QSizeGrip | QSplitterHandle)
        ]
        across = isinstance(widget, QScrollArea) and widget.horizontalScrollBarPolicy() is NEVER
        if across and widget.widget().width() > widget.viewport().width():
            found.append(f"wider than its area: {name}")
        if isinstance(widget, QAbstractScrollArea) or widget.layout() is None:
            continue
        for one, other in combinations(children, 2):
            if one.geometry().intersects(other.geometry()):
                found.append(f"{type(one).__name__} on {type(other).__name__} in {name}")
    return found

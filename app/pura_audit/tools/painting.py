"""Paint the window into a picture, where there is no screen or none is wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEventLoop, QSize, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from pura.base.paths import Paths
from pura.record.audit import Audit
from pura.scheme import SecretKey

SIZE: Final = QSize(1440, 900)
_SETTLE_MS: Final = 400  # layouts, fonts and the first look for keys and models
_SHOWN: Final = "Shown"
_ACROSS: Final = Qt.Orientation.Horizontal
_TURNS: Final = 12  # of the event loop: each lays out what the one before has changed


def settle(milliseconds: int = _SETTLE_MS) -> None:
    """Let the window lay itself out and the model thread answer."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
    for _ in range(_TURNS):  # on a busy machine the time was over before anything was done
        QApplication.processEvents()


def shown(widget: QWidget) -> str:
    """Return a digest of what a widget shows: its parts in their order, and what they are called.

    Titles, buttons, headings of tables and names for screen readers count; findings, times, names
    of devices and whatever else has a digit do not, nor do sizes, colours and fonts.
    """
    parts = [widget, *(one for one in widget.findChildren(QWidget) if one.isVisibleTo(widget))]
    return _digest(" ".join((type(one).__name__, *_called(one))) for one in parts)


def read(words: str) -> str:
    """Return a digest of what a page says: its words in any order, without those with a digit."""
    return _digest(word for word in words.split() if not any(map(str.isdigit, word)))


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(set(lines))).encode()).hexdigest()[:32]


def shown_in(path: Path) -> str:
    """Return the digest of what a picture shows; "" where it holds none."""
    return QImage(str(path)).text(_SHOWN)


def _called(widget: QWidget) -> list[str]:
    names = [widget.accessibleName()]
    if isinstance(widget, QAbstractButton) or _is_title(widget):
        names.append(widget.text())  # type: ignore[attr-defined]
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        names.append(widget.placeholderText())
    if isinstance(widget, QHeaderView) and (model := widget.model()) is not None:
        count = model.columnCount() if widget.orientation() is _ACROSS else 0
        names += [str(model.headerData(place, _ACROSS) or "") for place in range(count)]
    return [name for name in names if name and not any(map(str.isdigit, name))]


def _is_title(widget: QWidget) -> bool:
    return isinstance(widget, QLabel) and widget.property("role") in ("answer", "title", "section")


def paint(widget: QWidget, path: Path) -> Path:
    """Write a widget as PNG, with a digest of what it shows beside it (:func:`shown`)."""
    return write(widget.grab().toImage(), shown(widget), path)


def write(picture: QImage, shows: str, path: Path) -> Path:
    """Write a picture as PNG, with a digest of what it shows.

    Raises:
        OSError: The picture cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.setText(_SHOWN, shows)
    if not picture.save(str(path)):
        raise OSError(f"the picture {path.name} cannot be written")
    return path


def paint_audit(
    audit: Audit,
    path: Path,
    *,
    paths: Paths,
    theme: str,
    session_keys: Mapping[str, SecretKey] | None = None,
) -> Path:
    """Paint the window as it shows an audit.

    Args:
        audit: The record.
        path: PNG file to write.
        paths: The user's folders.
        theme: ``light`` or ``dark``.
        session_keys: Keys for this run only, by label.
    """
    from pura_audit.application import make_application, show_audit

    make_application()
    window = show_audit(audit, paths=paths, theme=theme, session_keys=session_keys)
    try:
        window.resize(SIZE)
        window.show()
        settle()
        return paint(window, path)
    finally:
        window.session.close()
        window.close()
        window.deleteLater()
        settle(0)

"""Paint the window into a file: for the demonstration and the check of a package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEventLoop, QSize, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from pura.base.paths import Paths
from pura.record.audit import Audit
from pura.scheme import SecretKey

SIZE: Final = QSize(1440, 900)
# Layouts, fonts and the first look for keys and models take about so long.
_SETTLE_MS: Final = 400
# Turns of the event loop: each lays out what the one before has changed.
_TURNS: Final = 12


def settle(milliseconds: int = _SETTLE_MS) -> None:
    """Let the window lay itself out and the model thread answer."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
    for _ in range(_TURNS):  # on a busy machine the time was over before anything was done
        QApplication.processEvents()


def paint(widget: QWidget, path: Path) -> Path:
    """Write a widget as PNG.

    Raises:
        OSError: The picture cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not widget.grab().save(str(path)):
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

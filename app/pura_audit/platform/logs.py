"""The log file: what the program did, never a text under audit and never a key."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import IO

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from pura.base.files import make_private

LEVELS = ("debug", "info", "warning", "error")
_NAME = "pura-audit.log"
_CRASH = "crash.log"
_qt = logging.getLogger("qt")
_qt.addHandler(logging.NullHandler())  # where no log is kept, Qt's remarks go nowhere
_kept: list[IO[str]] = []
_folder: list[Path] = []


def log_folder() -> Path:
    """Return the folder of the log file."""
    return _folder[0] if _folder else Path()


def start(folder: Path, level: str) -> str:
    """Begin to log into a folder.

    Args:
        folder: Is made when it is missing.
        level: One of ``LEVELS``.

    Returns:
        What the last run left when it crashed; empty when it ended well.
    """
    _folder[:] = [folder]
    root = logging.getLogger()
    root.setLevel(level.upper())
    try:
        make_private(folder)
        handler = RotatingFileHandler(
            folder / _NAME, maxBytes=1 << 20, backupCount=3, encoding="utf-8"
        )
    except OSError:
        return ""
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    hear_qt()
    return _watch_crashes(folder / _CRASH)


def hear_qt() -> None:
    """Take Qt's remarks into the log; a terminal is for what the program has to say."""
    qInstallMessageHandler(_from_qt)


def set_level(level: str) -> None:
    """Log more or less from now on."""
    logging.getLogger().setLevel(level.upper())


def _watch_crashes(path: Path) -> str:
    """Let a fatal crash leave its stack; return what the last one left."""
    left = ""
    try:
        if path.exists():
            left = path.read_text(encoding="utf-8", errors="replace")
            if left:
                path.replace(path.with_suffix(".last.log"))
        file = path.open("w", encoding="utf-8")
    except OSError:
        return left
    _kept[:] = [file]  # faulthandler writes to it as long as the program lives
    faulthandler.enable(file)
    return left


def stop() -> None:
    """End logging in good order."""
    faulthandler.disable()
    qInstallMessageHandler(None)
    while _kept:
        _kept.pop().close()
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, RotatingFileHandler):
            root.removeHandler(handler)
            handler.close()


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    # Only where and what kind: an exception's words may quote the text under audit.
    logging.getLogger("pura_audit").critical(
        "uncaught %s", kind.__name__, exc_info=(kind, kind(), trace) if trace else None
    )
    sys.__excepthook__(kind, error, trace)


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    name = args.exc_type.__name__ if args.exc_type else "exception"
    logging.getLogger("pura_audit").critical("uncaught %s in a thread", name)


def _from_qt(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
    }
    _qt.log(levels.get(kind, logging.ERROR), "%s", message)

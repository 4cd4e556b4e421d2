"""The log of a command: where it goes, and what may stand in it.

A line says what happened, by shapes, counts, codes, seconds and versions. No line holds a word of a
text, a payload, a secret, or the name or path of a document, a key or a person: a log is sent to
the people who maintain the program. ``tests/e2e/test_logs.py`` searches the logs of fifty audits.
"""

from __future__ import annotations

import logging
import platform
from typing import TYPE_CHECKING, Final, TextIO

from pura.version import __version__

if TYPE_CHECKING:
    _TextHandler = logging.StreamHandler[TextIO]
else:
    _TextHandler = logging.StreamHandler

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
PACKAGES: Final = ("pura", "pura_lab", "pura_audit")
"""Loggers whose lines keep to the rule above; those of libraries may quote what they were given."""


class CommandLog(_TextHandler):
    """Writes the log of a command to a stream; there is at most one."""


def silence() -> None:
    """Write no log, and no warning: without any handler Python would print warnings."""
    for package in PACKAGES:
        logger = logging.getLogger(package)
        for handler in [*logger.handlers]:
            if isinstance(handler, CommandLog):
                logger.removeHandler(handler)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        logger.setLevel(logging.NOTSET)


def log_to(stream: TextIO, level: int = logging.INFO) -> None:
    """Write the program's log to a stream, and begin with the versions.

    Args:
        stream: For example standard error.
        level: The least level that is written.
    """
    silence()
    handler = CommandLog(stream)
    handler.setFormatter(logging.Formatter(FORMAT))
    for package in PACKAGES:
        logger = logging.getLogger(package)
        logger.addHandler(handler)
        logger.setLevel(level)
    log_versions()


def log_versions() -> None:
    """Log what a maintainer asks first: versions of program, Python and system."""
    logging.getLogger(__name__).info(
        "PURA %s, Python %s, %s %s, %s",
        __version__,
        platform.python_version(),
        platform.system(),
        platform.release(),
        platform.machine(),
    )

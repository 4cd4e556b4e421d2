"""The log of a command: its destination, and the rule for its content.

A line reports what happened, with shapes, counts, codes, durations and versions. No line contains a
word of a text, a payload, a secret, or the name or path of a document, a key or a person, since
logs are sent to the maintainers of the program. ``tests/e2e/test_logs.py`` searches the logs of
fifty audits.
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
"""Loggers that follow the rule above; those of libraries may quote their input."""


class CommandLog(_TextHandler):
    """Handler that writes the log of a command to a stream; there is at most one."""


def silence() -> None:
    """Disable the log; a null handler is set, since without any handler Python prints warnings."""
    for package in PACKAGES:
        logger = logging.getLogger(package)
        for handler in [*logger.handlers]:
            if isinstance(handler, CommandLog):
                logger.removeHandler(handler)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        logger.setLevel(logging.NOTSET)


def log_to(stream: TextIO, level: int = logging.INFO) -> None:
    """Write the log of the program to a stream, beginning with the versions.

    Args:
        stream: The stream, for example standard error.
        level: Lowest level that is written.
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
    """Log the versions of the program, of Python and of the system."""
    logging.getLogger(__name__).info(
        "PURA %s, Python %s, %s %s, %s",
        __version__,
        platform.python_version(),
        platform.system(),
        platform.release(),
        platform.machine(),
    )

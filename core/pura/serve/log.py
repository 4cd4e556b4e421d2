"""Lines of JSON about what was done: never a text, a token or a whole address."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TextIO


class Log:
    """Writes one line of JSON for each thing that was done.

    Args:
        stream: Where to; None is standard error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def __call__(self, event: str, **facts: Any) -> None:
        """Write a line."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
        stream = self._stream or sys.stderr
        with suppress(OSError):  # a full disk must not cost anybody an answer
            stream.write(json.dumps(line | facts, ensure_ascii=True) + "\n")
            stream.flush()


class OthersHandler(logging.Handler):
    """What libraries log, in lines of ours: where it came from, and of a fault its kind and place.

    Their own words are left out, as they may quote what they were given.

    Args:
        log: Where to.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(level=logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        facts: dict[str, Any] = {"from": record.name, "level": record.levelname.lower()}
        if reference := getattr(record, "reference", None):  # a fault that an answer refers to
            facts["reference"] = reference
        kind, _, trace = record.exc_info or (None, None, None)
        if kind is not None:
            facts["kind"] = kind.__name__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            if trace is not None:
                facts["at"] = f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}"
        self._log("library", **facts)

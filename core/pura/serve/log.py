"""What is written down and counted of what was asked: never a text, a token or an outcome."""

from __future__ import annotations

import asyncio
import collections
import json
import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


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


_TOGETHER_S: Final = 10.0
_MOST: Final = 1000


class Refusals:
    """Writes the first refusal of a kind at once; those like it after ten seconds, counted.

    Whoever asks in vain very often would fill the disk with lines otherwise. One thread: that of
    the event loop.

    Args:
        log: Where to.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._more: collections.Counter[tuple[str, str, str]] = collections.Counter()

    def add(self, role: str, reason: str, block: str) -> None:
        """Take a refusal down.

        Args:
            role: Of whoever was refused; empty where that is not known.
            reason: The code of the error.
            block: Of addresses, from which it came; empty where there is none.
        """
        if not self._more:
            asyncio.get_running_loop().call_later(_TOGETHER_S, self.flush)
        kind = (role, reason, block)
        if kind not in self._more and len(self._more) >= _MOST:
            kind = (role, reason, "")  # from very many places: they are counted together
        if kind in self._more:
            self._more[kind] += 1
        else:
            self._more[kind] = 0
            self._write(kind, 1)

    def flush(self) -> None:
        """Write those that were only counted."""
        for kind, count in self._more.items():
            if count:
                self._write(kind, count)
        self._more.clear()

    def _write(self, kind: tuple[str, str, str], count: int) -> None:
        role, reason, block = kind
        self._log("refused", role=role, reason=reason, block=block, count=count)


_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600)


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.checks = Counter(
            "pura_serve_checks", "Checks that ended.", ("role", "end"), registry=self._registry
        )
        self.refused = Counter(
            "pura_serve_refused", "Questions not taken.", ("code",), registry=self._registry
        )
        self.alone = Counter(
            "pura_serve_read_alone",
            "Texts read alone, since reading them beside others failed.",
            registry=self._registry,
        )
        self.seconds = Histogram(
            "pura_serve_seconds",
            "From a question to its answer.",
            ("role",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.waiting = Gauge(
            "pura_serve_waiting", "Texts that wait.", ("line",), registry=self._registry
        )
        self.kept = Gauge("pura_serve_kept", "Checks that are held.", registry=self._registry)

    def text(self) -> bytes:
        """Return them as Prometheus reads them."""
        return generate_latest(self._registry)

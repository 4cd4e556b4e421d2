"""What is counted for Prometheus. No outcome is: who reads the counters would read the answers."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

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

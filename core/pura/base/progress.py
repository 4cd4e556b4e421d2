"""Progress reports of long tasks, and their cancellation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Progress of a task.

    Attributes:
        number: Step of an audit, 1 … 12; 0 for other tasks.
        name: Stable name of the step, for programs.
        done: Finished units of the step (tokens while an audit reads).
        total: Units of the step; 0 if they are not counted.
        log10_e: Logarithm of the evidence so far, if it was computed; else None.
    """

    number: int = 0
    name: str
    done: int = 0
    total: int = 0
    log10_e: float | None = None


Progress = Callable[[Stage], None]
Checkpoint = Callable[[], None]
"""Called often during a task; may raise :class:`~pura.base.errors.Cancelled` to stop it."""


def no_progress(_: Stage) -> None:
    """Ignore a progress report."""


def not_counted(_finished: int, _total: int) -> None:
    """Ignore a count of finished units."""


def never_cancelled() -> None:
    """Never cancel."""


def counted(progress: Progress, name: str) -> Callable[[int, int], None]:
    """Return a function that reports finished and total units of one step."""

    def report(finished: int, total: int) -> None:
        progress(Stage(name=name, done=finished, total=total))

    return report

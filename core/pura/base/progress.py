"""How whoever waits for a long piece of work is told of it, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Stage:
    """How far a piece of work is.

    Attributes:
        number: 1 … 12, the step of an audit; 0 for everything else.
        name: Of the step; stable, for programs.
        done: Units done within the step (tokens while an audit reads).
        total: Units of the step; 0 when they are not counted.
        log10_e: The evidence of what was read so far, where somebody looked; else None.
    """

    number: int = 0
    name: str
    done: int = 0
    total: int = 0
    log10_e: float | None = None


Progress = Callable[[Stage], None]
Checkpoint = Callable[[], None]
"""Called often by whoever works; may raise :class:`~pura.base.errors.Cancelled` to stop it."""


def no_progress(_: Stage) -> None:
    """Tell nobody."""


def not_counted(_done: int, _total: int) -> None:
    """Tell nobody how many of how many are done."""


def never_cancelled() -> None:
    """Go on."""


def counted(progress: Progress, name: str) -> Callable[[int, int], None]:
    """Return what tells of one step in pieces done and pieces in all."""

    def tell(done: int, total: int) -> None:
        progress(Stage(name=name, done=done, total=total))

    return tell

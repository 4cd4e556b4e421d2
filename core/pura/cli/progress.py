"""How far work is: bars on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Self

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from pura.base.progress import Stage
from pura.cli.terminal import err, notes, say

if TYPE_CHECKING:
    from pura.batch.journal import BatchStatus

_SAID_EVERY_S: Final = 15.0
_BATCH_SAID_EVERY_S: Final = 60.0


class ProgressLine:
    """Stage and time left on a terminal, nothing in a pipe; gone while others print.

    Args:
        name: What the work is on.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def __call__(self, stage: Stage) -> None:
        """Show a stage."""
        if self._bar is None:
            self._bar = _bar(TimeRemainingColumn())
            self._task = self._bar.add_task(self._name, total=None)
            self._bar.start()
        self._bar.update(
            self._task,
            description=f"{self._name}: {say(f'stage.{stage.name}')}",
            completed=stage.done,
            total=stage.total or None,
        )

    def rest(self) -> None:
        """Make room for what is printed."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()


@contextmanager
def bars(words: Mapping[str, str]) -> Iterator[Callable[[Stage], None]]:
    """Lend what shows each step of a long piece of work as a bar of its own.

    Args:
        words: Key of the command's words, by the name of the step; other steps are not shown.
    """
    tasks: dict[str, TaskID] = {}
    with _bar(TimeRemainingColumn()) as bar:

        def tell(stage: Stage) -> None:
            if stage.name not in words:
                return
            if stage.name not in tasks:
                tasks[stage.name] = bar.add_task(say(words[stage.name]), total=None)
            bar.update(tasks[stage.name], completed=stage.done, total=stage.total)

        yield tell


@contextmanager
def bar_of(words: str) -> Iterator[Callable[[Stage], None]]:
    """Lend what shows one step: a bar with percents, in a pipe a line now and then.

    Args:
        words: Key of the command's words for the step.
    """
    title, begun = say(words), time.monotonic()
    said = begun
    with _bar(TaskProgressColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(title, total=None)

        def tell(stage: Stage) -> None:
            nonlocal said
            bar.update(task, completed=stage.done, total=stage.total or None)
            if not err.is_terminal and time.monotonic() >= said + _SAID_EVERY_S:
                said = time.monotonic()
                percent = f"{100 * stage.done // max(stage.total, 1)}"
                seconds = f"{said - begun:.0f}"
                notes.print(say("bar.line", what=title, percent=percent, seconds=seconds))

        yield tell


@contextmanager
def batch_bar() -> Iterator[Callable[[BatchStatus], None]]:
    """Lend what says how far a batch is: a bar on a terminal, a line now and then in a pipe."""
    said = 0.0
    with _bar(hidden=not err.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def tell(status: BatchStatus) -> None:
            nonlocal said
            words, total = _batch_words(status), max(status.total, 1)
            bar.update(task, description=words, completed=min(status.weight, total), total=total)
            if not err.is_terminal and status.seconds >= said + _BATCH_SAID_EVERY_S:
                said = status.seconds
                err.print(words)

        yield tell


def _batch_words(status: BatchStatus) -> str:
    rate = status.found / status.seconds if status.seconds else 0.0
    share = min(1.0, status.weight / status.total) if status.total else 0.0
    left = status.seconds * (1 - share) / share if share else 0.0
    return say(
        "batch.progress",
        rows=status.rows,
        rate=f"{rate:.3g}",
        hours=int(left // 3600),
        minutes=f"{int(left % 3600 // 60):02}",
    )


def _bar(*more: ProgressColumn, hidden: bool | None = None) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *more,
        console=err.rich,
        disable=notes.quiet or not err.is_terminal if hidden is None else hidden,
        transient=True,
    )

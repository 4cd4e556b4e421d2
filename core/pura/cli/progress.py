"""Stage and time left, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Self

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pura.base.progress import Stage
from pura.cli.terminal import err, notes, say


class Resting:
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
            self._bar = _bar()
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
    with _bar() as bar:

        def tell(stage: Stage) -> None:
            if stage.name not in words:
                return
            if stage.name not in tasks:
                tasks[stage.name] = bar.add_task(say(words[stage.name]), total=None)
            bar.update(tasks[stage.name], completed=stage.done, total=stage.total)

        yield tell


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeRemainingColumn(),
        console=err.rich,
        disable=notes.quiet or not err.is_terminal,
        transient=True,
    )

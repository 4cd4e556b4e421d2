"""Stage and time left, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pura.base.progress import Stage
from pura.cli.terminal import err, say


class progress:  # noqa: N801 - used like a function
    """Stage and time left on a terminal, nothing in a pipe."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar = _bar()

    def __enter__(self) -> _Report:
        self._bar.start()
        return _Report(self._bar, self._name)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class _Report:
    def __init__(self, bar: Progress, name: str) -> None:
        self._bar = bar
        self._name = name
        self._task = bar.add_task(name, total=None)

    def __call__(self, stage: Stage) -> None:
        self._bar.update(
            self._task,
            description=f"{self._name}: {say(f'stage.{stage.name}')}",
            completed=stage.done,
            total=stage.total or None,
        )


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
        disable=not err.is_terminal,
        transient=True,
    )

"""The numbered steps of an audit, and the log that says what each of them did."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pura.base.errors import PuraError
from pura.base.progress import Checkpoint, Progress, Stage
from pura.record.audit import StepReport

STEPS: Final = (
    "input",
    "text",
    "tokens",
    "fitness",
    "reading",
    "schedule",
    "local-evidence",
    "decoding",
    "significance",
    "passages",
    "candidates",
    "verdict",
)


@dataclass(frozen=True, kw_only=True)
class StepLog:
    """Tells of steps as they begin, and keeps what they did.

    Attributes:
        reports: Gets a report of every step as it ends, also of the one that failed.
        progress: Told of every step.
        checkpoint: Called before each; may raise.
    """

    reports: list[StepReport]
    progress: Progress
    checkpoint: Checkpoint

    @contextmanager
    def step(self, number: int) -> Iterator[list[str]]:
        """Walk a step; the notes that the caller adds go into its report."""
        self.checkpoint()
        self.progress(Stage(number=number, name=STEPS[number - 1]))
        with self.logged(number) as note:
            yield note

    @contextmanager
    def logged(self, number: int, spent: float = 0.0) -> Iterator[list[str]]:
        """Put a step into the log; ``spent`` are seconds that it took before."""
        note: list[str] = []
        start = time.perf_counter()
        done = False
        try:
            yield note
            done = True
        except PuraError as error:
            note = [str(error)]
            raise
        finally:
            seconds = round(spent + time.perf_counter() - start, 6)
            self.reports.append(
                StepReport(
                    number=number,
                    name=STEPS[number - 1],
                    done=done,
                    note="; ".join(note),
                    seconds=seconds,
                )
            )

    @contextmanager
    def resumed(self, spent: float) -> Iterator[list[str]]:
        """Go on with the last step; ``spent`` are seconds that passed for it in between."""
        before = self.reports.pop()
        with self.logged(before.number, before.seconds + spent) as note:
            note.append(before.note)
            yield note

    def skip(self, number: int, why: str) -> None:
        """Say why a step was left out."""
        name = STEPS[number - 1]
        self.reports.append(StepReport(number=number, name=name, done=False, note=why))

"""The numbered steps of an audit, and the log in which each says what it did."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pura.base.errors import PuraError
from pura.base.progress import Checkpoint, Progress, Stage
from pura.detect.verdict.outcome import Outcome
from pura.detect.verdict.policy import Policy
from pura.documents import Document
from pura.record.surroundings import StepReport
from pura.words.sentences import Sentence, sentence

_log = logging.getLogger(__name__)

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


def input_noted(document: Document, *, alone: bool) -> list[Sentence]:
    """Return what step 1 says of a document.

    Args:
        document: The document.
        alone: It is read by itself, since reading it beside others failed.
    """
    noted = [bytes_noted(document.size_bytes, document.sha256)]
    return [*noted, sentence("log.alone")] if alone else noted


def bytes_noted(size: int, sha256: str) -> Sentence:
    """Return what step 1 says of a file."""
    return sentence("log.bytes", n=size, sha256=sha256)


def characters_noted(document: Document) -> Sentence:
    """Return what step 2 says of a text."""
    return sentence("log.characters", n=len(document.text), encoding=document.encoding)


def rule_noted(policy: Policy, outcome: Outcome) -> Sentence:
    """Return what step 12 says of the decision."""
    return sentence("log.rule", name=policy.rule, outcome=f"log.outcome-{outcome.verdict}")


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
    def step(self, number: int) -> Iterator[list[Sentence]]:
        """Walk a step; the notes that the caller adds go into its report."""
        self.checkpoint()
        self.progress(Stage(number=number, name=STEPS[number - 1]))
        with self.logged(number) as note:
            yield note

    @contextmanager
    def logged(self, number: int, spent: float = 0.0) -> Iterator[list[Sentence]]:
        """Put a step into the log; ``spent`` are seconds that it took before."""
        note: list[Sentence] = []
        failure: dict[str, object] | None = None
        start = time.perf_counter()
        done = False
        try:
            yield note
            done = True
        except PuraError as error:
            failure = error.packed()
            _log.info("step %d, %s, failed: %s", number, STEPS[number - 1], error.code)
            raise
        finally:
            seconds = round(spent + time.perf_counter() - start, 6)
            _log.debug("step %d, %s: %.3f s", number, STEPS[number - 1], seconds)
            self.reports.append(
                StepReport(
                    number=number,
                    name=STEPS[number - 1],
                    done=done,
                    note=tuple(note),
                    seconds=seconds,
                    error=failure,
                )
            )

    @contextmanager
    def resumed(self, spent: float) -> Iterator[list[Sentence]]:
        """Go on with the last step; ``spent`` are seconds that passed for it in between."""
        before = self.reports.pop()
        with self.logged(before.number, before.seconds + spent) as note:
            note += [one for one in before.note if isinstance(one, Sentence)]
            yield note

    def skip(self, number: int, why: str) -> None:
        """Say by a key of the catalogue why a step was left out."""
        name = STEPS[number - 1]
        self.reports.append(StepReport(number=number, name=name, done=False, note=(sentence(why),)))

"""A reader without a model, for what is measured and killed: the batch around it is the real one.

Started as a program it works a batch off: ``_fast_reader.py RESULT JOURNAL SECONDS JOBS INPUT…``,
where each text takes so many seconds.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pura.batch.engine import Engine, Read, here, local
from pura.batch.inputs import Inputs, TextResult
from pura.batch.journal import BatchJournal, BatchStatus, Tell, work_off
from pura.batch.results import format_of, write_rows
from pura.documents import Document

KEYS = (b"k" * 32, b"q" * 32)
DEADLY = "no worker survives this"


@dataclass(frozen=True, kw_only=True)
class FastPlan:
    """A worker that finds what a text's digest says.

    Attributes:
        seconds: How long each text takes.
        opening: How long it takes to get ready.
        deaths: Folder where a worker notes that it died of a text, so that the next one does not;
            empty: every worker dies of it.
    """

    seconds: float = 0.0
    opening: float = 0.0
    deaths: str = ""

    @contextmanager
    def opened(self, secrets: Sequence[bytearray]) -> Iterator[Read]:
        """Get ready; the evidence is drawn from keys and text."""
        time.sleep(self.opening)
        keys = b"".join(secrets)

        def read(documents: Sequence[Document]) -> list[TextResult]:
            return [self._finding(document, keys) for document in documents]

        yield read

    def _finding(self, document: Document, keys: bytes) -> TextResult:
        if DEADLY in document.text:
            self._die(document)
        time.sleep(self.seconds)
        drawn = hashlib.sha256(keys + document.text.encode()).digest()
        row = {
            "verdict": "mark" if drawn[0] < 64 else "insufficient",
            "log10_e": int.from_bytes(drawn[:4], "little") / 2**32,
            "payload": f"{drawn[1]:08b}",
            "payload_best": f"{drawn[1]:08b}",
            "fields": {"number": str(drawn[2])},
            "passages": [[0, len(document.text)]],
            "share": 1.0,
            "tokens": len(document.text.split()),
            "usable": 1,
        }
        return TextResult(row=row, seconds=self.seconds)

    def _die(self, document: Document) -> None:
        noted = Path(self.deaths, document.part or "one")
        if self.deaths and noted.exists():
            return
        if self.deaths:
            noted.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def work(
    result: str,
    journal: Path,
    inputs: Inputs,
    engine: Engine | None = None,
    plan: FastPlan | None = None,
    tell: Tell = lambda _: None,
) -> BatchStatus:
    """Work a batch off and write its result."""
    plan = plan or FastPlan()
    with plan.opened(lend()) as read, BatchJournal(journal, {"plan": "fast"}) as book:
        status = work_off(inputs, book, engine or here(read), tell=tell)
        write_rows(result, book.rows(), format_of(result))
    return status


def lend() -> list[bytearray]:
    """Lend the keys."""
    return [bytearray(key) for key in KEYS]


def main() -> None:
    """Work a batch off, as a process that may be killed."""
    result, journal, seconds, jobs, *names = sys.argv[1:]
    plan = FastPlan(seconds=float(seconds))
    engine = local(plan, lend, int(jobs)) if int(jobs) > 1 else None
    work(result, Path(journal), Inputs(names=tuple(names)), engine, plan)


if __name__ == "__main__":
    from _fast_reader import main as imported  # what workers are told names this module

    imported()

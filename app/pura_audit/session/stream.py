"""The audits that wait and run: one job for all of them, and how long an audit takes here."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from pura.audit.options import AuditText
from pura.base.errors import Cancelled, PuraError
from pura.base.progress import Stage
from pura.model.device import Device
from pura.model.folder import InstalledModel
from pura.record.audit import Audit
from pura.usecases.audits import Audited, Setup, UnreadFile
from pura_audit.jobs.queue import (
    Done,
    Failure,
    Job,
    JobContext,
    JobQueue,
    Outcome,
    Progress,
    Stopped,
    unexpected,
)
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.engine import AuditEngine
from pura_audit.session.keeper import Keeper, Kept
from pura_audit.session.queue_model import Item

SHORTEST: Final = 400  # characters of a text that tells something of the pace
LONG_S: Final = 300.0  # from here on somebody is asked first
LONG_CHARACTERS: Final = 60_000  # the same where nothing was measured yet
EXCERPT_S: Final = 60.0
EXCERPT: Final = (2_000, 20_000)  # characters of an excerpt, at least and at most
EXCERPT_UNMEASURED: Final = 4_000


class Pace:
    """Characters a second, of one model on one device.

    Args:
        settings: Remember the pace until the next start.
    """

    def __init__(self, settings: SettingsFile) -> None:
        self._settings = settings
        self._of = ""

    def use(self, model: InstalledModel | None, device: object) -> None:
        """Say with what the next audits are done."""
        place = f"{device.name} {device.dtype}" if isinstance(device, Device) else ""
        self._of = f"{model.fingerprint} {place}" if model is not None and place else ""

    @property
    def rate(self) -> float | None:
        """Characters a second; None while nothing was measured."""
        now = self._settings.current
        known = self._of and now.pace_of == self._of
        return now.pace if known and math.isfinite(now.pace) and now.pace > 0 else None

    def note(self, audit: Audit) -> None:
        """Learn from an audit that was done."""
        spent = sum(step.seconds for step in audit.log)
        short = audit.input.characters < SHORTEST or audit.stopped is not None
        if not self._of or short or spent <= 0:
            return
        rate, before = audit.input.characters * _readings_of(audit) / spent, self.rate
        self._settings.update(
            pace=rate if before is None else (before + rate) / 2, pace_of=self._of
        )

    def seconds(self, items: Iterable[Item]) -> float | None:
        """Return how long audits of these texts take together; None where that is not known."""
        rate = self.rate
        return None if rate is None else sum(map(_characters, items)) / rate

    def long(self, items: Iterable[Item]) -> bool:
        """Whether somebody is to be asked before these texts are audited."""
        chosen = list(items)
        expected = self.seconds(chosen)
        if expected is None:
            return sum(map(_characters, chosen)) > LONG_CHARACTERS
        return expected > LONG_S

    @property
    def excerpt(self) -> int:
        """How many characters are read in about a minute."""
        rate = self.rate
        if rate is None:
            return EXCERPT_UNMEASURED
        return max(EXCERPT[0], min(EXCERPT[1], 1000 * round(rate * EXCERPT_S / 1000)))


def excerpt_of(text: str, characters: int) -> str:
    """Return how a text begins, up to the end of a paragraph, a sentence or a word."""
    if len(text) <= characters:
        return text
    begin = text[:characters]
    for end in ("\n\n", "\n", ". ", " "):
        place = begin.rfind(end)
        if place > characters // 2:
            return begin[: place + len(end)].rstrip()
    return begin


def length(item: Item) -> int:
    """Return the characters of a row's text; 0 while it was never read."""
    return len(item.document.text) if item.document is not None else item.noted


def _characters(item: Item) -> int:
    prompts = item.prompt.count("\n") + 1 if item.several and item.prompt.strip() else 0
    return length(item) * (1 + prompts)


def _readings_of(audit: Audit) -> int:
    return max(1, len(audit.prompts))


_GLANCE_S: Final = 0.05


@dataclass(kw_only=True, eq=False)
class _Asked:
    """An audit that somebody asked for; ``item`` belongs to the window's thread."""

    item: Item
    size: int
    setup: Setup
    text: AuditText | UnreadFile
    stopped: bool = False

    @property
    def name(self) -> str:
        text = self.text
        return text.name if isinstance(text, UnreadFile) else text.document.name


class AuditStream(QObject):
    """Reads rows; short ones first.

    Args:
        jobs: The queue of the model.
        engine: Who reads.
        keeper: Keeps what was found, before anybody hears of it.

    Signals:
        begun: A row's turn has come: the row.
        told: How far a row is: the row, and a Progress.
        ended: What came of a row: the row, and Done with what was kept, Failure or Stopped.
    """

    begun = Signal(object)
    told = Signal(object, object)
    ended = Signal(object, object)

    def __init__(
        self, jobs: JobQueue, engine: AuditEngine, keeper: Keeper, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._jobs, self._engine, self._keeper = jobs, engine, keeper
        self._lock = threading.Lock()
        self._waiting: list[_Asked] = []
        self._asked: dict[Item, _Asked] = {}  # in the window's thread, as the next one
        self._reading: list[_Asked] = []
        self._job: Job | None = None
        self._together = threading.Event()  # what is asked for in one go is there as a whole
        self._taken: list[_Asked] = []  # in the thread of the model, as the next one
        self._step = -1

    # In the window's thread

    def ask(self, item: Item, setup: Setup, text: AuditText | UnreadFile) -> None:
        """Let a row wait, before the longer ones that came last.

        Files are read one by one, so the texts of one order come here in any order.
        """
        asked = _Asked(item=item, size=length(item), setup=setup, text=text)
        self._asked[item] = asked
        with self._lock:
            place = len(self._waiting)
            while place and self._waiting[place - 1].size > asked.size:
                place -= 1
            self._waiting.insert(place, asked)
        if self._job is None:
            self._together.clear()
            self._start()
            QTimer.singleShot(0, self, self._together.set)

    def stop(self, items: Iterable[Item]) -> None:
        """Stop these rows, waiting or read; what is read beside them goes on."""
        for item in items:
            asked = self._asked.get(item)
            if asked is not None:
                asked.stopped = True
                with self._lock:
                    if asked in self._waiting:
                        self._waiting.remove(asked)
                self._end(asked, Stopped())

    def stop_all(self) -> None:
        """Stop every row."""
        self.stop(list(self._asked))

    def order(self) -> tuple[Item, ...]:
        """Return the rows that wait, next first."""
        with self._lock:
            return tuple(asked.item for asked in self._waiting)

    def move(self, item: Item, by: int) -> None:
        """Let a waiting row be read earlier (negative) or later."""
        asked = self._asked.get(item)
        with self._lock:
            if asked is not None and asked in self._waiting:
                place = self._waiting.index(asked)
                self._waiting.insert(max(0, place + by), self._waiting.pop(place))

    def _begin(self, asked: _Asked) -> None:
        if not asked.stopped:
            self._reading.append(asked)
            self.begun.emit(asked.item)

    def _progressed(self, progress: Progress) -> None:
        progress = replace(progress, texts=len(self._reading))
        for asked in self._reading:
            self.told.emit(asked.item, progress)

    def _end(self, asked: _Asked, outcome: Outcome[Kept]) -> None:
        if self._asked.get(asked.item) is asked:
            del self._asked[asked.item]
            if asked in self._reading:
                self._reading.remove(asked)
            self.ended.emit(asked.item, outcome)

    def _over(self, outcome: Outcome[None]) -> None:
        self._job = None
        for asked in tuple(self._reading):  # it broke off amid these
            self._end(asked, outcome if isinstance(outcome, Failure) else Stopped())
        with self._lock:
            more = bool(self._waiting)
        if more:
            self._start()

    def _start(self) -> None:
        self._job = self._jobs.do(self._read_all, self._over, self, progressed=self._progressed)

    # In the thread of the model

    def _read_all(self, context: JobContext) -> None:
        self._taken = []
        while not self._together.wait(_GLANCE_S):
            context.checkpoint()
        while (setup := self._next()) is not None:
            try:
                self._read(setup, self._take(setup, context), context)
            except Cancelled:
                context.checkpoint()  # else whoever was read has been stopped; the others go on
                self._taken = []
            except Exception as error:  # no text's fault: what is wrong with one is its outcome
                failure = unexpected(error)
                for asked in tuple(self._taken):
                    self._found(asked, failure, context)

    def _next(self) -> Setup | None:
        with self._lock:
            return self._waiting[0].setup if self._waiting else None

    def _take(self, setup: Setup, context: JobContext) -> Iterator[_Asked]:
        """Take rows from those that wait, as long as they are read with the same."""
        while True:
            context.checkpoint()
            with self._lock:
                if not self._waiting or self._waiting[0].setup != setup:
                    return
                asked = self._waiting.pop(0)
                self._taken.append(asked)
            self._keeper.start(asked.name)
            context.post(lambda one=asked: self._begin(one))  # type: ignore[misc]
            yield asked

    def _read(self, setup: Setup, rows: Iterable[_Asked], context: JobContext) -> None:
        def progress(stage: Stage) -> None:
            # Steps are walked by one text after the other: what is shown never goes back. The
            # evidence is looked at for each text by itself.
            if stage.number < self._step or (stage.log10_e is not None and len(self._taken) > 1):
                return
            self._step = stage.number
            context.progress(stage)

        def checkpoint() -> None:
            context.checkpoint()
            if self._taken and all(asked.stopped for asked in self._taken):
                raise Cancelled

        self._step = -1
        try:
            with self._engine.prepared(setup) as ready:
                items = ((asked, asked.text) for asked in rows)
                for asked, found in ready.stream(items, progress=progress, checkpoint=checkpoint):
                    self._found(asked, found, context)
                    if not self._taken:
                        self._step = -1
        except PuraError as error:  # neither of these can be audited: a key, the model
            for asked in tuple(self._taken):
                self._found(asked, error, context)

    def _found(
        self, asked: _Asked, found: Audited | PuraError | Failure, context: JobContext
    ) -> None:
        outcome: Outcome[Kept] = Stopped()
        if asked.stopped:
            pass  # whoever stopped it has been told
        elif isinstance(found, Audited):
            try:
                outcome = Done(self._keeper.keep(found))
            except Exception as error:
                outcome = unexpected(error)
        elif isinstance(found, PuraError):
            self._keeper.fail(asked.name, found)
            outcome = Failure.of(found)
        else:
            outcome = found
        self._taken.remove(asked)
        context.post(lambda: self._end(asked, outcome))

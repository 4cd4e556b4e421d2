"""Audits of rows.

Which are due, with what they are made, in which order they run, how long one takes.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from pura.base.errors import Cancelled, PuraError
from pura.base.progress import Stage
from pura.detect.options import AuditText, Notice
from pura.detect.verdict.expect import Expectation, expect
from pura.documents import Document, from_text
from pura.model.device import Device
from pura.model.folder import InstalledModel
from pura.record.audit import Audit
from pura.scheme import Profile
from pura.usecases.audits import Audited, Setup, UnreadFile
from pura.usecases.choices import candidates_of
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
from pura_audit.platform.i18n import duration, error_words, filled, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.choices import AuditEngine, Chosen
from pura_audit.session.keeper import Keeper, Kept
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.texts import TextList

SHORTEST: Final = 400  # characters of a text that tells something of the pace
LONG_S: Final = 300.0  # from here on somebody is asked first
LONG_CHARACTERS: Final = 60_000  # the same where nothing was measured yet
EXCERPT_S: Final = 60.0
EXCERPT: Final = (2_000, 20_000)  # characters of an excerpt, at least and at most
EXCERPT_UNMEASURED: Final = 4_000


class ReadingSpeed:
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
        rate, before = audit.input.characters * max(1, len(audit.prompts)) / spent, self.rate
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
    return len(item.document.text) if item.document is not None else item.known_length


def _characters(item: Item) -> int:
    prompts = item.prompt.count("\n") + 1 if item.several and item.prompt.strip() else 0
    return length(item) * (1 + prompts)


_GLANCE_S: Final = 0.05
SHORT_S: Final = 20.0  # what is over sooner needs no word


@dataclass(kw_only=True, eq=False)
class _Request:
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
        progressed: How far a row is: the row, and a Progress.
        ended: What came of a row: the row, and Done with what was kept, Failure or Stopped.
    """

    begun = Signal(object)
    progressed = Signal(object, object)
    ended = Signal(object, object)

    def __init__(
        self, jobs: JobQueue, engine: AuditEngine, keeper: Keeper, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._jobs, self._engine, self._keeper = jobs, engine, keeper
        self._lock = threading.Lock()
        self._waiting: list[_Request] = []
        self._asked: dict[Item, _Request] = {}  # in the window's thread, as the next one
        self._reading: list[_Request] = []
        self._job: Job | None = None
        self._together = threading.Event()  # what is asked for in one go is there as a whole
        self._taken: list[_Request] = []  # in the thread of the model, as the next one
        self._step = -1

    # In the window's thread

    def ask(self, item: Item, setup: Setup, text: AuditText | UnreadFile) -> None:
        """Let a row wait, before the longer ones that came last.

        Files are read one by one, so the texts of one order come here in any order.
        """
        asked = _Request(item=item, size=length(item), setup=setup, text=text)
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
        """Stop these rows, waiting or read; those in the same batch go on."""
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

    def _begin(self, asked: _Request) -> None:
        if not asked.stopped:
            self._reading.append(asked)
            self.begun.emit(asked.item)

    def _spread(self, progress: Progress) -> None:
        progress = replace(progress, texts=len(self._reading))
        for asked in self._reading:
            self.progressed.emit(asked.item, progress)

    def _end(self, asked: _Request, outcome: Outcome[Kept]) -> None:
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
        self._job = self._jobs.do(self._read_all, self._over, self, progressed=self._spread)

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

    def _take(self, setup: Setup, context: JobContext) -> Iterator[_Request]:
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

    def _read(self, setup: Setup, rows: Iterable[_Request], context: JobContext) -> None:
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
        self, asked: _Request, found: Audited | PuraError | Failure, context: JobContext
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


_FRESH = (ItemState.READY, ItemState.INTERRUPTED)


class Audits(QObject):
    """Has rows audited with what is chosen.

    Args:
        texts: The rows.
        chosen: With what they are audited.
        model: The queue of whatever reads with the model.
        engine: Who reads.
        keeper: Keeps what was found.
        settings: Say whether audits begin by themselves.

    Attributes:
        stream: The rows that wait and those that are read.
        pace: How long audits take.

    Signals:
        kept: A row's finding has come, and is in the case log: the row.
        noticed: Something to say in the status line.
    """

    kept = Signal(object)
    noticed = Signal(str)

    def __init__(
        self,
        texts: TextList,
        chosen: Chosen,
        model: JobQueue,
        engine: AuditEngine,
        keeper: Keeper,
        settings: SettingsFile,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._texts, self._chosen, self._model = texts, chosen, model
        self._settings, self._policy = settings, engine.environment.paths.policy
        self.pace = ReadingSpeed(settings)
        self.stream = AuditStream(model, engine, keeper, self)
        self.read_alone = 0  # since the window was opened
        self.stream.begun.connect(self._started)
        self.stream.progressed.connect(self._progressed)
        self.stream.ended.connect(self._audited)
        texts.wanted.connect(lambda item: self.audit([item]))
        texts.unreadable.connect(self._ask_unreadable)
        texts.leaving.connect(self.stream.stop)
        for signal in (chosen.changed, chosen.device_changed):
            signal.connect(lambda: self.pace.use(chosen.model, chosen.device))

    def due(self) -> tuple[Item, ...]:
        """Return the rows that the Audit button would do: all new ones, else the one on screen."""
        fresh = tuple(i for i in self._texts.queue.items if i.runnable and i.state in _FRESH)
        if fresh:
            return fresh
        current = self._texts.current
        return (current,) if current is not None and current.runnable else ()

    @property
    def starts_by_itself(self) -> bool:
        """Whether an audit begins by itself when a text is dropped."""
        wanted = self._settings.current.begin_audits
        return not self._policy.exists() if wanted is None else wanted

    def take_dropped(self) -> tuple[Item, ...]:
        """Return the texts that were dropped, once: when all are read and nothing is missing."""
        chosen, dropped = self._chosen, self._texts.dropped
        if any(item.state is ItemState.LOADING for item in dropped):
            return ()
        ready = chosen.ready and not chosen.mismatches() and self.starts_by_itself
        # The sample brings its own key and profile, and was asked for.
        taken = [i for i in dropped if ready or (i.sample and chosen.model is not None)]
        self._texts.dropped = [item for item in dropped if item not in taken]
        here = set(self._texts.queue.items)
        return tuple(i for i in taken if i in here and i.state is ItemState.READY)

    def audit(self, items: Sequence[Item] | None = None) -> None:
        """Queue audits of the rows, short ones first; a file that was not read is read again."""
        for item in sorted(items if items is not None else self.due(), key=length):
            if item.document is None and item.path is not None and not item.active:
                item.failure, item.wanted = None, True
                self._texts.load(item)
                self._texts.touch(item)
            elif item.runnable and item.document is not None:
                self._ask(item, item.document)

    def audit_excerpts(self, items: Sequence[Item]) -> None:
        """Audit how the long ones of these texts begin, each as a row and a text of its own."""
        most = self.pace.excerpt
        chosen = []
        for item in items:
            if item.document is None or length(item) <= most:
                chosen.append(item)
                continue
            begin = excerpt_of(item.document.text, most)
            words = translate("Session", "{name:text}, first {n:count} characters")
            name = filled(words, name=item.name, n=len(begin))
            row = self._texts.new_row(name)
            row.document = from_text(begin, name=name)
            row.key, row.profile = item.key, item.profile
            row.prompt, row.several = item.prompt, item.several
            chosen.append(row)
            self._texts.queue.insert([row], self._texts.queue.row(item) + 1)
        self.audit(chosen)
        if chosen:
            self._texts.show(chosen[0])

    def cancel(self) -> None:
        """Stop every audit that runs or waits, and whatever else reads with the model."""
        self.stream.stop_all()
        self._model.cancel_all()

    @property
    def seconds_left(self) -> float | None:
        """How long everything takes that runs or waits; None where that is not known."""
        active = [item for item in self._texts.queue.items if item.active]
        waiting = self.pace.seconds(item for item in active if item.state is ItemState.WAITING)
        running = [item for item in active if item.state is ItemState.RUNNING]
        if not running:
            return waiting
        progress = running[0].progress  # of all that are read side by side
        left = progress.seconds_left if progress is not None else None
        if left is None:
            left = self.pace.seconds(running)
        only = len(running) == len(active)
        return left if only or left is None or waiting is None else left + waiting

    def expectation_words(self, item: Item) -> str:
        """Say what may be expected of a text that was not audited yet; "" for nothing."""
        profile = self._profile(item)
        if item.document is None or profile is None or item.state is not ItemState.READY:
            return ""
        if profile.foreign is not None:  # nothing was measured of it
            return ""
        expected = expect(item.document.text, profile)
        words, seconds = _expectation_words(expected), self.pace.seconds([item])
        if seconds is None or seconds < SHORT_S:
            return words
        time = translate("Expect", "The audit takes about {time:text} on this computer.")
        return f"{words} {filled(time, time=duration(seconds))}".strip()

    def _ask(self, item: Item, document: Document | UnreadFile) -> None:
        setup = self._setup(item)
        prompts = self._prompts(item) if setup is not None else None
        if setup is None or prompts is None:
            return
        text: AuditText | UnreadFile = (
            document
            if isinstance(document, UnreadFile)
            else AuditText(document=document, prompts=prompts)
        )
        item.state, item.progress, item.failure = ItemState.WAITING, None, None
        self._texts.touch(item)
        self.stream.ask(item, setup, text)

    def _ask_unreadable(self, item: Item, unread: UnreadFile) -> None:
        if self._chosen.ready:  # that it cannot be examined is a finding as well
            self._ask(item, unread)

    def _started(self, item: Item) -> None:
        item.state, item.looks = ItemState.RUNNING, []
        self._texts.touch(item)

    def _progressed(self, item: Item, progress: Progress) -> None:
        item.progress = progress
        if progress.log10_e is not None:
            item.looks.append((progress.done, progress.log10_e))
        self._texts.touch(item)

    def _audited(self, item: Item, outcome: Outcome[Kept]) -> None:
        item.progress = None
        match outcome:
            case Done(kept):
                audited = kept.audited
                item.state, item.audit = ItemState.DONE, audited.audit
                item.finding, item.status = kept.finding, kept.status
                item.failure = Failure.of(audited.error) if audited.error is not None else None
                # It writes a file: in a turn of its own, the finding comes first.
                QTimer.singleShot(0, self, partial(self.pace.note, audited.audit))
                if kept.failure is not None:
                    item.failure = item.failure or kept.failure
                    self.noticed.emit(kept.failure.words)
                self.kept.emit(item)
                if Notice.SHORT_OF_MEMORY in audited.notices:
                    self.noticed.emit(_short_of_memory())
                if Notice.READ_ALONE in audited.notices:
                    self.read_alone += 1
                    self.noticed.emit(_read_alone(self.read_alone))
            case Failure():
                item.state, item.failure = ItemState.FAILED, outcome
            case Stopped():
                item.state = ItemState.CANCELLED
        if item.finding is not None:  # of this audit, or of one before that nothing has replaced
            item.state = ItemState.DONE
        self._texts.touch(item)

    def _profile(self, item: Item) -> Profile | None:
        """Return what a row is read with: its own profile, else the one that is chosen."""
        return item.profile or (self._chosen.profile.profile if self._chosen.profile else None)

    def _setup(self, item: Item) -> Setup | None:
        chosen = self._chosen
        keys = (item.key,) if item.key is not None else chosen.keys
        profile = self._profile(item)
        if not keys or profile is None or chosen.model is None:
            missing = translate("Session", "Choose a key, a model and a profile first.")
            self.noticed.emit(missing)
            return None
        return Setup(
            keys=tuple(key.ref for key in keys),
            model=chosen.model.name,
            profile=profile,
            also=() if item.profile else tuple(p.profile for p in chosen.profiles[1:]),
            follow=True,
            resume=True,
        )

    def _prompts(self, item: Item) -> tuple[str, ...] | None:
        """Return the prompts of a row; None where a line of its candidates is none."""
        if not item.prompt.strip():
            return ()
        try:
            return candidates_of(item.prompt) if item.several else (item.prompt.strip(),)
        except PuraError as error:
            self.noticed.emit(error_words(error))
            return None


def _short_of_memory() -> str:
    return translate(
        "Session",
        "The memory of the device ran short, so the text was read in smaller pieces. "
        "The findings are the same.",
    )


def _read_alone(count: int) -> str:
    words = translate(
        "Session",
        "Reading texts side by side met a fault of the program. "
        "{count:plural(One text was|{count:count} texts were)} read alone; the findings are the "
        "same.",
    )
    return filled(words, count=count)


def _expectation_words(found: Expectation) -> str:
    if not found.matters:
        return ""
    first = translate(
        "Expect",
        "If this text is marked, it can carry about {n:count} of {all:count} bits (an estimate).",
    )
    parts = [filled(first, n=found.bits, all=found.payload_bits)]
    notes = {
        "signs": translate("Expect", "The text is mostly code or numbers, which carry less."),
        "language": translate(
            "Expect", "The text does not look English; other languages were not measured."
        ),
        "short": translate("Expect", "The text is short; too little evidence is likely."),
        "repetitive": translate("Expect", "The text repeats itself, which adds nothing."),
    }
    return " ".join([*parts, *(notes[name] for name in found.notes)])

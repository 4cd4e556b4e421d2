"""Audits of rows.

It decides which audits are due, with which choices and in which order they run, and estimates
how long they take.
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
EXCERPT_S: Final = 60.0  # seconds that the audit of an excerpt takes
EXCERPT: Final = (2_000, 20_000)  # characters of an excerpt, at least and at most
EXCERPT_UNMEASURED: Final = 4_000  # characters of an excerpt while the speed is unknown


class ReadingSpeed:
    """The reading speed of one model on one device, in characters a second.

    Args:
        settings: The settings, which store the speed between runs.
    """

    def __init__(self, settings: SettingsFile) -> None:
        self._settings = settings
        self._of = ""

    def use(self, model: InstalledModel | None, device: object) -> None:
        """Set the model and the device of the next audits."""
        device_name = f"{device.name} {device.dtype}" if isinstance(device, Device) else ""
        self._of = f"{model.fingerprint} {device_name}" if model is not None and device_name else ""

    @property
    def rate(self) -> float | None:
        """Characters a second; None before the first measurement."""
        now = self._settings.current
        measured = self._of and now.pace_of == self._of
        return now.pace if measured and math.isfinite(now.pace) and now.pace > 0 else None

    def note(self, audit: Audit) -> None:
        """Update the speed from a finished audit."""
        spent = sum(step.seconds for step in audit.log)
        short = audit.input.characters < SHORTEST or audit.stopped is not None
        if not self._of or short or spent <= 0:
            return
        rate, before = audit.input.characters * max(1, len(audit.prompts)) / spent, self.rate
        self._settings.update(
            pace=rate if before is None else (before + rate) / 2, pace_of=self._of
        )

    def seconds(self, rows: Iterable[Item]) -> float | None:
        """Return how many seconds the audits of these rows take together; None if unknown."""
        rate = self.rate
        return None if rate is None else sum(map(_characters, rows)) / rate

    def long(self, items: Iterable[Item]) -> bool:
        """Return whether the audits take so long that the user is asked first."""
        rows = list(items)
        expected = self.seconds(rows)
        if expected is None:
            return sum(map(_characters, rows)) > LONG_CHARACTERS
        return expected > LONG_S

    @property
    def excerpt(self) -> int:
        """Number of characters that are read in about a minute."""
        rate = self.rate
        if rate is None:
            return EXCERPT_UNMEASURED
        return max(EXCERPT[0], min(EXCERPT[1], 1000 * round(rate * EXCERPT_S / 1000)))


def excerpt_of(text: str, characters: int) -> str:
    """Return the beginning of a text, up to the end of a paragraph, a sentence or a word."""
    if len(text) <= characters:
        return text
    begin = text[:characters]
    for end in ("\n\n", "\n", ". ", " "):
        position = begin.rfind(end)
        if position > characters // 2:
            return begin[: position + len(end)].rstrip()
    return begin


def length(row: Item) -> int:
    """Return the number of characters of a row's text; 0 if it was never read."""
    return len(row.document.text) if row.document is not None else row.known_length


def _characters(row: Item) -> int:
    prompts = row.prompt.count("\n") + 1 if row.several and row.prompt.strip() else 0
    return length(row) * (1 + prompts)


_GLANCE_S: Final = 0.05  # between two looks whether the job was cancelled
SHORT_S: Final = 20.0  # what is over sooner needs no word


@dataclass(kw_only=True, eq=False)
class _Request:
    """A requested audit; ``row`` belongs to the window's thread."""

    row: Item
    size: int
    setup: Setup
    text: AuditText | UnreadFile
    stopped: bool = False

    @property
    def name(self) -> str:
        text = self.text
        return text.name if isinstance(text, UnreadFile) else text.document.name


class AuditStream(QObject):
    """Audits rows in a worker thread, short ones first.

    Args:
        jobs: The queue of the model.
        engine: Performs the audits.
        keeper: Saves each finding before it is reported.

    Signals:
        begun: The audit of a row begins; carries the row.
        progressed: The audit of a row advanced; carries the row and a Progress.
        ended: The audit of a row ended; carries the row, and Done with a Kept, Failure or Stopped.
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

    def ask(self, row: Item, setup: Setup, text: AuditText | UnreadFile) -> None:
        """Queue the audit of a row, before longer ones at the end of the queue.

        Files are read one by one, so texts that were added together arrive in any order.
        """
        request = _Request(row=row, size=length(row), setup=setup, text=text)
        self._asked[row] = request
        with self._lock:
            index = len(self._waiting)
            while index and self._waiting[index - 1].size > request.size:
                index -= 1
            self._waiting.insert(index, request)
        if self._job is None:
            self._together.clear()
            self._start()
            QTimer.singleShot(0, self, self._together.set)

    def stop(self, rows: Iterable[Item]) -> None:
        """Stop the audits of these rows, waiting or running; others in the same batch continue."""
        for row in rows:
            request = self._asked.get(row)
            if request is not None:
                request.stopped = True
                with self._lock:
                    if request in self._waiting:
                        self._waiting.remove(request)
                self._end(request, Stopped())

    def stop_all(self) -> None:
        """Stop all audits."""
        self.stop(list(self._asked))

    def order(self) -> tuple[Item, ...]:
        """Return the waiting rows, the next one first."""
        with self._lock:
            return tuple(request.row for request in self._waiting)

    def move(self, row: Item, steps: int) -> None:
        """Move a waiting row up (negative) or down in the queue."""
        request = self._asked.get(row)
        with self._lock:
            if request is not None and request in self._waiting:
                index = self._waiting.index(request)
                self._waiting.insert(max(0, index + steps), self._waiting.pop(index))

    def _begin(self, request: _Request) -> None:
        if not request.stopped:
            self._reading.append(request)
            self.begun.emit(request.row)

    def _spread(self, progress: Progress) -> None:
        progress = replace(progress, texts=len(self._reading))
        for request in self._reading:
            self.progressed.emit(request.row, progress)

    def _end(self, request: _Request, outcome: Outcome[Kept]) -> None:
        if self._asked.get(request.row) is request:
            del self._asked[request.row]
            if request in self._reading:
                self._reading.remove(request)
            self.ended.emit(request.row, outcome)

    def _over(self, outcome: Outcome[None]) -> None:
        self._job = None
        for request in tuple(self._reading):  # it broke off amid these
            self._end(request, outcome if isinstance(outcome, Failure) else Stopped())
        with self._lock:
            waiting = bool(self._waiting)
        if waiting:
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
                for request in tuple(self._taken):
                    self._found(request, failure, context)

    def _next(self) -> Setup | None:
        with self._lock:
            return self._waiting[0].setup if self._waiting else None

    def _take(self, setup: Setup, context: JobContext) -> Iterator[_Request]:
        """Yield waiting requests as long as they have the same setup."""
        while True:
            context.checkpoint()
            with self._lock:
                if not self._waiting or self._waiting[0].setup != setup:
                    return
                request = self._waiting.pop(0)
                self._taken.append(request)
            self._keeper.start(request.name)
            context.post(lambda request=request: self._begin(request))  # type: ignore[misc]
            yield request

    def _read(self, setup: Setup, requests: Iterable[_Request], context: JobContext) -> None:
        def progress(stage: Stage) -> None:
            # Steps are walked by one text after the other: what is shown never goes back. The
            # evidence is looked at for each text by itself.
            if stage.number < self._step or (stage.log10_e is not None and len(self._taken) > 1):
                return
            self._step = stage.number
            context.progress(stage)

        def checkpoint() -> None:
            context.checkpoint()
            if self._taken and all(request.stopped for request in self._taken):
                raise Cancelled

        self._step = -1
        try:
            with self._engine.prepared(setup) as ready:
                pairs = ((request, request.text) for request in requests)
                for request, outcome in ready.stream(
                    pairs, progress=progress, checkpoint=checkpoint
                ):
                    self._found(request, outcome, context)
                    if not self._taken:
                        self._step = -1
        except PuraError as error:  # neither of these can be audited: a key, the model
            for request in tuple(self._taken):
                self._found(request, error, context)

    def _found(
        self, request: _Request, reading: Audited | PuraError | Failure, context: JobContext
    ) -> None:
        outcome: Outcome[Kept] = Stopped()
        if request.stopped:
            pass  # whoever stopped it has been told
        elif isinstance(reading, Audited):
            try:
                outcome = Done(self._keeper.keep(reading))
            except Exception as error:
                outcome = unexpected(error)
        elif isinstance(reading, PuraError):
            self._keeper.fail(request.name, reading)
            outcome = Failure.of(reading)
        else:
            outcome = reading
        self._taken.remove(request)
        context.post(lambda: self._end(request, outcome))


_FRESH = (ItemState.READY, ItemState.INTERRUPTED)


class Audits(QObject):
    """Audits rows with the chosen keys, model and profiles.

    Args:
        texts: The list of texts.
        chosen: The keys, the model and the profiles in use.
        model: The queue of the model.
        engine: Performs the audits.
        keeper: Saves the findings.
        settings: The settings, which decide whether audits begin by themselves.

    Attributes:
        stream: The waiting and the running audits.
        pace: The measured reading speed.

    Signals:
        kept: A finding was saved to the case log; carries the row.
        noticed: A message for the status line.
    """

    kept = Signal(object)
    noticed = Signal(str)

    def __init__(
        self,
        texts: TextList,
        choices: Chosen,
        model: JobQueue,
        engine: AuditEngine,
        keeper: Keeper,
        settings: SettingsFile,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._texts, self._chosen, self._model = texts, choices, model
        self._settings, self._policy = settings, engine.environment.paths.policy
        self.pace = ReadingSpeed(settings)
        self.stream = AuditStream(model, engine, keeper, self)
        self.read_alone = 0  # since the window was opened
        self.stream.begun.connect(self._started)
        self.stream.progressed.connect(self._progressed)
        self.stream.ended.connect(self._audited)
        texts.wanted.connect(lambda row: self.audit([row]))
        texts.unreadable.connect(self._ask_unreadable)
        texts.leaving.connect(self.stream.stop)
        for signal in (choices.changed, choices.device_changed):
            signal.connect(lambda: self.pace.use(choices.model, choices.device))

    def due(self) -> tuple[Item, ...]:
        """Return the rows that the Audit button starts: all new ones, or else the one on screen."""
        fresh = tuple(i for i in self._texts.queue.items if i.runnable and i.state in _FRESH)
        if fresh:
            return fresh
        current = self._texts.current
        return (current,) if current is not None and current.runnable else ()

    @property
    def starts_by_itself(self) -> bool:
        """Whether an audit begins by itself when a text is dropped."""
        setting = self._settings.current.begin_audits
        return not self._policy.exists() if setting is None else setting

    def take_dropped(self) -> tuple[Item, ...]:
        """Return the dropped rows once all are read and nothing is missing, but only once."""
        choices, dropped = self._chosen, self._texts.dropped
        if any(row.state is ItemState.LOADING for row in dropped):
            return ()
        ready = choices.ready and not choices.mismatches() and self.starts_by_itself
        # The sample brings its own key and profile, and was asked for.
        due = [i for i in dropped if ready or (i.sample and choices.model is not None)]
        self._texts.dropped = [row for row in dropped if row not in due]
        listed = set(self._texts.queue.items)
        return tuple(i for i in due if i in listed and i.state is ItemState.READY)

    def audit(self, rows: Sequence[Item] | None = None) -> None:
        """Queue audits of rows, short ones first; a file without a text is read again first."""
        for row in sorted(rows if rows is not None else self.due(), key=length):
            if row.document is None and row.path is not None and not row.active:
                row.failure, row.wanted = None, True
                self._texts.load(row)
                self._texts.touch(row)
            elif row.runnable and row.document is not None:
                self._ask(row, row.document)

    def audit_excerpts(self, items: Sequence[Item]) -> None:
        """Audit the short texts of these rows, and excerpts of the long ones as new rows."""
        longest = self.pace.excerpt
        rows = []
        for item in items:
            if item.document is None or length(item) <= longest:
                rows.append(item)
                continue
            begin = excerpt_of(item.document.text, longest)
            template = translate("Session", "{name:text}, first {n:count} characters")
            name = filled(template, name=item.name, n=len(begin))
            row = self._texts.new_row(name)
            row.document = from_text(begin, name=name)
            row.key, row.profile = item.key, item.profile
            row.prompt, row.several = item.prompt, item.several
            rows.append(row)
            self._texts.queue.insert([row], self._texts.queue.row(item) + 1)
        self.audit(rows)
        if rows:
            self._texts.show(rows[0])

    def cancel(self) -> None:
        """Stop all audits and every other job of the model's queue."""
        self.stream.stop_all()
        self._model.cancel_all()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all running and waiting audits are done; None if unknown."""
        active = [row for row in self._texts.queue.items if row.active]
        waiting = self.pace.seconds(row for row in active if row.state is ItemState.WAITING)
        running = [row for row in active if row.state is ItemState.RUNNING]
        if not running:
            return waiting
        progress = running[0].progress  # of all that are read side by side
        left = progress.seconds_left if progress is not None else None
        if left is None:
            left = self.pace.seconds(running)
        only = len(running) == len(active)
        return left if only or left is None or waiting is None else left + waiting

    def expectation_words(self, row: Item) -> str:
        """Return what to expect of a text that was not audited yet; empty if nothing is known."""
        profile = self._profile(row)
        if row.document is None or profile is None or row.state is not ItemState.READY:
            return ""
        if profile.foreign is not None:  # nothing was measured of it
            return ""
        expected = expect(row.document.text, profile)
        expectation, seconds = _expectation_words(expected), self.pace.seconds([row])
        if seconds is None or seconds < SHORT_S:
            return expectation
        time = translate("Expect", "The audit takes about {time:text} on this computer.")
        return f"{expectation} {filled(time, time=duration(seconds))}".strip()

    def _ask(self, row: Item, document: Document | UnreadFile) -> None:
        setup = self._setup(row)
        prompts = self._prompts(row) if setup is not None else None
        if setup is None or prompts is None:
            return
        text: AuditText | UnreadFile = (
            document
            if isinstance(document, UnreadFile)
            else AuditText(document=document, prompts=prompts)
        )
        row.state, row.progress, row.failure = ItemState.WAITING, None, None
        self._texts.touch(row)
        self.stream.ask(row, setup, text)

    def _ask_unreadable(self, row: Item, unread: UnreadFile) -> None:
        if self._chosen.ready:  # that it cannot be examined is a finding as well
            self._ask(row, unread)

    def _started(self, row: Item) -> None:
        row.state, row.looks = ItemState.RUNNING, []
        self._texts.touch(row)

    def _progressed(self, row: Item, progress: Progress) -> None:
        row.progress = progress
        if progress.log10_e is not None:
            row.looks.append((progress.done, progress.log10_e))
        self._texts.touch(row)

    def _audited(self, row: Item, outcome: Outcome[Kept]) -> None:
        row.progress = None
        match outcome:
            case Done(saved):
                audited = saved.audited
                row.state, row.audit = ItemState.DONE, audited.audit
                row.finding, row.status = saved.finding, saved.status
                row.failure = Failure.of(audited.error) if audited.error is not None else None
                # It writes a file: in a turn of its own, the finding comes first.
                QTimer.singleShot(0, self, partial(self.pace.note, audited.audit))
                if saved.failure is not None:
                    row.failure = row.failure or saved.failure
                    self.noticed.emit(saved.failure.words)
                self.kept.emit(row)
                if Notice.SHORT_OF_MEMORY in audited.notices:
                    self.noticed.emit(_short_of_memory())
                if Notice.READ_ALONE in audited.notices:
                    self.read_alone += 1
                    self.noticed.emit(_read_alone(self.read_alone))
            case Failure():
                row.state, row.failure = ItemState.FAILED, outcome
            case Stopped():
                row.state = ItemState.CANCELLED
        if row.finding is not None:  # of this audit, or of one before that nothing has replaced
            row.state = ItemState.DONE
        self._texts.touch(row)

    def _profile(self, row: Item) -> Profile | None:
        """Return the profile of a row: its own, or else the chosen one."""
        return row.profile or (self._chosen.profile.profile if self._chosen.profile else None)

    def _setup(self, row: Item) -> Setup | None:
        choices = self._chosen
        keys = (row.key,) if row.key is not None else choices.keys
        profile = self._profile(row)
        if not keys or profile is None or choices.model is None:
            missing = translate("Session", "Choose a key, a model and a profile first.")
            self.noticed.emit(missing)
            return None
        return Setup(
            keys=tuple(key.ref for key in keys),
            model=choices.model.name,
            profile=profile,
            also=() if row.profile else tuple(p.profile for p in choices.profiles[1:]),
            leave_out=choices.setup.leave_out if choices.setup and not row.profile else (),
            follow=True,
            resume=True,
        )

    def _prompts(self, row: Item) -> tuple[str, ...] | None:
        """Return the prompts of a row; None, after a message, if a candidate is invalid."""
        if not row.prompt.strip():
            return ()
        try:
            return candidates_of(row.prompt) if row.several else (row.prompt.strip(),)
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
    template = translate(
        "Session",
        "Reading texts side by side met a fault of the program. "
        "{count:plural(One text was|{count:count} texts were)} read alone; the findings are the "
        "same.",
    )
    return filled(template, count=count)


def _expectation_words(expectation: Expectation) -> str:
    if not expectation.matters:
        return ""
    first = translate(
        "Expect",
        "If this text is marked, it can carry about {n:count} of {all:count} bits (an estimate).",
    )
    parts = [filled(first, n=expectation.bits, all=expectation.payload_bits)]
    notes = {
        "signs": translate("Expect", "The text is mostly code or numbers, which carry less."),
        "language": translate(
            "Expect", "The text does not look English; other languages were not measured."
        ),
        "short": translate("Expect", "The text is short; too little evidence is likely."),
        "repetitive": translate("Expect", "The text repeats itself, which adds nothing."),
    }
    return " ".join([*parts, *(notes[name] for name in expectation.notes)])

"""Audits of rows: which are due, with what they are made, and what comes of them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from pura.audit.options import AuditText, Notice
from pura.base.errors import PuraError
from pura.documents import Document, from_text
from pura.usecases.audits import Setup, UnreadFile
from pura.usecases.choices import candidates_of
from pura_audit.jobs.queue import Done, Failure, JobQueue, Outcome, Progress, Stopped
from pura_audit.platform.i18n import error_words, filled, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.chosen import Chosen
from pura_audit.session.engine import AuditEngine
from pura_audit.session.keeper import Keeper, Kept
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.stream import AuditStream, Pace, excerpt_of, length
from pura_audit.session.texts import TextList

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
        self.pace = Pace(settings)
        self.stream = AuditStream(model, engine, keeper, self)
        self.read_alone = 0  # since the window was opened
        self.stream.begun.connect(self._started)
        self.stream.told.connect(self._progressed)
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
    def begins_alone(self) -> bool:
        """Whether an audit begins by itself when a text is dropped."""
        wanted = self._settings.current.begin_audits
        return not self._policy.exists() if wanted is None else wanted

    def take_dropped(self) -> tuple[Item, ...]:
        """Return the texts that were dropped, once: when all are read and nothing is missing."""
        if (
            not self._texts.dropped
            or not self._chosen.ready
            or self._chosen.mismatches()
            or not self.begins_alone
        ):
            return ()
        if any(item.state is ItemState.LOADING for item in self._texts.dropped):
            return ()
        here = set(self._texts.queue.items)
        taken, self._texts.dropped = self._texts.dropped, []
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
                item.finding, item.standing = kept.finding, kept.standing
                item.failure = Failure.of(audited.error) if audited.error is not None else None
                self.pace.note(audited.audit)
                if kept.failure is not None:
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

    def _setup(self, item: Item) -> Setup | None:
        chosen = self._chosen
        keys = (item.key,) if item.key is not None else chosen.keys
        profile = item.profile or (chosen.profile.profile if chosen.profile else None)
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

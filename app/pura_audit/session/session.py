"""The session: what a window works with, put together; no widgets.

Views emit intentions, the parts act on them, and the models tell the views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from pura.usecases.cases import name_worker
from pura_audit.jobs.queue import Done, Failure, Job, JobQueue, Jobs, Outcome, Progress, Work
from pura_audit.platform.settings import SettingsFile, WindowSettings
from pura_audit.session.audits import Audits
from pura_audit.session.choices import AuditEngine, Chosen
from pura_audit.session.keeper import Cases, Drafts, Keeper
from pura_audit.session.pages import DocumentPages
from pura_audit.session.record import Record
from pura_audit.session.texts import TextList

T = TypeVar("T")


class Session(QObject):
    """What the window works with.

    Args:
        engine: Who does the work.
        settings: The settings.
        remembers: The list comes back at the next start.

    Attributes:
        environment: Where the use cases work; its model belongs to the thread of the model.
        jobs: The queues that work off the window's thread.
        texts: The list of texts, and the one on screen.
        chosen: Key, model and profile, and what there is to choose from.
        audits: The audits of the texts.
        cases: The case log.
        keeper: Keeps finished audits.
        record: Brings the list back, and knows where rows stand.
        drafts: Forms that are being filled in.
        pages: The pages of the document on screen.

    Signals:
        noticed: Something to say in the status line.
        install_wanted: Somebody agreed that the built-in model is installed.
    """

    noticed = Signal(str)
    install_wanted = Signal()

    def __init__(
        self,
        engine: AuditEngine,
        settings: SettingsFile,
        *,
        remembers: bool = True,
    ) -> None:
        super().__init__()
        self.settings, self.environment = settings, engine.environment
        self._remembers = remembers
        self.jobs = Jobs(self)
        self.drafts = Drafts(self.environment.paths.state, settings, self.jobs.files)
        self.cases = Cases(self.jobs.cases, self.environment, self.drafts, self)
        self.keeper = Keeper(self.environment, settings)
        settings.watchers.append(self._name_worker)
        self.texts = TextList(self.jobs.files, settings, self.environment.paths, self)
        self.chosen = Chosen(engine, self.jobs, settings, self)
        self.audits = Audits(
            self.texts, self.chosen, self.jobs.model, engine, self.keeper, settings, self
        )
        self.record = Record(self.texts, self.cases, settings, self.jobs.files, self)
        self.pages = DocumentPages(self.jobs, self)
        self.audits.kept.connect(lambda _: self.cases.changed.emit())
        self.audits.kept.connect(self.record.count_loaded)
        for part in (self.texts, self.audits, self.record):
            part.noticed.connect(self.noticed)

    def _name_worker(self, before: WindowSettings) -> None:
        """Take down the name that somebody gave for themselves, in whichever dialog."""
        if (name := self.settings.current.auditor) and name != before.auditor:
            self.jobs.cases.do(lambda _: name_worker(self.environment, name), lambda _: None, self)

    def begin(self) -> None:
        """Bring the list back, find keys and models, then import torch and find the device."""
        if self._remembers:
            self.record.restore()
        self.chosen.look_around()
        self.chosen.find_device()

    def do(
        self,
        work: Work[T],
        on_outcome: Callable[[Outcome[T]], None],
        owner: QObject,
        *,
        words: Callable[[T], str] | None = None,
        progressed: Callable[[Progress], None] | None = None,
        started: Callable[[], None] | None = None,
        queue: Literal["stores", "model", "installs"] = "stores",
    ) -> Job:
        """Do something to keys, models, profiles, register or reports; see :meth:`JobQueue.do`.

        What there is to choose from is looked through again afterwards.

        Args:
            work: The use case.
            on_outcome: Gets what came of it.
            owner: Whoever asks; once it is gone, the status line says what went wrong.
            words: What the status line says of it when it is done.
            progressed: Told how far it is.
            started: Called when its turn comes.
            queue: Whom it waits for: ``model`` for whatever reads with the model or takes its files
                away, ``installs`` for what fetches or adds one, ``stores`` for all the rest.
        """

        def ended(outcome: Outcome[T]) -> None:
            self.chosen.look_around()
            if isValid(owner):
                on_outcome(outcome)
            elif isinstance(outcome, Failure):
                self.noticed.emit(outcome.words)
            if words is not None and isinstance(outcome, Done):
                self.noticed.emit(words(outcome.result))

        def told(progress: Progress) -> None:
            if progressed is not None and isValid(owner):
                progressed(progress)

        def begun() -> None:
            if started is not None and isValid(owner):
                started()

        job_queue: JobQueue = getattr(self.jobs, queue)
        return job_queue.do(work, ended, self, started=begun, progressed=told)

    def close(self) -> bool:
        """Note the list, and end all threads."""
        self.record.freeze()
        self.pages.close()
        ended = self.jobs.close()
        self.keeper.wipe()
        return ended

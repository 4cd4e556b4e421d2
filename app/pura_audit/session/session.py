"""The session: the state of the window and its parts, without widgets.

Views emit intentions, the parts act on them, and the models notify the views.
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
    """The parts that the window works with.

    Args:
        engine: Performs the work.
        settings: The settings.
        remembers: Whether the list is restored at the next start.

    Attributes:
        environment: The environment of the use cases; its model belongs to the model's thread.
        jobs: The queues with their worker threads.
        texts: The list of texts, and the text on screen.
        chosen: The chosen keys, model and profiles, and the inventory.
        audits: The audits of the texts.
        cases: The case log.
        keeper: Saves finished audits.
        record: Restores the list, and follows the state of its findings.
        drafts: Drafts of forms.
        pages: The pages of the document on screen.

    Signals:
        noticed: A message for the status line.
        install_wanted: The user agreed to install the built-in model.
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
        """Store the user's name when a dialog has changed it in the settings."""
        if (name := self.settings.current.auditor) and name != before.auditor:
            self.jobs.cases.do(lambda _: name_worker(self.environment, name), lambda _: None, self)

    def begin(self) -> None:
        """Restore the list, make the inventory, then import torch and find the device."""
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
        """Run a use case on keys, models, profiles, register or reports; see :meth:`JobQueue.do`.

        Afterwards the inventory is made again.

        Args:
            work: The use case.
            on_outcome: Called with the outcome.
            owner: The object that asks; if it is deleted meanwhile, the status line shows failures.
            words: Makes the message of a success for the status line.
            progressed: Called with the progress.
            started: Called when the use case begins.
            queue: Name of the queue: ``model`` for work that uses the model or removes its files,
                ``installs`` for work that fetches or adds one, ``stores`` for everything else.
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
        """Save the list, and end all threads."""
        self.record.freeze()
        self.pages.close()
        ended = self.jobs.close()
        self.keeper.wipe()
        return ended

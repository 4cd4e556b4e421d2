"""Keeps every finished audit at once, in the case log, as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from pura.base.errors import CaseLogError, KeyFormatError, PuraError
from pura.caselog import KEEP, LEAVE_OUT, SEAL, CaseLog, CaseStanding
from pura.caselog.cases import UNFILED
from pura.keys import Secret
from pura.record.finding import Finding
from pura.usecases.audits import Audited
from pura.usecases.cases import SaveTo, SavingRun, name_worker, open_log, saving_run
from pura.usecases.environment import Environment
from pura_audit.jobs.queue import Failure, Job, JobContext, JobQueue, Outcome, Work
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.drafts import Drafts
from pura_audit.session.queue_model import listed

__all__ = ["KEEP", "Keeper", "Kept"]


T = TypeVar("T")
Act = Callable[[CaseLog, JobContext], T]


class Cases(QObject):
    """Works on the case log, never in the window's thread.

    Args:
        queue: Where the work is done.
        environment: Whose log it is; of that, only its folders are used here.
        drafts: What is filled in and not yet written.

    Signals:
        changed: Something was written.
    """

    changed = Signal()

    def __init__(
        self,
        queue: JobQueue,
        environment: Environment,
        drafts: Drafts,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._queue, self.environment, self.drafts = queue, environment, drafts

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self.environment.paths.caselog

    @property
    def there(self) -> bool:
        """Whether there is a log at all."""
        return self.path.exists()

    def read(self, act: Act[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue something that leaves the log as it is; see :meth:`JobQueue.do`."""
        return self.ask(lambda context: self._opened(act, context), then, owner)

    def write(self, act: Act[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue something that changes the log."""
        return self.change(lambda context: self._opened(act, context), then, owner)

    def ask(self, work: Work[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue a use case that opens the log by itself, and leaves it as it is."""
        return self._queue.do(work, then, owner)

    def change(self, work: Work[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue a use case that opens the log by itself, and changes it."""

        def told(context: JobContext) -> T:
            result = work(context)
            self.changed.emit()  # from this thread: whoever listens lives in the window's
            return result

        return self._queue.do(told, then, owner)

    def _opened(self, act: Act[T], context: JobContext) -> T:
        with open_log(self.environment, create=True) as log:
            return act(log, context)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A finished audit, and where it is kept.

    Attributes:
        audited: What came of the examination.
        finding: The same as the list keeps it.
        standing: Where it is kept; None when it could not be.
        failure: Why not.
    """

    audited: Audited
    finding: Finding
    standing: CaseStanding | None
    failure: Failure | None = None


class Keeper:
    """Saves to the unfiled case.

    Args:
        environment: Whose case log it is.
        settings: Say who acts, and what becomes of texts.
    """

    def __init__(self, environment: Environment, settings: SettingsFile) -> None:
        self._at, self._settings = environment, settings
        self._secret: Secret | None = None
        self._open = ExitStack()
        self._run: SavingRun | None = None
        self._mode = ""

    @property
    def wants_passphrase(self) -> bool:
        """Whether texts are to be kept encrypted and nobody has said under which passphrase."""
        return self._settings.current.case_text == SEAL and self._secret is None

    def unlock(self, secret: Secret) -> None:
        """Take the passphrase of the texts of this run."""
        self.close()
        self._secret = secret

    @property
    def mode(self) -> str:
        """What becomes of texts: without a passphrase, one that should be encrypted is left out."""
        return LEAVE_OUT if self.wants_passphrase else self._settings.current.case_text

    def start(self, name: str) -> None:
        """Say in the log that an examination begins; a log that refuses does not stop it."""
        try:
            self._saving().start(name)
        except PuraError:
            self.close()

    def keep(self, audited: Audited) -> Kept:
        """Save a finished audit."""
        found = listed(audited.audit)
        try:
            run = self._saving()
            item = run.save(audited.audit)
        except (CaseLogError, KeyFormatError) as error:
            self.close()
            return Kept(audited=audited, finding=found, standing=None, failure=Failure.of(error))
        standing = CaseStanding(case=item.case, name=UNFILED, mode=item.mode)
        return Kept(audited=audited, finding=found, standing=standing)

    def fail(self, name: str, error: PuraError) -> None:
        """Say in the log that an examination failed."""
        try:
            self._saving().fail(name, error)
        except PuraError:
            self.close()

    def close(self) -> None:
        """Forget the case and the key of its texts; the next audit opens it again."""
        self._run = None
        self._open.close()

    def wipe(self) -> None:
        """Forget everything, the passphrase too."""
        self.close()
        if self._secret is not None:
            self._secret.wipe()

    def _saving(self) -> SavingRun:
        mode = self.mode
        if self._run is None or self._mode != mode:
            self.close()
            secret = None
            if mode == SEAL and self._secret is not None:
                secret = Secret(self._secret.copy())
            name = self._settings.current.auditor
            name_worker(self._at, name)
            to = SaveTo(
                case=UNFILED,
                auditor=name or None,
                text=mode,
                passphrase=secret,
            )
            self._run = self._open.enter_context(saving_run(self._at, to))
            self._mode = mode
        return self._run

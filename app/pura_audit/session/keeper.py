"""What the window saves to disk, as the settings decide.

It saves finished audits to the case log, and drafts of forms.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from PySide6.QtCore import QObject, Signal

from pura.base.errors import CaseLogError, KeyFormatError, PuraError
from pura.base.files import write_atomic
from pura.caselog import KEEP, LEAVE_OUT, SEAL, CaseLog, CaseStatus
from pura.caselog.cases import UNFILED
from pura.keys import Secret
from pura.record.finding import Finding
from pura.report import request as request_file
from pura.report.request import OMITTED, ReportRequest
from pura.usecases.audits import Audited
from pura.usecases.cases import SaveTo, SavingRun, name_worker, open_log, saving_run
from pura.usecases.environment import Environment
from pura_audit.jobs.queue import Failure, Job, JobContext, JobQueue, Outcome, Work
from pura_audit.platform.settings import SettingsFile, WindowSettings
from pura_audit.session.queue_model import listed

FILE: Final = "drafts.json"
MAX_BYTES: Final = 1 << 24  # of the file of drafts
MAX_DRAFTS: Final = 20
"""Number of drafts that are stored; the oldest is dropped first."""
PAUSE_MS: Final = 300
"""Input within this time is written together."""
_log = logging.getLogger(__name__)

DraftKey = tuple[str, ...]
"""The subject of a form: the kind of form, then identifiers."""
Fields = Mapping[str, str]


class Drafts:
    """Drafts of forms that were neither finished nor discarded.

    Args:
        folder: The folder of the program's state.
        settings: The settings, which decide whether texts are stored.
        files: The queue that writes the file.
    """

    def __init__(self, folder: Path, settings: SettingsFile, files: JobQueue) -> None:
        self.path = folder / FILE
        self._settings, self._files = settings, files
        self._read: dict[DraftKey, Fields] | None = None
        self._open: set[DraftKey] = set()
        settings.watchers.append(self._settings_changed)

    @property
    def _kept(self) -> dict[DraftKey, Fields]:
        if self._read is None:
            self._read = {}
            with suppress(OSError, ValueError, KeyError, TypeError):
                with self.path.open("rb") as file:
                    rows = json.loads(file.read(MAX_BYTES))["drafts"]
                self._read = {
                    tuple(str(part) for part in row["about"]): {
                        str(name): str(text) for name, text in row["told"].items()
                    }
                    for row in rows
                }
        return self._read

    @property
    def _wanted(self) -> bool:
        return self._settings.current.case_text == KEEP

    def note(self, subject: DraftKey, fields: Fields, *, before: DraftKey | None = None) -> None:
        """Save the draft of a form.

        Args:
            subject: Subject of the form.
            fields: Content of the fields, by name.
            before: Earlier subject of the same form; its draft is dropped.
        """
        if before is not None:
            self._open.discard(before)
            self._kept.pop(before, None)
        self._open.add(subject)
        self._kept.pop(subject, None)
        self._kept[subject] = fields
        while len(self._kept) > MAX_DRAFTS:
            del self._kept[next(iter(self._kept))]
        self._write()

    def forget(self, subject: DraftKey | None) -> None:
        """Drop the draft of a form that was finished or discarded."""
        if subject is None:
            return
        self._open.discard(subject)
        if self._kept.pop(subject, None) is not None:
            self._write()

    def take(self, subject: DraftKey) -> Fields | None:
        """Return the draft of an earlier run; from now on it belongs to the form that asks."""
        if not self._wanted or subject in self._open or subject not in self._kept:
            return None
        self._open.add(subject)
        return self._kept[subject]

    def like(self, subject: DraftKey) -> DraftKey | None:
        """Return the subject of the newest draft of the same kind with the same first identifier.

        Drafts of open forms are left out.
        """
        closed = (noted for noted in reversed(self._kept) if noted not in self._open)
        return next((noted for noted in closed if noted[:2] == subject[:2]), None)

    def _settings_changed(self, before: WindowSettings) -> None:
        if before.case_text != self._settings.current.case_text:
            self._write()

    def _write(self) -> None:
        rows = [{"about": about, "told": fields} for about, fields in self._kept.items()]
        file_bytes = json.dumps({"drafts": rows}).encode()

        def work(_: object) -> None:
            try:
                if rows and self._wanted:
                    write_atomic(self.path, file_bytes, private=True)
                else:
                    self.path.unlink(missing_ok=True)
            except OSError as error:
                _log.warning("what was filled in cannot be noted: %s", error.strerror)

        self._files.do(work, lambda _: None, self._files, urgent=True)


class ReportDraft:
    """The draft of a report, saved while the user fills in its form.

    Args:
        drafts: Stores the draft.
        audits: Identifiers of the audits that are ticked at first.

    Attributes:
        found: The draft of an earlier run. Redactions belong to the texts of
            all audits: if other audits were ticked then, the report shows no text.
    """

    def __init__(self, drafts: Drafts, audits: Sequence[str]) -> None:
        self._drafts = drafts
        subject = ("report", *audits)
        self._about: DraftKey | None = None
        self.found: ReportRequest | None = None
        for noted in (subject, drafts.like(subject)):
            fields = None if noted is None else drafts.take(noted)
            if fields is None:
                continue
            self._about = noted
            with suppress(ValueError, KeyError, TypeError):
                request = request_file.read(fields["request"].encode())["request"]
                same = noted == subject
                self.found = (
                    request if same else replace(request, text=OMITTED, redactions=(), further=())
                )
            break

    def note(self, audits: Sequence[str], request: ReportRequest) -> None:
        """Save the draft of a report of these audits, without its logo."""
        text = request_file.write(replace(request, logo=None), "").decode()
        subject = ("report", *audits)
        self._drafts.note(subject, {"request": text}, before=self._about)
        self._about = subject

    def forget(self) -> None:
        """Drop the draft of a report that was saved or discarded."""
        self._drafts.forget(self._about)
        self._about = None


T = TypeVar("T")
LogWork = Callable[[CaseLog, JobContext], T]


class Cases(QObject):
    """Runs work on the case log outside the window's thread.

    Args:
        queue: The queue of the case log.
        environment: Locates the log; only its folders are used.
        drafts: Drafts of the forms.

    Signals:
        changed: The log has changed.
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
        """Path of the log."""
        return self.environment.paths.caselog

    @property
    def there(self) -> bool:
        """Whether a log exists."""
        return self.path.exists()

    def read(
        self, work: LogWork[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject
    ) -> Job:
        """Queue work that only reads the log; see :meth:`JobQueue.do`."""
        return self.ask(lambda context: self._opened(work, context), on_outcome, owner)

    def write(
        self, work: LogWork[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject
    ) -> Job:
        """Queue work that changes the log."""
        return self.change(lambda context: self._opened(work, context), on_outcome, owner)

    def ask(self, work: Work[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue a use case that opens the log itself and only reads it."""
        return self._queue.do(work, on_outcome, owner)

    def change(
        self, work: Work[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject
    ) -> Job:
        """Queue a use case that opens the log itself and changes it."""

        def changing(context: JobContext) -> T:
            result = work(context)
            self.changed.emit()  # from this thread: whoever listens lives in the window's
            return result

        return self._queue.do(changing, on_outcome, owner)

    def _opened(self, work: LogWork[T], context: JobContext) -> T:
        with open_log(self.environment, create=True) as log:
            return work(log, context)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A finished audit, and whether it was saved.

    Attributes:
        audited: The result of the audit.
        finding: The short form of the finding for the list.
        status: State in the case log; None if it could not be saved.
        failure: Reason why it could not be saved.
    """

    audited: Audited
    finding: Finding
    status: CaseStatus | None
    failure: Failure | None = None


class Keeper:
    """Saves finished audits to the case “Unfiled”.

    Args:
        environment: Locates the case log.
        settings: The settings: the user's name, and how texts are stored.
    """

    def __init__(self, environment: Environment, settings: SettingsFile) -> None:
        self._at, self._settings = environment, settings
        self._secret: Secret | None = None
        self._open = ExitStack()
        self._run: SavingRun | None = None
        self._mode = ""

    @property
    def wants_passphrase(self) -> bool:
        """Whether texts are to be encrypted and the passphrase is still missing."""
        return self._settings.current.case_text == SEAL and self._secret is None

    def unlock(self, secret: Secret) -> None:
        """Set the passphrase that encrypts the texts of this run."""
        self.close()
        self._secret = secret

    @property
    def mode(self) -> str:
        """How texts are stored; without a passphrase, texts to be encrypted are left out."""
        return LEAVE_OUT if self.wants_passphrase else self._settings.current.case_text

    def start(self, name: str) -> None:
        """Record the beginning of an audit; a log that cannot be written does not stop it."""
        try:
            self._saving().start(name)
        except PuraError:
            self.close()

    def keep(self, audited: Audited) -> Kept:
        """Save a finished audit."""
        finding = listed(audited.audit)
        try:
            run = self._saving()
            item = run.save(audited.audit)
        except (CaseLogError, KeyFormatError) as error:
            self.close()
            return Kept(audited=audited, finding=finding, status=None, failure=Failure.of(error))
        deeds = {"save": (item.examiner, item.entry.time)}
        status = CaseStatus(
            case=item.case, name=UNFILED, mode=item.mode, acts=deeds, examiner=item.examiner
        )
        return Kept(audited=audited, finding=finding, status=status)

    def fail(self, name: str, error: PuraError) -> None:
        """Record the failure of an audit."""
        try:
            self._saving().fail(name, error)
        except PuraError:
            self.close()

    def close(self) -> None:
        """Close the case and forget the key of its texts; the next audit opens it again."""
        self._run = None
        self._open.close()

    def wipe(self) -> None:
        """Close the case and forget the passphrase."""
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
            target = SaveTo(
                case=UNFILED,
                auditor=name or None,
                text=mode,
                passphrase=secret,
            )
            self._run = self._open.enter_context(saving_run(self._at, target))
            self._mode = mode
        return self._run

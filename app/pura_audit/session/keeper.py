"""What is kept on disk as the settings say.

Finished audits in the case log, and forms half filled in.
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
MAX_BYTES: Final = 1 << 24
MAX_DRAFTS: Final = 20
"""So many forms are remembered; the oldest goes first."""
PAUSE_MS: Final = 300
"""What is typed within it is noted together."""
_log = logging.getLogger(__name__)

DraftKey = tuple[str, ...]
"""What a form is about: the kind of form, then identifiers."""
Fields = Mapping[str, str]


class Drafts:
    """Forms that were filled in and neither finished nor given up.

    Args:
        folder: The folder of the program's state.
        settings: Say whether texts are kept.
        files: Writes the file.
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
        """Keep what a form is told so far.

        Args:
            subject: What it is about.
            fields: What was filled in, by the names of the fields.
            before: What it was about when it was last noted; that goes.
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
        """Take it away: it was finished, or given up."""
        if subject is None:
            return
        self._open.discard(subject)
        if self._kept.pop(subject, None) is not None:
            self._write()

    def take(self, subject: DraftKey) -> Fields | None:
        """Return what the form was told when the program ended; it belongs to that form now."""
        if not self._wanted or subject in self._open or subject not in self._kept:
            return None
        self._open.add(subject)
        return self._kept[subject]

    def like(self, subject: DraftKey) -> DraftKey | None:
        """Return what the newest form of the same kind was about whose first identifier is this.

        Forms that are open keep theirs.
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
    """What a report is told, noted while its form is filled in.

    Args:
        drafts: Keeps it.
        audits: Identifiers of the audits that are ticked at first.

    Attributes:
        found: What it was told when the program ended. What was blacked out belongs to the texts of
            all audits: where others were ticked then, the report shows no text.
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
        """Keep what a report of these audits is told so far; without its logo."""
        text = request_file.write(replace(request, logo=None), "").decode()
        subject = ("report", *audits)
        self._drafts.note(subject, {"request": text}, before=self._about)
        self._about = subject

    def forget(self) -> None:
        """Take it away: the report was saved, or given up."""
        self._drafts.forget(self._about)
        self._about = None


T = TypeVar("T")
LogWork = Callable[[CaseLog, JobContext], T]


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

    def read(
        self, work: LogWork[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject
    ) -> Job:
        """Queue something that leaves the log as it is; see :meth:`JobQueue.do`."""
        return self.ask(lambda context: self._opened(work, context), on_outcome, owner)

    def write(
        self, work: LogWork[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject
    ) -> Job:
        """Queue something that changes the log."""
        return self.change(lambda context: self._opened(work, context), on_outcome, owner)

    def ask(self, work: Work[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue a use case that opens the log by itself, and leaves it as it is."""
        return self._queue.do(work, on_outcome, owner)

    def change(
        self, work: Work[T], on_outcome: Callable[[Outcome[T]], None], owner: QObject
    ) -> Job:
        """Queue a use case that opens the log by itself, and changes it."""

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
    """A finished audit, and where it is kept.

    Attributes:
        audited: What came of the examination.
        finding: The same as the list keeps it.
        status: Where it is kept; None when it could not be.
        failure: Why not.
    """

    audited: Audited
    finding: Finding
    status: CaseStatus | None
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
            target = SaveTo(
                case=UNFILED,
                auditor=name or None,
                text=mode,
                passphrase=secret,
            )
            self._run = self._open.enter_context(saving_run(self._at, target))
            self._mode = mode
        return self._run

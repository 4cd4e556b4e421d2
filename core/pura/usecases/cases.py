"""Cases: open the log, save audits, review, export, import, check the log, sign its head."""

from __future__ import annotations

import getpass
import json
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Final

from pura.base.errors import CaseLogError, PuraError, naming, os_error_as
from pura.base.files import read_bounded, refuse_taken, write_atomic, write_or_refuse
from pura.base.json_text import read_json
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.caselog import (
    KEEP,
    SEAL,
    Case,
    CaseItem,
    CaseLog,
    CaseStatus,
    LogHead,
    Person,
    Vault,
    export_case,
    find_case,
    import_case,
    load_audit,
    move_out,
    open_case,
    read_case,
    record_failure,
    save_audit,
    sign_off,
    statuses,
    workstation,
)
from pura.caselog.cases import FINISHED, UNFILED, case_names, item_of
from pura.caselog.keeping import held, record_start
from pura.caselog.package import MAX_FILE
from pura.caselog.verify import (
    LogCheck,
    deposits_in,
    lay_down,
    parse_head,
    record_check,
    sign_head,
    verify_log,
)
from pura.keys import Secret
from pura.record.audit import Audit
from pura.usecases.environment import Environment
from pura.usecases.keys import open_identity, trusted_roots

MAX_CERTIFICATE: Final = 1 << 20
_WORKER: Final = Lock()


def open_log(environment: Environment, *, create: bool = False, read_only: bool = False) -> CaseLog:
    """Open the user's case log.

    Raises:
        CaseLogError: There is none, or it cannot be used.
    """
    paths = environment.paths
    if not create and not paths.caselog.exists():
        raise CaseLogError("caselog.missing", code="case-log-missing")
    if read_only:
        return CaseLog(paths.caselog, read_only=True)
    kept = kept_deposit(environment)
    return CaseLog(
        paths.caselog,
        create=create,
        station=workstation(paths.workstation),
        worker=worker_of(environment),
        closing=None if kept is None else lambda log: _deposited(log, *kept),
    )


def kept_deposit(environment: Environment) -> tuple[Path, str] | None:
    """Return in which folder, and for which mail, heads are laid down with each entry."""
    path = environment.paths.deposit
    if not path.exists():
        return None
    try:
        found = read_json(read_bounded(path, MAX_CERTIFICATE, CaseLogError))
        return Path(found["folder"]), str(found["mail"])
    except (ValueError, TypeError, LookupError):
        raise CaseLogError("caselog.deposit", name=path.name, code="case-log-deposit") from None


def _deposited(log: CaseLog, folder: Path, mail: str) -> None:
    """Lay the head down where that works; what was done in the log stands either way."""
    with suppress(OSError):
        lay_down(log, folder, mail=mail)


def deposit_head(
    environment: Environment, *, folder: Path, mail: str = "", always: bool = False
) -> Path:
    """Lay the head of the log down, so that a cut-off end is found.

    Args:
        environment: Whose log.
        folder: Out of reach of who could alter the log.
        mail: Address that a draft is made for; empty for a plain file.
        always: Do it from now on each time the log is written to, one file a day.

    Raises:
        CaseLogError: There is no log, or the folder cannot be written.
    """
    refusals = os_error_as(CaseLogError, "file.write", name=folder.name)
    with open_log(environment, read_only=True) as log, refusals:
        made = lay_down(log, folder, mail=mail)
    if always:
        kept = {"folder": str(folder.absolute()), "mail": mail}
        write_or_refuse(
            environment.paths.deposit, json.dumps(kept).encode(), CaseLogError, own=True
        )
    return made


def end_deposits(environment: Environment) -> None:
    """Lay no heads down any more; those that were stay where they are."""
    environment.paths.deposit.unlink(missing_ok=True)


def worker_of(environment: Environment) -> Person:
    """Return who works here; the name is "" until somebody gave it.

    The identifier is that of the login's name, where the log knows that already, else a new one.
    """
    path, log = environment.paths.worker, environment.paths.caselog
    with _WORKER:  # two threads would make two identifiers
        with suppress(OSError, ValueError, TypeError, LookupError):
            found = read_json(path.read_bytes())
            return Person(id=str(found["id"]), name=str(found["name"]))
        known = ""
        if log.exists() and (login := _login()):
            with CaseLog(log, read_only=True) as opened:
                known = next((one.id for one in opened.people() if one.name == login), "")
        return _kept(environment, Person(id=known or secrets.token_hex(8), name=""))


def name_worker(environment: Environment, name: str) -> None:
    """Take down how whoever works here is called, unless that is known; it is asked for once."""
    worker, name = worker_of(environment), " ".join(name.split())
    if name and not worker.name:
        _kept(environment, replace(worker, name=name))


def _kept(environment: Environment, worker: Person) -> Person:
    told = json.dumps({"id": worker.id, "name": worker.name}, ensure_ascii=False)
    with suppress(OSError):  # a folder that cannot be written: this run has a worker of its own
        write_atomic(environment.paths.worker, f"{told}\n".encode(), private=True)
    return worker


def _login() -> str:
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return ""


def acting(log: CaseLog, name: str | None) -> Person:
    """Return who acts: whoever works here, where nobody else is named.

    As long as that person gave no name, the login's stands for it, under the same identifier.

    Raises:
        CaseLogError: Nobody was named, and the login has no name.
    """
    worker, name = log.worker, " ".join((name or "").split())
    if worker is None or (name and name.casefold() != worker.name.casefold()):
        return log.person(name or _login())
    return log.person(worker.name or _login(), worker.id)


def case_named(log: CaseLog, name: str) -> Case:
    """Return the case of a name or identifier.

    Raises:
        CaseLogError: There is none, or several.
    """
    case = find_case(log, name)
    if case is None:
        raise CaseLogError("caselog.no-case", code="case-log-unknown")
    return case


@dataclass(frozen=True, kw_only=True)
class SaveTo:
    """Where audits are saved, by whom, and what becomes of their texts; a run keeps it.

    Attributes:
        case: Name or identifier of the case; one that is not there is opened.
        auditor: Who saves; None: whoever works here.
        text: What becomes of the texts: ``keep``, ``seal`` or ``leave-out``.
        passphrase: Of sealed texts; overwritten when it has been used.
        purpose: What it is for.
    """

    case: str
    auditor: str | None = None
    text: str = KEEP
    passphrase: Secret | None = None
    purpose: str = ""


class SavingRun:
    """Saves what a run over many texts finds. See :func:`saving_run`.

    The log is opened for each entry: a long run must not keep others from their cases.
    """

    def __init__(
        self,
        environment: Environment,
        to: SaveTo,
        vault: Vault | None,
        actor: Person,
        case: Case,
        opened: bool,
    ) -> None:
        self.case, self.actor, self.opened = case, actor, opened
        self._at, self._to, self._vault = environment, to, vault

    def start(self, name: str) -> None:
        """Say that an examination begins.

        Raises:
            CaseLogError: The log cannot be written.
        """
        with open_log(self._at) as log:
            record_start(log, self.case.id, name, self.actor)

    def save(self, audit: Audit) -> CaseItem:
        """Save a finding.

        Raises:
            CaseLogError: The case was closed, or the log cannot be written.
        """
        with open_log(self._at) as log:
            return save_audit(
                log,
                self.case.id,
                audit,
                self.actor,
                text=self._to.text,
                vault=self._vault,
                purpose=self._to.purpose,
            )

    def fail(self, name: str, error: PuraError) -> None:
        """Say that an examination failed.

        Raises:
            CaseLogError: The log cannot be written.
        """
        with open_log(self._at) as log:
            record_failure(log, self.case.id, name, error, self.actor)


@contextmanager
def _vault_of(to: SaveTo) -> Iterator[Vault | None]:
    """Lend what encrypts the texts; its key is overwritten afterwards."""
    if to.text != SEAL:
        yield None
        return
    if to.passphrase is None:
        raise ValueError("texts are sealed under a passphrase")
    with to.passphrase.used() as words:
        vault = Vault(words)
    try:
        yield vault
    finally:
        vault.wipe()


@contextmanager
def saving_run(environment: Environment, to: SaveTo) -> Iterator[SavingRun]:
    """Open the case for a run over many texts; a case that is not there is opened.

    Raises:
        CaseLogError: The case is closed, or the log cannot be written.
        KeyFormatError: The passphrase is too short.
    """
    with _vault_of(to) as vault:
        with open_log(environment, create=True) as log:
            actor = acting(log, to.auditor)
            case, opened = _find_or_open(log, to.case, actor)
        if case.closed:
            raise CaseLogError("caselog.closed", code="case-log-closed")
        yield SavingRun(environment, to, vault, actor, case, opened)


def save_audits(
    environment: Environment,
    to: SaveTo,
    audits: Sequence[Audit | str],
    *,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[Case, int]:
    """Save finished audits to a case, all or none.

    Args:
        environment: Where the log is.
        to: Which case, who, and what becomes of the texts.
        audits: Records, or identifiers of audits that the unfiled case holds.
        progress: Told after each.
        checkpoint: Asked before each.

    Returns:
        The case as it is now, and how many were saved; those that were in it are left alone.

    Raises:
        CaseLogError: All are in it already, the case is closed, or the log cannot be written.
        Cancelled: The checkpoint said so; nothing was saved then.
    """
    with (
        _vault_of(to) as vault,
        open_log(environment, create=True) as log,
        log.writing(),
    ):
        actor = acting(log, to.auditor)
        case, _ = _find_or_open(log, to.case, actor)
        known = {item.id for item in case.items}
        new = [one for one in audits if (one if isinstance(one, str) else one.id) not in known]
        if not new:
            raise CaseLogError("caselog.audit-twice", code="case-log-twice")
        for done, one in enumerate(new):
            checkpoint()
            progress(Stage(name="save", done=done, total=len(new)))
            audit = _unfiled(log, one) if isinstance(one, str) else one
            _save_or_move(log, case, audit, actor, to, vault)
        return case_named(log, case.id), len(new)


def _unfiled(log: CaseLog, audit: str) -> Audit:
    """Read an audit of the unfiled case; that it is filed is what the log notes."""
    item = unfiled_item(log, audit)
    if item is None:
        raise CaseLogError("caselog.no-audit", name=audit, code="case-log-no-audit")
    return load_audit(log, item)


def _save_or_move(
    log: CaseLog, case: Case, audit: Audit, actor: Person, to: SaveTo, vault: Vault | None
) -> None:
    """Save an audit; where the unfiled case has it, that lets go of it."""
    before = unfiled_item(log, audit.id)
    sealed = None
    if before is not None and before.mode == SEAL and audit.text is None:
        sealed = log.kept_bytes(before.entry, "sealed")
    text = to.text if sealed is None else SEAL
    save_audit(
        log,
        case.id,
        audit,
        actor,
        text=text,
        vault=vault if sealed is None else None,
        sealed=sealed,
        purpose=to.purpose,
        examiner="" if before is None else before.examined_by,
    )
    if before is not None and before.case != case.id and not held(log, before.case):
        move_out(log, before.case, audit.id, actor, to=case.id)


def unfiled_item(log: CaseLog, audit: str) -> CaseItem | None:
    """Return an audit as the unfiled case keeps it, or None."""
    for case, name in case_names(log).items():
        if name == UNFILED:
            for entry in log.entries(case=case, item=audit):
                if entry.action in FINISHED:
                    item = item_of(log, entry)
                    return item if item.record is not None else None
    return None


def statuses_of(environment: Environment, audits: Collection[str]) -> dict[str, CaseStatus]:
    """Return where findings stand, by the identifiers of their audits.

    Raises:
        CaseLogError: The log cannot be read.
    """
    if not environment.paths.caselog.exists():
        return {}
    with open_log(environment, read_only=True) as log:
        return statuses(log, audits)


def case_of(environment: Environment, audit: str) -> tuple[Case, CaseItem]:
    """Return the case that has an audit now, and the audit in it.

    Raises:
        CaseLogError: None has it, or the log cannot be read.
    """
    with open_log(environment, read_only=True) as log:
        return _item_in(log, audit)


def _item_in(log: CaseLog, audit: str) -> tuple[Case, CaseItem]:
    cases = [entry.case for entry in log.acts(*FINISHED) if entry.item == audit]
    for name in reversed(cases):
        case = read_case(log, name)
        for item in case.items:
            if item.id == audit:
                return case, item
    raise CaseLogError("caselog.not-saved", code="case-log-not-saved")


def open_saved(environment: Environment, audit: str, *, auditor: str | None = None) -> Audit:
    """Read a saved audit by its identifier; without its text, where that is encrypted.

    Raises:
        CaseLogError: There is none, or its record was erased or altered.
        RecordError: It was written by another version.
    """
    with open_log(environment) as log:
        entries = [entry for entry in log.acts(*FINISHED) if entry.item == audit]
        for entry in reversed(entries):
            item = item_of(log, entry)
            if item.record is not None:
                return load_audit(log, item, actor=acting(log, auditor))
        _, item = _item_in(log, audit)  # without its text, or how it came to be gone
        return load_audit(log, item, actor=acting(log, auditor))


def versions_of(
    environment: Environment, audit: str, *, auditor: str | None = None
) -> tuple[Audit, ...]:
    """Read the examinations of the same bytes in the case that has an audit: that one first.

    The others follow, newest first; those whose record is gone are left out.

    Raises:
        CaseLogError: No case has it, or a record was altered.
        RecordError: One was written by another version.
    """
    with open_log(environment) as log:
        case, own = _item_in(log, audit)
        digest = None if own.finding is None else own.finding.sha256
        others = [
            item
            for item in reversed(case.items)
            if item.id != audit
            and item.record is not None
            and item.finding is not None
            and item.finding.sha256 == digest
        ]
        actor = acting(log, auditor)
        return tuple(load_audit(log, item, actor=actor) for item in (own, *others))


def _find_or_open(log: CaseLog, name: str, actor: Person) -> tuple[Case, bool]:
    found = find_case(log, name)
    return (open_case(log, name, actor), True) if found is None else (found, False)


def review_finding(
    environment: Environment,
    *,
    item: CaseItem,
    reviewer: str | None,
    agree: bool,
    recomputed: str,
    words: str = "",
) -> None:
    """Confirm or dispute a finding as a second person (four eyes).

    Args:
        environment: Whose log.
        item: The saved audit.
        reviewer: Who looks; None: whoever works here.
        agree: Confirm it.
        recomputed: What was recomputed, and with what result.
        words: What else there is to say.

    Raises:
        CaseLogError: The reviewer examined or filed it, it is not said what was recomputed, or
            whoever works here examined it and gave no name yet.
    """
    with open_log(environment) as log:
        worker = worker_of(environment)
        if not worker.name and worker.id in (item.examined_by, item.entry.actor):
            # Under whatever name the reviewer comes, it could be the same person.
            raise CaseLogError("caselog.examiner-unnamed", code="four-eyes-unnamed")
        sign_off(
            log,
            item,
            acting(log, reviewer),
            agree=agree,
            recomputed=recomputed,
            words=words,
        )


def export_to_file(
    environment: Environment,
    *,
    case: str,
    path: Path,
    auditor: str | None = None,
    purpose: str = "",
    replace: bool = False,
) -> int:
    """Write a case as one file; returns its size in bytes.

    Args:
        environment: Whose log.
        case: Name or identifier.
        path: The file.
        auditor: Who does it; None: whoever works here.
        purpose: What for; the log keeps it.
        replace: A file that is there may be replaced.

    Raises:
        CaseLogError: There is no such case, or the file is there or cannot be written.
    """
    refuse_taken(path, CaseLogError, replace=replace)
    with open_log(environment) as log:
        found = case_named(log, case)
        data = export_case(log, found.id, acting(log, auditor), purpose=purpose)
    write_or_refuse(path, data, CaseLogError, private=True)
    return len(data)


def import_from_file(environment: Environment, *, path: Path, auditor: str | None = None) -> Case:
    """Take in a case that was exported elsewhere.

    Raises:
        CaseLogError: It is not whole, or is here already.
    """
    data = read_bounded(path, MAX_FILE, CaseLogError)
    with open_log(environment, create=True) as log, naming(path.name):
        return import_case(log, data, acting(log, auditor))


def items_of(
    environment: Environment, name: str, items: Sequence[str] = ()
) -> tuple[Case, tuple[CaseItem, ...]]:
    """Return a case, and audits of it.

    Args:
        environment: Whose log.
        name: Name or identifier of the case.
        items: Beginnings of the audits' identifiers; none means all whose record is kept.

    Raises:
        CaseLogError: There is no such case or audit.
    """
    with open_log(environment, read_only=True) as log:
        case = case_named(log, name)
    if items:
        return case, tuple(case.item(item) for item in items)
    return case, tuple(item for item in case.items if item.record is not None)


def open_audits(
    environment: Environment,
    *,
    items: tuple[CaseItem, ...],
    auditor: str | None = None,
    passphrase: Secret | None = None,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[Audit, ...]:
    """Read saved audits.

    Args:
        environment: Whose.
        items: Which.
        auditor: Who reads; None: whoever works here.
        passphrase: Opens texts that were kept encrypted; without it these audits have none.
        checkpoint: Called often; may raise.

    Raises:
        CaseLogError: A record was erased or altered, or the passphrase is wrong.
        RecordError: It was written by another version.
    """
    lent = nullcontext() if passphrase is None else passphrase.used()
    with lent as words, open_log(environment) as log:
        actor = acting(log, auditor)
        audits = []
        for item in items:
            checkpoint()
            audits.append(load_audit(log, item, passphrase=words, actor=actor))
        return tuple(audits)


def check_log(
    environment: Environment,
    *,
    head: str = "",
    trust: tuple[Path, ...] = (),
    log: Path | None = None,
    deposits: Path | None = None,
    record: bool = False,
    auditor: str | None = None,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[LogCheck, ...]:
    """Check the log: the first altered, missing or reordered entry is named.

    Args:
        environment: Whose log.
        head: A head that a report printed; shows a cut-off end. Empty for none.
        trust: Files with trusted certificates (PEM or DER), for signed heads.
        log: Another log than the user's own.
        deposits: A folder with deposited heads; None takes the one that is kept, if there is one.
        record: Also say in the log that it was checked.
        auditor: Who checks; None: whoever works here.
        checkpoint: Called often; may raise.

    Raises:
        CaseLogError: There is none, or the head cannot be read.
        Cancelled: The checkpoint said so.
    """
    roots = trusted_roots(trust, CaseLogError)
    own = log is None
    checked = open_log(environment, read_only=True) if log is None else CaseLog(log, read_only=True)
    with checked as found:
        stated = parse_head(head, found.id) if head else None
        kept = kept_deposit(environment) if own and deposits is None else None
        folder = deposits or (kept[0] if kept else None)
        checks = verify_log(
            found,
            head=stated,
            trust=roots,
            deposits=None if folder is None else deposits_in(folder, found.id),
            checkpoint=checkpoint,
        )
    if record and own:
        with open_log(environment) as opened:
            record_check(opened, checks, acting(opened, auditor))
    return checks


def sign_head_of_log(
    environment: Environment, *, certificate: Path, passphrase: Secret, auditor: str | None = None
) -> LogHead:
    """Sign the head of the log; returns it.

    Args:
        environment: Whose.
        certificate: PKCS#12 file.
        passphrase: Its passphrase; overwritten when it has been used.
        auditor: Who does it; None: whoever works here.

    Raises:
        CaseLogError: There is no log, or it cannot be written.
        SigningError: The certificate cannot be used.
    """
    identity = open_identity(certificate, passphrase, CaseLogError)
    with open_log(environment) as log:
        head = log.head()
        sign_head(log, identity, acting(log, auditor))
        return head

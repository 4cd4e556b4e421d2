"""Actions on cases: open, annotate, review and hold them; save, load and erase audits."""

from __future__ import annotations

import os
import secrets
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pura.base.catalogue import phrase
from pura.base.errors import CaseLogError, KeyFormatError, PuraError
from pura.caselog.cases import FINISHED, RECORD_OF, Case, CaseItem, find_case, item_of, read_case
from pura.caselog.log import CaseLog, LogEntry, Person
from pura.keys.sealed import check_passphrase, seal, unseal
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.json_io import without_text
from pura.scheme.keys import wipe_buffer

MAX_NAME: Final = 200
"""Characters of the name of a case."""
MAX_TEXT: Final = 100_000
"""Characters of a note, a reason or a comment."""
MAX_TAGS: Final = 50
"""Tags of a case."""


def open_case(
    log: CaseLog, name: str, actor: Person, *, notes: str = "", tags: Sequence[str] = ()
) -> Case:
    """Open a case.

    Raises:
        CaseLogError: The name is empty, too long, or already used.
    """
    name = _name(name)
    erasable: dict[str, object] = {"name": name}
    if notes.strip():
        erasable["notes"] = checked_text(notes)
    if tags:
        erasable["tags"] = _tags(tags)
    case = secrets.token_hex(16)
    with log.writing():
        _refuse_twin(log, name)
        log.append("case-opened", actor.id, case=case, kept=erasable)
    return read_case(log, case)


def rename_case(log: CaseLog, case: str, name: str, actor: Person) -> None:
    """Rename a case; the old name remains in the log until it is erased.

    Raises:
        CaseLogError: The name is empty, too long or taken.
    """
    name = _name(name)
    with log.writing():
        if (read_case(log, case).name or "").casefold() != name.casefold():
            _refuse_twin(log, name)
        log.append("case-renamed", actor.id, case=case, kept={"name": name})


def write_note(log: CaseLog, case: str, text: str, actor: Person) -> None:
    """Add a note to a case.

    Raises:
        CaseLogError: The note is empty or too long, or the case is closed.
    """
    erasable = {"text": checked_text(text)}
    with log.writing():
        require_open(log, case)
        log.append("note-added", actor.id, case=case, kept=erasable)


def set_tags(log: CaseLog, case: str, tags: Sequence[str], actor: Person) -> None:
    """Set the tags of a case.

    Raises:
        CaseLogError: Too many.
    """
    with log.writing():
        require_open(log, case)
        erasable = {"tags": _tags(tags)}
        log.append("tags-set", actor.id, case=case, kept=erasable)


def sign_off(
    log: CaseLog, item: CaseItem, reviewer: Person, *, agree: bool, recomputed: str, words: str = ""
) -> None:
    """Confirm or dispute a finding, as a second person (four eyes).

    Raises:
        CaseLogError: The reviewer examined or filed the text, or does not name what was recomputed.
    """
    if reviewer.id in (item.examined_by, item.entry.actor):
        raise CaseLogError("caselog.four-eyes", code="four-eyes")
    erasable = {"recomputed": checked_text(recomputed)}
    if words.strip():
        erasable["words"] = checked_text(words)
    action = "finding-confirmed" if agree else "finding-disputed"
    with log.writing():
        require_open(log, item.case)
        log.append(
            action,
            reviewer.id,
            role="reviewer",
            case=item.case,
            item=item.id,
            result=item.verdict,
            facts={"examiner": item.examined_by},
            kept=erasable,
        )


def set_hold(log: CaseLog, case: str, actor: Person, *, held: bool, reason: str) -> None:
    """Set a hold, which forbids erasing in a case, or lift it.

    Raises:
        CaseLogError: No reason was given.
    """
    action = "hold-set" if held else "hold-lifted"
    erasable = {"reason": checked_text(reason)}
    log.append(action, actor.id, role="custodian", case=case, kept=erasable)


def set_closed(log: CaseLog, case: str, actor: Person, *, closed: bool) -> None:
    """Close or reopen a case."""
    log.append("case-closed" if closed else "case-reopened", actor.id, case=case)


def require_open(log: CaseLog, case: str) -> None:
    """Require that a case is open; its audits are not read for this.

    Raises:
        CaseLogError: The case is closed or unknown.
    """
    state = _last(log, case, ("case-opened", "case-closed", "case-reopened"))
    if state is None:
        raise CaseLogError("caselog.no-case", code="case-log-unknown")
    if state == "case-closed":
        raise CaseLogError("caselog.closed", code="case-log-closed")


def held(log: CaseLog, case: str) -> bool:
    """Return whether a hold forbids erasing in a case."""
    return _last(log, case, ("hold-set", "hold-lifted", "")) == "hold-set"


def _last(log: CaseLog, case: str, actions: tuple[str, str, str]) -> str | None:
    with log.reading() as db:
        row = db.execute(
            "SELECT action FROM entries WHERE case_id = ? AND action IN (?, ?, ?)"
            " ORDER BY place DESC LIMIT 1",
            (case, *actions),
        ).fetchone()
    return None if row is None else str(row[0])


def _refuse_twin(log: CaseLog, name: str) -> None:
    if find_case(log, name) is not None:
        raise CaseLogError("name.taken", name=name, code="case-log-taken")


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise CaseLogError("name.form", most=MAX_NAME, code="case-log-name")
    return name


def checked_text(text: str) -> str:
    """Return a text without blanks around it, if it is neither empty nor too long.

    Raises:
        CaseLogError: The text is empty or too long.
    """
    text = text.strip()
    if not text:
        raise CaseLogError("caselog.empty", code="case-log-empty")
    if len(text) > MAX_TEXT:
        raise CaseLogError("words.long", count=len(text), most=MAX_TEXT, code="case-log-long")
    return text


def _tags(tags: Sequence[str]) -> list[str]:
    unique_tags = list(dict.fromkeys(" ".join(tag.split())[:60] for tag in tags if tag.strip()))
    if len(unique_tags) > MAX_TAGS:
        raise CaseLogError("caselog.tags", most=MAX_TAGS, code="case-log-tags")
    return unique_tags


MAGIC: Final = b"PURASEAL1\n"  # first bytes of sealed content
_SIZE: Final = struct.Struct("<I")
_NONCE: Final = 12
_MAX_WRAPPED: Final = 16 << 10  # bytes of the wrapped key, as of a key file


class Vault:
    """Encrypts content under a passphrase; wipe it after use.

    Args:
        passphrase: UTF-8, with the least length of a passphrase for key files.

    Raises:
        KeyFormatError: The passphrase is too short.
    """

    def __init__(self, passphrase: bytearray) -> None:
        check_passphrase(passphrase)
        self._key = bytearray(os.urandom(32))
        self._wrapped = seal(self._key, passphrase)

    def lock(self, plaintext: bytes) -> bytes:
        """Encrypt content; :func:`unlock` reverses this."""
        nonce = os.urandom(_NONCE)
        head = MAGIC + _SIZE.pack(len(self._wrapped)) + self._wrapped
        return head + nonce + AESGCM(self._key).encrypt(nonce, plaintext, head)

    def wipe(self) -> None:
        """Overwrite the key in memory."""
        wipe_buffer(self._key)


def unlock(sealed: bytes, passphrase: bytearray) -> bytes:
    """Decrypt content that a :class:`Vault` encrypted.

    Raises:
        CaseLogError: The passphrase is wrong, or the content is damaged.
    """
    start = len(MAGIC) + _SIZE.size
    if not sealed.startswith(MAGIC) or len(sealed) < start:
        raise _damaged()
    (size,) = _SIZE.unpack_from(sealed, len(MAGIC))
    head, rest = sealed[: start + size], sealed[start + size :]
    if size > _MAX_WRAPPED or len(rest) < _NONCE:
        raise _damaged()
    try:
        key = unseal(head[start:], passphrase)
    except KeyFormatError as error:
        if error.code == "key-file-passphrase":
            raise CaseLogError("passphrase.wrong", code="case-log-passphrase") from None
        raise _damaged() from None
    try:
        return AESGCM(key).decrypt(rest[:_NONCE], rest[_NONCE:], head)
    except InvalidTag:
        raise _damaged() from None
    finally:
        wipe_buffer(key)


def _damaged() -> CaseLogError:
    return CaseLogError("caselog.kept-damaged", code="case-log-damaged")


KEEP: Final = "keep"
SEAL: Final = "seal"
LEAVE_OUT: Final = "leave-out"
TEXT_MODES: Final = (KEEP, SEAL, LEAVE_OUT)
MAX_RECORD: Final = 1 << 30
REPORT_ACTIONS: Final = ("report-drafted", "report-issued", "report-amended", "report-withdrawn")


def save_audit(
    log: CaseLog,
    case: str,
    audit: Audit,
    actor: Person,
    *,
    text: str = KEEP,
    vault: Vault | None = None,
    sealed: bytes | None = None,
    purpose: str = "",
    examiner: str = "",
) -> CaseItem:
    """Save an audit to a case.

    Args:
        log: The log.
        case: Identifier of the case.
        audit: The audit.
        actor: Person who saves it.
        text: One of :data:`TEXT_MODES`.
        vault: Encrypts the text, for ``seal``.
        sealed: The encrypted text from another case, instead of a vault.
        purpose: Purpose of the examination.
        examiner: Identifier of the examiner; empty if the actor examined the text.

    Raises:
        CaseLogError: The case is closed, or it already contains the audit.
    """
    if text not in TEXT_MODES or (text == SEAL) != ((vault or sealed) is not None):
        raise ValueError("unknown mode, or no vault for it")
    erasable: dict[str, object] = {"item": audit.finding.brief().to_json()}
    if purpose.strip():
        erasable["purpose"] = checked_text(purpose)
    if sealed is not None:
        erasable["sealed"] = sealed
    elif vault is not None and audit.text is not None:
        erasable["sealed"] = vault.lock(pack_record(audit))
    erasable["record"] = pack_record(audit if text == KEEP else without_text(audit))
    with log.writing():
        require_open(log, case)
        if _saved(log, case, audit.id):
            raise CaseLogError("caselog.audit-twice", code="case-log-twice")
        run = 1 + _runs(log, case, audit.input.sha256)
        entry = log.append(
            FINISHED[1 if run > 1 else 0],
            actor.id,
            case=case,
            item=audit.id,
            result=audit.verdict,
            policy=str(audit.policy.get("version", "")),
            facts=_facts(audit, run, text, sealed=sealed is not None)
            | {"examiner": examiner or actor.id},
            kept=erasable,
        )
        if (lookup := audit.register) is not None:
            facts = {
                "version": lookup.version,
                "entries": lookup.entries,
                "hits": [match.entry for match in lookup.matches],
            }
            log.append("register-looked-up", actor.id, case=case, item=audit.id, facts=facts)
        return item_of(log, entry)


def _saved(log: CaseLog, case: str, audit: str) -> bool:
    with log.reading() as db:
        return bool(
            db.execute(
                "SELECT 1 FROM entries WHERE case_id = ? AND action IN (?, ?) AND item_id = ?",
                (case, *FINISHED, audit),
            ).fetchone()
        )


def _runs(log: CaseLog, case: str, sha256: str) -> int:
    """Return the number of examinations of the same bytes in a case whose digests are kept."""
    with log.reading() as db:
        row = db.execute(
            "SELECT count(*) FROM entries JOIN kept USING (log, seq)"
            " WHERE case_id = ? AND action IN (?, ?) AND field = 'item' AND instr(value, ?) > 0",
            (case, *FINISHED, sha256.encode()),
        ).fetchone()
    return int(row[0])


def record_start(log: CaseLog, case: str, name: str, actor: Person) -> None:
    """Record that an examination begins, so that an unfinished one can be recognised."""
    with log.writing():
        require_open(log, case)
        erasable = {"item": {"name": name[:MAX_NAME]}}
        log.append("examination-started", actor.id, case=case, kept=erasable)


def record_failure(log: CaseLog, case: str, name: str, error: PuraError, actor: Person) -> None:
    """Record that an examination failed; only the kind of error goes into the chain."""
    with log.writing():
        require_open(log, case)
        erasable = {"item": {"name": name[:MAX_NAME]}, "reason": error.message}
        log.append("examination-failed", actor.id, case=case, result=error.code, kept=erasable)


def load_audit(
    log: CaseLog,
    item: CaseItem,
    *,
    passphrase: bytearray | None = None,
    actor: Person | None = None,
) -> Audit:
    """Load a saved audit, without a model or a key.

    Args:
        log: The log.
        item: The saved audit.
        passphrase: Decrypts the text, if it is encrypted; without it the audit has no text.
        actor: Person who reads the text, for the log; None if the log cannot be written.

    Raises:
        CaseLogError: The record was erased, was altered or is missing, or the passphrase is wrong.
        RecordError: The record was written by another version.
    """
    packed = log.kept_bytes(*item.record) if item.record else None
    if packed is None:
        raise missing_record_error(item)
    if passphrase is not None and (sealed := log.kept_bytes(item.entry, "sealed")) is not None:
        packed = unlock(sealed, passphrase)
    audit = json_io.from_json(unpack_record(packed))
    if audit.text is not None and actor is not None:
        log.append("text-opened", actor.id, case=item.case, item=item.id)
    return audit


def missing_record_error(item: CaseItem) -> CaseLogError:
    """Return the error for an audit whose record was erased or is missing.

    Args:
        item: The audit, as read from its case.
    """
    erased = item.erased
    if erased is None:
        return CaseLogError("caselog.record-missing", seq=item.entry.seq, code="case-log-gone")
    return CaseLogError(
        "caselog.record-erased",
        time=erased.time,
        who=erased.who or phrase("caselog.no-name"),
        why=erased.reason or phrase("caselog.no-reason"),
        code="case-log-erased",
    )


def record_report(
    log: CaseLog,
    case: str,
    actor: Person,
    *,
    action: str,
    number: str,
    sha256: str,
    items: Sequence[str],
    final: bool,
    reason: str = "",
    recipient: str = "",
) -> LogEntry:
    """Record that a report was drafted, issued, amended or withdrawn.

    Args:
        log: The log.
        case: Identifier of the case.
        actor: Person who acts.
        action: One of :data:`REPORT_ACTIONS`.
        number: Identifier of the report.
        sha256: SHA-256 of the file, in hexadecimal.
        items: Identifiers of the audits in the report.
        final: The report is not a draft.
        reason: Reason for an amendment or withdrawal.
        recipient: Recipient of the report.
    """
    if action not in REPORT_ACTIONS:
        raise ValueError("unknown action")
    erasable = {"number": number}
    for name, detail in (("reason", reason), ("recipient", recipient)):
        if detail.strip():
            erasable[name] = checked_text(detail)
    role = "authoriser" if action == "report-issued" else "examiner"
    return log.append(
        action,
        actor.id,
        role=role,
        case=case,
        facts={"sha256": sha256, "items": list(items), "final": final},
        kept=erasable,
    )


def _facts(audit: Audit, run: int, text: str, *, sealed: bool) -> dict[str, Any]:
    """Return the facts of an audit that remain in the chain: no text, no name, no payload."""
    return {
        "run": run,
        "text": text if audit.text is not None or sealed else LEAVE_OUT,
        "examined": audit.created,
        "keys": [key.fingerprint for key in audit.keys],
        "profile": audit.profile.coding,
        "model": audit.model.fingerprint,
        "tokenizer": audit.model.tokenizer,
        "device": f"{audit.device.kind} {audit.device.dtype}",
        "decoder": audit.decoder,
        "draws": audit.evidence.draws,
        "prompt": audit.prompt.known,
    }


def pack_record(audit: Audit) -> bytes:
    """Return a record as compressed JSON, as the log stores it."""
    return zlib.compress(json_io.to_json(audit).encode(), 6)


def unpack_record(packed: bytes, limit: int = MAX_RECORD) -> str:
    """Undo :func:`pack_record`, up to a limit, since a case may come from elsewhere."""
    opener = zlib.decompressobj()
    try:
        text = opener.decompress(packed, limit)
        if opener.unconsumed_tail or not opener.eof:
            raise ValueError("too long")
        return text.decode()
    except (zlib.error, ValueError):
        raise CaseLogError("caselog.kept-damaged", code="case-log-damaged") from None


def erase(
    log: CaseLog,
    case: str,
    actor: Person,
    *,
    reason: str,
    item: str | None = None,
    text_only: bool = False,
) -> int:
    """Erase the kept fields of a case or of one audit; the chain remains and lists them.

    Args:
        log: The log.
        case: Identifier of the case.
        actor: Person who erases.
        reason: Reason for the erasure.
        item: Identifier of an audit, to erase only its fields.
        text_only: Erase only the text; the record is kept without it.

    Returns:
        Number of erased fields.

    Raises:
        CaseLogError: A hold forbids erasing, or no reason was given.
    """
    erasable: dict[str, object] = {"reason": checked_text(reason)}
    with log.writing():
        if held(log, case):
            raise CaseLogError("caselog.held", code="case-log-hold")
        erased_fields: list[dict[str, Any]] = []
        for entry in log.entries(case=case):
            for field in sorted(entry.kept):
                if not _concerns(entry, field, item):
                    continue
                if text_only:
                    if field not in ("record", "sealed"):
                        continue
                    if field == "record":
                        without = _without_text(log, entry)
                        if without is None:
                            continue
                        erasable[RECORD_OF + entry.item] = without
                if log.erase(entry, field):
                    erased_fields.append({"log": entry.log, "seq": entry.seq, "field": field})
        log.append(
            "kept-erased",
            actor.id,
            role="custodian",
            case=case,
            item=item or "",
            facts={"erased": erased_fields},
            kept=erasable,
        )
    log.scrub()
    return len(erased_fields)


def move_out(log: CaseLog, case: str, item: str, actor: Person, *, to: str) -> None:
    """Remove an audit that was moved to another case: erase its kept fields in this one.

    Reviews of the audit remain, and the other case shows them (``read_case``).

    Args:
        log: The log.
        case: Identifier of the case that the audit leaves.
        item: Identifier of the audit.
        actor: Person who moves it.
        to: Identifier of the other case.

    Raises:
        CaseLogError: A hold forbids erasing.
    """
    with log.writing():
        if held(log, case):
            raise CaseLogError("caselog.held", code="case-log-hold")
        erased_fields = [
            {"log": entry.log, "seq": entry.seq, "field": field}
            for entry in log.entries(case=case, item=item)
            if entry.action in FINISHED
            for field in sorted(entry.kept)
            if log.erase(entry, field)
        ]
        log.append(
            "kept-erased",
            actor.id,
            role="custodian",
            case=case,
            item=item,
            facts={"erased": erased_fields, "moved": to},
        )


def erase_person(log: CaseLog, name: str, actor: Person, *, reason: str) -> bool:
    """Erase the name of a person; their entries remain in the chain under their identifier.

    Returns:
        Whether the log had the name.

    Raises:
        CaseLogError: No reason was given.
    """
    erasable = {"reason": checked_text(reason)}
    wanted_name = " ".join(name.split()).casefold()
    erased_fields: list[dict[str, Any]] = []
    with log.writing():
        people = {person.id for person in log.people() if person.name.casefold() == wanted_name}
        for entry in list(log.entries()) if people else []:
            if entry.action == "person-added" and entry.actor in people:
                log.erase(entry, "name")
                erased_fields.append({"log": entry.log, "seq": entry.seq, "field": "name"})
        if erased_fields:
            log.append(
                "kept-erased",
                actor.id,
                role="custodian",
                facts={"erased": erased_fields},
                kept=erasable,
            )
    log.scrub()
    return bool(erased_fields)


def _concerns(entry: LogEntry, field: str, item: str | None) -> bool:
    return item is None or entry.item == item or field == RECORD_OF + item


def _without_text(log: CaseLog, entry: LogEntry) -> bytes | None:
    """Return a kept record without its text; None if there is no record or no text."""
    packed = log.kept_bytes(entry, "record")
    if packed is None:
        return None
    audit = json_io.from_json(unpack_record(packed))
    return None if audit.text is None else pack_record(without_text(audit))

"""Saving audits to a case, opening them again, and kept text under a passphrase."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pura.base.catalogue import phrase
from pura.base.errors import CaseLogError, KeyFormatError, PuraError
from pura.caselog.case import FINISHED, CaseItem
from pura.caselog.cases import item_of
from pura.caselog.entries import Draft, LogEntry, pack
from pura.caselog.keeping import MAX_NAME, living, worded
from pura.caselog.log import CaseLog, Person
from pura.keys.sealed import check_passphrase, seal, unseal
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.json_io import without_text
from pura.scheme.keys import wipe_buffer

MAGIC: Final = b"PURASEAL1\n"
_SIZE: Final = struct.Struct("<I")
_NONCE: Final = 12
_MAX_WRAPPED: Final = 16 << 10


class Vault:
    """Encrypts under one passphrase; wipe it after use.

    Args:
        passphrase: UTF-8; at least as long as one of a key file.

    Raises:
        KeyFormatError: The passphrase is too short.
    """

    def __init__(self, passphrase: bytearray) -> None:
        check_passphrase(passphrase)
        self._key = bytearray(os.urandom(32))
        self._wrapped = seal(self._key, passphrase)

    def lock(self, content: bytes) -> bytes:
        """Encrypt."""
        nonce = os.urandom(_NONCE)
        head = MAGIC + _SIZE.pack(len(self._wrapped)) + self._wrapped
        return head + nonce + AESGCM(self._key).encrypt(nonce, content, head)

    def wipe(self) -> None:
        """Overwrite the key in memory."""
        wipe_buffer(self._key)


def unlock(sealed: bytes, passphrase: bytearray) -> bytes:
    """Decrypt.

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
    return CaseLogError("caselog.kept-damaged", code="case-log-altered")


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
        audit: What is saved.
        actor: Who saves it.
        text: One of :data:`TEXT_MODES`.
        vault: Encrypts the text, for ``seal``.
        sealed: The text as another case keeps it, encrypted already; instead of a vault.
        purpose: What it is for.
        examiner: Identifier of the person who examined it; empty where the actor did.

    Raises:
        CaseLogError: The case is closed, or the audit is in it already.
    """
    if text not in TEXT_MODES or (text == SEAL) != ((vault or sealed) is not None):
        raise ValueError("unknown mode, or no vault for it")
    kept = {"item": pack(audit.finding.brief().to_json())}
    if purpose.strip():
        kept["purpose"] = pack(worded(purpose))
    if sealed is not None:
        kept["sealed"] = sealed
    elif vault is not None and audit.text is not None:
        kept["sealed"] = vault.lock(pack_record(audit))
    kept["record"] = pack_record(audit if text == KEEP else without_text(audit))
    with log.writing() as writer:
        living(log, case)
        if _saved(log, case, audit.id):
            raise CaseLogError("caselog.audit-twice", code="case-log-twice")
        run = 1 + _runs(log, case, audit.input.sha256)
        entry = writer.append(
            Draft(
                action=FINISHED[1 if run > 1 else 0],
                actor=actor.id,
                case=case,
                item=audit.id,
                result=audit.verdict,
                policy=str(audit.policy.get("version", "")),
                facts=_facts(audit, run, text, sealed=sealed is not None)
                | {"examiner": examiner or actor.id},
                kept=kept,
            )
        )
        if audit.register is not None:
            writer.append(_look_up(audit, actor, case))
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
    """Count the examinations of the same bytes in a case, as far as their digests are kept."""
    with log.reading() as db:
        row = db.execute(
            "SELECT count(*) FROM entries JOIN kept USING (log, seq)"
            " WHERE case_id = ? AND action IN (?, ?) AND field = 'item' AND instr(value, ?) > 0",
            (case, *FINISHED, sha256.encode()),
        ).fetchone()
    return int(row[0])


def record_start(log: CaseLog, case: str, name: str, actor: Person) -> None:
    """Say in the log that an examination begins, so that one that never ends shows."""
    with log.writing() as writer:
        living(log, case)
        kept = {"item": pack({"name": name[:MAX_NAME]})}
        writer.append(Draft(action="examination-started", actor=actor.id, case=case, kept=kept))


def record_failure(log: CaseLog, case: str, name: str, error: PuraError, actor: Person) -> None:
    """Say in the log that an examination failed; only the kind of error goes into the chain."""
    with log.writing() as writer:
        living(log, case)
        kept = {"item": pack({"name": name[:MAX_NAME]}), "reason": pack(error.message)}
        writer.append(
            Draft(
                action="examination-failed", actor=actor.id, case=case, result=error.code, kept=kept
            )
        )


def load_audit(
    log: CaseLog,
    item: CaseItem,
    *,
    passphrase: bytearray | None = None,
    actor: Person | None = None,
) -> Audit:
    """Open a saved audit, without a model or a key.

    Args:
        log: The log.
        item: Which.
        passphrase: Opens the text, where it was kept encrypted; without it the audit has no text.
        actor: Who reads the text; the log says so. None where nothing can be written.

    Raises:
        CaseLogError: The record was erased or altered, or is missing, or the passphrase is wrong.
        RecordError: It was written by another version.
    """
    packed = log.kept_bytes(*item.record) if item.record else None
    if packed is None:
        raise gone_record(item)
    if passphrase is not None and (sealed := log.kept_bytes(item.entry, "sealed")) is not None:
        packed = unlock(sealed, passphrase)
    audit = json_io.from_json(unpack_record(packed))
    if audit.text is not None and actor is not None:
        log.append(Draft(action="text-opened", actor=actor.id, case=item.case, item=item.id))
    return audit


def gone_record(item: CaseItem) -> CaseLogError:
    """Return the error of an audit whose record is not there: erased, or missing.

    Args:
        item: The audit, as its case has it.
    """
    erased = item.erased
    if erased is None:
        return CaseLogError("caselog.record-missing", seq=item.entry.seq, code="case-log-gone")
    return CaseLogError(
        "caselog.record-erased",
        time=erased.time[:16].replace("T", " "),
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
    """Say in the log that a report was drafted, issued, amended or withdrawn.

    Args:
        log: The log.
        case: Which case.
        actor: Who.
        action: One of :data:`REPORT_ACTIONS`.
        number: The report's identifier.
        sha256: Of the file.
        items: The audits in it.
        final: It is no draft.
        reason: Why it was amended or withdrawn.
        recipient: Who gets it.
    """
    if action not in REPORT_ACTIONS:
        raise ValueError("unknown action")
    kept = {"number": pack(number)}
    for name, value in (("reason", reason), ("recipient", recipient)):
        if value.strip():
            kept[name] = pack(worded(value))
    role = "authoriser" if action == "report-issued" else "examiner"
    return log.append(
        Draft(
            action=action,
            actor=actor.id,
            role=role,
            case=case,
            facts={"sha256": sha256, "items": list(items), "final": final},
            kept=kept,
        )
    )


def _facts(audit: Audit, run: int, text: str, *, sealed: bool) -> dict[str, Any]:
    """What may stand in the chain for ever: no text, no name, no payload."""
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


def _look_up(audit: Audit, actor: Person, case: str) -> Draft:
    assert audit.register is not None
    facts = {
        "version": audit.register.version,
        "entries": audit.register.entries,
        "hits": [match.entry for match in audit.register.matches],
    }
    return Draft(action="register-looked-up", actor=actor.id, case=case, item=audit.id, facts=facts)


def pack_record(audit: Audit) -> bytes:
    """Return a record as the log keeps it: compressed JSON."""
    return zlib.compress(json_io.to_json(audit).encode(), 6)


def unpack_record(packed: bytes, limit: int = MAX_RECORD) -> str:
    """Undo :func:`pack_record`, with a bound: a case may come from elsewhere."""
    opener = zlib.decompressobj()
    try:
        text = opener.decompress(packed, limit)
        if opener.unconsumed_tail or not opener.eof:
            raise ValueError("too long")
        return text.decode()
    except (zlib.error, ValueError):
        raise CaseLogError("caselog.kept-damaged", code="case-log-altered") from None

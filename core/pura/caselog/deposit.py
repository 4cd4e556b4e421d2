"""Heads of the log, signed by a certificate or laid down elsewhere, so that a cut end is found."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pura.base.errors import CaseLogError
from pura.base.files import read_bounded, write_atomic
from pura.base.json_text import canonical, read_json
from pura.caselog.entries import Draft, LogEntry
from pura.caselog.log import CaseLog, LogHead, Person
from pura.report.signing import Identity, SignatureWord, check_detached, sign_detached


def statement(head: LogHead) -> bytes:
    """Return the bytes that are signed."""
    return canonical({"log": head.log, "seq": head.seq, "hash": head.hash})


def parse_head(text: str, log: str) -> LogHead:
    """Read a head as reports print it: number, colon, hash.

    Raises:
        CaseLogError: It is not such a thing.
    """
    # Copied from a PDF, a long number carries blanks and marks of where it may be broken.
    seq, _, digest = re.sub(r"[\s\u00ad\u200b\u2060\ufffe]", "", text).lower().partition(":")
    if not seq.isdecimal() or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise CaseLogError("caselog.head", code="case-log-head")
    return LogHead(log=log, seq=int(seq), hash=digest)


def sign_head(
    log: CaseLog, identity: Identity, actor: Person, *, role: str = "authoriser"
) -> LogEntry:
    """Sign the log's head with the organisation's certificate; an entry of its own says so.

    Raises:
        CaseLogError: The log cannot be written.
    """
    with log.writing() as writer:
        head = log.head()
        cms = sign_detached(statement(head), identity)
        mark = hashlib.sha256(cms).hexdigest()
        writer.sign(mark, cms)
        return writer.append(
            Draft(
                action="head-signed",
                actor=actor.id,
                role=role,
                signature=mark,
                facts={
                    "seq": head.seq,
                    "hash": head.hash,
                    "certificate": identity.certificate.sha256,
                },
            )
        )


def check_signature(
    cms: bytes, head: LogHead, trust: Sequence[bytes], moment: datetime
) -> SignatureWord:
    """Check the signature of a head.

    Args:
        cms: The signature, DER.
        head: What it should be of.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against.
    """
    return check_detached(cms, statement(head), trust, moment)


FORM: Final = "pura-head/1"
MAX_BYTES: Final = 1 << 18
_NAME: Final = re.compile(r"pura-head-[0-9a-f]{8}-\d{4}-\d\d-\d\d\.(json|eml)")
_HASH: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Deposit:
    """A head that was laid down.

    Attributes:
        name: Of its file.
        head: The log's head at that time.
        signed: The newest head that had been signed, or None.
        cms: Its signature, CMS as DER.
    """

    name: str
    head: LogHead
    signed: LogHead | None = None
    cms: bytes = b""


def lay_down(log: CaseLog, folder: Path, *, mail: str = "", now: datetime | None = None) -> Path:
    """Write the head of a log into a folder; one of the same day is replaced.

    Args:
        log: The log.
        folder: Out of reach of who could alter the log: another computer's, a colleague's.
        mail: Address that a draft is made for; empty for a plain file.
        now: The day; today by default.

    Returns:
        The file.

    Raises:
        OSError: The folder is not there or cannot be written.
    """
    head, moment = log.head(), now or datetime.now(UTC)
    words = json.dumps(_plain(log, head), indent=1) + "\n"
    stem = f"pura-head-{head.log[:8]}-{moment:%Y-%m-%d}"
    if not folder.is_dir():
        raise NotADirectoryError(20, "not a folder", str(folder))
    path = folder / f"{stem}{'.eml' if mail else '.json'}"
    write_atomic(path, _draft(mail, str(head), stem, words) if mail else words.encode())
    return path


def _plain(log: CaseLog, head: LogHead) -> dict[str, Any]:
    plain: dict[str, Any] = {"form": FORM, "log": head.log, "seq": head.seq, "hash": head.hash}
    newest = None
    for entry in log.acts("head-signed"):
        newest = entry if entry.log == log.id else newest
    if newest is not None:
        with log.reading() as db:
            row = db.execute(
                "SELECT CAST(cms AS BLOB) FROM signatures WHERE digest = ?",
                (newest.body["signature"],),
            ).fetchone()
        if row is not None:
            plain["signed"] = {
                "seq": newest.facts["seq"],
                "hash": newest.facts["hash"],
                "cms": base64.b64encode(row[0]).decode(),
            }
    return plain


def _draft(mail: str, head: str, stem: str, words: str) -> bytes:
    """Return a mail that a mail program opens for sending."""
    from email.message import EmailMessage

    message = EmailMessage()
    message["To"], message["Subject"], message["X-Unsent"] = mail, stem, "1"
    message.set_content(head + "\n")
    message.add_attachment(words, subtype="json", filename=f"{stem}.json")
    return bytes(message)


def deposits_in(folder: Path, log: str) -> tuple[Deposit, ...]:
    """Return what was laid down for a log in a folder, in the order of its numbers.

    Raises:
        CaseLogError: A file of that name is none; it is named.
    """
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if _NAME.fullmatch(path.name) and path.name[10:18] == log[:8]:
            deposit = _read(path)
            if deposit.head.log == log:
                found.append(deposit)
    return tuple(sorted(found, key=lambda one: one.head.seq))


def _read(path: Path) -> Deposit:
    data = read_bounded(path, MAX_BYTES, CaseLogError)
    try:
        return _parse(path.name, _attached(data) if path.suffix == ".eml" else data)
    except (ValueError, TypeError, LookupError):
        raise CaseLogError("caselog.deposit", name=path.name, code="case-log-head") from None


def _attached(data: bytes) -> bytes:
    from email import policy
    from email.parser import BytesParser

    message = BytesParser(policy=policy.default).parsebytes(data)
    part = next(iter(message.iter_attachments()))
    return bytes(part.get_payload(decode=True))


def _parse(name: str, data: bytes) -> Deposit:
    found = read_json(data)
    if not isinstance(found, dict) or found.get("form") != FORM:
        raise ValueError("form")
    log = str(found["log"])
    signed = found.get("signed")
    if signed is None:
        return Deposit(name=name, head=_head(log, found))
    cms = base64.b64decode(signed["cms"], validate=True)
    return Deposit(name=name, head=_head(log, found), signed=_head(log, signed), cms=cms)


def _head(log: str, found: Mapping[str, Any]) -> LogHead:
    if type(found["seq"]) is not int or not _HASH.fullmatch(str(found["hash"])):
        raise ValueError("head")
    return LogHead(log=log, seq=found["seq"], hash=str(found["hash"]))

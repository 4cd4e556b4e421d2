"""Checks of a case log: the structure of its entries, the chain, the kept fields, and the heads.

Heads are signed with a certificate or deposited elsewhere, so that removed last entries are
detected.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pura.base.catalogue import Value, catalogue
from pura.base.errors import CaseLogError
from pura.base.files import read_bounded, write_atomic
from pura.base.identity import Identity
from pura.base.json_text import canonical, is_hex, read_json
from pura.caselog.cases import FINISHED, RECORD_OF, erasures, reported_missing
from pura.caselog.keeping import REPORT_ACTIONS, TEXT_MODES
from pura.caselog.log import (
    ACTIONS,
    CASE_LOG,
    ROLES,
    START,
    CaseLog,
    LogEntry,
    LogHead,
    Person,
    commitment,
    entry_hash,
    parse,
    unpack,
)
from pura.caselog.names import SIGNER
from pura.detect.verdict.outcome import VERDICTS
from pura.record.finding import Finding
from pura.report.check import BAD, GOOD, NOTICE
from pura.report.signing import SignatureWord, check_detached, sign_detached


def statement(head: LogHead) -> bytes:
    """Return the bytes of a head that are signed."""
    return canonical({"log": head.log, "seq": head.seq, "hash": head.hash})


def parse_head(text: str, log: str) -> LogHead:
    """Parse a head as reports print it: number, colon, hash.

    Raises:
        CaseLogError: The text is not a head.
    """
    # A long number that was copied from a PDF contains blanks and invisible line break characters.
    seq, _, digest = re.sub(r"[\s\u00ad\u200b\u2060\ufffe]", "", text).lower().partition(":")
    if not seq.isdecimal() or not is_hex(digest, 64):
        raise CaseLogError("caselog.head", code="case-log-head")
    return LogHead(log=log, seq=int(seq), hash=digest)


def sign_head(
    log: CaseLog, identity: Identity, actor: Person, *, role: str = "authoriser"
) -> LogEntry:
    """Sign the head of the log with the organisation's certificate, and record this.

    Raises:
        CaseLogError: The log cannot be written.
    """
    with log.writing():
        head = log.head()
        cms = sign_detached(statement(head), identity)
        mark = hashlib.sha256(cms).hexdigest()
        log.sign(mark, cms)
        return log.append(
            "head-signed",
            actor.id,
            role=role,
            signature=mark,
            facts={
                "seq": head.seq,
                "hash": head.hash,
                "certificate": identity.certificate.sha256,
            },
            kept={SIGNER: identity.certificate.subject},
        )


def check_signature(
    cms: bytes, head: LogHead, trust: Sequence[bytes], moment: datetime
) -> SignatureWord:
    """Check the signature of a head.

    Args:
        cms: The signature, DER.
        head: The head that should be signed.
        trust: Trusted certificates, DER.
        moment: Time at which certificates have to be valid.
    """
    return check_detached(cms, statement(head), trust, moment)


FORM: Final = "pura-head/1"
MAX_BYTES: Final = 1 << 18
_NAME: Final = re.compile(r"pura-head-[0-9a-f]{8}-\d{4}-\d\d-\d\d\.(json|eml)")


@dataclass(frozen=True, kw_only=True)
class Deposit:
    """A deposited head.

    Attributes:
        name: Name of its file.
        head: The head of the log at that time.
        signed: The newest signed head at that time, or None.
        cms: Its signature, CMS as DER.
    """

    name: str
    head: LogHead
    signed: LogHead | None = None
    cms: bytes = b""


def lay_down(log: CaseLog, folder: Path, *, mail: str = "", now: datetime | None = None) -> Path:
    """Deposit the head of a log in a folder; a deposit of the same day is replaced.

    Args:
        log: The log.
        folder: Folder that people who could alter the log cannot change, such as a folder of
            another computer or of a colleague.
        mail: Address for a draft of a mail; empty for a plain file.
        now: The day; today by default.

    Returns:
        Path of the file.

    Raises:
        OSError: The folder does not exist or is not writable.
    """
    head, moment = log.head(), now or datetime.now(UTC)
    head_json = json.dumps(_plain(log, head), indent=1) + "\n"
    stem = f"pura-head-{head.log[:8]}-{moment:%Y-%m-%d}"
    if not folder.is_dir():
        raise NotADirectoryError(20, "not a folder", str(folder))
    path = folder / f"{stem}{'.eml' if mail else '.json'}"
    write_atomic(path, _draft(mail, str(head), stem, head_json) if mail else head_json.encode())
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


def _draft(mail: str, head: str, stem: str, head_json: str) -> bytes:
    """Return an unsent mail, which mail programs open as a draft."""
    from email.message import EmailMessage

    message = EmailMessage()
    message["To"], message["Subject"], message["X-Unsent"] = mail, stem, "1"
    message.set_content(head + "\n")
    message.add_attachment(head_json, subtype="json", filename=f"{stem}.json")
    return bytes(message)


def deposits_in(folder: Path, log: str) -> tuple[Deposit, ...]:
    """Return the deposits for a log in a folder, in the order of their numbers.

    Raises:
        CaseLogError: A file with the name of a deposit is not one; the error names it.
    """
    deposits = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if _NAME.fullmatch(path.name) and path.name[10:18] == log[:8]:
            deposit = _read(path)
            if deposit.head.log == log:
                deposits.append(deposit)
    return tuple(sorted(deposits, key=lambda deposit: deposit.head.seq))


def _read(path: Path) -> Deposit:
    file_bytes = read_bounded(path, MAX_BYTES, CaseLogError)
    try:
        return _parse(path.name, _attached(file_bytes) if path.suffix == ".eml" else file_bytes)
    except (ValueError, TypeError, LookupError):
        raise CaseLogError("caselog.deposit", name=path.name, code="case-log-deposit") from None


def _attached(mail_bytes: bytes) -> bytes:
    from email import policy
    from email.parser import BytesParser

    message = BytesParser(policy=policy.default).parsebytes(mail_bytes)
    part = next(iter(message.iter_attachments()))
    return bytes(part.get_payload(decode=True))


def _parse(name: str, deposit_bytes: bytes) -> Deposit:
    fields = read_json(deposit_bytes)
    if not isinstance(fields, dict) or fields.get("form") != FORM:
        raise ValueError("form")
    log = str(fields["log"])
    signed = fields.get("signed")
    if signed is None:
        return Deposit(name=name, head=_head(log, fields))
    cms = base64.b64decode(signed["cms"], validate=True)
    return Deposit(name=name, head=_head(log, fields), signed=_head(log, signed), cms=cms)


def _head(log: str, fields: Mapping[str, Any]) -> LogHead:
    if type(fields["seq"]) is not int or not is_hex(str(fields["hash"]), 64):
        raise ValueError("head")
    return LogHead(log=log, seq=fields["seq"], hash=str(fields["hash"]))


_BYTES: Final = ("record", "sealed")
MAX_WORDS: Final = 200_000  # characters of a kept text; this program writes half as many


def check_entry(entry: LogEntry) -> None:
    """Require that an entry has a structure that this program writes.

    Raises:
        ValueError: It has another structure.
    """
    facts, action = entry.facts, entry.action
    _must(action in ACTIONS and entry.role in ROLES and entry.seq >= 1)
    if action == "person-added":
        _must(isinstance(facts.get("person"), str) and facts["person"] == entry.actor)
    if action in FINISHED:
        _must(type(facts.get("run")) is int and facts["run"] >= 1)
        _must(facts.get("text") in TEXT_MODES and entry.result in VERDICTS)
        _must(_texts(facts.get("keys")) and bool(entry.item))
    if action in REPORT_ACTIONS:
        _must(_texts(facts.get("items")))
    for name in ("erased", "absent"):
        if name in facts or (name == "erased" and action == "kept-erased"):
            rows = facts.get(name)
            _must(isinstance(rows, list) and all(_place(row) for row in rows))


def check_kept(field: str, packed: bytes) -> None:
    """Require that a kept value has a structure that this program writes.

    Raises:
        ValueError: It has another structure.
        RecordError: It should be a finding but is not.
    """
    if field in _BYTES or field.startswith(RECORD_OF):
        return  # unpacked later within limits, when it is displayed
    kept_value = unpack(packed)
    if field == "tags":
        _must(_texts(kept_value) and len(kept_value) <= 50)
    elif field == "item":
        _must(isinstance(kept_value, dict) and isinstance(kept_value.get("name"), str))
        if len(kept_value) > 1:  # an unfinished examination has only a name
            Finding.from_json(kept_value, audit="", created="", verdict="mark")
    else:
        _must(isinstance(kept_value, str) and len(kept_value) <= MAX_WORDS)


def _texts(candidate: Any) -> bool:
    return isinstance(candidate, list) and all(isinstance(text, str) for text in candidate)


def _place(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    kinds = {"log": str, "seq": int, "field": str}
    return all(type(row.get(name)) is kind for name, kind in kinds.items())


def _must(fits: bool) -> None:
    if not fits:
        raise ValueError("not a shape of this program")


_EVERY: Final = 200  # rows between two calls of the checkpoint


@dataclass(frozen=True, kw_only=True)
class LogCheck:
    """The result of one check.

    Attributes:
        state: ``good``, ``notice`` or ``bad``.
        key: Key of the sentence in the volume ``caselog-check``.
        values: Values for the blanks of the sentence; ``seq`` is the number of the faulty entry.
    """

    state: str
    key: str
    values: Mapping[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the check: ``file``, ``chain``, ``cases``, ``kept``, ``signatures`` and so on."""
        return self.key.partition(".")[0]

    def title(self, language: str = "en") -> str:
        """Return the title of the check in a language."""
        return catalogue("caselog-check").fill(f"name.{self.name}", language, {})

    def text(self, language: str = "en") -> str:
        """Return the result as a sentence in a language."""
        return catalogue("caselog-check").fill(self.key, language, self.values)


def verify_log(
    log: CaseLog,
    *,
    head: LogHead | None = None,
    trust: Sequence[bytes] = (),
    deposits: Sequence[Deposit] | None = None,
    moment: datetime | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> tuple[LogCheck, ...]:
    """Check everything about a case log.

    Args:
        log: The log.
        head: A head that was printed, signed or deposited earlier.
        trust: Trusted certificates, DER, for signed heads.
        deposits: Heads that were deposited elsewhere, oldest first; None skips this check.
        moment: Time at which certificates have to be valid; now by default.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        The results of all checks; each names its first fault.

    Raises:
        CaseLogError: The file cannot be read at all.
    """
    check = _Check(log, checkpoint)
    with log.reading() as db:
        checks = [_file(db), check.chain(), check.cases(), check.kept()]
        checks.append(check.signatures(trust, moment or datetime.now(UTC)))
        checks += [check.head(head), check.clock()]
        if deposits is not None:
            checks.append(check.deposits(deposits, trust, moment or datetime.now(UTC)))
    return tuple(checks)


def record_check(log: CaseLog, checks: Sequence[LogCheck], actor: Person) -> None:
    """Record in the log that it was checked, by whom, and with which result."""
    faults = [check.key for check in checks if check.state == BAD]
    log.append(
        "log-verified",
        actor.id,
        role="custodian",
        result="fault" if faults else "whole",
        facts={"checks": [check.key for check in checks], "head": str(log.head())},
    )


def _file(db: sqlite3.Connection) -> LogCheck:
    sound = db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
    key = "file.sound" if sound else "file.damaged"
    return LogCheck(state=GOOD if sound else BAD, key=key)


class _Check:
    def __init__(self, log: CaseLog, checkpoint: Callable[[], None]) -> None:
        self._log, self._checkpoint = log, checkpoint

    def chain(self) -> LogCheck:
        """Check the entries of the log itself, up to the first fault."""
        expected, previous = 1, START
        rows = self._rows(
            "SELECT seq, hash, body, case_id, item_id, action, at FROM entries WHERE log = ?"
            " ORDER BY seq",
            (self._log.id,),
        )
        for row in rows:
            fault = self._fault(row, expected, previous)
            if fault is not None:
                key, fault_values = fault
                return LogCheck(state=BAD, key=f"chain.{key}", values=fault_values)
            expected, previous = expected + 1, row[1]
        if expected == 1:
            return LogCheck(state=BAD, key="chain.empty")
        values: dict[str, Value] = {"count": expected - 1, "head": f"{expected - 1}:{previous}"}
        return LogCheck(state=GOOD, key="chain.whole", values=values)

    def _fault(
        self, row: tuple[Any, ...], expected: int, previous: str
    ) -> tuple[str, dict[str, Value]] | None:
        seq, digest, body, *filed = row
        if seq != expected:
            return "missing", {"seq": expected}
        try:
            entry = parse(digest, body)
            actual = hashlib.sha256(body.encode()).hexdigest()  # of the exact stored characters
        except ValueError:
            return "unreadable", {"seq": seq}
        if entry.seq != seq or entry.log != self._log.id:
            return "reordered", {"seq": seq, "found": entry.seq}
        if actual != digest:
            return "altered", {"seq": seq}
        if entry.body["prev"] != previous:
            # Its own hash is right, so the entry before it was replaced.
            return "replaced", {"seq": max(seq - 1, 1)}
        if filed != [entry.case, entry.item, entry.action, entry.time]:
            return "index", {"seq": seq}
        return None

    def cases(self) -> LogCheck:
        """Check the chain of every case, including imported ones."""
        last: dict[str, str] = {}
        for entry in self._entries("1", ()):
            if entry.log != self._log.id and entry_hash(entry.body) != entry.hash:
                return LogCheck(state=BAD, key="cases.foreign", values={"seq": entry.seq})
            if entry.case and entry.body["case_prev"] != last.get(entry.case, START):
                return LogCheck(state=BAD, key="cases.broken", values={"seq": entry.seq})
            if entry.case:
                last[entry.case] = entry.hash
        return LogCheck(state=GOOD, key="cases.whole", values={"count": len(last)})

    def kept(self) -> LogCheck:
        """Check stored fields against their commitments, and missing ones against the erasures."""
        entries = list(self._entries("1", ()))
        log_id = self._log.id
        erased = erasures(entries, log_id)
        reported = {
            kept_field for kept_field in reported_missing(entries) if kept_field[0] != log_id
        }
        promised = {
            (entry.log, entry.seq, name): digest
            for entry in entries
            for name, digest in entry.kept.items()
        }
        count = 0
        stored = set()
        for log, seq, name, salt, packed_value in self._rows(
            "SELECT log, seq, field, CAST(salt AS BLOB), CAST(value AS BLOB) FROM kept"
            " ORDER BY log = ?, seq, field",
            (self._log.id,),
        ):
            kept_field = (log, seq, name)
            values = {"seq": seq, "field": name}
            if kept_field not in promised:
                return LogCheck(state=BAD, key="kept.stray", values=values)
            if commitment(bytes(salt), bytes(packed_value)) != promised[kept_field]:
                return LogCheck(state=BAD, key="kept.altered", values=values)
            stored.add(kept_field)
            count += 1
        missing_fields = sorted(promised.keys() - stored - erased.keys())
        faults = [kept_field for kept_field in missing_fields if kept_field not in reported]
        if missing_fields:
            # A field that an import reported as missing is no fault of this log.
            first = (faults or missing_fields)[0]
            state, key = (BAD, "missing") if faults else (NOTICE, "incomplete")
            values = {"seq": first[1], "field": first[2], "count": len(missing_fields)}
            return LogCheck(state=state, key=f"kept.{key}", values=values)
        values = {"count": count, "erased": len(erased.keys() & promised.keys() - stored)}
        return LogCheck(state=GOOD, key="kept.whole", values=values)

    def signatures(self, trust: Sequence[bytes], moment: datetime) -> LogCheck:
        """Check every signed head against the present chain."""
        count, newest = 0, None
        for entry in self._entries("action = 'head-signed' AND log = ?", (self._log.id,)):
            values: dict[str, Value] = {"seq": entry.seq}
            with self._log.reading() as db:
                row = db.execute(
                    "SELECT CAST(cms AS BLOB) FROM signatures WHERE digest = ?",
                    (entry.body["signature"],),
                ).fetchone()
            if row is None:
                return LogCheck(state=BAD, key="signatures.missing", values=values)
            head = LogHead(
                log=self._log.id, seq=int(entry.facts["seq"]), hash=str(entry.facts["hash"])
            )
            signed = check_signature(bytes(row[0]), head, trust, moment)
            if not signed.intact or self._hash(head.seq) != head.hash:
                return LogCheck(state=BAD, key="signatures.bad", values=values)
            count, newest = count + 1, (head, signed)
        if newest is None:
            return LogCheck(state=NOTICE, key="signatures.none")
        head, signed = newest
        return LogCheck(
            state=GOOD if signed.trusted else NOTICE,
            key="signatures.good" if signed.trusted else "signatures.untrusted",
            values={"count": count, "seq": head.seq, "who": signed.subject},
        )

    def head(self, head: LogHead | None) -> LogCheck:
        """Check the chain against a head from elsewhere."""
        if head is None:
            return LogCheck(state=NOTICE, key="head.none")
        values: dict[str, Value] = {"seq": head.seq, "last": self._log.head().seq}
        stands = self._hash(head.seq)
        if stands is None:
            return LogCheck(state=BAD, key="head.cut", values=values)
        same = stands == head.hash
        key = "head.there" if same else "head.other"
        return LogCheck(state=GOOD if same else BAD, key=key, values=values)

    def deposits(
        self, deposits: Sequence[Deposit], trust: Sequence[bytes], moment: datetime
    ) -> LogCheck:
        """Check the chain against all deposited heads; the first that fails is named."""
        if not deposits:
            return LogCheck(state=NOTICE, key="deposits.none")
        last = self._log.head().seq
        for deposit in deposits:
            values: dict[str, Value] = {"name": deposit.name, "seq": deposit.head.seq, "last": last}
            heads = [deposit.head, *([deposit.signed] if deposit.signed else [])]
            if deposit.signed is not None:
                signed = check_signature(deposit.cms, deposit.signed, trust, moment)
                if not signed.intact:
                    return LogCheck(state=BAD, key="deposits.forged", values=values)
            for head in heads:
                stands = self._hash(head.seq)
                if stands != head.hash:
                    key = "deposits.cut" if stands is None else "deposits.other"
                    values["seq"] = head.seq
                    return LogCheck(state=BAD, key=key, values=values)
        values = {"count": len(deposits), "seq": deposits[-1].head.seq, "last": last}
        return LogCheck(state=GOOD, key="deposits.there", values=values)

    def clock(self) -> LogCheck:
        """Report the first entry before which the clock of the computer was set back."""
        before = ""
        for entry in self._entries("log = ?", (self._log.id,)):
            if entry.time < before:
                return LogCheck(state=NOTICE, key="clock.back", values={"seq": entry.seq})
            before = entry.time
        return LogCheck(state=GOOD, key="clock.forward")

    def _hash(self, seq: int) -> str | None:
        """Return the stored hash of an entry, even if the entry is unreadable."""
        rows = self._rows("SELECT hash FROM entries WHERE log = ? AND seq = ?", (self._log.id, seq))
        return next((str(row[0]) for row in rows), None)

    def _entries(self, condition: str, parameters: tuple[object, ...]) -> Iterator[LogEntry]:
        """Yield the readable entries; :meth:`chain` reports unreadable ones."""
        query = f"SELECT hash, body FROM entries WHERE {condition} ORDER BY place"  # noqa: S608  (constants of this module)
        for digest, body in self._rows(query, parameters):
            try:
                yield parse(digest, body)
            except ValueError:
                continue

    def _rows(self, query: str, parameters: tuple[object, ...]) -> Iterator[tuple[Any, ...]]:
        with CASE_LOG.guard():
            for number, row in enumerate(self._log.db.execute(query, parameters)):
                if number % _EVERY == 0:
                    self._checkpoint()
                yield row

"""An entry of the case log.

Who did what, when; how it is written and hashed (docs/caselog-chain.md).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pura.base.catalogue import catalogue
from pura.base.json_text import canonical, former, read_json, sha256

FORM: Final = 2
FORMS: Final = (1, FORM)
SALT_BYTES: Final = 32
START: Final = "0" * 64
"""What stands before the first entry."""


def written(body: Mapping[str, Any]) -> bytes:
    """Return an entry as its own form writes it.

    Raises:
        ValueError: It has no canonical form.
    """
    return former(body) if body["v"] == 1 else canonical(body)


def entry_hash(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an entry as its own form writes it, 64 hex digits."""
    return sha256(written(body))


def commitment(salt: bytes, value: bytes) -> str:
    """Return what the chain holds of a kept value: SHA-256 of salt and value, 64 hex digits.

    The salt keeps anyone from guessing a name or a short text until the digest fits.
    """
    return hashlib.sha256(salt + value).hexdigest()


def new_salt() -> bytes:
    """Return a fresh salt."""
    return os.urandom(SALT_BYTES)


def pack(value: object) -> bytes:
    """Return a kept value as bytes: canonical JSON."""
    return canonical(value)


def unpack(value: bytes) -> Any:
    """Return a kept value.

    Raises:
        ValueError: Not JSON.
    """
    return read_json(value)


ACTIONS: Final = (
    "log-created",
    "person-added",
    "case-opened",
    "case-renamed",
    "case-closed",
    "case-reopened",
    "note-added",
    "tags-set",
    "examination-started",
    "examination-finished",
    "examination-repeated",
    "examination-failed",
    "register-looked-up",
    "text-opened",
    "finding-confirmed",
    "finding-disputed",
    "report-drafted",
    "report-issued",
    "report-amended",
    "report-signed",
    "report-withdrawn",
    "hold-set",
    "hold-lifted",
    "kept-erased",
    "item-received",
    "item-copied",
    "item-transferred",
    "item-returned",
    "item-destroyed",
    "information-disclosed",
    "policy-changed",
    "key-added",
    "key-retired",
    "key-leaked",
    "validation-imported",
    "head-signed",
    "log-verified",
    "case-exported",
    "case-imported",
)
ROLES: Final = ("examiner", "reviewer", "authoriser", "custodian", "program")
CLOCK: Final = "this computer, not independently confirmed"
_TEXTS: Final = (
    "log",
    "prev",
    "case_prev",
    "time",
    "zone",
    "clock",
    "actor",
    "role",
    "station",
    "program",
    "build",
    "case",
    "item",
    "action",
    "result",
    "policy",
    "signature",
)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An entry to be appended.

    Attributes:
        action: One of :data:`ACTIONS`.
        actor: Identifier of the person; empty for the program itself.
        role: One of :data:`ROLES`.
        case: Identifier of the case; empty when it concerns none.
        item: Identifier of the audit; empty when it concerns none.
        result: Code of the result, e.g. an outcome.
        policy: Version of the policy that applied.
        facts: What may stand in the chain for ever: numbers, codes, fingerprints.
        kept: What may be erased one day, by name; only commitments to it go into the chain.
        signature: SHA-256 of a signature that belongs to it.
    """

    action: str
    actor: str = ""
    role: str = "examiner"
    case: str = ""
    item: str = ""
    result: str = ""
    policy: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[str, bytes] = field(default_factory=dict)
    signature: str = ""


def action_words(action: str, language: str) -> str:
    """Say what was done; the action of a newer program stays what it is."""
    texts, key = catalogue("command"), f"action.{action}"
    return texts.fill(key, language, {}) if key in texts else action


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    """An entry as it stands in the log.

    Attributes:
        hash: Its own hash, as stored.
        body: What the hash is of.
    """

    hash: str
    body: Mapping[str, Any]

    @property
    def log(self) -> str:
        """The log it was written to first."""
        return str(self.body["log"])

    @property
    def seq(self) -> int:
        """Its number there, from 1."""
        return int(self.body["seq"])

    @property
    def time(self) -> str:
        """When, UTC, ISO 8601."""
        return str(self.body["time"])

    @property
    def actor(self) -> str:
        """Identifier of the person."""
        return str(self.body["actor"])

    @property
    def role(self) -> str:
        """In which role."""
        return str(self.body["role"])

    @property
    def case(self) -> str:
        """The case."""
        return str(self.body["case"])

    @property
    def item(self) -> str:
        """The audit."""
        return str(self.body["item"])

    @property
    def action(self) -> str:
        """What was done."""
        return str(self.body["action"])

    @property
    def result(self) -> str:
        """How it ended."""
        return str(self.body["result"])

    @property
    def facts(self) -> Mapping[str, Any]:
        """What may stand in the chain for ever."""
        facts: Mapping[str, Any] = self.body["facts"]
        return facts

    @property
    def kept(self) -> Mapping[str, str]:
        """Commitments to what is kept beside it, by name."""
        kept: Mapping[str, str] = self.body["kept"]
        return kept

    def line(self) -> str:
        """As it is written; what its hash is of."""
        return written(self.body).decode()


def make(values: Mapping[str, Any]) -> LogEntry:
    """Make an entry of the present form."""
    body = {"v": FORM, **values}
    return LogEntry(hash=entry_hash(body), body=body)


def parse(stored_hash: str, text: str) -> LogEntry:
    """Read a stored entry; its hash is not yet compared.

    Raises:
        ValueError: It is not an entry.
    """
    body = read_json(text)
    if not isinstance(body, dict) or not all(isinstance(body.get(n), str) for n in _TEXTS):
        raise ValueError("not an entry")
    if type(body.get("seq")) is not int or body.get("v") not in FORMS:
        raise ValueError("not an entry of a known form")
    for name in ("facts", "kept"):
        if not isinstance(body.get(name), dict):
            raise ValueError("not an entry")
    if not all(isinstance(v, str) for v in body["kept"].values()):
        raise ValueError("not an entry")
    return LogEntry(hash=stored_hash, body=body)

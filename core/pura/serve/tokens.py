"""Who asks: roles, and bearer tokens of 256 bits, kept as SHA-256, named and limited."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pura.base.errors import ServeError
from pura.base.files import file_lock, write_atomic
from pura.base.json_text import read_json
from pura.record.answers import Role
from pura.serve.store import Budget


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks.

    Attributes:
        token: Identifier of the token; for whoever has none, the address block under the salt.
        name: As logs and the case log name them.
        role: How much of a finding they get.
        budgets: What pays for what they ask.
    """

    token: str
    name: str
    role: Role
    budgets: tuple[Budget, ...]

    @property
    def reserved(self) -> bool:
        """Whether places are reserved for them: a token of more than a public role says so."""
        return self.role is not Role.PUBLIC


PER_DAY = {Role.PUBLIC: 50, Role.TRUSTED: 1000, Role.INTERNAL: 100_000}
"""Checks in a day that a token of a role is good for, where nobody said otherwise."""


SCHEMA: Final = "pura-serve-tokens/1"
PREFIX: Final = "pura_"
_BYTES: Final = 32
_PATIENCE_S: Final = 10.0
_MOST_NAME: Final = 60


@dataclass(frozen=True, kw_only=True)
class Token:
    """What is kept of a token.

    Attributes:
        id: Its identifier, 12 hex digits; no secret.
        name: Whom it was given to.
        role: What they may ask for.
        sha256: Of the token, 64 hex digits.
        made: When, ISO 8601.
        per_day: Checks in a day that it is good for.
        expires: Last day on which it is good, ISO 8601; empty: until it is revoked.
        revoked: When it was, ISO 8601; empty while it is good.
    """

    id: str
    name: str
    role: str
    sha256: str
    made: str
    per_day: int
    expires: str = ""
    revoked: str = ""

    def good(self, now: datetime) -> bool:
        """Whether it may be used."""
        return not self.revoked and (not self.expires or now.date().isoformat() <= self.expires)


class TokenFile:
    """The tokens of an installation, in one file that only its user reads.

    Args:
        path: Where it is; need not be there.
        now: The clock.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path, self._now = path, now
        self._seen: tuple[int, int, int] | None = None
        self._held: tuple[Token, ...] = ()

    def list(self) -> tuple[Token, ...]:
        """Return all tokens, revoked ones too, in the order in which they were made.

        Raises:
            ServeError: The file is damaged, or cannot be read.
        """
        try:
            state = self._path.stat()
        except FileNotFoundError:
            return ()
        seen = (state.st_mtime_ns, state.st_size, state.st_ino)
        if seen != self._seen:
            self._held = self._read()
            self._seen = seen
        return self._held

    def new(self, name: str, role: Role, *, per_day: int, expires: str = "") -> str:
        """Make a token and return it; it cannot be shown again.

        Raises:
            ServeError: The name is empty, too long or that of a token in use.
        """
        name = name.strip()
        if not 0 < len(name) <= _MOST_NAME or not name.isprintable():
            raise ServeError("name.form", most=_MOST_NAME, code="usage")
        token = PREFIX + secrets.token_urlsafe(_BYTES)
        made = Token(
            id=secrets.token_hex(6),
            name=name,
            role=role.value,
            sha256=_digest(token),
            made=self._now().isoformat(timespec="seconds"),
            per_day=per_day,
            expires=expires,
        )
        with file_lock(self._path.with_suffix(".lock"), _PATIENCE_S):
            known = self.list()
            if any(one.name == name and not one.revoked for one in known):
                raise ServeError("name.taken", name=name, code="usage")
            self._write((*known, made))
        return token

    def revoke(self, name: str) -> Token:
        """Make a token good for nothing, from now on.

        Args:
            name: Its name or identifier.

        Raises:
            ServeError: No token in use is called so.
        """
        with file_lock(self._path.with_suffix(".lock"), _PATIENCE_S):
            known = self.list()
            found = [one for one in known if name in (one.name, one.id) and not one.revoked]
            if not found:
                raise ServeError("serve.token-none", name=name, code="usage")
            gone = replace(found[0], revoked=self._now().isoformat(timespec="seconds"))
            self._write(tuple(gone if one.id == gone.id else one for one in known))
        return gone

    def asker(self, token: str) -> Asker | None:
        """Return who has a token; None where it is none that is good.

        Every token is compared, each in constant time: how long it takes says nothing.
        """
        digest, found = _digest(token), None
        now = self._now()
        for one in self.list():
            same = hmac.compare_digest(one.sha256, digest)
            if same and one.good(now):
                found = one
        if found is None:
            return None
        budget = Budget(who=found.id.encode(), per_day=found.per_day)
        return Asker(token=found.id, name=found.name, role=Role(found.role), budgets=(budget,))

    def _read(self) -> tuple[Token, ...]:
        try:
            data = read_json(self._path.read_bytes())
            if data["schema"] != SCHEMA:
                raise ValueError("another schema")
            found = tuple(Token(**one) for one in data["tokens"])
            for one in found:
                Role(one.role)
        except (OSError, ValueError, TypeError, LookupError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ServeError("serve.tokens-damaged", name=self._path.name, reason=reason) from None
        return found

    def _write(self, tokens: tuple[Token, ...]) -> None:
        data = {"schema": SCHEMA, "tokens": [asdict(one) for one in tokens]}
        write_atomic(self._path, json.dumps(data, indent=1).encode(), private=True)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()

"""The rows of the register: what was issued, how a row is stored, what is wrong with one."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import RegisterError
from pura.scheme import Payload

MAX_TEXT: Final = 200
DIGEST_BYTES: Final = 16


@dataclass(frozen=True, kw_only=True)
class Issue:
    """One payload and to whom it was issued.

    Attributes:
        payload: The payload.
        who: To whom; a pseudonym is enough, and better.
        when: Date of issue, as the organisation writes it; may be empty.
        model: Model it was issued for; may be empty.
        manifest: Identifier of the manifest that names it; may be empty.
    """

    payload: Payload
    who: str
    when: str = ""
    model: str = ""
    manifest: str = ""

    def __post_init__(self) -> None:
        for name in ("who", "when", "model", "manifest"):
            value = getattr(self, name)
            if len(value) > MAX_TEXT or not value.isprintable():
                raise RegisterError("register.long", name=name, most=MAX_TEXT)
        if not self.who.strip():
            raise RegisterError("register.who-empty")


@dataclass(frozen=True, kw_only=True)
class RegisterEntry:
    """One row of the register.

    Attributes:
        number: Its number; never given twice.
        issue: The payload and to whom it was issued.
    """

    number: int
    issue: Issue


class Problems:
    """Collects what is wrong with the rows of an import, in words.

    Args:
        shown: So many rows are named in an error.
        kept: So many are kept.
        others: The rows that nothing is wrong with are added; else none are.

    Attributes:
        total: How many things are wrong.
        left_out: How many rows were left out, those of a payload with several recipients all.
    """

    def __init__(self, shown: int = 10, kept: int = 1000, *, others: bool = False) -> None:
        self._shown, self._kept = shown, kept
        self._rows: list[Phrase] = []
        self.others, self.total, self.left_out = others, 0, 0

    @property
    def rows(self) -> tuple[Phrase, ...]:
        """The rows with their reasons."""
        return tuple(self._rows)

    def add(self, row: int, what: Phrase) -> None:
        """Note one bad row."""
        self.total += 1
        if len(self._rows) < self._kept:
            self._rows.append(phrase("register.row", row=row, what=what))

    def raise_if_any(self, good: int) -> None:
        """Refuse the import if a row is bad, unless the others are wanted.

        Args:
            good: With how many rows nothing is wrong.

        Raises:
            RegisterError: Its words name the first ten rows with their reasons; its value ``every``
                has the first thousand.
        """
        if self.others or not self.total:
            return
        rows = self.rows[: self._shown]
        if left := self.total - len(rows):
            rows += (phrase("register.more", count=left),)
        more: dict[str, Any] = {"every": self.rows}  # beyond what the words say
        raise RegisterError("register.rows", total=self.total, rows=rows, good=good, **more)


def blob_of(payload: Payload) -> bytes:
    """Return a payload as it is stored: packed, padded with zeros at the end."""
    return np.packbits(payload.bits).tobytes()


def row_of(issue: Issue) -> tuple[int, bytes, str, str, str, str]:
    """Return the columns ``bits, payload, who, issued, model, manifest``."""
    bits, blob = len(issue.payload), blob_of(issue.payload)
    return (bits, blob, issue.who, issue.when, issue.model, issue.manifest)


def digest_of(row: Iterable[object]) -> int:
    """Return a number for a row; the sum over all rows says which state a register is in.

    A row without a manifest has the number that it had before there were any.
    """
    *row, manifest = row
    if manifest:
        row.append(manifest)
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in row]
    framed = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
    return int.from_bytes(hashlib.blake2b(framed, digest_size=DIGEST_BYTES).digest(), "little")


def entry_of(row: tuple[Any, ...]) -> RegisterEntry:
    """Read a stored row ``number, bits, payload, who, issued, model, manifest``.

    Raises:
        sqlite3.DatabaseError: The row is not one that this program wrote.
    """
    number, bits, blob, who, issued, model, manifest = row
    try:
        if not 0 < bits <= 8 * len(blob) < bits + 8:
            raise sqlite3.DatabaseError("a row holds a payload of a wrong width")
        ones = np.unpackbits(np.frombuffer(blob, dtype=np.uint8), count=bits)
        payload = Payload.from_bits(ones)
        issue = Issue(payload=payload, who=who, when=issued, model=model, manifest=manifest)
    except (TypeError, ValueError, AttributeError, RegisterError):
        raise sqlite3.DatabaseError("a row is not one of this program") from None
    return RegisterEntry(number=number, issue=issue)

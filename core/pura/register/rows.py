"""The values of the register: what is issued to whom, what stands in it, what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import RegisterError
from pura.scheme import MarkIdentity, Payload, PayloadSeries

MAX_TEXT: Final = 200
"""Characters of one text of a row: a name, a date, a note."""


class Drawn(StrEnum):
    """How the number was chosen that a payload is."""

    RANDOM = "random"  # drawn by the register, uniformly among all that were never issued
    COUNTER = "counter"  # the next one of a counter
    GIVEN = "given"  # chosen by whoever issued it: a customer's number, a date, anything


@dataclass(frozen=True, kw_only=True)
class Recipient:
    """To whom a payload is issued, and for what.

    Attributes:
        who: To whom; a pseudonym is enough, and better.
        when: Date of issue, as the organisation writes it; may be empty.
        model: Model it was issued for; may be empty.
        manifest: Identifier of the manifest that names it; may be empty.
        note: For what: a request, a reference, a purpose; may be empty.
    """

    who: str
    when: str = ""
    model: str = ""
    manifest: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("who", "when", "model", "manifest", "note"):
            value = getattr(self, name)
            if len(value) > MAX_TEXT or not value.isprintable():
                raise RegisterError("register.long", name=name, most=MAX_TEXT)
        if not self.who.strip():
            raise RegisterError("register.who-empty")


@dataclass(frozen=True, kw_only=True)
class Issue(Recipient):
    """One payload and to whom it was issued.

    Attributes:
        payload: The payload.
        series: The key, epoch and profile that it was issued under; None where nobody knows them
            (rows of registers before 0.5). Such a payload names nobody.
        drawn: How its number was chosen.
    """

    payload: Payload
    series: PayloadSeries | None
    drawn: Drawn = Drawn.GIVEN

    @classmethod
    def of(cls, mark: MarkIdentity, recipient: Recipient, drawn: Drawn = Drawn.GIVEN) -> Issue:
        """Return the issue of a mark to a recipient."""
        return cls(**vars(recipient), payload=mark.payload, series=mark.series, drawn=drawn)

    @property
    def mark(self) -> MarkIdentity | None:
        """The mark that was issued; None where its key and profile are not known."""
        return None if self.series is None else self.series.mark(self.payload)

    @property
    def recipient(self) -> Recipient:
        """To whom it was issued, and for what."""
        return Recipient(
            who=self.who,
            when=self.when,
            model=self.model,
            manifest=self.manifest,
            note=self.note,
        )

    def same_as(self, other: Issue) -> bool:
        """Whether two rows issue the same; a manifest may have been named later."""
        return replace(self, manifest=other.manifest) == other


@dataclass(frozen=True, kw_only=True)
class Revocation:
    """Why an entry no longer stands.

    Attributes:
        sequence: Number of the row of the chain that revokes it.
        reason: In the words of whoever revoked it; may be empty.
        written: When, UTC, ISO 8601.
    """

    sequence: int
    reason: str
    written: str


@dataclass(frozen=True, kw_only=True)
class RegisterEntry:
    """One entry of the register: a row that issues a payload, with what later rows say of it.

    Attributes:
        number: Its number; never given twice.
        issue: The payload and to whom it was issued. Key and profile are those that were assigned
            later, where the row itself did not know them.
        sequence: Number of its row in the chain.
        hash: SHA-256 of that row and all before it, 64 hex digits.
        remark: The newest remark on it; empty without one.
        revocation: Why it no longer stands; None where it does.
    """

    number: int
    issue: Issue
    sequence: int
    hash: str
    remark: str = ""
    revocation: Revocation | None = None


class Problems:
    """Collects what is wrong with the rows of an import, in words.

    Args:
        shown: So many rows are named in an error.
        kept: So many are kept.
        others: The rows that nothing is wrong with are added; else none are.

    Attributes:
        total: How many things are wrong.
        left_out: How many rows were left out, those of a payload with several recipients all.
        repeats: How many rows were passed over, since the register says the same already.
    """

    def __init__(self, shown: int = 10, kept: int = 1000, *, others: bool = False) -> None:
        self._shown, self._kept = shown, kept
        self._rows: list[Phrase] = []
        self.others, self.total, self.left_out, self.repeats = others, 0, 0, 0

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

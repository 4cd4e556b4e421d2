"""Searching and sorting what was issued: from words that people type to SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pura.base.errors import ProfileError, RegisterError
from pura.keys.epochs import today
from pura.scheme import Profile
from pura.scheme.fields import Field

COLUMNS: Final = {
    "number": "entries.number",
    "who": "chain.who COLLATE NOCASE",
    "when": "chain.issued",
    "model": "chain.model COLLATE NOCASE",
    "manifest": "entries.manifest COLLATE NOCASE",
    "note": "chain.note COLLATE NOCASE",
    "key": "series.key",
    "epoch": "series.epoch",
    "profile": "series.profile",
    "payload": "shown(entries.payload, series.bits)",
}
"""What a column is in SQL; ``shown`` is :func:`shown`."""
_SEARCHED: Final = ("who", "when", "model", "manifest", "note", "payload")


@dataclass(frozen=True, kw_only=True)
class Query:
    """What rows are asked for.

    Attributes:
        where: The condition.
        order: What is sorted by.
        values: What fills the condition.
    """

    where: str
    order: str
    values: tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class _PayloadPart:
    """A field of a profile, inside its payloads.

    Attributes:
        field: The field.
        profile: Fingerprint of the profile: payloads of another have no such field.
        bits: Bits of the whole payload.
        behind: How many of them stand behind the field.
    """

    field: Field
    profile: str
    bits: int
    behind: int

    @property
    def column(self) -> str:
        """The field in SQL; NULL in payloads of another profile."""
        width = self.field.bits
        part = f"part(entries.payload, {self.bits}, {self.behind}, {width})"
        return f"CASE series.profile WHEN '{self.profile}' THEN {part} END"


def query(profile: Profile | None, *, words: str, column: str, order: str, falling: bool) -> Query:
    """Return the question in SQL.

    Args:
        profile: Whose fields are looked into and sorted by; None knows none.
        words: What is looked for: part of what stands in a column, in any case; of a field its
            value, or a range ``FROM..TO`` (either end may be missing), which is also taken for
            ``when``. A payload is named by its beginning in hex. Empty finds every row.
        column: One of :data:`COLUMNS` or a field's name; empty looks into all of them.
        order: ``number`` or one of the columns.
        falling: The largest first.

    Raises:
        RegisterError: The words are no value of the field.
        ValueError: There is no such column.
    """
    parts = _parts(profile)
    tests: list[str] = []
    values: list[object] = []
    for name in (column,) if column else (*_SEARCHED, *parts):
        try:
            test, filling = _test(name, words, parts.get(name))
        except ProfileError:
            if column:
                raise RegisterError("register.no-value", words=words, name=name) from None
            continue  # most words are a value of some fields only
        tests.append(test)
        values += filling
    by = f"{_column(order, parts.get(order))} {'DESC' if falling else 'ASC'}, entries.number"
    if not words:
        return Query(where="1", order=by, values=())
    return Query(where=" OR ".join(tests) or "0", order=by, values=tuple(values))


def _parts(profile: Profile | None) -> dict[str, _PayloadPart]:
    parts: dict[str, _PayloadPart] = {}
    if profile is None:
        return parts
    behind = profile.payload_bits
    for field in profile.fields:
        behind -= field.bits
        parts[field.name] = _PayloadPart(
            field=field,
            profile=profile.fingerprint,
            bits=profile.payload_bits,
            behind=behind,
        )
    return parts


def part(blob: bytes, bits: int, behind: int, width: int) -> bytes:
    """Return a field of a payload as SQLite compares it: as bytes of one length."""
    number = int.from_bytes(blob) >> 8 * len(blob) - bits
    return (number >> behind & (1 << width) - 1).to_bytes(8)


def shown(blob: bytes, bits: int) -> str:
    """Return a payload as people read it, in hex."""
    return f"0x{int.from_bytes(blob) >> 8 * len(blob) - bits:0{(bits + 3) // 4}X}"


def _column(name: str, payload_part: _PayloadPart | None) -> str:
    if payload_part is not None:
        return payload_part.column
    if name not in COLUMNS:
        raise ValueError(f"the register has no column {name!r}")
    return COLUMNS[name]


def _test(name: str, words: str, payload_part: _PayloadPart | None) -> tuple[str, list[object]]:
    """Return what a row must fulfil, and the values in it."""
    column = _column(name, payload_part)
    low, dots, high = (end.strip() for end in words.partition(".."))
    if payload_part is not None:
        limited = replace(payload_part.field, limits=(words,)).on(today())
        ends: list[object] = [number.to_bytes(8) for pair in limited.ranges for number in pair]
        return " OR ".join([f"{column} BETWEEN ? AND ?"] * (len(ends) // 2)), ends
    if name == "when" and dots:  # a day belongs to the month that ends the range
        return "chain.issued >= ? AND chain.issued <= ?", [low, f"{high}\U0010ffff"]
    escaped = "".join(f"\\{c}" if c in "\\%_" else c for c in words)
    anywhere = "" if name == "payload" else "%"
    return f"{column} LIKE ? ESCAPE '\\'", [f"{anywhere}{escaped}%"]

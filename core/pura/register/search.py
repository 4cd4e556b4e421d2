"""Searching and sorting the register: from typed text to SQL."""

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
"""SQL expression of each column; ``shown`` is :func:`shown`."""
_SEARCHED: Final = ("who", "when", "model", "manifest", "note", "payload")


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for rows.

    Attributes:
        where: The condition.
        order: The sort order.
        values: Values of the condition's placeholders.
    """

    where: str
    order: str
    values: tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class _PayloadPart:
    """A field of a profile, inside its payloads.

    Attributes:
        field: The field.
        profile: Fingerprint of the profile; payloads of other profiles lack the field.
        bits: Bits of the complete payload.
        bits_after: How many of these bits follow the field.
    """

    field: Field
    profile: str
    bits: int
    bits_after: int

    @property
    def column(self) -> str:
        """SQL expression of the field; NULL for payloads of another profile."""
        width = self.field.bits
        part = f"part(entries.payload, {self.bits}, {self.bits_after}, {width})"
        return f"CASE series.profile WHEN '{self.profile}' THEN {part} END"


def query(profile: Profile | None, *, words: str, column: str, order: str, falling: bool) -> Query:
    """Return the SQL query for a search.

    Args:
        profile: Profile with fields to search and sort by; None for no fields.
        words: Text to search for: part of a column, ignoring case; for a field its value or a
            range ``FROM..TO`` (either end may be missing), which ``when`` accepts as well. A
            payload is named by its beginning in hex. Empty matches every row.
        column: One of :data:`COLUMNS` or the name of a field; empty searches all of them.
        order: ``number`` or one of the columns.
        falling: Whether to sort in descending order.

    Raises:
        RegisterError: The words are not a value of the field.
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
            continue  # the words need to be a value of only some fields
        tests.append(test)
        values += filling
    order_by = f"{_column(order, parts.get(order))} {'DESC' if falling else 'ASC'}, entries.number"
    if not words:
        return Query(where="1", order=order_by, values=())
    return Query(where=" OR ".join(tests) or "0", order=order_by, values=tuple(values))


def _parts(profile: Profile | None) -> dict[str, _PayloadPart]:
    parts: dict[str, _PayloadPart] = {}
    if profile is None:
        return parts
    bits_after = profile.payload_bits
    for field in profile.fields:
        bits_after -= field.bits
        parts[field.name] = _PayloadPart(
            field=field,
            profile=profile.fingerprint,
            bits=profile.payload_bits,
            bits_after=bits_after,
        )
    return parts


def part(blob: bytes, bits: int, bits_after: int, width: int) -> bytes:
    """Return a field of a payload as bytes of fixed length, which SQLite can compare."""
    number = int.from_bytes(blob) >> 8 * len(blob) - bits
    return (number >> bits_after & (1 << width) - 1).to_bytes(8)


def shown(blob: bytes, bits: int) -> str:
    """Return a payload in hexadecimal for people."""
    return f"0x{int.from_bytes(blob) >> 8 * len(blob) - bits:0{(bits + 3) // 4}X}"


def _column(name: str, payload_part: _PayloadPart | None) -> str:
    if payload_part is not None:
        return payload_part.column
    if name not in COLUMNS:
        raise ValueError(f"the register has no column {name!r}")
    return COLUMNS[name]


def _test(name: str, text: str, payload_part: _PayloadPart | None) -> tuple[str, list[object]]:
    """Return the condition for one column, and the values of its placeholders."""
    column = _column(name, payload_part)
    low, dots, high = (end.strip() for end in text.partition(".."))
    if payload_part is not None:
        limited = replace(payload_part.field, limits=(text,)).on(today())
        ends: list[object] = [number.to_bytes(8) for pair in limited.ranges for number in pair]
        return " OR ".join([f"{column} BETWEEN ? AND ?"] * (len(ends) // 2)), ends
    if name == "when" and dots:  # a day belongs to the month that ends the range
        return "chain.issued >= ? AND chain.issued <= ?", [low, f"{high}\U0010ffff"]
    escaped = "".join(f"\\{c}" if c in "\\%_" else c for c in text)
    anywhere = "" if name == "payload" else "%"
    return f"{column} LIKE ? ESCAPE '\\'", [f"{anywhere}{escaped}%"]

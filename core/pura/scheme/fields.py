"""Named fields inside a payload: who, when, which model (scheme.md, "Fields").

A profile may lay its payload out in fields; their widths add up to the payload's bits. Packing
refuses what does not fit; unpacking always succeeds, and says so when a value has no meaning.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.decoder import DecodeError, decode
from pura.base.errors import PayloadError, ProfileError, unusable
from pura.scheme.payload import Payload

KINDS: Final = ("integer", "enumeration", "date", "version")
_UNITS: Final = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1, "week": 604_800}
_DAY_LENGTH: Final = len("2026-11-21")
_DAY_UNITS: Final = ("day", "week")
# Python's int() also takes blanks, underscores and the digits of other scripts.
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_VERSION: Final = re.compile(r"[0-9]+(\.[0-9]+)*")
_REQUIRED: Final = {"name", "bits", "kind"}
_EVERYWHERE: Final = {"limits"}
MAX_RANGES: Final = 16  # that the limits of one field come to
_LISTED: Final = {
    "values": phrase("layout.values"),
    "parts": phrase("layout.parts"),
    "limits": phrase("layout.limits", most=MAX_RANGES),
}
"""What is said where one of these does not hold what it should."""
TODAY: Final = "today"
"""In a limit of a date: the day of the audit."""

Ranges = tuple[tuple[int, int], ...]
"""Stored numbers from the first to the last (inclusive) of each pair, ascending, with gaps."""
_OPTIONAL: Final = {
    "integer": {"offset"},
    "enumeration": {"values"},
    "date": {"epoch", "unit"},
    "version": {"parts"},
}


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a payload layout.

    Attributes:
        name: How people call it.
        bits: Its width, 1 … 64.
        kind: ``integer``, ``enumeration``, ``date`` or ``version``.
        offset: For integers: the number that the bits 0…0 stand for.
        values: For enumerations: the names, in order of their numbers.
        epoch: For dates: the moment that the bits 0…0 stand for, ISO 8601.
        unit: For dates: ``second``, ``minute``, ``hour``, ``day`` or ``week``.
        parts: For versions: the widths of its numbers, adding up to ``bits``.
        limits: What can have been issued at most: values, and ranges ``FROM..TO`` of which either
            end may be missing; a date may be ``today``. Empty admits everything. Limits are a prior
            of the verifier (evidence.md §3) and no part of a profile's fingerprint.
    """

    name: str
    bits: int
    kind: str
    offset: int = 0
    values: tuple[str, ...] = ()
    epoch: str = "2020-01-01"
    unit: str = "day"
    parts: tuple[int, ...] = ()
    limits: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the field as it stands in a profile."""
        out: dict[str, Any] = {"name": self.name, "bits": self.bits, "kind": self.kind}
        match self.kind:
            case "integer" if self.offset:
                out["offset"] = self.offset
            case "enumeration":
                out["values"] = list(self.values)
            case "date":
                out |= {"epoch": self.epoch, "unit": self.unit}
            case "version":
                out["parts"] = list(self.parts)
        if self.limits:
            out["limits"] = list(self.limits)
        return out

    @property
    def names_today(self) -> bool:
        """Whether a limit depends on the day of the audit."""
        return any(end.strip() == TODAY for limit in self.limits for end in limit.split(".."))

    def on(self, day: dt.date) -> Field:
        """Return the field with ``today`` in its limits written out."""
        name = day.isoformat()
        limits = tuple(
            "..".join(name if end.strip() == TODAY else end for end in limit.split(".."))
            for limit in self.limits
        )
        return replace(self, limits=limits)

    @cached_property
    def ranges(self) -> Ranges:
        """The stored numbers that the limits admit; ``today`` is the last day that fits.

        Raises:
            ProfileError: A limit is none, or they admit nothing.
        """
        if not self.limits:
            return ((0, (1 << self.bits) - 1),)
        found = sorted(filter(None, map(self._range, self.limits)))
        joined: list[tuple[int, int]] = []
        for first, last in found:
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(joined[-1][1], last))
            else:
                joined.append((first, last))
        if not 0 < len(joined) <= MAX_RANGES:
            raise _refuse(self.name, _LISTED["limits"])
        return tuple(joined)

    def span(self, raw: int) -> tuple[dt.datetime, dt.datetime] | None:
        """Return the time that a stored number of a date stands for: from, and up to.

        Returns:
            UTC; None for fields of other kinds, and for times beyond the calendar.
        """
        if self.kind != "date":
            return None
        unit = dt.timedelta(seconds=_UNITS[self.unit])
        try:
            begin = _parse_moment(self.epoch) + raw * unit
            return begin, begin + unit
        except OverflowError:
            return None

    def admits(self, raw: int) -> bool:
        """Whether a stored number lies within the limits."""
        return any(first <= raw <= last for first, last in self.ranges)

    def _range(self, limit: str) -> tuple[int, int] | None:
        """Return the numbers of one limit; None where it ends before the first that there is."""
        low, *rest = (end.strip() for end in limit.split(".."))
        most = len(self.values) - 1 if self.kind == "enumeration" else (1 << self.bits) - 1
        try:
            if len(rest) > 1 or not limit.strip():
                raise ValueError
            high = rest[0] if rest else low
            known = {"": (0, most)} | ({TODAY: (most, most)} if self.kind == "date" else {})
            first = known[low][0] if low in known else _number(self, low)
            last = known[high][1] if high in known else _number(self, high, end=True)
        except (PayloadError, ValueError):
            raise _refuse(self.name, phrase("layout.limit", limit=limit)) from None
        if first > last and self.kind != "date":  # up to a day before the first: nothing yet
            raise _refuse(self.name, phrase("layout.limit", limit=limit))
        first, last = max(0, first), min(last, most)
        return (first, last) if first <= last else None


@dataclass(frozen=True, kw_only=True)
class FieldValue:
    """What a field says in one payload.

    Attributes:
        name: The field's name.
        raw: Its bits as a number.
        text: The value in words.
        known: False when the bits have no meaning in the layout.
    """

    name: str
    raw: int
    text: str
    known: bool = True


def _refuse(name: str | Phrase, what: Phrase) -> ProfileError:
    return ProfileError("layout.field", name=name, what=what)


def _parse_moment(text: str) -> dt.datetime:
    """Read ISO 8601 as UTC, so that a day printed without a zone reads back as the same day."""
    moment = dt.datetime.fromisoformat(text)
    return moment.astimezone(dt.UTC) if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _parse_field(entry: object, number: int) -> Field:
    if not isinstance(entry, dict):
        raise _refuse(phrase("layout.number", number=number), phrase("what.not-object"))
    name = entry.get("name")
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise _refuse(phrase("layout.number", number=number), phrase("layout.unnamed"))
    if missing := _REQUIRED - entry.keys():
        raise _refuse(name, phrase("layout.lacks", entry=min(missing)))
    kind, bits = entry["kind"], entry["bits"]
    if kind not in KINDS:
        raise _refuse(name, phrase("layout.kind", kind=f"{kind!r}", known=", ".join(KINDS)))
    if unknown := entry.keys() - _REQUIRED - _EVERYWHERE - _OPTIONAL[kind]:
        raise _refuse(name, phrase("layout.unknown", entry=min(unknown)))
    if type(bits) is not int or not 1 <= bits <= 64:
        raise _refuse(name, phrase("layout.width"))
    try:
        field = decode(Field, entry, sparse=True)
    except DecodeError as error:
        key = error.where.partition("[")[0]
        raise _refuse(name, _LISTED.get(key) or phrase("layout.type", key=key)) from None
    _check(field)
    _ = field.ranges  # refuses what is no limit
    return field


def _check(field: Field) -> None:
    if field.kind == "enumeration":
        names = field.values
        sound = names and all(v and v.isprintable() for v in names)
        if not sound or len(set(names)) != len(names) or len(names) > 1 << field.bits:
            raise _refuse(field.name, _LISTED["values"])
    elif field.kind == "date":
        if field.unit not in _UNITS:
            raise _refuse(field.name, phrase("layout.unit", known=", ".join(_UNITS)))
        try:
            whole = not _parse_moment(field.epoch).microsecond
        except (ValueError, OverflowError):
            whole = False
        if not whole:
            raise _refuse(field.name, phrase("layout.epoch"))
    elif field.kind == "version" and (
        min(field.parts, default=0) < 1 or sum(field.parts) != field.bits
    ):
        raise _refuse(field.name, _LISTED["parts"])


def parse_fields(entries: object) -> tuple[Field, ...]:
    """Read the ``fields`` of a profile, of whatever width they are.

    Raises:
        ProfileError: A field is damaged, or named twice.
    """
    if not isinstance(entries, list):
        raise unusable(ProfileError, "profile", phrase("what.not-list"), "fields")
    fields = tuple(_parse_field(entry, i + 1) for i, entry in enumerate(entries))
    names = [f.name for f in fields]
    for name in names:
        if names.count(name) > 1:
            raise _refuse(name, phrase("what.twice"))
    return fields


def parse_layout(entries: object, payload_bits: int) -> tuple[Field, ...]:
    """Read the ``fields`` of a profile for a payload.

    Raises:
        ProfileError: A field is damaged, named twice, or the widths do not add up.
    """
    fields = parse_fields(entries)
    check_total(fields, payload_bits)
    return fields


def check_total(fields: Sequence[Field], payload_bits: int) -> None:
    """Refuse a layout that is not as wide as the payload; none at all fits any.

    Raises:
        ProfileError: The widths do not add up.
    """
    total = sum(field.bits for field in fields)
    if fields and total != payload_bits:
        raise ProfileError("layout.total", total=total, payload_bits=payload_bits)


def pack(fields: Sequence[Field], values: Mapping[str, object]) -> Payload:
    """Return the payload that holds these values.

    Args:
        fields: The layout.
        values: One value for every field: a number, an enumeration's name, a date (ISO 8601 text
            or ``datetime``), a version such as ``"2.11"``.

    Raises:
        PayloadError: A value is missing, unknown or does not fit; the field is named.

    Examples:
        >>> fields = parse_layout([{"name": "customer", "bits": 10, "kind": "integer"}], 10)
        >>> pack(fields, {"customer": 417}).text
        '0110100001'
    """
    if unknown := values.keys() - {f.name for f in fields}:
        raise PayloadError(
            "choice.unknown", name=min(unknown), known=", ".join(f.name for f in fields)
        )
    bits = ""
    for field in fields:
        if field.name not in values:
            raise PayloadError("layout.no-value", name=field.name)
        number = _number(field, values[field.name])
        if number < 0:
            raise PayloadError("layout.before", name=field.name)
        if number >> field.bits:
            raise PayloadError("layout.large", name=field.name, bits=field.bits)
        bits += format(number, f"0{field.bits}b")
    return Payload(text=bits)


def _number(field: Field, value: object, *, end: bool = False) -> int:
    """Return the stored number of a value; of a day in finer units its first, or its last."""
    try:
        match field.kind:
            case "integer":
                return _whole(str(value)) - field.offset
            case "enumeration":
                return field.values.index(str(value))
            case "date":
                text = value.isoformat() if isinstance(value, dt.date) else str(value)
                gap = _parse_moment(text) - _parse_moment(field.epoch)
                if end and len(text) == _DAY_LENGTH:
                    gap += dt.timedelta(days=1, seconds=-1)
                return gap // dt.timedelta(seconds=_UNITS[field.unit])
            case _:
                return _version_number(field, str(value))
    except (ValueError, OverflowError):
        raise PayloadError("layout.value", name=field.name, kind=field.kind) from None


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def _version_number(field: Field, text: str) -> int:
    if not _VERSION.fullmatch(text):
        raise ValueError
    numbers = [int(part) for part in text.split(".")]
    if len(numbers) != len(field.parts):
        raise ValueError
    total = 0
    for number, width in zip(numbers, field.parts, strict=True):
        if not 0 <= number < 1 << width:
            raise ValueError
        total = (total << width) | number
    return total


def unpack(fields: Sequence[Field], payload: Payload) -> tuple[FieldValue, ...]:
    """Return what each field of a payload says; nothing when there is no layout.

    Raises:
        PayloadError: The payload is not as long as the layout.

    Examples:
        >>> fields = parse_layout([{"name": "customer", "bits": 10, "kind": "integer"}], 10)
        >>> unpack(fields, Payload(text="0110100001"))[0].text
        '417'
    """
    total = sum(field.bits for field in fields)
    if fields and total != len(payload):
        raise PayloadError("payload.bits", count=len(payload), payload_bits=total)
    out = []
    place = 0
    for field in fields:
        raw = int(payload.text[place : place + field.bits], 2)
        place += field.bits
        out.append(_say(field, raw))
    return tuple(out)


def fields_outside(fields: Sequence[Field], payload: Payload, day: dt.date) -> tuple[str, ...]:
    """Return the names of the fields whose value lies outside the limits of the layout.

    Args:
        fields: The layout.
        payload: What is looked at.
        day: What ``today`` in the limits stands for.

    Raises:
        PayloadError: The payload is not as long as the layout.

    Examples:
        >>> entry = {"name": "customer", "bits": 10, "kind": "integer", "limits": ["..400"]}
        >>> fields = parse_layout([entry], 10)
        >>> fields_outside(fields, pack(fields, {"customer": 417}), dt.date(2026, 1, 1))
        ('customer',)
    """
    values = unpack(fields, payload)
    return tuple(
        field.name
        for field, value in zip(fields, values, strict=True)
        if not field.on(day).admits(value.raw)
    )


def _say(field: Field, raw: int) -> FieldValue:
    match field.kind:
        case "integer":
            return FieldValue(name=field.name, raw=raw, text=str(raw + field.offset))
        case "enumeration":
            known = raw < len(field.values)
            text = field.values[raw] if known else f"#{raw}"
            return FieldValue(name=field.name, raw=raw, text=text, known=known)
        case "date":
            return _say_date(field, raw)
        case _:
            numbers = []
            rest = raw
            for width in reversed(field.parts):
                numbers.append(rest & ((1 << width) - 1))
                rest >>= width
            return FieldValue(
                name=field.name, raw=raw, text=".".join(str(n) for n in reversed(numbers))
            )


def _say_date(field: Field, raw: int) -> FieldValue:
    try:
        moment = _parse_moment(field.epoch) + dt.timedelta(seconds=raw * _UNITS[field.unit])
    except OverflowError:
        return FieldValue(name=field.name, raw=raw, text=f"#{raw}", known=False)
    date_only = field.unit in _DAY_UNITS and moment.time() == dt.time()
    text = moment.date().isoformat() if date_only else moment.isoformat(timespec="seconds")
    return FieldValue(name=field.name, raw=raw, text=text)

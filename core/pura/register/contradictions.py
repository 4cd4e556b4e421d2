"""Rows that contradict their own payload or key: another time, model or epoch than these say.

A row says when and for which model a payload was issued; so may fields of the payload, and so does
the key of an epoch. Where they exclude each other, the row is not the one of this mark. Such rows
are refused on their way in; one that stands already is a caution where it is named.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import RegisterError
from pura.keys.epochs import is_epoch, time_of
from pura.register.rows import Issue
from pura.scheme import Field, Profile, unpack

_AHEAD: Final = dt.timedelta(hours=14)  # of UTC: the first clocks that show a date
_BEHIND: Final = dt.timedelta(hours=12)  # the last ones
_TIMES_OF_ISSUE: Final = ("date", "day", "issued", "when", "written")
"""Names of the field that says when a payload was issued, where a layout has several dates."""

Span = tuple[dt.datetime, dt.datetime]
"""A time from its first moment up to, and without, the moment after it; UTC."""


WHEN_EPOCH: Final = "when-epoch"
"""The row's time lies outside the epoch of the key."""
WHEN_FIELD: Final = "when-field"
"""The row's time contradicts a field of the payload."""
EPOCH_FIELD: Final = "epoch-field"
"""A field of the payload lies outside the epoch of the key."""
MODEL_FIELD: Final = "model-field"
"""The row's model contradicts a field of the payload."""
KINDS: Final = (WHEN_EPOCH, WHEN_FIELD, EPOCH_FIELD, MODEL_FIELD)


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """Two statements about one payload that exclude each other.

    Attributes:
        kind: One of :data:`KINDS`.
        stated: What the row or the key says.
        other: What the key or the field says.
        field: Name of the field; empty for ``when-epoch``.
    """

    kind: str
    stated: str
    other: str
    field: str = ""

    @property
    def phrase(self) -> Phrase:
        """The contradiction in words."""
        return phrase(
            f"register.{self.kind}", stated=self.stated, other=self.other, field=self.field
        )


def contradictions(issue: Issue, profile: Profile | None = None) -> tuple[Contradiction, ...]:
    """Return where a row contradicts its payload's fields or the epoch of its key.

    A date as people write it may be that of any place on Earth, so dates that lie a day apart do
    not contradict each other. A time that is not ISO 8601 is not compared; neither is a model that
    is none of the names in the payload's field.

    Args:
        issue: The row.
        profile: Says which fields the payload has; None compares none of them.
    """
    epoch = "" if issue.series is None else issue.series.epoch
    when = _local_time(issue.when)
    key_time = time_of(epoch) if is_epoch(epoch) else None
    contradicted = []
    if when is not None and key_time is not None and not _meet(when, key_time):
        contradicted.append(Contradiction(kind=WHEN_EPOCH, stated=issue.when, other=epoch))
    if profile is None or not profile.fields or len(issue.payload) != profile.payload_bits:
        return tuple(contradicted)
    values = {value.name: value for value in unpack(profile.fields, issue.payload)}
    for field in _times_of_issue(profile):
        value = values[field.name]
        span = field.span(value.raw)
        if span is None:
            continue
        rows = (
            (WHEN_FIELD, issue.when, when),
            (EPOCH_FIELD, epoch, None if key_time is None else _anywhere(key_time)),
        )
        contradicted += [
            Contradiction(kind=kind, stated=stated, other=value.text, field=field.name)
            for kind, stated, time in rows
            if time is not None and not _meet(time, span)
        ]
    for field in profile.fields:
        named = issue.model.strip().casefold()
        others = {other.casefold() for other in field.values} if field.kind == "enumeration" else ()
        value = values[field.name]
        if field.name.casefold() == "model" and named in others and value.text.casefold() != named:
            contradicted.append(
                Contradiction(
                    kind=MODEL_FIELD, stated=issue.model, other=value.text, field=field.name
                )
            )
    return tuple(contradicted)


def refuse_contradictions(issue: Issue, profile: Profile | None = None) -> None:
    """Refuse a row that contradicts its payload or its key.

    Raises:
        RegisterError: It does.
    """
    for one in contradictions(issue, profile):
        raise RegisterError("register.contradiction", what=one.phrase, code="register-contradicts")


def _times_of_issue(profile: Profile) -> list[Field]:
    dates = [field for field in profile.fields if field.kind == "date"]
    if len(dates) < 2:
        return dates
    return [field for field in dates if field.name.casefold() in _TIMES_OF_ISSUE]


def _local_time(text: str) -> Span | None:
    """Return the time that a person wrote; None where it cannot be read as ISO 8601."""
    text = text.strip()
    if is_epoch(text):
        return _anywhere(time_of(text))
    try:
        moment = dt.datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            begin = moment.astimezone(dt.UTC)
            return begin, begin + dt.timedelta(seconds=1)
        begin = moment.replace(tzinfo=dt.UTC)
        return _anywhere((begin, begin + dt.timedelta(seconds=1)))
    except (ValueError, OverflowError):
        return None


def _anywhere(span: Span) -> Span:
    """Return a time of unknown zone: from where it begins first on Earth to where it ends last."""
    begin, end = span
    try:
        return begin - _AHEAD, end + _BEHIND
    except OverflowError:
        return span


def _meet(first: Span, second: Span) -> bool:
    return first[0] < second[1] and second[0] < first[1]

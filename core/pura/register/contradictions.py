"""Rows that contradict their own payload or key in time, model or epoch.

A row states when and for which model a payload was issued. Fields of the payload may state this
too, and so does the key of an epoch. If they exclude each other, the row does not belong to this
mark. Such rows are refused when they are added; an existing one is reported with a caution.
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

_EARLIEST_OFFSET: Final = dt.timedelta(hours=14)  # before UTC: the first time zone to reach a date
_LATEST_OFFSET: Final = dt.timedelta(hours=12)  # after UTC: the last time zone to leave it
_TIMES_OF_ISSUE: Final = ("date", "day", "issued", "when", "written")
"""Names of the field with the date of issue, if a layout has several dates."""

Span = tuple[dt.datetime, dt.datetime]
"""A period in UTC, from its first moment up to but excluding the moment after it."""


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
        stated: Statement of the row or the key.
        other: Statement of the key or the field.
        field: Name of the field; empty for ``when-epoch``.
    """

    kind: str
    stated: str
    other: str
    field: str = ""

    @property
    def phrase(self) -> Phrase:
        """The contradiction as a phrase for people."""
        return phrase(
            f"register.{self.kind}", stated=self.stated, other=self.other, field=self.field
        )


def contradictions(issue: Issue, profile: Profile | None = None) -> tuple[Contradiction, ...]:
    """Return the contradictions of a row with its payload's fields or the epoch of its key.

    A date without a time zone may hold anywhere on Earth, so neighbouring dates do not contradict
    each other. Times that are not ISO 8601 are not compared; neither are models that the payload's
    field does not list.

    Args:
        issue: The row.
        profile: Profile with the fields of the payload; None compares no fields.
    """
    epoch = "" if issue.series is None else issue.series.epoch
    time_of_issue = _local_time(issue.when)
    key_time = time_of(epoch) if is_epoch(epoch) else None
    contradicted = []
    if time_of_issue is not None and key_time is not None and not _meet(time_of_issue, key_time):
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
            (WHEN_FIELD, issue.when, time_of_issue),
            (EPOCH_FIELD, epoch, None if key_time is None else _anywhere(key_time)),
        )
        contradicted += [
            Contradiction(kind=kind, stated=stated, other=value.text, field=field.name)
            for kind, stated, time in rows
            if time is not None and not _meet(time, span)
        ]
    for field in profile.fields:
        model = issue.model.strip().casefold()
        known_models = (
            {name.casefold() for name in field.values} if field.kind == "enumeration" else ()
        )
        value = values[field.name]
        if (
            field.name.casefold() == "model"
            and model in known_models
            and value.text.casefold() != model
        ):
            contradicted.append(
                Contradiction(
                    kind=MODEL_FIELD, stated=issue.model, other=value.text, field=field.name
                )
            )
    return tuple(contradicted)


def refuse_contradictions(issue: Issue, profile: Profile | None = None) -> None:
    """Refuse a row that contradicts its payload or its key.

    Raises:
        RegisterError: The row contradicts them.
    """
    for contradiction in contradictions(issue, profile):
        raise RegisterError(
            "register.contradiction", what=contradiction.phrase, code="register-contradicts"
        )


def _times_of_issue(profile: Profile) -> list[Field]:
    dates = [field for field in profile.fields if field.kind == "date"]
    if len(dates) < 2:
        return dates
    return [field for field in dates if field.name.casefold() in _TIMES_OF_ISSUE]


def _local_time(text: str) -> Span | None:
    """Return the period of a written time; None if it is not ISO 8601."""
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
    """Return the period of a time of unknown zone: from its first start to its last end."""
    begin, end = span
    try:
        return begin - _EARLIEST_OFFSET, end + _LATEST_OFFSET
    except OverflowError:
        return span


def _meet(first: Span, second: Span) -> bool:
    return first[0] < second[1] and second[0] < first[1]

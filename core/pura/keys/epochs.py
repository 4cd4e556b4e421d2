"""Keys derived from a master key by HKDF-SHA256 (RFC 5869).

A key is derived for a deployment, a day, a week or a month.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from typing import Final

from pura.base.errors import KeyFormatError
from pura.scheme import SecretKey
from pura.scheme.keys import KEY_BYTES, KeyOrigin, wipe_buffer
from pura.scheme.profile import MAX_EPOCHS

DEPLOYMENT_SALT: Final = b"PURA-1 deployment key"
MAX_LABEL: Final = 80
"""Characters of the name of a deployment."""
AS_GIVEN: Final = "none"
"""Value in place of an epoch if the key is used without derivation."""


def derive_key(master: SecretKey, label: str) -> SecretKey:
    """Return the key of a deployment.

    Args:
        master: The master key.
        label: Name of the deployment; blanks around it are ignored, and letters that Unicode can
            write in two ways are equal (NFC).

    Raises:
        KeyFormatError: The label is empty, too long or not printable.
    """
    return _derived(master, DEPLOYMENT_SALT, deployment_label(label))


def _derived(key: SecretKey, salt: bytes, label: str) -> SecretKey:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    secret = key.copy_secret()
    try:
        derived = bytearray(HKDF(SHA256(), KEY_BYTES, salt, label.encode()).derive(bytes(secret)))
        derived_key = SecretKey(derived)
        wipe_buffer(derived)
    finally:
        wipe_buffer(secret)
    return derived_key


def deployment_label(label: str) -> str:
    """Return a label in the normal form that keys are derived with.

    Raises:
        KeyFormatError: The label is empty, too long or not printable.
    """
    plain = unicodedata.normalize("NFC", label).strip()
    if not plain or len(plain) > MAX_LABEL or not plain.isprintable():
        raise KeyFormatError("name.form", most=MAX_LABEL, code="key-label")
    return plain


EPOCH_SALT: Final = b"PURA-1 epoch key"
_FORMS: Final = {
    "day": re.compile(r"\d{4}-\d\d-\d\d"),
    "week": re.compile(r"\d{4}-W\d\d"),
    "month": re.compile(r"\d{4}-\d\d"),
}


def epoch_key(key: SecretKey, epoch: str) -> SecretKey:
    """Return the key of an epoch.

    Args:
        key: The key that the keys of all epochs are derived from.
        epoch: A day ``2026-11-22``, an ISO week ``2026-W47`` or a month ``2026-11``.

    Raises:
        KeyFormatError: The epoch is none of these.
    """
    first_day(epoch)
    derived = _derived(key, EPOCH_SALT, epoch)
    derived.note_origin(KeyOrigin(parent=key.fingerprint, epoch=epoch))
    return derived


def is_epoch(text: str) -> bool:
    """Return whether a text is an epoch: a day, an ISO week or a month."""
    try:
        first_day(text)
    except KeyFormatError:
        return False
    return True


def first_day(epoch: str) -> dt.date:
    """Return the first day of an epoch.

    Raises:
        KeyFormatError: The epoch is not a day, ISO week or month.
    """
    try:
        match _kind(epoch):
            case "day":
                return dt.date.fromisoformat(epoch)
            case "week":
                return dt.date.fromisocalendar(int(epoch[:4]), int(epoch[6:]), 1)
            case "month":
                return dt.date.fromisoformat(f"{epoch}-01")
    except ValueError:
        pass
    raise KeyFormatError("key.epoch", code="key-epoch")


def time_of(epoch: str) -> tuple[dt.datetime, dt.datetime]:
    """Return the beginning of an epoch and of the next one, UTC.

    Raises:
        KeyFormatError: The epoch is not a day, ISO week or month.
    """
    first = first_day(epoch)
    ends = (first, _next(first, _kind(epoch)))
    begin, end = (dt.datetime.combine(day, dt.time(), dt.UTC) for day in ends)
    return begin, end


def kind_of(span: str) -> str:
    """Return the kind of the epochs of a range: ``day``, ``week``, ``month``, or empty."""
    return _kind(span.partition("..")[0])


def epoch_of(day: dt.date, kind: str) -> str:
    """Return the epoch of a kind that contains a day."""
    if kind == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return day.isoformat() if kind == "day" else day.isoformat()[:7]


def today() -> dt.date:
    """Return the current day in UTC, which determines the epoch."""
    return dt.datetime.now(dt.UTC).date()


def latest(kind: str, number: int, last: dt.date) -> str:
    """Return the range of the last epochs up to a day, as ``FROM..TO``.

    Args:
        kind: ``day``, ``week`` or ``month``.
        number: Number of epochs, 1 or more.
        last: A day in the last of them.
    """
    if kind == "month":
        first = last.year * 12 + last.month - number
        begin = f"{first // 12:04}-{first % 12 + 1:02}"
    else:
        begin = epoch_of(last - dt.timedelta((number - 1) * (7 if kind == "week" else 1)), kind)
    return f"{begin}..{epoch_of(last, kind)}"


def epochs(span: str) -> tuple[str, ...]:
    """Return the epochs of a range, both ends included, in order.

    Args:
        span: ``FROM..TO`` of the same kind, or one epoch.

    Raises:
        KeyFormatError: An end is no epoch, the ends are of two kinds or the wrong way round, or
            more than :data:`MAX_EPOCHS` lie between them.
    """
    begin, _, end = span.partition("..")
    end = end if ".." in span else begin
    day, last, kind = first_day(begin), first_day(end), _kind(begin)
    if kind != _kind(end) or last < day:
        raise KeyFormatError("key.epoch", code="key-epoch")
    names: list[str] = []
    while day <= last:
        if len(names) == MAX_EPOCHS:
            raise KeyFormatError("key.epochs-many", most=MAX_EPOCHS, code="key-epochs-many")
        names.append(epoch_of(day, kind))
        day = _next(day, kind)
    return tuple(names)


def _kind(epoch: str) -> str:
    return next((kind for kind, form in _FORMS.items() if form.fullmatch(epoch)), "")


def _next(day: dt.date, kind: str) -> dt.date:
    if kind == "month":
        return (day.replace(day=1) + dt.timedelta(days=31)).replace(day=1)
    return day + dt.timedelta(days=7 if kind == "week" else 1)

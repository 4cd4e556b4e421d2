"""The register of issued payloads: issue, import, assign, look up, check.

A payload belongs to the key, epoch and profile that texts are marked with. Every action that looks
for a recipient therefore takes all four, and none takes a payload alone.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pura.base.errors import PuraError, RegisterError, naming
from pura.base.progress import Checkpoint, Progress, counted, never_cancelled, no_progress
from pura.keys import KeyRef
from pura.keys.epochs import AS_GIVEN, epoch_of, first_day, kind_of, today
from pura.register.issue_log import import_log, is_log
from pura.register.outcomes import note_outcomes
from pura.register.rows import Drawn, Issue, Problems, Recipient, RegisterEntry
from pura.register.store import Register
from pura.register.table import export_csv, import_csv
from pura.register.under import IssuedUnder
from pura.register.verification import RegisterCheck, verify
from pura.scheme import MarkIdentity, Payload, PayloadSeries, Profile
from pura.usecases.environment import Environment
from pura.usecases.questions import kept_questions

_RANGE: Final = re.compile(r"([0-9]{1,18})?-([0-9]{1,18})?|([0-9]{1,18})")


def series_of(
    environment: Environment, key: KeyRef, profile: Profile, epoch: str = ""
) -> PayloadSeries:
    """Return what payloads of a key under a profile belong to.

    Args:
        environment: Where the keys are.
        key: The key; that of an epoch brings its epoch along.
        profile: The profile.
        epoch: The day, ISO week or month that the marking key is derived for; empty or ``none``
            where the key marks as it is.

    Raises:
        KeyFormatError: The epoch is none, or not of the profile's kind.
        KeyStoreError: The list of keys is damaged.
    """
    origin = environment.origin_of(key)
    if origin is not None:
        return PayloadSeries(key=origin.parent, epoch=origin.epoch, profile=profile.fingerprint)
    if epoch in ("", AS_GIVEN):
        return PayloadSeries(key=key.fingerprint, profile=profile.fingerprint)
    return PayloadSeries(
        key=key.fingerprint, epoch=_checked(profile, epoch), profile=profile.fingerprint
    )


def present_series(
    environment: Environment, key: KeyRef, profile: Profile, epoch: str = ""
) -> PayloadSeries:
    """Return what payloads belong to that are issued now: the present epoch, unless one is named.

    Raises:
        KeyFormatError: As :func:`series_of`.
        KeyStoreError: As :func:`series_of`.
    """
    if not epoch and profile.key_epochs is not None:
        epoch = epoch_of(today(), profile.key_epochs)
    return series_of(environment, key, profile, epoch)


def mark_of(
    environment: Environment, key: KeyRef, profile: Profile, payload: Payload, epoch: str = ""
) -> MarkIdentity:
    """Return the mark that a key makes of a payload under a profile.

    Args:
        environment: Where the keys are.
        key: The key.
        profile: The profile.
        payload: The payload.
        epoch: As for :func:`series_of`. It must be named where the profile's keys are those of an
            epoch: the same payload is issued again in each.

    Raises:
        RegisterError: The epoch is missing.
        KeyFormatError: As :func:`series_of`.
        KeyStoreError: As :func:`series_of`.
    """
    if not epoch and profile.key_epochs is not None and environment.origin_of(key) is None:
        raise RegisterError("register.epoch-needed", code="register-epoch-needed")
    return series_of(environment, key, profile, epoch).mark(payload)


def issued_under(
    environment: Environment, key: KeyRef, profile: Profile, epoch: str = ""
) -> IssuedUnder:
    """Return the key and profile of rows that do not say them themselves.

    Args:
        environment: Where the keys are.
        key: The key.
        profile: The profile.
        epoch: As for :func:`series_of`; empty takes that of each row's date where the profile's
            keys are those of an epoch.

    Raises:
        KeyFormatError: As :func:`series_of`.
        KeyStoreError: As :func:`series_of`.
    """
    series = series_of(environment, key, profile, epoch)
    return IssuedUnder(
        profile=profile, key=series.key, epoch=AS_GIVEN if epoch == AS_GIVEN else series.epoch
    )


def _checked(profile: Profile, epoch: str) -> str:
    first_day(epoch)
    if profile.key_epochs not in (None, kind_of(epoch)):
        raise RegisterError("register.epoch-kind", epoch=epoch, code="register-epoch-kind")
    return epoch


def entry_range(text: str) -> tuple[int, int | None]:
    """Return the first and last entry of ``FROM-TO``; None for all that follow.

    Args:
        text: A number, two with a dash between them (either may be missing), or nothing for all.

    Raises:
        RegisterError: It is none of these.
    """
    text = text.strip()
    if not text:
        return 1, None
    match = _RANGE.fullmatch(text)
    if match is None or text == "-":
        raise RegisterError("register.range", code="usage")
    first, last, single = match.groups()
    if single:
        return int(single), int(single)
    return int(first or 1), None if last is None else int(last)


def issue_payload(
    environment: Environment, *, series: PayloadSeries, profile: Profile, recipient: Recipient
) -> RegisterEntry:
    """Draw a number that was never issued, and write down who gets it.

    The row is on the disk when this returns.

    Args:
        environment: Whose register.
        series: The key, epoch and profile that the text will be marked with.
        profile: The profile.
        recipient: To whom, and for what.

    Raises:
        RegisterError: The payload of the profile has fields, so it is not drawn; every number was
            issued; or the register cannot be written.
    """
    if profile.fields:
        raise RegisterError("register.fields", code="register-fields")
    with Register(environment.paths.register, create=True) as register:
        return register.draw(series, profile.payload_bits, recipient)


def add_issue(
    environment: Environment, *, mark: MarkIdentity, profile: Profile, recipient: Recipient
) -> RegisterEntry:
    """Write down a payload that was chosen elsewhere, and who has it.

    Args:
        environment: Whose register.
        mark: The mark that was issued.
        profile: The profile, whose fields must not contradict the row.
        recipient: To whom, and for what.

    Raises:
        RegisterError: The mark was issued before, or the row contradicts its payload or key.
    """
    with Register(environment.paths.register, create=True) as register:
        return register.add(Issue.of(mark, recipient, Drawn.GIVEN), profile)


@dataclass(frozen=True, kw_only=True)
class MarkLookup:
    """What the register says of one mark.

    Attributes:
        entry: The entry that names its recipient; None where no entry does.
        revoked: Its entries that were revoked.
        unassigned: Entries of unknown key, which were not compared.
    """

    entry: RegisterEntry | None
    revoked: tuple[RegisterEntry, ...] = ()
    unassigned: int = 0


def look_up(environment: Environment, *, mark: MarkIdentity) -> MarkLookup:
    """Look up to whom a mark was issued.

    Raises:
        RegisterError: There is no register, or it is damaged.
    """
    with Register(environment.paths.register, read_only=True) as register, register.held():
        return MarkLookup(
            entry=register.find(mark),
            revoked=register.revoked(mark),
            unassigned=register.unassigned(len(mark.payload)),
        )


def revoke_issue(environment: Environment, *, number: int, reason: str = "") -> None:
    """Note that an entry no longer stands; its row stays in the register.

    Raises:
        RegisterError: There is no such entry, or it was revoked before.
    """
    with Register(environment.paths.register) as register:
        register.revoke(number, reason)


def assign_issues(
    environment: Environment,
    *,
    under: IssuedUnder,
    first: int = 1,
    last: int | None = None,
    problems: Problems | None = None,
) -> int:
    """Say under which key and profile entries of unknown key were issued.

    Args:
        environment: Whose register.
        under: The key and the profile; without an epoch it follows from each entry's date where
            the profile's keys are those of an epoch.
        first: Number of the first entry.
        last: Number of the last entry; None for all that follow.
        problems: Says whether entries that nothing is wrong with are assigned all the same.

    Returns:
        How many entries were assigned.

    Raises:
        RegisterError: An entry contradicts its payload's fields or the key's epoch, or its mark was
            issued to somebody else; the entries are named.
    """
    with Register(environment.paths.register) as register:
        return register.assign(under, first=first, last=last, problems=problems)


def verify_register(
    environment: Environment,
    *,
    heads: tuple[str, ...] = (),
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> RegisterCheck:
    """Check that the register holds what was written; :mod:`pura.register.verification` says how.

    Raises:
        RegisterError: There is no register, or its rows cannot be read.
    """
    with Register(environment.paths.register, read_only=True) as register:
        return verify(register, heads, progress=progress, checkpoint=checkpoint)


def import_register(
    environment: Environment,
    *,
    path: Path,
    under: IssuedUnder | None,
    problems: Problems | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[int, int, str]:
    """Add every row of a table or of logs, or none: bad rows are named.

    Rows that the register has already are passed over. Entries whose answers did not leave whole
    get a remark, where the logs' gateway noted it.

    Args:
        environment: Whose.
        path: CSV: payload or fields, who, when, model; or a log, or a folder of logs.
        under: The key and profile of rows that do not say them; None where all do.
        problems: Collects what is wrong; says whether the other rows are added all the same.
        progress: Told how much of the files is read.
        checkpoint: Called often; may raise.

    Returns:
        How many rows were added, how many there are now, and which state it is in.

    Raises:
        RegisterError: The table or a log does not fit, or the register cannot be written.
    """
    profiles = stored_profiles(environment)
    with Register(environment.paths.register, create=True) as register:
        with naming(path.name):
            told = counted(progress, "import")
            logged = is_log(path)
            added = (import_log if logged else import_csv)(
                register,
                path,
                under,
                profiles=profiles,
                problems=problems,
                checkpoint=checkpoint,
                progress=told,
            )
            if logged:
                note_outcomes(register, path if path.is_dir() else path.parent)
        return added, len(register), register.version()


def stored_profiles(environment: Environment) -> dict[str, Profile]:
    """Return the stored profiles by their fingerprints; those that are damaged are left out."""
    profiles = {}
    for name in environment.profiles.names():
        try:
            profile = environment.profiles.get(name)
        except PuraError:
            continue  # where profiles are listed, it is told
        profiles[profile.fingerprint] = profile
    return profiles


def export_register(environment: Environment, *, path: Path) -> int:
    """Write the register as a table; returns how many rows it has.

    Raises:
        RegisterError: There is none, or the file cannot be written.
    """
    with Register(environment.paths.register, read_only=True) as register:
        return export_csv(register, path)


@dataclass(frozen=True, kw_only=True)
class IssuedRows:
    """Entries of the register, as they were searched for.

    Attributes:
        total: How many entries stand.
        unassigned: How many of them are of unknown key, and so name nobody.
        rows: Those that match, sorted; :func:`pura.register.store.entry_of` reads one.
        kept: For marks whose question is kept, the last day of that.
    """

    total: int = 0
    unassigned: int = 0
    rows: tuple[tuple[Any, ...], ...] = ()
    kept: Mapping[MarkIdentity, dt.date] = field(default_factory=dict)


def select_issued(environment: Environment, **asked: Any) -> IssuedRows:
    """Return the entries that are searched for, and how many there are.

    Args:
        environment: Whose.
        asked: See :meth:`Register.select`.

    Raises:
        RegisterError: The register is damaged, or the words are no value of the field.
    """
    with open_register(environment, must_exist=False) as register:
        if register is None:
            return IssuedRows()
        with register.held():
            return IssuedRows(
                total=len(register),
                unassigned=register.unassigned(),
                rows=tuple(register.select(**asked)),
                kept=kept_questions(environment),
            )


@contextmanager
def open_register(environment: Environment, *, must_exist: bool) -> Iterator[Register | None]:
    """Lend the register to audits, for reading; nothing that an audit does changes it.

    Args:
        environment: Whose register.
        must_exist: A missing one is an error, as it is when somebody asked for it by name.

    Raises:
        RegisterError: It is damaged, or missing where it may not be.
    """
    path = environment.paths.register
    if path.exists():
        with Register(path, read_only=True) as register:
            yield register
        return
    if must_exist:
        raise RegisterError("command.no-register", code="register-missing")
    yield None

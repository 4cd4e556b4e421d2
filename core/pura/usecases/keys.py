"""Keys: create, import, export, rename, note, derive, delete, and open what holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pura.base.errors import KeyFormatError, KeyStoreError
from pura.base.files import refuse_taken, write_or_refuse
from pura.keys import KeyEntry, KeyFile, KeyRef, Place, Secret, load_key, parse_key
from pura.keys.entries import check_name
from pura.keys.epochs import epoch_key, epoch_of, epochs, kind_of, today
from pura.register.issue_log import Usage, find_usage
from pura.scheme import Profile, SecretKey
from pura.scheme.keys import wipe_buffer
from pura.usecases.environment import Environment

AS_GIVEN: Final = "none"
"""In the place of a range of epochs: keys are taken as they are."""


@dataclass(frozen=True, kw_only=True)
class KeyDone:
    """A key, and where it is now.

    Attributes:
        key: Which.
        entry: What is known of it, where it is stored; None for a key of this run.
        keyring: What the keyring is called that holds it; empty for a key of a file.
        data: The encrypted copy, of an export.
    """

    key: KeyRef
    entry: KeyEntry | None = None
    keyring: str = ""
    data: bytes = b""


def create_key(
    environment: Environment,
    *,
    name: str,
    note: str = "",
    place: Place | None = None,
    session: bool = False,
) -> KeyDone:
    """Make a fresh key and store it.

    Args:
        environment: Where the keys are.
        name: Its name.
        note: For people.
        place: Where it is kept; None takes the keyring, or encrypted files where there is none.
        session: It is not stored at all, and lives for this run only.

    Raises:
        KeyStoreError: The name is taken or unusable, or the store refuses.
    """
    made = KeyFile(key=SecretKey.generate())
    return _keep(environment, made, name, note, place=place, session=session)


def import_key(
    environment: Environment,
    *,
    source: Path | Secret,
    passphrase: Secret | None = None,
    name: str = "",
    note: str = "",
    place: Place | None = None,
    session: bool = False,
) -> KeyDone:
    """Store a key that exists already.

    Args:
        environment: Where the keys are.
        source: A file, or what was typed: hex, base64, or an encrypted key file. What was typed
            is overwritten, unless its passphrase is missing or wrong (``key-file-passphrase``):
            then it can come again with another.
        passphrase: Of an encrypted one.
        name: Its name; empty takes the one that an encrypted file brings.
        note: For people; empty takes the file's.
        place: As for :func:`create_key`.
        session: As for :func:`create_key`.

    Raises:
        KeyFormatError: It is no key, damaged, or its passphrase is wrong or missing.
        KeyStoreError: The name is missing, taken or unusable, or the store refuses.
    """
    found = _read(source, passphrase)
    return _keep(environment, found, name, note, place=place, session=session)


def derive_key(
    environment: Environment,
    *,
    master: str,
    label: str,
    epoch: bool = False,
    name: str = "",
    note: str = "",
    place: Place | None = None,
) -> KeyDone:
    """Derive the key of a deployment or of an epoch from a master key, and store it.

    Args:
        environment: Where the keys are.
        master: Name of the master key.
        label: Name of the deployment; or a day, an ISO week or a month.
        epoch: The label is one of those.
        name: Of the new key; empty takes the master's and the label.
        note: For people.
        place: As for :func:`create_key`.

    Raises:
        KeyStoreError: The master cannot be read, or the new key cannot be stored.
        KeyFormatError: The label is unusable.
    """
    entry = environment.keys.derive(master, label, name, note, place, epoch=epoch)
    return _stored(environment, entry)


def epoch_keys(environment: Environment, refs: Sequence[KeyRef], span: str) -> tuple[KeyRef, ...]:
    """Name the keys of a range of epochs; they are derived where they are opened, and not stored.

    Args:
        environment: Where the keys are.
        refs: Keys that the epochs' keys come from.
        span: ``FROM..TO``.

    Returns:
        The keys of all epochs, each named after its key and the epoch.

    Raises:
        KeyFormatError: The range cannot be read, or is too long.
        KeyStoreError: A key is not here or cannot be read.
    """
    named, found = epochs(span), []
    with environment.opened_keys(refs) as opened:
        for root, label in opened:
            for epoch in named:
                with epoch_key(root, epoch) as key:
                    ref = KeyRef(
                        fingerprint=key.fingerprint,
                        label=f"{label or root.fingerprint} {epoch}",
                        root=root.fingerprint,
                        epoch=epoch,
                    )
                found.append(ref)
    return tuple(found)


def marking_key(environment: Environment, ref: KeyRef, profile: Profile, epoch: str = "") -> KeyRef:
    """Return the key that a text is marked with now.

    Args:
        environment: Where the keys are.
        ref: The key that was named.
        profile: It says whether keys are those of a day, a week or a month.
        epoch: One instead of the present one; ``none`` takes the key as it is.

    Raises:
        KeyFormatError: This is no epoch, or not one of the profile's kind.
        KeyStoreError: The key is not here or cannot be read.
    """
    kind = profile.key_epochs
    if epoch == AS_GIVEN or not (epoch or kind):
        return ref
    if not epoch and environment.epoch_of(ref) is not None:
        return ref
    refuse_kind(profile, epoch)
    (found,) = epoch_keys(environment, [ref], epoch or epoch_of(today(), str(kind)))
    return found


def refuse_kind(profile: Profile, span: str) -> None:
    """Refuse days where a profile says that keys are those of months, and so on.

    Raises:
        KeyFormatError: The range is of another kind than the profile's keys.
    """
    if span and profile.key_epochs not in (None, kind_of(span)):
        raise KeyFormatError("key.epoch", code="key-epoch")


def export_key(
    environment: Environment,
    *,
    name: str,
    passphrase: Secret,
    path: Path | None = None,
    replace: bool = False,
) -> KeyDone:
    """Make an encrypted copy of a key, and write it where a file is named.

    Args:
        environment: Where the keys are.
        name: Of the key.
        passphrase: Of the copy; overwritten when it has been used.
        path: The file; None writes none.
        replace: A file that is there may be replaced.

    Raises:
        KeyStoreError: The key cannot be read, or the file is there or cannot be written.
        KeyFormatError: The passphrase is too short.
    """
    with passphrase.used() as words:
        entry = environment.keys.entry(name)
        if path is not None:
            refuse_taken(path, KeyStoreError, replace=replace)
        data = environment.keys.export(name, words)
    if path is not None:
        write_or_refuse(path, data, KeyStoreError, private=True)
    return _stored(environment, entry, data)


def rename_key(environment: Environment, *, name: str, new: str) -> KeyDone:
    """Give a key another name, one of this run too; its fingerprint stays.

    Raises:
        KeyStoreError: There is no such key, or the new name is taken or unusable.
    """
    here = environment.session_keys
    if here.named(name) is not None:
        return KeyDone(key=here.rename(name, _free(environment, new)))
    if here.named(new.strip()) is not None:
        raise _taken(new)
    return _stored(environment, environment.keys.rename(name, new))


def note_key(environment: Environment, *, name: str, note: str) -> KeyDone:
    """Write a note to a stored key; an empty one takes it off.

    Raises:
        KeyStoreError: There is no such key, or the note is too long.
    """
    return _stored(environment, environment.keys.set_note(name, note))


def delete_key(environment: Environment, *, name: str) -> KeyDone:
    """Delete a key for good, and return what is known of it.

    Texts marked with it can no longer be verified here.

    Raises:
        KeyStoreError: There is no such key, or the store refuses.
    """
    if environment.session_keys.named(name) is not None:
        return KeyDone(key=environment.session_keys.remove(name))
    entry = environment.keys.entry(name)
    environment.keys.delete(name)
    return _stored(environment, entry)


def key_usage(environment: Environment, name: str) -> Usage:
    """Return what refers to a stored key, to be told before it is deleted.

    Raises:
        KeyStoreError: There is no such key.
    """
    entry, paths = environment.keys.entry(name), environment.paths
    return find_usage(entry, environment.keys.list(), paths.profiles, paths.register)


def unlock_files(environment: Environment, *, passphrase: Secret) -> None:
    """Open the folder of encrypted key files for as long as the environment lives.

    Args:
        environment: Whose.
        passphrase: Of the folder; overwritten afterwards.

    Raises:
        KeyStoreError: The passphrase is wrong (``folder-passphrase``), or the folder is damaged.
        KeyFormatError: A new passphrase is too short.
    """
    with passphrase.used() as words:
        try:
            environment.keys.files.unlock(words)
        except KeyFormatError as error:
            if error.code == "key-file-passphrase":
                raise KeyStoreError(error.key, code="folder-passphrase", **error.values) from None
            raise


def unlock_keyring(environment: Environment) -> None:
    """Have the keyring ask for its password.

    Raises:
        KeyStoreError: There is none, or it stays locked or refuses.
    """
    environment.keys.unlock_keyring()


def open_key_file(environment: Environment, path: Path, passphrase: Secret | None = None) -> KeyRef:
    """Read a key from a file for this run only.

    Raises:
        KeyFormatError: It is no key, damaged, or its passphrase is wrong or missing.
    """
    found = _read(path, passphrase)
    return environment.session_keys.add(found.key, found.name or None)


def _keep(
    environment: Environment,
    found: KeyFile,
    name: str,
    note: str,
    *,
    place: Place | None,
    session: bool,
) -> KeyDone:
    with found.key:
        name = name or found.name
        if not name:
            raise KeyStoreError("name.none", code="key-name")
        if not session:
            entry = environment.keys.add(
                name,
                found.key,
                note or found.note,
                role=found.role,
                master=found.master,
                deployment=found.deployment,
                created=found.created,
                place=place,
            )
            return _stored(environment, entry)
        name = _free(environment, name)
        if environment.session_keys.get(found.key.fingerprint) is not None:
            raise _taken(name)
        secret = found.key.copy_secret()
        try:
            return KeyDone(key=environment.session_keys.add(SecretKey(secret), name))
        finally:
            wipe_buffer(secret)


def _free(environment: Environment, name: str) -> str:
    name = check_name(name, environment.keys.list())
    if environment.session_keys.named(name) is not None:
        raise _taken(name)
    return name


def _taken(name: str) -> KeyStoreError:
    return KeyStoreError("name.taken", name=name, code="key-exists")


def _read(source: Path | Secret, passphrase: Secret | None) -> KeyFile:
    ask = None if passphrase is None else passphrase.copy
    try:
        if isinstance(source, Path):
            return load_key(source, ask)
        data = source.copy()
        try:
            found = parse_key(bytes(data), ask)
        except KeyFormatError as error:
            if error.code != "key-file-passphrase":
                source.wipe()
            raise
        finally:
            wipe_buffer(data)
        source.wipe()
        return found
    finally:
        if passphrase is not None:
            passphrase.wipe()


def _stored(environment: Environment, entry: KeyEntry, data: bytes = b"") -> KeyDone:
    store = environment.keys
    return KeyDone(
        key=KeyRef.of(entry),
        entry=entry,
        keyring=store.title if entry.place is Place.KEYRING else "",
        data=data,
    )

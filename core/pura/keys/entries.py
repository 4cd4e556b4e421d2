"""Entries of stored keys without their secrets, and the index file that contains them.

The library cannot list the entries of a keyring. Names, fingerprints, dates and notes, none of
which is secret, are therefore stored in this file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from pura.base.catalogue import phrase
from pura.base.decoder import decode
from pura.base.errors import KeyStoreError
from pura.base.files import file_lock, open_regular, write_atomic
from pura.base.json_text import read_json
from pura.keys.epochs import is_epoch
from pura.scheme import KeyOrigin

MAX_NAME: Final = 80
"""Characters of the name of a key."""
MAX_NOTE: Final = 500
"""Characters of the note on a key."""
_MAX_INDEX: Final = 4 << 20  # bytes of the index file
_PATIENCE: Final = 10.0  # seconds; a change takes milliseconds and shows no prompt


class KeyRole(StrEnum):
    """Role of a key."""

    SINGLE = "single"
    MASTER = "master"
    DERIVED = "derived"


class Place(StrEnum):
    """Kind of store that a secret is kept in."""

    KEYRING = "keyring"
    FILES = "files"


@dataclass(frozen=True, kw_only=True)
class KeyEntry:
    """A stored key, without its secret.

    Attributes:
        name: Label of the key.
        fingerprint: Fingerprint of the key, 16 hex digits.
        created: Time of creation, ISO 8601, UTC.
        note: Note for people.
        role: Single, master (others were derived from it) or derived.
        master: Fingerprint of the key that it was derived from; empty unless derived.
        deployment: Label that it was derived with; empty unless derived.
        place: Kind of store that the secret is kept in.
        account: Name of the secret in that store; entries of the first version used the key's name.
    """

    name: str
    fingerprint: str
    created: str
    note: str = ""
    role: KeyRole = KeyRole.SINGLE
    master: str = ""
    deployment: str = ""
    place: Place = Place.KEYRING
    account: str = ""

    @property
    def slot(self) -> str:
        """Name of the secret in its store."""
        return self.account or self.name

    @property
    def origin(self) -> KeyOrigin | None:
        """The key and the epoch that the key was derived from; None for any other key.

        The key of a deployment has no such origin: its label is not an epoch, since
        :meth:`KeyStore.derive` refuses such labels.
        """
        return origin_of(self.role, self.master, self.deployment)


def origin_of(role: KeyRole, master: str, deployment: str) -> KeyOrigin | None:
    """Return the origin of a stored key or a key file that was derived for an epoch, or None."""
    if role is not KeyRole.DERIVED or not master or not is_epoch(deployment):
        return None
    return KeyOrigin(parent=master, epoch=deployment)


class Index:
    """The index file.

    Args:
        path: Path of the file, which is created with the first key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._path

    def read(self) -> tuple[KeyEntry, ...]:
        """Return all entries, by name.

        Raises:
            KeyStoreError: The file is damaged.
        """
        try:
            with open_regular(self._path) as file:
                rows = read_json(file.read(_MAX_INDEX).decode("utf-8"))
            entries = decode(tuple[KeyEntry, ...], rows, sparse=True)
            if len({entry.name for entry in entries}) != len(entries):
                raise ValueError("a name twice")
        except FileNotFoundError:
            if self._path.is_symlink():  # to nowhere: writing would put another list in its place
                raise KeyStoreError("key.list-damaged", code="key-index-damaged") from None
            return ()
        except (OSError, ValueError, RecursionError):
            raise KeyStoreError("key.list-damaged", code="key-index-damaged") from None
        return tuple(sorted(entries, key=lambda entry: entry.name.casefold()))

    def change(
        self, change: Callable[[tuple[KeyEntry, ...]], tuple[KeyEntry, ...]]
    ) -> tuple[KeyEntry, ...]:
        """Read, change and write the entries under a lock.

        Args:
            change: Returns the new entries for the present ones. If it raises, nothing changes. It
                must not prompt the user, since other programs wait.

        Returns:
            The entries before the change.

        Raises:
            KeyStoreError: The folder is not writable, or another program does not finish its
                change.
        """
        try:
            lock = file_lock(self._path.with_suffix(".lock"), _PATIENCE)
            lock.acquire()
        except TimeoutError:
            raise KeyStoreError("key.list-busy", code="key-index-busy") from None
        except OSError as error:
            raise _unwritable(error) from None
        try:
            before = self.read()
            self._write(change(before))
        finally:
            lock.release()
        return before

    def _write(self, entries: tuple[KeyEntry, ...]) -> None:
        text = json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=2)
        try:
            write_atomic(self._path, text.encode(), private=True)
        except OSError as error:
            raise _unwritable(error) from None


def _unwritable(error: OSError) -> KeyStoreError:
    return KeyStoreError("key.list-write", why=error.errno or 0, code="key-index")


def check_name(name: str, entries: tuple[KeyEntry, ...] = ()) -> str:
    """Return a name without blanks around it, if a new key may have it.

    Raises:
        KeyStoreError: The name is empty, too long, not printable, or already used.
    """
    name = name.strip()
    refuse_secret(name)
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise KeyStoreError("name.form", most=MAX_NAME, code="key-name")
    if any(entry.name == name for entry in entries):
        raise KeyStoreError("name.taken", name=name, code="key-exists")
    return name


def refuse_secret(text: str) -> None:
    """Require a text without anything like a secret: 64 hex digits, or base64 of 32 bytes.

    Raises:
        KeyStoreError: The text contains such digits; the error does not repeat them.
    """
    bare = re.sub(r"[\s:]", "", text)
    if re.search(r"[0-9A-Fa-f]{64}", bare) or any(
        re.search(r"\d", token) and re.search(r"[a-z]", token) and re.search(r"[A-Z]", token)
        for token in re.findall(r"(?<![\w+/-])[\w+/-]{43}=?(?![\w+/=-])", text, re.ASCII)
    ):
        raise KeyStoreError("key.secret-words", code="key-name")


def no_such_key(name: str, key_names: Iterable[str]) -> KeyStoreError:
    """Return the error for an unknown key, with the names of the known ones."""
    names = ", ".join(key_names) or phrase("key.none-known")
    return KeyStoreError("key.unknown", name=name, known=names, code="key-not-found")


def check_note(note: str) -> str:
    """Return a note on one line.

    Raises:
        KeyStoreError: It is too long.
    """
    refuse_secret(note)
    note = " ".join(note.split())
    if len(note) > MAX_NOTE:
        raise KeyStoreError("words.long", most=MAX_NOTE, count=len(note), code="key-note")
    return note

"""What is known of a key without its secret, and the index file that holds it.

Keyrings cannot be listed through the library; names, fingerprints, dates and notes (nothing
secret) stand in this file.
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
MAX_NOTE: Final = 500
_MAX_INDEX: Final = 4 << 20
_PATIENCE: Final = 10.0  # a change takes milliseconds; no prompt stands open while one is made


class KeyRole(StrEnum):
    """What a key is for."""

    SINGLE = "single"
    MASTER = "master"
    DERIVED = "derived"


class Place(StrEnum):
    """Where a secret is kept."""

    KEYRING = "keyring"
    FILES = "files"


@dataclass(frozen=True, kw_only=True)
class KeyEntry:
    """A stored key, without its secret.

    Attributes:
        name: Its label.
        fingerprint: 16 hex digits.
        created: ISO 8601, UTC.
        note: For people.
        role: Single, master (others were derived from it) or derived.
        master: Fingerprint of the key it was derived from; empty unless derived.
        deployment: Label it was derived with; empty unless derived.
        place: Where the secret is kept.
        account: Its name inside that place; entries of the first version used the key's name.
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
        """The name of the secret inside its place."""
        return self.account or self.name

    @property
    def origin(self) -> KeyOrigin | None:
        """The key and the epoch that it was derived from; None for a key of its own.

        A key of a deployment is one of its own: its label is no epoch (:meth:`KeyStore.derive`
        refuses such labels).
        """
        return origin_of(self.role, self.master, self.deployment)


def origin_of(role: KeyRole, master: str, deployment: str) -> KeyOrigin | None:
    """Return what a stored key or a key file says of the epoch that its key was derived for."""
    if role is not KeyRole.DERIVED or not master or not is_epoch(deployment):
        return None
    return KeyOrigin(parent=master, epoch=deployment)


class Index:
    """The index file.

    Args:
        path: Where it is; made with the first key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._path

    def read(self) -> tuple[KeyEntry, ...]:
        """Return all entries, by name.

        Raises:
            KeyStoreError: The file is damaged.
        """
        try:
            with open_regular(self._path) as file:
                data = read_json(file.read(_MAX_INDEX).decode("utf-8"))
            found = decode(tuple[KeyEntry, ...], data, sparse=True)
            if len({entry.name for entry in found}) != len(found):
                raise ValueError("a name twice")
        except FileNotFoundError:
            if self._path.is_symlink():  # to nowhere: writing would put another list in its place
                raise KeyStoreError("key.list-damaged", code="key-index-damaged") from None
            return ()
        except (OSError, ValueError, RecursionError):
            raise KeyStoreError("key.list-damaged", code="key-index-damaged") from None
        return tuple(sorted(found, key=lambda entry: entry.name.casefold()))

    def change(
        self, change: Callable[[tuple[KeyEntry, ...]], tuple[KeyEntry, ...]]
    ) -> tuple[KeyEntry, ...]:
        """Read the entries, change them and write them, while no other program does.

        Args:
            change: Gives the new entries for the present ones; what it raises changes nothing.
                It must ask nobody anything, since other programs wait.

        Returns:
            The entries that were there before.

        Raises:
            KeyStoreError: The folder cannot be written, or another program does not come to an
                end with its change.
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
    """Return a name without blanks around it, if a new key may carry it.

    Raises:
        KeyStoreError: It is empty, too long, not printable, or taken.
    """
    name = name.strip()
    refuse_secret(name)
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise KeyStoreError("name.form", most=MAX_NAME, code="key-name")
    if any(entry.name == name for entry in entries):
        raise KeyStoreError("name.taken", name=name, code="key-exists")
    return name


def refuse_secret(words: str) -> None:
    """Refuse words that hold what could be a secret: 64 hex digits, or base64 of 32 bytes.

    Raises:
        KeyStoreError: They do; the words are not repeated.
    """
    bare = re.sub(r"[\s:]", "", words)
    if re.search(r"[0-9A-Fa-f]{64}", bare) or any(
        re.search(r"\d", token) and re.search(r"[a-z]", token) and re.search(r"[A-Z]", token)
        for token in re.findall(r"(?<![\w+/-])[\w+/-]{43}=?(?![\w+/=-])", words, re.ASCII)
    ):
        raise KeyStoreError("key.secret-words", code="key-name")


def no_such_key(name: str, known: Iterable[str]) -> KeyStoreError:
    """Return the error of a key that is not here, with the names of those that are."""
    names = ", ".join(known) or phrase("key.none-known")
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

"""The key store: keys by name, over the keyring and the folder of encrypted files.

New keys go to the keyring; to the files where there is none or where that is asked for. The index
says for every key where its secret is, so that nothing is lost from sight when a keyring comes or
goes.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from pura.base.errors import KeyFormatError, KeyStoreError
from pura.keys.backends import CODES, Backend, Keyring, State, exposures, fault, find_backend
from pura.keys.entries import (
    Index,
    KeyEntry,
    KeyRole,
    Place,
    check_name,
    check_note,
    no_such_key,
    refuse_secret,
)
from pura.keys.epochs import deployment_label, derive_key, epoch_key, first_day, is_epoch
from pura.keys.folder import KeyFolder
from pura.keys.sealed import SUFFIX, USUAL, Cost, KeyFile, check_passphrase, write_key_file
from pura.scheme import SecretKey

_log = logging.getLogger(__name__)

NO_STORE: Final = "none"


class KeyStore:
    """Keys by name.

    Args:
        index: Path of the index file (nothing secret in it).
        backend: A keyring backend; found from the allow-list when left out.
        title: How the backend is called on screen.
        files: The folder of encrypted files; beside the index when left out.
        find: Finds a backend; another one for machines without.
        now: The clock.
    """

    def __init__(
        self,
        index: Path,
        backend: Backend | None = None,
        title: str = "",
        *,
        files: KeyFolder | None = None,
        find: Callable[[], tuple[Backend, str] | None] = find_backend,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self._index = Index(index)
        self._now = now
        if backend is None and (found := find()) is not None:
            backend, title = found
        self._keyring = None if backend is None else Keyring(backend, title)
        self.files = files if files is not None else KeyFolder(index.parent / "keys")

    @property
    def title(self) -> str:
        """How the store that new keys go to is called on screen; "none" when there is none."""
        if self._keyring is not None:
            return self._keyring.title
        return self.files.title if self.files.exists else NO_STORE

    @property
    def has_keyring(self) -> bool:
        """Whether this computer offers a keyring."""
        return self._keyring is not None

    def state(self) -> State:
        """Say what state the store is in; nobody is asked for anything."""
        return self._keyring.state() if self._keyring is not None else self.files.state()

    @property
    def place(self) -> Place | None:
        """Where new keys go; None when there is nothing yet."""
        return Place.KEYRING if self._keyring else Place.FILES if self.files.exists else None

    def list(self) -> tuple[KeyEntry, ...]:
        """Return the known keys by name; the secrets are not touched.

        Raises:
            KeyStoreError: The index file is damaged.
        """
        return self._index.read()

    def exposures(self) -> tuple[KeyStoreError, ...]:
        """Return what of the store others on this computer get at; the keyring guards itself."""
        inside = sorted(self.files.path.glob(f"*{SUFFIX}"))
        return tuple(exposures(self._index.path, self.files.path, *inside))

    def entry(self, name: str) -> KeyEntry:
        """Return what is known of one key.

        Raises:
            KeyStoreError: There is no key of this name.
        """
        return _find(self.list(), name)

    def get(self, name: str) -> SecretKey:
        """Return a secret key; whoever calls this wipes it.

        Raises:
            KeyStoreError: No keyring, locked, denied, not found or damaged: each in its words.
        """
        return self.open(self.entry(name))

    def open(self, entry: KeyEntry) -> SecretKey:
        """Return the secret key of an entry, as :meth:`get` does, without looking it up again.

        Raises:
            KeyStoreError: As there.
        """
        place = self._place(entry.place)
        key = place.read(entry.slot, entry.name)
        if key is None:
            raise fault(State.NOT_FOUND, place.title, entry.name)
        if key.fingerprint != entry.fingerprint:
            key.wipe()
            raise KeyStoreError("key.replaced", name=entry.name, code="key-damaged")
        key.note_origin(entry.origin)
        return key

    def unlock_keyring(self) -> None:
        """Have the keyring ask for its password, by wanting an entry.

        Raises:
            KeyStoreError: There is none, or it stays locked or refuses.
        """
        if self._keyring is None:
            raise fault(State.NO_BACKEND, NO_STORE)
        nothing = self._keyring.read("state", "")
        if nothing is not None:
            nothing.wipe()

    def check(self, name: str) -> tuple[State, KeyStoreError | None]:
        """Read one key and say what state its entry is in.

        Raises:
            KeyStoreError: There is no key of this name in the list.
        """
        self.entry(name)
        try:
            self.get(name).wipe()
        except KeyStoreError as error:
            states = {code: state for state, code in CODES.items()}
            return states.get(error.code, State.DENIED), error
        return State.READY, None

    def add(
        self,
        name: str,
        key: SecretKey,
        note: str = "",
        *,
        role: KeyRole = KeyRole.SINGLE,
        master: str = "",
        deployment: str = "",
        created: str = "",
        place: Place | None = None,
    ) -> KeyEntry:
        """Store a key under a new name.

        Args:
            name: The new name.
            key: The secret; it stays the caller's.
            note: For people.
            role: Single, master or derived.
            master: Fingerprint of its master.
            deployment: Label it was derived with.
            created: ISO 8601; now, when left out.
            place: Where to keep it; the keyring if there is one, when left out.

        Raises:
            KeyStoreError: The name is taken or unusable, the key is known under another name, or
                the store refuses.
        """
        name, note = _check_new(self.list(), name, key.fingerprint), check_note(note)
        wanted = place
        if place is None:
            place = Place.KEYRING if self._keyring is not None else Place.FILES
        try:
            self._place(place).write(key.fingerprint, key, name)
        except KeyStoreError as error:
            # Nobody asked for files, and nobody is there to choose their passphrase.
            if wanted is None and error.code == "passphrase-missing":
                raise fault(State.NO_BACKEND, NO_STORE) from None
            raise
        entry = KeyEntry(
            name=name,
            fingerprint=key.fingerprint,
            note=note,
            role=role,
            master=master,
            created=created or self._now().isoformat(timespec="seconds"),
            deployment=deployment,
            place=place,
            account=key.fingerprint,
        )
        try:
            # Checked again: a prompt may have stood open meanwhile, and another program added one.
            self._index.change(lambda entries: _with_new(entries, entry))
        except KeyStoreError:
            if not self._is_listed(entry):
                self._place(place).remove(key.fingerprint, name)  # else nobody would know of it
            raise
        _log.info("a key was stored: %s, %s", role.value, place.value)
        return entry

    def rename(self, name: str, new: str) -> KeyEntry:
        """Give a key another name; the secret stays where it is.

        Raises:
            KeyStoreError: There is no such key, or the new name is taken or unusable.
        """

        def renamed(entry: KeyEntry, entries: tuple[KeyEntry, ...]) -> KeyEntry:
            others = tuple(e for e in entries if e is not entry)
            return replace(entry, name=check_name(new, others), account=entry.slot)

        return self._change(name, renamed)

    def set_note(self, name: str, note: str) -> KeyEntry:
        """Change the note of a key.

        Raises:
            KeyStoreError: There is no such key, or the note is too long.
        """
        note = check_note(note)
        return self._change(name, lambda entry, _: replace(entry, note=note))

    def derive(
        self,
        master: str,
        label: str,
        name: str = "",
        note: str = "",
        place: Place | None = None,
        *,
        epoch: bool = False,
    ) -> KeyEntry:
        """Derive the key of a deployment or of an epoch, store it, and mark the master as one.

        Args:
            master: Name of the master key.
            label: Name of the deployment; or the epoch.
            name: Name of the new key; master and label when left out.
            note: For people.
            place: Where to keep it.
            epoch: The label is a day, a week or a month.

        Raises:
            KeyStoreError: The master cannot be read, or the new key cannot be stored.
            KeyFormatError: The label is unusable.
        """
        parent = self.entry(master)
        if parent.role is KeyRole.DERIVED:
            raise KeyStoreError("key.role", master=master, code="key-role")
        label = deployment_label(label)
        make = epoch_key if epoch else derive_key
        if epoch:
            first_day(label)
        elif is_epoch(label):
            raise KeyFormatError("key.epoch-label", label=label, code="key-epoch-label")
        with self.get(master) as secret, make(secret, label) as key:
            entry = self.add(
                name or f"{master}/{label}",
                key,
                note,
                role=KeyRole.DERIVED,
                master=parent.fingerprint,
                deployment=label,
                place=place,
            )
        # By fingerprint: another program may have renamed the master, or deleted it.
        self._index.change(
            lambda entries: tuple(
                replace(e, role=KeyRole.MASTER) if e.fingerprint == parent.fingerprint else e
                for e in entries
            )
        )
        return entry

    def export(self, name: str, passphrase: bytearray, *, cost: Cost = USUAL) -> bytes:
        """Return the encrypted file of a key.

        Raises:
            KeyStoreError: The key cannot be read.
            KeyFormatError: The passphrase is too short.
        """
        check_passphrase(passphrase)
        with self.get(name) as key:
            return write_key_file(KeyFile.of(key, self.entry(name)), passphrase, cost=cost)

    def delete(self, name: str) -> None:
        """Remove a key for good.

        Raises:
            KeyStoreError: There is no such key, or the store refuses.
        """
        entry = self.entry(name)
        # The secret goes first, and outside the lock: the store may ask for a password, or refuse,
        # and then the key stays listed. By fingerprint, since it may be renamed meanwhile.
        self._place(entry.place).remove(entry.slot, name)
        self._index.change(
            lambda entries: tuple(
                e
                for e in entries
                if (e.fingerprint, e.created) != (entry.fingerprint, entry.created)
            )
        )
        _log.info("a key was deleted: %s, %s", entry.role.value, entry.place.value)

    def _change(
        self, name: str, change: Callable[[KeyEntry, tuple[KeyEntry, ...]], KeyEntry]
    ) -> KeyEntry:
        changed: list[KeyEntry] = []

        def all_of(entries: tuple[KeyEntry, ...]) -> tuple[KeyEntry, ...]:
            old = _find(entries, name)
            changed.append(change(old, entries))
            return tuple(changed[0] if e is old else e for e in entries)

        self._index.change(all_of)
        return changed[0]

    def _is_listed(self, entry: KeyEntry) -> bool:
        """Say whether an entry holds this very secret: another program added the same key."""
        place = (entry.place, entry.slot)
        return any((e.place, e.slot) == place for e in self.list())

    def _place(self, place: Place) -> Keyring | KeyFolder:
        if place is Place.FILES:
            return self.files
        if self._keyring is None:
            raise fault(State.NO_BACKEND, NO_STORE)
        return self._keyring


def _find(entries: tuple[KeyEntry, ...], name: str) -> KeyEntry:
    for entry in entries:
        if entry.name == name:
            return entry
    refuse_secret(name)  # a secret that was typed for a name is not repeated on the screen
    raise no_such_key(name, (e.name for e in entries))


def _check_new(entries: tuple[KeyEntry, ...], name: str, fingerprint: str) -> str:
    """Return a name that a new key may carry.

    Raises:
        KeyStoreError: The name is unusable or taken, or the key is known under another one.
    """
    name = check_name(name, entries)
    for known in entries:
        if known.fingerprint == fingerprint:
            raise KeyStoreError("key.known", name=known.name, code="key-known")
    return name


def _with_new(entries: tuple[KeyEntry, ...], entry: KeyEntry) -> tuple[KeyEntry, ...]:
    _check_new(entries, entry.name, entry.fingerprint)
    return (*entries, entry)

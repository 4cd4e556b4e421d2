"""Secret keys in the operating system's keyring.

The backend is built from an allow-list by name. Neither ``PYTHON_KEYRING_BACKEND`` nor a
``keyringrc.cfg`` can swap in another: the library's own choice is never asked. There is no
plaintext fallback; where there is no keyring the caller hears so.

Names, fingerprints and dates (nothing secret) stand in a small index file, because keyrings
cannot be listed through the library.
"""

from __future__ import annotations

import datetime as dt
import importlib
import json
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

from pura.audit.files import write_atomic
from pura.errors import KeyFormatError, KeyStoreError
from pura.scheme import SecretKey

SERVICE: Final = "pura-audit"
MAX_NAME: Final = 80
# Windows' Credential Manager stores UTF-16 and fails above about 1 280 characters.
MAX_ENTRY: Final = 1_200
_ENTRY_VERSION: Final = 1

_ALLOWED: Final = {
    "linux": (
        ("keyring.backends.SecretService", "Keyring", "Secret Service"),
        ("keyring.backends.kwallet", "DBusKeyring", "KWallet"),
    ),
    "darwin": (("keyring.backends.macOS", "Keyring", "macOS Keychain"),),
    "win32": (("keyring.backends.Windows", "WinVaultKeyring", "Windows Credential Manager"),),
}


class State(StrEnum):
    """What state the key store is in."""

    READY = "ready"
    NO_BACKEND = "no-backend"
    LOCKED = "locked"
    DENIED = "denied"


class Backend(Protocol):
    """The three verbs of a keyring backend that are used."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the stored text, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a text."""

    def delete_password(self, service: str, username: str) -> None:
        """Remove a text."""


@dataclass(frozen=True, kw_only=True)
class KeyEntry:
    """A stored key, without its secret.

    Attributes:
        name: Its label.
        fingerprint: 16 hex digits.
        created: ISO 8601, UTC.
        note: For people.
    """

    name: str
    fingerprint: str
    created: str
    note: str = ""


def find_backend() -> tuple[Any, str] | None:
    """Return the first allow-listed backend that works here and its name, or None."""
    platform = sys.platform if sys.platform in _ALLOWED else "linux"
    for module_name, class_name, title in _ALLOWED[platform]:
        try:
            kind = getattr(importlib.import_module(module_name), class_name)
            if kind.priority <= 0:
                continue
            return kind(), title
        except Exception:  # noqa: S112 - a backend that cannot start says so in many ways
            continue
    return None


class KeyStore:
    """Keys by name.

    Args:
        index: Path of the index file (nothing secret in it).
        backend: A keyring backend; found from the allow-list when left out.
        title: How the backend is called on screen.
    """

    def __init__(self, index: Path, backend: Backend | None = None, title: str = "") -> None:
        self._index = index
        if backend is None and (found := find_backend()) is not None:
            backend, title = found
        self._backend = backend
        self.title = title if backend is not None else "none"

    @property
    def available(self) -> bool:
        """Whether there is a keyring at all."""
        return self._backend is not None

    def state(self) -> State:
        """Say what state the keyring is in, by asking it for an entry that need not be there."""
        if self._backend is None:
            return State.NO_BACKEND
        try:
            self._backend.get_password(SERVICE, "state")
        except Exception as error:
            return State.LOCKED if _looks_locked(error) else State.DENIED
        return State.READY

    def list(self) -> tuple[KeyEntry, ...]:
        """Return the known keys by name; the secrets are not touched.

        Raises:
            KeyStoreError: The index file is damaged.
        """
        try:
            data = json.loads(self._index.read_text(encoding="utf-8"))
            return tuple(sorted((KeyEntry(**row) for row in data), key=lambda e: e.name.casefold()))
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, TypeError):
            raise KeyStoreError(
                "The list of key names is damaged; the keys themselves are not affected.",
                "Move the file keys.json out of the configuration folder and import the keys "
                "again.",
                code="key-index",
            ) from None

    def entry(self, name: str) -> KeyEntry:
        """Return what is known of one key.

        Raises:
            KeyStoreError: There is no key of this name.
        """
        for entry in self.list():
            if entry.name == name:
                return entry
        known = ", ".join(e.name for e in self.list()) or "none"
        raise KeyStoreError(
            f"There is no key named “{name}”.", f"Known keys: {known}.", code="key-not-found"
        )

    def get(self, name: str) -> SecretKey:
        """Return a secret key.

        Raises:
            KeyStoreError: No keyring, locked, denied, not found or damaged: each in its words.
        """
        entry = self.entry(name)
        stored = self._call("get_password", name)
        if stored is None:
            raise KeyStoreError(
                f"The keyring no longer holds the key “{name}”.",
                "It may have been removed by another program; import it again.",
                code="key-not-found",
            )
        key = _parse_entry(stored, name)
        if key.fingerprint != entry.fingerprint:
            raise KeyStoreError(
                f"The key “{name}” in the keyring is not the one that was stored there.",
                "Another program has replaced it; import the right key again.",
                code="key-damaged",
            )
        return key

    def add(self, name: str, key: SecretKey, note: str = "") -> KeyEntry:
        """Store a key under a new name.

        Raises:
            KeyStoreError: The name is taken or unusable, or the keyring refuses.
        """
        _check_name(name)
        if any(e.name == name for e in self.list()):
            raise KeyStoreError(
                f"There already is a key named “{name}”.",
                "Choose another name, or delete the old key first.",
                code="key-exists",
            )
        text = json.dumps({"v": _ENTRY_VERSION, "key": key.to_hex()})
        self._call("set_password", name, text)
        created = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        entry = KeyEntry(name=name, fingerprint=key.fingerprint, created=created, note=note)
        self._write((*self.list(), entry))
        return entry

    def delete(self, name: str) -> None:
        """Remove a key for good.

        Raises:
            KeyStoreError: There is no such key, or the keyring refuses.
        """
        self.entry(name)
        if self._call("get_password", name) is not None:
            self._call("delete_password", name)
        self._write(tuple(e for e in self.list() if e.name != name))

    def _write(self, entries: tuple[KeyEntry, ...]) -> None:
        text = json.dumps([asdict(e) for e in entries], ensure_ascii=False, indent=2)
        write_atomic(self._index, text.encode(), private=True)

    def _call(self, verb: str, name: str, *values: str) -> str | None:
        if self._backend is None:
            raise KeyStoreError(
                "This computer offers no keyring (Secret Service, KWallet, Keychain or "
                "Credential Manager).",
                "Start one and log in again, or give a key file for this run.",
                code="no-keyring",
            )
        if values and len(values[0]) > MAX_ENTRY:
            raise KeyStoreError(
                "The entry is too long for this keyring.", "Store the key alone.", code="key-long"
            )
        try:
            result: str | None = getattr(self._backend, verb)(SERVICE, name, *values)
        except Exception as error:
            raise _refused(error, self.title) from None
        return result


def _looks_locked(error: Exception) -> bool:
    return "locked" in type(error).__name__.lower() or "unlock" in str(error).lower()


def _refused(error: Exception, title: str) -> KeyStoreError:
    if _looks_locked(error):
        return KeyStoreError(
            f"The keyring ({title}) is locked.",
            "Unlock it (log in to your desktop session again), then try once more.",
            code="keyring-locked",
        )
    return KeyStoreError(
        f"The keyring ({title}) refused the request: {type(error).__name__}.",
        "Allow this program to use it, or ask whoever manages this computer.",
        code="keyring-denied",
    )


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise KeyStoreError(
            f"A key's name has 1 to {MAX_NAME} printable characters.",
            "Choose a short name, such as “Newsroom 2026”.",
            code="key-name",
        )


def _parse_entry(stored: str, name: str) -> SecretKey:
    try:
        data = json.loads(stored)
        if data["v"] != _ENTRY_VERSION:
            raise ValueError
        return SecretKey.from_hex(data["key"])
    except (ValueError, TypeError, KeyError, KeyFormatError):
        raise KeyStoreError(
            f"The entry of the key “{name}” in the keyring is damaged.",
            "Delete it and import the key again.",
            code="key-damaged",
        ) from None

"""The operating system's keyring, by allow-list.

The backend is built by name from the list. Neither ``PYTHON_KEYRING_BACKEND`` nor a
``keyringrc.cfg`` can swap in another: the library's own choice is never asked. Nor can a
``KEYRING_PROPERTY_…`` variable bend the one that was built (another collection, another keychain):
what the library took from the environment is taken off again. There is no plaintext fallback.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from contextlib import closing
from typing import Any, Final, Protocol

from pura.base.errors import KeyFormatError
from pura.keys.faults import State, classify, fault
from pura.keys.watch import watched
from pura.scheme import SecretKey

SERVICE: Final = "pura-audit"
# Windows' Credential Manager stores UTF-16 and fails above about 1 280 characters.
MAX_ENTRY: Final = 1_200
_ENTRY_VERSION: Final = 1
_PROPERTY: Final = "KEYRING_PROPERTY_"
_ALLOWED: Final = {
    "linux": (
        ("keyring.backends.SecretService", "Keyring", "Secret Service"),
        ("keyring.backends.kwallet", "DBusKeyring", "KWallet"),
    ),
    "darwin": (("keyring.backends.macOS", "Keyring", "macOS Keychain"),),
    "win32": (("keyring.backends.Windows", "WinVaultKeyring", "Windows Credential Manager"),),
}


class Backend(Protocol):
    """The three verbs of a keyring backend that are used."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the stored text, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a text."""

    def delete_password(self, service: str, username: str) -> None:
        """Remove a text."""


def find_backend() -> tuple[Any, str] | None:
    """Return the first allow-listed backend that works here and its name, or None."""
    platform = sys.platform if sys.platform in _ALLOWED else "linux"
    for module_name, class_name, title in _ALLOWED[platform]:
        try:
            kind = getattr(importlib.import_module(module_name), class_name)
            if kind.priority <= 0:
                continue
            return _unbent(kind()), title
        except Exception:  # noqa: S112 - a backend that cannot start says so in many ways
            continue
    return None


def _unbent(backend: Any) -> Any:
    """Take off what the library's constructor took from the environment."""
    for variable in os.environ:
        if variable.startswith(_PROPERTY):
            vars(backend).pop(variable.removeprefix(_PROPERTY).lower(), None)
    return backend


class Keyring:
    """Secrets in a keyring backend.

    Args:
        backend: One of the allow-list.
        title: How it is called on screen.
    """

    def __init__(self, backend: Backend, title: str) -> None:
        self._backend = backend
        self._is_service = type(backend).__module__ == "keyring.backends.SecretService"
        self.title = title
        self._one = threading.Lock()  # each request to the service has a connection of its own

    def state(self) -> State:
        """Say what state the keyring is in, without bringing up a prompt where that is possible."""
        try:
            if self._is_service:
                return watched(_secret_service_state)
            with self._one:
                self._backend.get_password(SERVICE, "state")
        except Exception as error:
            return classify(error)
        return State.READY

    def read(self, slot: str, name: str) -> SecretKey | None:
        """Return a secret, None when there is none.

        Raises:
            KeyStoreError: Locked, denied or damaged.
        """
        stored = self._call("get_password", slot, name)
        return None if stored is None else self._parse(stored, name)

    def write(self, slot: str, key: SecretKey, name: str) -> None:
        """Store a secret.

        Raises:
            KeyStoreError: Locked, denied or too long.
        """
        text = json.dumps({"v": _ENTRY_VERSION, "key": key.to_hex()})
        if len(slot) + len(text) > MAX_ENTRY:
            raise fault(State.TOO_LONG, self.title, name)
        self._call("set_password", slot, name, text)

    def remove(self, slot: str, name: str) -> None:
        """Remove a secret; nothing happens when there is none.

        Raises:
            KeyStoreError: Locked or denied.
        """
        if self._call("get_password", slot, name) is not None:
            self._call("delete_password", slot, name)

    def _call(self, verb: str, slot: str, name: str, *values: str) -> str | None:
        def call() -> str | None:
            result: str | None = getattr(self._backend, verb)(SERVICE, slot, *values)
            return result

        try:
            if self._is_service:
                return watched(call)
            with self._one:
                return call()
        except Exception as error:
            state = classify(error)
            detail = type(error).__name__ if state is State.DENIED else ""
            raise fault(state, self.title, name, detail=detail) from None

    def _parse(self, stored: str, name: str) -> SecretKey:
        try:
            data = json.loads(stored)
            if data["v"] != _ENTRY_VERSION:
                raise ValueError
            return SecretKey.from_hex(data["key"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, KeyFormatError):
            raise fault(State.DAMAGED, self.title, name) from None


def _secret_service_state() -> State:
    # Asking for an entry would make the desktop ask for a password; asking for the lock does not.
    import secretstorage

    try:
        with closing(secretstorage.dbus_init()) as bus:
            # Asking for the default collection would make one, with a prompt for its password.
            collection = secretstorage.get_collection_by_alias(bus, "default")
            return State.LOCKED if collection.is_locked() else State.READY
    except secretstorage.ItemNotFoundException:
        return State.READY  # a new user's: the desktop makes it with the first key

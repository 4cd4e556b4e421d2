"""The operating system's keyring, by allow-list.

The backend is built by name from the list. Neither ``PYTHON_KEYRING_BACKEND`` nor a
``keyringrc.cfg`` can swap in another: the library's own choice is never asked. Nor can a
``KEYRING_PROPERTY_…`` variable bend the one that was built (another collection, another keychain):
what the library took from the environment is taken off again. There is no plaintext fallback.

The states of a place, each with its sentence and its way out, stand here too, and so does the wait
for the Secret Service. A question of the service to its user may stand open as long as the user
likes. But a service that ends while it is asked, or hangs, never answers, and the library waits for
ever. So each request runs on a thread of its own, and beside it the service is asked whether it is
still there; one that shows a question says so at once.
"""

from __future__ import annotations

import importlib
import json
import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import KeyFormatError, KeyStoreError
from pura.base.files import exposed
from pura.scheme import SecretKey

Result = TypeVar("Result")
_NAME: Final = "org.freedesktop.secrets"
_BUS: Final = "org.freedesktop.DBus"
_GLANCE: Final = 0.2
THREAD: Final = "secret-service"
"""Name of the threads that wait for the service."""
patience: float = 10.0
"""Seconds in which a service that lives says so."""


def watched(call: Callable[[], Result]) -> Result:
    """Return what a request to the Secret Service gives.

    Raises:
        ConnectionError: The service does not answer any more.
        Exception: As the request raises it.
    """
    from jeepney.io.blocking import open_dbus_connection

    answer: list[Result] = []
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            answer.append(call())
        except BaseException as error:
            errors.append(error)

    try:
        connection = open_dbus_connection("SESSION")
    except OSError:
        raise ConnectionError from None  # the bus itself
    with closing(connection) as bus:
        # Found before the request: later the name may be another's, started in its place.
        owner = _owner(bus)
        # A request that never comes back must not hold the program up when it ends.
        thread = threading.Thread(target=ask, name=THREAD, daemon=True)
        thread.start()
        thread.join(_GLANCE)
        while thread.is_alive():
            if not _lives(bus, owner):
                raise ConnectionError
            thread.join(_GLANCE)
    if errors:
        raise errors[0]
    return answer[0]


def _owner(bus: Any) -> str:
    """Return the address of the service itself; it is started where the bus can do that."""
    _ask(bus, _BUS, "/org/freedesktop/DBus", _BUS, "StartServiceByName", "su", _NAME, 0)
    answer = _ask(bus, _BUS, "/org/freedesktop/DBus", _BUS, "GetNameOwner", "s", _NAME)
    return str(answer[0]) if answer else ""


def _lives(bus: Any, owner: str) -> bool:
    peer = "org.freedesktop.DBus.Peer"
    return bool(owner) and _ask(bus, owner, "/", peer, "Ping", "") is not None


def _ask(
    bus: Any, whom: str, path: str, interface: str, method: str, signature: str, *values: object
) -> tuple[Any, ...] | None:
    """Return what a program on the bus answers; None where it refuses or does not answer."""
    from jeepney import DBusAddress, MessageType, new_method_call

    request = new_method_call(DBusAddress(path, whom, interface), method, signature, values)
    try:
        answer = bus.send_and_get_reply(request, timeout=patience)
    except (TimeoutError, OSError):
        return None
    if answer.header.message_type is MessageType.error:
        return None
    return tuple(answer.body)


def exposures(*paths: Path) -> Iterator[KeyStoreError]:
    """Say of each file and folder whether others get at it, with the command that mends it.

    A pipe, as a shell opens one for a single reading, is open to nobody else.
    """
    for path in paths:
        if path.is_symlink():
            target = path.resolve()
            link, real = shlex.quote(str(path)), shlex.quote(str(target))
            yield KeyStoreError(
                "keystore.link",
                name=str(path),
                target=str(target),
                command=f"rm {link} && mv {real} {link}",
                code="key-link",
            )
        if (path.is_file() or path.is_dir()) and (command := exposed(path)):
            yield KeyStoreError(
                "keystore.exposed", name=str(path), command=command, code="key-exposed"
            )


class State(StrEnum):
    """What state the key store, or one of its entries, is in."""

    READY = "ready"
    NO_BACKEND = "no-backend"
    LOCKED = "locked"
    DENIED = "denied"
    GONE = "gone"
    NOT_FOUND = "not-found"
    DAMAGED = "damaged"
    TOO_LONG = "too-long"


CODES: Final = {
    State.READY: "ready",
    State.NO_BACKEND: "no-keyring",
    State.LOCKED: "keyring-locked",
    State.DENIED: "keyring-denied",
    State.GONE: "keyring-gone",
    State.NOT_FOUND: "key-not-found",
    State.DAMAGED: "key-damaged",
    State.TOO_LONG: "key-long",
}
_FILES: Final = "Encrypted key files"


def words(
    state: State, title: str, language: str = "en", *, files: bool = False
) -> tuple[str, str]:
    """Return the sentence of a state and its way out.

    Args:
        state: The state.
        title: How the store is called on screen.
        language: ``en`` or ``de``.
        files: The store is the folder of encrypted files.
    """
    sentence = _sentence(state, title, "", files=files)
    return KeyStoreError(sentence.key, code=CODES[state], **sentence.values).words(language)


def _sentence(state: State, title: str, name: str, *, files: bool) -> Phrase:
    key = "keystore.files-locked" if files and state is State.LOCKED else f"keystore.{state}"
    place = phrase("keystore.files") if title == _FILES else title
    return phrase(key, store=place, name=name, detail="")


def fault(
    state: State, title: str, name: str = "", *, detail: str | Phrase = "", files: bool = False
) -> KeyStoreError:
    """Return the error of a state.

    Args:
        state: Any but ready.
        title: How the store is called on screen.
        name: The key's name.
        detail: The kind of error that the system reported; its own words are never repeated,
            they might quote an entry.
        files: The store is the folder of encrypted files.
    """
    sentence = _sentence(state, title, name, files=files)
    values = dict(sentence.values)
    if detail:
        values["detail"] = phrase("keystore.detail", detail=detail)
    return KeyStoreError(sentence.key, code=CODES[state], **values)


def classify(error: BaseException) -> State:
    """Say which state an error of a keyring backend means.

    macOS reports a refusal as "locked" and the true kind as its cause; Windows has numbers.
    """
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and len(chain) < 8:
        chain.append(step)
        step = step.__cause__
    kinds = [type(link).__name__.lower() for link in chain]
    if any(
        isinstance(link, ConnectionError) or "notavailable" in kind
        for link, kind in zip(chain, kinds, strict=True)
    ):
        return State.GONE
    if any("denied" in kind or "authfailure" in kind for kind in kinds):
        return State.DENIED
    numbers = {link.args[0] for link in chain if link.args and isinstance(link.args[0], int)}
    if numbers & _TOO_LONG_ON_WINDOWS or any("toolong" in kind for kind in kinds):
        return State.TOO_LONG
    if any("locked" in kind for kind in kinds) or any(
        "unlock" in str(link).lower() or "locked" in str(link).lower() for link in chain
    ):
        return State.LOCKED
    return State.DENIED


# RPC_X_BAD_STUB_DATA, which CredWrite returns for a blob over 2 560 bytes; ERROR_BAD_LENGTH.
_TOO_LONG_ON_WINDOWS: Final = {1783, 24}


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

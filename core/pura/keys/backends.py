"""The operating system's keyring, by allow-list.

The backend is created by name from the list. Neither ``PYTHON_KEYRING_BACKEND`` nor a
``keyringrc.cfg`` can substitute another one, since the choice of the library is never used. Nor can
a ``KEYRING_PROPERTY_…`` variable redirect the backend (to another collection or keychain): settings
that the library took from the environment are removed. There is no plaintext fallback.

This module also defines the states of a store with their messages, and the wait for the Secret
Service. The service may show a prompt as long as the user likes. But if it ends or hangs during a
request, it never answers, and the library waits forever. Each request therefore runs on a separate
thread, while the service is pinged; a service that shows a prompt still answers pings.
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
_GLANCE: Final = 0.2  # seconds between two pings
THREAD: Final = "secret-service"
"""Name of the threads that wait for the service."""
patience: float = 10.0
"""Seconds within which a running service answers a ping."""


def watched(call: Callable[[], Result]) -> Result:
    """Run a request to the Secret Service, and return its result.

    Raises:
        ConnectionError: The service does not answer any more.
        Exception: Any exception that the request raises.
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
        # Determined before the request: later another service may have the name.
        owner = _owner(bus)
        # A request that never returns must not keep the program from ending.
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
    """Return the bus address of the service, which is started if the bus can do that."""
    _ask(bus, _BUS, "/org/freedesktop/DBus", _BUS, "StartServiceByName", "su", _NAME, 0)
    answer = _ask(bus, _BUS, "/org/freedesktop/DBus", _BUS, "GetNameOwner", "s", _NAME)
    return str(answer[0]) if answer else ""


def _lives(bus: Any, owner: str) -> bool:
    peer = "org.freedesktop.DBus.Peer"
    return bool(owner) and _ask(bus, owner, "/", peer, "Ping", "") is not None


def _ask(
    bus: Any,
    recipient: str,
    path: str,
    interface: str,
    method: str,
    signature: str,
    *parameters: object,
) -> tuple[Any, ...] | None:
    """Return the answer of a program on the bus; None if it refuses or does not answer."""
    from jeepney import DBusAddress, MessageType, new_method_call

    request = new_method_call(
        DBusAddress(path, recipient, interface), method, signature, parameters
    )
    try:
        answer = bus.send_and_get_reply(request, timeout=patience)
    except (TimeoutError, OSError):
        return None
    if answer.header.message_type is MessageType.error:
        return None
    return tuple(answer.body)


def exposures(*paths: Path) -> Iterator[KeyStoreError]:
    """Yield an error for each file and folder that others can access, with a command to fix it.

    Pipes, such as a shell opens for a single reading, are not accessible to others.
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
    """State of the key store, or of one of its entries."""

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
    """Return the sentence of a state, and the advice that goes with it.

    Args:
        state: The state.
        title: Name of the store on screen.
        language: ``en`` or ``de``.
        files: The store is the folder of encrypted files.
    """
    sentence = _sentence(state, title, "", files=files)
    return KeyStoreError(sentence.key, code=CODES[state], **sentence.values).words(language)


def _sentence(state: State, title: str, name: str, *, files: bool) -> Phrase:
    key = "keystore.files-locked" if files and state is State.LOCKED else f"keystore.{state}"
    store = phrase("keystore.files") if title == _FILES else title
    return phrase(key, store=store, name=name, detail="")


def fault(
    state: State, title: str, name: str = "", *, detail: str | Phrase = "", files: bool = False
) -> KeyStoreError:
    """Return the error for a state.

    Args:
        state: Any state except ready.
        title: Name of the store on screen.
        name: Name of the key.
        detail: Kind of error that the system reported; its message is never repeated, since it
            might quote an entry.
        files: The store is the folder of encrypted files.
    """
    sentence = _sentence(state, title, name, files=files)
    parameters = dict(sentence.values)
    if detail:
        parameters["detail"] = phrase("keystore.detail", detail=detail)
    return KeyStoreError(sentence.key, code=CODES[state], **parameters)


def classify(error: BaseException) -> State:
    """Return the state that an error of a keyring backend stands for.

    macOS reports a refusal as "locked" with the actual kind as its cause; Windows uses numbers.
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
MAX_ENTRY: Final = 1_200
"""Characters of an entry; the Credential Manager of Windows fails above about 1 280."""
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
    """The three methods of a keyring backend that are used."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the stored text, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a text."""

    def delete_password(self, service: str, username: str) -> None:
        """Remove a text."""


def find_backend() -> tuple[Any, str] | None:
    """Return the first usable backend of the allow-list and its name, or None."""
    platform = sys.platform if sys.platform in _ALLOWED else "linux"
    for module_name, class_name, title in _ALLOWED[platform]:
        try:
            kind = getattr(importlib.import_module(module_name), class_name)
            if kind.priority <= 0:
                continue
            return _unbent(kind()), title
        except Exception:  # noqa: S112 - backends that cannot start raise many kinds of errors
            continue
    return None


def _unbent(backend: Any) -> Any:
    """Remove the attributes that the library's constructor took from the environment."""
    for variable in os.environ:
        if variable.startswith(_PROPERTY):
            vars(backend).pop(variable.removeprefix(_PROPERTY).lower(), None)
    return backend


class Keyring:
    """Secrets in a keyring backend.

    Args:
        backend: A backend of the allow-list.
        title: Its name on screen.
    """

    def __init__(self, backend: Backend, title: str) -> None:
        self._backend = backend
        self._is_service = type(backend).__module__ == "keyring.backends.SecretService"
        self.title = title
        self._request_lock = (
            threading.Lock()
        )  # for one request at a time; the service allows several

    def state(self) -> State:
        """Return the state of the keyring, without a prompt where that is possible."""
        try:
            if self._is_service:
                return watched(_secret_service_state)
            with self._request_lock:
                self._backend.get_password(SERVICE, "state")
        except Exception as error:
            return classify(error)
        return State.READY

    def read(self, slot: str, name: str) -> SecretKey | None:
        """Return a secret; None if there is none.

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
        """Remove a secret, if there is one.

        Raises:
            KeyStoreError: Locked or denied.
        """
        if self._call("get_password", slot, name) is not None:
            self._call("delete_password", slot, name)

    def _call(self, verb: str, slot: str, name: str, *arguments: str) -> str | None:
        def call() -> str | None:
            stored: str | None = getattr(self._backend, verb)(SERVICE, slot, *arguments)
            return stored

        try:
            if self._is_service:
                return watched(call)
            with self._request_lock:
                return call()
        except Exception as error:
            state = classify(error)
            detail = type(error).__name__ if state is State.DENIED else ""
            raise fault(state, self.title, name, detail=detail) from None

    def _parse(self, stored: str, name: str) -> SecretKey:
        try:
            entry = json.loads(stored)
            if entry["v"] != _ENTRY_VERSION:
                raise ValueError
            return SecretKey.from_hex(entry["key"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, KeyFormatError):
            raise fault(State.DAMAGED, self.title, name) from None


def _secret_service_state() -> State:
    # Reading an entry would bring up a password prompt; reading the lock state does not.
    import secretstorage

    try:
        with closing(secretstorage.dbus_init()) as bus:
            # Getting the default collection would create one, with a password prompt.
            collection = secretstorage.get_collection_by_alias(bus, "default")
            return State.LOCKED if collection.is_locked() else State.READY
    except secretstorage.ItemNotFoundException:
        return State.READY  # of a new user: the desktop creates the collection with the first key

"""The states of a key store, each with its sentence and its way out.

Command line and window take their words from here, so that they cannot say different things.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pura.base.errors import KeyStoreError


class State(StrEnum):
    """What state the key store, or one of its entries, is in."""

    READY = "ready"
    NO_BACKEND = "no-backend"
    LOCKED = "locked"
    DENIED = "denied"
    NOT_FOUND = "not-found"
    DAMAGED = "damaged"
    TOO_LONG = "too-long"


CODES: Final = {
    State.READY: "ready",
    State.NO_BACKEND: "no-keyring",
    State.LOCKED: "keyring-locked",
    State.DENIED: "keyring-denied",
    State.NOT_FOUND: "key-not-found",
    State.DAMAGED: "key-damaged",
    State.TOO_LONG: "key-long",
}
# What happened, and the way out; %t is the store's title, %n the key's name.
_WORDS: Final = {
    State.READY: ("Key store: %t. It is ready.", ""),
    State.NO_BACKEND: (
        (
            "This computer offers no keyring (Secret Service, KWallet, Keychain or Credential "
            "Manager)."
        ),
        (
            "Start one and log in again, keep the keys in encrypted files under a passphrase, or "
            "give a key file for this run."
        ),
    ),
    State.LOCKED: (
        "The keyring (%t) is locked.",
        "Unlock it (log in to your desktop session again), then try once more.",
    ),
    State.DENIED: (
        "The keyring (%t) refused the request.",
        "Allow this program to use it, or ask whoever manages this computer.",
    ),
    State.NOT_FOUND: (
        "The key store (%t) no longer holds the key “%n”.",
        "It may have been removed by another program; import it again.",
    ),
    State.DAMAGED: (
        "The entry of the key “%n” in the key store (%t) is damaged.",
        "Delete it and import the key again.",
    ),
    State.TOO_LONG: (
        "The entry of the key “%n” is too long for the key store (%t).",
        "Keep this key in an encrypted file instead.",
    ),
}
_FILES_LOCKED: Final = (
    "The encrypted key files are locked.",
    "Give their passphrase; it is asked for once a run.",
)


def words(state: State, title: str, name: str = "", *, files: bool = False) -> tuple[str, str]:
    """Return the sentence of a state and its way out.

    Args:
        state: The state.
        title: How the store is called on screen.
        name: The key's name; for the states of one entry.
        files: The store is the folder of encrypted files.
    """
    said, way_out = _FILES_LOCKED if files and state is State.LOCKED else _WORDS[state]
    return said.replace("%t", title).replace("%n", name), way_out


def fault(
    state: State, title: str, name: str = "", *, detail: str = "", files: bool = False
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
    said, way_out = words(state, title, name, files=files)
    if detail:
        said = f"{said[:-1]}: {detail}."
    return KeyStoreError(said, way_out, code=CODES[state])


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

"""The states of a key store, each with its sentence and its way out.

Files that are open to others.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import KeyStoreError
from pura.base.files import exposed
from pura.keys.watch import ServiceGoneError


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
                code="key-exposed",
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
        isinstance(link, ConnectionError | ServiceGoneError) or "notavailable" in kind
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

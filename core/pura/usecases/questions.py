"""The question store: opened with its own key, asked, erased, checked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pura.base.errors import KeyStoreError, PuraError, QuestionError
from pura.base.progress import Checkpoint, Progress, counted, never_cancelled, no_progress
from pura.keys import KeyRef
from pura.keys.entries import Place
from pura.questions.store import QuestionStore, StoreCheck, StoreStatus, status_of
from pura.scheme import MarkIdentity, SecretKey
from pura.usecases.environment import Environment

KEY_NAME: Final = "questions"
"""Name of the stored key of a question store that is begun without naming one."""


def questions_path(environment: Environment, file: Path | bool = True) -> Path:
    """Return the file of the question store: the chosen one, or the user's."""
    return file if isinstance(file, Path) else environment.paths.questions


def question_key(environment: Environment, file: Path | bool = True) -> str:
    """Return the fingerprint of a store's key.

    Raises:
        QuestionError: There is no such store, or it is damaged.
    """
    path = questions_path(environment, file)
    if not path.exists():
        raise QuestionError("questions.none", name=path.name, code="questions-none")
    return status_of(path).key


@contextmanager
def open_questions(
    environment: Environment, path: Path | None = None, *, read_only: bool = False
) -> Iterator[QuestionStore]:
    """Lend a question store that is there, opened with its key.

    Args:
        environment: Where the key is.
        path: The file; None: the user's.
        read_only: Never write.

    Raises:
        QuestionError: There is no such store, or it is damaged.
        KeyStoreError: Its key is not here or cannot be read.
    """
    path = path or environment.paths.questions
    ref = KeyRef(fingerprint=question_key(environment, path))
    if not environment.has_key(ref.fingerprint):
        raise KeyStoreError("questions.no-key", key=ref.fingerprint, code="questions-key")
    with (
        environment.opened_keys([ref]) as [(key, _)],
        QuestionStore(path, key, read_only=read_only) as store,
    ):
        yield store


@contextmanager
def begin_questions(
    environment: Environment, path: Path | None = None, *, days: int | None = None
) -> Iterator[QuestionStore]:
    """Lend a question store to be written to; it is made where it is not there.

    A new store gets a key of its own, which is kept as :data:`KEY_NAME` among the stored keys; one
    of that name that is there already is taken.

    Args:
        environment: Where the key is.
        path: The file; None: the user's.
        days: How long questions are kept; None does what the file says.

    Raises:
        QuestionError: The store is damaged, or cannot be written.
        KeyStoreError: Its key is not here, or a new one cannot be stored.
    """
    path = path or environment.paths.questions
    if path.exists():
        ref = KeyRef(fingerprint=status_of(path).key)
    else:
        entries = {entry.name: entry for entry in environment.keys.list()}
        if KEY_NAME not in entries:
            with SecretKey.generate() as new:
                entries[KEY_NAME] = environment.keys.add(KEY_NAME, new)
        ref = KeyRef.of(entries[KEY_NAME])
    with (
        environment.opened_keys([ref]) as [(key, _)],
        QuestionStore(path, key, create=True, days=days) as store,
    ):
        yield store


@dataclass(frozen=True, kw_only=True)
class QuestionErasure:
    """Which questions are erased: those that one of these names, and always what has expired.

    Attributes:
        number: Of one question.
        recipient: To whom the answers went.
        before: All that were written before this day.
    """

    number: int | None = None
    recipient: str = ""
    before: dt.date | None = None


def questions_status(environment: Environment, path: Path | None = None) -> StoreStatus | None:
    """Return what can be said of a store without its key; None where there is none.

    Raises:
        QuestionError: It is damaged.
    """
    path = path or environment.paths.questions
    return status_of(path) if path.exists() else None


def erase_questions(
    environment: Environment, erasure: QuestionErasure, path: Path | None = None
) -> int:
    """Erase questions so that nothing of them is left in the file.

    Returns:
        How many were erased, those that had expired among them.

    Raises:
        QuestionError: There is no store, it is damaged, or another program uses it.
        KeyStoreError: Its key is not here.
    """
    with open_questions(environment, path) as store:
        erased = store.erase_expired()
        if erasure.number is not None:
            erased += store.erase_number(erasure.number)
        if erasure.recipient:
            erased += store.erase_customer(erasure.recipient)
        if erasure.before is not None:
            erased += store.erase_before(erasure.before)
        store.clean()
    return erased


def verify_questions(
    environment: Environment,
    path: Path | None = None,
    *,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> StoreCheck:
    """Check that a store holds what was written.

    Raises:
        QuestionError: There is no store.
        KeyStoreError: Its key is not here.
    """
    with open_questions(environment, path, read_only=True) as store:
        return store.verify(checkpoint=checkpoint, progress=counted(progress, "verify-questions"))


def kept_questions(
    environment: Environment, path: Path | None = None
) -> dict[MarkIdentity, dt.date]:
    """Return for each mark whose question is kept the last day of that.

    Nobody is asked for a passphrase: empty without a store, and where its key cannot be read as
    things are.
    """
    keys = environment.keys
    try:
        if questions_status(environment, path) is None:
            return {}
        entry = environment.entry_of(KeyRef(fingerprint=question_key(environment, path or True)))
        if entry is not None and entry.place is Place.FILES and not keys.files.unlocked:
            return {}
        with open_questions(environment, path, read_only=True) as store:
            return store.kept()
    except PuraError:
        return {}

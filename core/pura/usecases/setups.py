"""Stored set-ups: keys, profile and model that belong together, chosen whole by one name."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Final

from pura.base.decoder import DecodeError, decode, later, list_of, one_of
from pura.base.errors import KeyStoreError, ModelError, ProfileError, PuraError, os_error_as
from pura.base.files import file_lock, read_bounded, write_atomic
from pura.base.json_text import read_json
from pura.detect.fitness import mismatches
from pura.keys import KeyEntry
from pura.record.left_out import LEAVE_OUT
from pura.scheme import Profile
from pura.scheme.profile import clean_name, refuse_path
from pura.usecases.environment import Environment

SCHEMA: Final = "pura-stored-setup/1"
_MAX_BYTES: Final = 64 << 10
_PATIENCE_S: Final = 10.0
_LEAVE_OUT: Final = list_of(one_of(*LEAVE_OUT), len(LEAVE_OUT), ", ".join(LEAVE_OUT), unique=True)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class StoredSetup:
    """Parts that texts are marked and audited with, under one name.

    It names its parts and holds none of them: a part that is deleted is missing, and
    :func:`setup_faults` reports it.

    Attributes:
        name: The name that people choose it by.
        profile: Name of a stored profile.
        keys: Fingerprints of the keys; all are tried in every audit.
        model: Name of an installed model; empty: the one that the profile names, else the only
            one installed.
        leave_out: What is left out of the examined texts besides what the policy says, of
            :data:`~pura.record.left_out.LEAVE_OUT`.
        questions: Texts are read after the stored questions that they may answer as well.
        schema: :data:`SCHEMA`.
    """

    name: str
    profile: str
    keys: tuple[str, ...]
    model: str = ""
    leave_out: Annotated[tuple[str, ...], _LEAVE_OUT] = later(())
    questions: bool = later(False)
    schema: str = SCHEMA


class SetupFolder:
    """The set-ups of one folder, a JSON file each.

    Args:
        folder: Made when the first one is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the names of all set-ups, sound or not."""
        paths = self.folder.glob("*.json") if self.folder.is_dir() else ()
        return tuple(sorted(path.stem for path in paths if not path.name.startswith(".")))

    def get(self, name: str) -> StoredSetup:
        """Return a set-up.

        Raises:
            ProfileError: There is none of that name, or its file is damaged.
        """
        names = self.names()
        if name not in names:
            listed = ", ".join(names) or "–"
            raise ProfileError("setup.none", name=name, listed=listed, code="setup-not-found")
        path = self.folder / f"{name}.json"
        data = read_bounded(path, _MAX_BYTES, ProfileError)
        try:
            setup = decode(StoredSetup, read_json(data))
            if setup.schema != SCHEMA:
                raise ValueError("another schema")
        except (DecodeError, ValueError):
            raise ProfileError("setup.damaged", name=name, code="setup-damaged") from None
        return replace(setup, name=name)  # a file that was renamed is called by its new name

    def save(self, setup: StoredSetup, *, replace: bool = False) -> str:
        """Store a set-up.

        Args:
            setup: The set-up; characters of its name that no file name may hold become a dash.
            replace: Whether another one of that name may be replaced.

        Returns:
            The name that it is stored under.

        Raises:
            ProfileError: Another set-up has that name, or the folder cannot be written.
        """
        name = clean_name(setup.name)
        with self._locked():
            if not replace and name in self.names() and self.get(name) != setup:
                raise ProfileError("setup.there", name=name, code="setup-exists")
            _write(self.folder / f"{name}.json", setup)
        logger.info("a set-up was stored")
        return name

    def remove(self, name: str) -> None:
        """Delete a set-up; its parts stay.

        Raises:
            ProfileError: There is none of that name, or its file cannot be deleted.
        """
        if name not in self.names():
            self.get(name)
        with self._locked():
            try:
                (self.folder / f"{name}.json").unlink()
            except OSError:
                raise ProfileError("file.delete", name=name) from None
        logger.info("a set-up was removed")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with os_error_as(ProfileError, "file.write", name=self.folder.name):
            self.folder.mkdir(parents=True, exist_ok=True)
        with file_lock(self.folder / ".lock", _PATIENCE_S):
            yield


def _write(path: Path, setup: StoredSetup) -> None:
    fields = asdict(setup)
    if not setup.leave_out:  # as programs that know no such rule write and read it
        del fields["leave_out"]
    if not setup.questions:
        del fields["questions"]
    encoded = json.dumps(fields, ensure_ascii=False, indent=1)
    with os_error_as(ProfileError, "file.write", name=path.name):
        write_atomic(path, encoded.encode())


def setup_folder(environment: Environment) -> SetupFolder:
    """Return the stored set-ups; those of version 0.4.0 and before are made of its stores first.

    Raises:
        PuraError: They cannot be written, or the list of keys is damaged.
    """
    folder = environment.paths.setups
    if not folder.is_dir():
        _upgrade(environment, folder)
    return SetupFolder(folder)


def _upgrade(environment: Environment, folder: Path) -> None:
    """Make a set-up of each profile that is stored, once, without a question.

    A kill at any moment leaves no folder, so that the next start makes all of them.
    """
    stored = environment.keys.list()
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    with os_error_as(ProfileError, "file.write", name=folder.name):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        count = 0
        for name in environment.profiles.names():
            with suppress(PuraError):  # a damaged profile is reported where profiles are listed
                profile = environment.profiles.get(name)
                if profile.foreign is None:
                    keys = _keys_of(profile, name, stored)
                    _write(part / f"{name}.json", StoredSetup(name=name, profile=name, keys=keys))
                    count += 1
        try:
            part.rename(folder)
        except OSError:
            shutil.rmtree(part, ignore_errors=True)
            if not folder.is_dir():  # else another process was quicker
                raise
    logger.info("made %d set-ups of stored profiles", count)


def _keys_of(profile: Profile, name: str, stored: Sequence[KeyEntry]) -> tuple[str, ...]:
    """Return the key that a profile goes with: the one that it names, or the only one it can be."""
    if profile.key is not None:
        return (profile.key,)
    names = {name, profile.name}
    alike = [entry.fingerprint for entry in stored if entry.name in names]
    certain = alike or [entry.fingerprint for entry in stored]
    return tuple(certain) if len(certain) == 1 else ()


def save_setup(
    environment: Environment,
    *,
    name: str,
    profile: str,
    keys: tuple[str, ...],
    model: str = "",
    leave_out: tuple[str, ...] = (),
    questions: bool = False,
    replace: bool = False,
) -> StoredSetup:
    """Store a set-up whose parts are here and belong together.

    Args:
        environment: Where it is kept.
        name: The name that people choose it by.
        profile: Name of a stored profile.
        keys: Fingerprints of stored keys.
        model: Name of an installed model; empty: the one that the profile names.
        leave_out: As of a :class:`StoredSetup`.
        questions: As there.
        replace: Whether another set-up of that name may be replaced.

    Raises:
        PuraError: A part is missing, the parts do not belong together, or the name is taken.
    """
    refuse_path(name)
    setup = StoredSetup(
        name=clean_name(name),
        profile=profile,
        keys=keys,
        model=model,
        leave_out=leave_out,
        questions=questions,
    )
    for fault in setup_faults(environment, setup):
        raise fault
    folder = setup_folder(environment)
    # An upgrade made set-ups without a key where it could not tell which one: those are completed.
    unfinished = setup.name in folder.names() and not folder.get(setup.name).keys
    folder.save(setup, replace=replace or unfinished)
    return setup


def keyless(setup: StoredSetup) -> KeyStoreError:
    """Return the error for a set-up without a key: an upgrade could not tell which one it is."""
    return KeyStoreError("setup.keyless", name=setup.name, code="setup-keyless")


def setup_faults(environment: Environment, setup: StoredSetup) -> tuple[PuraError, ...]:
    """Return why nothing can be audited with a set-up; nothing is loaded for it.

    Returns:
        An error for each part that is missing, and for parts that do not belong together; empty
        where an audit can begin.
    """
    faults: list[PuraError] = []
    profile = model = None
    try:
        profile = environment.profiles.get(setup.profile)
    except ProfileError as error:
        faults.append(error)
    if not setup.keys:
        faults.append(keyless(setup))
    try:
        for key in setup.keys:
            environment.key_of(key)
    except KeyStoreError as error:
        faults.append(error)
    try:
        model = environment.installed(setup.model or None, profile=profile)
    except ModelError as error:
        faults.append(error)
    if profile is not None and model is not None:
        faults += mismatches(
            profile,
            model=model.name,
            vocab_size=model.vocab_size,
            tokenizer=model.tokenizer_fingerprint,
            keys=setup.keys,
        )
    return tuple(faults)


def key_names(environment: Environment, setup: StoredSetup) -> tuple[str, ...]:
    """Return the keys of a set-up as people know them; of one that is not here its fingerprint."""

    def name(fingerprint: str) -> str:
        with suppress(KeyStoreError):
            return environment.key_of(fingerprint).label or fingerprint
        return fingerprint

    return tuple(name(key) for key in setup.keys)

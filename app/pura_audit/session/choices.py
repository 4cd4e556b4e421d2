"""Keys, models and profiles.

The inventory, the choices of the user, and the engine that audits with them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from PySide6.QtCore import QObject, Signal

from pura.base.errors import PuraError
from pura.base.paths import Paths
from pura.detect.fitness import mismatches
from pura.detect.verdict.policy import Policy, load_policy
from pura.keys import KeyEntry, KeyRef, KeyStore, Place, SessionKeys, State
from pura.model.device import Device, MemoryNeed, free_on, memory_need
from pura.model.folder import InstalledModel
from pura.model.store import ModelCache
from pura.register.usage import Usage, find_usage
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Prepared, Setup, prepared
from pura.usecases.environment import Environment
from pura.usecases.setups import StoredSetup, setup_folder
from pura_audit.jobs.queue import Done, Failure, Jobs, Outcome, Stopped
from pura_audit.platform.i18n import language
from pura_audit.platform.notices import LABEL, sample
from pura_audit.platform.settings import SettingsFile


@dataclass(frozen=True, kw_only=True)
class KeyChoice:
    """A key that can be chosen.

    Attributes:
        label: Name of the key.
        fingerprint: 16 hex digits.
        session: Whether the key lives in memory only, for this run.
        entry: The entry of a stored key in the key store.
        usage: What refers to the key.
    """

    label: str
    fingerprint: str
    session: bool = False
    entry: KeyEntry | None = field(default=None, compare=False)
    usage: Usage | None = field(default=None, compare=False)

    @property
    def ref(self) -> KeyRef:
        """Reference to the key for use cases."""
        return KeyRef(fingerprint=self.fingerprint, label=self.label, entry=self.entry)


def sample_key() -> KeyChoice:
    """Return the key of the sample text; it is public."""
    return KeyChoice(label=LABEL, fingerprint=sample().key.fingerprint, session=True)


@dataclass(frozen=True, kw_only=True)
class ProfileChoice:
    """A stored profile.

    Attributes:
        name: Name of the file without its suffix.
        profile: The profile itself.
        notes: Remarks from reading the file; see ``pura.scheme.profile.NOTES``.
    """

    name: str
    profile: Profile
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name of the profile for people."""
        return self.profile.name or self.name


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """The keys, models, profiles and set-ups on this computer.

    Attributes:
        keys: Known keys.
        models: Installed models.
        rooms: For each model, by name, whether it fits into the memory.
        profiles: Stored profiles without errors.
        setups: Stored set-ups without errors; their parts may be missing here.
        place: Where new keys are stored; None without a keyring or a folder of key files.
        keyring: State of that store.
        backend: Name of that store.
        files: State of the folder of encrypted key files; "no backend" when it was never set up.
        exposed: Key files that other users of this computer can read, with a remedy.
        problems: Failures from reading the stores.
        policy: The decision rule in force; None if its file is damaged.
    """

    keys: tuple[KeyChoice, ...] = ()
    models: tuple[InstalledModel, ...] = ()
    rooms: Mapping[str, MemoryNeed] = field(default_factory=dict)
    profiles: tuple[ProfileChoice, ...] = ()
    setups: tuple[StoredSetup, ...] = ()
    place: Place | None = None
    keyring: State = State.NO_BACKEND
    backend: str = ""
    files: State = State.NO_BACKEND
    exposed: tuple[Failure, ...] = ()
    problems: tuple[Failure, ...] = ()
    policy: Policy | None = None

    @property
    def own_profiles(self) -> tuple[ProfileChoice, ...]:
        """PURA's own profiles, without third-party watermarks."""
        return tuple(choice for choice in self.profiles if choice.profile.foreign is None)


class AuditEngine:
    """Performs the work of the queues of the model and the stores.

    The inventory is made in the thread of the stores, everything else in that of the model. This
    class imports torch, after the window is up.

    Args:
        paths: The user's folders.
        session_keys: Keys that live in memory for this run only, by label.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: Number format of the model.
        collect: Collects garbage; called in the queue's thread.

    Attributes:
        environment: The environment of the use cases.
    """

    def __init__(
        self,
        paths: Paths,
        session_keys: Mapping[str, SecretKey] | None = None,
        device: str = "auto",
        dtype: str = "float32",
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        public = sample().key
        self.environment = Environment(
            paths=paths,
            device=device,
            dtype=dtype,
            session_keys=SessionKeys(session_keys),
            lent_keys={public.fingerprint: public},
            held=ModelCache(collect=collect),
        )
        self._kind = "cpu"  # until the device is known; torch is not imported for less

    def catalogue(self) -> Inventory:
        """Make the inventory; damaged files are reported in it and not fatal."""
        problems: list[Failure] = []
        free, memory = free_on(self._kind)
        store = self.environment.keys
        keys = [
            KeyChoice(label=ref.label or ref.fingerprint, fingerprint=ref.fingerprint, session=True)
            for ref in self.environment.session_keys.refs()
        ]
        try:
            keys += self._stored(store)
        except PuraError as error:
            problems.append(Failure.of(error))
        models, dtype = self.environment.models.list(), self.environment.dtype
        rooms = {m.name: memory_need(m.parameters, dtype, free=free, place=memory) for m in models}
        return Inventory(
            keys=tuple(keys),
            models=tuple(models),
            rooms=rooms,
            profiles=self._profiles(problems),
            setups=self._setups(problems),
            place=store.place,
            keyring=store.state(),
            backend=store.title,
            files=store.files.state(),
            exposed=tuple(Failure.of(error) for error in store.exposures()),
            policy=self._policy(problems),
            problems=tuple(problems),
        )

    def device(self) -> Device:
        """Return the device on which a model would run; this imports torch."""
        device = self.environment.compute_device()
        self._kind = device.kind
        return device

    def prepared(self, setup: Setup) -> AbstractContextManager[Prepared]:
        """Lend the loaded parts of a setup; the model stays loaded for the next audit."""
        return prepared(self.environment, setup, late=True)

    def _stored(self, store: KeyStore) -> list[KeyChoice]:
        entries, paths = store.list(), self.environment.paths
        return [
            KeyChoice(
                label=entry.name,
                fingerprint=entry.fingerprint,
                entry=entry,
                usage=find_usage(entry, entries, paths.profiles, paths.register),
            )
            for entry in entries
        ]

    def _policy(self, problems: list[Failure]) -> Policy | None:
        try:
            return load_policy(self.environment.paths.policy)
        except PuraError as error:
            problems.append(Failure.of(error))
            return None

    def _setups(self, problems: list[Failure]) -> tuple[StoredSetup, ...]:
        setups = []
        try:
            folder = setup_folder(self.environment)
        except PuraError as error:
            problems.append(Failure.of(error))
            return ()
        for name in folder.names():
            try:
                setups.append(folder.get(name))
            except PuraError as error:
                problems.append(Failure.of(error))
        return tuple(setups)

    def _profiles(self, problems: list[Failure]) -> tuple[ProfileChoice, ...]:
        profiles = []
        folder = self.environment.paths.profiles
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                profile, notes = Profile.load_noted(path)
                profiles.append(ProfileChoice(name=path.stem, profile=profile, notes=notes))
            except PuraError as error:
                message, hint = error.words(language())
                problems.append(Failure(code=error.code, message=message, hint=hint))
        return tuple(profiles)


T = TypeVar("T")
SEPARATOR: Final = "/"
"""Separates names of profiles in the settings; no name contains it."""


def pick_keys(
    choices: Sequence[KeyChoice], current: Sequence[KeyChoice], remembered: str
) -> tuple[KeyChoice, ...]:
    """Return the keys in use that are still there, else the remembered ones, else the first."""
    for fingerprints in ([key.fingerprint for key in current], remembered.split(",")):
        picked = tuple(key for key in choices if key.fingerprint in fingerprints)
        if picked:
            return picked
    return tuple(choices[:1])


def pick(choices: Sequence[T], name: str, current: T | None, remembered: str) -> T | None:
    """Return the choice in use when it is still there, else the remembered one, else the first."""
    if current is not None and current in choices:
        return current
    return next(
        (c for c in choices if getattr(c, name) == remembered), choices[0] if choices else None
    )


def pick_profiles(
    choices: Sequence[ProfileChoice], current: Sequence[ProfileChoice], remembered: str
) -> tuple[ProfileChoice, ...]:
    """Return the profiles in use that are still there, else the remembered ones, else the first."""
    for names in ([choice.name for choice in current], remembered.split(SEPARATOR)):
        picked = tuple(choice for choice in choices if choice.name in names)
        if picked:
            return in_order(picked)
    return tuple(choices[:1])


def in_order(
    ticked: Sequence[ProfileChoice], before: Sequence[ProfileChoice] = ()
) -> tuple[ProfileChoice, ...]:
    """Return the profiles that an audit accepts: one of PURA's, then third-party watermarks.

    Args:
        ticked: The ticked profiles.
        before: The profiles ticked before; among several of PURA's, the newly ticked one is used.
    """
    pura_profiles = [choice for choice in ticked if choice.profile.foreign is None]
    new = [choice for choice in pura_profiles if choice not in before] or pura_profiles
    return (*new[:1], *(choice for choice in ticked if choice.profile.foreign is not None))


class Chosen(QObject):
    """The keys, the model and the profiles that audits use.

    Args:
        engine: Makes the inventory.
        jobs: The queues in which the engine works.
        settings: Store the choices.

    Attributes:
        catalogue: The inventory; None until it was made.
        device: The device of the model; None until it is known.
        setup: The set-up that was chosen last; None where there is none. Its parts may have been
            changed by hand since: see :attr:`changed_parts`.
        keys: Every audit tries them all.
        model: The model that reads the texts.
        profiles: Every audit tries them all; one of PURA's comes first.

    Signals:
        changed: The choices or the inventory changed.
        device_changed: The device is known.
    """

    changed = Signal()
    device_changed = Signal()

    def __init__(
        self, engine: AuditEngine, jobs: Jobs, settings: SettingsFile, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._engine, self._settings = engine, settings
        self._stores, self._model = jobs.stores, jobs.model
        self.catalogue: Inventory | None = None
        self.device: Device | Failure | None = None
        self.setup: StoredSetup | None = None
        self.keys: tuple[KeyChoice, ...] = ()
        self.model: InstalledModel | None = None
        self.profiles: tuple[ProfileChoice, ...] = ()
        self._next_setup = ""

    @property
    def found(self) -> Inventory:
        """The inventory; empty until it was made."""
        return self.catalogue or Inventory()

    @property
    def key(self) -> KeyChoice | None:
        """The chosen key; the first of several."""
        return self.keys[0] if self.keys else None

    def key_of(self, profile: Profile) -> KeyRef | None:
        """Return the key to mark texts with under a profile.

        It is the key that the profile names, which may be missing here, or else the chosen key.
        """
        named_key = next((key for key in self.found.keys if key.fingerprint == profile.key), None)
        if named_key is None and profile.key is not None:
            return KeyRef(fingerprint=profile.key)
        chosen_key = named_key or self.key
        return None if chosen_key is None else chosen_key.ref

    def choose_keys(self, keys: Sequence[KeyChoice]) -> None:
        """Choose keys: every audit tries them all in one pass of the model."""
        self.keys = tuple(keys)
        self._settings.update(key=",".join(key.fingerprint for key in self.keys))
        self.changed.emit()

    def choose_model(self, model: InstalledModel) -> None:
        """Choose a model."""
        self.model = model
        self._settings.update(model=model.name)
        self.changed.emit()

    @property
    def profile(self) -> ProfileChoice | None:
        """The chosen profile; the first of several."""
        return self.profiles[0] if self.profiles else None

    def choose_profiles(self, profiles: Sequence[ProfileChoice]) -> None:
        """Choose profiles: every audit tries them all.

        Only one of them can be PURA's own: the one that was chosen last. It comes first.
        """
        self.profiles = in_order(profiles, self.profiles)
        self._settings.update(profile=SEPARATOR.join(choice.name for choice in self.profiles))
        self.changed.emit()

    def choose_setup(self, setup: StoredSetup) -> None:
        """Choose a set-up; its missing parts are not replaced by others."""
        self.setup = setup
        keys, model, profiles = self._parts(setup)
        self.keys, self.model, self.profiles = keys, model, profiles
        self._settings.update(
            setup=setup.name,
            key=",".join(key.fingerprint for key in keys),
            model="" if model is None else model.name,
            profile=SEPARATOR.join(choice.name for choice in profiles),
        )
        self.changed.emit()

    def _parts(
        self, setup: StoredSetup
    ) -> tuple[tuple[KeyChoice, ...], InstalledModel | None, tuple[ProfileChoice, ...]]:
        """Return the parts of a set-up that exist on this computer."""
        profiles = tuple(one for one in self.found.profiles if one.name == setup.profile)
        generating_model = profiles[0].profile.model if profiles else None
        models = self.found.models
        if setup.model:
            fitting = [model for model in models if model.name == setup.model]
        else:  # as an audit chooses it: the one that the profile names, else the only one
            fitting = [model for model in models if model.fingerprint == generating_model]
            fitting = fitting or (list(models) if len(models) == 1 else [])
        keys = tuple(key for key in self.found.keys if key.fingerprint in setup.keys)
        return keys, fitting[0] if fitting else None, profiles

    @property
    def changed_parts(self) -> tuple[str, ...]:
        """Those of ``key``, ``model`` and ``profile`` that differ from the chosen set-up."""
        if self.setup is None or self.catalogue is None:
            return ()
        keys, model, profiles = self._parts(self.setup)
        same = {
            "key": {key.fingerprint for key in keys} == {key.fingerprint for key in self.keys},
            "model": model == self.model,
            "profile": [choice.name for choice in profiles]
            == [choice.name for choice in self.profiles],
        }
        return tuple(part for part, unchanged in same.items() if not unchanged)

    def use_setup(self, name: str) -> None:
        """Choose a stored set-up as soon as the inventory has it."""
        self._next_setup = name
        self.look_around()

    @property
    def missing(self) -> tuple[str, ...]:
        """Which of ``key``, ``model`` and ``profile`` are missing; empty without an inventory."""
        if self.catalogue is None:
            return ()
        parts = {"key": self.keys, "model": self.model, "profile": self.profile}
        return tuple(name for name, choice in parts.items() if not choice)

    @property
    def ready(self) -> bool:
        """Whether key, model and profile are chosen."""
        return bool(self.keys) and self.model is not None and self.profile is not None

    def mismatches(self) -> tuple[PuraError, ...]:
        """Return the reasons why the chosen key, model and profile do not fit together."""
        facts = self.model
        if facts is None:
            return ()
        stored_keys = self.catalogue.keys if self.catalogue is not None else ()
        return tuple(
            problem
            for index, choice in enumerate(self.profiles)
            for problem in mismatches(
                choice.profile,
                model=facts.name,
                vocab_size=facts.vocab_size,
                tokenizer=facts.tokenizer_fingerprint,
                # Those that seal further profiles need not be chosen: they are found.
                keys=[key.fingerprint for key in (*self.keys, *(stored_keys if index else ()))],
            )
        )

    def look_around(self) -> None:
        """Make the inventory again."""
        self._stores.do(lambda _: self._engine.catalogue(), self._catalogued, self, urgent=True)

    def find_device(self) -> None:
        """Import torch and find the device."""
        self._model.do(lambda _: self._engine.device(), self._placed, self, urgent=True)

    def _catalogued(self, outcome: Outcome[Inventory]) -> None:
        if not isinstance(outcome, Done):
            return  # the log has it; what was there before stays
        unchanged = self.setup is not None and not self.changed_parts
        self.catalogue = catalogue = outcome.result
        now = self._settings.current
        setup_name = self._next_setup or (self.setup.name if self.setup is not None else now.setup)
        stored = next((setup for setup in catalogue.setups if setup.name == setup_name), None)
        if stored is not None and (self._next_setup or unchanged or self._remembered_whole(stored)):
            # Its parts may have come or gone; another key never stands in for one that is gone.
            self._next_setup = ""
            self.choose_setup(stored)
            return
        self._next_setup = ""
        self.keys = pick_keys(catalogue.keys, self.keys, now.key)
        self.model = pick(catalogue.models, "name", self.model, now.model)
        self.profiles = pick_profiles(catalogue.profiles, self.profiles, now.profile)
        self.setup = stored or self._setup_of(self.profile)
        if not (now.setup or now.key or now.profile) and self.setup is not None:
            self.choose_setup(self.setup)  # nobody has chosen anything yet
            return
        self.changed.emit()

    def _remembered_whole(self, setup: StoredSetup) -> bool:
        """Return whether the stored choices are exactly a set-up; asked once, at the start."""
        now, model = self._settings.current, self._parts(setup)[1]
        return (
            self.setup is None
            and now.setup == setup.name
            and set(now.key.split(",")) in ({""}, set(setup.keys))
            and now.profile in ("", setup.profile)
            and (not now.model or model is None or now.model == model.name)
        )

    def _setup_of(self, profile: ProfileChoice | None) -> StoredSetup | None:
        """Return the set-up of a profile, since version 0.4.0 stored the parts alone."""
        alike = [setup for setup in self.found.setups if profile and setup.profile == profile.name]
        return alike[0] if alike else None

    def _placed(self, outcome: Outcome[Device]) -> None:
        if isinstance(outcome, Stopped):
            return
        self.device = outcome.result if isinstance(outcome, Done) else outcome
        self.device_changed.emit()

"""What the model thread does: finds keys, models and profiles, loads a model, audits a text.

Runs in the model thread only; torch is imported here, after the window is up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

from pura.base.errors import PuraError
from pura.base.paths import Paths
from pura.keys import KeyStore, State
from pura.model.held import HeldModel
from pura.model.memory import free_on, room_for
from pura.record.audit import Audit
from pura.register.key_usage import find_usage
from pura.scheme import Profile, SecretKey
from pura_audit.jobs.chores import do_chore
from pura_audit.jobs.messages import (
    Catalogue,
    Chore,
    DeviceWords,
    Failure,
    KeyChoice,
    ModelChoice,
    ProfileChoice,
    Progress,
    Request,
)
from pura_audit.jobs.store_chores import (
    FitnessChore,
    StoreChore,
    do_store_chore,
    measure_fitness,
)
from pura_audit.platform.i18n import language
from pura_audit.platform.samples import sample

if TYPE_CHECKING:
    from pura.base.progress import Stage
    from pura.lab.fitness.measure import ProxyFitness
    from pura.model.load import LanguageModel
    from pura.verdict.policy import Policy

_log = logging.getLogger(__name__)


class Engine(Protocol):
    """What the job queue needs of whoever does the work."""

    paths: Paths

    def catalogue(self) -> Catalogue:
        """Find keys, models and profiles."""

    def device(self) -> DeviceWords:
        """Say where a model would run."""

    def run(
        self,
        request: Request,
        progress: Callable[[Progress], None],
        checkpoint: Callable[[], None],
    ) -> Audit:
        """Audit one text."""

    def do(
        self,
        chore: Chore,
        progress: Callable[[Progress], None],
        checkpoint: Callable[[], None],
    ) -> object:
        """Set something up; return what was done where the window does not show it anyway."""


class PuraEngine:
    """The real one.

    Args:
        paths: The user's folders.
        session_keys: Keys that live in memory for this run only, by label.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: Number format of the model.

    Attributes:
        paths: The user's folders.
    """

    def __init__(
        self,
        paths: Paths,
        session_keys: Mapping[str, SecretKey] | None = None,
        device: str = "auto",
        dtype: str = "float32",
    ) -> None:
        self.paths = paths
        self._session = dict(session_keys or {})
        self._request, self._dtype = device, dtype
        self._store: KeyStore | None = None
        self._held = HeldModel()
        self._kind = "cpu"  # until the device is known; torch is not imported for less

    def catalogue(self) -> Catalogue:
        """Find keys, models and profiles; what is damaged is named, not fatal."""
        from pura.model.store import ModelStore

        problems: list[Failure] = []
        free, place = free_on(self._kind)
        store = self._keys()
        keys = [
            KeyChoice(label=label, fingerprint=key.fingerprint, session=True)
            for label, key in self._session.items()
        ]
        try:
            keys += self._stored(store)
        except PuraError as error:
            problems.append(Failure.of(error))
        models = tuple(
            ModelChoice(
                name=m.name,
                fingerprint=m.fingerprint,
                size_bytes=m.size_bytes,
                parameters=m.parameters,
                facts=m,
                room=room_for(m.parameters, self._dtype, free=free, place=place),
            )
            for m in ModelStore(self.paths.models).list()
        )
        profiles = self._profiles(problems)
        policy = self._policy(problems)
        state = store.state() if store.available else State.NO_BACKEND
        return Catalogue(
            keys=tuple(keys),
            models=models,
            profiles=profiles,
            keyring=state,
            backend=store.title,
            files=store.files.state(),
            problems=tuple(problems),
            policy=policy,
        )

    def device(self) -> DeviceWords:
        """Say where a model would run; this is where torch is first imported."""
        from pura.model import offline

        offline.prepare()
        from pura.model.device import choose_device

        found = choose_device(self._request, self._dtype)
        self._kind = found.kind
        return DeviceWords(kind=found.kind, name=found.name, dtype=found.dtype, reason=found.reason)

    def run(
        self,
        request: Request,
        progress: Callable[[Progress], None],
        checkpoint: Callable[[], None],
    ) -> Audit:
        """Audit one text; the model stays loaded for the next."""
        from pura.audit.run import Options, audit_document
        from pura.register.store import Register
        from pura.verdict.policy import load_policy

        progress(Progress(step=0, name="model"))
        model = self._load(request.model)
        checkpoint()
        register = Register(self.paths.register) if self.paths.register.exists() else None

        def report(stage: Stage) -> None:
            progress(
                Progress(step=stage.number, name=stage.name, done=stage.done, total=stage.total)
            )

        options = Options(
            prompt=request.prompt, policy=load_policy(self.paths.policy), register=register
        )
        with ExitStack() as fetched:
            keys = [(self._secret(key, fetched), key.label) for key in request.keys]
            return audit_document(
                request.document,
                model=model,
                keys=keys,
                profile=request.profile,
                options=options,
                progress=report,
                checkpoint=checkpoint,
            )

    def do(
        self,
        chore: Chore,
        progress: Callable[[Progress], None],
        checkpoint: Callable[[], None],
    ) -> object:
        """Set a key, a model or a profile up, or measure a model."""
        if isinstance(chore, FitnessChore):
            return self._fitness(chore, progress, checkpoint)
        if isinstance(chore, StoreChore):
            if chore.name == self._held.name:
                self._held.drop()  # its files are about to be looked at anew, or to go
            return do_store_chore(chore, self.paths, progress, checkpoint)
        return do_chore(chore, self.paths, self._keys(), self._session, progress, checkpoint)

    def _fitness(
        self,
        chore: FitnessChore,
        progress: Callable[[Progress], None],
        checkpoint: Callable[[], None],
    ) -> ProxyFitness:
        with ExitStack() as fetched:
            key = self._secret(chore.key, fetched)
            return measure_fitness(chore, key, self._load, progress, checkpoint)

    def _keys(self) -> KeyStore:
        if self._store is None:
            self._store = KeyStore(self.paths.config / "keys.json")
        return self._store

    def _stored(self, store: KeyStore) -> list[KeyChoice]:
        entries, paths = store.list(), self.paths
        return [
            KeyChoice(
                label=entry.name,
                fingerprint=entry.fingerprint,
                entry=entry,
                usage=find_usage(entry, entries, paths.profiles, paths.register),
            )
            for entry in entries
        ]

    def _secret(self, choice: KeyChoice, fetched: ExitStack) -> SecretKey:
        # Session keys and the public one of the sample stay; what was fetched is wiped afterwards.
        if choice.session and choice.label in self._session:
            return self._session[choice.label]
        if choice.fingerprint == sample().key.fingerprint:
            return sample().key
        return fetched.enter_context(self._keys().get(choice.label))

    def _load(self, name: str) -> LanguageModel:
        from pura.model import offline

        offline.prepare()
        from pura.model.device import choose_device
        from pura.model.store import ModelStore

        installed = ModelStore(self.paths.models).get(name)
        return self._held.get(installed, choose_device(self._request, self._dtype))

    def _policy(self, problems: list[Failure]) -> Policy | None:
        from pura.verdict.policy import load_policy

        try:
            return load_policy(self.paths.policy)
        except PuraError as error:
            problems.append(Failure.of(error))
            return None

    def _profiles(self, problems: list[Failure]) -> tuple[ProfileChoice, ...]:
        found = []
        folder = self.paths.profiles
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                profile, notes = Profile.load_noted(path)
                found.append(ProfileChoice(name=path.stem, profile=profile, notes=notes))
            except PuraError as error:
                message, hint = error.words(language())
                words = f"{path.name}: {message}"
                problems.append(Failure(code=error.code, message=words, hint=hint))
        return tuple(found)

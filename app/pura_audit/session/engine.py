"""What stands behind the queues of the model and the stores: keys, models, profiles, and audits.

The catalogue is made in the thread of the stores, all else in that of the model; torch is imported
here, after the window is up.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from pura.audit.options import AuditText
from pura.base.errors import PuraError
from pura.base.paths import Paths
from pura.base.progress import Checkpoint
from pura.base.progress import Progress as Told
from pura.keys import KeyStore, SessionKeys
from pura.model.device import Device, free_on, memory_need
from pura.model.store import ModelCache
from pura.register.issue_log import find_usage
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Audited, Setup, UnreadFile, prepared
from pura.usecases.environment import Environment
from pura.verdict.policy import Policy, load_policy
from pura_audit.jobs.queue import Failure
from pura_audit.platform.i18n import language
from pura_audit.platform.notices import sample
from pura_audit.session.choices import (
    Inventory,
    KeyChoice,
    ProfileChoice,
)

Name = TypeVar("Name")


class TextReader(Protocol):
    """Audits texts, some side by side."""

    def stream(
        self,
        items: Iterable[tuple[Name, AuditText | UnreadFile]],
        *,
        progress: Told,
        checkpoint: Checkpoint,
    ) -> Iterator[tuple[Name, Audited | PuraError]]:
        """Audit items as they come; see :meth:`pura.usecases.audits.Prepared.stream`."""


class AuditEngine(Protocol):
    """What the session needs of whoever does the work."""

    @property
    def environment(self) -> Environment:
        """Where the use cases work."""

    def catalogue(self) -> Inventory:
        """Find keys, models and profiles."""

    def device(self) -> Device:
        """Say where a model would run."""

    def prepared(self, setup: Setup) -> AbstractContextManager[TextReader]:
        """Lend what texts are audited with; it is opened when the first comes."""


class PuraEngine:
    """The real one.

    Args:
        paths: The user's folders.
        session_keys: Keys that live in memory for this run only, by label.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: Number format of the model.
        collect: Collects garbage, called in the queue's thread.

    Attributes:
        environment: Where the use cases work.
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
        """Find keys, models and profiles; what is damaged is named, not fatal."""
        problems: list[Failure] = []
        free, place = free_on(self._kind)
        store = self.environment.keys
        standing = store.standing()
        keys = [
            KeyChoice(label=ref.label or ref.fingerprint, fingerprint=ref.fingerprint, session=True)
            for ref in self.environment.session_keys.refs()
        ]
        try:
            keys += self._stored(store)
        except PuraError as error:
            problems.append(Failure.of(error))
        models, dtype = self.environment.models.list(), self.environment.dtype
        rooms = {m.name: memory_need(m.parameters, dtype, free=free, place=place) for m in models}
        profiles = self._profiles(problems)
        policy = self._policy(problems)
        return Inventory(
            keys=tuple(keys),
            models=tuple(models),
            rooms=rooms,
            profiles=profiles,
            place=standing.place,
            keyring=standing.state,
            backend=standing.title,
            files=standing.files,
            exposed=tuple(Failure.of(error) for error in store.exposures()),
            problems=tuple(problems),
            policy=policy,
        )

    def device(self) -> Device:
        """Say where a model would run; this is where torch is first imported."""
        device = self.environment.compute_device()
        self._kind = device.kind
        return device

    def prepared(self, setup: Setup) -> AbstractContextManager[TextReader]:
        """Lend what texts are audited with; the model stays loaded for the next."""
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

"""What the model thread does: finds keys, models and profiles, loads a model, audits a text.

Runs in the model thread only; torch is imported here, after the window is up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from pura.audit.keys import KeyStore, State
from pura.audit.record import Audit
from pura.errors import PuraError
from pura.paths import Paths
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
from pura_audit.samples import sample

if TYPE_CHECKING:
    from pura.audit.policy import Policy
    from pura.audit.run import Stage
    from pura.model.load import LanguageModel

_log = logging.getLogger(__name__)


class Engine(Protocol):
    """What the job queue needs of whoever does the work."""

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
    ) -> str | None:
        """Set something up; return what was done where the window does not show it anyway."""


class PuraEngine:
    """The real one.

    Args:
        paths: The user's folders.
        session_keys: Keys that live in memory for this run only, by label.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: Number format of the model.
    """

    def __init__(
        self, paths: Paths, session_keys: Mapping[str, SecretKey] | None = None,
        device: str = "auto", dtype: str = "float32",
    ) -> None:  # fmt: skip
        self._paths = paths
        self._session = dict(session_keys or {})
        self._request, self._dtype = device, dtype
        self._store: KeyStore | None = None
        self._model: LanguageModel | None = None

    def catalogue(self) -> Catalogue:
        """Find keys, models and profiles; what is damaged is named, not fatal."""
        from pura.model.store import ModelStore

        problems: list[Failure] = []
        store = self._keys()
        keys = [
            KeyChoice(label=label, fingerprint=key.fingerprint, session=True)
            for label, key in self._session.items()
        ]
        try:
            keys += [KeyChoice(label=e.name, fingerprint=e.fingerprint) for e in store.list()]
        except PuraError as error:
            problems.append(Failure.of(error))
        models = tuple(
            ModelChoice(name=m.name, fingerprint=m.fingerprint, size_bytes=m.size_bytes,
                        parameters=m.parameters)
            for m in ModelStore(self._paths.models).list()
        )  # fmt: skip
        profiles = self._profiles(problems)
        policy = self._policy(problems)
        state = store.state() if store.available else State.NO_BACKEND
        return Catalogue(
            keys=tuple(keys), models=models, profiles=profiles, keyring=state,
            backend=store.title, problems=tuple(problems), policy=policy,
        )  # fmt: skip

    def device(self) -> DeviceWords:
        """Say where a model would run; this is where torch is first imported."""
        from pura.model import offline

        offline.prepare()
        from pura.model.device import choose_device

        found = choose_device(self._request, self._dtype)
        return DeviceWords(kind=found.kind, name=found.name, dtype=found.dtype, reason=found.reason)

    def run(
        self,
        request: Request,
        progress: Callable[[Progress], None],
        checkpoint: Callable[[], None],
    ) -> Audit:
        """Audit one text; the model stays loaded for the next."""
        from pura.audit.policy import load_policy
        from pura.audit.register import Register
        from pura.audit.run import Options, audit_document

        progress(Progress(step=0, name="model"))
        key = self._secret(request.key)
        model = self._load(request.model)
        checkpoint()
        register = Register(self._paths.register) if self._paths.register.exists() else None

        def report(stage: Stage) -> None:
            progress(
                Progress(step=stage.number, name=stage.name, done=stage.done, total=stage.total)
            )

        return audit_document(
            request.document, model=model, keys=[(key, request.key.label)],
            profile=request.profile,
            options=Options(
                prompt=request.prompt, policy=load_policy(self._paths.policy), register=register
            ),
            progress=report, checkpoint=checkpoint,
        )  # fmt: skip

    def do(
        self,
        chore: Chore,
        progress: Callable[[Progress], None],
        checkpoint: Callable[[], None],
    ) -> str | None:
        """Set a key, a model or a profile up."""
        return do_chore(chore, self._paths, self._keys(), self._session, progress, checkpoint)

    def _keys(self) -> KeyStore:
        if self._store is None:
            self._store = KeyStore(self._paths.config / "keys.json")
        return self._store

    def _secret(self, choice: KeyChoice) -> SecretKey:
        if choice.session and choice.label in self._session:
            return self._session[choice.label]
        if choice.fingerprint == sample().key.fingerprint:
            return sample().key
        return self._keys().get(choice.label)

    def _load(self, name: str) -> LanguageModel:
        if self._model is not None and self._model.name == name:
            return self._model
        self._model = None  # frees the memory of the other one first
        from pura.model import offline

        offline.prepare()
        from pura.model.device import choose_device
        from pura.model.load import load_model
        from pura.model.store import ModelStore

        installed = ModelStore(self._paths.models).get(name)
        self._model = load_model(installed, choose_device(self._request, self._dtype))
        return self._model

    def _policy(self, problems: list[Failure]) -> Policy | None:
        from pura.audit.policy import load_policy

        try:
            return load_policy(self._paths.policy)
        except PuraError as error:
            problems.append(Failure.of(error))
            return None

    def _profiles(self, problems: list[Failure]) -> tuple[ProfileChoice, ...]:
        found = []
        folder = self._paths.profiles
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                found.append(ProfileChoice(name=path.stem, profile=Profile.load(path)))
            except PuraError as error:
                words = f"{path.name}: {error.message}"
                problems.append(Failure(code=error.code, message=words, hint=error.hint))
        return tuple(found)

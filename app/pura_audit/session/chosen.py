"""Key, model and profile that are chosen, and what there is to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from PySide6.QtCore import QObject, Signal

from pura.audit.prepare import mismatches
from pura.base.errors import PuraError
from pura.model.device import Device
from pura.model.folder import InstalledModel
from pura_audit.jobs.queue import Done, Failure, Jobs, Outcome, Stopped
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.choices import Inventory, KeyChoice, ProfileChoice
from pura_audit.session.engine import AuditEngine

T = TypeVar("T")
SEPARATOR: Final = "/"
"""Between names of profiles in the settings: no name holds one."""


def pick_keys(
    choices: Sequence[KeyChoice], current: Sequence[KeyChoice], wanted: str
) -> tuple[KeyChoice, ...]:
    """Return the keys in use that are still there, else the remembered ones, else the first."""
    for fingerprints in ([key.fingerprint for key in current], wanted.split(",")):
        found = tuple(key for key in choices if key.fingerprint in fingerprints)
        if found:
            return found
    return tuple(choices[:1])


def pick(choices: Sequence[T], name: str, current: T | None, wanted: str) -> T | None:
    """Return the choice in use when it is still there, else the remembered one, else the first."""
    if current is not None and current in choices:
        return current
    return next((c for c in choices if getattr(c, name) == wanted), choices[0] if choices else None)


def pick_profiles(
    choices: Sequence[ProfileChoice], current: Sequence[ProfileChoice], wanted: str
) -> tuple[ProfileChoice, ...]:
    """Return the profiles in use that are still there, else the remembered ones, else the first."""
    for names in ([choice.name for choice in current], wanted.split(SEPARATOR)):
        found = tuple(choice for choice in choices if choice.name in names)
        if found:
            return in_order(found)
    return tuple(choices[:1])


def in_order(
    chosen: Sequence[ProfileChoice], before: Sequence[ProfileChoice] = ()
) -> tuple[ProfileChoice, ...]:
    """Return what an audit can take: one profile of PURA's first, then marks by others.

    Args:
        chosen: What is ticked.
        before: What was; of several of PURA's profiles the one that is new is meant.
    """
    own = [choice for choice in chosen if choice.profile.foreign is None]
    new = [choice for choice in own if choice not in before] or own
    return (*new[:1], *(choice for choice in chosen if choice.profile.foreign is not None))


class Chosen(QObject):
    """What audits are made with.

    Args:
        engine: Knows what there is.
        jobs: Where it looks.
        settings: Remember what was chosen.

    Attributes:
        catalogue: What there is to choose from; None until it was looked through.
        device: Where a model runs; None until it is known.
        keys: Every audit tries them all.
        model: The one that reads.
        profiles: Every audit tries them all; one of PURA's comes first.

    Signals:
        changed: Key, model or profile, or what there is to choose from.
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
        self.keys: tuple[KeyChoice, ...] = ()
        self.model: InstalledModel | None = None
        self.profiles: tuple[ProfileChoice, ...] = ()

    @property
    def key(self) -> KeyChoice | None:
        """The key that is chosen; the first, when several are."""
        return self.keys[0] if self.keys else None

    def choose_keys(self, keys: Sequence[KeyChoice]) -> None:
        """Use these keys from now on: every audit tries them all in one pass of the model."""
        self.keys = tuple(keys)
        self._settings.update(key=",".join(key.fingerprint for key in self.keys))
        self.changed.emit()

    def choose_model(self, model: InstalledModel) -> None:
        """Use a model from now on."""
        self.model = model
        self._settings.update(model=model.name)
        self.changed.emit()

    @property
    def profile(self) -> ProfileChoice | None:
        """The profile that is chosen; the first, when several are."""
        return self.profiles[0] if self.profiles else None

    def choose_profiles(self, profiles: Sequence[ProfileChoice]) -> None:
        """Use these profiles from now on: every audit tries them all.

        Only one can be PURA's, the one that was chosen last, and it comes first.
        """
        self.profiles = in_order(profiles, self.profiles)
        self._settings.update(profile=SEPARATOR.join(choice.name for choice in self.profiles))
        self.changed.emit()

    @property
    def missing(self) -> tuple[str, ...]:
        """Which of ``key``, ``model`` and ``profile`` are not chosen; empty while it is looked."""
        if self.catalogue is None:
            return ()
        chosen = {"key": self.keys, "model": self.model, "profile": self.profile}
        return tuple(name for name, choice in chosen.items() if not choice)

    @property
    def ready(self) -> bool:
        """Whether key, model and profile are chosen."""
        return bool(self.keys) and self.model is not None and self.profile is not None

    def mismatches(self) -> tuple[PuraError, ...]:
        """Return why key, model and profile that are chosen cannot go together."""
        facts = self.model
        if facts is None:
            return ()
        known = self.catalogue.keys if self.catalogue is not None else ()
        return tuple(
            problem
            for place, choice in enumerate(self.profiles)
            for problem in mismatches(
                choice.profile,
                model=facts.name,
                vocab_size=facts.vocab_size,
                tokenizer=facts.tokenizer_fingerprint,
                # Those that seal further profiles need not be chosen: they are found.
                keys=[key.fingerprint for key in (*self.keys, *(known if place else ()))],
            )
        )

    def look_around(self) -> None:
        """Find keys, models and profiles."""
        self._stores.do(lambda _: self._engine.catalogue(), self._catalogued, self, aside=True)

    def find_device(self) -> None:
        """Import torch and find the device."""
        self._model.do(lambda _: self._engine.device(), self._placed, self, aside=True)

    def _catalogued(self, outcome: Outcome[Inventory]) -> None:
        if not isinstance(outcome, Done):
            return  # the log has it; what was there before stays
        self.catalogue = catalogue = outcome.result
        now = self._settings.current
        self.keys = pick_keys(catalogue.keys, self.keys, now.key)
        self.model = pick(catalogue.models, "name", self.model, now.model)
        self.profiles = pick_profiles(catalogue.profiles, self.profiles, now.profile)
        self.changed.emit()

    def _placed(self, outcome: Outcome[Device]) -> None:
        if isinstance(outcome, Stopped):
            return
        self.device = outcome.result if isinstance(outcome, Done) else outcome
        self.device_changed.emit()

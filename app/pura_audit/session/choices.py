"""What there is to choose from: frozen values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pura.keys import KeyEntry, KeyRef, Place, State
from pura.model.device import MemoryNeed
from pura.model.folder import InstalledModel
from pura.register.issue_log import Usage
from pura.scheme import Profile
from pura.verdict.policy import Policy
from pura_audit.jobs.queue import Failure


@dataclass(frozen=True, kw_only=True)
class KeyChoice:
    """A key that can be chosen.

    Attributes:
        label: Its name.
        fingerprint: 16 hex digits.
        session: It lives in memory only, for this run.
        entry: What else is known of a stored key.
        usage: What refers to it.
    """

    label: str
    fingerprint: str
    session: bool = False
    entry: KeyEntry | None = field(default=None, compare=False)
    usage: Usage | None = field(default=None, compare=False)

    @property
    def ref(self) -> KeyRef:
        """How use cases are told of it."""
        return KeyRef(fingerprint=self.fingerprint, label=self.label, entry=self.entry)


@dataclass(frozen=True, kw_only=True)
class ProfileChoice:
    """A stored profile.

    Attributes:
        name: Of the file, without its ending.
        profile: What it holds.
        notes: What was done to read the file (``pura.scheme.profile_versions.NOTES``).
    """

    name: str
    profile: Profile
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """How people call it."""
        return self.profile.name or self.name


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """What is there to choose from.

    Attributes:
        keys: Known keys.
        models: Installed models.
        rooms: By the name of a model, whether it fits into the memory here.
        profiles: Stored profiles that are sound.
        place: Where new keys go; None when there is neither keyring nor folder yet.
        keyring: State of that place.
        backend: How that place is called.
        files: State of the folder of encrypted key files; "no backend" when it was never set up.
        exposed: Files of keys that others on this computer get at, with the way out.
        problems: What could not be read, in words.
        policy: The decision rule in force; None when its file is damaged.
    """

    keys: tuple[KeyChoice, ...] = ()
    models: tuple[InstalledModel, ...] = ()
    rooms: Mapping[str, MemoryNeed] = field(default_factory=dict)
    profiles: tuple[ProfileChoice, ...] = ()
    place: Place | None = None
    keyring: State = State.NO_BACKEND
    backend: str = ""
    files: State = State.NO_BACKEND
    exposed: tuple[Failure, ...] = ()
    problems: tuple[Failure, ...] = ()
    policy: Policy | None = None

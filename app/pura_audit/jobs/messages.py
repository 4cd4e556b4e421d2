"""What travels between the window and its threads: frozen values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pura.base.errors import PuraError
from pura.documents import Document
from pura.keys import KeyEntry, State
from pura.model.installed import InstalledModel
from pura.model.memory import Room
from pura.register.key_usage import Usage
from pura.scheme import Profile
from pura.verdict.policy import Policy
from pura_audit.platform.i18n import language


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a job is.

    Attributes:
        step: 1 … 12, the step of the audit; 0 while the model is loaded.
        name: Of the step.
        done: Pieces of work done within the step.
        total: Pieces of the step; 0 when they are not counted.
        seconds_left: Estimate, or None.
    """

    step: int
    name: str
    done: int = 0
    total: int = 0
    seconds_left: float | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a text could not be audited, in words.

    Attributes:
        code: For programs.
        message: What happened and what it means.
        hint: The way out.
    """

    code: str
    message: str
    hint: str

    @classmethod
    def of(cls, error: PuraError) -> Failure:
        """Take the words of one of our errors."""
        message, hint = error.words(language())
        return cls(code=error.code, message=message, hint=hint)


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


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """An installed model.

    Attributes:
        name: Its name in the store.
        fingerprint: Of its weights.
        size_bytes: Of all its files.
        parameters: Numbers in it.
        facts: What else is known of it.
        room: Whether it fits into the memory here.
    """

    name: str
    fingerprint: str
    size_bytes: int
    parameters: int
    facts: InstalledModel | None = field(default=None, compare=False)
    room: Room | None = field(default=None, compare=False)


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
class Catalogue:
    """What is there to choose from.

    Attributes:
        keys: Known keys.
        models: Installed models.
        profiles: Stored profiles that are sound.
        keyring: State of the keyring.
        backend: How the keyring is called.
        files: State of the folder of encrypted key files; "no backend" when it was never set up.
        problems: What could not be read, in words.
        policy: The decision rule in force; None when its file is damaged.
    """

    keys: tuple[KeyChoice, ...] = ()
    models: tuple[ModelChoice, ...] = ()
    profiles: tuple[ProfileChoice, ...] = ()
    keyring: State = State.NO_BACKEND
    backend: str = ""
    files: State = State.NO_BACKEND
    problems: tuple[Failure, ...] = ()
    policy: Policy | None = None


@dataclass(frozen=True, kw_only=True)
class DeviceWords:
    """Where the model runs, for the badge.

    Attributes:
        kind: ``cpu``, ``cuda`` or ``mps``.
        name: Of the chip.
        dtype: Number format.
        reason: Why this one.
    """

    kind: str
    name: str
    dtype: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """One audit to be done.

    Attributes:
        document: The text and where it came from.
        keys: The keys, by their fingerprints; all are tried in one pass of the model.
        model: Name of the installed model.
        profile: The profile.
        prompt: The prompt, when it is known.
    """

    document: Document
    keys: tuple[KeyChoice, ...]
    model: str
    profile: Profile
    prompt: str | None = None


@dataclass(frozen=True, kw_only=True)
class Chore:
    """Something to set up before an audit.

    Attributes:
        kind: ``new-key``, ``import-key``, ``install-model``, ``add-model``, ``new-profile``,
            ``import-profile`` or ``import-register``.
        name: What it shall be called; the profile whose payloads a register lists.
        path: The file or folder to take in; for the kinds that import.
        bits: Payload bits of a new profile.
    """

    kind: str
    name: str = ""
    path: Path | None = None
    bits: int = 36

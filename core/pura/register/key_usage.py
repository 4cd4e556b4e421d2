"""What refers to a key: named before it is deleted, since it can no longer be verified then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pura.base.errors import PuraError
from pura.keys.entries import KeyEntry
from pura.scheme import Profile


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What is known to need a key.

    Attributes:
        entry: The key.
        profiles: Names of stored profiles that belong to it.
        derived: Keys that were derived from it; they stay, but cannot be derived again.
        entries: Issued payloads in the register that are as long as those profiles' payloads; the
            register does not say under which profile each was issued.
    """

    entry: KeyEntry
    profiles: tuple[str, ...] = ()
    derived: tuple[KeyEntry, ...] = ()
    entries: int = 0


def find_usage(
    entry: KeyEntry, entries: tuple[KeyEntry, ...], profiles: Path, register: Path
) -> Usage:
    """Look up what refers to a key.

    Args:
        entry: The key.
        entries: All known keys.
        profiles: Folder of the stored profiles.
        register: The register's file; need not exist.
    """
    bound = {}
    for path in sorted(profiles.glob("*.json")) if profiles.is_dir() else ():
        try:
            profile = Profile.load(path)
        except PuraError:
            continue  # a damaged profile is told about where profiles are listed
        if profile.key == entry.fingerprint:
            bound[profile.name or path.stem] = profile.payload_bits
    derived = tuple(e for e in entries if e.master == entry.fingerprint and e is not entry)
    return Usage(
        entry=entry,
        profiles=tuple(bound),
        derived=derived,
        entries=_issued(register, frozenset(bound.values())),
    )


def sentences(usage: Usage) -> tuple[str, ...]:
    """Say what can no longer be done without the key, a sentence each."""
    entry = usage.entry
    said = [
        (
            f"Texts marked with the key “{entry.name}” ({entry.fingerprint}) can no longer be "
            "verified on this computer."
        ),
    ]
    if entry.deployment:
        said.append(
            f"It serves the deployment “{entry.deployment}”. Whoever holds the master key "
            f"({entry.master}) can derive it again."
        )
    if usage.profiles:
        said.append(f"Profiles that belong to it: {_names(usage.profiles)}.")
    if usage.entries:
        said.append(f"Payloads in the register that fit these profiles: {usage.entries:,}.")
    if usage.derived:
        names = _names(tuple(e.name for e in usage.derived))
        said.append(f"Derived from it: {names}. They stay, but cannot be derived again.")
    said.append("Audits that were recorded stay readable; they cannot be repeated.")
    if not entry.deployment:
        said.append("Without an exported copy this cannot be undone.")
    return tuple(said)


def _issued(register: Path, lengths: frozenset[int]) -> int:
    from pura.register.store import Register

    if not lengths or not register.exists():
        return 0
    try:
        with Register(register, read_only=True) as opened:
            return sum(opened.count(bits) for bits in lengths)
    except PuraError:
        return 0  # damaged; that is told about where the register is used


def _names(names: tuple[str, ...], most: int = 6) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:most])
    left = len(names) - most
    return f"{shown} and {left} more" if left > 0 else shown

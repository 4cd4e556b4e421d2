"""Uses of a key: profiles, derived keys, and payloads issued under it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pura.base.catalogue import Value, catalogue, phrase, quoted
from pura.base.errors import PuraError
from pura.keys.entries import KeyEntry
from pura.register.store import Register
from pura.scheme import Profile


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Known uses of a key.

    Attributes:
        entry: The key.
        profiles: Names of stored profiles that belong to it.
        derived: Keys derived from it; they remain, but cannot be derived again.
        entries: Number of payloads in the register that were issued under it.
    """

    entry: KeyEntry
    profiles: tuple[str, ...] = ()
    derived: tuple[KeyEntry, ...] = ()
    entries: int = 0


def find_usage(
    entry: KeyEntry, entries: tuple[KeyEntry, ...], profiles: Path, register: Path
) -> Usage:
    """Look up the uses of a key.

    Args:
        entry: The key.
        entries: All known keys.
        profiles: Folder of the stored profiles.
        register: File of the register, which need not exist.
    """
    bound = []
    for path in sorted(profiles.glob("*.json")) if profiles.is_dir() else ():
        try:
            profile = Profile.load(path)
        except PuraError:
            continue  # the list of profiles reports damaged ones
        if profile.key == entry.fingerprint:
            bound.append(profile.name or path.stem)
    derived = tuple(e for e in entries if e.master == entry.fingerprint and e is not entry)
    return Usage(
        entry=entry,
        profiles=tuple(bound),
        derived=derived,
        entries=_issued(register, entry),
    )


def sentences(usage: Usage, language: str = "en") -> tuple[str, ...]:
    """Return a sentence for each thing that becomes impossible without the key."""
    entry = usage.entry
    derived = tuple(e.name for e in usage.derived)
    rows: tuple[tuple[bool, str, dict[str, Value]], ...] = (
        (True, "texts", {"name": entry.name, "fingerprint": entry.fingerprint}),
        (
            bool(entry.deployment),
            "deployment",
            {"deployment": entry.deployment or "", "master": entry.master or ""},
        ),
        (bool(usage.profiles), "profiles", _names(usage.profiles)),
        (bool(usage.entries), "payloads", {"count": usage.entries}),
        (bool(derived), "derived", _names(derived)),
        (True, "audits", {}),
        (not entry.deployment, "for-good", {}),
    )
    texts = catalogue("command")
    return tuple(
        texts.fill(f"usage.{key}", language, values) for holds, key, values in rows if holds
    )


def _issued(register: Path, entry: KeyEntry) -> int:
    if not register.exists():
        return 0
    origin = entry.origin
    try:
        with Register(register, read_only=True) as opened:
            if origin is None:
                return opened.count_of_key(entry.fingerprint)
            return opened.count_of_key(origin.parent, origin.epoch)
    except PuraError:
        return 0  # damage is reported where the register is used


def _names(names: tuple[str, ...], limit: int = 6) -> dict[str, Value]:
    left = len(names) - limit
    rest = phrase("usage.more", count=left) if left > 0 else ""
    return {"names": quoted(names[:limit]), "more": rest}

"""Secrets in memory: keys of this run only, beside those that are stored, and what was typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pura.keys.entries import KeyEntry, no_such_key
from pura.scheme import SecretKey
from pura.scheme.keys import wipe_buffer


class Secret:
    """Bytes that never print, cannot be pickled, and are overwritten when they have been used.

    Args:
        data: The bytes; they belong to the secret from now on.
    """

    __slots__ = ("_bytes",)

    def __init__(self, data: bytearray) -> None:
        self._bytes = data

    def copy(self) -> bytearray:
        """Return a copy, which the caller wipes."""
        return bytearray(self._bytes)

    @contextmanager
    def used(self) -> Iterator[bytearray]:
        """Lend the bytes once; they are overwritten afterwards, whatever happens."""
        try:
            yield self._bytes
        finally:
            self.wipe()

    def wipe(self) -> None:
        """Overwrite it."""
        wipe_buffer(self._bytes)

    def __repr__(self) -> str:
        return "<Secret>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret is not pickled")


@dataclass(frozen=True, kw_only=True)
class KeyRef:
    """A key as others speak of it; never the key itself.

    Attributes:
        fingerprint: 16 hex digits.
        label: Its name, as records and people have it; None when it has none.
        root: Fingerprint of the key that it is derived from when it is needed; empty for a key that
            is here itself.
        epoch: The day, week or month that it is derived for.
        entry: What the store knows of it, where that was looked up already.
    """

    fingerprint: str
    label: str | None = None
    root: str = ""
    epoch: str = ""
    entry: KeyEntry | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, entry: KeyEntry) -> KeyRef:
        """Return the key of an entry of the store."""
        return cls(fingerprint=entry.fingerprint, label=entry.name, entry=entry)


class SessionKeys:
    """Keys of this run, by fingerprint.

    Args:
        keys: Keys by name; they belong to the session from now on.
    """

    def __init__(self, keys: Mapping[str, SecretKey] | None = None) -> None:
        self._keys: dict[str, tuple[SecretKey, str | None]] = {}
        for label, key in (keys or {}).items():
            self.add(key, label)

    def refs(self) -> tuple[KeyRef, ...]:
        """Return which keys there are."""
        return tuple(KeyRef(fingerprint=f, label=label) for f, (_, label) in self._keys.items())

    def add(self, key: SecretKey, label: str | None = None) -> KeyRef:
        """Take a key in; one that is there keeps the name that it has."""
        held = self._keys.setdefault(key.fingerprint, (key, label))[0]
        if held is not key:
            key.wipe()
        return KeyRef(fingerprint=held.fingerprint, label=self._keys[held.fingerprint][1])

    def get(self, fingerprint: str) -> SecretKey | None:
        """Return a key, which stays the session's; None when it is not here."""
        found = self._keys.get(fingerprint)
        return found[0] if found else None

    def named(self, label: str) -> KeyRef | None:
        """Return the key of a name, or None."""
        return next((ref for ref in self.refs() if ref.label == label), None)

    def rename(self, label: str, new: str) -> KeyRef:
        """Give a key another name."""
        ref = self._the(label)
        key, _ = self._keys[ref.fingerprint]
        self._keys[ref.fingerprint] = key, new
        return KeyRef(fingerprint=ref.fingerprint, label=new)

    def remove(self, label: str) -> KeyRef:
        """Overwrite a key."""
        ref = self._the(label)
        self._keys.pop(ref.fingerprint)[0].wipe()
        return ref

    def wipe(self) -> None:
        """Overwrite all of them."""
        for key, _ in self._keys.values():
            key.wipe()
        self._keys.clear()

    def _the(self, label: str) -> KeyRef:
        ref = self.named(label)
        if ref is None:
            raise no_such_key(label, (one.label or one.fingerprint for one in self.refs()))
        return ref

"""Secrets in memory: keys that are used in this run without being stored, and typed secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pura.keys.entries import KeyEntry, no_such_key
from pura.scheme import SecretKey
from pura.scheme.keys import wipe_buffer


class Secret:
    """Bytes that are never printed or pickled, and are overwritten after use.

    Args:
        secret_bytes: The bytes, which belong to the secret from now on.
    """

    __slots__ = ("_bytes",)

    def __init__(self, secret_bytes: bytearray) -> None:
        self._bytes = secret_bytes

    def copy(self) -> bytearray:
        """Return a copy, which the caller wipes."""
        return bytearray(self._bytes)

    @contextmanager
    def used(self) -> Iterator[bytearray]:
        """Return the bytes for one use; they are overwritten afterwards in any case."""
        try:
            yield self._bytes
        finally:
            self.wipe()

    def wipe(self) -> None:
        """Overwrite the secret."""
        wipe_buffer(self._bytes)

    def __repr__(self) -> str:
        return "<Secret>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret is not pickled")


@dataclass(frozen=True, kw_only=True)
class KeyRef:
    """A reference to a key, never the key itself.

    Attributes:
        fingerprint: Fingerprint of the key, 16 hex digits.
        label: Name of the key in records and for people; None if it has none.
        root: Fingerprint of the key that it is derived from when it is needed; empty for a key that
            is available itself.
        epoch: The day, week or month that it is derived for.
        entry: Its entry in the store, if it was read already.
    """

    fingerprint: str
    label: str | None = None
    root: str = ""
    epoch: str = ""
    entry: KeyEntry | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, entry: KeyEntry) -> KeyRef:
        """Return a reference to the key of an entry of the store."""
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
        """Return references to all keys of the session."""
        return tuple(KeyRef(fingerprint=f, label=label) for f, (_, label) in self._keys.items())

    def add(self, key: SecretKey, label: str | None = None) -> KeyRef:
        """Add a key; a key that the session already has keeps its name."""
        stored_key = self._keys.setdefault(key.fingerprint, (key, label))[0]
        if stored_key is not key:
            key.wipe()
        return KeyRef(
            fingerprint=stored_key.fingerprint, label=self._keys[stored_key.fingerprint][1]
        )

    def get(self, fingerprint: str) -> SecretKey | None:
        """Return a key, which the session continues to own; None if it does not have the key."""
        stored = self._keys.get(fingerprint)
        return stored[0] if stored else None

    def named(self, label: str) -> KeyRef | None:
        """Return a reference to the key with a name, or None."""
        return next((ref for ref in self.refs() if ref.label == label), None)

    def rename(self, label: str, new: str) -> KeyRef:
        """Rename a key."""
        ref = self._require(label)
        key, _ = self._keys[ref.fingerprint]
        self._keys[ref.fingerprint] = key, new
        return KeyRef(fingerprint=ref.fingerprint, label=new)

    def remove(self, label: str) -> KeyRef:
        """Overwrite a key and remove it from the session."""
        ref = self._require(label)
        self._keys.pop(ref.fingerprint)[0].wipe()
        return ref

    def wipe(self) -> None:
        """Overwrite and remove all keys."""
        for key, _ in self._keys.values():
            key.wipe()
        self._keys.clear()

    def _require(self, label: str) -> KeyRef:
        ref = self.named(label)
        if ref is None:
            raise no_such_key(label, (ref.label or ref.fingerprint for ref in self.refs()))
        return ref

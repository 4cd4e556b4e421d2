"""A passphrase or a typed key on its way from whoever asked for it to where it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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

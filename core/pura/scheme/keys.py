"""The secret key and everything that is derived from it (scheme.md §1).

The pseudo-random function is keyed BLAKE2b read as an integer, so every derived value is the same
on every machine, device and library version.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b, shake_256
from importlib import import_module
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from pura.base.arguments import check_argument
from pura.base.errors import KeyFormatError
from pura.base.process import SLOT, LockedBytes

KEY_BYTES: Final = SLOT
LABEL_SEED: Final = b"pura1-seed"
LABEL_INDEX: Final = b"pura1-index"
_LABEL_FINGERPRINT: Final = b"pura1-fprint"
_LABEL_ORDER: Final = b"pura1-perm"
_UNIT: Final = 2.0**-53


def wipe_buffer(buffer: bytearray) -> None:
    """Overwrite a buffer that held a secret, and empty it."""
    buffer[:] = bytes(len(buffer))
    buffer.clear()


def fingerprint_of(secret: bytes | bytearray | memoryview) -> str:
    """Return the fingerprint of the 32 bytes of a key: 16 hex digits (scheme.md §1)."""
    return blake2b(key=secret, person=_LABEL_FINGERPRINT, digest_size=8).hexdigest()


def unit_interval(value: int) -> float:
    """Map a 128-bit integer to [0, 1) by its top 53 bits, exact in a float64."""
    return (value >> 75) * _UNIT


@dataclass(frozen=True, kw_only=True)
class KeyOrigin:
    """Which key an epoch's key was derived from, and for which epoch.

    Attributes:
        parent: Fingerprint of the key that all its epochs' keys are derived from.
        epoch: Day ``2026-11-28``, ISO week ``2026-W48`` or month ``2026-11``.
    """

    parent: str
    epoch: str


class SecretKey:
    """32 secret random bytes shared by generator and verifier.

    Hazard: whoever holds the key can forge marks and read every text that carries one. It never
    prints: ``repr`` and ``str`` show the fingerprint only. Compare keys by fingerprint.

    As a context manager it wipes itself at the end of the block.

    Args:
        data: The 32 bytes; they are copied.
        origin: The key and the epoch that it was derived from; None for a key of its own.
    """

    __slots__ = ("_bytes", "_fingerprint", "_origin")

    def __init__(self, data: bytes | bytearray, origin: KeyOrigin | None = None) -> None:
        check_argument("data", data, (bytes, bytearray, memoryview), "key-bytes")
        if len(data) != KEY_BYTES:
            raise KeyFormatError("key.not-a-key", key_bytes=KEY_BYTES, hex=2 * KEY_BYTES)
        self._bytes = LockedBytes(data)
        self._origin = origin
        self._fingerprint = fingerprint_of(self._secret())

    @classmethod
    def generate(cls) -> SecretKey:
        """Return a fresh key from the operating system's randomness."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def load(cls, path: str | Path, passphrase: str | None = None) -> SecretKey:
        """Read a key from a file: 64 hex digits, base64, or encrypted (``.purakey``).

        Args:
            path: The file.
            passphrase: Of an encrypted one.

        Raises:
            PuraError: It cannot be read, is no key, or the passphrase is missing or wrong.

        Examples:
            As a program says it::

                key = SecretKey.load("newsroom.key")
        """
        # Encrypted files are read above this package, which serving stacks take alone.
        read_key: Callable[[str | Path, str | None], SecretKey]
        read_key = import_module("pura.api").read_key
        return read_key(path, passphrase)

    @classmethod
    def from_hex(cls, text: str) -> SecretKey:
        """Read a key from 64 hex digits; surrounding white space is ignored.

        Raises:
            KeyFormatError: Not 64 hex digits. The message never repeats the text.

        Examples:
            >>> with SecretKey.from_hex("5a" * 32) as key:
            ...     key.fingerprint
            '0ab5a5798df1ea51'
        """
        check_argument("text", text, str, "words")
        digits = text.strip()
        if len(digits) != 2 * KEY_BYTES:
            raise KeyFormatError("key.not-a-key", hex=2 * KEY_BYTES, key_bytes=KEY_BYTES)
        try:
            return cls._taking(bytearray.fromhex(digits))
        except ValueError:
            raise KeyFormatError("key.not-a-key", hex=2 * KEY_BYTES, key_bytes=KEY_BYTES) from None

    @classmethod
    def from_base64(cls, text: str) -> SecretKey:
        """Read a key from base64, usual or URL-safe, with or without ``=`` at the end.

        Raises:
            KeyFormatError: Not base64 of 32 bytes. The message never repeats the text.
        """
        check_argument("text", text, str, "words")
        letters = text.strip().rstrip("=").replace("-", "+").replace("_", "/")
        try:
            data = base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
        except (binascii.Error, ValueError):
            raise KeyFormatError("key.not-a-key", hex=2 * KEY_BYTES, key_bytes=KEY_BYTES) from None
        return cls._taking(bytearray(data))

    @classmethod
    def _taking(cls, data: bytearray) -> SecretKey:
        """Make a key of a buffer, and wipe the buffer."""
        try:
            return cls(data)
        finally:
            wipe_buffer(data)

    def to_hex(self) -> str:
        """Return the secret as 64 hex digits. Hazard: only for the key store and key export."""
        return self._secret().hex()

    def copy_secret(self) -> bytearray:
        """Return a copy of the 32 bytes. Hazard: whoever calls this wipes it."""
        return bytearray(self._secret())

    @property
    def fingerprint(self) -> str:
        """16 hex digits: all of the key that is ever shown."""
        return self._fingerprint

    @property
    def origin(self) -> KeyOrigin | None:
        """The key and the epoch that it was derived from; None for a key of its own."""
        return self._origin

    def note_origin(self, origin: KeyOrigin | None) -> None:
        """Note what a key was derived from, where whoever stores it knows that."""
        self._origin = origin

    def prf(self, label: bytes, context: bytes) -> int:
        """Return ``F(label, context)``, a 128-bit integer (scheme.md §1)."""
        digest = blake2b(context, key=self._secret(), person=label, digest_size=16).digest()
        return int.from_bytes(digest, "little")

    def vocabulary_order(self, vocab_size: int) -> npt.NDArray[np.int64]:
        """Return the secret order Π: ``order[k]`` is the token id at rank ``k``.

        Args:
            vocab_size: ``V``, the tokenizer's size.

        Returns:
            int64 [V], a permutation of 0 … V-1.
        """
        data = bytearray(_LABEL_ORDER) + self._secret() + vocab_size.to_bytes(8, "little")
        draws = np.frombuffer(shake_256(data).digest(8 * vocab_size), dtype="<u8")
        wipe_buffer(data)
        order = np.argsort(draws)
        held = draws[order]
        # Equal draws, of which there are hardly ever any, stay in the order of their ids.
        if (held[1:] == held[:-1]).any():
            order = np.argsort(draws, kind="stable")
        return order.astype(np.int64)

    def wipe(self) -> None:
        """Overwrite the secret in memory, as far as Python allows; the key is unusable after."""
        self._bytes.wipe()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wipe()

    def _secret(self) -> memoryview:
        # BLAKE2b takes an empty key in silence; a wiped key must not become that one.
        secret = self._bytes.view
        if secret is None:
            raise KeyFormatError("key.wiped")
        return secret

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretKey) and secrets.compare_digest(
            self._bytes.view or b"", other._bytes.view or b""
        )

    def __hash__(self) -> int:
        return hash(self._fingerprint)

    def __repr__(self) -> str:
        return f"<SecretKey {self._fingerprint}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret key is not pickled")


def ranks(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Invert a secret order: ``ranks(order)[v]`` is the rank of token id ``v``; int64 [V]."""
    inverse = np.empty_like(order)
    inverse[order] = np.arange(order.size, dtype=order.dtype)
    return inverse

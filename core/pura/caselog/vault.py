"""Kept text under a passphrase.

A random key encrypts the content (AES-256-GCM); the passphrase encrypts that key, in the form of
our encrypted key files (docs/key-formats.md), so that there is one derivation to trust and many
texts cost one derivation.
"""

from __future__ import annotations

import os
import struct
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pura.base.errors import CaseLogError, KeyFormatError
from pura.keys.sealed import check_passphrase, seal, unseal
from pura.scheme.keys import wipe_buffer

MAGIC: Final = b"PURASEAL1\n"
_SIZE: Final = struct.Struct("<I")
_NONCE: Final = 12
_MAX_WRAPPED: Final = 16 << 10


class Vault:
    """Encrypts under one passphrase; wipe it after use.

    Args:
        passphrase: UTF-8; at least as long as one of a key file.

    Raises:
        KeyFormatError: The passphrase is too short.
    """

    def __init__(self, passphrase: bytearray) -> None:
        check_passphrase(passphrase)
        self._key = bytearray(os.urandom(32))
        self._wrapped = seal(self._key, passphrase)

    def lock(self, content: bytes) -> bytes:
        """Encrypt."""
        nonce = os.urandom(_NONCE)
        head = MAGIC + _SIZE.pack(len(self._wrapped)) + self._wrapped
        return head + nonce + AESGCM(self._key).encrypt(nonce, content, head)

    def wipe(self) -> None:
        """Overwrite the key in memory."""
        wipe_buffer(self._key)


def unlock(sealed: bytes, passphrase: bytearray) -> bytes:
    """Decrypt.

    Raises:
        CaseLogError: The passphrase is wrong, or the content is damaged.
    """
    start = len(MAGIC) + _SIZE.size
    if not sealed.startswith(MAGIC) or len(sealed) < start:
        raise _damaged()
    (size,) = _SIZE.unpack_from(sealed, len(MAGIC))
    head, rest = sealed[: start + size], sealed[start + size :]
    if size > _MAX_WRAPPED or len(rest) < _NONCE:
        raise _damaged()
    try:
        key = unseal(head[start:], passphrase)
    except KeyFormatError as error:
        if error.code == "key-file-passphrase":
            raise CaseLogError("passphrase.wrong", code="case-log-passphrase") from None
        raise _damaged() from None
    try:
        return AESGCM(key).decrypt(rest[:_NONCE], rest[_NONCE:], head)
    except InvalidTag:
        raise _damaged() from None
    finally:
        wipe_buffer(key)


def _damaged() -> CaseLogError:
    return CaseLogError("caselog.kept-damaged", code="case-log-altered")

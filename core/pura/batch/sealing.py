"""Keys for one process elsewhere, sealed so that nobody on the way can read them.

The process makes a pair of keys (X25519) and keeps the private one in its memory. Whoever has the
secrets makes a pair for this one message and encrypts them under what both pairs have in common
(HKDF-SHA256, ChaCha20-Poly1305). So nothing that carries, stores, shows or logs messages holds a
secret that it could open, not even later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pura.base.errors import InputError
from pura.scheme.keys import KEY_BYTES, wipe_buffer

_LABEL: Final = b"pura-batch/1"
_PUBLIC: Final = 32
_NONCE: Final = bytes(12)  # of a key that encrypts one message only


class Receiver:
    """The private end: opens what was sealed for it, in this process alone."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()

    @property
    def public(self) -> bytes:
        """What secrets are sealed for; 32 bytes, no secret."""
        return self._private.public_key().public_bytes_raw()

    def open(self, sealed: bytes) -> list[bytearray]:
        """Return the secrets of a message; they belong to the caller, who wipes them.

        Raises:
            InputError: It was sealed for another process, or was altered.
        """
        sender, body = sealed[:_PUBLIC], sealed[_PUBLIC:]
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(sender))
            cipher = _cipher(shared, sender, self.public)
            joined = bytearray(cipher.decrypt(_NONCE, body, sender + self.public))
        except (InvalidTag, ValueError):
            raise InputError("batch.seal", code="batch-seal") from None
        try:
            return [joined[at : at + KEY_BYTES] for at in range(0, len(joined), KEY_BYTES)]
        finally:
            wipe_buffer(joined)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("the private end stays in its process")


def seal(public: bytes, secrets: Sequence[bytearray]) -> bytes:
    """Seal keys for the process that has the private end; they are overwritten here.

    Args:
        public: From :attr:`Receiver.public`.
        secrets: Keys of 32 bytes each.
    """
    once = X25519PrivateKey.generate()
    sender = once.public_key().public_bytes_raw()
    joined = bytearray().join(secrets)
    try:
        shared = once.exchange(X25519PublicKey.from_public_bytes(public))
        body = _cipher(shared, sender, public).encrypt(_NONCE, joined, sender + public)
        return sender + body
    finally:
        for buffer in (joined, *secrets):
            wipe_buffer(buffer)


def _cipher(shared: bytes, sender: bytes, receiver: bytes) -> ChaCha20Poly1305:
    info = _LABEL + sender + receiver
    key = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(shared)
    return ChaCha20Poly1305(key)

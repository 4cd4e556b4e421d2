"""The values that travel through a batch.

Texts, findings, and keys sealed for a worker elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pura.base.errors import InputError, PuraError
from pura.documents import Document
from pura.scheme.keys import KEY_BYTES, wipe_buffer


@dataclass(frozen=True, kw_only=True)
class TextSource:
    """Where a text stands; ``(input, item, piece)`` orders all texts, and names each once.

    Attributes:
        input: Number of the file in the order of the inputs, from 1.
        item: Number of the row, message or entry within a table, mailbox or archive, from 1.
        piece: Number of the text within that, from 1: a message may have attachments.
        path: Full path of the file.
        id: The caller's own identifier, from a table that has one.
        part: Which part of the file; empty when the file is one text.
    """

    input: int
    item: int
    piece: int
    path: str
    id: str | None = None
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Text:
    """An item that a text could be made of.

    Attributes:
        source: Where it stands.
        document: The text.
        digest: SHA-256 of its characters in UTF-8, 64 hex digits.
    """

    source: TextSource
    document: Document
    digest: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An item that no text could be made of.

    Attributes:
        source: Where it stands.
        error: Why.
    """

    source: TextSource
    error: PuraError


Item = Text | Refusal


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Items that are read in one go: those of a file, or some rows of a table.

    Attributes:
        input: Number of the file, from 1.
        slice: Which part of the file, from 0.
        mark: Says whether it is what it was when the batch was interrupted.
        weight: Its bytes, for the time that is left.
        read: Reads it; everything that can go wrong is in the items.
    """

    input: int
    slice: int
    mark: str
    weight: int
    read: Callable[[], list[Item]]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Texts that are handed to a worker together; the same ones in every run.

    Attributes:
        number: Counts up.
        texts: The texts.
    """

    number: int
    texts: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found in a text, without where it stands: the same for every row that has it.

    Attributes:
        row: The columns of a row that speak of the text (:mod:`pura.batch.rows`).
        seconds: How long it took.
        record: The whole record, packed; None where nobody wants it.
        alone: It was read by itself, since reading it beside others failed.
    """

    row: Mapping[str, Any]
    seconds: float
    record: bytes | None = None
    alone: bool = False


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

"""What the question store's key does: seal rows, and name terms so that nobody else can.

A term is a word, a mark or a customer. Each of its entries in the index has an address of its own,
HMAC-SHA256 of the term and the number of the entry, cut to 8 bytes. So no address stands in the
file twice, and without the key two rows that share a word look like two that share none.
"""

from __future__ import annotations

import hmac
import json
import os
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.json_text import read_json
from pura.keys.sealed import cipher_of
from pura.scheme import I64, MarkIdentity, Payload, SecretKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ADDRESS_BYTES: Final = 8
_CIPHER: Final = b"pura-question-1"  # at most 16 bytes, as each label of a cipher
_INDEX: Final = b"pura-qindex-1"
_NONCE: Final = 12
_PAD: Final = 128  # bytes; the length of a row says hardly more than "short" or "long"
_HEAD: Final = struct.Struct("<II")  # length of what is packed; length of its first part
_CHAIN: Final = struct.Struct("<QQ")
_MOST_CONTENT: Final = 1 << 24


@dataclass(frozen=True, kw_only=True)
class RowContent:
    """What the sealed part of a row holds.

    Attributes:
        mark: The mark of the answer.
        ids: int64 [P], the token ids that stood before the answer.
        terms: Its terms, each with the number of its entry.
    """

    mark: MarkIdentity
    ids: I64
    terms: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class TermChain:
    """The entries of one term.

    Attributes:
        first: Number of the first that may be there.
        after: Number of the next one.
    """

    first: int = 0
    after: int = 0

    @property
    def length(self) -> int:
        """How many there are at most."""
        return self.after - self.first


class Sealing:
    """The work of a store's key.

    Args:
        key: The key; it stays the caller's, and may be wiped once this is made.
    """

    def __init__(self, key: SecretKey) -> None:
        self.fingerprint = key.fingerprint
        self._cipher: AESGCM = cipher_of(key, _CIPHER)
        self._index = b"".join(
            key.prf(_INDEX, part).to_bytes(16, "little") for part in (b"0", b"1")
        )

    def term_key(self, term: str) -> bytes:
        """Return what the addresses of a term are made with."""
        return hmac.digest(self._index, term.encode("utf-8", "surrogatepass"), "sha256")

    def seal_row(self, content: RowContent, bound: bytes) -> bytes:
        """Seal a row.

        Args:
            content: What it holds.
            bound: What it is bound to: number, day and expiry.
        """
        mark = content.mark
        head = json.dumps(
            {
                "key": mark.key,
                "epoch": mark.epoch,
                "profile": mark.profile,
                "payload": mark.payload.text,
                "terms": content.terms,
            },
            ensure_ascii=False,
        ).encode("utf-8", "surrogatepass")
        packed = zlib.compress(head + content.ids.astype("<u4").tobytes())
        plain = _HEAD.pack(len(packed), len(head)) + packed
        return self._seal(plain + bytes(-len(plain) % _PAD), bound)

    def open_row(self, sealed: bytes, bound: bytes) -> RowContent:
        """Open a row.

        Raises:
            ValueError: It is not the row that was sealed under this number, or another key's.
        """
        plain = self._open(sealed, bound)
        try:
            packed, head = _HEAD.unpack_from(plain)
            unpacking = zlib.decompressobj()
            unpacked_row = unpacking.decompress(
                plain[_HEAD.size : _HEAD.size + packed], _MOST_CONTENT
            )
            facts: Any = read_json(unpacked_row[:head].decode("utf-8", "surrogatepass"))
            return RowContent(
                mark=MarkIdentity(
                    key=facts["key"],
                    epoch=facts["epoch"],
                    profile=facts["profile"],
                    payload=Payload(text=facts["payload"]),
                ),
                ids=np.frombuffer(unpacked_row[head:], dtype="<u4").astype(np.int64),
                terms=tuple((str(term), int(number)) for term, number in facts["terms"]),
            )
        except (struct.error, zlib.error, KeyError, TypeError) as error:
            raise ValueError("not a row of this program") from error

    def seal_chain(self, chain: TermChain, address: bytes) -> bytes:
        """Seal where the entries of a term begin and end."""
        return self._seal(_CHAIN.pack(chain.first, chain.after), address)

    def open_chain(self, sealed: bytes, address: bytes) -> TermChain:
        """Open what :meth:`seal_chain` sealed.

        Raises:
            ValueError: It is damaged, or another key's.
        """
        first, after = _CHAIN.unpack(self._open(sealed, address))
        return TermChain(first=first, after=after)

    def _seal(self, plain: bytes, bound: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher.encrypt(nonce, plain, bound)

    def _open(self, sealed: bytes, bound: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
        except InvalidTag:
            raise ValueError("sealed under another number or key, or damaged") from None


def entry_address(term_key: bytes, number: int) -> bytes:
    """Return the address of one entry of a term.

    Args:
        term_key: Of :meth:`Sealing.term_key`.
        number: Of the entry, from 0.
    """
    return hmac.digest(term_key, b"entry" + number.to_bytes(8, "little"), "sha256")[:ADDRESS_BYTES]


def chain_address(term_key: bytes) -> bytes:
    """Return where it is kept at which numbers the entries of a term begin and end."""
    return hmac.digest(term_key, b"chain", "sha256")[:ADDRESS_BYTES]

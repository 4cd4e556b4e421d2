"""What a text resembles: MinHash over its word shingles, every hash under a secret salt.

Without the salt a sketch says nothing of its text, and nobody can make a text to a sketch.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from datasketch import MinHash

from pura.base.errors import ServeError
from pura.base.files import write_atomic

_HASHES: Final = 128
_BANDS: Final = 32
_ROWS: Final = _HASHES // _BANDS
_SHINGLE: Final = 2
_LONGEST_WORD: Final = 24
_SALT_BYTES: Final = 32
_SCHEME: Final = "affine32"  # kept sketches are of this one
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """What is kept of a text.

    Attributes:
        hashes: uint32 [128], the least salted hash of its shingles under each permutation.
    """

    hashes: npt.NDArray[np.uint32]

    @property
    def bands(self) -> tuple[bytes, ...]:
        """Keys under which texts that resemble each other probably meet.

        With a resemblance of 0.5 they do with a chance of 0.87, of 0.6 with one of 0.99.
        """
        pieces = self.hashes.reshape(_BANDS, _ROWS)
        return tuple(bytes([at]) + piece.tobytes() for at, piece in enumerate(pieces))

    def resemblance(self, other: Sketch) -> float:
        """Return the share of common shingles, give or take 0.05."""
        return float(np.mean(self.hashes == other.hashes))

    def packed(self) -> bytes:
        """Return it as bytes."""
        return self.hashes.astype("<u4").tobytes()

    @classmethod
    def unpacked(cls, data: bytes) -> Sketch:
        """Read what :meth:`packed` returned."""
        return cls(hashes=np.frombuffer(data, dtype="<u4").astype(np.uint32))


class Salt:
    """The secret of an installation that sketches and addresses are hashed under.

    Args:
        secret: 32 bytes.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @classmethod
    def of(cls, path: Path) -> Salt:
        """Read the salt of an installation; make it where there is none.

        Raises:
            ServeError: The file is damaged.
            OSError: It cannot be read or written.
        """
        if not path.exists():
            write_atomic(path, secrets.token_bytes(_SALT_BYTES), private=True)
        secret = path.read_bytes()
        if len(secret) != _SALT_BYTES:
            raise ServeError("serve.salt", name=path.name)
        return cls(secret)

    def digest(self, data: bytes, purpose: bytes) -> bytes:
        """Return 16 bytes that say nothing without the salt."""
        return hashlib.blake2b(data, digest_size=16, key=self._secret, person=purpose).digest()

    def sketch(self, text: str) -> Sketch:
        """Return what is kept of a text."""
        key = self.digest(b"", b"shingles")

        def hashed(shingle: bytes) -> int:
            return int.from_bytes(
                hashlib.blake2b(shingle, digest_size=4, key=key).digest(), "little"
            )

        found = MinHash(num_perm=_HASHES, hashfunc=hashed, scheme=_SCHEME)
        found.update_batch(list(set(_shingles(text))))
        return Sketch(hashes=np.asarray(found.hashvalues).astype(np.uint32))

    def share(self, sketch: Sketch) -> float:
        """Return a number from 0 to 1 that belongs to a text and to those that are nearly it."""
        drawn = self.digest(sketch.hashes[:_ROWS].tobytes(), b"wobble")
        return int.from_bytes(drawn[:8], "little") / 2**64


def _shingles(text: str) -> Iterator[bytes]:
    words = list(_words(unicodedata.normalize("NFKC", text).casefold()))
    for at in range(max(1, len(words) - _SHINGLE + 1)):
        yield " ".join(words[at : at + _SHINGLE]).encode("utf-8", "surrogatepass")


def _words(text: str) -> Iterator[str]:
    """Yield words; what is written without spaces in pieces of two characters."""
    for word in _WORD.findall(text):
        if len(word) <= _LONGEST_WORD:
            yield word
        else:
            yield from (word[at : at + 2] for at in range(0, len(word), 2))

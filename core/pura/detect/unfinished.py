"""Numbers of long texts that are still being read, so that an audit that was killed goes on.

One file an audit, in the user's folder: a record for each piece that the model has read, sealed
with a key that follows from the secret key of the audit. The name of the file says what was read
with what, to whoever holds that key and nobody else. It goes when the audit ends, else after
:data:`DAYS`.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Self

import numpy as np

from pura.base.files import file_lock
from pura.base.paths import build_hash
from pura.keys.sealed import cipher_of
from pura.scheme import F64, Profile, SecretKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from pura.model.evidence import Request
    from pura.model.load import LanguageModel

LEAST_TOKENS: Final = 8192
"""Tokens of all readings from which on they are kept: less is read again in about 20 seconds."""

DAYS: Final = 7
_LABEL: Final = b"pura-unfinished"
_HEAD: Final = struct.Struct("<16s12sI")  # piece and keys, nonce, bytes that follow
_MOST: Final = 1 << 28


class Unfinished:
    """The pieces of one audit that are read already.

    Args:
        file: Open for reading and writing; what is damaged at its end is cut off.
        cipher: Seals each record.
        name: Of the file; binds its records to it.
    """

    def __init__(self, file: BinaryIO, cipher: AESGCM, name: bytes) -> None:
        self._file: BinaryIO | None = file
        self._cipher, self._name, self._keys = cipher, name, b""
        self._sealed: dict[bytes, tuple[bytes, bytes]] = {}
        whole = 0
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            digest, nonce, size = _HEAD.unpack(head)
            if size > _MOST or len(sealed := file.read(size)) < size:
                break
            self._sealed[digest] = nonce, sealed
            whole = file.tell()
        file.seek(whole)
        file.truncate()

    def read_with(self, keys: Sequence[SecretKey]) -> Self:
        """Say with which keys the next pieces are read: their numbers are those of no others."""
        self._keys = "|".join(key.fingerprint for key in keys).encode()
        return self

    def _named(self, digest: bytes) -> bytes:
        return blake2b(digest + self._keys, digest_size=16).digest()

    def find(self, digest: bytes) -> F64 | None:
        """Return the numbers of a piece that was read before, float64 [2 + 2K, N]."""
        from cryptography.exceptions import InvalidTag

        digest = self._named(digest)
        nonce, sealed = self._sealed.get(digest, (b"", b""))
        if not sealed:
            return None
        try:
            plain = self._cipher.decrypt(nonce, sealed, self._name + digest)
        except InvalidTag:
            return None
        rows = int.from_bytes(plain[:4], "little")
        return np.frombuffer(plain, dtype="<f8", offset=4).reshape(rows, -1)

    def add(self, digest: bytes, numbers: F64) -> None:
        """Keep the numbers of a piece; a disk that refuses costs only that."""
        digest = self._named(digest)
        if self._file is None or digest in self._sealed:
            return
        plain = len(numbers).to_bytes(4, "little") + numbers.astype("<f8").tobytes()
        nonce = os.urandom(12)
        sealed = self._cipher.encrypt(nonce, plain, self._name + digest)
        try:
            self._file.write(_HEAD.pack(digest, nonce, len(sealed)) + sealed)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            self._file = None


@contextlib.contextmanager
def unfinished(
    folder: Path | None,
    requests: Sequence[Request],
    model: LanguageModel,
    keys: Sequence[SecretKey],
    profile: Profile,
) -> Iterator[Unfinished | None]:
    """Open what an audit like this one has left behind; it is deleted when the block ends well.

    Args:
        folder: Where; None keeps nothing.
        requests: What is read. Short texts are not kept.
        model: The model; another one, or another device, begins anew.
        keys: All keys of the audit.
        profile: What generator and verifier share.

    Yields:
        None where nothing is kept: also where another audit of the same texts has it, and where
        the folder cannot be written.
    """
    texts = [ids for request in requests for ids in request.texts]
    with contextlib.ExitStack() as held:
        found = path = None
        if folder is not None and sum(ids.size for ids in texts) >= LEAST_TOKENS:
            facts = build_hash(), model.fingerprint, astuple(model.device), profile.fingerprint
            whole = sha256(repr((*facts, [key.fingerprint for key in keys])).encode())
            for ids in texts:
                whole.update(b"|" + ids.tobytes())
            name = keys[0].prf(_LABEL, whole.digest()).to_bytes(16, "little")
            path = folder / f"{name.hex()}.part"
            with contextlib.suppress(OSError):  # a lock that another one has is one (TimeoutError)
                held.enter_context(file_lock(path.with_suffix(".lock")).acquire())
                _forget_old(folder)
                file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
                opened = held.enter_context(os.fdopen(file, "r+b"))
                found = Unfinished(opened, cipher_of(keys[0], _LABEL), name)
        yield found
    if found is not None and path is not None:
        for one in (path, path.with_suffix(".lock")):
            with contextlib.suppress(OSError):
                one.unlink(missing_ok=True)


def _forget_old(folder: Path) -> None:
    """Delete what no audit came back to."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - DAYS * 86400:
                path.unlink()

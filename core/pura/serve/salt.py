"""The secret of an installation that addresses are hashed under."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Final

from pura.base.errors import ServeError
from pura.base.files import write_atomic

_SALT_BYTES: Final = 32


class Salt:
    """Hashes what must not be kept as it is.

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
            raise ServeError("serve.secret", name=path.name)
        return cls(secret)

    def digest(self, data: bytes, purpose: bytes) -> bytes:
        """Return 16 bytes that say nothing without the salt."""
        return hashlib.blake2b(data, digest_size=16, key=self._secret, person=purpose).digest()

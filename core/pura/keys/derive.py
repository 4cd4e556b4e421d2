"""Deployment keys from a master key, by HKDF-SHA256 (RFC 5869; docs/key-formats.md).

One master key that is kept well serves many deployments: each gets a key of its own, and whoever
holds one of them can work out neither the master nor the others.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pura.base.errors import KeyFormatError
from pura.scheme import SecretKey
from pura.scheme.keys import KEY_BYTES, wipe_buffer

SALT: Final = b"PURA-1 deployment key"
MAX_LABEL: Final = 80


def derive_key(master: SecretKey, label: str) -> SecretKey:
    """Return the key of a deployment.

    Args:
        master: The master key.
        label: Name of the deployment; blanks around it do not count, and letters that Unicode
            can write in two ways are the same (NFC).

    Raises:
        KeyFormatError: The label is empty, too long or not printable.
    """
    info = deployment_label(label).encode()
    secret = master.copy_secret()
    try:
        derived = bytearray(HKDF(SHA256(), KEY_BYTES, SALT, info).derive(bytes(secret)))
        key = SecretKey(derived)
        wipe_buffer(derived)
    finally:
        wipe_buffer(secret)
    return key


def deployment_label(label: str) -> str:
    """Return a label in the one form that is derived from.

    Raises:
        KeyFormatError: It is empty, too long or not printable.
    """
    plain = unicodedata.normalize("NFC", label).strip()
    if not plain or len(plain) > MAX_LABEL or not plain.isprintable():
        raise KeyFormatError("name.form", most=MAX_LABEL, code="key-label")
    return plain

"""What stands inside an encrypted key file, and reading a key in any of its written forms."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pura.base.errors import KeyFormatError, naming
from pura.base.files import read_start
from pura.base.strict import read_json
from pura.keys.entries import MAX_NAME, MAX_NOTE, KeyEntry, KeyRole
from pura.keys.sealed import MAX_FILE, USUAL, Cost, is_sealed, seal, unseal
from pura.scheme import SecretKey
from pura.scheme.keys import KEY_BYTES, wipe_buffer

_KEY: Final = 1
_CHECK: Final = 2
_HEX: Final = 2 * KEY_BYTES


@dataclass(frozen=True, kw_only=True)
class KeyFile:
    """A key and what its file says of it.

    Attributes:
        key: The secret.
        name: Its label, empty when the file does not say.
        created: ISO 8601, empty when the file does not say.
        note: For people.
        role: Single, master or derived.
        master: Fingerprint of its master.
        deployment: Label it was derived with.
        verifier: The file holds no key to mark with but opens a folder of key files.
    """

    key: SecretKey
    name: str = ""
    created: str = ""
    note: str = ""
    role: KeyRole = KeyRole.SINGLE
    master: str = ""
    deployment: str = ""
    verifier: bool = False

    @classmethod
    def of(cls, key: SecretKey, entry: KeyEntry) -> KeyFile:
        """Join a key and its entry."""
        return cls(
            key=key,
            name=entry.name,
            created=entry.created,
            note=entry.note,
            role=entry.role,
            master=entry.master,
            deployment=entry.deployment,
        )


def write_key_file(
    content: KeyFile,
    passphrase: bytearray,
    *,
    cost: Cost = USUAL,
    random: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """Return the encrypted file of a key."""
    facts = {
        "name": content.name,
        "created": content.created,
        "note": content.note,
        "role": content.role.value,
        "master": content.master,
        "deployment": content.deployment,
    }
    text = json.dumps({k: v for k, v in facts.items() if v}, ensure_ascii=False).encode()
    secret = content.key.copy_secret()
    plain = bytearray([_CHECK if content.verifier else _KEY]) + secret + text
    try:
        return seal(plain, passphrase, cost=cost, random=random)
    finally:
        wipe_buffer(secret)
        wipe_buffer(plain)


def read_key_file(data: bytes, passphrase: bytearray) -> KeyFile:
    """Open an encrypted file.

    Raises:
        KeyFormatError: As :func:`pura.keys.sealed.unseal`, or its content is not a key.
    """
    plain = unseal(data, passphrase)
    secret = bytearray()
    try:
        kind, secret = plain[0], plain[1 : 1 + KEY_BYTES]
        facts = read_json(plain[1 + KEY_BYTES :].decode("utf-8"))
        if kind not in (_KEY, _CHECK) or len(secret) != KEY_BYTES:
            raise ValueError
        return KeyFile(key=SecretKey(secret), verifier=kind == _CHECK, **_facts(facts))
    except (ValueError, IndexError, TypeError, AttributeError, RecursionError):
        raise KeyFormatError("key.file-version", code="key-file-version") from None
    finally:
        wipe_buffer(secret)
        wipe_buffer(plain)


def _facts(found: dict[str, Any]) -> dict[str, Any]:
    limits = {
        "name": MAX_NAME,
        "created": 40,
        "note": MAX_NOTE,
        "master": 16,
        "deployment": 80,
    }
    facts: dict[str, Any] = {}
    for name, limit in limits.items():
        value = found.get(name, "")
        if not isinstance(value, str) or len(value) > limit or not value.isprintable():
            raise ValueError
        facts[name] = value
    return facts | {"role": KeyRole(found.get("role", "single"))}


def parse_key(data: bytes, ask: Callable[[], bytearray] | None = None) -> KeyFile:
    """Read a key in hex, in base64 or from an encrypted file; which one is seen by its form.

    Args:
        data: The file or what was typed.
        ask: Gives the passphrase of an encrypted file; asked only when it is one.

    Raises:
        KeyFormatError: It is none of these, damaged, or the passphrase is wrong or missing.
    """
    if is_sealed(data):
        if ask is None:
            raise KeyFormatError("key.file-passphrase", code="key-file-passphrase")
        passphrase = ask()
        try:
            found = read_key_file(data, passphrase)
        finally:
            wipe_buffer(passphrase)
        if found.verifier:
            raise KeyFormatError("key.opener")
        return found
    try:
        text = data.decode("ascii").strip()
    except UnicodeDecodeError:
        raise _no_key() from None
    if len(text) == _HEX or not text:
        return KeyFile(key=SecretKey.from_hex(text))
    if len(text.rstrip("=")) == 43:
        return KeyFile(key=SecretKey.from_base64(text))
    raise _no_key()


def load_key(path: Path, ask: Callable[[], bytearray] | None = None) -> KeyFile:
    """Read a key from a file, in any of its forms.

    Raises:
        KeyFormatError: It cannot be read, or as :func:`parse_key`.
    """
    data = read_start(path, MAX_FILE, KeyFormatError)
    with naming(path.name):
        if len(data) > MAX_FILE:
            raise _no_key()
        return parse_key(data, ask)


def _no_key() -> KeyFormatError:
    return KeyFormatError("key.not-a-key", hex=_HEX, key_bytes=KEY_BYTES)

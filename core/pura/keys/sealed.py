"""Encrypted key files: one key under a passphrase, in any of its forms (key-formats.md).

And the secret of another program's mark, sealed under a key of ours. A profile of such a mark
carries it; whoever lacks the key reads nothing. AES-256-GCM under a key that is derived for this
purpose alone; scheme and form are authenticated with it.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import struct
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pura.base.errors import KeyFormatError, naming
from pura.base.files import read_start
from pura.base.json_text import read_json
from pura.keys.entries import MAX_NAME, MAX_NOTE, KeyEntry, KeyRole, origin_of
from pura.scheme import SecretKey
from pura.scheme.keys import KEY_BYTES, wipe_buffer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC: Final = b"PURAKEY"
VERSION: Final = 1
SUFFIX: Final = ".purakey"
MAX_FILE: Final = 16 << 10
MAX_CONTENT: Final = 8 << 10
MIN_PASSPHRASE: Final = 12
MAX_PASSPHRASE: Final = 1024
# What a file may ask of whoever opens it: 256 MiB and four rounds.
MAX_MEMORY: Final = 256 << 20
MAX_ROUNDS: Final = 4
_MIN_LOG2: Final = 14
_SCRYPT: Final = 1
_BEGIN: Final = b"-----BEGIN PURA KEY FILE-----"
_END: Final = b"-----END PURA KEY FILE-----"
# magic, version, derivation, log2 N, r, p, salt, nonce, length of the ciphertext
_HEADER: Final = struct.Struct("<7sBBBBB16s12sH")
_CHECK: Final = 16
_TAG: Final = 16
_SUM: Final = 8


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What scrypt costs; it needs ``128 · r · 2^log2_n`` bytes.

    Attributes:
        log2_n: Logarithm of the number of blocks.
        r: Size of a block.
        p: Rounds.
    """

    log2_n: int = 17
    r: int = 8
    p: int = 1

    @property
    def memory(self) -> int:
        """Bytes that it takes."""
        return 128 * self.r << self.log2_n


USUAL: Final = Cost()


def passphrase_bytes(text: str) -> bytearray:
    """Return a passphrase as bytes that can be wiped; NFKC, so that keyboards do not matter."""
    return bytearray(unicodedata.normalize("NFKC", text), "utf-8")


def check_passphrase(passphrase: bytearray) -> None:
    """Refuse a new passphrase that is too short.

    Raises:
        KeyFormatError: Too short or too long.
    """
    size = len(passphrase.decode("utf-8", "replace"))
    if not MIN_PASSPHRASE <= size <= MAX_PASSPHRASE:
        raise KeyFormatError(
            "key.passphrase-short", least=MIN_PASSPHRASE, size=size, code="passphrase-short"
        )


def seal(
    content: bytearray,
    passphrase: bytearray,
    *,
    cost: Cost = USUAL,
    random: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """Encrypt; the content is left as it is.

    Args:
        content: At most ``MAX_CONTENT`` bytes.
        passphrase: UTF-8, from :func:`passphrase_bytes`.
        cost: Of the derivation.
        random: Source of salt and nonce.

    Returns:
        The file, as ASCII text in lines.
    """
    if len(content) > MAX_CONTENT:
        raise ValueError("content too long")
    salt, nonce = random(16), random(12)
    header = _HEADER.pack(
        MAGIC, VERSION, _SCRYPT, cost.log2_n, cost.r, cost.p, salt, nonce, len(content)
    )
    keys = _stretch(passphrase, salt, cost)
    try:
        head = header + _key_check(keys, header)
        cipher = _aes(keys, nonce).encryptor()
        cipher.authenticate_additional_data(head)
        body = cipher.update(content) + cipher.finalize()
    finally:
        _zero(keys)
    data = head + body + cipher.tag
    return _armour(data + sha256(data).digest()[:_SUM])


def unseal(text: bytes, passphrase: bytearray) -> bytearray:
    """Decrypt.

    Args:
        text: The file.
        passphrase: UTF-8, from :func:`passphrase_bytes`.

    Returns:
        The content, in a buffer that the caller wipes.

    Raises:
        KeyFormatError: Damaged (``key-file-damaged``), of a later version (``key-file-version``),
            asking for too much (``key-file-cost``), or the passphrase is wrong
            (``key-file-passphrase``).
    """
    from cryptography.exceptions import InvalidTag

    data = _bare(text)
    header, cost, salt, nonce, size = _read_header(data)
    start = _HEADER.size + _CHECK
    head, body, tag = data[:start], data[start : start + size], data[start + size :]
    keys = _stretch(passphrase, salt, cost)
    content = bytearray(size + 15)  # the cipher wants room for one block more
    try:
        if not hmac.compare_digest(head[_HEADER.size :], _key_check(keys, header)):
            raise KeyFormatError("passphrase.wrong", code="key-file-passphrase")
        cipher = _aes(keys, nonce, tag).decryptor()
        cipher.authenticate_additional_data(head)
        cipher.update_into(body, content)
        cipher.finalize()
    except InvalidTag:
        wipe_buffer(content)
        raise _damaged() from None
    finally:
        _zero(keys)
    del content[size:]
    return content


def _zero(keys: bytearray) -> None:
    """Overwrite the derived keys in place."""
    # Not emptied: the cipher may still look into the buffer, and Python forbids to resize it then.
    keys[:] = bytes(len(keys))


def _aes(keys: bytearray, nonce: bytes, tag: bytes | None = None) -> Any:
    # Late, as all of this library: most commands open no file, and the import takes 35 ms.
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import GCM

    return Cipher(AES(memoryview(keys)[:32]), GCM(nonce, tag))


def _stretch(passphrase: bytearray, salt: bytes, cost: Cost) -> bytearray:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    made: Any = Scrypt(salt=salt, length=64, n=1 << cost.log2_n, r=cost.r, p=cost.p)
    keys = bytearray(64)
    if hasattr(made, "derive_into"):  # newer than the oldest release that we accept
        made.derive_into(passphrase, keys)
    else:
        keys[:] = made.derive(bytes(passphrase))
    return keys


def _key_check(keys: bytearray, header: bytes) -> bytes:
    return hmac.digest(bytes(keys[32:]), header, "sha256")[:_CHECK]


def _read_header(data: bytes) -> tuple[bytes, Cost, bytes, bytes, int]:
    header = data[: _HEADER.size]
    _, _, kind, log2_n, r, p, salt, nonce, size = _HEADER.unpack(header)
    if len(data) != _HEADER.size + _CHECK + size + _TAG or size > MAX_CONTENT:
        raise _damaged()
    cost = Cost(log2_n=log2_n, r=r, p=p)
    if kind != _SCRYPT:
        raise _unknown_version()
    # Looked at before anything is computed: a file of a stranger must not take all memory.
    if not (_MIN_LOG2 <= log2_n <= 24 and 1 <= p <= MAX_ROUNDS and r >= 1) or (
        cost.memory > MAX_MEMORY
    ):
        raise KeyFormatError("key.file-cost", code="key-file-cost")
    return header, cost, salt, nonce, size


def _armour(data: bytes) -> bytes:
    text = base64.b64encode(data)
    lines = [text[i : i + 64] for i in range(0, len(text), 64)]
    return b"\n".join((_BEGIN, *lines, _END, b""))


def _bare(text: bytes) -> bytes:
    """Take the lines off, and check what an accident would have changed."""
    stripped = text.strip()
    if len(text) > MAX_FILE or not stripped.startswith(_BEGIN) or not stripped.endswith(_END):
        raise _damaged()
    inner = b"".join(stripped[len(_BEGIN) : -len(_END)].split())
    try:
        data = base64.b64decode(inner, validate=True)
    except ValueError:
        raise _damaged() from None
    data, checksum = data[:-_SUM], data[-_SUM:]
    if len(data) < _HEADER.size + _CHECK + _TAG or data[: len(MAGIC)] != MAGIC:
        raise _damaged()
    if sha256(data).digest()[:_SUM] != checksum:
        raise _damaged()
    if data[len(MAGIC)] != VERSION:
        raise _unknown_version()
    return data


def _damaged() -> KeyFormatError:
    return KeyFormatError("key.file-damaged", code="key-file-damaged")


def _unknown_version() -> KeyFormatError:
    return KeyFormatError("key.file-version", code="key-file-version")


_KEY: Final = 1
_VERIFIER: Final = 2
_HEX: Final = 2 * KEY_BYTES
_FACTS: Final = {
    "name": MAX_NAME,
    "created": 40,
    "note": MAX_NOTE,
    "role": 10,
    "master": 16,
    "deployment": 80,
}
"""What a file says of its key, and the greatest length of each."""


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
        return cls(key=key, **{name: getattr(entry, name) for name in _FACTS})


def write_key_file(
    content: KeyFile,
    passphrase: bytearray,
    *,
    cost: Cost = USUAL,
    random: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """Return the encrypted file of a key."""
    facts = {name: getattr(content, name) for name in _FACTS}
    text = json.dumps({k: v for k, v in facts.items() if v}, ensure_ascii=False).encode()
    secret = content.key.copy_secret()
    plain = bytearray([_VERIFIER if content.verifier else _KEY]) + secret + text
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
        if kind not in (_KEY, _VERIFIER) or len(secret) != KEY_BYTES:
            raise ValueError
        told = _facts(facts)
        origin = origin_of(told["role"], told["master"], told["deployment"])
        return KeyFile(key=SecretKey(secret, origin), verifier=kind == _VERIFIER, **told)
    except (ValueError, IndexError, TypeError, AttributeError, RecursionError):
        raise KeyFormatError("key.file-version", code="key-file-version") from None
    finally:
        wipe_buffer(secret)
        wipe_buffer(plain)


def _facts(found: dict[str, Any]) -> dict[str, Any]:
    facts = {name: found.get(name, "") for name in _FACTS}
    for name, value in facts.items():
        if not isinstance(value, str) or len(value) > _FACTS[name] or not value.isprintable():
            raise ValueError
    return facts | {"role": KeyRole(facts["role"] or KeyRole.SINGLE)}


def parse_key(data: bytes, ask: Callable[[], bytearray] | None = None) -> KeyFile:
    """Read a key in hex, in base64 or from an encrypted file; which one is seen by its form.

    Args:
        data: The file or what was typed.
        ask: Gives the passphrase of an encrypted file; asked only when it is one.

    Raises:
        KeyFormatError: It is none of these, damaged, or the passphrase is wrong or missing.
    """
    if data.lstrip().startswith(_BEGIN):
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


_LABEL: Final = b"pura-foreign-1"  # at most 16 bytes, as each label of a cipher
_NONCE: Final = 12


def seal_secret(
    key: SecretKey,
    scheme: str,
    numbers: Sequence[int],
    *,
    random: Callable[[int], bytes] = os.urandom,
) -> str:
    """Seal a secret; base64.

    Args:
        key: Opens it again.
        scheme: Whose secret it is, as a profile names the scheme.
        numbers: The secret.
        random: Source of the nonce.
    """
    nonce = random(_NONCE)
    plain = json.dumps(list(numbers)).encode()
    return base64.b64encode(
        nonce + cipher_of(key, _LABEL).encrypt(nonce, plain, _bound(scheme))
    ).decode()


def open_secret(key: SecretKey, scheme: str, sealed: str) -> tuple[int, ...]:
    """Open what :func:`seal_secret` sealed.

    Raises:
        KeyFormatError: Another key sealed it, or it is damaged.
    """
    from cryptography.exceptions import InvalidTag

    try:
        data = base64.b64decode(sealed, validate=True)
        plain = cipher_of(key, _LABEL).decrypt(data[:_NONCE], data[_NONCE:], _bound(scheme))
        numbers = read_json(plain)
    except (InvalidTag, ValueError):
        raise KeyFormatError("key.foreign-sealed", code="key-mismatch") from None
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise KeyFormatError("key.foreign-sealed", code="key-mismatch")
    return tuple(numbers)


def cipher_of(key: SecretKey, label: bytes) -> AESGCM:
    """Return the cipher that a secret key gives for one purpose, named by at most 16 bytes."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    halves = (key.prf(label, part).to_bytes(16, "little") for part in (b"0", b"1"))
    derived = bytearray(b"".join(halves))
    try:
        return AESGCM(derived)
    finally:
        wipe_buffer(derived)


def _bound(scheme: str) -> bytes:
    return _LABEL + b"|" + scheme.encode()

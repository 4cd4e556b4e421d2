"""Encrypted key files, which contain one key under a passphrase (key-formats.md).

The module also seals the secret of another program's mark under a key of this program. The profile
of such a mark contains the sealed secret, which cannot be read without the key. It is encrypted
with AES-256-GCM under a key that is derived for this purpose only; the name of the scheme is
authenticated with it.
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
# Limits on the cost that a file may impose: 256 MiB and four rounds.
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
    """Cost parameters of scrypt, which needs ``128 · r · 2^log2_n`` bytes.

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
        """Memory that the derivation needs, in bytes."""
        return 128 * self.r << self.log2_n


USUAL: Final = Cost()


def passphrase_bytes(text: str) -> bytearray:
    """Return a passphrase in NFKC as wipeable bytes, the same for every keyboard."""
    return bytearray(unicodedata.normalize("NFKC", text), "utf-8")


def check_passphrase(passphrase: bytearray) -> None:
    """Require that a new passphrase has an allowed length.

    Raises:
        KeyFormatError: The passphrase is too short or too long.
    """
    size = len(passphrase.decode("utf-8", "replace"))
    if not MIN_PASSPHRASE <= size <= MAX_PASSPHRASE:
        raise KeyFormatError(
            "key.passphrase-short", least=MIN_PASSPHRASE, size=size, code="passphrase-short"
        )


def seal(
    plaintext: bytearray,
    passphrase: bytearray,
    *,
    cost: Cost = USUAL,
    random: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """Encrypt content; the plaintext is not wiped.

    Args:
        plaintext: At most ``MAX_CONTENT`` bytes.
        passphrase: UTF-8, from :func:`passphrase_bytes`.
        cost: Cost of the key derivation.
        random: Source of salt and nonce.

    Returns:
        The file, as ASCII text in lines.
    """
    if len(plaintext) > MAX_CONTENT:
        raise ValueError("content too long")
    salt, nonce = random(16), random(12)
    header = _HEADER.pack(
        MAGIC, VERSION, _SCRYPT, cost.log2_n, cost.r, cost.p, salt, nonce, len(plaintext)
    )
    keys = _stretch(passphrase, salt, cost)
    try:
        head = header + _key_check(keys, header)
        cipher = _aes(keys, nonce).encryptor()
        cipher.authenticate_additional_data(head)
        body = cipher.update(plaintext) + cipher.finalize()
    finally:
        _zero(keys)
    sealed = head + body + cipher.tag
    return _armour(sealed + sha256(sealed).digest()[:_SUM])


def unseal(text: bytes, passphrase: bytearray) -> bytearray:
    """Decrypt content that :func:`seal` encrypted.

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

    sealed = _bare(text)
    header, cost, salt, nonce, size = _read_header(sealed)
    start = _HEADER.size + _CHECK
    head, body, tag = sealed[:start], sealed[start : start + size], sealed[start + size :]
    keys = _stretch(passphrase, salt, cost)
    plaintext = bytearray(size + 15)  # the cipher needs room for one more block
    try:
        if not hmac.compare_digest(head[_HEADER.size :], _key_check(keys, header)):
            raise KeyFormatError("passphrase.wrong", code="key-file-passphrase")
        cipher = _aes(keys, nonce, tag).decryptor()
        cipher.authenticate_additional_data(head)
        cipher.update_into(body, plaintext)
        cipher.finalize()
    except InvalidTag:
        wipe_buffer(plaintext)
        raise _damaged() from None
    finally:
        _zero(keys)
    del plaintext[size:]
    return plaintext


def _zero(keys: bytearray) -> None:
    """Overwrite the derived keys in place."""
    # Not resized: the cipher may still have a view of the buffer, and Python forbids it then.
    keys[:] = bytes(len(keys))


def _aes(keys: bytearray, nonce: bytes, tag: bytes | None = None) -> Any:
    # Imported late, as everywhere: the import takes 35 ms, and most commands open no key file.
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import GCM

    return Cipher(AES(memoryview(keys)[:32]), GCM(nonce, tag))


def _stretch(passphrase: bytearray, salt: bytes, cost: Cost) -> bytearray:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    derivation: Any = Scrypt(salt=salt, length=64, n=1 << cost.log2_n, r=cost.r, p=cost.p)
    keys = bytearray(64)
    if hasattr(derivation, "derive_into"):  # newer than the oldest release that we accept
        derivation.derive_into(passphrase, keys)
    else:
        keys[:] = derivation.derive(bytes(passphrase))
    return keys


def _key_check(keys: bytearray, header: bytes) -> bytes:
    return hmac.digest(bytes(keys[32:]), header, "sha256")[:_CHECK]


def _read_header(sealed: bytes) -> tuple[bytes, Cost, bytes, bytes, int]:
    header = sealed[: _HEADER.size]
    _, _, kind, log2_n, r, p, salt, nonce, size = _HEADER.unpack(header)
    if len(sealed) != _HEADER.size + _CHECK + size + _TAG or size > MAX_CONTENT:
        raise _damaged()
    cost = Cost(log2_n=log2_n, r=r, p=p)
    if kind != _SCRYPT:
        raise _unknown_version()
    # Checked before anything is computed: an untrusted file must not exhaust the memory.
    if not (_MIN_LOG2 <= log2_n <= 24 and 1 <= p <= MAX_ROUNDS and r >= 1) or (
        cost.memory > MAX_MEMORY
    ):
        raise KeyFormatError("key.file-cost", code="key-file-cost")
    return header, cost, salt, nonce, size


def _armour(sealed: bytes) -> bytes:
    text = base64.b64encode(sealed)
    lines = [text[i : i + 64] for i in range(0, len(text), 64)]
    return b"\n".join((_BEGIN, *lines, _END, b""))


def _bare(text: bytes) -> bytes:
    """Remove the armour, and verify the checksum against accidental changes."""
    stripped = text.strip()
    if len(text) > MAX_FILE or not stripped.startswith(_BEGIN) or not stripped.endswith(_END):
        raise _damaged()
    inner = b"".join(stripped[len(_BEGIN) : -len(_END)].split())
    try:
        sealed = base64.b64decode(inner, validate=True)
    except ValueError:
        raise _damaged() from None
    sealed, checksum = sealed[:-_SUM], sealed[-_SUM:]
    if len(sealed) < _HEADER.size + _CHECK + _TAG or sealed[: len(MAGIC)] != MAGIC:
        raise _damaged()
    if sha256(sealed).digest()[:_SUM] != checksum:
        raise _damaged()
    if sealed[len(MAGIC)] != VERSION:
        raise _unknown_version()
    return sealed


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
"""Facts about the key in a file, and the maximum length of each."""


@dataclass(frozen=True, kw_only=True)
class KeyFile:
    """A key and the facts about it in its file.

    Attributes:
        key: The secret.
        name: Label of the key; empty if the file has none.
        created: Time of creation, ISO 8601; empty if the file has none.
        note: Note for people.
        role: Single, master or derived.
        master: Fingerprint of its master.
        deployment: Label that it was derived with.
        verifier: The file verifies the passphrase of a folder; its key is not for marking.
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
        """Return the key file of a key with the facts of its entry."""
        return cls(key=key, **{name: getattr(entry, name) for name in _FACTS})


def write_key_file(
    key_file: KeyFile,
    passphrase: bytearray,
    *,
    cost: Cost = USUAL,
    random: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """Return the encrypted file of a key."""
    facts = {name: getattr(key_file, name) for name in _FACTS}
    text = json.dumps({k: v for k, v in facts.items() if v}, ensure_ascii=False).encode()
    secret = key_file.key.copy_secret()
    plain = bytearray([_VERIFIER if key_file.verifier else _KEY]) + secret + text
    try:
        return seal(plain, passphrase, cost=cost, random=random)
    finally:
        wipe_buffer(secret)
        wipe_buffer(plain)


def read_key_file(file_bytes: bytes, passphrase: bytearray) -> KeyFile:
    """Open an encrypted file.

    Raises:
        KeyFormatError: As :func:`unseal`, or the content is not a key.
    """
    plain = unseal(file_bytes, passphrase)
    secret = bytearray()
    try:
        kind, secret = plain[0], plain[1 : 1 + KEY_BYTES]
        facts = read_json(plain[1 + KEY_BYTES :].decode("utf-8"))
        if kind not in (_KEY, _VERIFIER) or len(secret) != KEY_BYTES:
            raise ValueError
        checked_facts = _facts(facts)
        origin = origin_of(
            checked_facts["role"], checked_facts["master"], checked_facts["deployment"]
        )
        return KeyFile(key=SecretKey(secret, origin), verifier=kind == _VERIFIER, **checked_facts)
    except (ValueError, IndexError, TypeError, AttributeError, RecursionError):
        raise KeyFormatError("key.file-version", code="key-file-version") from None
    finally:
        wipe_buffer(secret)
        wipe_buffer(plain)


def _facts(stored: dict[str, Any]) -> dict[str, Any]:
    facts = {name: stored.get(name, "") for name in _FACTS}
    for name, fact in facts.items():
        if not isinstance(fact, str) or len(fact) > _FACTS[name] or not fact.isprintable():
            raise ValueError
    return facts | {"role": KeyRole(facts["role"] or KeyRole.SINGLE)}


def parse_key(key_bytes: bytes, ask: Callable[[], bytearray] | None = None) -> KeyFile:
    """Read a key in hex, in base64 or from an encrypted file; the form is recognised.

    Args:
        key_bytes: Content of the file, or the text that was typed.
        ask: Prompts for the passphrase; called only for an encrypted file.

    Raises:
        KeyFormatError: The content has none of these forms or is damaged, or the passphrase is
            wrong or missing.
    """
    if key_bytes.lstrip().startswith(_BEGIN):
        if ask is None:
            raise KeyFormatError("key.file-passphrase", code="key-file-passphrase")
        passphrase = ask()
        try:
            key_file = read_key_file(key_bytes, passphrase)
        finally:
            wipe_buffer(passphrase)
        if key_file.verifier:
            raise KeyFormatError("key.opener")
        return key_file
    try:
        text = key_bytes.decode("ascii").strip()
    except UnicodeDecodeError:
        raise _no_key() from None
    if len(text) == _HEX or not text:
        return KeyFile(key=SecretKey.from_hex(text))
    if len(text.rstrip("=")) == 43:
        return KeyFile(key=SecretKey.from_base64(text))
    raise _no_key()


def load_key(path: Path, ask: Callable[[], bytearray] | None = None) -> KeyFile:
    """Read a key from a file, in any of the forms of :func:`parse_key`.

    Raises:
        KeyFormatError: The file cannot be read, or as in :func:`parse_key`.
    """
    key_bytes = read_start(path, MAX_FILE, KeyFormatError)
    with naming(path.name):
        if len(key_bytes) > MAX_FILE:
            raise _no_key()
        return parse_key(key_bytes, ask)


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
    """Seal the secret of another program's mark.

    Args:
        key: The key to seal it under.
        scheme: Name of the scheme in a profile.
        numbers: The secret.
        random: Source of the nonce.

    Returns:
        The sealed secret in base64.
    """
    nonce = random(_NONCE)
    plain = json.dumps(list(numbers)).encode()
    return base64.b64encode(
        nonce + cipher_of(key, _LABEL).encrypt(nonce, plain, _bound(scheme))
    ).decode()


def open_secret(key: SecretKey, scheme: str, sealed: str) -> tuple[int, ...]:
    """Open a secret that :func:`seal_secret` sealed.

    Raises:
        KeyFormatError: It was sealed under another key, or it is damaged.
    """
    from cryptography.exceptions import InvalidTag

    try:
        sealed_bytes = base64.b64decode(sealed, validate=True)
        plain = cipher_of(key, _LABEL).decrypt(
            sealed_bytes[:_NONCE], sealed_bytes[_NONCE:], _bound(scheme)
        )
        numbers = read_json(plain)
    except (InvalidTag, ValueError):
        raise KeyFormatError("key.foreign-sealed", code="key-mismatch") from None
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise KeyFormatError("key.foreign-sealed", code="key-mismatch")
    return tuple(numbers)


def cipher_of(key: SecretKey, label: bytes) -> AESGCM:
    """Return a cipher whose key is derived from a secret key for one purpose.

    Args:
        key: The secret key.
        label: Name of the purpose, at most 16 bytes.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    halves = (key.prf(label, part).to_bytes(16, "little") for part in (b"0", b"1"))
    derived = bytearray(b"".join(halves))
    try:
        return AESGCM(derived)
    finally:
        wipe_buffer(derived)


def _bound(scheme: str) -> bytes:
    return _LABEL + b"|" + scheme.encode()

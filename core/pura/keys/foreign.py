"""The secret of another program's mark, sealed under a key of ours (key-formats.md).

A profile of such a mark carries it; whoever lacks the key reads nothing. AES-256-GCM under a key
that is derived for this purpose alone; scheme and form are authenticated with it.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pura.base.errors import KeyFormatError
from pura.base.json_text import read_json
from pura.scheme import SecretKey
from pura.scheme.keys import wipe_buffer

MAX_NUMBERS: Final = 256
_USUAL_HASHING_KEY: Final = 15_485_863  # of transformers, where the settings name none
_LABEL: Final = b"pura-foreign-1"
_NONCE: Final = 12


@dataclass(frozen=True, kw_only=True)
class ForeignSettings:
    """What the settings file of another program says.

    Attributes:
        scheme: As a profile names it.
        settings: Those of its :data:`~pura.scheme.foreign.FOREIGN` settings that are no secret.
        secret: Its numbers. Hazard: in the clear.
    """

    scheme: str
    settings: Mapping[str, Any]
    secret: tuple[int, ...] = field(repr=False)


def foreign_settings(data: object, width: int | None) -> ForeignSettings | None:
    """Read the settings of another program's mark, its secret included.

    Args:
        data: Parsed JSON: ``--watermark-config`` of vLLM, or the settings of SynthID-Text or of
            green lists as transformers writes them.
        width: Rows of the generating model's output; None where that is not known yet.

    Returns:
        The settings; None where they are of no scheme that is known here, or cannot be right.
    """
    if not isinstance(data, Mapping):
        return None
    if data.get("algorithm", "gumbel") in ("gumbel", "dual_key_gumbel") and "key" in data:
        if data.get("prf", "philox") != "philox":
            return None
        dual = data.get("algorithm") == "dual_key_gumbel"
        alpha = data.get("alpha", 0.1) if dual else None
        settings = {"context_width": data.get("context_width", 4), "alpha": alpha}
        return _checked("gumbel-max", settings, [data["key"]], low=0, high=2**64)
    if isinstance(data.get("keys"), list) and "ngram_len" in data:
        length = data["ngram_len"]
        settings = {
            "context_width": length - 1 if type(length) is int else length,
            "table_size": data.get("sampling_table_size", 1 << 16),
            "table_seed": data.get("sampling_table_seed", 0),
        }
        return _checked("synthid-text", settings, data["keys"], low=-(2**63), high=2**63)
    if "greenlist_ratio" in data or "seeding_scheme" in data:
        settings = {
            "context_width": data.get("context_width", 1),
            "gamma": data.get("greenlist_ratio", 0.25),
            "seeding": data.get("seeding_scheme", "lefthash"),
            "list_width": width,
        }
        key = data.get("hashing_key", _USUAL_HASHING_KEY)
        return _checked("kgw", settings, [key], low=0, high=2**63)
    return None


def _checked(
    scheme: str, settings: Mapping[str, Any], secret: Sequence[object], *, low: int, high: int
) -> ForeignSettings | None:
    numbers = tuple(one for one in secret if type(one) is int and low <= one < high)
    if len(numbers) != len(secret) or not 0 < len(numbers) <= MAX_NUMBERS:
        return None
    return ForeignSettings(scheme=scheme, settings=settings, secret=numbers)


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
    return base64.b64encode(nonce + _cipher(key).encrypt(nonce, plain, _bound(scheme))).decode()


def open_secret(key: SecretKey, scheme: str, sealed: str) -> tuple[int, ...]:
    """Open what :func:`seal_secret` sealed.

    Raises:
        KeyFormatError: Another key sealed it, or it is damaged.
    """
    try:
        data = base64.b64decode(sealed, validate=True)
        plain = _cipher(key).decrypt(data[:_NONCE], data[_NONCE:], _bound(scheme))
        numbers = read_json(plain)
    except (InvalidTag, ValueError):
        raise KeyFormatError("key.foreign-sealed", code="key-mismatch") from None
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise KeyFormatError("key.foreign-sealed", code="key-mismatch")
    return tuple(numbers)


def _cipher(key: SecretKey) -> AESGCM:
    halves = (key.prf(_LABEL, part).to_bytes(16, "little") for part in (b"0", b"1"))
    derived = bytearray(b"".join(halves))
    try:
        return AESGCM(derived)
    finally:
        wipe_buffer(derived)


def _bound(scheme: str) -> bytes:
    return _LABEL + b"|" + scheme.encode()

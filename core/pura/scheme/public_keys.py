"""Publicly known keys, under which a mark does not identify its source.

A key is public if it is published anywhere: the key of the sample, keys of the documentation, of
test vectors and tests, and keys that people type to try something out, such as 32 zeros or
``000102…1e1f``. None of them can be stored as an organisation's key, and reports of findings with
them remain drafts. Keys are recognised by their fingerprints.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from pura.base.paths import resource
from pura.scheme.keys import KEY_BYTES, fingerprint_of

SCHEMA: Final = "pura-public-keys/1"
PATTERN: Final = "pattern"
"""Value in place of a file name for a key that follows a pattern."""
_SMALL_NUMBERS: Final = 1024
"""Count of integers from 0 on that are recognised as keys; programs use them for several keys."""


def pattern_secrets() -> Iterator[bytes]:
    """Yield the 32-byte keys that people type or program by a rule instead of drawing them.

    One byte repeated; bytes that count up or down by one from any start; small whole numbers in
    either byte order.
    """
    for start in range(256):
        yield bytes([start]) * KEY_BYTES
        yield bytes((start + offset) % 256 for offset in range(KEY_BYTES))
        yield bytes((start - offset) % 256 for offset in range(KEY_BYTES))
    for number in range(_SMALL_NUMBERS):
        yield number.to_bytes(KEY_BYTES, "big")
        yield number.to_bytes(KEY_BYTES, "little")


@cache
def public_keys() -> Mapping[str, str]:
    """Return the fingerprints of all public keys, each with the file that contains it.

    The list is made of this project's own files by ``packaging/setup/public_keys.py``.
    """
    parsed = json.loads(resource("public-keys.json").read_text(encoding="utf-8"))
    patterns = {fingerprint_of(secret): PATTERN for secret in pattern_secrets()}
    return {**patterns, **parsed["keys"]}


def is_public(fingerprint: str) -> bool:
    """Return whether the key of a fingerprint is publicly known."""
    return fingerprint in public_keys()

"""One way to write a JSON value, so that whoever hashes it gets the same number.

What others have to reproduce (entries of the case log, the digest of findings) is written as
RFC 8785 says. Numbers that were given out before that rule keep the form that they were made in:
fingerprints of profiles and of likelihood tables, the log's entries of form 1, the digest of
findings in reports of version 0.1.0.
"""

from __future__ import annotations

import hashlib
import json

import rfc8785


def canonical(value: object) -> bytes:
    """Return the canonical form (RFC 8785, JSON Canonicalization Scheme).

    Raises:
        ValueError: The value has none: not JSON, a whole number beyond ±(2**53 - 1), no number.
    """
    return rfc8785.dumps(value)  # type: ignore[arg-type]  # it looks at the value itself


def former(value: object, *, escaped: bool = True) -> bytes:
    r"""Return the form of version 0.1.0: sorted names, no blanks, fractions as Python writes them.

    Args:
        value: JSON.
        escaped: Write every character beyond ASCII as ``\uXXXX``; else as UTF-8.

    Raises:
        ValueError: Not JSON, or no number.
    """
    separators = (",", ":")
    text = json.dumps(
        value, sort_keys=True, separators=separators, ensure_ascii=escaped, allow_nan=False
    )
    return text.encode()


def sha256(data: bytes) -> str:
    """Return the SHA-256 of a written form, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()

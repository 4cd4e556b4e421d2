"""Which build of the program this is: a digest over its code."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path


@cache
def build_hash() -> str:
    """Return the SHA-256 over the program's code, 64 hex digits.

    Of a package it is that of the executable, which holds the code; else that of the library's
    source files with their names, in order.
    """
    if getattr(sys, "frozen", False):
        return hashlib.sha256(Path(sys.executable).read_bytes()).hexdigest()
    root = Path(__file__).resolve().parents[1]
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        whole.update(path.relative_to(root).as_posix().encode() + b"\0")
        # The same build, whatever a checkout makes of the ends of lines.
        code = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(hashlib.sha256(code).digest())
    return whole.hexdigest()

"""Writes ``register.sqlite3`` with the program of version 0.4.0; it was run once, with that.

``PYTHONPATH=core python make_register.py FILE [ROWS]`` in a checkout of 0.4.0. With ROWS so many
rows are added in bulk, to measure with.
"""

import sys
from pathlib import Path

from pura.register.rows import Issue
from pura.register.store import Register
from pura.scheme import Payload

FILE, ROWS = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0


def issue(number: int, who: str, bits: int = 36, **about: str) -> Issue:
    """Return what was issued."""
    return Issue(payload=Payload.from_int(number, bits), who=who, **about)


def scrambled(number: int) -> int:
    """Return a number of 36 bits for each number, without repetition."""
    return number * 2_654_435_761 % (1 << 36)


with Register(FILE, create=True) as register:
    register.add(issue(417, "Harbour Gazette", when="2026-03-01", model="house-7b"))
    register.add(issue(418, "Ä. Müller, „Presse“", when="2026-03-02"))
    mistake = register.add(issue(419, "A mistake"))
    register.add(issue(417, "The same number in other bits", bits=12, when="2026-04-30"))
    register.remove(mistake.number)
    last = register.add(issue(420, "Removed at the end"))
    register.add(issue(0x9D1CE5A17, "City Weekly", when="last spring"))
    register.name_manifest(Payload.from_int(418, 36), "urn:c2pa:0f9c")
    register.remove(last.number)
    gone = register.add(issue(421, "The newest, removed"))
    register.remove(gone.number)
    if ROWS:
        register.add_many((i, issue(scrambled(i), f"user {i}")) for i in range(1000, 1000 + ROWS))

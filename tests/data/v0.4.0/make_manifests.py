"""Writes ``manifests.sqlite3`` and ``tokens.json`` with the program of version 0.4.0; run once.

``PYTHONPATH=core python make_manifests.py FOLDER`` in a checkout of 0.4.0.
"""

import sys
from pathlib import Path

from pura.provenance.binding import BindingValue
from pura.record.answers import Role
from pura.serve.manifests import Repository
from pura.serve.settings import TokenFile

FOLDER = Path(sys.argv[1])
FIRST = "urn:c2pa:00000000-0000-4000-8000-000000000001"
SECOND = "urn:c2pa:00000000-0000-4000-8000-000000000002"

tokens = TokenFile(FOLDER / "tokens.json")
for name in ("press", "rival"):
    tokens.new(name, Role.PUBLISHER, per_day=100)
tokens.new("reader", Role.TRUSTED, per_day=100)
value = BindingValue(profile="01234567", payload="0101")
with Repository(FOLDER / "manifests.sqlite3") as repository:
    # 0.4.0 kept the fingerprint that a store states, whoever signed it.
    repository.add("press", FIRST, b"store of the press", "8f" * 32)
    repository.add("rival", SECOND, b"store of the rival", "8f" * 32)
    repository.bind("press", value, FIRST, anew=False)
    repository.bind("rival", value, SECOND, anew=False)

"""The register's file: its tables, and how an older one is brought up to date."""

from __future__ import annotations

from typing import Final

from pura.base.database import Kind, transaction
from pura.base.errors import RegisterError

# One step a version: from version i to i + 1. Steps are never edited, only added.
MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE entries (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            bits INTEGER NOT NULL,
            payload BLOB NOT NULL,
            who TEXT NOT NULL,
            issued TEXT NOT NULL,
            model TEXT NOT NULL
        )""",
        "CREATE UNIQUE INDEX by_payload ON entries (payload, bits)",
        "INSERT INTO meta VALUES ('digest', '0')",
        "INSERT INTO meta VALUES ('changed', '')",
    ),
)
REGISTER: Final = Kind(
    noun="database.register",
    whole="database.register-whole",
    error=RegisterError,
    application_id=0x50555241,  # "PURA"
    migrations=MIGRATIONS,
    other_hint="database.register-other",
    damaged_hint="database.register-damaged",
)
connect = REGISTER.connect
guard = REGISTER.guard
migrate = REGISTER.migrate

__all__ = ["MIGRATIONS", "REGISTER", "connect", "guard", "migrate", "transaction"]

"""The file of the question store.

``questions`` has a sealed row for each answer; in the clear stand its number, the day on which it
was written and the last day on which it is kept, so that what has expired can be erased without a
key. ``entries`` is the index: an address that only the key can work out, and the row that it leads
to. ``chains`` holds, sealed, where the entries of each term begin and end.
"""

from __future__ import annotations

from typing import Final

from pura.base.database import Kind, Step
from pura.base.errors import QuestionError

MIGRATIONS: Final[tuple[Step, ...]] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        (
            "CREATE TABLE questions (number INTEGER PRIMARY KEY AUTOINCREMENT,"
            " day INTEGER NOT NULL, until INTEGER NOT NULL, sealed BLOB NOT NULL)"
        ),
        "CREATE INDEX questions_until ON questions (until)",
        "CREATE TABLE entries (address BLOB PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX entries_row ON entries (row)",
        "CREATE TABLE chains (address BLOB PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID",
    ),
)

QUESTIONS: Final = Kind(
    noun="database.questions",
    whole="database.questions-whole",
    error=QuestionError,
    application_id=0x50555251,  # "PURQ"
    migrations=MIGRATIONS,
    other_hint="database.questions-other",
    damaged_hint="database.questions-damaged",
    # What is erased is overwritten. A row outlives the end of its process; for that of the machine
    # it waits until the log is written back, since an answer must not wait for a disk.
    pragmas=("secure_delete = ON", "synchronous = NORMAL"),
)

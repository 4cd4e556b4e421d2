"""The register's file: versions of before, other files, damage, locks."""

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.core.register.issues import PROFILE, UNDER, issue, mark, payload

from pura.base.errors import RegisterError
from pura.register import schema
from pura.register.rows import Drawn, Recipient
from pura.register.store import Register
from pura.register.verification import verify

FORMER = Path(__file__).parents[2] / "data" / "v0.4.0" / "register.sqlite3"
"""Made by 0.4.0 (``make_register.py`` beside it)."""
OPENS = """
import sys
from pathlib import Path
from pura.register.store import Register

print("here", flush=True)
Register(Path(sys.argv[1])).close()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "r.sqlite3"


@pytest.fixture
def register(path):
    with Register(path, create=True) as opened:
        yield opened


def by_another_program(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        for statement in statements:
            other.execute(statement)


# Versions of before


@pytest.fixture
def former(tmp_path):
    return Path(shutil.copy(FORMER, tmp_path / "register.sqlite3"))


def test_a_register_of_040_is_upgraded_in_place_and_names_nobody(former):
    with Register(former) as register:
        entries = {entry.number: entry.issue for entry in register.entries()}
        assert [(n, int(one.payload), one.who) for n, one in entries.items()] == [
            (1, 417, "Harbour Gazette"),
            (2, 418, "Ä. Müller, „Presse“"),
            (4, 417, "The same number in other bits"),
            (6, 0x9D1CE5A17, "City Weekly"),
        ]
        assert {one.series for one in entries.values()} == {None}
        assert {one.drawn for one in entries.values()} == {Drawn.GIVEN}
        assert (entries[1].when, entries[1].model) == ("2026-03-01", "house-7b")
        assert entries[2].manifest == "urn:c2pa:0f9c"
        assert (register.unassigned(), register.unassigned(36), register.unassigned(12)) == (
            4,
            3,
            1,
        )
        assert register.find(mark(417)) is None
        assert verify(register).sound
    with Register(former, read_only=True) as again:
        assert len(again) == 4


def test_numbers_of_entries_that_040_removed_are_not_given_again(former):
    with Register(former) as register:
        assert register.add(issue(1)).number == 8


def test_entries_of_040_name_somebody_once_they_are_assigned(former):
    with Register(former) as register:
        assert register.assign(UNDER, first=1, last=2) == 2
        entry = register.find(mark(417))
        assert (entry.number, entry.issue.who) == (1, "Harbour Gazette")
        assert register.find(mark(0x9D1CE5A17)) is None
        assert register.unassigned() == 2
        assert verify(register).sound


def test_a_payload_of_an_unassigned_entry_is_not_drawn(former):
    with Register(former) as register:
        series = UNDER.series("")
        recipients = [Recipient(who=str(n)) for n in range(4095)]
        drawn = register.draw_many(series, 12, recipients)
        assert 417 not in {int(entry.issue.payload) for entry in drawn}
        with pytest.raises(RegisterError):
            register.draw(series, 12, Recipient(who="one more"))


def test_a_register_of_040_is_brought_up_to_date_where_it_is_only_read(former):
    with Register(former, read_only=True) as register:
        assert (len(register), register.unassigned()) == (4, 4)
        with pytest.raises(RegisterError):
            register.add(issue(1))
    assert version_of(former) == len(schema.MIGRATIONS)


def test_a_register_of_040_in_a_read_only_folder_is_read(former, monkeypatch):
    # Root may write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr("pura.base.database.os.access", lambda *_: False)
    before = former.read_bytes()
    with Register(former, read_only=True) as register:
        assert len(register) == 4
        assert verify(register).sound
    assert former.read_bytes() == before


def test_a_change_to_a_register_of_040_shows_after_the_upgrade(former):
    by_another_program(former, "UPDATE entries SET who = 'forged' WHERE number = 6")
    with Register(former) as register:
        (fault,) = verify(register).faults
        assert fault.key == "register.upgrade-differs"


@pytest.mark.parametrize("change", ["payload = x'00'", "who = ''", "bits = 'many'", "who = x'00'"])
def test_a_damaged_register_of_040_is_refused_and_left_alone(former, change):
    by_another_program(former, f"UPDATE entries SET {change} WHERE number = 6")
    with pytest.raises(RegisterError, match="damaged"):
        Register(former)
    assert version_of(former) == 2


def version_of(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


def test_an_upgrade_that_is_killed_at_any_moment_is_done_by_the_next_program(former):
    rows = 40_000
    with contextlib.closing(sqlite3.connect(former)) as old, old:
        columns = "bits, payload, who, issued, model"
        old.executemany(
            f"INSERT INTO entries ({columns}) VALUES (36, ?, ?, '', '')",
            ((((n + 1000) << 4).to_bytes(5), f"user {n}") for n in range(rows)),
        )
    versions = set()
    command = [sys.executable, "-P", "-c", OPENS, str(former)]
    for pause in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "here\n"
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        versions.add(version_of(former))
    assert versions <= {2, len(schema.MIGRATIONS)}
    assert 2 in versions  # killed before the end at least once
    with Register(former, read_only=True) as register:
        assert len(register) == rows + 4
        faults = verify(register).faults
    assert {fault.key for fault in faults} == {"register.upgrade-differs"}  # as it was filled here


def test_a_register_of_before_manifests_is_brought_up_to_date(tmp_path):
    path = tmp_path / "old.sqlite3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as old:
        for statement in schema.MIGRATIONS[0]:
            old.execute(statement)
        old.execute(f"PRAGMA application_id = {schema.REGISTER.application_id}")
        old.execute("PRAGMA user_version = 1")
        old.execute("INSERT INTO entries VALUES (3, 36, x'0000000010', 'Ann', '', '')")
    with Register(path) as register:
        (entry,) = register.entries()
        assert (entry.number, entry.issue) == (3, issue(1, who="Ann", series=None))


def test_a_failed_step_of_an_update_leaves_the_old_version(register):
    database, kind = register.connection, schema.REGISTER
    before = len(schema.MIGRATIONS)
    with pytest.raises(sqlite3.OperationalError):
        kind.migrate(database, (*schema.MIGRATIONS, ("CREATE TABLE new (x)", "NOT SQL")))
    assert database.execute("PRAGMA user_version").fetchone()[0] == before
    kind.migrate(database, (*schema.MIGRATIONS, ("CREATE TABLE new (x)",)))
    assert database.execute("PRAGMA user_version").fetchone()[0] == before + 1
    assert database.execute("SELECT count(*) FROM new").fetchone()[0] == 0


# Bad files


def test_a_missing_register_is_not_made_in_silence(tmp_path):
    with pytest.raises(RegisterError, match="cannot be opened"):
        Register(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(RegisterError, match="not a register"):
        Register(tmp_path / "empty")
    with pytest.raises(RegisterError, match="cannot be written"):
        Register(tmp_path / "empty" / "sub" / "r", create=True)


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("junk", [b"payload,who\n" * 50, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_not_a_database_is_refused_and_left_alone(tmp_path, junk, create):
    path = tmp_path / "r"
    path.write_bytes(junk)
    with pytest.raises(RegisterError, match="damaged or is not"):
        Register(path, create=create)
    assert path.read_bytes() == junk


def test_another_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "r"
    by_another_program(path, "CREATE TABLE mine (x)")
    before = path.read_bytes()
    with pytest.raises(RegisterError, match="not a register"):
        Register(path, create=True)
    assert path.read_bytes() == before


def test_a_register_of_a_newer_version_is_refused(register, path):
    register.connection.execute("PRAGMA user_version = 99")
    register.close()
    with pytest.raises(RegisterError, match="newer version"):
        Register(path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "CREATE VIEW v AS SELECT * FROM entries",
        "DROP TABLE series",
        "DROP INDEX by_mark",
        "DROP TRIGGER rows_stay",
    ],
)
def test_foreign_tables_views_and_triggers_are_refused(register, path, statement):
    register.close()
    by_another_program(path, statement)
    with pytest.raises(RegisterError, match="of this program"):
        Register(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET payload = x'00'",
        "UPDATE series SET bits = 0",
        "UPDATE series SET bits = 'many'",
        "UPDATE series SET key = 'mine'",
        "UPDATE entries SET payload = 'text'",
        "UPDATE chain SET who = ''",
        "UPDATE chain SET who = x'00ff'",
        "UPDATE chain SET drawn = 'somehow'",
        "UPDATE chain SET hash = 'text'",
    ],
)
def test_rows_that_make_no_sense_are_refused(register, statement):
    register.add(issue(1))
    register.connection.execute("DROP TRIGGER rows_stay")
    register.connection.execute(statement)
    with pytest.raises(RegisterError, match="damaged"):
        list(register.entries())


def test_rows_of_the_chain_cannot_be_changed_by_mistake(register):
    register.add(issue(1))
    for statement in ("UPDATE chain SET who = 'x'", "DELETE FROM chain"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            register.connection.execute(statement)


def test_a_locked_register_says_so_and_is_unharmed(register, path):
    register.add(issue(1))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with (
            Register(path, timeout=0.01) as second,
            pytest.raises(RegisterError, match="in use") as caught,
        ):
            second.add(issue(2))
        assert "again" in caught.value.hint
        other.execute("ROLLBACK")
    register.add(issue(2))
    assert len(register) == 2


def test_read_only_never_writes(register, path):
    register.add(issue(1))
    with Register(path, read_only=True) as reader:
        assert reader.find(mark(1)) is not None
        with pytest.raises(RegisterError, match="cannot be opened or written"):
            reader.add(issue(2))


def test_what_is_stored_is_the_payload_and_no_more(register):
    """The bits of a payload that do not fill a byte are zeros: one payload has one form."""
    register.add(issue(5, bits=PROFILE.payload_bits))
    (blob,) = register.connection.execute("SELECT payload FROM entries").fetchone()
    assert int.from_bytes(blob) >> 4 == int(payload(5))
    assert blob[-1] & 0x0F == 0

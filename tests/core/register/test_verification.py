"""``pura register verify``: whatever is done to the file outside of this program shows."""

import hashlib
import json

import pytest
from tests.core.register.issues import HOUSE, PROFILE, SERIES, UNDER, issue, mark, series_of

from pura.base.errors import RegisterError
from pura.register.chain import COLUMNS, SELECT, row_hash
from pura.register.rows import Recipient
from pura.register.store import Register
from pura.register.verification import verify


@pytest.fixture
def register(tmp_path):
    """A register in which everything was done that can be done."""
    with Register(tmp_path / "register.sqlite3", create=True) as opened:
        for number in range(4):
            opened.add(issue(number, who=f"w{number}"))  # rows 1 to 4
        opened.add(issue(9, who="old", series=None))  # 5
        opened.revoke(2, "a mistake")  # 6
        opened.name_manifest(1, "urn:c2pa:1")  # 7
        opened.remark(3, "aborted")  # 8
        opened.assign(UNDER)  # 9
        opened.draw_many(SERIES, 36, [Recipient(who="drawn")] * 3)  # 10 to 12
        opened.add(issue(1, who="once more", series=series_of(PROFILE, epoch="2026-11")))  # 13
        yield opened


def change(register, *statements):
    """Change the file as another program can, which may drop and make triggers."""
    triggers = register.connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall()
    for name, _ in triggers:
        register.connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        register.connection.execute(statement)
    for _, sql in triggers:
        register.connection.execute(sql)


def test_a_register_as_it_was_written_is_sound(register):
    check = verify(register)
    assert check.sound
    assert (check.rows, check.entries, check.head) == (13, 8, register.head())


def test_an_empty_register_is_sound(tmp_path):
    with Register(tmp_path / "empty", create=True) as empty:
        assert verify(empty).sound


@pytest.mark.parametrize(
    ("statement", "key", "row"),
    [
        ("UPDATE chain SET who = 'forged' WHERE sequence = 3", "row-changed", 3),
        ("UPDATE chain SET note = 'forged' WHERE sequence = 6", "row-changed", 6),
        ("UPDATE chain SET issued = '2026-01-01' WHERE sequence = 1", "row-changed", 1),
        ("UPDATE chain SET written = '' WHERE sequence = 1", "row-changed", 1),
        ("UPDATE chain SET drawn = 'random' WHERE sequence = 1", "row-changed", 1),
        ("UPDATE chain SET model = 7 WHERE sequence = 1", "row-changed", 1),
        ("UPDATE chain SET salt = zeroblob(16) WHERE sequence = 4", "row-changed", 4),
        ("UPDATE chain SET hash = zeroblob(32) WHERE sequence = 13", "row-changed", 13),
        ("UPDATE chain SET payload = x'0000000070' WHERE sequence = 1", "row-changed", 1),
        ("UPDATE chain SET series = 3 WHERE sequence = 1", "row-changed", 1),
        ("UPDATE series SET key = 'bbbbbbbbbbbbbbbb' WHERE number = 1", "row-changed", 1),
        ("DELETE FROM chain WHERE sequence = 3", "row-missing", 3),
        ("DELETE FROM chain WHERE sequence = 1", "row-missing", 1),
        ("UPDATE chain SET entries = '1-4' WHERE sequence = 9", "row-changed", 9),
    ],
)
def test_a_row_that_was_edited_or_removed_is_named(register, statement, key, row):
    change(register, statement)
    (fault,) = verify(register).faults
    assert (fault.key, fault.values) == (f"register.{key}", {"row": row})


def test_rows_that_changed_places_are_named(register):
    change(
        register,
        "UPDATE chain SET sequence = 0 WHERE sequence = 3",
        "UPDATE chain SET sequence = 3 WHERE sequence = 4",
        "UPDATE chain SET sequence = 4 WHERE sequence = 0",
    )
    (fault,) = verify(register).faults
    assert (fault.key, fault.values["row"]) == ("register.row-changed", 3)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET row = 1 WHERE number = 4",
        "UPDATE entries SET revoked = 0 WHERE number = 2",
        "UPDATE entries SET revoked = 6 WHERE number = 4",
        "UPDATE entries SET manifest = 'urn:c2pa:2' WHERE number = 1",
        "UPDATE entries SET remark = '' WHERE number = 3",
        "UPDATE entries SET series = (SELECT max(number) FROM series) WHERE number = 3",
        "UPDATE entries SET payload = x'0000000070' WHERE number = 1",
        "DELETE FROM entries WHERE number = 4",
        "INSERT INTO entries VALUES (99, 1, 1, x'0000000990', '', '', 0)",
    ],
)
def test_entries_that_do_not_follow_from_the_rows_are_named(register, statement):
    change(register, statement)
    (fault,) = verify(register).faults
    assert fault.key == "register.entry-changed"


@pytest.mark.parametrize("column", ["live", "random"])
def test_counts_that_do_not_follow_from_the_rows_are_told(register, column):
    change(register, f"UPDATE series SET {column} = {column} + 1 WHERE number = 1")
    (fault,) = verify(register).faults
    assert fault.key == "register.entries-differ"


def test_a_row_removed_from_the_end_shows_against_a_head_only(register):
    head, row = register.head(), register.find(mark(3)).hash
    change(
        register,
        "DELETE FROM chain WHERE sequence = 13",
        "DELETE FROM entries WHERE row = 13",
        "UPDATE series SET live = 0 WHERE epoch != ''",
    )
    assert verify(register).sound
    check = verify(register, (row, head))
    assert check.heads == {row: 4, head: None}
    assert not check.sound


def test_a_chain_that_was_computed_anew_shows_against_a_head_only(register):
    head = register.head()
    change(register, "UPDATE chain SET who = 'forged' WHERE sequence = 3")
    previous = bytes(32)
    rows = register.connection.execute(f"{SELECT} ORDER BY sequence").fetchall()
    for *values, _ in rows:
        previous = row_hash(previous, tuple(values))
        change(
            register, f"UPDATE chain SET hash = x'{previous.hex()}' WHERE sequence = {values[0]}"
        )
    assert verify(register).sound
    assert not verify(register, (head,)).sound


def test_a_hash_is_of_the_row_as_written_down_here(register):
    """The form of a row that another program can compute, without this one."""
    entry = register.find(mark(0))
    salt, written = register.connection.execute(
        "SELECT salt, written FROM chain WHERE sequence = 1"
    ).fetchone()
    row = {
        "act": "issue",
        "bits": 36,
        "drawn": "given",
        "entry": 1,
        "epoch": "",
        "key": HOUSE,
        "manifest": "",
        "model": "",
        "note": "",
        "payload": "0" * 36,
        "profile": PROFILE.fingerprint,
        "salt": salt.hex(),
        "sequence": 1,
        "when": "",
        "who": "w0",
        "written": written,
    }
    form = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert entry.hash == hashlib.sha256(bytes(32) + form).hexdigest()


def test_a_hash_tells_nothing_of_a_name_that_somebody_tries(register):
    """Records and reports carry it: the salt of each row is not in them."""
    salts = [salt for (salt,) in register.connection.execute("SELECT salt FROM chain")]
    assert len(set(salts)) == len(salts) == 13
    assert {len(salt) for salt in salts} == {16}
    assert "salt" in COLUMNS


def test_a_damaged_file_is_said_to_be_damaged(register, tmp_path):
    register.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    register.close()
    path = tmp_path / "register.sqlite3"
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with pytest.raises(RegisterError, match="damaged"), Register(path) as opened:
        verify(opened)


def test_the_entries_cannot_hide_rows_of_an_act_that_nobody_knows(register):
    previous = register.head()
    values = (14, "gift", "2026", None, *([None] * 12), b"s" * 16)
    digest = row_hash(bytes.fromhex(previous), values)
    columns = "sequence, act, written, salt, hash"
    register.connection.execute(
        f"INSERT INTO chain ({columns}) VALUES (14, 'gift', '2026', ?, ?)", (b"s" * 16, digest)
    )
    (fault,) = verify(register).faults
    assert fault.key == "register.entries-differ"

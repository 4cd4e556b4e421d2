"""The chain: what an entry says, and that the first fault is named for what it is."""

import base64
import hashlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from tests.core.certificates import packed, self_signed
from tests.core.programs import for_owner_alone, python, run

from pura.base.errors import CaseLogError
from pura.base.identity import load_identity
from pura.base.json_text import canonical
from pura.caselog import CaseLog, LogHead, Person, open_case, save_audit, workstation, write_note
from pura.caselog.log import commitment, entry_hash, written
from pura.caselog.verify import LogCheck, deposits_in, lay_down, parse_head, sign_head, verify_log
from pura.record.audit import Audit

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
OFF = "DROP TRIGGER entries_stay", "DROP TRIGGER entries_remain"


@pytest.fixture
def filled(log: CaseLog, anna: Person, make_audit: Callable[..., Audit]) -> CaseLog:
    """A log of a dozen entries in two cases."""
    first = open_case(log, "Letter to the editor", anna, notes="came by mail", tags=["press"])
    second = open_case(log, "Thesis", anna)
    for number in range(3):
        write_note(log, first.id, f"note {number}", anna)
        save_audit(log, second.id, make_audit(number), anna)
    return log


def tamper(log: CaseLog, *statements: str) -> None:
    """Do what somebody with another program could do to the file."""
    for statement in (*OFF, *statements):
        log.db.execute(statement)


def results(log: CaseLog, **options: Any) -> dict[str, LogCheck]:
    return {check.name: check for check in verify_log(log, **options)}


def bad(log: CaseLog, **options: Any) -> list[str]:
    return [check.key for check in verify_log(log, **options) if check.state == "bad"]


# ------------------------------------------------------------------------------- what is written


def test_an_entry_says_who_what_when_where_and_with_which_program(log, anna, case):
    entry = log.entry(log.head().seq)
    body = entry.body
    assert (body["action"], body["actor"], body["role"]) == ("case-opened", anna.id, "examiner")
    assert body["time"].startswith("2026-07-01T10:00:")  # noon in Berlin
    assert body["time"].endswith("Z")
    assert body["zone"] == "+0200 CEST"
    assert "not independently confirmed" in body["clock"]
    assert body["station"] == "5" * 16
    assert body["program"].startswith("pura-audit ")
    assert len(body["build"]) == 64
    assert body["case"] == case.id
    before = log.entry(entry.seq - 1)
    assert body["prev"] == before.hash


def test_anyone_can_compute_the_hash_of_an_entry(filled):
    stored = filled.db.execute("SELECT hash, body FROM entries").fetchall()
    assert len(stored) > 8
    for digest, body in stored:
        assert hashlib.sha256(body.encode()).hexdigest() == digest
        assert json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")) == body


def test_the_chain_holds_no_name_no_text_and_no_payload(filled):
    chain = "\n".join(body for (body,) in filled.db.execute("SELECT body FROM entries"))
    words = ("Anna", "Beispiel", "Thesis", "Letter", "mail", "note 1", "press", "Grüße")
    for secret in (*words, "a\\u202eb.txt", "010101010101", "1" * 64):
        assert secret not in chain


def test_a_commitment_cannot_be_guessed_without_its_salt(log, anna):
    first = open_case(log, "Thesis", anna)
    write_note(log, first.id, "yes", anna)
    one = log.entry(log.head().seq)
    write_note(log, first.id, "yes", anna)
    two = log.entry(log.head().seq)
    assert one.kept["text"] != two.kept["text"]
    assert one.kept["text"] != commitment(b"", b'"yes"')


def test_an_entry_says_which_form_its_hash_is_of(log):
    entry = log.entry(1)
    assert entry.body["v"] == 2
    body = {**entry.body, "zone": "+0100 Mitteleuropäische Zeit"}
    assert "ä".encode() in written(body)
    assert written({**body, "v": 1}).isascii()
    assert entry_hash(body) == hashlib.sha256(written(body)).hexdigest()


def test_the_file_is_for_its_owner_alone_and_kept_append_only(filled, path):
    assert for_owner_alone(path)
    for statement in ("UPDATE entries SET at = ''", "DELETE FROM entries"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            filled.db.execute(statement)


def test_the_workstation_keeps_its_identifier(tmp_path):
    place = tmp_path / "config" / "workstation"
    first = workstation(place)
    assert len(first) == 16
    assert workstation(place) == first
    place.write_text("nonsense")
    assert workstation(place) not in (first, "nonsense")


# ------------------------------------------------------------------------------------- verifying


def test_a_sound_log_passes_every_check(filled):
    found = results(filled)
    assert [check.state for check in found.values()].count("bad") == 0
    assert found["chain"].values["count"] == filled.head().seq
    assert str(filled.head()) in found["chain"].text()
    assert found["head"].key == "head.none"
    assert found["signatures"].key == "signatures.none"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("an entry edited", {"seq": 5}),
        ("an entry removed", {"seq": 6}),
        ("entries swapped", {"seq": 4, "found": 7}),
        ("an entry filed under another case", {"seq": 5}),
    ],
)
def test_the_first_entry_that_is_wrong_is_named(filled, name, values):
    act, key = TAMPERINGS[name]
    assert isinstance(act, list)
    filled.db.execute("PRAGMA foreign_keys = OFF")
    tamper(filled, *act)
    check = results(filled)["chain"]
    assert check.key == key
    assert check.values.items() >= values.items()


def test_an_entry_rewritten_with_its_hash_is_named(filled):
    entry = filled.entry(5)
    body = dict(entry.body) | {"result": "something else"}
    tamper(filled)
    filled.db.execute(
        "UPDATE entries SET body = ?, hash = ? WHERE seq = 5",
        (written(body).decode(), entry_hash(body)),
    )
    check = results(filled)["chain"]
    assert (check.key, check.values["seq"]) == ("chain.replaced", 5)


@pytest.mark.parametrize("body", ["", "nonsense", "[1]", '{"v":1}', "{" * 2000])
def test_an_unreadable_entry_is_named(filled, body):
    tamper(filled)
    filled.db.execute("UPDATE entries SET body = ? WHERE seq = 5", (body,))
    check = results(filled)["chain"]
    assert (check.key, check.values["seq"]) == ("chain.unreadable", 5)


def test_kept_words_that_were_altered_lost_or_added_are_named(filled):
    filled.db.execute("BEGIN")
    filled.db.execute("UPDATE kept SET value = CAST('\"other\"' AS BLOB) WHERE seq = 5")
    assert results(filled)["kept"].key == "kept.altered"
    with pytest.raises(CaseLogError, match="altered"):
        [filled.kept(entry, field) for entry in filled.entries() for field in entry.kept]
    filled.db.execute("ROLLBACK")
    filled.db.execute("BEGIN")
    filled.db.execute("DELETE FROM kept WHERE seq = 5")
    check = results(filled)["kept"]
    assert (check.key, check.values["seq"]) == ("kept.missing", 5)
    filled.db.execute("ROLLBACK")
    filled.db.execute("INSERT INTO kept VALUES (?, 5, 'extra', x'00', x'00')", (filled.id,))
    assert results(filled)["kept"].key == "kept.stray"


def test_a_cut_tail_shows_against_a_head_that_was_printed(filled):
    head = filled.head()
    assert bad(filled, head=head) == []
    filled.db.execute("PRAGMA foreign_keys = OFF")
    last = head.seq
    tamper(
        filled,
        f"DELETE FROM kept WHERE seq > {last - 2}",
        f"DELETE FROM entries WHERE seq > {last - 2}",
    )
    assert bad(filled) == []  # the chain itself cannot know
    assert bad(filled, head=head) == ["head.cut"]
    other = LogHead(log=head.log, seq=last - 3, hash="a" * 64)
    assert bad(filled, head=other) == ["head.other"]


def test_a_head_is_read_as_it_is_printed(filled):
    head = filled.head()
    spaced = f"{head.seq}: {head.hash[:32].upper()}\u200b\r\n{head.hash[32:]} "
    assert parse_head(spaced, filled.id) == head
    for text in ("", "5", "5:xyz", "x:" + "a" * 64, "5:" + "a" * 63):
        with pytest.raises(CaseLogError, match="head"):
            parse_head(text, filled.id)


def test_a_clock_that_was_set_back_is_worth_knowing(path):
    times = iter([NOON, NOON + timedelta(hours=1), NOON])
    with CaseLog(path, create=True, clock=lambda: next(times)) as log:
        log.person("A")
        log.person("B")
        check = results(log)["clock"]
    assert (check.state, check.key, check.values["seq"]) == ("notice", "clock.back", 3)


def test_a_damaged_file_is_named(filled, path):
    filled.close()
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    path.write_bytes(data)
    try:
        with CaseLog(path) as again:
            assert bad(again)
    except CaseLogError as error:
        assert "damaged" in error.message  # noqa: PT017  (either way is right)


@pytest.mark.parametrize(
    "change",
    [
        "CREATE VIEW v AS SELECT 1",
        "DROP TRIGGER entries_stay",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM kept; END",
    ],
)
def test_tables_that_somebody_changed_are_refused(filled, path, change):
    filled.db.execute(change)
    filled.close()
    with pytest.raises(CaseLogError, match="of this program"):
        CaseLog(path)


def test_another_database_is_no_case_log(tmp_path):
    other = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE x (y)")
    with pytest.raises(CaseLogError, match="not a case log"):
        CaseLog(other)
    (tmp_path / "text").write_text("no database at all " * 100)
    with pytest.raises(CaseLogError, match="damaged or is not a case log"):
        CaseLog(tmp_path / "text")
    with pytest.raises(CaseLogError, match="cannot be opened"):
        CaseLog(tmp_path / "missing")


# ---------------------------------------------------------------------------------- signed heads


def identity() -> tuple[Any, bytes]:
    usage = x509.KeyUsage(True, True, False, False, False, True, True, False, False)
    ca = x509.BasicConstraints(ca=True, path_length=0)
    key, cert = self_signed("Example Press", None, ca, usage)
    der = cert.public_bytes(serialization.Encoding.DER)
    return load_identity(packed(key, cert), None, now=datetime.now(UTC)), der


def test_a_signed_head_shows_what_the_chain_cannot(filled, anna):
    who, der = identity()
    signed = sign_head(filled, who, anna)
    assert signed.action == "head-signed"
    untrusted = results(filled)["signatures"]
    assert (untrusted.state, untrusted.key) == ("notice", "signatures.untrusted")
    trusted = results(filled, trust=[der])["signatures"]
    assert (trusted.state, trusted.key) == ("good", "signatures.good")
    assert "Example Press" in trusted.text()
    write_note(filled, str(filled.entry(4).case), "later", anna)  # type: ignore[union-attr]
    assert bad(filled, trust=[der]) == []


@pytest.mark.programs("openssl")
def test_openssl_agrees_about_the_signature(filled, anna, tmp_path):
    who, der = identity()
    head = filled.head()
    sign_head(filled, who, anna)
    ((cms,),) = filled.db.execute("SELECT cms FROM signatures").fetchall()
    (tmp_path / "head.json").write_bytes(
        canonical({"log": head.log, "seq": head.seq, "hash": head.hash})
    )
    (tmp_path / "head.p7s").write_bytes(cms)
    cert = x509.load_der_x509_certificate(der)
    (tmp_path / "cert.pem").write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    words = "cms -verify -binary -inform DER -in head.p7s -content head.json -CAfile cert.pem"
    run("openssl", *words.split(), "-purpose", "any", "-out", "out", cwd=tmp_path)


def test_a_signature_of_another_head_is_named(filled, anna):
    who, _ = identity()
    sign_head(filled, who, anna)
    filled.db.execute("UPDATE signatures SET cms = substr(cms, 1, length(cms) - 9) || x'00'")
    assert bad(filled) == ["signatures.bad"]
    filled.db.execute("DELETE FROM signatures")
    assert bad(filled) == ["signatures.missing"]


# ----------------------------------------------------------------------- two programs, dying ones


_WRITER = """
import sys
from pathlib import Path
from pura.caselog import CaseLog, write_note
with CaseLog(Path(sys.argv[1]), timeout=60) as log:
    who = log.person(sys.argv[3])
    for number in range(40):
        write_note(log, sys.argv[2], f"{sys.argv[3]} {number}", who)
"""


def test_two_programs_write_at_the_same_time(log, anna, path):
    case = open_case(log, "Both", anna)
    children = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), case.id, name])
        for name in ("one", "two")
    ]
    assert [child.wait(timeout=120) for child in children] == [0, 0]
    texts = [log.kept(entry, "text") for entry in log.entries() if entry.action == "note-added"]
    assert sorted(texts) == sorted(f"{who} {n}" for who in ("one", "two") for n in range(40))
    assert bad(log) == []


# One child after the other is killed while it writes; what it had acknowledged has to be there. The
# first ones before each statement of a note in turn, the others whenever it may be.
_KILLED = """
import itertools, json, os, random, select, signal, sys, time
from pathlib import Path
from pura.caselog import CaseLog, open_case, write_note
from pura.caselog.verify import verify_log
path, statements, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
dice = random.Random(20261121)
with CaseLog(path, create=True) as log:
    case = open_case(log, "Killed", log.person("A")).id
acknowledged = 0
for number in range(rounds):
    near, far = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(near)
        with CaseLog(path, timeout=60) as log:
            who = log.person("A")
            for note in itertools.count():
                if note == 1 and number < statements:
                    left = iter(range(number))
                    log.db.set_trace_callback(
                        lambda _: next(left, None) is None and os.kill(os.getpid(), signal.SIGKILL)
                    )
                write_note(log, case, "x" * dice.randrange(1, 40_000), who)
                os.write(far, b"+")
    os.close(far)
    select.select([near], [], [])  # it is at work
    if number >= statements:
        time.sleep(dice.random() * 0.01)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while data := os.read(near, 4096):
        acknowledged += len(data)
    os.close(near)
    with CaseLog(path, timeout=60) as log:
        faults = [check.key for check in verify_log(log) if check.state == "bad"]
        notes = sum(entry.action == "note-added" for entry in log.entries())
    if faults or not acknowledged <= notes <= acknowledged + number + 1:
        sys.exit(json.dumps([number, faults, acknowledged, notes]))
print(json.dumps([rounds, acknowledged]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.slow
def test_a_writer_may_be_killed_at_any_moment(path):
    rounds, acknowledged = json.loads(python(_KILLED, path, "12", "36"))
    assert rounds == 36
    assert acknowledged >= 36


def test_a_full_disk_leaves_the_log_as_it_was(filled, anna, make_audit):
    before = filled.head()
    case = str(filled.entry(before.seq).case)  # type: ignore[union-attr]
    pages = filled.db.execute("PRAGMA page_count").fetchone()[0]
    filled.db.execute(f"PRAGMA max_page_count = {pages}")

    def fill() -> None:
        for number in range(200):
            save_audit(filled, case, make_audit(100 + number), anna)

    with pytest.raises(CaseLogError, match="disk is full") as caught:
        fill()
    assert "Free some space" in caught.value.hint
    assert bad(filled, head=before) == []
    filled.db.execute("PRAGMA max_page_count = 1000000")
    write_note(filled, case, "there is room again", anna)
    assert bad(filled) == []


_LIMITED = """
import resource, signal, sys
from pathlib import Path
from pura.caselog import CaseLog, open_case, write_note
from pura.caselog.verify import verify_log
from pura.base.errors import CaseLogError
path = Path(sys.argv[1])
with CaseLog(path, create=True) as log:
    who = log.person("A")
    case = open_case(log, "Small", who).id
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    room = sum(p.stat().st_size for p in path.parent.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        while True:
            write_note(log, case, "x" * 50_000, who)
    except CaseLogError as error:
        print(error.message)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    write_note(log, case, "again", who)
    print([check.key for check in verify_log(log) if check.state == "bad"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
def test_a_disk_that_takes_no_more_is_said_and_harms_nothing(path):
    message, faults = python(_LIMITED, path).splitlines()
    assert "disk" in message
    assert faults == "[]"


_READ_ONLY = """
import os, sys
from pathlib import Path
from pura.caselog import CaseLog, list_cases
from pura.caselog.verify import verify_log
from pura.base.errors import CaseLogError
path = Path(sys.argv[1])
"".encode("utf-16be")  # a codec that is loaded late, from where the other user may not read
if os.getuid() == 0:
    os.setuid(65534)  # root may write anywhere
with CaseLog(path, read_only=True) as log:
    print([case.name for case in list_cases(log)])
    print([check.key for check in verify_log(log) if check.state == "bad"])
try:
    CaseLog(path)
except CaseLogError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="other permissions")
def test_a_folder_that_cannot_be_written_can_be_read(filled, path):
    filled.close()
    # As many folders as pytest closes to others; a worker of xdist has one more.
    for place in path.parents[:5]:
        closed = place.stat().st_mode & 0o055 != 0o055
        if closed and place.stat().st_uid == path.stat().st_uid:
            place.chmod(place.stat().st_mode | 0o055)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        told = python(_READ_ONLY, path)
    finally:
        path.parent.chmod(0o755)
    names, faults, refusal = told.splitlines()
    assert "Thesis" in names
    assert faults == "[]"
    assert "cannot be" in refusal
    assert "permissions" in refusal


# --------------------------------------------------------------- what somebody does to the file


def _rewritten(log: CaseLog, start: int) -> None:
    """Write the chain anew from an entry on, as whoever owns the file can."""
    previous, case_ends = log.entry(start - 1).hash, {}  # type: ignore[union-attr]
    for entry in list(log.entries()):
        if entry.seq >= start:
            body = {**entry.body, "prev": previous, "result": entry.result or "as it suits"}
            body["case_prev"] = case_ends.get(entry.case, body["case_prev"])
            row = (written(body).decode(), entry_hash(body), entry.seq)
            log.db.execute("UPDATE entries SET body = ?, hash = ? WHERE seq = ?", row)
            previous = row[1]
        else:
            previous = entry.hash
        if entry.case:
            case_ends[entry.case] = previous


def _twice(log: CaseLog) -> None:
    log.db.execute(
        """UPDATE entries SET body = '{"result":"mark",' || substr(body, 2) WHERE seq = 5"""
    )


SWAP = [f"UPDATE entries SET seq = {b} WHERE seq = {a}" for a, b in ((4, 99), (7, 4), (99, 7))]
SIGNATURE = "UPDATE signatures SET cms = x'00'"
TAMPERINGS: dict[str, tuple[list[str] | Callable[[CaseLog], None], str]] = {
    "an entry edited": (
        ["UPDATE entries SET body = replace(body, 'note-added', 'note-lost!') WHERE seq = 5"],
        "chain.altered",
    ),
    "a space added to an entry": (
        ["UPDATE entries SET body = body || ' ' WHERE seq = 5"],
        "chain.altered",
    ),
    "a name twice in an entry": (_twice, "chain.unreadable"),
    "entries swapped": (SWAP, "chain.reordered"),
    "an entry removed": (["DELETE FROM entries WHERE seq = 6"], "chain.missing"),
    "an entry filed under another case": (
        ["UPDATE entries SET case_id = '' WHERE seq = 5"],
        "chain.index",
    ),
    "the log's identifier changed": (
        ["UPDATE meta SET value = 'another' WHERE name = 'log'"],
        "chain.empty",
    ),
    "a kept value edited": (["UPDATE kept SET value = x'22' WHERE seq = 5"], "kept.altered"),
    "a kept value removed": (["DELETE FROM kept WHERE seq = 5"], "kept.missing"),
    "a signature replaced": ([SIGNATURE], "signatures.bad"),
    "a signature removed": (["DELETE FROM signatures"], "signatures.missing"),
    "the chain rewritten": (lambda log: _rewritten(log, 4), "signatures.bad"),
    "the end cut off": (
        ["DELETE FROM kept WHERE seq > 4", "DELETE FROM entries WHERE seq > 4"],
        "deposits.cut",
    ),
}
ONLY_WITH_DEPOSIT = {"the end cut off"}


def page_rows() -> dict[str, str]:
    root = Path(__file__).resolve().parents[3]
    page = root / "docs" / "reference" / "caselog-chain.md"
    table = page.read_text(encoding="utf-8").split("| change to the file |", 1)[1]
    rows = [line.split("|") for line in table.split("\n\n", 1)[0].splitlines()[2:]]
    return {row[1].strip(): row[2].strip() for row in rows}


def test_each_line_of_what_is_found_holds(filled, anna, tmp_path):
    signer, certificate = identity()
    sign_head(filled, signer, anna)
    lay_down(filled, tmp_path, now=NOON)
    deposits = deposits_in(tmp_path, filled.id)
    options = {"trust": [certificate]}
    assert bad(filled, deposits=deposits, **options) == []
    filled.db.execute("PRAGMA foreign_keys = OFF")
    rows = page_rows()
    for name, (act, key) in TAMPERINGS.items():
        filled.db.execute("BEGIN")
        tamper(filled, *(act if isinstance(act, list) else ()))
        if not isinstance(act, list):
            act(filled)
        # As a program sees it that opens the file now.
        (filled.id,) = filled.db.execute("SELECT value FROM meta WHERE name = 'log'").fetchone()
        assert key in bad(filled, deposits=deposits, **options), name
        alone = bad(filled, **options)
        assert (alone == []) == (name in ONLY_WITH_DEPOSIT), (name, alone)
        assert rows.pop(name).startswith("only a deposit") == (name in ONLY_WITH_DEPOSIT), name
        filled.db.execute("ROLLBACK")
        filled.id = deposits[0].head.log
    # An older copy is the same file with its end cut off; a bold line says what nothing finds.
    assert "deposit" in rows.pop("the file replaced by an older copy")
    assert all(words.startswith("**not found**") for words in rows.values())


def test_a_deposit_that_was_altered_is_named(filled, anna, tmp_path):
    sign_head(filled, identity()[0], anna)
    draft = lay_down(filled, tmp_path, mail="archive@example.org", now=NOON)
    assert b"X-Unsent: 1" in draft.read_bytes()
    (sent,) = deposits_in(tmp_path, filled.id)
    draft.unlink()
    made = lay_down(filled, tmp_path, now=NOON)
    (deposit,) = deposits_in(tmp_path, filled.id)
    assert (deposit.head, deposit.signed, deposit.cms) == (sent.head, sent.signed, sent.cms)
    plain = json.loads(made.read_text())
    made.write_text(json.dumps(plain | {"hash": "a" * 64}))
    assert bad(filled, deposits=deposits_in(tmp_path, filled.id)) == ["deposits.other"]
    signed = plain["signed"] | {"cms": base64.b64encode(b"0").decode()}
    made.write_text(json.dumps(plain | {"signed": signed}))
    assert bad(filled, deposits=deposits_in(tmp_path, filled.id)) == ["deposits.forged"]
    for words in ("", "[]", json.dumps(plain | {"seq": "5"}), json.dumps(plain | {"signed": 7})):
        made.write_text(words)
        with pytest.raises(CaseLogError, match="not a deposited head"):
            deposits_in(tmp_path, filled.id)

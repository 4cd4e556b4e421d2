"""The register of issued payloads: look-up, posterior, many rows, bad files."""

import contextlib
import datetime as dt
import math
import sqlite3
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.programs import for_owner_alone
from tests.core.stops import stop

from pura.base.errors import Cancelled, PayloadError, RegisterError
from pura.register import store
from pura.register.store import Issue, Register, export_csv, import_csv
from pura.scheme import Field, Payload, Profile, parse_payload

NOON = dt.datetime(2026, 3, 14, 12, tzinfo=dt.UTC)


def payload(value, bits=36):
    return Payload.from_int(value, bits)


def issue(value, who="somebody", bits=36, **more):
    return Issue(payload=payload(value, bits), who=who, **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "r.sqlite3"


@pytest.fixture
def register(path):
    with Register(path, create=True, clock=lambda: NOON) as opened:
        yield opened


def content(register):
    return [
        (e.issue.payload.text, e.issue.who, e.issue.when, e.issue.model) for e in register.entries()
    ]


# ------------------------------------------------------------------------- adding and finding


def test_what_was_added_is_found(register):
    added = register.add(issue(5, who="Ä. Müller", when="2026-01-02", model="gpt"))
    assert register.find(payload(5)) == added
    assert register.entry(added.number) == added
    assert (added.issue.who, added.issue.when, added.issue.model) == (
        "Ä. Müller",
        "2026-01-02",
        "gpt",
    )
    assert len(register) == register.count(36) == 1
    assert register.find(payload(6)) is None
    assert register.entry(99) is None


def test_payloads_of_different_length_do_not_meet(register):
    register.add(issue(0, bits=7))
    register.add(issue(0, bits=8))
    register.add(issue(0, bits=9))
    assert [register.count(bits) for bits in (7, 8, 9, 10)] == [1, 1, 1, 0]
    assert register.find(payload(0, 8)).issue.payload == payload(0, 8)


@pytest.mark.parametrize("bits", [1, 8, 63, 64, 65, 128, 4096])
def test_long_payloads_keep_every_bit(register, bits):
    values = {0, 1, (1 << bits) - 1, (1 << bits) // 3}
    register.add_many([(i, issue(v, bits=bits)) for i, v in enumerate(sorted(values))])
    for value in values:
        assert int(register.find(payload(value, bits)).issue.payload) == value
    ((_, rows),) = register.chunks(bits)
    assert {int(Payload.from_bits(row)) for row in rows} == values


def test_a_payload_is_issued_once(register):
    register.add(issue(5))
    with pytest.raises(RegisterError, match="already"):
        register.add(issue(5, who="another"))
    assert content(register)[0][1] == "somebody"


def test_removing_leaves_the_rest_and_never_reuses_a_number(register):
    empty = register.version()
    first, second = register.add(issue(1)), register.add(issue(2))
    register.remove(second.number)
    assert register.find(payload(2)) is None
    assert register.add(issue(3)).number > second.number
    with pytest.raises(RegisterError, match="no entry"):
        register.remove(second.number)
    register.remove(first.number)
    register.remove(register.find(payload(3)).number)
    assert register.version() == empty
    register.check()


@pytest.mark.parametrize(
    "bad", [{"who": ""}, {"who": "  "}, {"who": "x" * 201}, {"when": "a\nb"}, {"model": "\u202e"}]
)
def test_texts_that_do_not_print_are_refused(bad):
    with pytest.raises(RegisterError, match="“"):
        issue(1, **({"who": "x"} | bad))


# -------------------------------------------------------------------------- version and check


def test_the_version_names_the_content_whatever_its_order(tmp_path):
    versions = []
    for order in ([1, 2, 3], [3, 1, 2]):
        with Register(tmp_path / f"{order[0]}", create=True) as register:
            register.add_many([(i, issue(v)) for i, v in enumerate(order)])
            versions.append(register.version())
            register.check()
    assert versions[0] == versions[1]
    assert versions[0].endswith("-3")


def test_every_change_changes_the_version_and_the_date(register):
    seen = {register.version()}
    assert register.changed() == ""
    for value in range(3):
        register.add(issue(value))
        seen.add(register.version())
    assert len(seen) == 4
    assert register.changed() == "2026-03-14T12:00:00+00:00"


def test_a_change_by_another_program_is_noticed(register, path):
    register.add(issue(1))
    register.check()
    by_another_program(path, "UPDATE entries SET who = 'forged'")
    with pytest.raises(RegisterError, match="something other"):
        register.check()


# ----------------------------------------------------------------------------- posterior


def scores(target, gain):
    """Each payload bit that agrees with the target is worth a little evidence."""

    def score(bits):
        return gain * (bits == target.bits).sum(axis=1).astype(float)

    # Mean over all payloads: every bit contributes (1 + e^gain) / 2 by itself.
    return score, len(target) * math.log((1 + math.exp(gain)) / 2)


def test_posterior_is_bayes_by_hand(register):
    register.add_many([(i, issue(v, bits=8)) for i, v in enumerate([3, 7, 200, 90])])
    score, log_mean = scores(payload(3, 8), 0.7)
    facts = register.posterior(8, score, log_mean, 0.1)
    weights = {v: 0.9 / 4 * math.exp(score(payload(v, 8).bits[None])[0]) for v in (3, 7, 200, 90)}
    total = sum(weights.values()) + 0.1 * math.exp(log_mean)
    assert facts.none_weight == pytest.approx(0.1 * math.exp(log_mean) / total)
    for match in facts.matches:
        assert match.posterior == pytest.approx(weights[int(match.payload, 2)] / total)
    assert sum(m.posterior for m in facts.matches) + facts.none_weight == pytest.approx(1)
    assert facts.matches[0].payload == payload(3, 8).text
    assert (facts.entries, facts.prior_none, facts.chance) == (4, 0.1, 4 / 256)
    assert facts.version == register.version()


def test_the_mean_over_all_payloads_is_what_none_stands_for(register):
    """With every payload registered, entries and "none" weigh as their priors do."""
    register.add_many([(i, issue(i, bits=8)) for i in range(256)])
    score, log_mean = scores(payload(77, 8), 1.3)
    facts = register.posterior(8, score, log_mean, 0.25)
    assert facts.none_weight == pytest.approx(0.25)


def test_an_empty_register_gives_all_weight_to_none(register):
    facts = register.posterior(36, lambda bits: np.zeros(len(bits)), 0.0, 0.1)
    assert (facts.matches, facts.none_weight, facts.entries, facts.chance) == ((), 1.0, 0, 0.0)
    assert facts.date == NOON.isoformat(timespec="seconds")


def test_strong_evidence_neither_overflows_nor_turns_to_nan(register):
    register.add_many([(i, issue(v)) for i, v in enumerate([1, 2, 3])])
    for gain in (300.0, 1e5):
        target = payload(2)
        facts = register.posterior(
            36, lambda bits, g=gain, t=target: g * (bits == t.bits).sum(axis=1), 30.0 * gain, 0.1
        )
        assert facts.matches[0].payload == target.text
        assert facts.matches[0].posterior == pytest.approx(1.0)
    lost = register.posterior(36, lambda bits: np.full(len(bits), -np.inf), 5.0, 0.1)
    assert (lost.matches, lost.none_weight) == ((), 1.0)


def test_the_decoded_payload_is_listed_whatever_its_weight(register):
    register.add_many([(i, issue(v)) for i, v in enumerate(range(20))])
    score, log_mean = scores(payload((1 << 36) - 1), 5.0)
    without = register.posterior(36, score, log_mean, 0.1)
    assert payload(0).text not in {m.payload for m in without.matches}
    with_ = register.posterior(36, score, log_mean, 0.1, decoded=payload(0))
    assert with_.matches[-1].payload == payload(0).text
    absent = register.posterior(36, score, log_mean, 0.1, decoded=payload(12345))
    assert absent == without


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused(register, bad):
    register.add(issue(1))
    with pytest.raises(ValueError, match="scores"):
        register.posterior(36, lambda bits: np.full(len(bits), bad), 0.0, 0.1)
    with pytest.raises(ValueError, match="scores"):
        register.posterior(36, lambda _: np.zeros(7), 0.0, 0.1)
    for prior, mean in ((0.0, 0.0), (1.0, 0.0), (0.1, bad)):
        with pytest.raises(ValueError, match="prior"):
            register.posterior(36, lambda bits: np.zeros(len(bits)), mean, prior)
    register.add(issue(2))  # the failed reading left no transaction open


def test_the_chance_of_long_payloads_does_not_vanish(register):
    register.add(issue(1, bits=4096))
    facts = register.posterior(4096, lambda bits: np.zeros(len(bits)), 0.0, 0.1)
    assert 0 < facts.chance < 1e-300


# ----------------------------------------------------------------------------- many rows


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """131,000 rows, each payload a different scramble of its number."""
    path = tmp_path_factory.mktemp("large") / "r.sqlite3"
    with Register(path, create=True) as register:
        register.add_many((i, issue(scramble(i), who=f"user {i}")) for i in range(131_000))
    return path


def scramble(number):
    return number * 2_654_435_761 % (1 << 36)


@pytest.mark.sampled
def test_many_rows_never_stand_in_memory_at_once(large):
    score, log_mean = scores(payload(scramble(123_456)), 4.0)
    with Register(large, read_only=True) as register:
        tracemalloc.start()
        facts = register.posterior(36, score, log_mean, 0.1)
        chunk_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        assert sum(len(numbers) for numbers, _ in register.chunks(36, size=1000)) == 131_000
        small_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert facts.entries == 131_000
        assert facts.matches[0].who == "user 123456"
        assert facts.matches[0].posterior > 0.999
    # One chunk of 65,536 rows with its scores is some 21 MB; all rows would be 31.
    assert chunk_peak < 26e6
    assert small_peak < 2e6


def test_looking_up_goes_through_the_index(large):
    with Register(large, read_only=True) as register:
        assert register.find(payload(scramble(130_999))).issue.who == "user 130999"
        plan = register._db.execute(
            "EXPLAIN QUERY PLAN SELECT number FROM entries WHERE payload = ? AND bits = ?",
            (b"", 36),
        ).fetchall()
        assert "by_payload" in plan[0][-1]
        register.check()


# ----------------------------------------------------------------------------- bad files


def test_a_missing_register_is_not_made_in_silence(tmp_path):
    with pytest.raises(RegisterError, match="cannot be opened"):
        Register(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(RegisterError, match="not a register"):
        Register(tmp_path / "empty")
    with pytest.raises(RegisterError, match="cannot be written"):
        Register(tmp_path / "empty" / "sub" / "r", create=True)


@pytest.mark.parametrize("junk", [b"payload,who\n" * 50, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_not_a_database_is_refused_and_left_alone(tmp_path, junk):
    path = tmp_path / "r"
    path.write_bytes(junk)
    for create in (False, True):
        with pytest.raises(RegisterError, match="damaged or is not"):
            Register(path, create=create)
    assert path.read_bytes() == junk


def by_another_program(path, statement):
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute(statement)


def test_another_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "r"
    by_another_program(path, "CREATE TABLE mine (x)")
    before = path.read_bytes()
    with pytest.raises(RegisterError, match="not a register"):
        Register(path, create=True)
    assert path.read_bytes() == before


def test_a_register_of_a_newer_version_is_refused(register, tmp_path):
    register._db.execute("PRAGMA user_version = 99")
    register.close()
    with pytest.raises(RegisterError, match="newer version"):
        Register(tmp_path / "data" / "r.sqlite3")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "CREATE VIEW v AS SELECT * FROM entries",
        "DROP TABLE meta",
        "DROP INDEX by_payload",
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
        "UPDATE entries SET bits = 0",
        "UPDATE entries SET bits = 'many'",
        "UPDATE entries SET payload = 'text'",
        "UPDATE entries SET who = ''",
        "UPDATE entries SET who = x'00ff'",
    ],
)
def test_rows_that_make_no_sense_are_refused(register, statement):
    register.add(issue(1))
    register._db.execute(statement)
    with pytest.raises(RegisterError, match="damaged"):
        list(register.entries())


def test_a_damaged_digest_is_refused(register):
    register._db.execute("UPDATE meta SET value = 'zz' WHERE name = 'digest'")
    with pytest.raises(RegisterError, match="damaged"):
        register.version()
    register._db.execute("DELETE FROM meta")
    with pytest.raises(RegisterError, match="damaged"):
        register.changed()


def test_a_locked_register_says_so_and_is_unharmed(register, tmp_path):
    register.add(issue(1))
    other = sqlite3.connect(tmp_path / "data" / "r.sqlite3", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with (
            Register(tmp_path / "data" / "r.sqlite3", timeout=0.01) as second,
            pytest.raises(RegisterError, match="in use") as caught,
        ):
            second.add(issue(2))
        assert "again" in caught.value.hint
    finally:
        other.execute("ROLLBACK")
        other.close()
    register.add(issue(2))
    assert len(register) == 2


def test_a_reader_sees_one_state_while_another_writes(register, tmp_path):
    register.add_many([(i, issue(i)) for i in range(10)])
    seen = []

    def score(bits):
        with Register(tmp_path / "data" / "r.sqlite3") as writer:
            writer.add(issue(100 + len(seen)))
        seen.append(len(bits))
        return np.zeros(len(bits))

    facts = register.posterior(36, score, 0.0, 0.1)
    assert (seen, facts.entries, facts.version[-3:]) == ([10], 10, "-10")
    assert len(register) == 11


def test_read_only_never_writes(register, tmp_path):
    register.add(issue(1))
    with Register(tmp_path / "data" / "r.sqlite3", read_only=True) as reader:
        assert reader.find(payload(1)) is not None
        with pytest.raises(RegisterError, match="cannot be opened or written"):
            reader.add(issue(2))


def test_a_manifest_is_named_beside_its_payload(register, tmp_path):
    register.add(issue(1))
    before = register.version()
    with pytest.raises(RegisterError, match="not in the register"):
        register.name_manifest(payload(2), "urn:c2pa:1")
    register.name_manifest(payload(1), "urn:c2pa:1")
    register.check()
    assert register.version() != before
    register.name_manifest(payload(1), "")
    assert register.version() == before, "without manifests a register counts as before"
    register.add(issue(2, manifest="urn:c2pa:2"))
    export_csv(register, tmp_path / "out.csv")
    with Register(tmp_path / "other.sqlite3", create=True) as other:
        import_csv(other, tmp_path / "out.csv", PROFILE)
        assert other.find(payload(2)).issue == issue(2, manifest="urn:c2pa:2")
        assert other.version() == register.version()


def test_a_register_of_before_manifests_is_read_as_it_is_and_brought_up_to_date(tmp_path):
    path = tmp_path / "old.sqlite3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as old:
        for statement in store.MIGRATIONS[0]:
            old.execute(statement)
        old.execute(f"PRAGMA application_id = {store.REGISTER.application_id}")
        old.execute("PRAGMA user_version = 1")
        row = store.row_of(issue(1))
        columns = "bits, payload, who, issued, model"
        old.execute(f"INSERT INTO entries ({columns}) VALUES (?, ?, ?, ?, ?)", row[:5])
        digest = f"{store.digest_of(row):x}"
        old.execute("UPDATE meta SET value = ? WHERE name = 'digest'", (digest,))
    with Register(path, read_only=True) as register:
        register.check()
        assert [entry.issue for entry in register.entries()] == [issue(1)]
    with Register(path) as register:
        register.check()
        register.name_manifest(payload(1), "urn:c2pa:1")
    with Register(path, read_only=True) as register:
        assert register.find(payload(1)).issue == issue(1, manifest="urn:c2pa:1")


def test_a_failed_step_of_an_update_leaves_the_old_version(register):
    steps = (*store.MIGRATIONS, ("CREATE TABLE new (x)", "NOT SQL"))
    with pytest.raises(sqlite3.OperationalError):
        store.migrate(register._db, steps)
    before = len(store.MIGRATIONS)
    assert register._db.execute("PRAGMA user_version").fetchone()[0] == before
    good = (*store.MIGRATIONS, ("CREATE TABLE new (x)",))
    store.migrate(register._db, good)
    assert register._db.execute("PRAGMA user_version").fetchone()[0] == before + 1
    assert register._db.execute("SELECT count(*) FROM new").fetchone()[0] == 0


# ------------------------------------------------------------------------------ as a table

PROFILE = Profile(payload_bits=36, vocab_size=100, code="tbcc")
FIELDS = PROFILE.with_(
    payload_bits=12,
    fields=(
        Field(name="Model", bits=4, kind="enumeration", values=("alpha", "beta")),
        Field(name="user", bits=8, kind="integer"),
    ),
)


def table(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


# ------------------------------------------------------------------------------- import


def test_import_with_payload_column(register, tmp_path):
    text = "payload,who,when,model\n0x5,Ann,2026-01-01,m1\n" + "0" * 35 + "1,Bob,,\n"
    assert import_csv(register, table(tmp_path, text), PROFILE) == 2
    assert register.find(payload(5)).issue.who == "Ann"
    assert register.find(payload(1)).issue.who == "Bob"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_import_as_spreadsheets_write_it(register, tmp_path, encoding, delimiter, end):
    rows = ["WHO|Payload|When|Model", '"Müller;,""x"""|0xA|2026|', "|||", "Ö|0xb||m"]
    text = end.join(rows).replace("|", delimiter) + end
    assert import_csv(register, table(tmp_path, text, encoding), PROFILE) == 2
    assert register.find(payload(10)).issue.who == 'Müller;,"x"'


def test_import_with_field_columns(register, tmp_path):
    text = "sep=;\nuser;Model;who\n7;beta;Ann\n255;alpha;Bob\n"
    assert import_csv(register, table(tmp_path, text), FIELDS) == 2
    found = register.find(payload(0x107, 12)).issue
    # The field "Model" fills the column of the same name too.
    assert (found.who, found.model) == ("Ann", "")


def test_bad_rows_are_named_and_nothing_is_imported(register, tmp_path):
    register.add(issue(9))
    text = (
        "payload,who\n"
        "0x1,Ann\n"  # 2
        "0x1,Bob\n"  # 3: same as row 2
        "0x1000000000,Cy\n"  # 4: 37 bits
        "0101,Di\n"  # 5: four bits
        "17,Ed\n"  # 6: not bits
        "0x2\n"  # 7: a cell is missing
        "0x3,\n"  # 8: nobody
        "0x9,Flo\n"  # 9: in the register
        ",\n"
        "-0x4,Gus\n"  # 11
    )
    with pytest.raises(RegisterError) as caught:
        import_csv(register, table(tmp_path, text), PROFILE)
    message = caught.value.message
    for row in (3, 4, 5, 6, 7, 8, 9, 11):
        assert f"Row {row}: " in message
    for row in (2, 10):
        assert f"Row {row}: " not in message
    assert "because of 8 rows" in message
    assert "same payload as in row 2" in message
    assert "as entry 1" in message
    assert "does not fit into 36 bits" in message
    assert len(register) == 1
    register.check()


def test_only_the_first_bad_rows_are_written_out(register, tmp_path):
    text = "payload,who\n" + "x,Ann\n" * 500
    with pytest.raises(RegisterError, match="And 490 more") as caught:
        import_csv(register, table(tmp_path, text), PROFILE)
    assert len(caught.value.message) < 2000


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "“who”"),
        ("payload\n0x1\n", "“who”"),
        ("who\nAnn\n", "“payload”"),
        ("payload,who,colour\n0x1,Ann,red\n", "“colour”"),
        ("payload,who,WHO\n0x1,Ann,Bob\n", "twice"),
        ('payload,who\n0x1,"Ann\n', "CSV"),
        ("payload,who\n0x1," + "x" * 70_000 + "\n", "CSV"),
        ("payload,who\n0x1,A\0nn\n", "CSV"),
    ],
)
def test_what_is_not_such_a_table_is_refused(register, tmp_path, text, what):
    with pytest.raises(RegisterError, match=what):
        import_csv(register, table(tmp_path, text), PROFILE)
    assert len(register) == 0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("user,Model,who\n256,alpha,Ann\n1,gamma,Bob\n", r"Row 2: .*“user”.*Row 3: .*“Model”"),
        ("Model,who\nalpha,Ann\n", "“user”"),
        ("payload,user,who\n0x1,1,Ann\n", "both the payload and its field “user”"),
    ],
)
def test_columns_of_fields_are_complete_and_fit(register, tmp_path, text, what):
    with pytest.raises(RegisterError, match=what):
        import_csv(register, table(tmp_path, text), FIELDS)


def test_other_encodings_and_missing_files_are_refused(register, tmp_path):
    with pytest.raises(RegisterError, match="UTF-8"):
        import_csv(register, table(tmp_path, "payload,who\n0x1,Müller\n", "cp1252"), PROFILE)
    with pytest.raises(RegisterError, match="cannot be read"):
        import_csv(register, tmp_path / "none.csv", PROFILE)
    assert len(register) == 0


def test_a_cancelled_import_leaves_nothing(register, tmp_path):
    rows = "".join(f"{hex(i)},Ann\n" for i in range(3000))

    with pytest.raises(Cancelled):
        import_csv(register, table(tmp_path, "payload,who\n" + rows), PROFILE, checkpoint=stop)
    assert len(register) == 0
    assert import_csv(register, table(tmp_path, "payload,who\n" + rows), PROFILE) == 3000
    register.check()


@pytest.mark.parametrize(
    ("text", "bits", "value"),
    [("0x0", 1, 0), ("0xF", 4, 15), ("0x00000F", 4, 15), ("0011", 4, 3), ("0X1f", 5, 31)],
)
def test_payloads_as_people_write_them(text, bits, value):
    assert parse_payload(text, bits) == payload(value, bits)


@pytest.mark.parametrize(
    "text", ["", "0x", "0x1_0", "0x20", "01", "012", "-1", "1e3", "٣٣٣٣٣", "0x" + "f" * 10_000]
)
def test_payloads_that_are_none(text):
    with pytest.raises(PayloadError):
        parse_payload(text, 5)


# ------------------------------------------------------------------------------- export


def test_export_disarms_formulas_and_reads_back_the_same(register, tmp_path):
    evil = ["=cmd()", "+1", "-1", "@x", "'=quoted", "''=twice", "'plain", 'a,b;"c"', "Ä"]
    register.add_many([(i, issue(i, who=who)) for i, who in enumerate(evil)])
    path = tmp_path / "out.csv"
    assert export_csv(register, path) == len(evil)
    raw = path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    for line in raw.decode("utf-8-sig").splitlines()[1:]:
        assert not any(cell[:1] in "=+-@" for cell in line.split(",") if cell)
    assert for_owner_alone(path)
    with Register(tmp_path / "copy", create=True) as copy:
        import_csv(copy, path, PROFILE)
        assert content(copy) == content(register)
        assert copy.version() == register.version()


def test_a_table_that_cannot_be_written_is_told(register, tmp_path):
    with pytest.raises(RegisterError, match="cannot be written"):
        export_csv(register, tmp_path / "none" / "out.csv")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.integers(0, 2**36 - 1),
        st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20),
        max_size=20,
    )
)
def test_any_register_survives_export_and_import(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("round")
    with (
        Register(folder / "a", create=True) as first,
        Register(folder / "b", create=True) as second,
    ):
        first.add_many([(i, issue(v, who=who)) for i, (v, who) in enumerate(rows.items())])
        export_csv(first, folder / "out.csv")
        assert import_csv(second, folder / "out.csv", PROFILE) == len(rows)
        assert content(second) == content(first)
        assert second.version() == first.version()

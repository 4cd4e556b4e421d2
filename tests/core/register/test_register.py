"""The register of issued payloads: look-up, posterior, many rows, bad files."""

import datetime as dt
import math
import sqlite3
import tracemalloc

import numpy as np
import pytest

from pura.base.errors import RegisterError
from pura.register import store
from pura.register.store import Issue, Register
from pura.scheme import Payload

NOON = dt.datetime(2026, 3, 14, 12, tzinfo=dt.UTC)


def payload(value, bits=36):
    return Payload.from_int(value, bits)


def issue(value, who="somebody", bits=36, **more):
    return Issue(payload=payload(value, bits), who=who, **more)


@pytest.fixture
def register(tmp_path):
    with Register(tmp_path / "data" / "r.sqlite3", create=True, clock=lambda: NOON) as opened:
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


def test_a_change_by_another_program_is_noticed(register, tmp_path):
    register.add(issue(1))
    register.check()
    with sqlite3.connect(tmp_path / "data" / "r.sqlite3") as other:
        other.execute("UPDATE entries SET who = 'forged'")
    other.close()
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


def test_another_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "r"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
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
def test_foreign_tables_views_and_triggers_are_refused(register, tmp_path, statement):
    register.close()
    path = tmp_path / "data" / "r.sqlite3"
    with sqlite3.connect(path) as other:
        other.execute(statement)
    other.close()
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


def test_a_failed_step_of_an_update_leaves_the_old_version(register):
    steps = (*store.MIGRATIONS, ("CREATE TABLE new (x)", "NOT SQL"))
    with pytest.raises(sqlite3.OperationalError):
        store.migrate(register._db, steps)
    assert register._db.execute("PRAGMA user_version").fetchone()[0] == 1
    good = (*store.MIGRATIONS, ("CREATE TABLE new (x)",))
    store.migrate(register._db, good)
    assert register._db.execute("PRAGMA user_version").fetchone()[0] == 2
    assert register._db.execute("SELECT count(*) FROM new").fetchone()[0] == 0

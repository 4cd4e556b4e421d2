"""The register: what was issued to whom, looked up by whole marks, weighed, corrected."""

import datetime as dt
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from tests.core.register.issues import (
    CONTOSO,
    FIELDS,
    HOUSE,
    PROFILE,
    SERIES,
    SMALL,
    UNDER,
    issue,
    mark,
    payload,
    series_of,
)

from pura.base.errors import RegisterError
from pura.register.rows import Drawn, Problems, Recipient
from pura.register.store import Register
from pura.register.under import IssuedUnder
from pura.register.verification import verify
from pura.scheme import Payload

NOON = dt.datetime(2026, 3, 14, 12, tzinfo=dt.UTC)
SMALL_SERIES = series_of(SMALL)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "r.sqlite3"


@pytest.fixture
def register(path):
    with Register(path, create=True, clock=lambda: NOON) as opened:
        yield opened


# Adding and finding


def test_what_was_added_is_found(register):
    added = register.add(issue(5, who="Ä. Müller", when="2026-01-02", model="gpt", note="r 7"))
    assert register.find(mark(5)) == added
    assert register.entry(added.number) == added
    assert added.issue.recipient == Recipient(
        who="Ä. Müller", when="2026-01-02", model="gpt", note="r 7"
    )
    assert added.issue.mark == mark(5)
    assert len(register) == register.count(SERIES, 36) == 1
    assert register.find(mark(6)) is None
    assert register.entry(99) is None


@pytest.mark.parametrize(
    "series",
    [
        series_of(PROFILE, CONTOSO),
        series_of(PROFILE, epoch="2026-11"),
        series_of(PROFILE, epoch="2026-12"),
        series_of(FIELDS),
    ],
)
def test_a_mark_of_another_key_epoch_or_profile_is_another_mark(register, series):
    """0.4.0 named the customer of one key for a text that was marked under another."""
    ours = register.add(issue(417, who="ours"))
    assert register.find(mark(417, series=series)) is None
    theirs = register.add(issue(417, who="theirs", series=series))
    assert register.find(mark(417)) == ours
    assert register.find(mark(417, series=series)) == theirs
    assert (register.count(SERIES, 36), register.count(series, 36)) == (1, 1)


def test_payloads_of_different_length_do_not_meet(register):
    for bits in (7, 8, 9):
        register.add(issue(0, bits=bits))
    assert [register.count(SERIES, bits) for bits in (7, 8, 9, 10)] == [1, 1, 1, 0]
    assert register.find(mark(0, 8)).issue.payload == payload(0, 8)


@pytest.mark.parametrize("bits", [1, 8, 63, 64, 65, 128, 4096])
def test_long_payloads_keep_every_bit(register, bits):
    values = {0, 1, (1 << bits) - 1, (1 << bits) // 3}
    register.add_many([(i, issue(v, bits=bits)) for i, v in enumerate(sorted(values))])
    for value in values:
        assert int(register.find(mark(value, bits)).issue.payload) == value
    ((_, rows),) = register.chunks(SERIES, bits)
    assert {int(Payload.from_bits(row)) for row in rows} == values


def test_a_mark_is_issued_once(register):
    register.add(issue(5))
    with pytest.raises(RegisterError) as refused:
        register.add(issue(5, who="another"))
    assert refused.value.key == "register.twice"
    assert register.find(mark(5)).issue.who == "somebody"


def test_rows_of_a_mark_with_two_recipients_are_named_and_nothing_is_added(register):
    register.add(issue(1))
    rows = [issue(2), issue(2, who="b"), issue(1, who="c"), issue(2, series=series_of(FIELDS))]
    with pytest.raises(RegisterError) as refused:
        register.add_many(enumerate(rows, start=1))
    assert [row.values["row"] for row in refused.value.values["every"]] == [2, 3]
    assert refused.value.values["good"] == 1
    problems = Problems(others=True)
    assert register.add_many(enumerate(rows, start=1), problems) == 1
    assert problems.left_out == 3
    assert verify(register).sound


@pytest.mark.parametrize(
    "bad",
    [
        {"who": ""},
        {"who": "  "},
        {"who": "x" * 201},
        {"when": "a\nb"},
        {"model": "\u202e"},
        {"note": "x" * 201},
    ],
)
def test_texts_that_do_not_print_are_refused(bad):
    with pytest.raises(RegisterError, match="“"):
        issue(1, **({"who": "x"} | bad))


# State


def test_two_registers_that_differ_have_different_states(tmp_path):
    """In 0.4.0 a pair with equal states was made in half a minute, and order did not count."""
    heads = set()
    for name, order in (("a", [1, 2, 3]), ("b", [3, 1, 2]), ("c", [1, 2])):
        with Register(tmp_path / name, create=True) as register:
            register.add_many([(i, issue(v)) for i, v in enumerate(order)])
            heads.add(register.head())
            assert register.version() == f"{register.head()[:16]}-{len(order)}"
    assert len(heads) == 3
    assert {len(head) for head in heads} == {64}


def test_every_change_changes_the_state_and_the_date(register):
    states = {register.head()}
    assert register.changed() == ""
    for value in range(3):
        register.add(issue(value))
        states.add(register.head())
    register.name_manifest(1, "urn:c2pa:1")
    states.add(register.head())
    register.remark(1, "answer cut off")
    states.add(register.head())
    register.revoke(2, "a mistake")
    states.add(register.head())
    assert len(states) == 7
    assert register.changed() == "2026-03-14T12:00:00+00:00"


def test_a_row_removed_and_put_back_leaves_its_trace(register):
    """In 0.4.0 the state was the same as before."""
    entry = register.add(issue(1, who="Ann"))
    before = register.head()
    register.revoke(entry.number)
    other = register.add(issue(1, who="Bob"))
    register.revoke(other.number)
    again = register.add(issue(1, who="Ann"))
    assert register.head() != before
    assert register.find(mark(1)) == again
    assert [one.issue.who for one in register.revoked(mark(1))] == ["Ann", "Bob"]
    assert again.number == 3


# Corrections


def test_a_revoked_entry_names_nobody_and_its_number_is_not_given_again(register):
    first, second = register.add(issue(1)), register.add(issue(2))
    register.revoke(second.number, "a mistake")
    assert register.find(mark(2)) is None
    (revoked,) = register.revoked(mark(2))
    assert (revoked.number, revoked.revocation.reason) == (second.number, "a mistake")
    assert register.entry(second.number) == revoked
    assert [entry.number for entry in register.entries()] == [first.number]
    assert (len(register), register.count(SERIES, 36)) == (1, 1)
    assert register.add(issue(3)).number > second.number
    for number, key in ((second.number, "register.revoked"), (99, "register.no-entry")):
        with pytest.raises(RegisterError) as refused:
            register.revoke(number)
        assert refused.value.key == key


def test_a_remark_is_shown_and_the_entry_stands(register):
    entry = register.add(issue(1))
    register.remark(entry.number, "aborted")
    assert register.find(mark(1)).remark == "aborted"
    register.remark(entry.number, "sent after all")
    assert register.find(mark(1)).remark == "sent after all"
    register.revoke(entry.number)
    with pytest.raises(RegisterError) as refused:
        register.remark(entry.number, "too late")
    assert refused.value.key == "register.revoked"


def test_a_manifest_is_named_beside_its_payload(register):
    entry = register.add(issue(1))
    register.name_manifest(entry.number, "urn:c2pa:1")
    assert register.find(mark(1)).issue == issue(1, manifest="urn:c2pa:1")
    assert register.manifests() == 1
    with pytest.raises(RegisterError) as refused:
        register.name_manifest(2, "urn:c2pa:1")
    assert refused.value.key == "register.no-entry"
    assert verify(register).sound


# Entries of unknown key


def test_an_entry_of_unknown_key_names_nobody_until_it_is_assigned(register):
    register.add_many(enumerate(issue(n, who=f"w{n}", series=None) for n in range(5)))
    assert (register.unassigned(), register.unassigned(36), register.unassigned(8)) == (5, 5, 0)
    assert register.find(mark(3)) is None
    assert register.assign(UNDER, first=2, last=4) == 3
    assert [register.find(mark(n)) is not None for n in range(5)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert register.find(mark(3)).issue.who == "w3"
    assert register.find(mark(3, series=series_of(PROFILE, CONTOSO))) is None
    assert (register.unassigned(), register.count(SERIES, 36)) == (2, 3)
    assert register.assign(IssuedUnder(profile=PROFILE, key=CONTOSO)) == 2
    assert register.unassigned() == 0
    assert verify(register).sound


def test_an_assignment_takes_the_epoch_of_each_date(register):
    rows = [issue(n, when=when, series=None) for n, when in enumerate(("2026-10-31", "2026-11-01"))]
    register.add_many(enumerate([*rows, issue(7, when="spring", series=None)]))
    months = IssuedUnder(profile=PROFILE.with_(key_epochs="month"), key=HOUSE)
    with pytest.raises(RegisterError) as refused:
        register.assign(months)
    assert [row.values["row"] for row in refused.value.values["every"]] == [3]
    problems = Problems(others=True)
    assert register.assign(months, problems=problems) == 2
    assert problems.left_out == 1
    assert register.find(mark(0, series=series_of(PROFILE, epoch="2026-10"))) is not None
    assert register.find(mark(1, series=series_of(PROFILE, epoch="2026-11"))) is not None
    assert register.unassigned() == 1


def test_an_assignment_does_not_take_the_mark_of_another(register):
    register.add(issue(5, who="Ann"))
    register.add(issue(5, who="Bob", series=None))
    with pytest.raises(RegisterError) as refused:
        register.assign(UNDER)
    (what,) = refused.value.values["every"]
    assert what.values["what"].key == "register.known"
    assert register.find(mark(5)).issue.who == "Ann"


def test_an_assignment_leaves_payloads_of_another_length(register):
    register.add(issue(5, bits=8, series=None))
    assert register.assign(UNDER) == 0
    assert register.unassigned(8) == 1


# Drawing


def test_a_drawn_payload_is_fresh_and_its_row_says_how_it_was_drawn(register):
    entry = register.draw(SERIES, 36, Recipient(who="Ann", note="request 7"))
    assert register.find(entry.issue.mark) == entry
    assert entry.issue.drawn is Drawn.RANDOM
    assert entry.issue.when == "2026-03-14"
    assert register.entry(entry.number) == entry


def test_every_number_is_drawn_once_also_those_of_revoked_and_unassigned_entries(register):
    register.add(issue(3, bits=8, series=SMALL_SERIES))
    register.revoke(1)
    register.add(issue(4, bits=8, series=None))
    entries = register.draw_many(SMALL_SERIES, 8, [Recipient(who=str(n)) for n in range(254)])
    drawn = {int(entry.issue.payload) for entry in entries}
    assert drawn == set(range(256)) - {3, 4}
    with pytest.raises(RegisterError) as refused:
        register.draw(SMALL_SERIES, 8, Recipient(who="one more"))
    assert refused.value.key == "register.used-up"
    # Another key has all its numbers.
    register.draw(series_of(SMALL, CONTOSO), 8, Recipient(who="one more"))
    assert verify(register).sound


def test_a_refused_drawing_writes_nothing(register):
    register.draw(SERIES, 36, Recipient(who="Ann"))
    head = register.head()
    recipients = [Recipient(who="Bob"), Recipient(who="Cy", when="2026-09-01")]
    with pytest.raises(RegisterError) as refused:
        register.draw_many(series_of(PROFILE, epoch="2026-11"), 36, recipients)
    assert refused.value.key == "register.contradiction"
    assert (register.head(), len(register)) == (head, 1)


# Weights


def scores(target, gain):
    """Each payload bit that agrees with the target is worth a little evidence."""

    def score(bits):
        return gain * (bits == target.array).sum(axis=1).astype(float)

    # Mean over all payloads: every bit contributes (1 + e^gain) / 2 by itself.
    return score, len(target) * math.log((1 + math.exp(gain)) / 2)


def issue_numbers(register, numbers, series=SMALL_SERIES, **about):
    rows = (issue(number, bits=8, series=series, **about) for number in numbers)
    register.add_many(enumerate(rows))


def test_posterior_is_bayes_by_hand(register):
    numbers = [3, 7, 200, 90]
    issue_numbers(register, numbers)
    issue_numbers(register, range(250), series_of(SMALL, CONTOSO))  # takes no part
    score, log_mean = scores(payload(3, 8), 0.7)
    facts = register.posterior(mark(3, 8, SMALL_SERIES), score, log_mean, 0.1, SMALL)
    weights = {v: 0.9 / 4 * math.exp(score(payload(v, 8).array[None])[0]) for v in numbers}
    total = sum(weights.values()) + 0.1 * math.exp(log_mean)
    assert facts.none_weight == pytest.approx(0.1 * math.exp(log_mean) / total)
    for match in facts.matches:
        assert match.posterior == pytest.approx(weights[int(match.payload, 2)] / total)
        assert (match.key, match.profile, match.epoch) == (HOUSE, SMALL.fingerprint, "")
    assert sum(m.posterior for m in facts.matches) + facts.none_weight == pytest.approx(1)
    assert facts.matches[0].mark == mark(3, 8, SMALL_SERIES)
    assert facts.matches[0].row == register.find(mark(3, 8, SMALL_SERIES)).hash
    assert (facts.entries, facts.prior_none) == (4, 0.1)
    assert (facts.version, facts.head) == (register.version(), register.head())


def test_the_mean_over_all_payloads_is_what_none_stands_for(register):
    """With every payload registered, entries and "none" weigh as their priors do."""
    issue_numbers(register, range(256))
    score, log_mean = scores(payload(77, 8), 1.3)
    facts = register.posterior(mark(77, 8, SMALL_SERIES), score, log_mean, 0.25, SMALL)
    assert facts.none_weight == pytest.approx(0.25)


def zeros(bits):
    return np.zeros(len(bits))


def test_an_empty_register_gives_all_weight_to_none(register):
    facts = register.posterior(mark(1), zeros, 0.0, 0.1, PROFILE)
    assert (facts.matches, facts.none_weight, facts.entries, facts.chance) == ((), 1.0, 0, None)
    assert facts.date == NOON.isoformat(timespec="seconds")
    assert facts.head == "0" * 64


@pytest.mark.parametrize("gain", [300.0, 1e5])
def test_strong_evidence_neither_overflows_nor_turns_to_nan(register, gain):
    register.add_many([(i, issue(v)) for i, v in enumerate([1, 2, 3])])
    target = payload(2)

    def score(bits):
        return gain * (bits == target.array).sum(axis=1)

    facts = register.posterior(mark(2), score, 30.0 * gain, 0.1, PROFILE)
    assert facts.matches[0].payload == target.text
    assert facts.matches[0].posterior == pytest.approx(1.0)


def test_without_any_likelihood_all_weight_is_on_none(register):
    register.add(issue(1))
    lost = register.posterior(mark(2), lambda bits: np.full(len(bits), -np.inf), 5.0, 0.1, PROFILE)
    assert (lost.matches, lost.none_weight) == ((), 1.0)


def test_the_decoded_mark_is_listed_whatever_its_weight(register):
    register.add_many([(i, issue(v)) for i, v in enumerate(range(20))])
    score, log_mean = scores(payload((1 << 36) - 1), 5.0)
    absent = register.posterior(mark(12345), score, log_mean, 0.1, PROFILE)
    assert payload(0).text not in {m.payload for m in absent.matches}
    there = register.posterior(mark(0), score, log_mean, 0.1, PROFILE)
    assert there.matches[-1].payload == payload(0).text


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused(register, bad):
    register.add(issue(1))
    with pytest.raises(ValueError, match="scores"):
        register.posterior(mark(1), lambda bits: np.full(len(bits), bad), 0.0, 0.1, PROFILE)
    with pytest.raises(ValueError, match="scores"):
        register.posterior(mark(1), lambda _: np.zeros(7), 0.0, 0.1, PROFILE)
    for prior, mean in ((0.0, 0.0), (1.0, 0.0), (0.1, bad)):
        with pytest.raises(ValueError, match="prior"):
            register.posterior(mark(1), zeros, mean, prior, PROFILE)
    register.add(issue(2))  # the failed reading left no transaction open


def test_marks_of_a_text_are_looked_up_under_their_own_keys(register):
    theirs = series_of(PROFILE, CONTOSO)
    register.add(issue(1, who="ours"))
    register.add(issue(1, who="theirs", series=theirs))
    register.add(issue(2, who="ours too"))
    marks = [(mark(1, series=theirs), 0.999), (mark(2), 0.999), (mark(2, series=theirs), 0.999)]
    facts = register.entries_of(marks, 0.1, PROFILE)
    assert [match.who for match in facts.matches] == ["theirs", "ours too"]
    assert [match.mark for match in facts.matches] == [mark(1, series=theirs), mark(2)]
    assert facts.entries == 3
    # An entry shares the weight of its payload with "not in the register".
    assert facts.matches[0].posterior == pytest.approx(0.999 / (1 + 0.1 / 0.9 / 2**36))


# How easily a misread payload agrees


def test_the_chance_of_agreement_is_stated_of_random_numbers_only(register):
    """0.4.0 said "1 in 60,000,000,000" of consecutive numbers of customers, too."""
    entry = register.draw_many(SMALL_SERIES, 8, [Recipient(who="w")] * 4)[0]
    drawn = register.posterior(entry.issue.mark, zeros, 0.0, 0.1, SMALL)
    assert drawn.chance == 4 / 256
    free = next(n for n in range(256) if register.find(mark(n, 8, SMALL_SERIES)) is None)
    chosen = register.add(issue(free, bits=8, series=SMALL_SERIES))
    assert register.posterior(chosen.issue.mark, zeros, 0.0, 0.1, SMALL).chance is None
    register.revoke(chosen.number)
    assert register.posterior(entry.issue.mark, zeros, 0.0, 0.1, SMALL).chance == 4 / 256


def test_the_chance_of_long_payloads_does_not_vanish(register):
    long = PROFILE.with_(code="tbcc", blocks=None, payload_bits=4096)
    entry = register.draw(series_of(long), 4096, Recipient(who="w"))
    facts = register.posterior(entry.issue.mark, zeros, 0.0, 0.1, long)
    assert 0 < facts.chance < 1e-300


def test_a_record_says_what_was_not_compared_and_what_was_revoked(register):
    register.add_many(enumerate([issue(1), issue(2, series=None), issue(3, bits=8, series=None)]))
    register.revoke(1)
    facts = register.posterior(mark(1), zeros, 0.0, 0.1, PROFILE)
    assert (facts.matches, facts.revoked, facts.unassigned) == ((), (1,), 1)


# Many rows


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
        facts = register.posterior(mark(scramble(123_456)), score, log_mean, 0.1, PROFILE)
        chunk_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        chunks = register.chunks(SERIES, 36, size=1000)
        assert sum(len(numbers) for numbers, _ in chunks) == 131_000
        small_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert facts.entries == 131_000
        assert facts.matches[0].who == "user 123456"
        assert facts.matches[0].posterior > 0.999
    # One chunk of 65,536 rows with its scores is some 21 MB; all rows would be 31.
    assert chunk_peak < 26e6
    assert small_peak < 2e6


def test_looking_up_goes_through_an_index(large):
    with Register(large, read_only=True) as register:
        assert register.find(mark(scramble(130_999))).issue.who == "user 130999"
        plan = []
        register.connection.set_trace_callback(plan.append)
        register.find(mark(scramble(130_999)))
        register.connection.set_trace_callback(None)
        (query,) = plan
        steps = register.connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
        assert not [step[-1] for step in steps if step[-1].startswith("SCAN")]


def test_a_reader_sees_one_state_while_another_writes(register, path):
    register.add_many([(i, issue(i)) for i in range(10)])
    seen = []

    def score(bits):
        with Register(path) as writer:
            writer.add(issue(100 + len(seen)))
        seen.append(len(bits))
        return np.zeros(len(bits))

    facts = register.posterior(mark(999), score, 0.0, 0.1, PROFILE)
    assert (seen, facts.entries, facts.version[-3:]) == ([10], 10, "-10")
    assert len(register) == 11


def test_a_contradiction_that_stands_already_is_told(register):
    november = series_of(PROFILE, epoch="2026-11")
    stale = issue(1, series=november, when="2026-11-05")
    register.add(stale)
    # A row of before the check: the date is another month's.
    register.connection.execute("DROP TRIGGER rows_stay")
    register.connection.execute("UPDATE chain SET issued = '2026-03-05'")
    facts = register.entries_of([(mark(1, series=november), 1.0)], 0.1, PROFILE)
    assert facts.matches[0].contradicts == ("when-epoch",)


def test_a_row_that_contradicts_its_key_is_refused(register):
    with pytest.raises(RegisterError) as refused:
        register.add(issue(1, when="2026-03-05", series=series_of(PROFILE, epoch="2026-11")))
    assert refused.value.key == "register.contradiction"
    with pytest.raises(RegisterError) as refused:
        register.add(
            replace(issue(0x107, bits=12, series=series_of(FIELDS)), model="alpha"), FIELDS
        )
    assert refused.value.values["what"].key == "register.model-field"

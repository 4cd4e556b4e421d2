"""The exact decoder: right answers, an honest e-value, finite numbers whatever comes in."""

import itertools

import numpy as np
import pytest

from pura.decode import paper
from pura.decode.evidence_sums import sum_evidence
from pura.decode.exact import decide
from pura.decode.likelihood import Intervals
from pura.extract import local_evidence
from pura.scheme import Payload, Profile, Schedule, encode

SMALL_SPC = Profile(payload_bits=9, blocks=3, vocab_size=1000)
SMALL_TBCC = Profile(payload_bits=9, code="tbcc", vocab_size=1000)


@pytest.mark.parametrize("profile", [SMALL_SPC, SMALL_TBCC], ids=["spc", "tbcc"])
@pytest.mark.parametrize("marked", [True, False])
def test_brute_force_over_all_payloads(profile, marked, text_maker):
    rng = np.random.default_rng(11)
    payload = Payload.from_int(0b011010011, 9) if marked else None
    text = text_maker(rng, profile, 30, payload)
    got = decide(text.seen(profile), candidates=512)
    everyone = [Payload.from_int(i, 9) for i in range(512)]
    scores = np.array(
        [
            [
                table[
                    np.arange(word.size), 4 * word + 2 * np.roll(word, -1) + np.roll(word, -2)
                ].sum()
                for word in (encode(p, profile).astype(int) for p in everyone)
            ]
            for table in got.potentials
        ]
    )
    whole = np.logaddexp.reduce(scores, axis=0) - np.log(len(got.grid))
    assert got.log_e_whole == pytest.approx(np.logaddexp.reduce(whole) - np.log(512), abs=1e-9)
    assert got.log_e_list == pytest.approx(
        np.logaddexp.reduce(got.log_listed) - np.log(512), abs=1e-9
    )
    assert got.log_e == pytest.approx(
        np.logaddexp(got.log_e_whole, got.log_e_list) - np.log(2), abs=1e-9
    )
    listed = {row.tobytes(): value for row, value in zip(got.listed, got.log_listed, strict=True)}
    joint = np.logaddexp(whole, [listed.get(p.bits.tobytes(), -np.inf) for p in everyone])
    posterior = np.exp(joint - np.logaddexp.reduce(joint))
    order = np.argsort(-posterior, kind="stable")
    assert got.payload == everyone[order[0]]
    for candidate, i in zip(got.candidates[:5], order, strict=False):
        assert candidate.posterior == pytest.approx(posterior[i], rel=1e-6)
    bits = np.stack([p.bits for p in everyone])
    np.testing.assert_allclose(got.bit_posteriors, posterior @ bits, atol=0.02)
    np.testing.assert_allclose(
        np.exp(got.log_ratios(bits, profile) - np.log(512) - got.log_e),
        posterior,
        rtol=1e-6,
        atol=1e-300,
    )
    if marked:
        assert got.payload == payload


def test_clean_text_is_read(profile, payload, text_maker):
    text = text_maker(np.random.default_rng(3), profile, 200, payload)
    got = decide(text.seen(profile))
    assert got.payload == payload
    assert got.codeword.tolist() == encode(payload, profile).tolist()
    assert got.log10_e > 20
    assert got.candidates[0].posterior > 0.999
    assert sum(c.posterior for c in got.candidates) <= 1 + 1e-9
    np.testing.assert_allclose(got.bit_posteriors, payload.bits, atol=1e-3)
    assert got.log_e >= got.log_e_whole - np.log(2)
    assert [mark.payload for mark in got.marks] == [payload]
    added = got.marks[0].log_ratio
    # One chain fits best; the mean over all of them is below it by their number at most.
    assert 0 <= added.sum() - got.log_listed[0] <= np.log(32)


def test_exact_reads_what_paper_cannot(spc, payload, text_maker):
    """Three in ten tokens replaced, 24 texts. Both see the same evidence."""
    rng = np.random.default_rng(29)
    exact = published = 0
    for _ in range(24):
        marked = rng.random(200) > 0.3
        text = text_maker(rng, spc, 200, payload, marked=marked)
        exact += decide(text.seen(spc)).payload == payload
        local = local_evidence(text.schedule, text.lo, text.hi, spc)
        published += paper.decode(text.schedule, local, spc).payload == payload
    assert exact >= published


@pytest.mark.slow
def test_mean_e_is_at_most_one_and_markov_holds(profile, text_maker):
    """Random phases over plain texts. Mean of e above 1 by five standard errors, or a tail beyond
    its bound by five: less than once in 10^6 runs if the bound is true (e is capped for the
    mean, so its error is known)."""
    rng = np.random.default_rng(97)
    count = 50 if profile.code == "tbcc" else 120
    values = np.empty(count)
    text = None
    for i in range(count):
        if i % 50 == 0:
            text = text_maker(rng, profile, 60)
        fresh = text.with_phases(rng)
        values[i] = sum_evidence(fresh.seen(profile)).log_e
    e = np.minimum(np.exp(values), 100.0)
    assert e.mean() <= 1 + 5 * np.sqrt(100.0 / count)
    for alpha in (0.1, 0.01, 0.001):
        reached = np.mean(values >= -np.log(alpha))
        assert reached <= alpha + 5 * np.sqrt(alpha / count)


@pytest.mark.slow
def test_mean_e_is_one_where_it_can_be_seen(text_maker):
    """Few steps, little variance: here the mean itself is measured, from both sides."""
    rng = np.random.default_rng(41)
    text = text_maker(rng, SMALL_SPC, 6)
    e = np.array(
        [
            np.exp(sum_evidence(text.with_phases(rng).seen(SMALL_SPC)).log_e_whole)
            for _ in range(300)
        ]
    )
    assert abs(e.mean() - 1) <= 5 * e.std() / np.sqrt(e.size)


@pytest.mark.slow
def test_the_mean_over_readings_that_share_their_phases_is_one(text_maker):
    """Candidate prompts: other intervals for the same steps, under the same phases."""
    rng = np.random.default_rng(43)
    texts = [text_maker(rng, SMALL_SPC, 6) for _ in range(4)]

    def mean() -> float:
        phases = texts[0].with_phases(rng).schedule
        readings = (
            sum_evidence(Intervals.of(phases, t.entropy_bits, t.lo, t.hi, SMALL_SPC)) for t in texts
        )
        return float(np.mean([np.exp(found.log_e_whole) for found in readings]))

    e = np.array([mean() for _ in range(80)])
    assert abs(e.mean() - 1) <= 5 * e.std() / np.sqrt(e.size)


def first_tokens(text, tokens):
    """The steps of the first tokens of a text."""
    plan = text.schedule
    count = int(np.searchsorted(plan.token, tokens))
    part = Schedule(
        token=plan.token[:count],
        arity=plan.arity[:count],
        phase=plan.phase[:count],
        index=plan.index[:count],
        gate=plan.gate[:tokens],
    )
    return part, text.entropy_bits[:tokens], text.lo[:tokens], text.hi[:tokens]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.7, 1.2])
def test_mean_e_is_one_wherever_reading_stops(text_maker, level):
    """Stop at the first look at which the evidence is high: the most that peeping can gain.

    The half of the whole text has mean one at every stopping time, from both sides; all of the
    evidence at most one, though its list is chosen anew at each look. Five standard errors.
    """
    rng = np.random.default_rng(43)
    text = text_maker(rng, SMALL_SPC, 24)
    whole, both, early = [], [], 0
    for _ in range(100):
        fresh = text.with_phases(rng)
        for tokens in (6, 12, 18, 24):
            found = sum_evidence(
                Intervals.of(*first_tokens(fresh, tokens), SMALL_SPC, text_tokens=24)
            )
            if np.exp(found.log_e) >= level:
                early += tokens < 24
                break
        whole.append(np.exp(found.log_e_whole))
        both.append(np.exp(found.log_e))
    assert early >= 5
    whole, both = np.array(whole), np.array(both)
    assert abs(whole.mean() - 1) <= 5 * whole.std() / np.sqrt(whole.size)
    assert both.mean() <= 1 + 5 * both.std() / np.sqrt(both.size)


def test_nothing_read(profile):
    plan = Schedule(
        token=np.zeros(0, dtype=np.int64),
        arity=np.zeros(0, dtype=np.int64),
        phase=np.zeros(0),
        index=np.zeros(0, dtype=np.int64),
        gate=np.ones(5, dtype=np.uint8),
    )
    for size in (0, 5):
        got = decide(Intervals.of(plan, np.zeros(size), np.zeros(size), np.ones(size), profile))
        assert got.log_e == 0.0
        assert got.log10_e == 0.0
        assert got.usable == 0
        assert set(got.bit_posteriors) == {0.5}
        assert got.marks == ()
        assert got.candidates[0].posterior == pytest.approx(2.0**-36)


def test_a_step_that_says_nothing_costs_the_half_of_the_list(spc):
    plan = Schedule(
        token=np.array([2]),
        arity=np.array([2]),
        phase=np.array([0.1]),
        index=np.array([0]),
        gate=np.zeros(3, dtype=np.uint8),
    )
    got = decide(Intervals.of(plan, np.full(3, 4.0), np.zeros(3), np.ones(3), spc))
    assert got.log_e_whole == pytest.approx(0.0, abs=1e-9)
    assert got.log_e == pytest.approx(-np.log(2), abs=1e-6)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_extremes_never_overflow(profile, seed, known):
    rng = np.random.default_rng(seed)
    size = 300
    edges = np.array([0.0, 1.0, 0.5, 1e-300, 1 - 1e-16, 5e-324, 0.25])
    lo = np.minimum(rng.choice(edges, size), rng.choice(edges, size))
    hi = np.maximum(lo, rng.choice(edges, size))
    token = np.arange(2, size)
    plan = Schedule(
        token=token,
        arity=rng.integers(1, 4, token.size),
        phase=rng.choice([0.0, 0.5, 1 - 2**-53], token.size),
        index=rng.integers(0, profile.codeword_length, token.size),
        gate=np.zeros(size, dtype=np.uint8),
    )
    entropy = rng.choice([0.0, np.log2(49152), 1.0, 3.0, 5.0], size)
    got = decide(Intervals.of(plan, entropy, lo, hi, profile, prompt_known=known))
    mark = got.marks[0]
    for value in (got.log_e, got.log_e_grid, got.bit_posteriors, mark.log_ratio, mark.marked):
        assert np.isfinite(value).all()
    assert np.all((got.bit_posteriors >= 0) & (got.bit_posteriors <= 1))


def test_evidence_of_thousands_of_orders_is_stable(profile, payload, text_maker):
    rng = np.random.default_rng(2)
    text = text_maker(rng, profile, 9000, payload)
    got = decide(text.seen(profile))
    assert got.payload == payload
    assert 2000 < got.log10_e < 20000
    assert got.candidates[0].posterior == pytest.approx(1.0)
    np.testing.assert_array_equal(np.round(got.bit_posteriors), payload.bits)


@pytest.mark.parametrize("payload_bits", [1, 2, 3])
def test_tiny_rings(payload_bits, text_maker):
    profile = Profile(payload_bits=payload_bits, blocks=1, vocab_size=1000)
    rng = np.random.default_rng(8)
    for bits in itertools.product("01", repeat=payload_bits):
        payload = Payload(text="".join(bits))
        text = text_maker(rng, profile, 60, payload)
        got = decide(text.seen(profile))
        assert got.payload == payload
        assert len(got.candidates) <= 2**payload_bits


def test_same_input_same_answer(profile, payload, text_maker):
    text = text_maker(np.random.default_rng(1), profile, 120, payload)
    first, second = (decide(text.seen(profile)) for _ in range(2))
    assert first.log_e == second.log_e
    assert first.candidates == second.candidates

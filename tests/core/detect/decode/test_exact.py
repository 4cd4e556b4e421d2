"""The exact decoder: right answers, an honest e-value, finite numbers whatever comes in.

The study measures it on texts of a model (``bench/calibration.py``); these are synthetic.
"""

import itertools

import numpy as np
import pytest

from pura.detect.decode import evidence_sums, paper
from pura.detect.decode.evidence_sums import sum_evidence
from pura.detect.decode.exact import decide
from pura.detect.decode.likelihood import Intervals
from pura.detect.local.evidence import local_evidence
from pura.keys.epochs import epoch_key, epochs
from pura.record.naming import IDENTIFIED, CandidateFacts, name_payload
from pura.scheme import (
    Payload,
    Profile,
    Schedule,
    Scheduler,
    SecretKey,
    anchor,
    contexts_before,
    encode,
    ranks,
    schedule,
)
from pura.scheme.fields import parse_layout, unpack
from pura.scheme.gray import sector_of

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
    joint = np.logaddexp(whole, [listed.get(p.array.tobytes(), -np.inf) for p in everyone])
    posterior = np.exp(joint - np.logaddexp.reduce(joint))
    order = np.argsort(-posterior, kind="stable")
    assert got.payload == everyone[order[0]]
    for candidate, i in zip(got.candidates[:5], order, strict=False):
        assert candidate.posterior == pytest.approx(posterior[i], rel=1e-6)
    bits = np.stack([p.array for p in everyone])
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
    np.testing.assert_allclose(got.bit_posteriors, payload.array, atol=1e-3)
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


@pytest.mark.sampled
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


@pytest.mark.sampled
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


@pytest.mark.sampled
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


@pytest.mark.sampled
@pytest.mark.slow
def test_mean_e_is_one_with_the_longer_list(monkeypatch, text_maker):
    """Without a mark hardly any text gets one; here each does, and it holds all 64 payloads."""
    monkeypatch.setattr(evidence_sums, "_LONGER_LIST_NATS", -np.inf)
    profile = Profile(payload_bits=6, blocks=2, vocab_size=1000)
    rng = np.random.default_rng(47)
    text = text_maker(rng, profile, 7)
    sums = [sum_evidence(text.with_phases(rng).seen(profile)) for _ in range(200)]
    assert all(len(weighed.listed) == 64 for weighed in sums)
    for log_e in ([w.log_e_list for w in sums], [w.log_e for w in sums]):
        e = np.exp(log_e)
        assert abs(e.mean() - 1) <= 5 * e.std() / np.sqrt(e.size)


# Chosen among few for payloads in doubt: posteriors of the likeliest 0.68 and 0.17.
@pytest.mark.parametrize(("code", "seed", "tokens"), [("tbcc", 3, 48), ("spc", 8, 44)])
def test_a_payload_in_doubt_is_held_against_the_others_by_the_chains(
    text_maker, code, seed, tokens
):
    blocks = {"blocks": 4} if code == "spc" else {}
    profile = Profile(payload_bits=36, code=code, vocab_size=49152, **blocks)
    rng = np.random.default_rng((18, seed))
    truth = Payload.from_bits(rng.integers(0, 2, 36))
    text = text_maker(rng, profile, tokens, truth, marked=rng.random(tokens) >= 0.05)
    decision = decide(text.seen(profile), candidates=64)
    assert decision.log10_e > 6
    assert decision.candidates[0].posterior < IDENTIFIED
    weighed = {bits.tobytes() for bits in decision.listed}
    assert {c.payload.array.tobytes() for c in decision.candidates} <= weighed
    assert decision.log_e_list == pytest.approx(
        np.logaddexp.reduce(decision.log_listed) - 36 * np.log(2), abs=1e-9
    )


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


@pytest.mark.sampled
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
    np.testing.assert_array_equal(np.round(got.bit_posteriors), payload.array)


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


QUOTED, NEW = 60, 3  # steps of a text at contexts of the prompt, and at others
LEADS = list(range(QUOTED + NEW))  # a free choice follows each; the prompt holds the first ones
FREE = np.arange(len(LEADS), len(LEADS) + 4)
VOCAB = len(LEADS) + FREE.size
TEXTS = 400
PROFILE = Profile(
    payload_bits=2,
    blocks=2,
    vocab_size=VOCAB,
    context_window=1,
    entropy_thresholds_bits=(1.0, 9.0, 10.0),
)


def written(key: SecretKey, word: list[int]) -> list[int]:
    """A marked prompt: behind each lead the token at the step's anchor, all free ones alike."""
    order = key.vocabulary_order(VOCAB)
    even = np.isin(order, FREE) / FREE.size
    walk, ids = Scheduler(key, PROFILE), []
    for lead in LEADS[:QUOTED]:
        walk.step(0.0)
        walk.push(lead)
        step = walk.step(np.log2(FREE.size))
        assert step.arity == 1
        place = anchor(step, sector_of([word[step.index]]))
        chosen = int(order[np.searchsorted(np.cumsum(even), place, side="right")])
        walk.push(chosen)
        ids += [lead, chosen]
    return ids


def read(key: SecretKey, text: np.ndarray, prompt: list[int]) -> tuple[np.ndarray, ...]:
    """What a model sees that expects behind a lead what stood behind it in the prompt (0.6)."""
    order = key.vocabulary_order(VOCAB)
    rank = ranks(order)
    seen = dict(zip(prompt[::2], prompt[1::2], strict=True))
    entropy, lo, hi = np.zeros(text.size), np.zeros(text.size), np.ones(text.size)
    for t in range(1, text.size, 2):
        pi = np.isin(np.arange(VOCAB), FREE) / FREE.size
        if (lead := int(text[t - 1])) in seen:
            pi = 0.4 * pi
            pi[seen[lead]] += 0.6
        entropy[t] = -float(pi[pi > 0] @ np.log2(pi[pi > 0]))
        lo[t] = pi[order[: rank[text[t]]]].sum()
        hi[t] = lo[t] + pi[text[t]]
    return entropy, lo, hi


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("left_out", [True, False])
def test_mean_e_with_a_marked_prompt(left_out):
    """Texts by somebody who knows no key and quotes a prompt that was marked with it.

    With the prompt's contexts left out the mean is one from both sides; with them e reaches 100
    far more often than once in a hundred. Five standard errors: less than once in 10^6 seeds.
    """
    rng = np.random.default_rng(71)
    e = []
    for _ in range(TEXTS):
        key = SecretKey(rng.bytes(32))
        prompt = written(key, rng.integers(0, 2, PROFILE.codeword_length).tolist())
        text = np.array([*prompt, *(x for n in LEADS[QUOTED:] for x in (n, rng.choice(FREE)))])
        entropy, lo, hi = read(key, text, prompt)
        before = contexts_before([text], [prompt], PROFILE) if left_out else frozenset()
        plan = schedule(text, entropy, key, PROFILE, before=before)
        assert len(plan) == (NEW if left_out else QUOTED + NEW)
        e.append(np.exp(sum_evidence(Intervals.of(plan, entropy, lo, hi, PROFILE)).log_e_whole))
    error = np.std(e) / np.sqrt(TEXTS)
    reached = np.mean(np.array(e) >= 100)
    if left_out:
        assert abs(np.mean(e) - 1) <= 5 * error
        assert reached <= 0.01 + 5 * np.sqrt(0.01 / TEXTS)
    else:
        assert np.mean(e) > 2
        assert reached > 0.01 + 5 * np.sqrt(0.01 / TEXTS)


SHORT_TEXTS = 24
LAYOUT = parse_layout(
    [
        {"name": "customer", "bits": 16, "kind": "integer"},
        {"name": "issued", "bits": 14, "kind": "integer"},
        {"name": "release", "bits": 6, "kind": "integer"},
    ],
    36,
)


@pytest.mark.sampled
def test_the_posterior_is_no_surer_than_the_payload_is_right(text_maker, profile):
    said, fields = [], []
    for number in range(SHORT_TEXTS):
        rng = np.random.default_rng((20_261_123, number))
        truth = Payload.from_bits(rng.integers(0, 2, 36))
        tokens = 40 + 7 * number
        marked = rng.random(tokens) >= 0.1 * (number % 3)
        text = text_maker(rng, profile, tokens, truth, marked=marked)
        listed = [
            CandidateFacts(
                bits=c.payload.text, posterior=c.posterior, fields=unpack(LAYOUT, c.payload)
            )
            for c in decide(text.seen(profile), candidates=32).candidates
        ]
        named = name_payload(listed[0].bits, listed[0].fields, listed, IDENTIFIED)
        said.append((named.posterior, named.identified, named.best == truth.text))
        fields += [
            (field.posterior, field.identified, field.value.raw == value.raw)
            for field, value in zip(named.fields, unpack(LAYOUT, truth), strict=True)
        ]
    for rows in (said, fields):
        posterior, identified, right = (np.array(column) for column in zip(*rows, strict=True))
        assert identified.sum() >= SHORT_TEXTS // 8
        assert (~identified).sum() >= SHORT_TEXTS // 8
        # One in a hundred may be wrong, and three standard deviations more.
        allowed = (1 - IDENTIFIED) * identified.sum()
        assert (identified & ~right).sum() <= allowed + 3 * np.sqrt(allowed)
        # Three standard deviations of what is right if the posteriors are exact.
        spread = 3 * np.sqrt((posterior * (1 - posterior)).sum())
        assert right.sum() >= posterior.sum() - spread
    # Fields may be certain while the payload is not.
    assert sum(f[1] for f in fields) > len(LAYOUT) * sum(s[1] for s in said)


@pytest.mark.sampled
@pytest.mark.slow
def test_the_mean_over_a_range_of_epochs_has_mean_one():
    """Texts that know no key; every epoch's key is derived, and all of a text read the same text.

    Chosen beforehand: texts of 10 tokens, so that single texts weigh little; 4 standard errors,
    which a right computation passes but for 1 in 30,000 seeds.
    """
    profile = Profile(payload_bits=4, blocks=2, vocab_size=64)
    rng = np.random.default_rng(14)
    pi = rng.dirichlet(np.full(64, 0.5), size=10)
    entropy = -(pi * np.log2(pi)).sum(axis=1)
    span = epochs("2026-W51..2027-W02")
    found = []
    for _ in range(100):
        ids = np.array([rng.choice(64, p=row) for row in pi])
        with SecretKey(bytearray(rng.bytes(32))) as root:
            logs = []
            for epoch in span:
                with epoch_key(root, epoch) as key:
                    order = key.vocabulary_order(64)
                    plan = schedule(ids, entropy, key, profile)
                    at = ranks(order)[ids]
                    sums = np.cumsum(pi[:, order], axis=1)
                    hi = np.minimum(sums[np.arange(10), at], 1.0)
                    lo = np.maximum(hi - pi[np.arange(10), ids], 0.0)
                    logs.append(decide(Intervals.of(plan, entropy, lo, hi, profile)).log_e)
        found.append(float(np.mean(np.exp(logs))))
    mean, error = np.mean(found), np.std(found) / np.sqrt(len(found))
    assert len(span) == 5
    assert 0 < error < 0.2
    assert abs(mean - 1) < 4 * error


def test_what_one_of_many_keys_weighs_is_a_bound_from_below():
    """So their mean is no larger than that of e-values, whatever is in sight at a first look."""
    profile = Profile(payload_bits=12, blocks=3, vocab_size=64)
    rng = np.random.default_rng(15)
    pi = rng.dirichlet(np.full(64, 0.5), size=150)
    entropy = -(pi * np.log2(pi)).sum(axis=1)
    ids = np.array([rng.choice(64, p=row) for row in pi])
    below = 0
    for number in range(6):
        with SecretKey(bytearray(rng.bytes(32))) as key:
            order = key.vocabulary_order(64)
            hi = np.minimum(np.cumsum(pi[:, order], axis=1)[np.arange(150), ranks(order)[ids]], 1)
            if number == 5:  # as a mark would have it: every token where its phase points
                plan = schedule(ids, entropy, key, profile)
                hi[plan.token] = np.minimum(plan.phase + 0.01, 1.0)
            lo = np.maximum(hi - (0.02 if number == 5 else pi[np.arange(150), ids]), 0.0)
            plan = schedule(ids, entropy, key, profile)
            whole = decide(Intervals.of(plan, entropy, lo, hi, profile))
            bound = decide(Intervals.of(plan, entropy, lo, hi, profile), one_of_many=True)
        assert bound.log_e <= whole.log_e + 1e-9
        assert bound.log_e_whole == whole.log_e_whole
        below += bound.log_e < whole.log_e
    assert bound.log_e == whole.log_e > 10, "what is in sight is weighed in full"
    assert below

"""Limits and a register as prior: exact beside the trellis, a mean, and still an e-value."""

import math

import numpy as np
import pytest

from pura.detect.decode.evidence_sums import sum_evidence
from pura.detect.decode.exact import decide
from pura.detect.decode.limited import Issuable
from pura.detect.decode.prior import Issued, PayloadPrior, log_prior, score_issued
from pura.detect.decode.trellis import codeword_scores, make_trellis
from pura.scheme import Payload, Profile
from pura.scheme.profile import encode_rows

SMALL = Profile(payload_bits=9, code="tbcc", vocab_size=1000)
SMALL_SPC = Profile(payload_bits=9, blocks=3, vocab_size=1000)
EVERYONE = np.stack([Payload.from_int(i, 9).array for i in range(512)])
LAYOUT = ((4, ((3, 6), (9, 9), (14, 15))), (2, ((0, 3),)), (3, ((1, 1), (4, 6))))
FEW = Issuable.of(LAYOUT, 0.01)
WITHIN = np.array([i >> 5 in (3, 4, 5, 6, 9, 14, 15) and i & 7 in (1, 4, 5, 6) for i in range(512)])
OFFICE = Issuable.of(((16, ((0, 4999),)), (12, ((300, 1200),)), (8, ((16, 20),))), 0.01)
INSIDE = Payload(text=format(417, "016b") + format(1000, "012b") + format(18, "08b"))
OUTSIDE = Payload(text=format(60_000, "016b") + format(1000, "012b") + format(18, "08b"))
BOTH = pytest.mark.parametrize("profile", [SMALL, SMALL_SPC], ids=["tbcc", "spc"])


def test_within_is_what_every_field_admits_and_the_prior_adds_up_to_one():
    assert FEW.holds(EVERYONE).tolist() == WITHIN.tolist()
    assert FEW.count == WITHIN.sum()
    prior = np.exp(FEW.log_prior(EVERYONE))
    assert prior.sum() == pytest.approx(1)
    np.testing.assert_allclose(prior[~WITHIN], 0.01 / 512)
    np.testing.assert_allclose(prior[WITHIN], 0.01 / 512 + 0.99 / WITHIN.sum())
    assert OFFICE.count == 5000 * 901 * 5
    for fields, outside in ((((9, ()),), 0.01), (LAYOUT, 0.0), (LAYOUT, 1.0)):
        with pytest.raises(ValueError, match="limits"):
            Issuable.of(fields, outside)


@BOTH
@pytest.mark.parametrize("size", [0, 1, 40])
def test_trellis_and_automaton_against_brute_force(profile, size):
    rng = np.random.default_rng(size)
    prior = PayloadPrior(trellis=make_trellis(profile), issuable=FEW)
    phi = size * rng.normal(size=(3, profile.codeword_length, 8))
    scores = codeword_scores(phi, encode_rows(EVERYONE, profile)) + FEW.log_prior(EVERYONE)
    want = np.logaddexp.reduce(scores, axis=1)
    got = prior.weighted(prior.trellis.log_sum(phi), phi) - prior.log_all
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-9)
    assert (prior.most(phi) >= want - 1e-9).all()
    share = np.exp(scores - want[:, None])
    for one, table, weights in zip(phi, scores, share, strict=True):
        best = [table[int("".join(map(str, bits)), 2)] for bits in prior.k_best(one, 20)]
        np.testing.assert_allclose(best, np.sort(table)[::-1][:20], atol=1e-9)
        np.testing.assert_allclose(prior.posteriors(one), weights @ EVERYONE, atol=1e-9)


def test_a_sum_that_underflows_in_the_chain_is_still_right():
    """One payload of many is within, and the evidence is for another one."""
    one = Issuable.of(((9, ((37, 37),)),), 0.01)
    prior = PayloadPrior(trellis=make_trellis(SMALL), issuable=one)
    phi = np.full((1, 27, 8), -400.0)
    phi[0, np.arange(27), 0] = 0.0
    alike = prior.trellis.log_sum(phi)
    score = codeword_scores(phi, encode_rows(EVERYONE, SMALL))[0] + one.log_prior(EVERYONE)
    assert prior.weighted(alike, phi)[0] - prior.log_all == pytest.approx(
        np.logaddexp.reduce(score)
    )
    assert [bits.tolist() for bits in prior.k_best(phi[0], 1)] == [[0] * 9]


@BOTH
@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("limits", [FEW, None], ids=["limits", "no limits"])
@pytest.mark.parametrize("listed", [(7, 200, 300), ()], ids=["register", "no register"])
def test_decisions_against_brute_force(profile, marked, limits, listed, text_maker):
    rng = np.random.default_rng(5)
    text = text_maker(rng, profile, 30, Payload.from_int(200, 9) if marked else None)
    issued = Issued.of([EVERYONE[list(listed)]], 9, 0.5) if listed else None
    got = decide(text.seen(profile), candidates=512, issuable=limits, issued=issued)
    ratios = np.exp(got.log_ratios(EVERYONE, profile))
    base = PayloadPrior(trellis=make_trellis(profile), issuable=limits)
    prior = np.exp(log_prior(EVERYONE, base, issued))
    assert got.log_e == pytest.approx(math.log(prior @ ratios), abs=1e-9)
    assert got.log_e_alike == pytest.approx(math.log(ratios.mean()), abs=1e-9)
    if issued and not limits:
        held = issued.holds(EVERYONE)
        assert got.log_e_issued == pytest.approx(math.log(ratios[held].mean()), abs=1e-9)
    posterior = prior * ratios / (prior @ ratios)
    assert got.payload.array.tolist() == EVERYONE[np.argmax(posterior)].tolist()
    for candidate in got.candidates:
        at = int(candidate.payload.text, 2)
        assert candidate.posterior == pytest.approx(posterior[at], rel=1e-6)
    np.testing.assert_allclose(got.bit_posteriors, posterior @ EVERYONE, atol=0.02)
    (mark,) = got.marks
    assert mark.log_e == got.log_e  # no longer than a window: the statement is about the text
    assert mark.candidates == tuple(c for c in got.candidates[:64] if c.posterior >= 1e-4)


def test_what_is_within_gains_and_what_is_not_is_still_found(profile, text_maker):
    """The gain is the share that is left, at most; the price is the weight of all payloads."""
    rng = np.random.default_rng(17)
    for payload, gain in ((INSIDE, -OFFICE.log_share + math.log(0.99)), (OUTSIDE, math.log(0.01))):
        text = text_maker(rng, profile, 90, payload)
        alone = decide(text.seen(profile))
        limited = decide(text.seen(profile), issuable=OFFICE)
        assert limited.payload == alone.payload == payload
        assert limited.log_e - alone.log_e == pytest.approx(gain, abs=0.7)
        assert limited.log_e_alike == pytest.approx(alone.log_e, abs=0.01)
        assert limited.marks[0].payload == payload


def test_short_passages_within_and_outside_are_found(tbcc, text_maker, near_interval):
    rng = np.random.default_rng(3)
    marked = np.zeros(1500, dtype=bool)
    marked[900:945] = True
    text = text_maker(rng, tbcc, 1500, INSIDE, marked=marked)
    alone, got = (
        decide(text.seen(tbcc)),
        decide(text.seen(tbcc), issuable=OFFICE),
    )
    assert got.payload == INSIDE
    assert got.log10_e - alone.log10_e > 1.5
    (mark,) = got.marks
    assert near_interval(mark.extents[0], 900, 944)
    marked[880:1000] = True
    text = text_maker(rng, tbcc, 1500, OUTSIDE, marked=marked)
    (mark,) = decide(text.seen(tbcc), issuable=OFFICE).marks
    assert mark.payload == OUTSIDE


@pytest.mark.sampled
@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(
    "known",
    [{"issuable": FEW}, {"issued": Issued.of([EVERYONE[[0, 1, 2, 400]]], 9, 0.9)}],
    ids=["limits", "register"],
)
def test_mean_e_is_one_where_it_can_be_seen(profile, known, text_maker):
    """Random phases over one text of few steps: the mean itself, from both sides.

    Five standard errors: below one in a million by chance.
    """
    rng = np.random.default_rng(23)
    text = text_maker(rng, profile, 6)
    runs = [sum_evidence(text.with_phases(rng).seen(profile), **known) for _ in range(150)]
    whole = np.exp([run.log_e_whole for run in runs])
    assert abs(whole.mean() - 1) <= 5 * whole.std() / np.sqrt(whole.size)
    both = np.exp([run.log_e for run in runs])
    assert both.mean() <= 1 + 5 * both.std() / np.sqrt(both.size)


def issued_of(rng, count, *payloads, bits=36, weight=0.5):
    rows = [np.stack([p.array for p in payloads])] if payloads else []
    return Issued.of([*rows, rng.integers(0, 2, (count, bits)).astype(np.uint8)], bits, weight)


@pytest.mark.parametrize("bits", [1, 9, 36, 128])
def test_payloads_come_out_as_they_went_in(bits):
    rng = np.random.default_rng(bits)
    rows = rng.integers(0, 2, (3000, bits)).astype(np.uint8)
    issued = Issued.of([rows[:1000], rows[:0], rows[900:]], bits, 0.5)
    want = {row.tobytes() for row in rows}
    assert len(issued) == len(want)
    assert {row.tobytes() for _, block in issued.blocks() for row in block} == want
    tried = np.concatenate([rows[:50], 1 - rows[:50]])
    assert issued.holds(tried).tolist() == [row.tobytes() in want for row in tried]


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_weight_that_is_none_is_refused(weight):
    with pytest.raises(ValueError, match="weight"):
        Issued.of([EVERYONE], 9, weight)
    with pytest.raises(ValueError, match="issued"):
        Issued.of([EVERYONE[:0]], 9, 0.5)


def test_the_prior_adds_up_to_one():
    issued = Issued.of([EVERYONE[[3, 70, 511]]], 9, 0.25)
    alike = PayloadPrior(trellis=make_trellis(SMALL))
    prior = np.exp(log_prior(EVERYONE, alike, issued))
    assert prior.sum() == pytest.approx(1)
    assert prior[70] == pytest.approx(0.25 / 3 + 0.75 / 512)
    np.testing.assert_allclose(np.exp(log_prior(EVERYONE, alike, None)), 1 / 512)


def test_without_steps_nothing_is_said(profile, text_maker):
    rng = np.random.default_rng(1)
    text = text_maker(rng, profile, 2)
    got = decide(text.seen(profile), issued=issued_of(rng, 20))
    assert (got.usable, got.log_e, got.log_e_alike, got.log_e_issued) == (0, 0.0, 0.0, 0.0)
    assert set(got.bit_posteriors) == {0.5}


def test_an_issued_payload_gains_and_another_loses_the_half(profile, payload, text_maker):
    rng = np.random.default_rng(17)
    text = text_maker(rng, profile, 40, payload)
    alone = decide(text.seen(profile))
    known = decide(text.seen(profile), issued=issued_of(rng, 999, payload))
    other = decide(text.seen(profile), issued=issued_of(rng, 999))
    gain = (known.log_e - alone.log_e) / math.log(10)
    # At most 36 bits against 1,000 entries, and a half: 10.8 - 3.0 - 0.3.
    assert 4 < gain < 7.6
    assert known.payload == payload
    assert other.log_e >= alone.log_e - math.log(2) - 1e-9
    assert other.log_e_alike == pytest.approx(alone.log_e, abs=1e-3)


def test_a_short_passage_that_only_windows_show_is_found_among_the_issued(
    tbcc, text_maker, near_interval
):
    rng = np.random.default_rng(0)
    payload = Payload(text="100110" * 6)
    marked = np.zeros(2000, dtype=bool)
    marked[900:935] = True
    text = text_maker(rng, tbcc, 2000, payload, marked=marked)
    issued = issued_of(rng, 999, payload)
    got = decide(text.seen(tbcc), issued=issued)
    assert got.payload == payload
    assert got.log10_e > 6 > decide(text.seen(tbcc)).log10_e
    assert near_interval(got.marks[0].extents[0], 900, 934)


def test_scores_do_not_depend_on_how_many_are_scored_at_once(profile, payload, text_maker):
    rng = np.random.default_rng(2)
    text = text_maker(rng, profile, 150, payload)
    issued = issued_of(rng, 5000, payload)
    got = decide(text.seen(profile), issued=issued)
    log_f = np.zeros((len(text.schedule), 8))
    scores = score_issued(issued, got.potentials, log_f, text.schedule.index, profile, lambda: None)
    few = issued.bits(np.array([0, 2047, 2048, 4999]))
    direct = decide(text.seen(profile), issued=Issued.of([few], 36, 0.5))
    again = score_issued(
        direct_issued := Issued.of([few], 36, 0.5),
        direct.potentials,
        log_f,
        text.schedule.index,
        profile,
        lambda: None,
    )
    at = np.searchsorted(issued.rows, direct_issued.rows)
    np.testing.assert_allclose(scores.log_ratio[at], again.log_ratio)
    weight = np.exp(scores.log_ratio - np.logaddexp.reduce(scores.log_ratio))
    np.testing.assert_allclose(scores.mean_bits(), weight @ issued.bits(slice(None)), atol=1e-9)


@pytest.mark.sampled
@pytest.mark.slow
def test_mean_e_is_at_most_one_and_markov_holds_with_a_register(tbcc, text_maker):
    """As without a register: five standard errors of a mean that is capped, and of each tail."""
    rng = np.random.default_rng(60)
    issued = issued_of(rng, 300)
    text = text_maker(rng, tbcc, 60)
    values = np.array(
        [sum_evidence(text.with_phases(rng).seen(tbcc), issued=issued).log_e for _ in range(50)]
    )
    e = np.minimum(np.exp(values), 100.0)
    assert e.mean() <= 1 + 5 * np.sqrt(100.0 / e.size)
    for alpha in (0.1, 0.01, 0.001):
        assert np.mean(values >= -np.log(alpha)) <= alpha + 5 * np.sqrt(alpha / e.size)


def test_any_part_of_the_list_is_below_the_whole(text_maker):
    """Lemma 2 with other weights: the listed half never exceeds the sum over all payloads."""
    rng = np.random.default_rng(31)
    issued = Issued.of([EVERYONE[:40]], 9, 0.5)
    for _ in range(3):
        text = text_maker(rng, SMALL, 25)
        got = decide(text.seen(SMALL), issued=issued)
        prior = log_prior(got.listed, PayloadPrior(trellis=make_trellis(SMALL)), issued)
        assert got.log_e_list == pytest.approx(np.logaddexp.reduce(prior + got.log_listed))
        assert np.exp(prior).sum() <= 1

"""The register as prior: a mean over payloads with other weights, and still an e-value."""

import math

import numpy as np
import pytest

from pura.decode import Issued, decide, sum_evidence
from pura.decode.prior import PayloadPrior, log_prior, score_issued
from pura.decode.trellis import make_trellis
from pura.scheme import Payload, Profile

SMALL = Profile(payload_bits=9, code="tbcc", vocab_size=1000)
SMALL_SPC = Profile(payload_bits=9, blocks=3, vocab_size=1000)
EVERYONE = np.stack([Payload.from_int(i, 9).bits for i in range(512)])


def issued_of(rng, count, *payloads, bits=36, weight=0.5):
    rows = [np.stack([p.bits for p in payloads])] if payloads else []
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


@pytest.mark.parametrize("profile", [SMALL, SMALL_SPC], ids=["tbcc", "spc"])
@pytest.mark.parametrize("marked", [True, False])
def test_brute_force_over_all_payloads(profile, marked, text_maker):
    rng = np.random.default_rng(5)
    payload = Payload.from_int(200, 9)
    text = text_maker(rng, profile, 30, payload if marked else None)
    issued = Issued.of([EVERYONE[[7, 200, 300, 301]]], 9, 0.5)
    got = decide(text.seen(profile), candidates=512, issued=issued)
    ratios = np.exp(got.log_ratios(EVERYONE, profile))
    prior = np.exp(log_prior(EVERYONE, PayloadPrior(trellis=make_trellis(profile)), issued))
    assert got.log_e == pytest.approx(math.log(prior @ ratios), abs=1e-9)
    assert got.log_e_alike == pytest.approx(math.log(ratios.mean()), abs=1e-9)
    held = issued.holds(EVERYONE)
    assert got.log_e_issued == pytest.approx(math.log(ratios[held].mean()), abs=1e-9)
    posterior = prior * ratios / (prior @ ratios)
    assert got.payload.bits.tolist() == EVERYONE[np.argmax(posterior)].tolist()
    for candidate in got.candidates:
        at = int(candidate.payload.text, 2)
        assert candidate.posterior == pytest.approx(posterior[at], rel=1e-6)
    np.testing.assert_allclose(got.bit_posteriors, posterior @ EVERYONE, atol=0.02)
    (mark,) = got.marks
    assert mark.log_e == got.log_e  # no longer than a window: the statement is about the text
    assert mark.candidates == tuple(c for c in got.candidates[:64] if c.posterior >= 1e-4)


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


@pytest.mark.slow
@pytest.mark.parametrize("profile", [SMALL, SMALL_SPC], ids=["tbcc", "spc"])
def test_mean_e_of_the_issued_is_one_where_it_can_be_seen(profile, text_maker):
    """Random phases over one text of few steps: the mean itself, from both sides."""
    rng = np.random.default_rng(23)
    text = text_maker(rng, profile, 6)
    issued = Issued.of([EVERYONE[[0, 1, 2, 400]]], 9, 0.9)
    runs = [sum_evidence(text.with_phases(rng).seen(profile), issued=issued) for _ in range(150)]
    whole = np.exp([run.log_e_whole for run in runs])
    assert abs(whole.mean() - 1) <= 5 * whole.std() / np.sqrt(whole.size)
    both = np.exp([run.log_e for run in runs])
    assert both.mean() <= 1 + 5 * both.std() / np.sqrt(both.size)


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

"""The decomposition of robustness against numbers worked out by hand, and marks laid afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from pura.measure.attacks.base import substitute
from pura.measure.decomposition import (
    BitReadings,
    align,
    bit_readings,
    bits_of,
    decompose,
    exact_llrs,
    margin_of,
    paper_llrs,
    survived,
)
from pura.measure.evaluate import TextReading, evaluate
from pura.scheme import Payload, Profile, Schedule, encode, schedule
from pura_lab.afterwards import FixedPhaseKey, binary_sector, lay_mark


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_alignment_says_where_each_token_stood():
    before = numbers(1, 2, 3, 4, 5)
    assert align(before, numbers(1, 9, 3, 4, 5, 6)).tolist() == [0, -1, 2, 3, 4, -1]
    assert align(before, numbers(1, 2, 4, 5)).tolist() == [0, 1, 3, 4]
    assert align(before, before).tolist() == [0, 1, 2, 3, 4]
    assert align(before, numbers()).tolist() == []
    assert align(numbers(), before).tolist() == [-1] * 5


def test_a_token_survives_with_its_window():
    assert survived(numbers(0, 1, 2, -1, 4, 5, 6, 8), 2).tolist() == [
        *(False, False, True, False, False, False, True, False)
    ]
    assert survived(numbers(0, 1), 2).tolist() == [False, False]
    # Two pieces that changed places: each survives behind its first W tokens.
    assert survived(numbers(4, 5, 6, 7, 0, 1, 2, 3), 2).tolist() == [False, False, True, True] * 2


def test_the_numbers_of_one_text_by_hand():
    # Two positions. The codeword is 1 0; B = 2. Step 0 reads both, step 1 the first, step 2 the
    # second; step 1 was broken by an edit.
    steps = Schedule(
        token=numbers(2, 3, 5),
        arity=numbers(2, 1, 1),
        phase=np.zeros(3),
        index=numbers(0, 0, 1),
        gate=np.zeros(6, np.uint8),
    )
    nan = np.nan
    llr = np.array([[1.0, -2.0, nan], [-0.5, nan, nan], [1.0, nan, nan]])
    kept = np.array([False, False, True, False, False, True])
    code = np.array([1, 0], np.uint8)
    text = bit_readings(steps, llr, 2.0, code, kept)
    assert text.z.tolist() == [0.5, 1.0, -0.25, -0.5]
    assert text.position.tolist() == [0, 1, 0, 1]
    got = decompose([text], np.random.default_rng(1))
    # rho: (1/2 + 2/2)/2; mu_c: position 0: 0.5, position 1: (1 - 0.5)/2; mu_adv: only position 0.
    # gamma: position 0: (0.5 - 0.25)/2 = 0.125, position 1: 0.25.
    assert got.margin.rho == pytest.approx(0.75)
    assert got.margin.mu_c == pytest.approx((0.5 + 0.25) / 2)
    assert got.margin.mu_adv == pytest.approx(-0.25)
    assert got.margin.gamma == pytest.approx((0.125 + 0.25) / 2)
    assert got.margin.readings == 2
    assert got.margin.error == 0
    bound = np.exp(-2 * 0.1875**2 / 2)
    assert got.margin.bound == pytest.approx(bound)
    assert got.margin.text_bound == pytest.approx(1.0)
    # All tokens stand in one stretch, so whatever is drawn is the text.
    assert got.low == got.high == got.margin
    first, second = bits_of(text)
    assert (first.readings, first.gamma, first.wrong) == (2, 0.125, False)
    assert second.bound == pytest.approx(bound)
    far = replace(text, token=numbers(2, 2, 13, 25))
    wide = decompose([far], np.random.default_rng(1))
    assert wide.margin == got.margin == margin_of([far])
    assert wide.low.gamma < got.margin.gamma < wide.high.gamma


def test_texts_are_drawn_whole_and_a_wrong_position_is_counted():
    def text(*z: float) -> BitReadings:
        return BitReadings(
            token=np.arange(2),
            position=np.arange(2),
            z=np.array(z),
            synchronised=np.array([True, True]),
            length=2,
        )

    got = decompose([text(1.0, 1.0), text(1.0, -1.0)], np.random.default_rng(2))
    assert (got.margin.error, got.margin.text_error, got.margin.gamma) == (0.25, 0.5, 0.5)
    # Of two texts, both may be the same one: the interval reaches from one to the other.
    assert (got.low.error, got.high.error) == (0.0, 0.5)
    assert got.margin.mu_adv == 0


def laid(text: TextReading, profile: Profile, payload: Payload, seed: int, **how) -> FixedPhaseKey:
    points = text.lo + (text.hi - text.lo) * np.random.default_rng(seed).random(text.lo.size)
    key = FixedPhaseKey(bytes(range(32)))
    return lay_mark(
        text.ids, text.entropy_bits, points, key, encode(payload, profile), profile, **how
    )


@pytest.mark.parametrize("code", ["spc", "tbcc"])
def test_a_mark_laid_afterwards_is_read_like_any_other(marked_text, code):
    profile = Profile.new(bits=16, code=code, vocab_size=300, blocks=2 if code == "spc" else None)
    payload = Payload.from_bits(np.random.default_rng(4).integers(0, 2, 16))
    plain = marked_text(profile, None, 150, seed=5)
    key = laid(plain, profile, payload, 6)
    out = evaluate(plain, key, payload, profile, prompt_known=True)
    assert out.exact_match
    assert out.paper_match
    really = evaluate(
        marked_text(profile, payload, 150, seed=5),
        FixedPhaseKey(bytes(range(32))),
        payload,
        profile,
        prompt_known=True,
    )
    # The same scheme on texts of the same kind: evidence of the same size.
    assert 0.6 < out.log10_e / really.log10_e < 1.6
    phases = np.sort(schedule(plain.ids, plain.entropy_bits, key, profile).phase)
    # Kolmogorov-Smirnov, 0.1 %.
    gap = np.abs(phases - (np.arange(phases.size) + 0.5) / phases.size).max()
    assert gap < 1.95 / np.sqrt(phases.size)
    plain_key = FixedPhaseKey(bytes(range(32)))
    assert evaluate(plain, plain_key, payload, profile, prompt_known=True).log10_e < 6


def test_edits_lower_the_share_that_survives_and_leave_the_rest_strong(marked_text):
    profile = Profile.new(bits=16, code="spc", blocks=2, vocab_size=300)
    payload = Payload.from_bits(np.random.default_rng(7).integers(0, 2, 16))
    code, rho, mu = encode(payload, profile), [], []
    for rate in (0.0, 0.1, 0.3):
        texts = []
        for seed in range(3):
            plain = marked_text(profile, None, 150, seed=seed)
            key = laid(plain, profile, payload, seed)
            hit = substitute(plain.ids, np.random.default_rng(seed), rate=rate, vocab_size=300)
            edited = TextReading(**{**vars(plain), "ids": hit.ids})
            steps = schedule(edited.ids, edited.entropy_bits, key, profile)
            kept = survived(align(plain.ids, hit.ids), 2)
            assert np.array_equal(kept, survived(hit.origin, 2)) or rate > 0.1
            texts.append(bit_readings(steps, *paper_llrs(edited, steps, profile), code, kept))
            sharp = exact_llrs(edited, steps, profile, prompt_known=True)
            assert np.abs(bit_readings(steps, *sharp, code, kept).z).max() <= 1
        margin = decompose(texts, np.random.default_rng(1)).margin
        rho.append(margin.rho)
        mu.append(margin.mu_c)
        assert margin.gamma > 0
    # A step survives when three tokens in a row do; the first two have no window.
    assert rho[0] > 0.98
    assert rho[0] > rho[1] > rho[2]
    assert abs(rho[1] - 0.9**3) < 0.12
    assert min(mu) > 0.8


def test_binary_labels_put_the_sectors_elsewhere():
    assert [binary_sector(b) for b in ((0,), (1, 0), (1, 1, 1), (0, 1, 1))] == [0, 2, 7, 3]

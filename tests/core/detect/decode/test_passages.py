"""Every mark of a text: what is fixed beforehand, what is said, and what is not."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from pura.detect.decode.exact import decide
from pura.detect.decode.passages import SCALES, best_path, find_passages, step_windows
from pura.detect.decode.payloads import StepWeights
from pura.detect.decode.prior import PayloadPrior
from pura.detect.decode.trellis import (
    codeword_scores,
    codeword_windows,
    make_trellis,
    window_potentials,
)
from pura.scheme import Payload, Profile
from pura.scheme.profile import encode_rows

SMALL = Profile(payload_bits=9, code="tbcc", vocab_size=50)
SMALL_SPC = Profile(payload_bits=8, blocks=2, vocab_size=50)


def everyone(bits):
    return np.array(list(itertools.product([0, 1], repeat=bits)), dtype=np.uint8)


def test_windows_follow_from_the_number_of_steps_alone():
    assert step_windows(SCALES, 64).tolist() == [[0, 64]]
    for steps in (65, 100, 193, 1000):
        windows = step_windows(SCALES, steps)
        assert len(np.unique(windows, axis=0)) == len(windows)
        assert windows[:, 1].max() == steps
        for size, stride in SCALES:
            assert (windows[:, 1] - windows[:, 0] == size).sum() == max(
                0, (steps - size) // stride + 1
            )
    assert len(step_windows(SCALES, 100_000)) == pytest.approx(100_000 * 11 / 32, rel=0.01)
    windows = step_windows(SCALES, 1000)
    for size, begin in itertools.product(range(64, 257, 8), range(300, 340)):
        beside = np.abs(windows - [begin, begin + size]).sum(axis=1)
        assert beside.min() <= size / 5  # steps that are foreign or missing in the best window


@pytest.mark.parametrize("profile", [SMALL, SMALL_SPC], ids=["tbcc", "spc"])
def test_the_evidence_of_a_window_has_mean_one(profile):
    """Over every outcome of its phases; nothing of the rest of the text enters.

    Each step has two phases, with values 1 + a and 1 - a for the bits ahead: a density's mean, one.
    """
    rng = np.random.default_rng(4)
    trellis, steps = make_trellis(profile), 8
    index = rng.integers(0, profile.codeword_length, steps)
    amount = rng.uniform(-0.9, 0.9, (steps, 8))
    signs = np.array(list(itertools.product([-1, 1], repeat=steps)))
    log_f = np.log(1 + signs[:, :, None] * amount)
    phi = np.stack([window_potentials(f, index, profile.codeword_length) for f in log_f])
    log_e = trellis.log_sum(phi) - profile.payload_bits * math.log(2)
    assert np.exp(log_e).mean() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("profile", [SMALL, SMALL_SPC], ids=["tbcc", "spc"])
@pytest.mark.parametrize("steps", [3, 40])
def test_the_posterior_of_a_mark_is_that_of_all_payloads(profile, steps, text_maker):
    rng = np.random.default_rng(steps)
    trellis, all_ = make_trellis(profile), everyone(profile.payload_bits)
    truth = Payload.from_bits(all_[77])
    phi = rng.normal(0, 0.2, (1, profile.codeword_length, 8))
    read = encode_rows(truth.array[None], profile)
    phi[:, np.arange(profile.codeword_length), codeword_windows(read[0])] += steps / 30
    scores = codeword_scores(phi, encode_rows(all_, profile))[0]
    wanted = np.exp(scores - np.logaddexp.reduce(scores))
    best = all_[np.argmax(wanted)]
    prior = PayloadPrior(trellis=trellis)
    got = StepWeights(phi=phi, near=best, prior=prior, profile=profile, issued=None).posterior
    assert got.payload.array.tolist() == best.tolist()
    named = {c.payload.text: c.posterior for c in got.candidates}
    by_rank = np.sort(wanted)[::-1]
    assert len(named) == max(1, min(64, int(np.sum(wanted >= 1e-4))))
    assert sorted(named.values(), reverse=True) == pytest.approx(by_rank[: len(named)])
    np.testing.assert_allclose(got.bit_posteriors, wanted @ all_, atol=1e-4)


def test_the_best_path_against_all_paths():
    """Every way through a short text, weighed one by one."""
    rng = np.random.default_rng(0)
    enter, leave, steps = -1.5, -1.0, 6
    for _ in range(20):
        gains = [rng.normal(0, 2, steps), rng.normal(0, 2, 4)]
        runs = [(0, steps, gains[0], 0), (1, 5, gains[1], 1)]

        def weight(states, gains=gains):
            total, before = 0.0, -1
            for at, state in enumerate([*states, -1]):
                if state != before:
                    total += (leave if before >= 0 else 0.0) + (enter if state >= 0 else 0.0)
                if state == 1 and not 1 <= at < 5:
                    return -math.inf
                if state >= 0:
                    total += gains[state][at - (0, 1)[state]]
                before = state
            return total

        ways = list(itertools.product([-1, 0, 1], repeat=steps))
        best = max(ways, key=weight)
        found = np.full(steps, -1)
        for number, first, after in best_path(runs, enter, leave):
            found[first:after] = number
        assert weight(tuple(found.tolist())) == pytest.approx(weight(best))


def joined(text_maker, rng, profile, parts):
    """A text of (tokens, payload) parts, and the first and last token of each."""
    size = sum(tokens for tokens, _ in parts)
    seed = int(rng.integers(1 << 31))
    text = text_maker(np.random.default_rng(seed), profile, size)
    at, places = 0, []
    for tokens, payload in parts:
        there = (np.arange(size) >= at) & (np.arange(size) < at + tokens)
        if payload is not None:
            made = text_maker(np.random.default_rng(seed), profile, size, payload, marked=there)
            text.lo[there], text.hi[there] = made.lo[there], made.hi[there]
        places.append((at, at + tokens - 1))
        at += tokens
    return text, places


def near(payload, distance, rng):
    bits = payload.array.copy()
    bits[rng.choice(bits.size, distance, replace=False)] ^= 1
    return Payload.from_bits(bits)


@pytest.mark.parametrize("lengths", [(260, 140), (140, 260), (180, 180)])
@pytest.mark.parametrize("distance", [1, 2, 3, 4, 8, 18])
def test_near_payloads_are_told_apart(distance, lengths, profile, text_maker, near_interval):
    rng = np.random.default_rng([distance, *lengths])
    first = Payload.from_bits(rng.integers(0, 2, 36).astype(np.uint8))
    second = near(first, distance, rng)
    text, places = joined(
        text_maker, rng, profile, [(lengths[0], first), (80, None), (lengths[1], second)]
    )
    got = decide(text.seen(profile))
    assert [mark.payload for mark in got.marks] == [first, second]
    for mark, (a, b) in zip(got.marks, (places[0], places[2]), strict=True):
        (one,) = mark.extents
        assert near_interval(one, a, b)
        assert mark.candidates[0].posterior > 0.5
        assert mark.log10_e > 6


def test_a_piece_cut_off_from_a_mark_is_no_mark_of_its_own(spc, text_maker):
    """By itself a short piece reads a few bits otherwise in half of the texts."""
    whole = 0
    for number in range(12):
        rng = np.random.default_rng([21, number])
        payload = Payload.from_bits(rng.integers(0, 2, 36).astype(np.uint8))
        text, _ = joined(text_maker, rng, spc, [(120, payload), (80, None), (80, payload)])
        marks = decide(text.seen(spc)).marks
        whole += len(marks) == 1
        for mark in marks:
            assert mark.payload == payload or mark.candidates[0].posterior < 0.99
    assert whole >= 10


def many_marks(profile, text_maker, rng, count=10):
    payloads = [Payload.from_bits(rng.integers(0, 2, 36).astype(np.uint8)) for _ in range(count)]
    payloads[-1] = payloads[0]
    parts = [part for p in payloads for part in ((170, p), (60, None))]
    return payloads, *joined(text_maker, rng, profile, parts)


def test_any_number_of_marks_and_one_in_two_places(profile, text_maker):
    payloads, text, places = many_marks(profile, text_maker, np.random.default_rng(6))
    got = decide(text.seen(profile))
    assert [mark.payload for mark in got.marks] == payloads[:-1]
    assert not got.at_least
    assert got.strongest.payload == got.payload
    passages = sorted((r, mark.payload.text) for mark in got.marks for r in mark.ranges)
    assert [text for _, text in passages] == [p.text for p in payloads]
    off = [
        abs(x - y)
        for (found, _), place in zip(passages, places[::2], strict=True)
        for x, y in zip(found, place, strict=True)
    ]
    assert np.median(off) <= 15
    assert (np.sum([mark.marked > 0.5 for mark in got.marks], axis=0) <= 1).all()


@pytest.mark.slow
@pytest.mark.weekly
def test_other_keys_find_no_passage_in_a_text_of_many_marks(profile, text_maker):
    """Another key's phases are independent of the text: 30 keys a code."""
    rng = np.random.default_rng(7)
    _, text, _ = many_marks(profile, text_maker, rng, 5)
    found = 0
    for _ in range(30):
        got = decide(text.with_phases(rng).seen(profile))
        assert got.log10_e < 3
        assert len(got.marks) == 1
        found += got.marks[0].log10_e > 6
    assert found == 0


def test_a_short_piece_repeats_the_payload_of_a_passage(tbcc, text_maker, near_interval):
    """Sixty tokens of a payload are too few to be found by themselves in so long a text."""
    rng = np.random.default_rng(12)
    payload = Payload.from_bits(rng.integers(0, 2, 36).astype(np.uint8))
    other = Payload.from_bits(1 - payload.array)
    parts = [(220, payload), (150, None), (60, payload), (400, None)]
    text, places = joined(text_maker, rng, tbcc, parts)
    (mark,) = decide(text.seen(tbcc)).marks
    assert mark.payload == payload
    assert len(mark.ranges) == 2
    for one, (a, b) in zip(mark.extents, places[::2], strict=True):
        assert near_interval(one, a, b)
    # Nobody else's payload is known, so as short a piece of it is none.
    parts[2] = (25, other)
    text, _ = joined(text_maker, rng, tbcc, parts)
    (mark,) = decide(text.seen(tbcc)).marks
    assert mark.payload == payload
    assert len(mark.ranges) == 1


def test_passages_that_by_themselves_carry_what_the_other_was_found_with(
    tbcc, text_maker, monkeypatch
):
    """Seen on edited texts: the search names two passages the wrong way round."""
    rng = np.random.default_rng(5)
    first, second = (Payload.from_bits(rng.integers(0, 2, 36).astype(np.uint8)) for _ in range(2))
    text, _ = joined(text_maker, rng, tbcc, [(200, first), (60, None), (200, second)])

    def exchanged(*args, **options):
        (one, other), at_least = find_passages(*args, **options)
        return (replace(one, bits=other.bits), replace(other, bits=one.bits)), at_least

    monkeypatch.setattr("pura.detect.decode.exact.find_passages", exchanged)
    assert [mark.payload for mark in decide(text.seen(tbcc)).marks] == [
        first,
        second,
    ]

"""Marks with a message: what was embedded is read, and who says unbiased is, for each message."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pura.scheme import Payload, SecretKey
from pura_lab.compare.methods import METHODS, Bench
from pura_lab.rivals.base import ERASED, context_seed, largest, redraw_p
from pura_lab.rivals.binomial import HORIZONS, Binomial, winners
from pura_lab.rivals.greens import (
    BiMark,
    Kgw,
    Mpac,
    RsBh,
    StealthInk,
    balanced_segments,
    code_of,
    flip,
    repair,
    segment_table,
    silenced,
)
from pura_lab.rivals.gumbel import CycleShift, GumbelMax, one_best
from pura_lab.rivals.spread import best_turn, boosted, distance
from pura_lab.rivals.tournament import Frames, MirrorMark, SynthId, mirrored

KEY = SecretKey(bytes(range(32)))
V = 97  # no power of two, and odd
MESSAGE = Payload(text="000000010110")  # begins with zeros, as some public code loses


def proxy(windows):
    """Say of windows of tokens what a small model could say."""
    logits = np.sin(windows.sum(axis=1)[:, None] * np.arange(1, V + 1))
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


BENCH = Bench(vocab_size=V, segments=partial(segment_table, V), proxy=proxy)
SCHEMES = [name for name, method in METHODS.items() if method.make is not None]


def made(name):
    """Build a scheme of the table with its shortest payload that is long enough here."""
    method = METHODS[name]
    bits = method.bits[0] if method.bits else len(MESSAGE.text)
    return method.make(BENCH, KEY, bits), Payload(text=(MESSAGE.text * bits)[:bits])


def write(scheme, tokens, seed, payload):
    rng = np.random.default_rng(seed)
    row = scheme.start(payload, np.random.default_rng(seed + 1))
    for _ in range(tokens):
        scheme.embed(row, rng.dirichlet(np.full(scheme.vocab_size, 3.0)))
    return np.array(row.tokens)


@pytest.mark.parametrize("name", SCHEMES)
def test_a_message_is_read_back_and_only_with_its_key(name):
    scheme, message = made(name)
    ids = write(scheme, 500, 5, message)
    found = scheme.decode(scheme.observe(ids))
    assert found.bits.tolist() == message.array.tolist()
    assert redraw_p(scheme, ids[:150], np.random.default_rng(1), 9) == 1 / 10
    other = replace(scheme, key=SecretKey(bytes([5] * 32)))
    assert other.decode(other.observe(ids)).bits.tolist() != message.array.tolist()
    # Nothing is guessed: what no token speaks of is erased.
    empty = scheme.decode(scheme.observe(ids[: scheme.window]))
    assert set(empty.bits.tolist()) == {ERASED}
    with pytest.raises(ValueError, match=f"payload of {len(message.text)} bits"):
        scheme.start(Payload(text="01"), np.random.default_rng(0))


def distance_from_law(scheme, message):
    """Return how far 3000 steps in new contexts are from the law; chi-square, 5 degrees."""
    p = np.zeros(V)
    p[[3, 20, 40, 60, 77, 90]] = [0.55, 0.2, 0.1, 0.08, 0.05, 0.02]
    row, counts = scheme.start(message, np.random.default_rng(3)), np.zeros(V)
    for step in range(3000):
        context = np.array([0, 0, step // V, step % V])[4 - scheme.window :]
        counts[scheme.choose(row, p, context)] += 1
    assert counts[p == 0].sum() == 0
    return (((counts - 3000 * p) ** 2)[p > 0] / (3000 * p[p > 0])).sum()


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCHEMES)
def test_who_says_unbiased_follows_the_law_under_one_message_and_who_does_not_does_not(name):
    # A law that holds is so far off once in 10,000 times.
    assert (distance_from_law(*made(name)) < 26) == METHODS[name].unbiased


@pytest.mark.parametrize("make", [GumbelMax, SynthId])
def test_marks_without_a_message_follow_the_law(make):
    assert distance_from_law(make(key=KEY, vocab_size=V), None) < 26


def test_layers_of_bimark_add_up_to_nothing_whatever_the_halves():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(7, 0.4))
    for delta in (0.5, 1.0):
        halves = (rng.random((3, 7)) < 0.5).astype(float)
        halves[2] = 1.0  # a layer that cannot be flipped
        laws = []
        for coins in itertools.product((False, True), repeat=3):
            law = p
            for half, coin in zip(halves, coins, strict=True):
                law = flip(law, half, not coin, 1.0, delta)
            assert law.min() >= 0
            laws.append(law)
        assert np.allclose(np.mean(laws, axis=0), p, atol=1e-15)


def test_stealthink_is_unbiased_for_a_message_with_two_chunks_or_a_pad_only():
    p = np.array([0.7, 0.15, 0.1, 0.05])

    def mean(chunks, value):
        laws = []
        for order in itertools.permutations(range(4)):
            law = np.empty(4)
            size = 4 // chunks
            law[list(order)] = silenced(p[list(order)], slice(value * size, (value + 1) * size))
            laws.append(law)
        return np.mean(laws, axis=0)

    assert np.allclose(mean(2, 0), p, atol=1e-15)
    each = [mean(4, value) for value in range(4)]
    assert all(np.abs(law - p).max() > 1e-3 for law in each)  # as published
    assert np.allclose(np.mean(each, axis=0), p, atol=1e-15)  # what the pad makes of it
    # The textbook's map of the distribution function, case by case.
    for red in (slice(0, 1), slice(1, 3), slice(3, 4), slice(1, 2)):
        ends = np.concatenate([[0], np.cumsum(p)])
        a, b = ends[red.start], ends[red.stop]
        if b <= 0.5 or a >= 0.5:
            still, double = (a, b), (1 - b, 1 - a)
        elif a + b < 1:
            still, double = (a, 1 - b), (b, 1 - a)
        else:
            still, double = (1 - a, b), (1 - b, a)
        fine = np.linspace(0, 1, 400_001)
        slope = np.where((fine >= still[0]) & (fine < still[1]), 0.0, 1.0)
        slope += (fine >= double[0]) & (fine < double[1])
        mapped = np.concatenate([[0], np.cumsum(slope[:-1]) / 400_000])
        slow = np.diff(np.interp(ends, fine, mapped))
        assert np.allclose(slow, silenced(p, red), atol=1e-5)


def test_channels_of_mc2mark_add_up_to_nothing_even_where_they_are_empty():
    rng = np.random.default_rng(2)
    for mass in (rng.dirichlet(np.full(5, 0.3)), np.array([0.0, 0.9, 0.0, 0.1, 0.0])):
        for weight in range(1, 5):
            chosen = list(itertools.combinations(range(5), weight))
            codes = np.array([[float(i in c) for i in range(5)] for c in chosen])
            laws = [boosted(mass, code.astype(int), codes) for code in codes]
            assert np.allclose([law.sum() for law in laws], 1)
            assert np.allclose(np.mean(laws, axis=0), mass, atol=1e-14)


def test_arcmark_turns_the_coupling_to_the_cheapest_place():
    angles = np.sort(np.random.default_rng(3).random(16))
    cost = [sum(distance(angles[i] - 0.2 - (i + k) / 16) for i in range(16)) for k in range(16)]
    assert best_turn(angles, 0.2) == int(np.argmin(cost))


def test_the_better_of_two_tokens_wins_and_utilities_that_are_alike_change_nothing():
    rng = np.random.default_rng(4)
    law = rng.dirichlet(np.ones(9))
    utility = rng.integers(0, 3, 9).astype(np.float32)
    slow = np.zeros(9)
    for a, b in itertools.product(range(9), repeat=2):
        share = (np.sign(utility[a] - utility[b]) + 1) / 2
        slow[a] += share * law[a] * law[b]
        slow[b] += (1 - share) * law[a] * law[b]
    assert np.allclose(winners(law, utility), slow, atol=1e-15)
    assert np.allclose(winners(law, np.zeros(9, np.float32)), law, atol=1e-15)
    # Over all orders of four utilities, equal ones among them, nothing is left of them.
    orders = itertools.permutations(np.array([0, 1, 1, 2], np.float32))
    four = np.array([0.6, 0.3, 0.1, 0.0])
    mean = np.mean([winners(four, np.array(order)) for order in orders], axis=0)
    assert np.allclose(mean, four, atol=1e-15)


def test_the_binomial_mark_keeps_the_expected_log_probability_and_helps_bits_that_lag():
    rng = np.random.default_rng(7)
    bits, spread = np.tile([0, 1], 8), {}
    for horizons, epsilon in itertools.product(((), HORIZONS), (0.0, 0.5)):
        scheme = Binomial(
            key=KEY, vocab_size=V, payload_bits=16, horizons=horizons, epsilon=epsilon
        )
        row, excess = scheme.start(Payload.from_bits(bits), np.random.default_rng(1)), []
        for step in range(600):
            p = rng.dirichlet(np.full(V, 0.5))
            token = scheme.choose(row, p, np.array([step, step]))
            excess.append(np.log(p[token]) - p @ np.log(p) + epsilon)
        # So far off once in 10,000 times.
        assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(600)
        assert (row.state > 0).all()
        spread[horizons, epsilon] = row.state.std()
    # Weighed by the state, bits lead alike.
    assert all(2 * spread[HORIZONS, e] < spread[(), e] for e in (0.0, 0.5)), spread
    with pytest.raises(ValueError, match="64 bits, not 65"):
        Binomial(key=KEY, vocab_size=V, payload_bits=65)


def test_reed_solomon_repairs_errors_and_erasures_in_fields_that_take_turns():
    assert {b: code_of(b) for b in (12, 16, 18, 20, 24, 28, 30, 32, 36)} == {
        12: (5, 3, 4), 16: (6, 4, 4), 18: (5, 3, 6), 20: (6, 4, 5), 24: (5, 3, 8),
        28: (6, 4, 7), 30: (10, 6, 5), 32: (6, 4, 8), 36: (6, 4, 9),
    }  # fmt: skip
    rng = np.random.default_rng(6)
    for bits in (12, 36, 24, 18, 30, 36):
        table = segment_table(V, bits)
        scheme = RsBh(key=KEY, vocab_size=V, payload_bits=bits, segment=table)
        n, k, width = scheme.shape
        message = np.concatenate([np.zeros(bits // 2), rng.integers(0, 2, bits - bits // 2)])
        word = scheme.encode(message.astype(np.int64))
        assert word.size == n
        wrong = word.copy()
        wrong[1] ^= 1
        assert (repair(wrong, k, width) == word[:k]).all()
        wrong = word.copy()
        wrong[[0, n - 1]] = ERASED
        assert (repair(wrong, k, width) == word[:k]).all()
        wrong[:] = ERASED
        assert (repair(wrong, k, width) == ERASED).all()


def test_segments_are_as_even_as_the_best_cut():
    rng = np.random.default_rng(8)
    for _ in range(10):
        mass = rng.pareto(1.5, 14) * (rng.random(14) < 0.8)

        def loss(cuts, mass=mass):
            return sum(part.sum() ** 2 for part in np.split(mass, cuts))

        best = min(loss(list(c)) for c in itertools.combinations(range(1, 14), 2))
        found = balanced_segments(mass, 3)
        assert (np.diff(found) >= 0).all()
        assert loss(np.flatnonzero(np.diff(found)) + 1) <= best * (1 + 1e-12)


def test_frames_meet_every_position_and_find_back_after_an_edit():
    def walk(tokens):
        frames = Frames(KEY, 6)
        return [
            frames.next(np.uint64(context_seed(KEY, [a, b])), b)
            for a, b in itertools.pairwise(tokens)
        ]

    tokens = np.random.default_rng(5).integers(0, 50, 400).tolist()
    plain, edited = walk(tokens), walk([tokens[0], *tokens[3:]])
    assert np.bincount(plain).min() > 50
    assert plain[100:] == edited[98:]
    assert mirrored(np.array([0.3]), 1, 2).tolist() == pytest.approx([0.95])


@pytest.mark.parametrize("name", SCHEMES)
def test_widths_and_repeated_contexts_are_seen(name, monkeypatch):
    scheme, message = made(name)
    for width in (V - 1, V + 1):  # as where the logits are wider than the tokenizer
        row = scheme.start(message, np.random.default_rng(1))
        with pytest.raises(ValueError, match=f"row of {V} probabilities"):
            scheme.embed(row, np.full(width, 1 / width))
    # A context that comes again is known by its ids; without the rule no scheme is unbiased.
    marked = []
    monkeypatch.setattr(
        type(scheme),
        "choose",
        lambda self, row, p, context: marked.append(tuple(context)) or int(p.argmax()),
    )
    row = scheme.start(message, np.random.default_rng(1))
    for token in (5, 6, 7, 5, 6, 8) * 4:
        scheme.embed(row, np.eye(V)[token])
    assert (len(marked) > len(set(marked))) == scheme.marks_repeats
    assert len(set(marked)) == 5


def test_ties_are_erased_and_not_guessed():
    assert largest(np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]])).tolist() == [ERASED, 1]
    assert set(one_best(np.array([3, 1, 3, 0]), 2).tolist()) == {ERASED}
    assert one_best(np.array([3, 1, 4, 0]), 2).tolist() == [1, 0]


def test_lists_and_shifts_are_as_stated():
    scheme = Mpac(key=KEY, vocab_size=V, payload_bits=12)
    ids = write(scheme, 40, 3, MESSAGE)
    found = scheme.decode(scheme.observe(ids))
    assert len({bits.tobytes() for bits in found.others}) == 16
    assert (np.where(found.bits == ERASED, found.others[0], found.bits) == found.others[0]).all()
    p = np.random.default_rng(0).dirichlet(np.ones(V))
    green = Kgw(key=KEY, vocab_size=V)
    law, greens = green.law(np.zeros(0), p, np.array([1, 2])), green.green_list(np.array([1, 2]))
    assert np.allclose(law[greens] / law[~greens].sum(), p[greens] * np.e**2 / p[~greens].sum())


@pytest.mark.weekly
def test_printed_p_values_fail_without_a_mark_and_redraws_do_not():
    ids = np.random.default_rng(9).integers(0, V, 120)
    keys = [SecretKey(bytes([k]) * 32) for k in range(1, 25)]
    rsbh = partial(RsBh, segment=segment_table(V, 24))
    for make in (rsbh, Mpac, BiMark, partial(StealthInk, width=2), MirrorMark):
        each = [make(key=key, vocab_size=V, payload_bits=24) for key in keys]
        assert np.mean([s.printed_p(ids) <= 0.05 for s in each]) > 0.5, make
    each = [Mpac(key=key, vocab_size=V, payload_bits=24) for key in keys]
    exact = [redraw_p(s, ids, np.random.default_rng(1), 19) for s in each]
    assert np.mean([p <= 0.05 for p in exact]) <= 0.25  # 24 times 5 %: chance 1e-3
    # CycleShift corrects for its messages; contexts count once, so its value holds.
    each = [CycleShift(key=key, vocab_size=V, payload_bits=8) for key in keys]
    assert np.mean([s.printed_p(ids) <= 0.05 for s in each]) <= 0.25

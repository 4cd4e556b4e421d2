"""Marks without a message: exact laws, evidence of mean one, the library's own classes."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pura.detect.local.third_party import (
    first_contexts,
    shuffled_front,
    synthid_entries,
    synthid_table,
)
from pura.scheme import SecretKey
from pura_lab.compare.methods import ZERO_BIT
from pura_lab.rivals.base import (
    below,
    context_seed,
    draw,
    normal_tail,
    redraw_p,
    shifted,
    uniforms,
    words,
)
from pura_lab.rivals.greens import Kgw, Unigram, z_score
from pura_lab.rivals.gumbel import GumbelMax, arg_gumbel
from pura_lab.rivals.tournament import tournament

KEY = SecretKey(bytes(range(32)))
V = 64


def write(scheme, tokens, seed, payload=None, concentration=0.5):
    """Write a text with random distributions of a tiny vocabulary."""
    rng = np.random.default_rng(seed)
    row = scheme.start(payload, np.random.default_rng(seed + 1))
    for _ in range(tokens):
        scheme.embed(row, rng.dirichlet(np.full(scheme.vocab_size, concentration)))
    return np.array(row.tokens)


def schemes():
    return [scheme(key=KEY, vocab_size=V) for scheme in ZERO_BIT.values()]


def test_draws_are_fixed_and_a_context_counts_once():
    # Numbers of this house, written down: another machine or version must draw the same.
    assert context_seed(KEY, [1, 2, 3]) == 0xD1762A697744CEE7
    drawn = words(0xD1762A697744CEE7, np.array([0, 49151])).tolist()
    assert drawn == [0x58AFC3B1D7594078, 0xA78330EC77BC58C3]
    seed = context_seed(KEY, [1, 23])
    assert seed != context_seed(KEY, [12, 3]) != context_seed(KEY, [3, 12])
    u = uniforms(words(seed, np.arange(1 << 14)))
    assert 0 < u.min() < u.max() < 1
    assert abs(u.mean() - 0.5) < 5 * np.sqrt(1 / 12 / u.size)
    assert np.bincount(below(words(seed, np.arange(7000)), 7), minlength=7).min() > 850
    token, contexts = first_contexts(np.array([5, 6, 7, 5, 6, 8, 5, 6]), 2)
    assert token.tolist() == [2, 3, 4, 6, 7]
    assert contexts.tolist() == [[5, 6], [6, 7], [7, 5], [6, 8], [8, 5]]
    assert first_contexts(np.array([1, 2]), 2)[0].size == 0


def test_a_tournament_leaves_every_probability_where_it_was_on_average():
    p = np.array([0.5, 0.25, 0.2, 0.05])
    coins = [np.array(c).reshape(2, 4) for c in itertools.product((0, 1), repeat=8)]
    laws = [tournament(p, g) for g in coins]
    assert np.allclose(np.mean(laws, axis=0), p, atol=1e-15)
    # The textbook's way: two entrants a layer, the one with heads wins, a draw is thrown for.
    for g, law in zip(coins[::17], laws[::17], strict=True):
        slow = p
        for layer in g:
            wins = 0.5 + 0.5 * (layer[:, None] - layer[None, :])
            slow = 2 * slow * (wins @ slow)
        assert np.allclose(slow, law, atol=1e-15)


def test_gumbel_choice_follows_the_distribution():
    p = np.array([0.6, 0.0, 0.3, 0.1])
    u = uniforms(words(np.arange(20_000, dtype=np.uint64)[:, None], np.arange(4)))
    counts = np.bincount([arg_gumbel(p, row) for row in u], minlength=4)
    assert counts[1] == 0
    assert ((counts - 20_000 * p) ** 2 / np.maximum(20_000 * p, 1)).sum() < 20  # chance 2e-4


def test_marks_are_found_and_plain_texts_are_not():
    rng = np.random.default_rng(4)
    for scheme in schemes():
        ids = write(scheme, 120, 7)
        other = replace(scheme, key=SecretKey(bytes([9] * 32)))
        assert redraw_p(scheme, ids, rng, 29) == 1 / 30, scheme
        assert redraw_p(other, ids, rng, 29) > 1 / 30, scheme
        assert np.isfinite(scheme.decode(scheme.observe(ids[:1])).statistic), scheme
        if hasattr(scheme, "log_e"):
            assert scheme.log_e(scheme.observe(ids)) > 5, scheme
            assert other.log_e(other.observe(ids)) < 3, scheme


def test_p_values_hold_where_usual_ones_fail():
    # A text that goes round: usual detectors count the same few draws again and again.
    loop = np.tile(np.arange(9), 40)
    keys = [SecretKey(bytes([k]) * 32) for k in range(1, 121)]
    for scheme in (Kgw, Unigram, GumbelMax):
        each = [scheme(key=key, vocab_size=V) for key in keys]
        usual = np.mean([s.printed_p(loop) <= 0.05 for s in each])
        e = np.mean([s.log_e(s.observe(loop)) >= np.log(20) for s in each])
        assert usual > 0.15, scheme
        assert e <= 0.05, scheme


def test_laws_and_p_values_are_those_of_transformers():
    """Their draws: tests/core/detect/local/test_third_party.py."""
    import torch
    from transformers.generation.logits_process import (
        SynthIDTextWatermarkLogitsProcessor,
        WatermarkLogitsProcessor,
    )
    from transformers.generation.watermarking import WatermarkDetector

    rng = np.random.default_rng(1)
    ids, p = rng.integers(0, 6, 300), rng.dirichlet(np.full(V, 0.5))
    keys = (654, 400, 836, 123, 340, 443, 597, 160, 57, 2**33 + 5)
    theirs = SynthIDTextWatermarkLogitsProcessor(5, list(keys), 2**16, 0, 1024, torch.device("cpu"))
    context = torch.from_numpy(ids[None, :4])
    theirs._init_state(1)
    theirs.state.context = torch.cat([torch.zeros((1, 1), dtype=torch.long), context[:, :3]], dim=1)
    law = torch.softmax(theirs(context, torch.from_numpy(np.log(p))[None]), dim=1)[0].numpy()
    g = synthid_table(0, 2**16)[synthid_entries(keys, 2**16, np.arange(V), ids[None, :4])]
    assert np.allclose(law, tournament(p, g), atol=1e-12)
    greener = WatermarkLogitsProcessor(V, "cpu", 0.25, 2.0, 15_485_863, "lefthash", 1)
    scores = greener(torch.from_numpy(ids)[None], torch.from_numpy(np.log(p))[None])
    green = np.zeros(V, dtype=bool)
    green[shuffled_front(int(ids[-1]) * 15_485_863 % (2**64 - 1), V, V // 4)] = True
    law = torch.softmax(scores, dim=1)[0].numpy()
    assert np.allclose(law, shifted(p, green, 2.0), atol=1e-12)
    settings = {"greenlist_ratio": 0.25, "bias": 2.0, "hashing_key": 15_485_863}
    settings |= {"seeding_scheme": "lefthash", "context_width": 1}
    model = SimpleNamespace(bos_token_id=-1, is_encoder_decoder=False, vocab_size=V)
    found = WatermarkDetector(model, "cpu", settings)(torch.from_numpy(ids)[None], return_dict=True)
    z = z_score(int(found.num_green_tokens[0]), int(found.num_tokens_scored[0]), 0.25)
    assert normal_tail(z) == pytest.approx(float(found.p_value[0]), abs=1e-12)
    assert normal_tail(0.0) == 0.5
    assert draw(np.array([0.0, 1.0, 0.0]), 1.0) == 1

"""The draws of marks by others are those of the programs that write them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from pura.detect.local.third_party import (
    REPEATED,
    first_contexts,
    gumbel_draws,
    in_shuffled_front,
    kgw_draws,
    murmur3,
    murmur_draws,
    philox,
    shuffled_front,
    synthid_draws,
    synthid_table,
)
from pura.scheme.foreign import GumbelMark, KgwMark, MurmurMark, SynthIdMark

V = 64


def test_philox_draws_what_vllm_says_it_draws():
    # Numbers that vLLM publishes for its PRF "philox4x32-10-v1" with key 42.
    contexts = np.array([[1, 2, 3, 4], [1, 2, 3, 4], [4, 5, 6, 7], [4, 5, 6, 7]])
    drawn = philox(42, contexts, np.array([7, 8, 7, 8]))
    assert (drawn >> np.uint64(8)).tolist() == [1661833, 10571167, 9742331, 13375724]
    assert drawn[0] == 425429266
    # Ours, written down: other widths, both words of the key, two derived keys.
    ids = np.array([9, 8, 7, 6, 5, 4, 9, 8, 7, 1])
    one = gumbel_draws(GumbelMark(sealed="x", context_width=3), 2**63 + 1, ids)
    assert one[0].tolist() == [3, 4, 5, 6, 7, 8]
    assert ((one[1] > 0) & (one[1] < 1)).all()
    two = gumbel_draws(GumbelMark(sealed="x", context_width=5, alpha=0.1), 42, ids)
    assert two[1].shape == (5, 2)
    assert np.round(one[1][:2, 0], 6).tolist() == [0.390282, 0.955475]
    assert np.round(two[1][0], 6).tolist() == [0.007875, 0.435537]


def test_murmur_draws_what_sglang_s_own_detector_says():
    # Published: MurmurHash3_x86_32 of the four bytes "test".
    assert murmur3([int.from_bytes(b"test", "little")]) == 0xBA6BD213
    # Numbers that SGLang 0.5.23's detector printed for these keys.
    keys = [0x0123456789ABCDEF, 0xFEDCBA9876543210]
    low, high = ([key >> shift & 0xFFFFFFFF for key in keys] for shift in (0, 32))
    hashed = murmur3(list(np.array([[1, 2, 3, 4]]).T))
    assert hashed.tolist() == murmur3([1, 2, 3, 4])[None].tolist() == [1145416960]
    assert murmur3([49151, 0, 7]) == 3459717999
    tokens = np.array([7, 8])
    drawn = [murmur3([*half, hashed, tokens]).tolist() for half in zip(low, high, strict=True)]
    assert drawn == [[2441207572, 2675192736], [2428845626, 874073024]]
    assert murmur3([low[0], high[0], low[1], high[1], hashed]).tolist() == [1969321603]
    # Its scores of a text: with one key, and where the context chooses one of two.
    ids = np.array([9, 8, 7, 6, 5, 4, 9, 8, 7, 1, 3])
    for secret, score in ((keys[:1], 7.39119202386395), (keys, 8.612263833387166)):
        mark = MurmurMark(sealed="x", context_width=3, mixing=0.3)
        token, numbers = murmur_draws(mark, secret, ids)
        assert token.tolist() == [3, 4, 5, 6, 7, 8, 10]
        assert -np.log1p(-numbers).sum() == pytest.approx(score, rel=1e-12)


def test_contexts_that_share_their_hash_count_once(monkeypatch):
    """Their numbers are the same, so the second says nothing new."""
    ids = np.array([5, 1, 5, 2, 5, 3, 6, 4, 6, 7])
    mark = MurmurMark(sealed="x", context_width=1)
    assert murmur_draws(mark, [1], ids)[0].tolist() == [1, 2, 4, 6, 7, 8]
    monkeypatch.setattr(
        "pura.detect.local.third_party.murmur3",
        lambda words: words[0] % np.uint64(2) if len(words) == 1 else murmur3(words),
    )
    assert murmur_draws(mark, [1], ids)[0].tolist() == [1, 4]


def test_shuffles_are_torch_s():
    for seed, size, count in ((5, 1000, 250), (2**32 + 5, 1000, 1000), (7, 3, 1)):
        order = torch.randperm(size, generator=torch.Generator().manual_seed(seed)).tolist()
        assert shuffled_front(seed, size, count) == order[:count]
        front = set(order[:count])
        for number in range(0, size, 7):
            assert in_shuffled_front(seed, size, count, number) == (number in front)
    coins = torch.randint(0, 2, (512,), generator=torch.Generator().manual_seed(3)).numpy()
    assert (synthid_table(3, 512) == coins).all()


@pytest.mark.slow
@pytest.mark.parametrize(("seeding", "width"), [("lefthash", 1), ("selfhash", 3)])
def test_green_tokens_are_those_of_transformers(seeding, width):
    from transformers.generation.watermarking import WatermarkDetector

    settings = {"greenlist_ratio": 0.25, "bias": 2.0, "hashing_key": 15_485_863}
    settings |= {"seeding_scheme": seeding, "context_width": width}
    model = SimpleNamespace(bos_token_id=-1, is_encoder_decoder=False, vocab_size=V)
    theirs = WatermarkDetector(model, "cpu", settings)
    ids = np.random.default_rng(3).integers(0, V, 60)
    mark = KgwMark(sealed="x", context_width=width, seeding=seeding, list_width=V)
    ours = kgw_draws(mark, 15_485_863, ids)
    own = int(seeding == "selfhash")
    seeds = set()
    for place, green in zip(ours[0].tolist(), ours[1][:, 0].tolist(), strict=True):
        before = torch.from_numpy(ids[place - width + own : place + own])
        assert theirs._get_ngram_score(before, int(ids[place])) == green
        seeds.add(theirs.processor.rng.initial_seed())
    assert len(seeds) == ours[0].size > 20  # each list once


def test_coins_are_those_of_transformers_and_each_entry_counts_once():
    from transformers.generation.logits_process import SynthIDTextWatermarkLogitsProcessor

    keys = [654, 400, 836, 123, 340, 443, 597, 160, 57, 2**33 + 5]
    theirs = SynthIDTextWatermarkLogitsProcessor(5, keys, 2**10, 0, 1024, torch.device("cpu"))
    ids = np.random.default_rng(1).integers(0, 9, 200)
    ours = synthid_draws(SynthIdMark(sealed="x", table_size=2**10), keys, ids)
    assert (ours[0] == first_contexts(ids, 4)[0]).all()
    g = theirs.compute_g_values(torch.from_numpy(ids)[None])[0].numpy()[ours[0] - 4]
    counted = ours[1] != REPEATED
    assert (ours[1][counted] == g[counted]).all()
    assert 500 < counted.sum() < 2**10  # of 2000 draws no entry twice

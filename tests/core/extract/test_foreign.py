"""The draws of marks by others are those of the programs that write them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from pura.extract.foreign import (
    REPEATED,
    first_contexts,
    gumbel_draws,
    in_shuffled_front,
    kgw_draws,
    philox,
    shuffled_front,
    synthid_draws,
    synthid_table,
)
from pura.scheme.foreign import GumbelMark, KgwMark, SynthIdMark

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

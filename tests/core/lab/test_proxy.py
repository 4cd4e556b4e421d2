"""Proxies made from a tiny random model: what is left out, and how far it is then."""

from typing import Any

import numpy as np
import pytest

from pura.base.errors import ModelError
from pura.model import libraries
from pura.model.evidence import divergence_bits, read
from pura.scheme import Profile, SecretKey
from pura_lab.proxy import drop_layers, finetune, perturb_weights, quantise_weights

VOCABULARY = 101


@pytest.fixture(scope="module")
def source() -> Any:
    libraries.prepare()
    import torch
    from tests.core.tiny import LLAMA, CountingTokenizer
    from transformers import LlamaConfig, LlamaForCausalLM

    from pura.model.device import choose_device
    from pura.model.load import wrap

    torch.manual_seed(3)
    shape = LLAMA | {"num_hidden_layers": 4, "max_position_embeddings": 64}
    network = LlamaForCausalLM(LlamaConfig(vocab_size=VOCABULARY, **shape))
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3)
    return wrap(network, CountingTokenizer(VOCABULARY, bos=None), choose_device("cpu"), name="tiny")


@pytest.fixture
def texts() -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.integers(0, VOCABULARY, size) for size in (20, 33)]


def plain_divergence(source: Any, proxy: Any, ids: Any) -> Any:
    import torch

    rows = []
    with torch.inference_mode():
        for model in (source, proxy):
            logits = model.network(torch.from_numpy(ids)[None, :-1]).logits[0].numpy()
            p = np.exp(logits.astype(float) - logits.max(axis=1, keepdims=True))
            rows.append(p / p.sum(axis=1, keepdims=True))
    return (rows[0] * np.log2(rows[0] / rows[1])).sum(axis=1)


def plain_next(model: Any, ids: Any) -> float:
    """Return the probability of the last token after the others."""
    import torch

    with torch.inference_mode():
        logits = model.network(torch.from_numpy(ids)[None, :-1]).logits[0, -1]
    return float(logits.double().softmax(0)[int(ids[-1])])


def test_a_model_is_no_distance_from_itself(source, texts):
    same = drop_layers(source, [])
    np.testing.assert_allclose(divergence_bits(source, same, texts), 0.0, atol=1e-6)
    assert divergence_bits(source, same, []).size == 0


def test_divergence_is_that_of_the_definition(source, texts):
    proxy = drop_layers(source, [1])
    found = divergence_bits(source, proxy, texts)
    expected = np.concatenate([plain_divergence(source, proxy, ids) for ids in texts])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.mean() > 0.01


def test_dropped_layers_are_gone_and_the_source_is_untouched(source, texts):
    before = source.parameters
    proxy = drop_layers(source, [1, 2])
    assert len(proxy.network.model.layers) == proxy.network.config.num_hidden_layers == 2
    assert len(source.network.model.layers) == source.network.config.num_hidden_layers == 4
    assert source.parameters == before > proxy.parameters
    assert [layer.self_attn.layer_idx for layer in proxy.network.model.layers] == [0, 1]
    assert [layer.self_attn.layer_idx for layer in source.network.model.layers] == [0, 1, 2, 3]
    kept = zip(proxy.network.model.layers, (0, 3), strict=True)
    for layer, number in kept:
        original = source.network.model.layers[number]
        assert layer.mlp.up_proj.weight.equal(original.mlp.up_proj.weight)
    assert "without 2 of 4" in proxy.name


def test_a_proxy_reads_like_any_model(source, texts):
    proxy = drop_layers(source, [2])
    profile = Profile(payload_bits=12, blocks=3, vocab_size=VOCABULARY)
    key = SecretKey(bytes(range(32)))
    mine, theirs = (read(m, texts[1], keys=[key], profile=profile) for m in (source, proxy))
    assert np.isfinite(theirs.entropy_bits).all()
    assert np.abs(mine.lo - theirs.lo).max() > 0.01


def test_more_noise_is_further_away_and_repeats_with_its_seed(source, texts):
    distances = []
    for scale in (0.02, 0.1, 0.5):
        one, two = (perturb_weights(source, scale, np.random.default_rng(5)) for _ in range(2))
        a, b = (divergence_bits(source, proxy, texts) for proxy in (one, two))
        np.testing.assert_array_equal(a, b)
        distances.append(a.mean())
    assert 0 < distances[0] < distances[1] < distances[2]


def test_fewer_bits_and_more_learning_are_further_away(source, texts, monkeypatch):
    # As in a command, which loads none of the library's losses.
    monkeypatch.setattr("transformers.modeling_utils.LOSS_MAPPING", {})

    def kl(proxy: Any) -> float:
        return float(divergence_bits(source, proxy, texts).mean())

    assert 0 < kl(quantise_weights(source, 8)) < kl(quantise_weights(source, 4))
    learn = [np.arange(8 + i) % VOCABULARY for i in range(3)]
    few, many = (finetune(source, learn, steps=n, rate=1e-3) for n in (2, 8))
    again = finetune(source, learn, steps=2, rate=1e-3)
    assert 0 < kl(few) < kl(many)
    assert kl(again) == kl(few)

    def surprise(model: Any) -> float:
        return float(-np.log([plain_next(model, ids) for ids in learn]).mean())

    assert surprise(many) < surprise(few) < surprise(source)
    assert not any(weight.requires_grad for weight in many.network.parameters())


def test_a_layer_that_is_not_there_is_refused(source):
    with pytest.raises(ModelError, match="no such layer"):
        drop_layers(source, [4])

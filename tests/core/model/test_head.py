"""The head is proven, swept in one go like plain torch, and cut by one rule."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.base.errors import ModelError
from pura.model.evidence import read
from pura.model.head import decoder_of, find_head
from pura.model.load import LanguageModel, wrap
from pura.model.reading import (
    distribution,
    distribution_torch,
    full_order,
    is_truncated,
    read_logits,
    softmax,
    truncate,
)
from pura.scheme import Profile, SecretKey

Tiny = Callable[[str], LanguageModel]


def test_scale_cap_and_bias_are_found(tiny):
    assert tiny("cohere").head.scale == 0.25
    assert tiny("granite").head.scale == 0.25
    assert tiny("gemma2").head.cap == 3.0
    assert tiny("gemma3").head.cap is None
    assert tiny("gemma3-capped").head.cap == 2.0
    assert tiny("phi").head.bias is not None
    assert tiny("llama").head.bias is None


def test_columns_are_the_columns_of_the_whole(tiny):
    for family in ("llama", "gemma2", "cohere", "phi"):
        head = tiny(family).head
        hidden = torch.randn(3, 32, generator=torch.Generator().manual_seed(0))
        whole = head.logits(hidden)
        assert whole.dtype == torch.float32
        torch.testing.assert_close(head.columns(hidden, 100, 120), whole[:, 100:120].T)


def test_unknown_arithmetic_is_refused(tiny, monkeypatch):
    network = tiny("llama").network
    real = type(network).forward

    def shifted(self: Any, *args: Any, **kwargs: Any) -> Any:
        out = real(self, *args, **kwargs)
        out.logits = out.logits.square()
        return out

    monkeypatch.setattr(type(network), "forward", shifted)
    with pytest.raises(ModelError, match="evidence pass cannot follow"):
        find_head(network)


def test_config_that_lies_about_the_cap_is_refused(tiny, monkeypatch):
    network = tiny("llama").network  # Llama ignores the entry, so following it would be wrong
    monkeypatch.setattr(network.config, "final_logit_softcapping", 0.5, raising=False)
    with pytest.raises(ModelError, match="evidence pass cannot follow"):
        find_head(network)


def test_decoder_ends_in_hidden_states(tiny):
    for family in ("llama", "gemma3", "gpt-neox", "bloom"):
        network = tiny(family).network
        out = decoder_of(network)(input_ids=torch.tensor([[1, 2, 3]]), use_cache=False)
        assert out.last_hidden_state.shape == (1, 3, 32)


def test_tokenizer_larger_than_the_model_is_refused(tiny):
    model = tiny("llama")

    class Large:
        bos_token_id = None

        def __len__(self) -> int:
            return 338

    with pytest.raises(ModelError, match="do not belong together"):
        wrap(model.network, Large(), model.device, name="x")


def test_control_tokens_beyond_the_rows_have_no_probability(tiny):
    model = tiny("llama")

    class Token:
        special = True

    tokenizer = copy.copy(model.tokenizer)
    tokenizer.size, tokenizer.added_tokens_decoder = 339, {337: Token(), 338: Token()}
    wide = wrap(model.network, tokenizer, model.device, name="x")
    assert wide.vocab_size == 339
    profile = Profile(payload_bits=36, blocks=4, vocab_size=339)
    key = SecretKey(bytes(32))
    assert sorted(full_order(key, 339, 337).tolist()) == list(range(337))
    ids = np.arange(20, dtype=np.int64)
    found = read(wide, ids, keys=[key], profile=profile)
    with torch.inference_mode():
        logits = model.network(torch.from_numpy(ids)[None]).logits[0, :-1].numpy()
    wanted = read_logits(logits, ids[1:], keys=[key], profile=profile)
    np.testing.assert_allclose(found.hi[0, 1:], wanted.hi[0], atol=1e-5)
    assert found.hi.max() <= 1.0


def by_the_words(p: np.ndarray, top_k: int, top_p: float) -> np.ndarray:
    """The sentences of the module, token by token."""
    if top_k:
        p = np.array([x if (p > x).sum() < top_k else 0.0 for x in p])
        p = p / p.sum()
    if top_p < 1.0:
        p = np.array([x if x > 0 and p[p > x].sum() < top_p else 0.0 for x in p])
        p = p / p.sum()
    return p


@settings(max_examples=150)
@given(
    weights=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    top_k=st.integers(0, 14),
    top_p=st.sampled_from([0.013, 0.217, 0.503, 0.871, 0.997, 1.0]),
)
def test_follows_its_words_ties_included(weights, top_k, top_p):
    p = np.array(weights) / sum(weights)
    np.testing.assert_allclose(truncate(p, top_k=top_k, top_p=top_p), by_the_words(p, top_k, top_p))


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    temperature=st.floats(0.1, 5.0),
    top_k=st.integers(0, 60),
    top_p=st.floats(0.01, 1.0),
)
def test_tensors_and_arrays_agree(seed, temperature, top_k, top_p):
    logits = np.random.default_rng(seed).normal(0, 3, (4, 50)).astype(np.float32)
    want = distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    got = distribution_torch(
        torch.from_numpy(logits), temperature=temperature, top_k=top_k, top_p=top_p
    )
    assert got.dtype == torch.float64
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)
    np.testing.assert_allclose(want.sum(axis=1), 1.0)


def test_agrees_with_the_warpers_of_transformers():
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    logits = torch.randn(20, 300, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    none = torch.zeros(20, 1, dtype=torch.long)
    scores = TemperatureLogitsWarper(0.7)(none, logits)
    scores = TopPLogitsWarper(0.83)(none, TopKLogitsWarper(40)(none, scores))
    want = torch.softmax(scores, dim=-1)
    got = distribution_torch(logits, temperature=0.7, top_k=40, top_p=0.83)
    torch.testing.assert_close(got, want, atol=1e-12, rtol=0)


def test_off_changes_nothing():
    logits = np.random.default_rng(1).normal(size=(3, 9))
    np.testing.assert_array_equal(distribution(logits), softmax(logits))
    assert not is_truncated(0, 1.0)
    assert is_truncated(1, 1.0)
    assert is_truncated(0, 0.99)


@pytest.mark.parametrize("top_p", [1e-9, 0.2])
def test_the_most_probable_token_always_stays(top_p):
    p = truncate(np.array([0.1, 0.6, 0.3]), top_p=top_p)
    np.testing.assert_array_equal(p, [0.0, 1.0, 0.0])

"""Temperature, top-k and top-p: the rule, its twin on tensors, and the library's own warpers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.model.reading import (
    distribution,
    distribution_torch,
    is_truncated,
    softmax,
    truncate,
)


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
def test_follows_its_words_ties_included(weights: list[int], top_k: int, top_p: float) -> None:
    p = np.array(weights) / sum(weights)
    np.testing.assert_allclose(truncate(p, top_k=top_k, top_p=top_p), by_the_words(p, top_k, top_p))


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    temperature=st.floats(0.1, 5.0),
    top_k=st.integers(0, 60),
    top_p=st.floats(0.01, 1.0),
)
def test_tensors_and_arrays_agree(seed: int, temperature: float, top_k: int, top_p: float) -> None:
    logits = np.random.default_rng(seed).normal(0, 3, (4, 50)).astype(np.float32)
    want = distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    got = distribution_torch(
        torch.from_numpy(logits), temperature=temperature, top_k=top_k, top_p=top_p
    )
    assert got.dtype == torch.float64
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)
    np.testing.assert_allclose(want.sum(axis=1), 1.0)


def test_agrees_with_the_warpers_of_transformers() -> None:
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    logits = torch.randn(20, 300, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    none = torch.zeros(20, 1, dtype=torch.long)
    scores = TemperatureLogitsWarper(0.7)(none, logits)
    scores = TopPLogitsWarper(0.83)(none, TopKLogitsWarper(40)(none, scores))
    want = torch.softmax(scores, dim=-1)
    got = distribution_torch(logits, temperature=0.7, top_k=40, top_p=0.83)
    torch.testing.assert_close(got, want, atol=1e-12, rtol=0)


def test_off_changes_nothing() -> None:
    logits = np.random.default_rng(1).normal(size=(3, 9))
    np.testing.assert_array_equal(distribution(logits), softmax(logits))
    assert not is_truncated(0, 1.0)
    assert is_truncated(1, 1.0)
    assert is_truncated(0, 0.99)


@pytest.mark.parametrize("top_p", [1e-9, 0.2])
def test_the_most_probable_token_always_stays(top_p: float) -> None:
    p = truncate(np.array([0.1, 0.6, 0.3]), top_p=top_p)
    np.testing.assert_array_equal(p, [0.0, 1.0, 0.0])

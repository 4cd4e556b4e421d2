"""Inverse transform sampling: the batch against the reference, edges of the circle, sectors."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.embed.engine import (
    entropy_bits,
    extend_order,
    inverse_transform,
    lay_out,
    pick,
)
from pura.model.reading import distribution
from pura.scheme import Gate, Profile, Step, anchor
from pura.scheme.gray import sector_of


def profile(size: int, **changes: object) -> Profile:
    return Profile(payload_bits=12, blocks=3, vocab_size=size).with_(**changes)


@settings(max_examples=60)
@given(
    size=st.integers(2, 400),
    rows=st.integers(1, 6),
    seed=st.integers(0, 2**32),
    temperature=st.sampled_from([0.3, 1.0, 2.5]),
    top_k=st.sampled_from([0, 1, 7]),
    top_p=st.sampled_from([1.0, 0.6]),
)
def test_the_batch_is_the_reference(
    size: int, rows: int, seed: int, temperature: float, top_k: int, top_p: float
) -> None:
    """Same entropies and tokens as row by row in NumPy."""
    rng = np.random.default_rng(seed)
    p = profile(size, temperature=temperature, top_k=top_k, top_p=top_p)
    logits = rng.normal(size=(rows, size), scale=rng.uniform(0.1, 8)).astype(np.float32)
    order = rng.permutation(size)
    points = rng.random(rows)
    buffer = torch.full((2, rows, size), float("nan"), dtype=torch.float64)
    by_rank = torch.from_numpy(np.ascontiguousarray(logits[:, order]))
    for ordered in (lay_out(by_rank, p), lay_out(by_rank, p, buffer)):
        tokens = order[pick(ordered, torch.from_numpy(points)).numpy()]
        for row in range(rows):
            pi = distribution(logits[row], temperature=temperature, top_k=top_k, top_p=top_p)
            assert float(ordered.entropy_bits[row]) == pytest.approx(entropy_bits(pi), abs=1e-9)
            assert tokens[row] == inverse_transform(pi, order, points[row])
            assert pi[tokens[row]] > 0


def test_the_input_is_left_alone() -> None:
    logits = torch.randn((2, 50), generator=torch.Generator().manual_seed(1)).double()
    before = logits.clone()
    lay_out(logits, profile(50, temperature=0.5))
    assert torch.equal(logits, before)


def test_the_ends_of_the_circle() -> None:
    """Where the CDF ends below the point, the last token that has a probability is taken."""
    order = np.arange(6)
    pi = np.array([0.0, 0.5, 0.25, 0.25 - 1e-12, 0.0, 0.0])
    for point, token in ((0.0, 1), (0.5, 2), (0.75, 3), (1 - 1e-16, 3)):
        assert inverse_transform(pi, order, point) == token
    logits = torch.from_numpy(np.log(np.maximum(pi, 1e-300)))[None]
    logits[:, pi == 0] = float("-inf")
    ordered = lay_out(logits, profile(6))
    ordered.cdf.mul_(0.99)
    assert pick(ordered, torch.tensor([0.995], dtype=torch.float64)).tolist() == [3]
    assert pick(ordered, torch.tensor([0.0], dtype=torch.float64)).tolist() == [1]


def test_the_last_token_with_a_probability_counts_even_when_it_adds_nothing() -> None:
    """A probability below the rounding of the CDF is a probability (scheme.md §4)."""
    pi = np.array([1.0 - 2**-30, 1e-30, 0.0])
    assert inverse_transform(pi, np.arange(3), 1 - 2**-40) == 1
    logits = torch.from_numpy(np.array([[0.0, -69.0, -np.inf]]))
    ordered = lay_out(logits, profile(3))
    ordered.cdf.mul_(1 - 2**-30)
    assert pick(ordered, torch.tensor([1 - 2**-40], dtype=torch.float64)).tolist() == [1]


def test_float32_would_not_do() -> None:
    """49 k tokens cumulated in float32 leave many of them no interval; in float64 none."""
    rng = np.random.default_rng(2)
    logits = torch.from_numpy(rng.normal(size=(1, 49_152), scale=2.5)).float()
    ordered = lay_out(logits, profile(49_152))
    assert int((ordered.cdf.diff() <= 0).sum()) == 0
    coarse = torch.cumsum(ordered.probabilities.float(), dim=1)
    assert int((coarse.diff() <= 0).sum()) > 1000


def test_padding_rows_of_a_model_stay_behind_the_order() -> None:
    order = np.array([2, 0, 1])
    assert extend_order(order, 5).tolist() == [2, 0, 1, 3, 4]
    assert extend_order(order, 3).tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="fewer"):
        extend_order(order, 2)


@given(bits=st.tuples(*[st.integers(0, 1)] * 3), phase=st.floats(0, 1, exclude_max=True))
def test_sectors_nest(bits: tuple[int, int, int], phase: float) -> None:
    """A reader whose entropy falls on the other side of a threshold reads the leading bits."""
    for low in (1, 2):
        coarse, fine = sector_of(bits[:low]), sector_of(bits[: low + 1])
        assert coarse == fine >> 1
        a = anchor(Step(low, phase, 0, Gate.CARRIES), coarse)
        b = anchor(Step(low + 1, phase, 0, Gate.CARRIES), fine)
        distance = min(abs(a - b), 1 - abs(a - b))
        assert distance == pytest.approx(2.0 ** -(low + 2), abs=1e-12)

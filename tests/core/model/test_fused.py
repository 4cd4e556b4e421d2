"""The head in one sweep gives what plain torch gives; Triton's interpreter stands for a device."""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest
import torch

from pura.model.head import Head, Orders
from pura.model.tiles import CPU_TILING, fused_rows, fuses, row_sums
from pura.scheme import Profile, SecretKey

ROWS, DEPTH = 2180, 20  # two stretches, the second nearly empty; 70 tokens are two blocks
PLACE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True)
def triton() -> None:
    if importlib.util.find_spec("triton") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("not installed: the extra “kernel”")
        pytest.skip("not installed: the extra “kernel”")


def test_the_trial_that_decides_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from pura.model import fused

    assert fuses(PLACE)
    fuses.cache_clear()
    monkeypatch.setattr(fused, "head_sums", lambda *_: 1 / 0)
    assert not fuses(PLACE), "where it cannot run, plain torch reads"
    fuses.cache_clear()


@pytest.mark.parametrize(
    ("dtype", "bias", "cap", "scale", "temperature", "keys", "text"),
    [
        (torch.float32, False, None, 1.0, 1.0, 1, 40),
        (torch.float16, True, 5.0, 0.5, 0.7, 3, 70),
    ],
)
def test_sums_are_those_of_plain_torch(
    dtype: torch.dtype,
    bias: bool,
    cap: float | None,
    scale: float,
    temperature: float,
    keys: int,
    text: int,
) -> None:
    rng = torch.Generator().manual_seed(7)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=rng).to(PLACE, dtype)

    head = Head(weight=drawn(ROWS, DEPTH), bias=drawn(ROWS) if bias else None, scale=scale, cap=cap)
    targets = torch.randint(0, ROWS, (text,), generator=rng)
    targets[:3] = torch.tensor([0, ROWS - 1, 2048])
    targets = targets.to(PLACE)
    hidden = drawn(text, DEPTH)
    orders = Orders.of([SecretKey(bytes([n]) * 32) for n in range(keys)], ROWS, head)
    profile = Profile(payload_bits=12, blocks=3, vocab_size=ROWS, temperature=temperature)
    ticks: list[None] = []
    plain = row_sums(head, hidden, targets, orders, profile, CPU_TILING, lambda: None)
    once = fused_rows(
        head, hidden, targets, orders, profile, CPU_TILING, lambda: ticks.append(None)
    )
    assert len(ticks) == 1
    # 16-bit logits of two orders of adding differ by a step of theirs here and there.
    room = 1e-5 if dtype == torch.float32 else 2e-3
    np.testing.assert_allclose(once.entropy_bits, plain.entropy_bits, atol=room, rtol=0)
    np.testing.assert_allclose(once.probability, plain.probability, rtol=10 * room, atol=1e-12)
    assert once.lo.shape == (keys, text)
    np.testing.assert_allclose(once.lo, plain.lo, atol=room, rtol=0)

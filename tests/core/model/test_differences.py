"""A reading is read where it differs; behind that it says what the other one says there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pura.model.differences import AROUND, aligned
from pura.model.evidence import read, read_many
from pura.model.load import LanguageModel
from pura.scheme import Profile, SecretKey

KEYS = (SecretKey(bytes(range(32))), SecretKey(bytes(range(1, 33))))
COLUMNS = ("entropy_bits", "probability", "lo", "hi")
Tiny = Callable[[str], LanguageModel]


@pytest.mark.parametrize("family", ["llama", "bloom", "gpt-neox"])
@pytest.mark.parametrize("prefix", ["none", "bos"])
@pytest.mark.parametrize("places", [(0, 200), (1, 90, 97), (60, 250, 399), (40, 398)], ids=str)
def test_only_what_differs_is_read_anew(
    tiny: Tiny, family: str, prefix: str, places: tuple[int, ...]
) -> None:
    model = replace(tiny(family), context_length=512)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size, prefix=prefix)
    rng = np.random.default_rng(sum(places))
    first = rng.integers(0, model.vocab_size, 400)
    second = first.copy()
    for place in places:
        second[place] = (second[place] + 1) % model.vocab_size
    second = np.delete(second, places[-1])  # one is not changed, but gone
    found, other = read_many(
        model, [first, second], keys=KEYS, profile=profile, prompts=[[4, 5]] * 2
    )
    assert found.taken == 0
    assert other.taken > 400 - len(places) * (AROUND + 1) - 10
    of = aligned(second, first)
    before = np.concatenate([[-1], of[:-1]])
    changed = np.flatnonzero((of < 0) | (of != before + 1))
    far = [t for t in range(second.size) if not ((changed <= t) & (changed > t - AROUND)).any()]
    assert len(far) == other.taken
    for name in COLUMNS:
        np.testing.assert_array_equal(
            getattr(other, name)[..., far], getattr(found, name)[..., of[far]]
        )
    # Up to the end of the first stretch that differs, a text is read as it is alone.
    alone = read(model, second, keys=KEYS, profile=profile, prompt_ids=[4, 5])
    upto = int(changed[0]) + AROUND if changed.size else second.size
    for name in COLUMNS:
        got, want = getattr(other, name)[..., :upto], getattr(alone, name)[..., :upto]
        np.testing.assert_allclose(got, want, atol=5e-5, err_msg=name)
    # Every later stretch, after what stands before it in the first text.
    for begin in changed[1:]:
        if not ((changed < begin) & (changed > begin - AROUND)).any():
            mixed = np.concatenate([first[: of[begin - 1] + 1], second[begin : begin + AROUND]])
            want = read(model, mixed, keys=KEYS, profile=profile, prompt_ids=[4, 5])
            count = min(AROUND, second.size - int(begin))
            for name in COLUMNS:
                np.testing.assert_allclose(
                    getattr(other, name)[..., begin : begin + count],
                    getattr(want, name)[..., of[begin - 1] + 1 :][..., :count],
                    atol=5e-5,
                    err_msg=name,
                )


def test_texts_are_aligned_and_rise() -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 1000, 300)
    second = np.concatenate([first[:50], [7, 7], first[50:120], first[125:300]])
    of = aligned(second, first)
    assert of[:50].tolist() == list(range(50))
    assert of[50:52].tolist() == [-1, -1]
    assert of[52:].tolist() == [*range(50, 120), *range(125, 300)]
    assert (aligned(rng.integers(2000, 3000, 90), first) == -1).all()
    assert aligned(first[:0], first).size == aligned(first, first[:0]).size - 300 == 0

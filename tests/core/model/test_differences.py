"""A reading is read where it differs; behind that it says what the other one says there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from pura.model.evidence import read, read_many
from pura.model.load import LanguageModel
from pura.model.pieces import AROUND, aligned, plan
from pura.scheme import Profile, SecretKey

KEYS = (SecretKey(bytes(range(32))), SecretKey(bytes(range(1, 33))))
COLUMNS = ("entropy_bits", "probability", "lo", "hi")
I64 = npt.NDArray[np.int64]
Tiny = Callable[[str], LanguageModel]


@pytest.mark.parametrize("family", ["llama", "bloom", "gpt-neox"])
@pytest.mark.parametrize("prefix", ["none", "bos"])
@pytest.mark.parametrize(
    ("length", "places"),
    [
        (400, (0, 200)),
        (400, (1, 90, 110)),
        (400, (60, 62, 250, 399)),
        (200, (0, 1, 180)),  # so short that all stands in one row
        (200, (40, 90, 92, 198)),
    ],
    ids=str,
)
def test_only_what_differs_is_read_anew(
    tiny: Tiny, family: str, prefix: str, length: int, places: tuple[int, ...]
) -> None:
    model = replace(tiny(family), context_length=512)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size, prefix=prefix)
    first, second = pair(model, length, places)
    found, other = read_many(
        model, [first, second], keys=KEYS, profile=profile, prompts=[[4, 5]] * 2
    )
    assert found.taken == 0
    assert other.taken >= second.size - len(places) * (AROUND + 2)
    of = aligned(second, first)
    changed = changes(of)
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
        np.testing.assert_allclose(got, want, atol=2e-5, err_msg=name)
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
                    atol=2e-5,
                    err_msg=name,
                )


def pair(model: LanguageModel, length: int, places: tuple[int, ...]) -> tuple[I64, I64]:
    """Two texts that differ in some places; the last of these is not changed, but gone."""
    rng = np.random.default_rng(sum(places))
    first = rng.integers(0, model.vocab_size, length)
    second = first.copy()
    for place in places:
        second[place] = (second[place] + 1) % model.vocab_size
    return first, np.delete(second, places[-1])


def changes(of: I64) -> I64:
    """Return the tokens that differ, or follow another one than in the other text."""
    before = np.concatenate([[-1], of[:-1]])
    return np.flatnonzero((of < 0) | (of != before + 1))


@pytest.mark.parametrize("family", ["llama", "bloom", "gpt-neox"])
@pytest.mark.parametrize("prefix", ["none", "bos"])
def test_a_text_of_many_windows_is_read_in_each_where_it_differs(
    tiny: Tiny, family: str, prefix: str
) -> None:
    """As one that takes the window up to the stretch, and then the stretch."""
    model = replace(tiny(family), context_length=512)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size, prefix=prefix)
    first, second = pair(model, 700, (0, 20, 95, 127, 128, 300, 480, 600, 698))
    found, other = read_many(model, [first, second], keys=KEYS, profile=profile, window=128)
    alone = read(model, first, keys=KEYS, profile=profile, window=128)
    opening = (1,) if prefix == "bos" else ()
    windows = plan(first, context=128, opening=opening)
    assert found.windows == len(windows) > 8
    of = aligned(second, first)
    changed = changes(of)
    assert other.taken >= second.size - changed.size * AROUND
    for name in COLUMNS:
        np.testing.assert_allclose(getattr(found, name), getattr(alone, name), atol=2e-5)
    for begin in changed[1:]:
        if ((changed < begin) & (changed > begin - AROUND)).any():
            continue
        token = int(of[begin - 1])
        window = [w for w in windows if w.target <= token + 1][-1]
        before = window.inputs[len(opening) : window.first + token + 2 - window.target]
        mixed = np.concatenate([before, second[begin : begin + AROUND]])
        want = read(model, mixed, keys=KEYS, profile=profile, window=512)
        count = min(AROUND, second.size - int(begin))
        for name in COLUMNS:
            np.testing.assert_allclose(
                getattr(other, name)[..., begin : begin + count],
                getattr(want, name)[..., before.size :][..., :count],
                atol=2e-5,
                err_msg=f"{name} {begin}",
            )


def test_a_text_that_differs_much_is_read_beside_one_that_differs_little(tiny: Tiny) -> None:
    """The third text begins like the second one, which is read in stretches only."""
    model = replace(tiny("llama"), context_length=512)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    first, second = pair(model, 400, (20, 300))
    third = np.concatenate([second[:250], np.random.default_rng(1).integers(0, 300, 150)])
    found = read_many(model, [first, second, third], keys=KEYS, profile=profile)
    alone = read(model, third, keys=KEYS, profile=profile)
    assert found[1].taken
    assert not found[2].taken
    for name in COLUMNS:
        np.testing.assert_allclose(getattr(found[2], name), getattr(alone, name), atol=2e-5)


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

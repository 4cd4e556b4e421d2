"""What readings share is read once, and says the same as if each had been read alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pura.model.evidence import read, read_many
from pura.model.head import decoder_of
from pura.model.load import LanguageModel
from pura.model.pieces import LEAST, plan, shares
from pura.model.tiles import CPU_TILING, Tiling
from pura.scheme import Profile, SecretKey

KEYS = (SecretKey(bytes(range(32))), SecretKey(bytes(range(1, 33))))
SMALL = Tiling(chunk=23, rows=5, columns=100, block=3 * 337)
Tiny = Callable[[str], LanguageModel]
I64 = npt.NDArray[np.int64]


def late_difference(model: LanguageModel, length: int, place: int) -> tuple[I64, I64]:
    """Two texts that differ from some place on, the second one shorter by a token."""
    first = np.random.default_rng(length).integers(0, model.vocab_size, length)
    second = np.concatenate([first[:place], np.flip(first[place + 1 :])])
    return first, second


@pytest.fixture
def fed(monkeypatch: pytest.MonkeyPatch) -> Callable[[LanguageModel], list[int]]:
    """Counts the tokens that go through a model's network."""

    def watch(model: LanguageModel) -> list[int]:
        counts: list[int] = []
        network = decoder_of(model.network)
        forward = network.forward

        def counted(*args: Any, **named: Any) -> Any:
            counts.append(int(named["input_ids"].shape[1]))
            return forward(*args, **named)

        monkeypatch.setattr(network, "forward", counted)
        return counts

    return watch


@pytest.mark.parametrize("family", ["llama", "gemma2", "gemma3", "bloom", "gpt-neox"])
@pytest.mark.parametrize("tiling", [CPU_TILING, SMALL], ids=["whole", "cut"])
@pytest.mark.parametrize("window", [8192, 64], ids=["one", "several"])
def test_readings_together_say_what_each_says_alone(
    tiny: Tiny, family: str, tiling: Tiling, window: int
) -> None:
    model = tiny(family)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    first, second = late_difference(model, 110, 90)
    texts = [first, second, first, np.flip(first).copy()]
    found = read_many(model, texts, keys=KEYS, profile=profile, tiling=tiling, window=window)
    for ids, together in zip(texts, found, strict=True):
        alone = read(model, ids, keys=KEYS, profile=profile, tiling=tiling, window=window)
        assert together.windows == alone.windows
        for name in ("entropy_bits", "probability", "lo", "hi"):
            got, want = getattr(together, name), getattr(alone, name)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-5, err_msg=name)
    assert np.array_equal(found[2].lo, found[0].lo)


@pytest.mark.parametrize(("family", "passes"), [("llama", [68]), ("bloom", [59, 9])])
def test_only_what_differs_goes_through_the_network(
    tiny: Tiny, fed: Callable[[LanguageModel], list[int]], family: str, passes: list[int]
) -> None:
    model = tiny(family)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    first, second = late_difference(model, 60, 50)
    counts = fed(model)
    read_many(model, [first, second, first], keys=KEYS, profile=profile)
    # The last token of a text predicts nothing; the one before the difference is fed again.
    assert counts == passes


@pytest.mark.parametrize("family", ["llama", "gemma3"])
@pytest.mark.parametrize("prefix", ["none", "bos"])
@pytest.mark.parametrize("window", [8192, 64], ids=["one", "several"])
def test_prompts_of_any_length_share_how_they_begin(
    tiny: Tiny, family: str, prefix: str, window: int
) -> None:
    model = tiny(family)
    assert model.bos_id is not None
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size, prefix=prefix)
    rng = np.random.default_rng(4)
    ids = rng.integers(0, model.vocab_size, 70)
    common = rng.integers(0, model.vocab_size, 45).tolist()
    prompts: list[list[int]] = [[], common, [*common, 5], [*common, 7, 8, 9], [3], [*common, 7, 8]]
    texts = [ids] * len(prompts)
    found = read_many(model, texts, keys=KEYS, profile=profile, prompts=prompts, window=window)
    for prompt, together in zip(prompts, found, strict=True):
        alone = read(
            model, ids, keys=KEYS, profile=profile, prompt_ids=prompt or None, window=window
        )
        assert together.windows == alone.windows
        for name in ("entropy_bits", "probability", "lo", "hi"):
            got, want = getattr(together, name), getattr(alone, name)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-5, err_msg=name)


def test_what_prompts_have_in_common_goes_through_the_network_once(
    tiny: Tiny, fed: Callable[[LanguageModel], list[int]]
) -> None:
    model = tiny("llama")
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    rng = np.random.default_rng(5)
    ids = rng.integers(0, model.vocab_size, 12)
    common = rng.integers(0, model.vocab_size, 40).tolist()
    prompts = [[*common, 1, 2], [*common, 3], [*common, 4, 5, 6]]
    counts = fed(model)
    read_many(model, [ids] * 3, keys=KEYS, profile=profile, prompts=prompts)
    # The last of the common inputs is fed again, since something else follows it; what 13 and 15
    # inputs are left of the others stands in the same row.
    assert counts == [53 + 13 + 15]


def test_progress_counts_what_is_read(tiny: Tiny) -> None:
    model = tiny("llama")
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    first, second = late_difference(model, 60, 50)
    seen: list[tuple[int, int]] = []
    read_many(
        model,
        [first, second, first],
        keys=KEYS,
        profile=profile,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert len({total for _, total in seen}) == 1
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)
    assert seen[-1][0] == seen[-1][1]
    assert len(seen) == seen[-1][1] + 1  # once a tick, and at the end


def test_what_is_shared_and_kept() -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(0, 50, 100)
    second, third = first.copy(), first.copy()
    second[60] += 1
    third[LEAST - 1] += 1
    texts = [first, second, third]
    windows = [plan(ids, context=1000) for ids in texts]
    found = shares(texts, windows)
    assert found[0] == [None]
    [share] = found[1]
    assert share is not None
    assert (share.text, share.inputs, share.whole) == (0, 59, False)
    assert found[2] == [None]  # too little to be worth it


def test_the_last_token_counts_although_it_is_not_fed() -> None:
    first = np.arange(60)
    second = first.copy()
    second[-1] = 3
    texts = [first, second]
    [share] = shares(texts, [plan(ids, context=1000) for ids in texts])[1]
    assert share is not None
    assert not share.whole

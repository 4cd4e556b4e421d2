"""How texts are cut into windows, and what readings share.

Each token is predicted once, as if alone.

each token is predicted once, as if alone.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.model.evidence import read, read_many
from pura.model.head import decoder_of
from pura.model.load import LanguageModel
from pura.model.pieces import AROUND, MIN_SHARED_INPUTS, aligned, plan, shares
from pura.model.reading import Reading
from pura.model.tiles import CPU_TILING, Tiling
from pura.scheme import Profile, SecretKey


@settings(max_examples=300)
@given(
    length=st.integers(0, 200),
    context=st.integers(4, 64),
    window=st.none() | st.integers(4, 64),
    overlap=st.none() | st.integers(0, 40),
    opened=st.booleans(),
    prompt=st.integers(0, 80),
)
def test_plan_covers_the_text_once(length, context, window, overlap, opened, prompt):
    ids = np.arange(1000, 1000 + length)
    opening = (1,) if opened else ()
    windows = plan(
        ids,
        context=context,
        window=window,
        overlap=overlap,
        opening=opening,
        prompt=range(prompt),
    )
    longest = min(window or context, context)
    least = longest // 2 if overlap is None else min(overlap, longest // 2)
    predicted: list[int] = []
    for number, one in enumerate(windows):
        assert 0 < one.inputs.size <= (longest if number or not prompt else context)
        assert one.count > 0
        if opened:
            assert one.inputs[0] == 1
        for place in range(one.first, one.inputs.size):
            token = one.target + place - one.first
            predicted.append(token)
            before = one.inputs[place]
            # What stands at the place is the token in front of the one it predicts.
            assert before == 1000 + token - 1 or (token == 0 and number == 0)
            if number:
                assert place + 1 >= min(least, windows[0].inputs.size)
    start = 0 if opened or prompt else 1
    assert predicted == list(range(start, length))


def test_long_prompt_loses_its_beginning():
    (first, *_) = plan(np.arange(50), context=20, opening=(1,), prompt=range(100, 200))
    assert first.inputs[:11].tolist() == [1, *range(190, 200)]
    (only,) = plan(np.arange(5), context=20, prompt=range(100, 116))
    assert only.inputs.tolist() == [*range(100, 116), 0, 1, 2, 3]


def test_a_prompt_takes_nothing_of_a_window():
    first, second = plan(np.arange(50), context=100, window=30, overlap=5, prompt=range(200, 260))
    assert first.inputs.tolist() == [*range(200, 260), *range(30)]
    assert second.inputs.tolist() == list(range(25, 49))


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
def test_only_what_differs_is_read_anew(tiny, family, prefix, length, places):
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
def test_a_text_of_many_windows_is_read_in_each_where_it_differs(tiny, family, prefix):
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


def same_numbers(found: Reading, wanted: Reading, atol: float = 1e-5) -> None:
    """Hold the numbers of two readings of a text against each other."""
    for name in COLUMNS:
        got, want = getattr(found, name), getattr(wanted, name)
        np.testing.assert_allclose(got, want, rtol=0, atol=atol, err_msg=name)


def test_a_text_that_differs_much_is_read_beside_one_that_differs_little(tiny):
    """The third text begins like the second one, which is read in stretches only."""
    model = replace(tiny("llama"), context_length=512)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    first, second = pair(model, 400, (20, 300))
    third = np.concatenate([second[:250], np.random.default_rng(1).integers(0, 300, 150)])
    found = read_many(model, [first, second, third], keys=KEYS, profile=profile)
    assert found[1].taken
    assert not found[2].taken
    same_numbers(found[2], read(model, third, keys=KEYS, profile=profile), 2e-5)


def test_texts_are_aligned_and_rise():
    rng = np.random.default_rng(2)
    first = rng.integers(0, 1000, 300)
    second = np.concatenate([first[:50], [7, 7], first[50:120], first[125:300]])
    of = aligned(second, first)
    assert of[:50].tolist() == list(range(50))
    assert of[50:52].tolist() == [-1, -1]
    assert of[52:].tolist() == [*range(50, 120), *range(125, 300)]
    assert (aligned(rng.integers(2000, 3000, 90), first) == -1).all()
    assert aligned(first[:0], first).size == aligned(first, first[:0]).size - 300 == 0


SMALL = Tiling(chunk=23, rows=5, columns=100, block=3 * 337)


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
def test_readings_together_say_what_each_says_alone(tiny, family, tiling, window):
    model = tiny(family)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    first, second = late_difference(model, 110, 90)
    texts = [first, second, first, np.flip(first).copy()]
    found = read_many(model, texts, keys=KEYS, profile=profile, tiling=tiling, window=window)
    for ids, together in zip(texts, found, strict=True):
        alone = read(model, ids, keys=KEYS, profile=profile, tiling=tiling, window=window)
        assert together.windows == alone.windows
        same_numbers(together, alone)
    assert np.array_equal(found[2].lo, found[0].lo)


@pytest.mark.parametrize(
    ("family", "passes"), [("llama", [68]), ("gemma3", [68]), ("bloom", [59, 9])]
)
def test_only_what_differs_goes_through_the_network(tiny, fed, family, passes):
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
def test_prompts_of_any_length_share_how_they_begin(tiny, family, prefix, window):
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
        same_numbers(together, alone)


def test_what_prompts_have_in_common_goes_through_the_network_once(tiny, fed):
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


def test_progress_counts_what_is_read(tiny):
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
    # Before it is told that all is done, it is: but for what whole numbers leave over.
    assert 0.999 < seen[-2][0] / seen[-1][1] <= 1


def test_what_is_shared_and_kept():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 50, 100)
    second, third = first.copy(), first.copy()
    second[60] += 1
    third[MIN_SHARED_INPUTS - 1] += 1
    texts = [first, second, third]
    windows = [plan(ids, context=1000) for ids in texts]
    found = shares(texts, windows)
    assert found[0] == [None]
    [share] = found[1]
    assert (share.text, share.inputs, share.complete) == (0, 59, False)
    assert found[2] == [None]  # too little to be worth it


def test_the_last_token_counts_although_it_is_not_fed():
    first = np.arange(60)
    second = first.copy()
    second[-1] = 3
    texts = [first, second]
    [share] = shares(texts, [plan(ids, context=1000) for ids in texts])[1]
    assert not share.complete

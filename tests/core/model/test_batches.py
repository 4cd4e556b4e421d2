"""Texts that are read side by side say what each says alone; little of a pass is padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pura.base.errors import InputError, ModelError, PuraError
from pura.model import feeding
from pura.model.batches import PADDING, Place, batches
from pura.model.evidence import Request, read, read_documents
from pura.model.load import LanguageModel
from pura.model.reading import Reading
from pura.model.tiles import CPU_TILING, Tiling
from pura.scheme import Profile, SecretKey

KEYS = (SecretKey(bytes(range(32))), SecretKey(bytes(range(1, 33))))
SMALL = Tiling(chunk=130, rows=5, columns=100, block=3 * 337)
Tiny = Callable[[str], LanguageModel]


def requests_of(vocab_size: int) -> list[Request]:
    """Documents of many lengths, some with further readings that begin alike."""
    rng = np.random.default_rng(3)
    out = []
    for number, length in enumerate((40, 150, 41, 1, 44, 90, 0, 45, 39, 91, 88)):
        ids = rng.integers(0, vocab_size, length)
        texts = [ids]
        if length > 60:
            texts += [np.delete(ids, length - 10 - number), np.delete(ids, length - 20)]
        if number % 4 == 2:
            texts.append(ids.copy())
        prompts = [rng.integers(0, vocab_size, number).tolist()] * len(texts)
        out.append(Request(texts=texts, prompts=prompts))
    return out


@pytest.mark.parametrize("family", ["llama", "gemma2", "gemma3", "bloom", "gpt-neox"])
@pytest.mark.parametrize("tiling", [CPU_TILING, SMALL], ids=["whole", "cut"])
def test_side_by_side_says_what_each_says_alone(tiny: Tiny, family: str, tiling: Tiling) -> None:
    model = tiny(family)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    requests = requests_of(model.vocab_size)
    found = read_documents(model, requests, keys=KEYS, profile=profile, tiling=tiling)
    for request, readings in zip(requests, found, strict=True):
        assert not isinstance(readings, PuraError)
        for ids, prompt, together in zip(request.texts, request.prompts, readings, strict=True):
            alone = read(model, ids, keys=KEYS, profile=profile, prompt_ids=prompt)
            assert together.windows == alone.windows
            for name in ("entropy_bits", "probability", "lo", "hi"):
                got, want = getattr(together, name), getattr(alone, name)
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-5, err_msg=name)


def test_what_is_wrong_with_one_costs_the_others_nothing(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny("llama")
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    texts = [np.full(30, number) for number in range(5)]
    texts[3] = np.array([1, model.head.rows])
    real = feeding.Feeding._sum_up

    def faulty(self: Any, found: Any) -> None:
        if any(self._texts[text][0] == 2 for text, *_ in found):
            raise RuntimeError("a fault that this text alone brings about")
        real(self, found)

    monkeypatch.setattr(feeding.Feeding, "_sum_up", faulty)
    found = read_documents(
        model, [Request(texts=[ids]) for ids in texts], keys=KEYS, profile=profile
    )
    assert [type(one) for one in found] == [list, list, ModelError, InputError, list]
    for number in (0, 1, 4):
        (reading,) = found[number]  # type: ignore[misc]
        alone = read(model, texts[number], keys=KEYS, profile=profile)
        np.testing.assert_allclose(reading.lo, alone.lo, atol=1e-5)


def test_looks_belong_to_their_document(tiny: Tiny) -> None:
    model = tiny("llama")
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    rng = np.random.default_rng(8)
    seen: list[list[int]] = [[], []]

    def look(number: int, enough: int) -> Callable[[Reading], bool]:
        def looked(reading: Reading) -> bool:
            seen[number].append(len(reading))
            return len(reading) >= enough

        return looked

    long = [rng.integers(0, model.vocab_size, 60) for _ in range(2)]
    requests = [
        Request(texts=[long[0], np.delete(long[0], 50)], look=look(0, 20)),
        Request(texts=[rng.integers(0, model.vocab_size, 55)]),
        Request(texts=[long[1], np.delete(long[1], 50)], look=look(1, 999)),
    ]
    stopped, plain, whole = read_documents(model, requests, keys=KEYS, profile=profile, chunk=10)
    assert seen == [[11, 21], [11, 21, 31, 41, 51]]
    assert [len(r) for r in stopped] == [21]  # type: ignore[union-attr]
    assert [len(r) for r in plain] == [55]  # type: ignore[union-attr]
    assert [len(r) for r in whole] == [60, 59]  # type: ignore[union-attr]


def test_at_most_a_tenth_is_padding_and_sources_come_first() -> None:
    rng = np.random.default_rng(1)
    places: list[Place] = [(text, window) for text in range(60) for window in range(2)]
    size = {place: int(rng.integers(1, 600)) for place in places}
    source = {(text, 1): (text - 3, 1) for text in range(3, 60, 2)}
    found = batches(places, size=size, source=source, most=2000, alone=lambda _: 500)
    assert sorted(place for batch in found for place in batch) == places
    number = {place: i for i, batch in enumerate(found) for place in batch}
    assert all(number[source[place]] < number[place] for place in source)
    for batch in found:
        widest = max(size[place] for place in batch) * len(batch)
        assert len(batch) == 1 or widest <= 2000
        assert sum(size[place] for place in batch) >= (1 - PADDING) * widest
    assert len(found) < 60

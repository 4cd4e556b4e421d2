"""Texts that are read side by side say what each says alone; little of a pass is padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pura.base.errors import InputError, ModelError, PuraError
from pura.model import window_scheduler
from pura.model.evidence import Request, read, read_documents
from pura.model.load import LanguageModel
from pura.model.pieces import Piece, PlannedDocument, PlannedText, Window, blank
from pura.model.reading import Reading
from pura.model.tiles import CPU_TILING, Tiling
from pura.model.window_scheduler import (
    MASK,
    PADDING,
    TOGETHER,
    MaskedBatch,
    PlainBatch,
    batches,
    size_of,
)
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
            places = (length - 10 - number, length - 20)
            texts += [np.concatenate([ids[:p], np.flip(ids[p + 1 :])]) for p in places]
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
    real = window_scheduler.WindowScheduler._sum_up

    def faulty(self: Any, found: Any) -> None:
        if any(one.text.reading.ids[0] == 2 for one in found):
            raise RuntimeError("a fault that this text alone brings about")
        real(self, found)

    monkeypatch.setattr(window_scheduler.WindowScheduler, "_sum_up", faulty)
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
    document = PlannedDocument(look=None)
    text = PlannedText(document=document, reading=blank(rng.integers(0, 9, 2), 1, 1))

    def piece(inputs: int, source: Piece | None = None, begin: int = 0) -> Piece:
        window = Window(inputs=rng.integers(0, 9, inputs), first=begin, target=0)
        return Piece(text=text, window=window, source=source, begin=begin)

    sources = [piece(int(n)) for n in rng.integers(40, 600, 60)]
    few = [piece(n + 3, s, n) for s in sources[::2] for n in (0, 7, 30)]
    many = [piece(n + 20, sources[1], n) for n in range(39)]
    chained = piece(sources[3].window.inputs.size + 9, sources[3], sources[3].size)
    last = piece(chained.window.inputs.size + 5, chained, chained.window.inputs.size - 1)
    pieces = [last, *few, *many, *sources, chained]
    found = batches(pieces, most=700, alone=lambda _: 500, masks=True)
    assert sorted(map(id, (p for b in found for p in b.pieces))) == sorted(map(id, pieces))
    number = {p: i for i, batch in enumerate(found) for p in batch.pieces}
    for one in pieces:
        if one.source is not None:
            together = one.source.size <= TOGETHER and one in few
            assert number[one] == number[one.source] if together else True
            assert number[one] >= number[one.source]
    assert number[sources[3]] < number[chained] < number[last]
    for batch in found:
        rows = batch.rows if isinstance(batch, MaskedBatch) else [(p,) for p in batch.pieces]
        sizes = [size_of(row) for row in rows]
        assert len(rows) == 1 or max(sizes) * len(rows) <= 700
        assert sum(sizes) >= (1 - PADDING) * max(sizes) * len(rows)
        begun = {p.source: 0 for row in rows for p in row if p.source not in row}
        for p in (p for p in batch.pieces if p.source in begun):
            begun[p.source] = max(begun[p.source], p.begin)
        begun.pop(None, None)
        assert not begun or len(rows) == 1
        assert sum(sizes) * (sum(sizes) + sum(begun.values())) <= 700 * MASK
    assert len(found) < 70
    alone = batches(pieces, most=700, alone=lambda _: 500, masks=False)
    assert all(isinstance(batch, PlainBatch) for batch in alone)

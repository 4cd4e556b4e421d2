"""Whatever documents are read together: each piece is fed once, and says what it says alone.

No model: the real plan and the real scheduler, with a network that only looks at what it is fed.
"""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.core.model.test_pieces import same_numbers

from pura.base.errors import InputError, ModelError, PuraError
from pura.model import window_scheduler
from pura.model.evidence import Request, read, read_documents
from pura.model.load import LanguageModel
from pura.model.pieces import Piece, PlannedDocument, PlannedText, Window, blank, plan
from pura.model.reading import Reading
from pura.model.tiles import CPU_TILING, Tiling
from pura.model.window_scheduler import (
    MASK,
    PADDING,
    TOGETHER,
    Batch,
    MaskedBatch,
    PlainBatch,
    TokenStates,
    WindowScheduler,
    batches,
    size_of,
)
from pura.scheme import Profile, SecretKey

I64 = np.ndarray[Any, np.dtype[np.int64]]
Rng = np.random.Generator
SMALLEST = 4  # how often what is fed can be halved


def restored(ids: I64, rng: Rng) -> I64:
    """Another reading of a text: one that starts to differ somewhere, or in many places."""
    out = ids.copy()
    match rng.integers(5):
        case 0:  # quotes here and there
            out[rng.integers(0, ids.size, rng.integers(1, 2 + ids.size // 25))] += 1000
        case 1:  # wrapped lines: tokens go
            out = np.delete(out, rng.integers(0, ids.size, rng.integers(1, 2 + ids.size // 15)))
        case 2:  # another ending
            out[rng.integers(0, ids.size) :] += 1000
        case 3:  # tokens come in
            out = np.insert(out, rng.integers(0, ids.size, 3), 7)
        case _:
            pass
    return out


def document(
    rng: Rng, look: Callable[[Any], bool] | None, states: bool
) -> tuple[list[I64], list[list[Window]], Any]:
    """A document of one to four readings, some behind a prompt."""
    ids = rng.integers(0, 500, int(rng.choice([30, 150, 200, 260, 380, 500, 900])))
    texts = [ids, *(restored(ids, rng) for _ in range(rng.integers(0, 4)))]
    prompts = [rng.integers(0, 500, rng.choice([0, 0, 60])).tolist() for _ in texts]
    cut = {"context": 8192, "window": int(rng.choice([300, 2048])), "overlap": 64}
    windows = [plan(t, prompt=p, **cut) for t, p in zip(texts, prompts, strict=True)]
    return texts, windows, look


class Watched:
    """Stands for the network: keeps states as the real one does, refuses what it could not feed."""

    layers = ()
    keeps_states = True
    weights = 7

    def __init__(self, rng: Rng, *, masks: bool, faults: float) -> None:
        self.rng, self.takes_masks, self.faults = rng, masks, faults
        self.fed: list[Piece] = []
        self.short = 0

    def feed(self, batch: Batch, step: int) -> Iterator[list[TokenStates]]:
        rows = batch.rows if isinstance(batch, MaskedBatch) else [(p,) for p in batch.pieces]
        for row in rows:
            for place, piece in enumerate(row):
                if piece.begin:
                    before = piece.source in row[:place] or piece.source.states is not None
                    assert before, "a piece begins with states that are not there"
        outside = [p for row in rows for p in row if p.begin and p.source not in row]
        assert not outside or len(rows) == 1
        fault = self.rng.random()
        if fault < self.faults and self.short < SMALLEST:
            self.short += 1
            raise MemoryError
        if fault < 2 * self.faults:
            raise RuntimeError("one of them is at fault")
        width = max(piece.size for piece in batch.pieces)
        step = step if len(batch.pieces) == 1 else width
        for start in range(0, width, step):
            found = []
            for piece in batch.pieces:
                if part := piece.wanted(start, min(step, max(0, piece.size - start))):
                    rows_, first = part
                    found.append(TokenStates(piece.text, first, np.zeros(rows_.stop - rows_.start)))
            yield found  # type: ignore[misc]
        if isinstance(batch, PlainBatch):
            for piece in batch.pieces:
                if piece.takers:
                    piece.states = []
        self.fed += batch.pieces


@pytest.mark.sampled
@pytest.mark.parametrize("masks", [True, False])
@pytest.mark.parametrize(
    ("follow", "chunk"),
    [
        pytest.param(False, None, id="nobody looks"),
        pytest.param(True, None, id="followed"),
        pytest.param(True, 128, id="stopped early"),
    ],
)
@pytest.mark.parametrize("faults", [0.0, 0.05])
def test_any_documents_are_read_whole(masks, follow, chunk, faults, monkeypatch):
    rng = np.random.default_rng(11)
    network: list[Watched] = []
    told: dict[int, set[int]] = {}

    def made(_: Any) -> Watched:
        network.append(Watched(rng, masks=masks, faults=faults))
        return network[-1]

    def noted(_: WindowScheduler, found: list[TokenStates]) -> None:
        for text, first, hidden in found:
            told.setdefault(id(text), set()).update(range(first, first + len(hidden)))

    def too_early(_: Piece) -> None:
        raise AssertionError("a piece was to be fed before the one that it waits for")

    monkeypatch.setattr(Piece, "feed_whole", too_early)  # what makes up for a wrong order
    monkeypatch.setattr(window_scheduler, "Passes", made)
    monkeypatch.setattr(window_scheduler, "tile_count", lambda *_: 0)
    monkeypatch.setattr(WindowScheduler, "_sum_up", noted)
    joined = kept = 0
    for trial in range(240):
        feeding = WindowScheduler(
            model=SimpleNamespace(  # type: ignore[arg-type]
                context_length=8192,
                head=SimpleNamespace(weight=torch.empty(5, 3)),
                device=SimpleNamespace(kind="cpu", name="cpu"),
            ),
            profile=None,  # type: ignore[arg-type]
            orders=(None,),  # type: ignore[arg-type]
            tiling=Tiling(chunk=2048, rows=64, columns=64, block=64),
            chunk=chunk,
            progress=lambda *_: None,
            checkpoint=lambda: None,
        )
        for _ in range(2 + trial % 15):  # 2 to 16 documents
            enough = 10**6 if chunk is None else int(rng.choice([10**6, 10**6, 150]))
            look = (lambda reading, n=enough: len(reading) >= n) if follow else None
            feeding.add(*document(rng, look, states=True))
        told.clear()
        feeding.run()
        watched = network[-1]
        fed = watched.fed
        assert len(fed) == len(set(fed)), f"trial {trial}: a piece was fed twice"
        for planned in feeding._documents:
            check_read(planned, told, set(fed))
        joined += sum(p.begin > 0 for p in fed)
        kept += sum(p.shared_inputs > 0 for p in fed)
    # What is watched does happen.
    assert joined > 100
    assert kept > 100


def check_read(planned: PlannedDocument, told: dict[int, set[int]], fed: set[Piece]) -> None:
    """Every token of a document was predicted, unless it was stopped or failed by itself."""
    if planned.over:
        return
    assert set(planned.pieces) <= fed
    for text in planned.texts:
        known = told.get(id(text), set())
        for _, _, mine in text._takes:
            ids = np.arange(len(text.reading))
            known |= set(ids[mine].tolist())
        for piece in fed:
            known |= {token for owner, token, _ in piece.extra_targets if owner is text}
        assert known >= set(range(1, len(text.reading)))


def test_a_batch_that_cannot_be_fed_cannot_be_made():
    rng = np.random.default_rng(2)
    texts, windows, _ = document(rng, None, states=True)
    planned = PlannedDocument.of(texts, windows, None, keys=1, context=8192, states=True)
    text = planned.texts[0]

    def piece(size: int, source: Piece | None = None) -> Piece:
        window = Window(inputs=rng.integers(0, 9, size), first=0, target=0)
        return Piece(text=text, window=window, source=source, begin=20 if source else 0)

    alone, waited_for = piece(40), piece(50)
    behind, other = piece(30, waited_for), piece(30, alone)
    MaskedBatch(((waited_for, behind),))
    PlainBatch((waited_for, alone))
    with pytest.raises(ValueError, match="waits for states"):
        MaskedBatch(((waited_for, behind), (alone,)))  # the others begin with states of `alone`
    with pytest.raises(ValueError, match="only a row alone"):
        MaskedBatch(((behind,), (piece(10),)))
    with pytest.raises(ValueError, match="only a piece alone"):
        PlainBatch((other, piece(10)))
    assert [p for p in (behind, other) if p.source_is_lost] == [behind, other]
    assert PlainBatch((behind,)).lost() == [behind]
    assert MaskedBatch(((waited_for, behind),)).lost() == []
    behind.feed_whole()
    assert (behind.begin, behind.source, waited_for.takers) == (0, None, 0)


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
def test_side_by_side_says_what_each_says_alone(tiny, family, tiling):
    model = tiny(family)
    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    requests = requests_of(model.vocab_size)
    found = read_documents(model, requests, keys=KEYS, profile=profile, tiling=tiling)
    for request, readings in zip(requests, found, strict=True):
        assert not isinstance(readings, PuraError)
        for ids, prompt, together in zip(request.texts, request.prompts, readings, strict=True):
            alone = read(model, ids, keys=KEYS, profile=profile, prompt_ids=prompt)
            assert together.windows == alone.windows
            same_numbers(together, alone)


def test_what_is_wrong_with_one_costs_the_others_nothing(tiny, monkeypatch):
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


def test_looks_belong_to_their_document(tiny):
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


def test_at_most_a_tenth_is_padding_and_sources_come_first():
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
    found = batches(pieces, max_inputs=700, solo_size=lambda _: 500, masks=True)
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
    alone = batches(pieces, max_inputs=700, solo_size=lambda _: 500, masks=False)
    assert all(isinstance(batch, PlainBatch) for batch in alone)

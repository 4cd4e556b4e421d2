"""Whatever documents are read together, each piece is fed once, behind states that are there.

No model: the real plan and the real scheduler, with a network that only looks at what it is fed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pura.model import window_scheduler
from pura.model.pieces import Piece, PlannedDocument, Window, plan
from pura.model.tiles import Tiling
from pura.model.window_scheduler import Batch, Found, MaskedBatch, PlainBatch, WindowScheduler

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

    def __init__(self, rng: Rng, *, masks: bool, faults: float) -> None:
        self.rng, self.takes_masks, self.faults = rng, masks, faults
        self.fed: list[Piece] = []
        self.short = 0

    def feed(self, batch: Batch, step: int) -> Iterator[list[Found]]:
        rows = batch.rows if isinstance(batch, MaskedBatch) else [(p,) for p in batch.pieces]
        for row in rows:
            for place, piece in enumerate(row):
                if piece.begin:
                    assert piece.source is not None
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
                    found.append(Found(piece.text, first, np.zeros(rows_.stop - rows_.start)))
            yield found  # type: ignore[misc]
        if isinstance(batch, PlainBatch):
            for piece in batch.pieces:
                if piece.takers:
                    piece.states = []
        self.fed += batch.pieces


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
def test_any_documents_are_read_whole(
    masks: bool,
    follow: bool,
    chunk: int | None,
    faults: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(11)
    network: list[Watched] = []
    told: dict[int, set[int]] = {}

    def made(_: Any) -> Watched:
        network.append(Watched(rng, masks=masks, faults=faults))
        return network[-1]

    def noted(_: WindowScheduler, found: list[Found]) -> None:
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
                context_length=8192, head=None, device=SimpleNamespace(kind="cpu", name="cpu")
            ),
            profile=None,  # type: ignore[arg-type]
            orders=(None,),  # type: ignore[arg-type]
            tiling=Tiling(chunk=2048, rows=64, columns=64, block=64),
            chunk=chunk,
            progress=None,
            checkpoint=None,
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
        kept += sum(p.kept > 0 for p in fed)
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
        for take in text._takes:
            ids = np.arange(len(text.reading))
            known |= set(ids[take.mine].tolist())
        for piece in fed:
            known |= {answer.token for answer in piece.asked if answer.text is text}
        assert known >= set(range(1, len(text.reading)))


def test_a_batch_that_cannot_be_fed_cannot_be_made() -> None:
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

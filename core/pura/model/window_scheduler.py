"""Feeding the pieces of some documents to the network, and summing up what comes out of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pura.base.errors import ModelError
from pura.model.batches import Batch, PlainBatch, plan_batches, step_of
from pura.model.head import Orders
from pura.model.load import LanguageModel
from pura.model.passes import Found, Passes, between
from pura.model.pieces import Look, Piece, PlannedDocument
from pura.model.reading import Reading
from pura.model.tiles import Tiling, row_sums, tile_count
from pura.model.windows import Window
from pura.scheme import Profile


@dataclass(kw_only=True, eq=False)
class WindowScheduler:
    """One pass over the texts of some documents.

    Attributes:
        model: The model.
        profile: Temperature, top-k, top-p.
        orders: The secret orders of ``K`` keys.
        tiling: How much is held at once.
        chunk: Tokens at most between two looks.
        progress: Gets steps done and steps in all.
        checkpoint: Called between layers and tiles; may raise.
    """

    model: LanguageModel
    profile: Profile
    orders: Orders
    tiling: Tiling
    chunk: int | None
    progress: Callable[[int, int], None] | None
    checkpoint: Callable[[], None] | None
    _passes: Passes = field(init=False)
    _documents: list[PlannedDocument] = field(default_factory=list, init=False)
    _queue: deque[Batch] = field(default_factory=deque, init=False)
    _done: int = field(default=0, init=False)
    _total: int = field(default=0, init=False)
    _short_of_memory: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._passes = Passes(self.model)

    def add(
        self,
        texts: Sequence[npt.NDArray[np.int64]],
        windows: Sequence[Sequence[Window]],
        look: Look | None,
    ) -> None:
        """Add a document.

        Args:
            texts: Its readings.
            windows: How each is cut.
            look: Who looks at the first one.
        """
        self._documents.append(
            PlannedDocument.of(
                texts,
                windows,
                look,
                keys=len(self.orders),
                context=self.model.context_length,
                states=len(texts) > 1 and self._passes.keeps_states,
            )
        )

    def run(self) -> None:
        """Feed everything; a batch for which memory is short is fed again in smaller pieces."""
        self._plan(piece for document in self._documents for piece in document.pieces)
        with between(self._passes.layers, self._tick):
            while self._queue:
                batch = self._queue.popleft()
                if self._attempt(batch):
                    continue
                self._shrink()
                self._plan(piece for b in (batch, *self._queue) for piece in b.pieces)
        if self.progress is not None and self._documents:
            self.progress(self._total, self._total)

    def finish(self) -> list[list[Reading] | ModelError]:
        """Return the readings of each document, or why it has none."""
        found = [document.finish() for document in self._documents]
        return [
            one
            if isinstance(one, ModelError)
            else [replace(reading, short_of_memory=self._short_of_memory) for reading in one]
            for one in found
        ]

    def _tick(self) -> None:
        """One layer or one tile is through."""
        if self.checkpoint is not None:
            self.checkpoint()
        self._done = min(self._done + 1, self._total)
        if self.progress is not None:
            self.progress(self._done, self._total)

    def _step(self, piece: Piece) -> int:
        return step_of(piece, self.tiling.chunk, self.chunk)

    def _plan(self, pieces: Iterable[Piece]) -> None:
        """Put pieces in the order in which they are fed."""
        self._queue = deque(
            plan_batches(
                pieces,
                most=self.tiling.chunk,
                chunk=self.chunk,
                masks=self._passes.takes_masks,
            )
        )
        self._count()

    def _count(self) -> None:
        self._total = self._done + sum(self._ticks(batch) for batch in self._queue)

    def _ticks(self, batch: Batch) -> int:
        """How many ticks a batch takes."""
        pieces = batch.pieces
        passes = -(-pieces[0].size // self._step(pieces[0])) if len(pieces) == 1 else 1
        rows = sum(piece.rows for piece in pieces)
        tiles = tile_count(self.model.head, rows, len(self.orders), self.profile, self.tiling)
        return passes * len(self._passes.layers) + tiles

    def _attempt(self, batch: Batch) -> bool:
        """Feed a batch; False where memory was short."""
        pieces = batch.pieces
        if lost := batch.lost():
            for piece in lost:
                piece.feed_whole()
            self._alone(pieces)
            return True
        try:
            self._feed(batch)
        except (MemoryError, RuntimeError) as error:
            if _is_out_of_memory(error):
                return False
            if len(pieces) > 1:  # one of them may be at fault: the others go alone
                self._alone(pieces)
            else:
                document = pieces[0].text.document
                document.error = ModelError("model.failed", kind=type(error).__name__)
                self._leave(document)
        else:
            for piece in pieces:
                piece.done()
        return True

    def _alone(self, pieces: Sequence[Piece]) -> None:
        """Feed some pieces next, one after the other."""
        self._queue.extendleft(PlainBatch((piece,)) for piece in reversed(pieces))
        self._count()

    def _feed(self, batch: Batch) -> None:
        """Feed a batch; what is looked at may end its document half-way."""
        for found in self._passes.feed(batch, self._step(batch.pieces[0])):
            if found:
                self._sum_up(found)
            for text, first, hidden in found:
                if text.document.show(text, first, len(hidden)):
                    self._leave(text.document)
            if all(piece.text.document.over for piece in batch.pieces):
                return

    def _leave(self, document: PlannedDocument) -> None:
        """Leave out what is still to be read of a document."""
        left = (batch.without(document) for batch in self._queue)
        self._queue = deque(batch for batch in left if batch is not None)
        document.forget()
        self._count()

    def _sum_up(self, found: Sequence[Found]) -> None:
        """Write down what hidden states say of the tokens that they predict."""
        import torch

        hidden = torch.cat([one.hidden for one in found])
        aims = np.concatenate([f.text.reading.ids[f.first :][: len(f.hidden)] for f in found])
        targets = torch.from_numpy(aims).to(hidden.device)
        sums = row_sums(
            self.model.head, hidden, targets, self.orders, self.profile, self.tiling, self._tick
        )
        begin = 0
        for text, first, h in found:
            text.write(first, sums, slice(begin, begin + len(h)))
            begin += len(h)

    def _shrink(self) -> None:
        """Give memory back and go on with smaller pieces.

        Raises:
            ModelError: There is nothing left to make smaller.
        """
        import torch

        if self.model.device.kind == "cuda":
            torch.cuda.empty_cache()
        smaller = self.tiling.halved()
        if smaller is None:
            raise ModelError("model.memory", code="model-memory")
        self.tiling = smaller
        self._short_of_memory = True


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    words = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in words
        or "can't allocate memory" in words
    )

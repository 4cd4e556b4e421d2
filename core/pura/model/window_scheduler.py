"""Feeding pieces of documents to the network: in which order, which together, and what comes out.

Rows of about the same length share a pass, be they of one text or of many. What stands behind the
end of a shorter one changes nothing before it, so it needs no mask; and at most a tenth of a pass
is such padding. A row is a window. Pieces that begin with the states of others follow right behind
those, so that only a few states are kept at a time; where the model takes a mask, many of them
stand in one row, and those of a short window in that window's own row.

There are two types of batch, since a pass under a mask keeps no states: :class:`PlainBatch` and
:class:`MaskedBatch`. Each refuses what it cannot feed.

A mask lets every token
see the states that its piece begins with and the piece up to itself, and positions are given, so
that nothing is copied for a piece and the numbers are those of a pass over its whole window.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.base.errors import ModelError
from pura.model.head import Orders, decoder_of, new_cache
from pura.model.load import LanguageModel
from pura.model.pieces import (
    Look,
    Piece,
    PlannedDocument,
    PlannedText,
    ReadPieces,
    States,
    Window,
)
from pura.model.reading import Reading
from pura.model.tiles import Tiling, row_sums, tile_count
from pura.scheme import I64, Profile

if TYPE_CHECKING:
    import torch


Row = tuple[Piece, ...]

PADDING: Final = 0.1  # share of a pass that may go on what is thrown away
_FULL: Final = "full_attention"
_SLIDING: Final = "sliding_attention"
MASK: Final = 1024  # numbers of a mask for every input that a batch may have

TOGETHER: Final = 384
"""Inputs up to which a window and what begins with its states make one row. Under a mask attention
reckons what a window of its own leaves out; from some 400 inputs on that costs more than a pass."""


@dataclass(frozen=True)
class PlainBatch:
    """Pieces side by side, a row each; the states that others wait for are kept.

    Attributes:
        pieces: One, which may begin with states that were kept; or several that begin with none.

    Raises:
        ValueError: Several, and one of them begins with states.
    """

    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        if len(self.pieces) > 1 and any(piece.source is not None for piece in self.pieces):
            raise ValueError("only a piece alone can begin with kept states")

    def lost(self) -> list[Piece]:
        """Return the pieces whose source was read and left no states."""
        return [piece for piece in self.pieces if piece.source_is_lost]

    def without(self, document: PlannedDocument) -> PlainBatch | None:
        """Return what is left without the pieces of a document; None for nothing."""
        left = tuple(piece for piece in self.pieces if piece.text.document is not document)
        return PlainBatch(left) if left else None


@dataclass(frozen=True)
class MaskedBatch:
    """Rows of several pieces under a mask; no states are kept.

    Attributes:
        rows: Each holds pieces and what begins with their states, or stands alone behind states
            that were kept.

    Raises:
        ValueError: A piece outside waits for the states of one of these, or there are several rows
            and one begins with states that were kept.
    """

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            begun = [piece.source for piece in row if piece.source is not None]
            if any(piece.takers > begun.count(piece) for piece in row):
                raise ValueError("a piece outside of the row waits for states that are not kept")
            if len(self.rows) > 1 and any(source not in row for source in begun):
                raise ValueError("only a row alone can begin with kept states")

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces, row by row."""
        return tuple(piece for row in self.rows for piece in row)

    def lost(self) -> list[Piece]:
        """Return the pieces whose source was read and left no states."""
        return [
            piece
            for row in self.rows
            for piece in row
            if piece.source not in row and piece.source_is_lost
        ]

    def without(self, document: PlannedDocument) -> MaskedBatch | None:
        """Return what is left without the pieces of a document; None for nothing."""
        rows = (
            tuple(piece for piece in row if piece.text.document is not document)
            for row in self.rows
        )
        left = tuple(filter(None, rows))
        return MaskedBatch(left) if left else None


Batch = PlainBatch | MaskedBatch


def size_of(row: Row) -> int:
    """Return how many inputs of a row are fed."""
    return sum(piece.size for piece in row)


def plan_batches(
    pieces: Iterable[Piece], *, most: int, chunk: int | None, masks: bool
) -> list[Batch]:
    """Put all pieces that are still to be read into batches, in the order in which they are fed.

    What is looked at, and may end its document, comes before the other texts of all documents.

    Args:
        pieces: What is to be fed. A source that is not among them was read.
        most: Inputs of a batch, padding included.
        chunk: Inputs at most between two looks; None for no look.
        masks: The model takes a mask, so that pieces can stand in one row.
    """
    first: list[Piece] = []
    later: list[Piece] = []
    for piece in pieces:
        if not piece.text.document.over:
            (later if piece.text.waits else first).append(piece)
    return [
        batch
        for some in (first, later)
        for batch in batches(
            some, most=most, alone=lambda piece: step_of(piece, most, chunk), masks=masks
        )
    ]


def step_of(piece: Piece, most: int, chunk: int | None) -> int:
    """Return how many inputs of a piece go through the network together when it is fed alone."""
    return most if chunk is None or not piece.text.looked_at else min(most, chunk)


def batches(
    pieces: Sequence[Piece], *, most: int, alone: Callable[[Piece], int], masks: bool
) -> list[Batch]:
    """Put pieces into batches, in an order in which what a piece begins with was read before.

    Args:
        pieces: What is to be fed. A source that is not among them was read.
        most: Inputs of a batch, padding included.
        alone: Inputs from which on a piece goes alone, in steps.
        masks: The model takes a mask, so that pieces can stand in one row.
    """
    here = set(pieces)
    behind = defaultdict[Piece | None, list[Piece]](list)
    for piece in pieces:
        behind[piece.source if piece.source in here else None].append(piece)
    out: list[Batch] = []

    def joined(piece: Piece) -> Row:
        """Return a piece and all that begins with its states as one row; empty where it is none."""
        row = (piece, *behind[piece])
        complete = piece.takers == len(behind[piece]) and not any(p.takers for p in behind[piece])
        fits = size_of(row) <= min(TOGETHER, alone(piece))
        return row if masks and len(row) > 1 and complete and fits else ()

    def put(some: Sequence[Piece]) -> None:
        whole = [piece for piece in some if piece.source is None]
        rows = {piece: joined(piece) for piece in whole}
        out.extend(map(MaskedBatch, _side_by_side([r for r in rows.values() if r], most, alone)))
        for plain in _side_by_side([(p,) for p in whole if not rows[p]], most, alone):
            follow(PlainBatch(tuple(piece for (piece,) in plain)))
        for batch in _behind_states([p for p in some if p.source], most, alone, masks):
            follow(batch)

    def follow(batch: Batch) -> None:
        out.append(batch)
        put([piece for source in batch.pieces for piece in behind[source]])

    put(behind[None])
    return out


def _side_by_side(
    rows: Sequence[Row], most: int, alone: Callable[[Piece], int]
) -> Iterator[tuple[Row, ...]]:
    """Rows that begin with nothing, the longest first; equal ones stay in their order."""
    batch: list[Row] = []
    fed = width = 0
    for row in sorted(rows, key=lambda row: -size_of(row)):
        size = size_of(row)
        if size > alone(row[0]):
            yield (row,)
            continue
        whole = width * (len(batch) + 1)
        if batch and (whole > most or fed + size < (1 - PADDING) * whole):
            yield tuple(batch)
            batch, fed = [], 0
        if not batch:
            width = size
        batch.append(row)
        fed += size
    if batch:
        yield tuple(batch)


def _behind_states(
    pieces: Sequence[Piece], most: int, alone: Callable[[Piece], int], masks: bool
) -> Iterator[Batch]:
    """Pieces that begin with kept states, as many as make a mask of bearable size.

    One whose own states are wanted goes alone: those of a row stand between others. Behind several
    sources the mask hides most of them, so that little is put behind more than one.
    """
    row: list[Piece] = []
    begun: dict[Piece | None, int] = {}
    fed = 0
    for piece in pieces:
        if piece.takers or piece.size > alone(piece) or not masks:
            yield PlainBatch((piece,))
            continue
        more = begun | {piece.source: max(begun.get(piece.source, 0), piece.begin)}
        inputs = fed + piece.size
        limit = most * MASK if len(more) == 1 else TOGETHER**2 // 2
        if row and (inputs > most or inputs * (inputs + sum(more.values())) > limit):
            yield MaskedBatch((tuple(row),))
            row, inputs, more = [], piece.size, {piece.source: piece.begin}
        row.append(piece)
        fed, begun = inputs, more
    if row:
        yield MaskedBatch((tuple(row),))


class Found(NamedTuple):
    """What came out for some tokens of a text.

    Attributes:
        text: The text.
        first: The first token.
        hidden: [N, D], the hidden states that predict it and those behind it.
    """

    text: PlannedText
    first: int
    hidden: torch.Tensor


class Passes:
    """A network without its output head.

    Args:
        model: Whose network.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._decoder = decoder_of(model.network)
        self.layers = _layers(model)
        self.weights = sum(p.numel() for layer in self.layers for p in layer.parameters())

    @functools.cached_property
    def keeps_states(self) -> bool:
        """Whether every layer is attention, whose cache keeps all that it was given."""
        layers = new_cache(self._model.network).layers
        return all(type(layer).__name__ == "DynamicLayer" for layer in layers)

    @functools.cached_property
    def takes_masks(self) -> bool:
        """Whether the network takes a mask of any form, and positions beside it.

        Kernels that know nothing but causal attention, and distances that are counted along a mask
        (ALiBi), do not.
        """
        config, kind = self._decoder.config, type(self._decoder)
        return (
            getattr(config, "_attn_implementation", "") in ("sdpa", "eager")
            and not getattr(config, "alibi", False)
            and "position_ids" in inspect.signature(kind.forward).parameters
            and hasattr(sys.modules[kind.__module__], "create_causal_mask")
        )

    def feed(self, batch: Batch, step: int) -> Iterator[list[Found]]:
        """Feed a batch, and keep the states that others wait for.

        Args:
            batch: Rows of pieces.
            step: Inputs of a piece that go through together when it is alone.

        Yields:
            After each pass, what came out of it; nothing where only states were wanted.
        """
        if isinstance(batch, PlainBatch):
            yield from self._plain(batch, step)
        else:
            yield self._masked(batch)

    def _plain(self, batch: PlainBatch, step: int) -> Iterator[list[Found]]:
        """A row a piece, filled up to the longest with whatever token; one alone in steps."""
        pieces = batch.pieces
        width, first = max(piece.size for piece in pieces), pieces[0]
        filled = _filled([piece.inputs for piece in pieces], width)
        step = step if len(pieces) == 1 else width
        cached = bool(first.begin) or width > step or any(piece.takers for piece in pieces)
        cache = new_cache(self._model.network) if cached else None
        if first.begin:
            put_states(cache, _states(pieces))
        for start in range(0, width, step):
            some = self._ids(filled[:, start : start + step])
            out = self._decoder(input_ids=some, past_key_values=cache, use_cache=cached)
            hidden = out.last_hidden_state
            yield [f for p, h in zip(pieces, hidden, strict=True) for f in _found(p, start, h)]
        for number, piece in enumerate(pieces):
            if cache is not None and piece.takers:
                at = (slice(number, number + 1), slice(None), slice(piece.kept))
                piece.states = [(layer.keys[at], layer.values[at]) for layer in cache.layers]

    def _masked(self, batch: MaskedBatch) -> list[Found]:
        """Rows of several pieces; a single row may stand behind states that were kept."""
        pieces, rows = batch.pieces, batch.rows
        cache, width = None, max(size_of(row) for row in rows)
        if any(_begun(pieces).values()):
            cache = new_cache(self._model.network)
            put_states(cache, _states(pieces), grows=False)
        ids = self._ids(_filled([np.concatenate([p.inputs for p in row]) for row in rows], width))
        places = [np.concatenate([p.begin + np.arange(p.size) for p in row]) for row in rows]
        see, far = map(np.stack, zip(*(_seen(row, width) for row in rows), strict=True))
        out = self._decoder(
            input_ids=ids,
            attention_mask=self.masks(see, far),
            position_ids=self._ids(_filled(places, width)),
            past_key_values=cache,
            use_cache=cache is not None,
        )
        found = []
        for row, hidden in zip(rows, out.last_hidden_state, strict=True):
            begin = 0
            for piece in row:
                found += _found(piece, 0, hidden[begin : begin + piece.size])
                begin += piece.size
        return found

    def masks(self, see: npt.NDArray[np.bool_], far: I64) -> Any:
        """Return a mask as the network takes it: one for each kind of layer where there are two.

        Args:
            see: [B, Q, K], which inputs each input sees.
            far: [B, Q, K], how many places it stands behind them.
        """
        import torch

        def mask(shown: npt.NDArray[np.bool_]) -> torch.Tensor:
            weight = self._model.head.weight
            hidden = torch.from_numpy(~shown).to(weight.device)
            made = torch.zeros(hidden.shape, dtype=weight.dtype, device=weight.device)
            return made.masked_fill_(hidden, torch.finfo(made.dtype).min)[:, None]

        config, module = self._decoder.config, sys.modules[type(self._decoder).__module__]
        window = getattr(config, "sliding_window", None)
        kinds = getattr(config, "layer_types", None)
        # Some configurations name a window that their network does not have.
        slides = hasattr(module, "create_sliding_window_causal_mask")
        if window is None or not slides or (kinds is not None and _SLIDING not in kinds):
            return mask(see)
        near = mask(see & (far < window))
        return near if kinds is None else {_FULL: mask(see), _SLIDING: near}

    def _ids(self, numbers: I64) -> torch.Tensor:
        import torch

        return torch.from_numpy(numbers).to(self._model.head.weight.device)


def _found(piece: Piece, start: int, hidden: torch.Tensor) -> list[Found]:
    """Return what is wanted of the outputs of some inputs, if anything is."""
    width = int(hidden.shape[0])
    part = piece.wanted(start, width)
    found = [] if part is None else [Found(piece.text, part[1], hidden[part[0]])]
    for text, token, place in piece.asked:
        row = place - piece.begin - start
        if 0 <= row < width:
            found.append(Found(text, token, hidden[row : row + 1]))
    return found


def _filled(rows: Sequence[I64], width: int) -> I64:
    """Return rows as one array, filled up with zeros."""
    return np.stack([np.pad(row, (0, width - row.size)) for row in rows])


def _begun(pieces: Sequence[Piece]) -> dict[Piece, int]:
    """Return how many inputs of each source that is not among some pieces they begin with."""
    here, begun = set(pieces), dict[Piece, int]()
    for piece in pieces:
        if piece.source is not None and piece.source not in here:
            begun[piece.source] = max(begun.get(piece.source, 0), piece.begin)
    return begun


def _states(pieces: Sequence[Piece]) -> States:
    """Return the states that some pieces begin with, those of one source behind another's.

    Raises:
        ValueError: They are not there; the scheduler looks for that first.
    """
    import torch

    sources = []
    for source, count in _begun(pieces).items():
        if source.states is None:
            raise ValueError("the states that a piece begins with were not kept")
        sources.append([(k[:, :, :count], v[:, :, :count]) for k, v in source.states])
    if len(sources) == 1:
        return sources[0]
    return [
        (torch.cat([k for k, _ in layer], dim=2), torch.cat([v for _, v in layer], dim=2))
        for layer in zip(*sources, strict=True)
    ]


def _seen(row: Row, width: int) -> tuple[npt.NDArray[np.bool_], I64]:
    """Return which columns each input of a row sees: states that were kept, then the row itself.

    A column is an input of some piece at some place in its window. An input sees those of its own
    piece up to itself, and those of the source before the place at which the piece begins.

    Args:
        row: The pieces.
        width: How long the row is with what fills it up.

    Returns:
        [Q, S + Q], and how many places each input stands behind each column.
    """
    begun = _begun(row)
    number = {piece: n for n, piece in enumerate([*begun, *row])}
    sizes = [piece.size for piece in row]
    none = [-1] * (width - sum(sizes))
    of = np.concatenate([np.repeat(list(number.values()), [*begun.values(), *sizes]), none])
    place = np.concatenate(
        [*map(np.arange, begun.values()), *(p.begin + np.arange(p.size) for p in row), none]
    )
    source = [-2 if p.source is None else number[p.source] for p in row]
    mine, at = of[-width:, None], place[-width:, None]
    theirs = np.concatenate([np.repeat(source, sizes), none])[:, None]
    begin = np.concatenate([np.repeat([p.begin for p in row], sizes), none])[:, None]
    among, before = (of == mine) & (place <= at), (of == theirs) & (place < begin)
    return among | before, at - place


def put_states(cache: Any, states: States, *, grows: bool = True) -> None:
    """Begin an empty cache with kept states, which are not copied.

    Args:
        cache: The cache.
        states: Kept states.
        grows: What is fed later stays in it.
    """
    for layer, (keys, values) in zip(cache.layers, states, strict=True):
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys, values
        if not grows:
            layer.update = functools.partial(_beside, keys, values)


def _beside(
    keys: torch.Tensor, values: torch.Tensor, more: torch.Tensor, others: torch.Tensor, *_: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Show a layer kept states and new ones together, and keep nothing of it."""
    import torch

    return torch.cat([keys, more], dim=2), torch.cat([values, others], dim=2)


def _layers(model: LanguageModel) -> list[Any]:
    """Return the decoder's layers; none when the architecture hides them."""
    import torch

    config = model.network.config.get_text_config()
    depth = getattr(config, "num_hidden_layers", 0)
    for part in decoder_of(model.network).modules():
        if isinstance(part, torch.nn.ModuleList) and len(part) == depth:
            return list(part)
    return []


@contextlib.contextmanager
def between(layers: Sequence[Any], tick: Callable[[], None]) -> Iterator[None]:
    """Call ``tick`` after every layer, so that a long pass can be stopped half-way."""
    me = threading.get_ident()

    def hook(*_: Any) -> None:
        if threading.get_ident() == me:  # another thread may read with the same model
            tick()

    handles = [layer.register_forward_hook(hook) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@dataclass(kw_only=True, eq=False)
class WindowScheduler:
    """One pass over the texts of some documents.

    Attributes:
        model: The model.
        profile: Temperature, top-k, top-p.
        orders: The secret orders of ``K`` keys.
        tiling: How much is held at once.
        chunk: Tokens at most between two looks.
        progress: Gets what is done and what there is to do, in multiplications.
        checkpoint: Called between layers and tiles; may raise.
        kept: Has the pieces that an interrupted run has read, and gets those of this one.
    """

    model: LanguageModel
    profile: Profile
    orders: Orders
    tiling: Tiling
    chunk: int | None
    progress: Callable[[int, int], None]
    checkpoint: Callable[[], None]
    kept: ReadPieces | None = None
    _passes: Passes = field(init=False)
    _documents: list[PlannedDocument] = field(default_factory=list, init=False)
    _queue: deque[Batch] = field(default_factory=deque, init=False)
    _done: int = field(default=0, init=False)
    _each: int = field(default=0, init=False)  # done between two ticks
    _total: int = field(default=0, init=False)
    _short_of_memory: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._passes = Passes(self.model)

    def add(
        self,
        texts: Sequence[I64],
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
        self._plan(self._unread())
        if self.kept is not None:
            self.progress(self._done, self._total)
        with between(self._passes.layers, self._tick):
            while self._queue:
                batch = self._queue.popleft()
                if self._attempt(batch):
                    continue
                self._shrink()
                self._plan(piece for b in (batch, *self._queue) for piece in b.pieces)
        if self._documents:
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

    def _unread(self) -> list[Piece]:
        """Write down what an interrupted run has read; return what is still to be fed."""
        pieces = [piece for document in self._documents for piece in document.pieces]
        if self.kept is None:
            return pieces
        read, fed = list[Piece](), set[Piece]()
        for piece in pieces:
            numbers = None if piece.text.document.over else self.kept.find(piece.digest)
            if numbers is None:
                # A source is fed once more: its states are in no file.
                waits: Piece | None = piece
                while waits is not None:
                    fed.add(waits)
                    waits = waits.source
                continue
            read.append(piece)
            piece.put_numbers(numbers)
            step = self._step(piece)
            for start in range(0, piece.size, step):
                rows, first = piece.wanted(start, step) or (slice(0, 0), 0)
                piece.text.document.show(piece.text, first, rows.stop - rows.start)
        for piece in read:
            if piece not in fed:
                piece.done()
                self._done += self._work([piece])
        return [piece for piece in pieces if piece in fed]

    def _tick(self) -> None:
        """One layer or one tile is through."""
        self.checkpoint()
        self._done = min(self._done + self._each, self._total)
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
        self._total = self._done + sum(self._work(batch.pieces) for batch in self._queue)

    def _work(self, pieces: Iterable[Piece]) -> int:
        """How many multiplications some pieces take, but for attention."""
        layers, head = self._passes.weights, self.model.head.weight.numel()
        return sum(piece.size * layers + piece.rows * head for piece in pieces)

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
                if self.kept is not None and not piece.text.document.over:
                    self.kept.add(piece.digest, piece.numbers)
        return True

    def _alone(self, pieces: Sequence[Piece]) -> None:
        """Feed some pieces next, one after the other."""
        self._queue.extendleft(PlainBatch((piece,)) for piece in reversed(pieces))
        self._count()

    def _feed(self, batch: Batch) -> None:
        """Feed a batch; what is looked at may end its document half-way."""
        pieces, step = batch.pieces, self._step(batch.pieces[0])
        passes = -(-pieces[0].size // step) if len(pieces) == 1 else 1
        layers = sum(piece.size for piece in pieces) * self._passes.weights
        self._each = each = layers // (passes * max(1, len(self._passes.layers)))
        for found in self._passes.feed(batch, step):
            if found:
                self._sum_up(found)
                self._each = each
            for text, first, hidden in found:
                if text.document.show(text, first, len(hidden)):
                    self._leave(text.document)
            if all(piece.text.document.over for piece in pieces):
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
        tiles = tile_count(
            self.model.head, len(hidden), len(self.orders), self.profile, self.tiling
        )
        self._each = len(hidden) * self.model.head.weight.numel() // tiles
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

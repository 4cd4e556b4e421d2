"""Feeding pieces of documents to the network: their order, their batches, and their results.

Rows of about the same length share a pass, whether they come from one text or from many. Padding
after the end of a shorter row changes nothing before it, so it needs no mask, and it takes at most
a tenth of a pass. A row is a window. Pieces that begin with the states of others follow directly
after those, so that only a few states are kept at a time. If the model takes a mask, many of them
share one row; pieces that begin with a short window share the row of that window.

There are two types of batch, since a pass under a mask keeps no states: :class:`PlainBatch` and
:class:`MaskedBatch`. Each refuses pieces that it cannot feed.

A mask lets every token see the states that its piece begins with, and the piece up to itself.
Positions are passed too, so that nothing is copied for a piece and the results are those of a pass
over its complete window.
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

PADDING: Final = 0.1  # largest share of padding in a pass
_FULL: Final = "full_attention"
_SLIDING: Final = "sliding_attention"
MASK: Final = 1024  # numbers in a mask, for each input that a batch may have

TOGETHER: Final = 384
"""Most inputs in a row of a window and the pieces that begin with its states. Under a mask,
attention computes weights that are zero; above some 400 inputs that costs more than a new pass."""


@dataclass(frozen=True)
class PlainBatch:
    """Pieces side by side, one in each row; states that other pieces need are kept.

    Attributes:
        pieces: A single piece, which may begin with kept states; or several that do not.

    Raises:
        ValueError: There are several pieces, and one of them begins with states.
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
        ValueError: A piece outside the batch needs the states of one of these, or there are
            several rows and one begins with kept states.
    """

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            sources = [piece.source for piece in row if piece.source is not None]
            if any(piece.takers > sources.count(piece) for piece in row):
                raise ValueError("a piece outside of the row waits for states that are not kept")
            if len(self.rows) > 1 and any(source not in row for source in sources):
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
    """Return the number of inputs of a row that are fed."""
    return sum(piece.size for piece in row)


def plan_batches(
    pieces: Iterable[Piece], *, max_inputs: int, chunk: int | None, masks: bool
) -> list[Batch]:
    """Put all pieces that are still to be read into batches, in the order in which they are fed.

    Texts that are looked at, and may end their document, come before the other texts.

    Args:
        pieces: Pieces to be fed. A source that is not among them was read.
        max_inputs: Most inputs of a batch, including padding.
        chunk: Most inputs between two looks; None for no look.
        masks: Whether the model takes a mask, so that pieces can share a row.
    """
    first: list[Piece] = []
    later: list[Piece] = []
    for piece in pieces:
        if not piece.text.document.over:
            (later if piece.text.waits else first).append(piece)
    return [
        batch
        for group in (first, later)
        for batch in batches(
            group,
            max_inputs=max_inputs,
            solo_size=lambda piece: step_of(piece, max_inputs, chunk),
            masks=masks,
        )
    ]


def step_of(piece: Piece, max_inputs: int, chunk: int | None) -> int:
    """Return how many inputs go through the network together if a piece is fed alone."""
    return max_inputs if chunk is None or not piece.text.looked_at else min(max_inputs, chunk)


def batches(
    pieces: Sequence[Piece], *, max_inputs: int, solo_size: Callable[[Piece], int], masks: bool
) -> list[Batch]:
    """Put pieces into batches, in an order in which each source precedes its followers.

    Args:
        pieces: Pieces to be fed. A source that is not among them was read.
        max_inputs: Most inputs of a batch, including padding.
        solo_size: Returns the size above which a piece is fed alone, in steps.
        masks: Whether the model takes a mask, so that pieces can share a row.
    """
    planned = set(pieces)
    followers = defaultdict[Piece | None, list[Piece]](list)
    for piece in pieces:
        followers[piece.source if piece.source in planned else None].append(piece)
    out: list[Batch] = []

    def joined(piece: Piece) -> Row:
        """Return a piece and its followers as one row; an empty row if they cannot share one."""
        row = (piece, *followers[piece])
        complete = piece.takers == len(followers[piece]) and not any(
            p.takers for p in followers[piece]
        )
        fits = size_of(row) <= min(TOGETHER, solo_size(piece))
        return row if masks and len(row) > 1 and complete and fits else ()

    def add_pieces(group: Sequence[Piece]) -> None:
        roots = [piece for piece in group if piece.source is None]
        rows = {piece: joined(piece) for piece in roots}
        out.extend(
            map(MaskedBatch, _side_by_side([r for r in rows.values() if r], max_inputs, solo_size))
        )
        for plain in _side_by_side([(p,) for p in roots if not rows[p]], max_inputs, solo_size):
            follow(PlainBatch(tuple(piece for (piece,) in plain)))
        for batch in _behind_states([p for p in group if p.source], max_inputs, solo_size, masks):
            follow(batch)

    def follow(batch: Batch) -> None:
        out.append(batch)
        add_pieces([piece for source in batch.pieces for piece in followers[source]])

    add_pieces(followers[None])
    return out


def _side_by_side(
    rows: Sequence[Row], max_inputs: int, solo_size: Callable[[Piece], int]
) -> Iterator[tuple[Row, ...]]:
    """Yield batches of rows without kept states, the longest first; equal ones keep their order."""
    batch: list[Row] = []
    fed = width = 0
    for row in sorted(rows, key=lambda row: -size_of(row)):
        size = size_of(row)
        if size > solo_size(row[0]):
            yield (row,)
            continue
        area = width * (len(batch) + 1)
        if batch and (area > max_inputs or fed + size < (1 - PADDING) * area):
            yield tuple(batch)
            batch, fed = [], 0
        if not batch:
            width = size
        batch.append(row)
        fed += size
    if batch:
        yield tuple(batch)


def _behind_states(
    pieces: Sequence[Piece], max_inputs: int, solo_size: Callable[[Piece], int], masks: bool
) -> Iterator[Batch]:
    """Yield batches of pieces that begin with kept states, within a bearable size of the mask.

    A piece with states that others need is fed alone, since a row mixes the states of its pieces.
    With several sources the mask hides most of them, so such rows are kept short.
    """
    row: list[Piece] = []
    sources: dict[Piece | None, int] = {}
    fed = 0
    for piece in pieces:
        if piece.takers or piece.size > solo_size(piece) or not masks:
            yield PlainBatch((piece,))
            continue
        widened = sources | {piece.source: max(sources.get(piece.source, 0), piece.begin)}
        inputs = fed + piece.size
        limit = max_inputs * MASK if len(widened) == 1 else TOGETHER**2 // 2
        if row and (inputs > max_inputs or inputs * (inputs + sum(widened.values())) > limit):
            yield MaskedBatch((tuple(row),))
            row, inputs, widened = [], piece.size, {piece.source: piece.begin}
        row.append(piece)
        fed, sources = inputs, widened
    if row:
        yield MaskedBatch((tuple(row),))


class TokenStates(NamedTuple):
    """Hidden states that predict some tokens of a text.

    Attributes:
        text: The text.
        first: The first token.
        hidden: [N, D], the hidden states that predict it and the tokens after it.
    """

    text: PlannedText
    first: int
    hidden: torch.Tensor


class Passes:
    """A network without its output head.

    Args:
        model: The model of the network.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._decoder = decoder_of(model.network)
        self.layers = _layers(model)
        self.weights = sum(p.numel() for layer in self.layers for p in layer.parameters())

    @functools.cached_property
    def keeps_states(self) -> bool:
        """Whether every layer is full attention, so that its cache keeps all inputs."""
        layers = new_cache(self._model.network).layers
        return all(type(layer).__name__ == "DynamicLayer" for layer in layers)

    @functools.cached_property
    def takes_masks(self) -> bool:
        """Whether the network takes an arbitrary mask, and positions.

        Kernels for causal attention only, and distances counted along the mask (ALiBi), do not.
        """
        config, kind = self._decoder.config, type(self._decoder)
        return (
            getattr(config, "_attn_implementation", "") in ("sdpa", "eager")
            and not getattr(config, "alibi", False)
            and "position_ids" in inspect.signature(kind.forward).parameters
            and hasattr(sys.modules[kind.__module__], "create_causal_mask")
        )

    def feed(self, batch: Batch, step: int) -> Iterator[list[TokenStates]]:
        """Feed a batch, and keep the states that other pieces need.

        Args:
            batch: Rows of pieces.
            step: Inputs that go through the network together if a piece is alone.

        Yields:
            The hidden states of each pass; an empty list if only states were needed.
        """
        if isinstance(batch, PlainBatch):
            yield from self._plain(batch, step)
        else:
            yield self._masked(batch)

    def _plain(self, batch: PlainBatch, step: int) -> Iterator[list[TokenStates]]:
        """Feed one piece in each row, padded to the longest; feed a single piece in steps."""
        pieces = batch.pieces
        width, first = max(piece.size for piece in pieces), pieces[0]
        filled = _filled([piece.inputs for piece in pieces], width)
        step = step if len(pieces) == 1 else width
        cached = bool(first.begin) or width > step or any(piece.takers for piece in pieces)
        cache = new_cache(self._model.network) if cached else None
        if first.begin:
            put_states(cache, _states(pieces))
        for start in range(0, width, step):
            ids = self._ids(filled[:, start : start + step])
            out = self._decoder(input_ids=ids, past_key_values=cache, use_cache=cached)
            hidden = out.last_hidden_state
            yield [
                f for p, h in zip(pieces, hidden, strict=True) for f in _token_states(p, start, h)
            ]
        for number, piece in enumerate(pieces):
            if cache is not None and piece.takers:
                index = (slice(number, number + 1), slice(None), slice(piece.shared_inputs))
                piece.states = [(layer.keys[index], layer.values[index]) for layer in cache.layers]

    def _masked(self, batch: MaskedBatch) -> list[TokenStates]:
        """Feed rows of several pieces; a single row may follow kept states."""
        pieces, rows = batch.pieces, batch.rows
        cache, width = None, max(size_of(row) for row in rows)
        if any(_source_inputs(pieces).values()):
            cache = new_cache(self._model.network)
            put_states(cache, _states(pieces), grows=False)
        ids = self._ids(_filled([np.concatenate([p.inputs for p in row]) for row in rows], width))
        positions = [np.concatenate([p.begin + np.arange(p.size) for p in row]) for row in rows]
        see, distance = map(np.stack, zip(*(_visibility(row, width) for row in rows), strict=True))
        out = self._decoder(
            input_ids=ids,
            attention_mask=self.masks(see, distance),
            position_ids=self._ids(_filled(positions, width)),
            past_key_values=cache,
            use_cache=cache is not None,
        )
        outputs = []
        for row, hidden in zip(rows, out.last_hidden_state, strict=True):
            begin = 0
            for piece in row:
                outputs += _token_states(piece, 0, hidden[begin : begin + piece.size])
                begin += piece.size
        return outputs

    def masks(self, see: npt.NDArray[np.bool_], distance: I64) -> Any:
        """Return the attention mask; one for each kind of layer if there are two kinds.

        Args:
            see: [B, Q, K], which inputs each input sees.
            distance: [B, Q, K], distance between their positions.
        """
        import torch

        def mask(visible: npt.NDArray[np.bool_]) -> torch.Tensor:
            weight = self._model.head.weight
            hidden = torch.from_numpy(~visible).to(weight.device)
            biases = torch.zeros(hidden.shape, dtype=weight.dtype, device=weight.device)
            return biases.masked_fill_(hidden, torch.finfo(biases.dtype).min)[:, None]

        config, module = self._decoder.config, sys.modules[type(self._decoder).__module__]
        window = getattr(config, "sliding_window", None)
        kinds = getattr(config, "layer_types", None)
        # Some configurations name a sliding window that their network does not have.
        slides = hasattr(module, "create_sliding_window_causal_mask")
        if window is None or not slides or (kinds is not None and _SLIDING not in kinds):
            return mask(see)
        local = mask(see & (distance < window))
        return local if kinds is None else {_FULL: mask(see), _SLIDING: local}

    def _ids(self, numbers: I64) -> torch.Tensor:
        import torch

        return torch.from_numpy(numbers).to(self._model.head.weight.device)


def _token_states(piece: Piece, start: int, hidden: torch.Tensor) -> list[TokenStates]:
    """Return the hidden states that are needed of the outputs of some inputs."""
    width = int(hidden.shape[0])
    part = piece.wanted(start, width)
    outputs = [] if part is None else [TokenStates(piece.text, part[1], hidden[part[0]])]
    for text, token, position in piece.extra_targets:
        row = position - piece.begin - start
        if 0 <= row < width:
            outputs.append(TokenStates(text, token, hidden[row : row + 1]))
    return outputs


def _filled(rows: Sequence[I64], width: int) -> I64:
    """Return rows as one array, padded with zeros."""
    return np.stack([np.pad(row, (0, width - row.size)) for row in rows])


def _source_inputs(pieces: Sequence[Piece]) -> dict[Piece, int]:
    """Return, for each source outside these pieces, how many of its inputs they begin with."""
    own_pieces, counts = set(pieces), dict[Piece, int]()
    for piece in pieces:
        if piece.source is not None and piece.source not in own_pieces:
            counts[piece.source] = max(counts.get(piece.source, 0), piece.begin)
    return counts


def _states(pieces: Sequence[Piece]) -> States:
    """Return the states that some pieces begin with, joined over their sources.

    Raises:
        ValueError: States are missing; the scheduler checks this beforehand.
    """
    import torch

    sources = []
    for source, count in _source_inputs(pieces).items():
        if source.states is None:
            raise ValueError("the states that a piece begins with were not kept")
        sources.append([(k[:, :, :count], v[:, :, :count]) for k, v in source.states])
    if len(sources) == 1:
        return sources[0]
    return [
        (torch.cat([k for k, _ in layer], dim=2), torch.cat([v for _, v in layer], dim=2))
        for layer in zip(*sources, strict=True)
    ]


def _visibility(row: Row, width: int) -> tuple[npt.NDArray[np.bool_], I64]:
    """Return which columns each input of a row sees: kept states, then the row itself.

    A column is an input of a piece at a position in its window. An input sees the columns of its
    own piece up to itself, and those of the source before the position at which the piece begins.

    Args:
        row: The pieces.
        width: Length of the row, including padding.

    Returns:
        [Q, S + Q] which columns are visible, and the distance of each input from each column.
    """
    sources = _source_inputs(row)
    number = {piece: n for n, piece in enumerate([*sources, *row])}
    sizes = [piece.size for piece in row]
    filling = [-1] * (width - sum(sizes))
    column_piece = np.concatenate(
        [np.repeat(list(number.values()), [*sources.values(), *sizes]), filling]
    )
    column_position = np.concatenate(
        [*map(np.arange, sources.values()), *(p.begin + np.arange(p.size) for p in row), filling]
    )
    source = [-2 if p.source is None else number[p.source] for p in row]
    row_piece, row_position = column_piece[-width:, None], column_position[-width:, None]
    row_source = np.concatenate([np.repeat(source, sizes), filling])[:, None]
    row_begin = np.concatenate([np.repeat([p.begin for p in row], sizes), filling])[:, None]
    among = (column_piece == row_piece) & (column_position <= row_position)
    before = (column_piece == row_source) & (column_position < row_begin)
    return among | before, row_position - column_position


def put_states(cache: Any, states: States, *, grows: bool = True) -> None:
    """Begin an empty cache with kept states, which are not copied.

    Args:
        cache: The cache.
        states: Kept states.
        grows: Whether inputs that are fed later stay in the cache.
    """
    for layer, (keys, values) in zip(cache.layers, states, strict=True):
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys, values
        if not grows:
            layer.update = functools.partial(_beside, keys, values)


def _beside(
    keys: torch.Tensor,
    values: torch.Tensor,
    new_keys: torch.Tensor,
    new_values: torch.Tensor,
    *_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return kept and new states of a layer together, without storing the new ones."""
    import torch

    return torch.cat([keys, new_keys], dim=2), torch.cat([values, new_values], dim=2)


def _layers(model: LanguageModel) -> list[Any]:
    """Return the decoder's layers; none if the architecture hides them."""
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
        tiling: Sizes of the parts held in memory.
        chunk: Most tokens between two looks.
        progress: Called with the work done and all work, in multiplications.
        checkpoint: Called between layers and tiles; may raise.
        stored_pieces: Pieces that an interrupted run has read; those of this run are added.
    """

    model: LanguageModel
    profile: Profile
    orders: Orders
    tiling: Tiling
    chunk: int | None
    progress: Callable[[int, int], None]
    checkpoint: Callable[[], None]
    stored_pieces: ReadPieces | None = None
    _passes: Passes = field(init=False)
    _documents: list[PlannedDocument] = field(default_factory=list, init=False)
    _queue: deque[Batch] = field(default_factory=deque, init=False)
    _work_done: int = field(default=0, init=False)
    _work_per_tick: int = field(default=0, init=False)
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
            texts: Token ids of its readings.
            windows: Windows of each reading.
            look: Called with the results of the first reading so far.
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
        """Feed everything; if memory is short, feed the batch again in smaller pieces."""
        self._plan(self._unread())
        if self.stored_pieces is not None:
            self.progress(self._work_done, self._total)
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
        """Return the readings of each document, or the error that prevented them."""
        outcomes = [document.finish() for document in self._documents]
        return [
            outcome
            if isinstance(outcome, ModelError)
            else [replace(reading, short_of_memory=self._short_of_memory) for reading in outcome]
            for outcome in outcomes
        ]

    def _unread(self) -> list[Piece]:
        """Set the results of an interrupted run; return the pieces still to be fed."""
        pieces = [piece for document in self._documents for piece in document.pieces]
        if self.stored_pieces is None:
            return pieces
        read, fed = list[Piece](), set[Piece]()
        for piece in pieces:
            numbers = None if piece.text.document.over else self.stored_pieces.find(piece.digest)
            if numbers is None:
                # A source is fed again, since its states were not stored.
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
                self._work_done += self._work([piece])
        return [piece for piece in pieces if piece in fed]

    def _tick(self) -> None:
        """Count a layer or tile as done."""
        self.checkpoint()
        self._work_done = min(self._work_done + self._work_per_tick, self._total)
        self.progress(self._work_done, self._total)

    def _step(self, piece: Piece) -> int:
        return step_of(piece, self.tiling.chunk, self.chunk)

    def _plan(self, pieces: Iterable[Piece]) -> None:
        """Queue pieces in the order in which they are fed."""
        self._queue = deque(
            plan_batches(
                pieces,
                max_inputs=self.tiling.chunk,
                chunk=self.chunk,
                masks=self._passes.takes_masks,
            )
        )
        self._count()

    def _count(self) -> None:
        self._total = self._work_done + sum(self._work(batch.pieces) for batch in self._queue)

    def _work(self, pieces: Iterable[Piece]) -> int:
        """Return the multiplications that some pieces take, without attention."""
        layers, head = self._passes.weights, self.model.head.weight.numel()
        return sum(piece.size * layers + piece.rows * head for piece in pieces)

    def _attempt(self, batch: Batch) -> bool:
        """Feed a batch; return False if memory was short."""
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
            if len(pieces) > 1:  # one of them may be at fault: feed each alone
                self._alone(pieces)
            else:
                document = pieces[0].text.document
                document.error = ModelError("model.failed", kind=type(error).__name__)
                self._leave(document)
        else:
            for piece in pieces:
                piece.done()
                if self.stored_pieces is not None and not piece.text.document.over:
                    self.stored_pieces.add(piece.digest, piece.numbers)
        return True

    def _alone(self, pieces: Sequence[Piece]) -> None:
        """Feed some pieces next, one after the other."""
        self._queue.extendleft(PlainBatch((piece,)) for piece in reversed(pieces))
        self._count()

    def _feed(self, batch: Batch) -> None:
        """Feed a batch; a look may end its document half-way."""
        pieces, step = batch.pieces, self._step(batch.pieces[0])
        passes = -(-pieces[0].size // step) if len(pieces) == 1 else 1
        layers = sum(piece.size for piece in pieces) * self._passes.weights
        self._work_per_tick = layer_work = layers // (passes * max(1, len(self._passes.layers)))
        for outputs in self._passes.feed(batch, step):
            if outputs:
                self._sum_up(outputs)
                self._work_per_tick = layer_work
            for text, first, hidden in outputs:
                if text.document.show(text, first, len(hidden)):
                    self._leave(text.document)
            if all(piece.text.document.over for piece in pieces):
                return

    def _leave(self, document: PlannedDocument) -> None:
        """Remove the pieces of a document from the queue."""
        left = (batch.without(document) for batch in self._queue)
        self._queue = deque(batch for batch in left if batch is not None)
        document.forget()
        self._count()

    def _sum_up(self, outputs: Sequence[TokenStates]) -> None:
        """Set the results of the tokens that some hidden states predict."""
        import torch

        hidden = torch.cat([output.hidden for output in outputs])
        aims = np.concatenate([f.text.reading.ids[f.first :][: len(f.hidden)] for f in outputs])
        targets = torch.from_numpy(aims).to(hidden.device)
        tiles = tile_count(
            self.model.head, len(hidden), len(self.orders), self.profile, self.tiling
        )
        self._work_per_tick = len(hidden) * self.model.head.weight.numel() // tiles
        sums = row_sums(
            self.model.head, hidden, targets, self.orders, self.profile, self.tiling, self._tick
        )
        begin = 0
        for text, first, h in outputs:
            text.write(first, sums, slice(begin, begin + len(h)))
            begin += len(h)

    def _shrink(self) -> None:
        """Release memory, and continue with smaller pieces.

        Raises:
            ModelError: The pieces cannot become smaller.
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

    message = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in message
        or "can't allocate memory" in message
    )

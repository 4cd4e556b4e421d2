"""Passes of a model's network over pieces: side by side, in steps, or many in one row.

Pieces that begin with the states of others stand in one row behind those. A mask lets every token
see the states that its piece begins with and the piece up to itself, and positions are given, so
that nothing is copied for a piece and the numbers are those of a pass over its whole window.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.model.batches import Batch, MaskedBatch, PlainBatch, Row, size_of
from pura.model.head import decoder_of
from pura.model.load import LanguageModel
from pura.model.pieces import Piece, PlannedText, States

if TYPE_CHECKING:
    import torch


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

    @functools.cached_property
    def keeps_states(self) -> bool:
        """Whether every layer's cache keeps all that it was given."""
        from transformers.cache_utils import DynamicLayer

        return all(type(layer) is DynamicLayer for layer in self._cache().layers)

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
        cache = self._cache() if cached else None
        if first.begin:
            _put(cache, _states(pieces))
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
        import torch

        pieces, rows = batch.pieces, batch.rows
        cache, width = None, max(size_of(row) for row in rows)
        if any(_begun(pieces).values()):
            cache = self._cache()
            _put(cache, _states(pieces), grows=False)
        ids = self._ids(_filled([np.concatenate([p.inputs for p in row]) for row in rows], width))
        places = [np.concatenate([p.begin + np.arange(p.size) for p in row]) for row in rows]
        see = torch.from_numpy(np.stack([_seen(row, width) for row in rows])).to(ids.device)
        mask = torch.zeros(see.shape, dtype=self._model.head.weight.dtype, device=ids.device)
        mask.masked_fill_(~see, torch.finfo(mask.dtype).min)
        out = self._decoder(
            input_ids=ids,
            attention_mask=mask[:, None],
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

    def _ids(self, numbers: npt.NDArray[np.int64]) -> torch.Tensor:
        import torch

        return torch.from_numpy(numbers).to(self._model.head.weight.device)

    def _cache(self) -> Any:
        from transformers import DynamicCache

        return DynamicCache(config=self._model.network.config)


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


def _filled(rows: Sequence[npt.NDArray[np.int64]], width: int) -> npt.NDArray[np.int64]:
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


def _seen(row: Row, width: int) -> npt.NDArray[np.bool_]:
    """Return which columns each input of a row sees: states that were kept, then the row itself.

    A column is an input of some piece at some place in its window. An input sees those of its own
    piece up to itself, and those of the source before the place at which the piece begins.

    Args:
        row: The pieces.
        width: How long the row is with what fills it up.

    Returns:
        bool [Q, S + Q].
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
    return np.asarray(among | before)


def _put(cache: Any, states: States, *, grows: bool = True) -> None:
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

"""Feeding windows to the network, some side by side, and summing up what comes out of it."""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.base.errors import ModelError
from pura.model.batches import Batch, Place, batches
from pura.model.differences import Patches, patches
from pura.model.head import decoder_of
from pura.model.load import LanguageModel
from pura.model.orders import Orders
from pura.model.reading import Reading
from pura.model.shared import LEAST, Share, States, keeps_states, put_states, shares, states_of
from pura.model.tiles import Tiling, row_sums, tile_count
from pura.model.windows import Window
from pura.scheme import Profile

if TYPE_CHECKING:
    import torch

Look = Callable[[Reading], bool]


@dataclass(kw_only=True, eq=False)
class _Document:
    """The texts of one document, by their numbers among all.

    Attributes:
        first: Its first text.
        texts: How many it has.
        look: Looks at the first one.
        known: Tokens of the first text that are known, from its beginning.
        stopped: Tokens of the first text after which the look had seen enough.
        error: Why it cannot be read.
    """

    first: int
    texts: int
    look: Look | None
    known: int = 0
    stopped: int | None = None
    error: ModelError | None = None

    @property
    def over(self) -> bool:
        return self.stopped is not None or self.error is not None


class _Part(NamedTuple):
    """Outputs of a piece that predict tokens: which ones, and the first token."""

    rows: slice
    first: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Row:
    """A window as it is fed, after the first inputs, of which the states are known."""

    place: Place
    window: Window
    begin: int
    states: States | None

    @property
    def size(self) -> int:
        return int(self.window.inputs.size) - self.begin

    def part(self, start: int, width: int) -> _Part | None:
        """Return which outputs of a piece are wanted; None for none of them."""
        skip = max(self.window.first - self.begin - start, 0)
        stop = min(self.size - start, width)
        if skip >= stop:
            return None
        first = self.window.target + self.begin + start + skip - self.window.first
        return _Part(rows=slice(skip, stop), first=first)


@dataclass(kw_only=True, eq=False)
class Feeding:
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
    _documents: list[_Document] = field(default_factory=list, init=False)
    _owner: list[_Document] = field(default_factory=list, init=False)
    _texts: list[npt.NDArray[np.int64]] = field(default_factory=list, init=False)
    _results: list[Reading] = field(default_factory=list, init=False)
    _windows: dict[Place, Window] = field(default_factory=dict, init=False)
    _shares: dict[Place, Share] = field(default_factory=dict, init=False)
    _copies: list[tuple[int, int, Patches]] = field(default_factory=list, init=False)
    _kept: dict[Place, States] = field(default_factory=dict, init=False)
    _queue: deque[Batch] = field(default_factory=deque, init=False)
    _done: int = field(default=0, init=False)
    _total: int = field(default=0, init=False)
    _short_of_memory: bool = field(default=False, init=False)

    def add(
        self,
        texts: Sequence[npt.NDArray[np.int64]],
        windows: Sequence[Sequence[Window]],
        look: Look | None,
        context: int,
    ) -> None:
        """Add a document.

        Args:
            texts: Its readings.
            windows: How each is cut.
            look: Who looks at the first one.
            context: Longest input in tokens.
        """
        first, keys = len(self._texts), len(self.orders)
        document = _Document(first=first, texts=len(texts), look=look)
        self._documents.append(document)
        taken = shares(texts, windows)
        for text, (ids, mine) in enumerate(zip(texts, windows, strict=True)):
            self._texts.append(ids)
            self._owner.append(document)
            self._results.append(_blank(ids, keys, len(mine)))
            patched = self._patched(texts, windows, text, context) if text else None
            if patched is None:
                for number, (window, share) in enumerate(zip(mine, taken[text], strict=True)):
                    self._put(first + text, number, window, share, first)
                continue
            self._copies.append((first + text, first, patched))
            for number, (window, inputs) in enumerate(
                zip(patched.windows, patched.shared, strict=True)
            ):
                share = Share(text=0, window=0, inputs=inputs, whole=False)
                self._put(first + text, number, window, share if inputs >= LEAST else None, first)

    def _put(self, text: int, number: int, window: Window, share: Share | None, first: int) -> None:
        self._windows[text, number] = window
        if share is not None:
            self._shares[text, number] = replace(share, text=first + share.text)

    def _patched(
        self,
        texts: Sequence[npt.NDArray[np.int64]],
        windows: Sequence[Sequence[Window]],
        text: int,
        context: int,
    ) -> Patches | None:
        """Say how a text is read where it differs from the first one; None for any other."""
        if len(windows[0]) != 1 or len(windows[text]) != 1 or not keeps_states(_cache(self.model)):
            return None
        theirs, mine = windows[0][0], windows[text][0]
        same = (mine.first, mine.target) == (theirs.first, theirs.target)
        before = slice(0, theirs.first + (theirs.target == 0))
        if not same or not np.array_equal(mine.inputs[before], theirs.inputs[before]):
            return None
        if np.array_equal(texts[text], texts[0]):
            return None
        return patches(texts[text], texts[0], theirs, context=context)

    def run(self) -> None:
        """Feed everything; a batch for which memory is short is fed again in smaller pieces."""
        self._queue = self._plan(list(self._windows))
        self._count()
        with _between_layers(self.model, self._tick):
            while self._queue:
                batch = self._queue.popleft()
                if not self._attempt(batch):
                    self._shrink()
                    self._queue = self._plan([*batch, *(p for b in self._queue for p in b)])
                    self._count()
                needed = {self._source(p) for b in self._queue for p in b if p in self._shares}
                self._kept = {p: states for p, states in self._kept.items() if p in needed}
        if self.progress is not None and self._windows:
            self.progress(self._total, self._total)

    def finish(self) -> list[list[Reading] | ModelError]:
        """Return the readings of each document, or why it has none."""
        for text, other, patched in self._copies:
            if not self._owner[text].over:
                self._results[text] = _copied(self._results[text], self._results[other], patched)
        return [self._finished(document) for document in self._documents]

    def _finished(self, document: _Document) -> list[Reading] | ModelError:
        if document.error is not None:
            return document.error
        results = self._results[document.first : document.first + document.texts]
        if document.stopped is not None:
            results = [results[0].first(document.stopped)]
        for result in results:
            if not (np.isfinite(result.entropy_bits).all() and np.isfinite(result.lo).all()):
                return ModelError("model.not-finite", code="model-damaged")
        return [replace(result, short_of_memory=self._short_of_memory) for result in results]

    def _tick(self) -> None:
        """One layer or one tile is through."""
        if self.checkpoint is not None:
            self.checkpoint()
        self._done = min(self._done + 1, self._total)
        if self.progress is not None:
            self.progress(self._done, self._total)

    def _source(self, place: Place) -> Place:
        share = self._shares[place]
        return share.text, share.window

    def _size(self, place: Place) -> int:
        """How many inputs of a window are fed."""
        share = self._shares.get(place)
        if share is None:
            return int(self._windows[place].inputs.size)
        return 0 if share.whole else int(self._windows[place].inputs.size) - share.inputs

    def _step(self, place: Place) -> int:
        """How many inputs of a window go through the network together when it is fed alone."""
        document, most = self._owner[place[0]], self.tiling.chunk
        looked_at = document.look is not None and place[0] == document.first
        return most if self.chunk is None or not looked_at else min(most, self.chunk)

    def _plan(self, places: Sequence[Place]) -> deque[Batch]:
        """Put windows in order: what is looked at, and may end everything, before the rest."""
        places = [p for p in places if not self._owner[p[0]].over]
        later = [p for p in places if (o := self._owner[p[0]]).look and p[0] != o.first]
        waiting = set(later)
        size = {p: self._size(p) for p in places}
        source = {p: self._source(p) for p in places if p in self._shares}
        return deque(
            batch
            for some in ([p for p in places if p not in waiting], later)
            for batch in batches(
                some, size=size, source=source, most=self.tiling.chunk, alone=self._step
            )
        )

    def _count(self) -> None:
        self._total = self._done + sum(self._ticks(batch) for batch in self._queue)

    def _ticks(self, batch: Batch) -> int:
        """How many ticks a batch takes."""
        fed = [p for p in batch if self._size(p)]
        if not fed:
            return 0
        width = max(self._size(p) for p in fed)
        chunks = -(-width // self._step(fed[0])) if len(fed) == 1 else 1
        rows = sum(
            w.count - max(int(w.inputs.size) - self._size(p) - w.first, 0)
            for p in fed
            for w in [self._windows[p]]
        )
        tiles = tile_count(self.model.head, rows, len(self.orders), self.profile, self.tiling)
        return chunks * len(_layers(self.model)) + tiles

    def _attempt(self, batch: Batch) -> bool:
        """Feed a batch; False where memory was short."""
        try:
            self._feed(batch)
        except (MemoryError, RuntimeError) as error:
            if _is_out_of_memory(error):
                return False
            if len(batch) > 1:  # one of them may be at fault: the others go alone
                self._queue.extendleft((place,) for place in reversed(batch))
                self._count()
            else:
                document = self._owner[batch[0][0]]
                document.error = ModelError("model.failed", kind=type(error).__name__)
                self._leave(document)
        return True

    def _leave(self, document: _Document) -> None:
        """Leave out what is still to be read of a document."""
        left = (tuple(p for p in b if self._owner[p[0]] is not document) for b in self._queue)
        self._queue = deque(batch for batch in left if batch)
        self._count()

    def _feed(self, batch: Batch) -> None:
        """Feed windows side by side and sum up the rows whose next token belongs to them."""
        rows = self._rows(batch)
        if not rows:
            return
        inputs = self._inputs(rows)
        width = int(inputs.shape[1])
        step = self._step(rows[0].place) if len(rows) == 1 else self.tiling.chunk // len(rows)
        keep = [self._wanted(row.place) for row in rows]
        begins = [row.begin for row in rows]
        cached = width > step or any(begins) or any(keep)
        cache = _cache(self.model) if cached else None
        if any(begins):
            put_states(cache, [row.states for row in rows], begins)
        network = decoder_of(self.model.network)
        for start in range(0, width, step):
            piece = inputs[:, start : start + step]
            out = network(
                input_ids=piece,
                past_key_values=cache,
                use_cache=cached,
                **_placed(network, begins, start, piece),
            ).last_hidden_state
            found = [
                (row.place[0], part.first, out[number, part.rows])
                for number, row in enumerate(rows)
                if (part := row.part(start, int(piece.shape[1]))) is not None
            ]
            if found:
                self._sum_up(found)
            for text, first, hidden in found:
                self._look(text, first, len(hidden))
            if len(rows) == 1 and self._owner[rows[0].place[0]].over:
                return
        for number, (row, count) in enumerate(zip(rows, keep, strict=True)):
            kept = states_of(cache, number, max(begins) - row.begin, count) if count else None
            if kept is not None:
                self._kept[row.place] = kept

    def _rows(self, batch: Batch) -> list[_Row]:
        """Return what is fed of each window; what others found is taken over."""
        rows = []
        for place in batch:
            window, share = self._windows[place], self._shares.get(place)
            if share is not None and share.whole:
                self._take_results(place, window.count)
                continue
            states = None if share is None else self._kept.get(self._source(place))
            begin = 0
            if share is not None and states is not None:
                begin = share.inputs
                self._take_results(place, max(begin - window.first, 0))
            rows.append(_Row(place=place, window=window, begin=begin, states=states))
        return rows

    def _inputs(self, rows: Sequence[_Row]) -> torch.Tensor:
        """Return what is fed, a row a window, filled up to the longest with whatever token."""
        import torch

        filled = np.zeros((len(rows), max(row.size for row in rows)), dtype=np.int64)
        for number, row in enumerate(rows):
            filled[number, : row.size] = row.window.inputs[row.begin :]
        return torch.from_numpy(filled).to(self.model.head.weight.device)

    def _wanted(self, place: Place) -> int:
        """Return how many inputs of a window others still take over; 0 for none."""
        return max(
            (
                self._shares[p].inputs
                for batch in self._queue
                for p in batch
                if p in self._shares and self._source(p) == place and not self._shares[p].whole
            ),
            default=0,
        )

    def _look(self, text: int, first: int, count: int) -> None:
        """Show what is known of a first text; where it is enough, the document is over."""
        document = self._owner[text]
        if text != document.first or document.look is None or document.over:
            return
        # The first token of a text may be predicted by nothing.
        if first <= max(document.known, 1):
            document.known = first + count
        if first + count > document.known or document.known >= self._texts[text].size:
            return
        if document.look(self._results[text].first(document.known)):
            document.stopped = document.known
            self._leave(document)

    def _take_results(self, place: Place, count: int) -> None:
        """Copy what was found for the same tokens of another text."""
        mine, theirs = self._results[place[0]], self._results[self._shares[place].text]
        at = slice(self._windows[place].target, self._windows[place].target + count)
        mine.entropy_bits[at] = theirs.entropy_bits[at]
        mine.probability[at] = theirs.probability[at]
        mine.lo[:, at], mine.hi[:, at] = theirs.lo[:, at], theirs.hi[:, at]

    def _sum_up(self, found: Sequence[tuple[int, int, torch.Tensor]]) -> None:
        """Write the results of tokens: number of the text, first token, hidden states."""
        import torch

        aims = np.concatenate([self._texts[t][first : first + len(h)] for t, first, h in found])
        hidden = torch.cat([h for *_, h in found])
        targets = torch.from_numpy(aims).to(hidden.device)
        sums = row_sums(
            self.model.head, hidden, targets, self.orders, self.profile, self.tiling, self._tick
        )
        entropy, probability = sums.entropy_bits.numpy(), sums.probability.numpy()
        lo, begin = sums.lo.numpy(), 0
        for text, first, h in found:
            result, at = self._results[text], slice(first, first + len(h))
            rows = slice(begin, begin + len(h))
            result.entropy_bits[at] = np.maximum(entropy[rows], 0.0)
            result.probability[at] = probability[rows]
            result.lo[:, at] = np.clip(lo[:, rows], 0.0, 1.0)
            result.hi[:, at] = np.clip(lo[:, rows] + probability[rows], 0.0, 1.0)
            begin += len(h)

    def _shrink(self) -> None:
        """Give memory back and go on with smaller pieces.

        Raises:
            ModelError: There is nothing left to make smaller.
        """
        import torch

        self._kept.clear()
        if self.model.device.kind == "cuda":
            torch.cuda.empty_cache()
        smaller = self.tiling.halved()
        if smaller is None:
            raise ModelError("model.memory-text", name=self.model.device.name, code="model-memory")
        self.tiling = smaller
        self._short_of_memory = True


def _blank(ids: npt.NDArray[np.int64], keys: int, windows: int) -> Reading:
    """Everything as for a token that nothing predicted."""
    return Reading(
        ids=np.array(ids, dtype=np.int64),
        entropy_bits=np.zeros(ids.size),
        probability=np.ones(ids.size),
        lo=np.zeros((keys, ids.size)),
        hi=np.ones((keys, ids.size)),
        windows=windows,
    )


def _copied(mine: Reading, theirs: Reading, patched: Patches) -> Reading:
    """Take over what another text says where a text does not differ from it."""
    to, of = patched.mine, patched.theirs
    mine.entropy_bits[to] = theirs.entropy_bits[of]
    mine.probability[to] = theirs.probability[of]
    mine.lo[:, to], mine.hi[:, to] = theirs.lo[:, of], theirs.hi[:, of]
    return replace(mine, taken=int(to.size))


def _placed(
    network: Any, begins: Sequence[int], start: int, piece: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Say where rows stand that took over beginnings of different lengths; else nothing."""
    import torch

    width, most = int(piece.shape[1]), max(begins)
    if min(begins) == most:
        return {}
    begun = torch.tensor(begins, device=piece.device)[:, None]
    columns = torch.arange(most + start + width, device=piece.device)
    placed = {"attention_mask": (columns[None] >= most - begun).to(torch.int64)}
    if "position_ids" in inspect.signature(network.forward).parameters:
        placed["position_ids"] = begun + start + torch.arange(width, device=piece.device)
    return placed


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    words = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in words
        or "can't allocate memory" in words
    )


def _cache(model: LanguageModel) -> Any:
    from transformers import DynamicCache

    return DynamicCache(config=model.network.config)


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
def _between_layers(model: LanguageModel, tick: Callable[[], None]) -> Iterator[None]:
    """Call ``tick`` after every layer, so that a long chunk can be stopped half-way."""
    me = threading.get_ident()

    def hook(*_: Any) -> None:
        if threading.get_ident() == me:  # another thread may read with the same model
            tick()

    handles = [layer.register_forward_hook(hook) for layer in _layers(model)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()

"""Division of the texts of a document into pieces that are fed to a network, and their results.

A text is cut into overlapping windows: each window after the first begins with tokens that were
read before, so that every prediction has at least that much context. With the prefix ``bos`` every
window begins with that token, as the model expects. A known prompt begins the first window only,
since it stands directly before the text; it does not reduce the tokens of the text in that window
as long as the model can read both.

A piece is a window of a text, or a stretch in which a text differs from another one. If its first
inputs are those of another piece, the states of that piece are used for them, and results for equal
tokens are copied after everything was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from pura.base.errors import ModelError
from pura.model.reading import Reading
from pura.scheme import F64, I64

if TYPE_CHECKING:
    from pura.model.tiles import RowSums


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of input.

    Attributes:
        inputs: int64 [N], token ids that are fed to the model.
        first: Position of the input with the first output that is needed.
        target: Token of the text that this output predicts; the next outputs predict the next ones.
    """

    inputs: I64
    first: int
    target: int

    @property
    def count(self) -> int:
        """Number of tokens of the text that this window predicts."""
        return int(self.inputs.size) - self.first


def plan(
    ids: I64,
    *,
    context: int,
    window: int | None = None,
    overlap: int | None = None,
    opening: Sequence[int] = (),
    prompt: Sequence[int] = (),
) -> list[Window]:
    """Cut a text into windows.

    Args:
        ids: int64 [L].
        context: Longest input in tokens, at least 4.
        window: Longest input without the prompt; None for ``context``.
        overlap: Tokens of a window that were read before; None for half of the window.
        opening: At most one token that begins every window.
        prompt: Tokens between the opening and the text. A prompt longer than half of the context
            loses its beginning if the text needs the room.

    Returns:
        Windows that predict every token once, in order. The first token of a text with neither
        opening nor prompt has no prediction.
    """
    window = context if window is None else min(window, context)
    overlap = window // 2 if overlap is None else min(overlap, window // 2)
    opened = np.asarray(opening, dtype=np.int64)
    before = np.asarray(prompt, dtype=np.int64)
    total = int(ids.size)
    needed = min(total - 1, window - opened.size)
    if opened.size + before.size + needed > context:
        available = max(context // 2, context - opened.size - needed)
        before = before[max(0, before.size - available) :]
    head = np.concatenate([opened, before])
    start = 0 if head.size else 1
    if total <= start:
        return []
    # Input p of the first window predicts token p + 1 - len(head).
    stop = min(needed, context - head.size)
    out = [
        Window(inputs=np.concatenate([head, ids[:stop]]), first=max(head.size - 1, 0), target=start)
    ]
    while stop < total - 1:
        # A long prompt may leave fewer tokens of the text than the overlap.
        keep = min(overlap, stop)
        begin = stop - keep
        fresh = min(total - 1 - stop, window - opened.size - keep)
        inputs = np.concatenate([opened, ids[begin : stop + fresh]])
        out.append(Window(inputs=inputs, first=int(opened.size) + keep, target=stop + 1))
        stop += fresh
    return out


AROUND: Final = 2
"""Tokens after a difference that are read again: those with other contexts, as a context is two
tokens long. 16 would give 1 to 2 % more evidence and cost four times as much (decision 033)."""

_SAME: Final = 8  # equal tokens in a row after which two texts count as equal again
_REACH: Final = 48  # longest difference, in tokens of either text
_WORTH: Final = 6  # least saving: tokens after the first difference, over tokens fed


@dataclass(frozen=True, kw_only=True, eq=False)
class Patch:
    """A stretch in which a text differs from another one.

    Attributes:
        window: Inputs of the stretch and those before it; it may predict nothing.
        source: Number of the other text's window that begins with the same inputs.
        shared: How many inputs both windows share.
        predicts_previous: Whether the last of them predicts the token before those that are wanted.
    """

    window: Window
    source: int
    shared: int
    predicts_previous: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Patches:
    """Plan for reading a text that differs from another one in some stretches.

    Attributes:
        stretches: The stretches that are fed.
        tokens: int64 [M], tokens with results that are copied.
        other_tokens: int64 [M], the tokens of the other text from which they are copied.
    """

    stretches: tuple[Patch, ...]
    tokens: I64
    other_tokens: I64


def patches(
    ids: I64,
    other_ids: I64,
    windows: Sequence[Window],
    other_windows: Sequence[Window],
    *,
    context: int,
) -> Patches | None:
    """Return the stretches to feed if another text is read too; None if little would be saved.

    Args:
        ids: int64 [L], the text.
        other_ids: int64 [M], the other text.
        windows: Windows of the text; the same prompt must precede both texts.
        other_windows: Windows of the other text.
        context: Longest input in tokens.
    """
    if not windows or not other_windows or np.array_equal(ids, other_ids):
        return None
    first_window, other_first = windows[0], other_windows[0]
    opening = (
        other_first.inputs[: other_first.first + 1]
        if other_first.target == 0
        else other_first.inputs[:0]
    )
    if (first_window.first, first_window.target) != (
        other_first.first,
        other_first.target,
    ) or not np.array_equal(first_window.inputs[: opening.size], opening):
        return None
    matches = aligned(ids, other_ids)
    before = np.concatenate([[-1], matches[:-1]])
    fresh = (matches < 0) | (matches != before + 1)
    number = np.arange(ids.size)
    last = np.maximum.accumulate(np.where(fresh, number, -AROUND))
    reread = number - last < AROUND
    edges = np.flatnonzero(np.diff(np.concatenate([[False], reread, [False]])))
    stretches = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end <= other_first.target:
            continue  # the first token has no prediction
        token = int(matches[begin - 1]) if begin else -1
        stretches.append(_after(token, ids[:end], begin, other_windows, context))
    fed = int(reread.sum())
    rest = ids.size - int(np.argmax(fresh)) if fresh.any() else 0
    if fed * _WORTH > rest or None in stretches:
        return None
    unchanged = np.flatnonzero(~reread)
    return Patches(
        stretches=tuple(stretch for stretch in stretches if stretch is not None),
        tokens=unchanged,
        other_tokens=matches[unchanged],
    )


def _after(
    token: int, ids: I64, begin: int, windows: Sequence[Window], context: int
) -> Patch | None:
    """Return the patch that feeds the last tokens of a text after a token of the other one.

    It begins with the window that predicts the token after that one or, if the stretch exceeds the
    longest input, with the next window.

    Args:
        token: Token of the other text; -1 for the beginning.
        ids: int64 [N], the text up to the end of the stretch.
        begin: First token of the stretch.
        windows: Windows of the other text.
        context: Longest input in tokens.
    """
    number = max(n for n, w in enumerate(windows) if n == 0 or w.target <= token + 1)
    for source in range(number, min(number + 2, len(windows))):
        window = windows[source]
        # Inputs up to that token; the last token of a text is not an input.
        upto = window.first + token + 2 - window.target
        shared = min(upto, int(window.inputs.size))
        fed = ids[begin - (upto - shared) : -1]
        # A later window may begin after the token.
        if shared + fed.size <= context and (source == number or upto > 1):
            target = begin + 1 - (upto - shared)
            stretch = Window(
                inputs=np.concatenate([window.inputs[:shared], fed]), first=shared, target=target
            )
            return Patch(
                window=stretch, source=source, shared=shared, predicts_previous=0 < shared == upto
            )
    return None


def aligned(ids: I64, other_ids: I64) -> I64:
    """Return for every token of a text the matching token of another one, increasing, or -1.

    The match is greedy: after a difference both texts continue at the nearest positions from which
    some tokens in a row are equal. If there are none, the rest counts as different.
    """
    matches = np.full(ids.size, -1, dtype=np.int64)
    i = j = 0
    while i < ids.size and j < other_ids.size:
        size = min(ids.size - i, other_ids.size - j)
        unequal = np.flatnonzero(ids[i : i + size] != other_ids[j : j + size])
        equal = int(unequal[0]) if unequal.size else size
        matches[i : i + equal] = np.arange(j, j + equal)
        i, j = i + equal, j + equal
        step = _step(ids[i : i + _REACH + _SAME], other_ids[j : j + _REACH + _SAME])
        if step is None:
            break
        i, j = i + step[0], j + step[1]
    return matches


def _step(ids: I64, other_ids: I64) -> tuple[int, int] | None:
    """Return the distance of both texts to their next equal run; None if there is none."""
    runs, other_runs = (
        [x[k : k + _SAME].tobytes() for k in range(x.size - _SAME + 1)] for x in (ids, other_ids)
    )
    for distance in range(1, len(runs) + len(other_runs)):
        for i in range(max(0, distance - len(other_runs) + 1), min(distance + 1, len(runs))):
            if runs[i] == other_runs[distance - i]:
                return i, distance - i
    return None


MIN_SHARED_INPUTS: Final = 32  # with fewer shared inputs, copying states costs more than it saves


@dataclass(frozen=True, kw_only=True)
class Share:
    """The part of a window that it shares with another one.

    Attributes:
        text: Number of the text that is read before.
        window: Number of the window of that text.
        inputs: How many first inputs have their states taken from it.
        complete: Whether everything is equal, so that nothing is left to read.
    """

    text: int
    window: int
    inputs: int
    complete: bool


def shares(ids: Sequence[I64], windows: Sequence[Sequence[Window]]) -> list[list[Share | None]]:
    """Return for each window of each text the part that it shares with an earlier text.

    Args:
        ids: int64 [L] of each text.
        windows: Windows of each text.
    """
    return [
        [
            max(
                (
                    share
                    for earlier in range(text)
                    if number < len(windows[earlier])
                    and (share := _share(ids, windows, text, earlier, number)) is not None
                ),
                # Among about equal ones the earliest, so that few states are kept at a time.
                key=lambda share: (share.complete, share.inputs // MIN_SHARED_INPUTS, -share.text),
                default=None,
            )
            for number in range(len(windows[text]))
        ]
        for text in range(len(ids))
    ]


def _share(
    ids: Sequence[I64],
    windows: Sequence[Sequence[Window]],
    text: int,
    earlier: int,
    number: int,
) -> Share | None:
    window, other_window = windows[text][number], windows[earlier][number]
    alike = (window.first, window.target) == (other_window.first, other_window.target)
    if not alike and number:
        return None  # windows that begin at different tokens of the text
    size = min(window.inputs.size, other_window.inputs.size)
    differs = np.flatnonzero(window.inputs[:size] != other_window.inputs[:size])
    equal = int(differs[0]) if differs.size else size
    if not alike:
        # Prompts of different lengths: no result is copied, so the states end before the text.
        equal = min(equal, window.first, other_window.first)
    aims = slice(window.target, window.target + window.count)
    if (
        alike
        and equal == window.inputs.size == other_window.inputs.size
        and np.array_equal(ids[text][aims], ids[earlier][aims])
    ):
        return Share(text=earlier, window=number, inputs=equal, complete=True)
    # The token after the last equal input differs, so the output of that input is needed again.
    if equal <= MIN_SHARED_INPUTS:
        return None
    return Share(text=earlier, window=number, inputs=equal - 1, complete=False)


Look = Callable[[Reading], bool]


class ReadPieces(Protocol):
    """Storage in which the results of pieces outlive an interrupted run."""

    def find(self, digest: bytes) -> F64 | None:
        """Return the results of a piece that was read before, float64 [2 + 2K, N]."""

    def add(self, digest: bytes, numbers: F64) -> None:
        """Store the results of a piece."""


States = list[tuple[Any, Any]]
"""Keys and values of every layer, for the first inputs of a window."""


@dataclass(kw_only=True, eq=False)
class Piece:
    """A window in the form in which it is fed.

    Attributes:
        text: The text of the window.
        window: All inputs, and the outputs that are needed.
        source: The piece that is read before and begins with the same inputs, or None.
        begin: How many first inputs have their states taken from the source and are not fed.
        shared_inputs: How many first inputs of this piece other pieces begin with.
        takers: How many of those pieces are still to be read.
        states: States of the first ``shared_inputs`` inputs, while takers are still to be read.
        extra_targets: Predictions for other texts: text, token, and the position in the
            window of the input whose output it is.
    """

    text: PlannedText
    window: Window
    source: Piece | None = None
    begin: int = 0
    shared_inputs: int = 0
    takers: int = 0
    states: States | None = None
    extra_targets: list[tuple[PlannedText, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.source is not None:
            self.source.shared_inputs = max(self.source.shared_inputs, self.begin)
            self.source.takers += 1

    @property
    def source_is_lost(self) -> bool:
        """Whether the states that the piece begins with are missing."""
        return self.source is not None and self.source.states is None

    def feed_whole(self) -> None:
        """Feed all inputs instead of using the states of another piece."""
        if self.source is not None:
            self.source.takers -= 1
            self.source, self.begin = None, 0

    @property
    def inputs(self) -> I64:
        """The inputs that are fed."""
        return self.window.inputs[self.begin :]

    @property
    def size(self) -> int:
        """Number of inputs that are fed."""
        return int(self.window.inputs.size) - self.begin

    @property
    def rows(self) -> int:
        """Number of predictions that are needed."""
        return self.size - max(self.window.first - self.begin, 0) + len(self.extra_targets)

    def wanted(self, start: int, width: int) -> tuple[slice, int] | None:
        """Return which outputs of some inputs are needed, and the first token that they predict.

        Args:
            start: First of these inputs, counted among those that are fed.
            width: Number of these inputs.
        """
        skip = max(self.window.first - self.begin - start, 0)
        stop = min(self.size - start, width)
        if skip >= stop:
            return None
        first = self.window.target + self.begin + start + skip - self.window.first
        return slice(skip, stop), first

    @property
    def predicted(self) -> list[tuple[PlannedText, slice]]:
        """The texts, and their tokens, that the outputs predict."""
        outputs = self.wanted(0, self.size)
        extra = [(text, slice(token, token + 1)) for text, token, _ in self.extra_targets]
        if outputs is None:
            return extra
        rows, first = outputs
        return [(self.text, slice(first, first + rows.stop - rows.start)), *extra]

    @property
    def digest(self) -> bytes:
        """16 bytes that identify inputs and predicted tokens, independent of the document."""
        digest = blake2b(self.window.inputs.tobytes(), digest_size=16)
        for text, tokens in self.predicted:
            digest.update(b"|" + text.reading.ids[tokens].tobytes())
        digest.update(f"|{self.window.first}|{self.begin}".encode())
        return digest.digest()

    @property
    def numbers(self) -> F64:
        """Results for the predicted tokens, float64 [2 + 2K, N]."""
        return np.hstack([text.numbers(tokens) for text, tokens in self.predicted])

    def put_numbers(self, numbers: F64) -> None:
        """Set the results that an interrupted run stored."""
        begin = 0
        for text, tokens in self.predicted:
            end = begin + tokens.stop - tokens.start
            text.put_numbers(tokens, numbers[:, begin:end])
            begin = end

    def done(self) -> None:
        """Mark the piece as read, and drop states that no other piece needs."""
        if self.source is not None:
            self.source.takers -= 1
            if not self.source.takers:
                self.source.states = None


@dataclass(kw_only=True, eq=False)
class PlannedText:
    """One text of a document.

    Attributes:
        document: The document of the text.
        reading: Results so far.
        pieces: The pieces that read its windows; equal windows of two texts have one piece.
    """

    document: PlannedDocument
    reading: Reading
    pieces: list[Piece] = field(default_factory=list)
    # Results to copy: the other text, its tokens, and the tokens of this text.
    _takes: list[tuple[PlannedText, slice | I64, slice | I64]] = field(
        default_factory=list, init=False
    )

    @property
    def looked_at(self) -> bool:
        """Whether intermediate results of the text are looked at."""
        return self.document.look is not None and self is self.document.texts[0]

    @property
    def waits(self) -> bool:
        """Whether the text waits for the first one: it costs about as much to read."""
        return self.document.look is not None and not (self.looked_at or self.reading.taken)

    def patch(self, other_text: PlannedText, patched: Patches) -> None:
        """Plan the stretches in which the text differs from another one."""
        self.reading = replace(self.reading, taken=int(patched.tokens.size))
        self._takes.append((other_text, patched.other_tokens, patched.tokens))
        for stretch in patched.stretches:
            source, window = other_text.pieces[stretch.source], stretch.window
            if stretch.predicts_previous:
                source.extra_targets.append((self, window.target - 1, stretch.shared - 1))
            if window.count:
                self.pieces.append(
                    Piece(text=self, window=window, source=source, begin=stretch.shared)
                )

    def put(self, window: Window, source: Piece | None, share: Share | None) -> None:
        """Plan the next window; reuse another piece as far as both are equal."""
        if source is None or share is None:
            self.pieces.append(Piece(text=self, window=window))
            return
        count = window.count if share.complete else max(share.inputs - window.first, 0)
        same = slice(window.target, window.target + count)
        self._takes.append((source.text, same, same))
        if share.complete:
            self.pieces.append(source)
        else:
            self.pieces.append(Piece(text=self, window=window, source=source, begin=share.inputs))

    def write(self, first: int, sums: RowSums, rows: slice) -> None:
        """Set the results of the tokens from ``first`` on from some rows of sums."""
        reading, probability = self.reading, sums.probability[rows].numpy()
        tokens, lo = slice(first, first + probability.size), sums.lo[:, rows].numpy()
        reading.entropy_bits[tokens] = np.maximum(sums.entropy_bits[rows].numpy(), 0.0)
        reading.probability[tokens] = probability
        reading.lo[:, tokens] = np.clip(lo, 0.0, 1.0)
        reading.hi[:, tokens] = np.clip(lo + probability, 0.0, 1.0)

    def numbers(self, tokens: slice) -> F64:
        """Return the results of some tokens, float64 [2 + 2K, N]."""
        r = self.reading
        return np.vstack(
            [r.entropy_bits[tokens], r.probability[tokens], r.lo[:, tokens], r.hi[:, tokens]]
        )

    def put_numbers(self, tokens: slice, numbers: F64) -> None:
        """Set the results that :meth:`numbers` returned in an interrupted run."""
        r = self.reading
        r.entropy_bits[tokens], r.probability[tokens] = numbers[:2]
        r.lo[:, tokens], r.hi[:, tokens] = np.split(numbers[2:], 2)
        self.reading = replace(r, resumed=r.resumed + numbers.shape[1])

    def take(self) -> None:
        """Copy results from other texts, which must be complete."""
        reading = self.reading
        for text, source_tokens, tokens in self._takes:
            source = text.reading
            reading.entropy_bits[tokens] = source.entropy_bits[source_tokens]
            reading.probability[tokens] = source.probability[source_tokens]
            reading.lo[:, tokens], reading.hi[:, tokens] = (
                source.lo[:, source_tokens],
                source.hi[:, source_tokens],
            )


@dataclass(kw_only=True, eq=False)
class PlannedDocument:
    """The texts of one document.

    Attributes:
        look: Called with the results of the first text so far; returns True to stop reading.
        texts: The texts of the document.
        stopped: Tokens of the first text after which ``look`` stopped reading.
        error: The error that prevents reading.
    """

    look: Look | None
    texts: list[PlannedText] = field(default_factory=list)
    stopped: int | None = None
    error: ModelError | None = None
    _tokens_read: int = field(default=0, init=False)

    @classmethod
    def of(
        cls,
        texts: Sequence[I64],
        windows: Sequence[Sequence[Window]],
        look: Look | None,
        *,
        keys: int,
        context: int,
        states: bool,
    ) -> PlannedDocument:
        """Plan the pieces of a document.

        Args:
            texts: int64 [L] each.
            windows: Windows of each text.
            look: Called with the results of the first text so far.
            keys: Number of keys, one row of intervals each.
            context: Longest input in tokens.
            states: Whether the model's states can be kept, so that pieces can share them.
        """
        document = cls(look=look)
        for ids, text_windows in zip(texts, windows, strict=True):
            reading = blank(ids, keys, len(text_windows))
            document.texts.append(PlannedText(document=document, reading=reading))
        patched = [
            patches(ids, texts[0], text_windows, windows[0], context=context)
            if number and states
            else None
            for number, (ids, text_windows) in enumerate(zip(texts, windows, strict=True))
        ]
        unpatched = [number for number, text_patches in enumerate(patched) if text_patches is None]
        shared = shares([texts[n] for n in unpatched], [windows[n] for n in unpatched])
        for number, window_shares in zip(unpatched, shared, strict=True):
            for window, share in zip(windows[number], window_shares, strict=True):
                source = None
                if share is not None and (states or share.complete):
                    source = document.texts[unpatched[share.text]].pieces[share.window]
                document.texts[number].put(window, source, share)
        for text, text_patches in zip(document.texts, patched, strict=True):
            if text_patches is not None:
                text.patch(document.texts[0], text_patches)
        return document

    @property
    def pieces(self) -> list[Piece]:
        """All pieces of the document, each once."""
        return [piece for text in self.texts for piece in text.pieces if piece.text is text]

    @property
    def over(self) -> bool:
        """Whether reading of the document has ended."""
        return self.stopped is not None or self.error is not None

    def show(self, text: PlannedText, first: int, count: int) -> bool:
        """Show the results after some more tokens of a text; return True to stop reading.

        Args:
            text: The text; only the first one of a document is looked at.
            first: The first of these tokens.
            count: Number of these tokens.
        """
        if self.look is None or self.over or not text.looked_at:
            return False
        # The first token of a text may have no prediction.
        if first <= max(self._tokens_read, 1):
            self._tokens_read = first + count
        if first + count > self._tokens_read or self._tokens_read >= len(text.reading):
            return False
        if self.look(text.reading.first(self._tokens_read)):
            self.stopped = self._tokens_read
        return self.over

    def forget(self) -> None:
        """Release all kept states."""
        for piece in self.pieces:
            piece.states = None

    def finish(self) -> list[Reading] | ModelError:
        """Return the readings, or the error that prevented them."""
        if self.error is not None:
            return self.error
        if self.stopped is not None:
            readings = [self.texts[0].reading.first(self.stopped)]
        else:
            for text in self.texts:
                text.take()
            readings = [text.reading for text in self.texts]
        for reading in readings:
            if not (np.isfinite(reading.entropy_bits).all() and np.isfinite(reading.lo).all()):
                return ModelError("model.not-finite", code="model-not-finite")
        return readings


def blank(ids: I64, keys: int, windows: int) -> Reading:
    """Return a reading in which no token has a prediction."""
    return Reading(
        ids=np.array(ids, dtype=np.int64),
        entropy_bits=np.zeros(ids.size),
        probability=np.ones(ids.size),
        lo=np.zeros((keys, ids.size)),
        hi=np.ones((keys, ids.size)),
        windows=windows,
    )

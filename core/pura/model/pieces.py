"""The texts of a document as pieces that are fed to a network, and what is found for each token.

The text goes in windows that overlap: each window after the first begins with tokens that were read
before, so that what it predicts is predicted from at least so many. With the prefix ``bos`` every
window opens with that token, as the model expects; a known prompt opens the first window only,
since it stands before the text and nowhere else, and does not take from what the window holds of
the text as long as the model reads that much.

A piece is a window of a text, or a stretch in which a text differs from another one. Where its
first inputs are those of another piece, the states of that one stand for them, and numbers for the
same tokens are taken over when all is read.
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
    """One stretch of input.

    Attributes:
        inputs: int64 [N], what the model is fed.
        first: Input place whose output is the first one wanted.
        target: Text token that this output predicts; the next outputs predict the next tokens.
    """

    inputs: I64
    first: int
    target: int

    @property
    def count(self) -> int:
        """How many tokens of the text this window predicts."""
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
        window: Longest input without the prompt; ``context`` when None.
        overlap: Tokens of a window that were read before; half of it when None.
        opening: At most one token that opens every window.
        prompt: Tokens between the opening and the text. A prompt that takes more than half of
            the context, and more than the text leaves, loses its beginning.

    Returns:
        Windows that predict every token once, in order. The first token of a text with neither
        opening nor prompt is predicted by nothing and is left out.
    """
    window = context if window is None else min(window, context)
    overlap = window // 2 if overlap is None else min(overlap, window // 2)
    opened = np.asarray(opening, dtype=np.int64)
    before = np.asarray(prompt, dtype=np.int64)
    total = int(ids.size)
    wanted = min(total - 1, window - opened.size)
    if opened.size + before.size + wanted > context:
        available = max(context // 2, context - opened.size - wanted)
        before = before[max(0, before.size - available) :]
    head = np.concatenate([opened, before])
    start = 0 if head.size else 1
    if total <= start:
        return []
    # Input place p of the first window predicts token p + 1 - len(head).
    stop = min(wanted, context - head.size)
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
"""Tokens from the first equal one behind a difference on that are read anew: those whose contexts
differ where a context is two tokens. 16 give 1 to 2 % more evidence and cost four times as much
(decision 033)."""

_SAME: Final = 8  # tokens in a row that show that two texts go on alike
_REACH: Final = 48  # tokens of both texts that a difference may span
_WORTH: Final = 6  # so many times less must be fed than from the first difference on


@dataclass(frozen=True, kw_only=True, eq=False)
class Patch:
    """A stretch that differs.

    Attributes:
        window: What it is fed after, and itself; it may want nothing.
        source: The other text's window that begins alike …
        shared: … with so many inputs.
        asked: The output of the last of them predicts the token before those that are wanted.
    """

    window: Window
    source: int
    shared: int
    asked: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Patches:
    """How a text is read that differs from another one here and there.

    Attributes:
        stretches: What is fed.
        mine: int64 [M], tokens whose numbers are taken over …
        theirs: int64 [M] … from these tokens of the other text.
    """

    stretches: tuple[Patch, ...]
    mine: I64
    theirs: I64


def patches(
    mine: I64,
    theirs: I64,
    my_windows: Sequence[Window],
    their_windows: Sequence[Window],
    *,
    context: int,
) -> Patches | None:
    """Say how a text is read beside another one; None where little would be saved.

    Args:
        mine: int64 [L], the text.
        theirs: int64 [M], the other one.
        my_windows: How the text is cut; the same has to stand before both.
        their_windows: How the other one is cut.
        context: Longest input in tokens.
    """
    if not my_windows or not their_windows or np.array_equal(mine, theirs):
        return None
    own, first = my_windows[0], their_windows[0]
    opening = first.inputs[: first.first + 1] if first.target == 0 else first.inputs[:0]
    if (own.first, own.target) != (first.first, first.target) or not np.array_equal(
        own.inputs[: opening.size], opening
    ):
        return None
    place = aligned(mine, theirs)
    before = np.concatenate([[-1], place[:-1]])
    fresh = (place < 0) | (place != before + 1)
    number = np.arange(mine.size)
    last = np.maximum.accumulate(np.where(fresh, number, -AROUND))
    again = number - last < AROUND
    edges = np.flatnonzero(np.diff(np.concatenate([[False], again, [False]])))
    stretches = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end <= first.target:
            continue  # a first token that nothing predicts
        token = int(place[begin - 1]) if begin else -1
        stretches.append(_after(token, mine[:end], begin, their_windows, context))
    fed = int(again.sum())
    rest = mine.size - int(np.argmax(fresh)) if fresh.any() else 0
    if fed * _WORTH > rest or None in stretches:
        return None
    kept = np.flatnonzero(~again)
    return Patches(
        stretches=tuple(one for one in stretches if one is not None),
        mine=kept,
        theirs=place[kept],
    )


def _after(
    token: int, mine: I64, begin: int, windows: Sequence[Window], context: int
) -> Patch | None:
    """Return how the last tokens of a text are fed behind a token of the other one.

    The window that predicts what follows that token is taken, or the next one, if the stretch
    reaches beyond the longest input.

    Args:
        token: Of the other text; -1 for what stands before it.
        mine: int64 [N], the text up to the end of the stretch.
        begin: Where the stretch begins.
        windows: Of the other text.
        context: Longest input in tokens.
    """
    number = max(n for n, w in enumerate(windows) if n == 0 or w.target <= token + 1)
    for source in range(number, min(number + 2, len(windows))):
        window = windows[source]
        # Inputs up to that token. The last one of a text is none; before the first there is none.
        upto = window.first + token + 2 - window.target
        shared = min(upto, int(window.inputs.size))
        fed = mine[begin - (upto - shared) : -1]
        # A later window may begin behind the token.
        if shared + fed.size <= context and (source == number or upto > 1):
            target = begin + 1 - (upto - shared)
            found = Window(
                inputs=np.concatenate([window.inputs[:shared], fed]), first=shared, target=target
            )
            return Patch(window=found, source=source, shared=shared, asked=0 < shared == upto)
    return None


def aligned(mine: I64, theirs: I64) -> I64:
    """Return for every token of a text which token of another one it is, or -1; rising.

    Greedy: after a difference both go on at the nearest places from which on some tokens in a row
    are the same; where there are none, the rest is different.
    """
    place = np.full(mine.size, -1, dtype=np.int64)
    i = j = 0
    while i < mine.size and j < theirs.size:
        size = min(mine.size - i, theirs.size - j)
        unequal = np.flatnonzero(mine[i : i + size] != theirs[j : j + size])
        equal = int(unequal[0]) if unequal.size else size
        place[i : i + equal] = np.arange(j, j + equal)
        i, j = i + equal, j + equal
        step = _step(mine[i : i + _REACH + _SAME], theirs[j : j + _REACH + _SAME])
        if step is None:
            break
        i, j = i + step[0], j + step[1]
    return place


def _step(mine: I64, theirs: I64) -> tuple[int, int] | None:
    """Return how far both are from where they go on alike; None where they do not."""
    ours, others = (
        [x[k : k + _SAME].tobytes() for k in range(x.size - _SAME + 1)] for x in (mine, theirs)
    )
    for far in range(1, len(ours) + len(others)):
        for i in range(max(0, far - len(others) + 1), min(far + 1, len(ours))):
            if ours[i] == others[far - i]:
                return i, far - i
    return None


LEAST: Final = 32  # inputs below which taking over is not worth the copy


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one window takes over from another.

    Attributes:
        text: The text that was read before.
        window: Its window.
        inputs: How many of the first inputs it takes over.
        whole: Everything is equal: nothing is left to read.
    """

    text: int
    window: int
    inputs: int
    whole: bool


def shares(ids: Sequence[I64], windows: Sequence[Sequence[Window]]) -> list[list[Share | None]]:
    """Find for each window of each text what an earlier text has in common with it.

    Args:
        ids: int64 [L] of each text.
        windows: Of each text.
    """
    return [
        [
            max(
                (
                    share
                    for other in range(text)
                    if number < len(windows[other])
                    and (share := _share(ids, windows, text, other, number)) is not None
                ),
                # The earliest of about the best, so that few states are kept at a time.
                key=lambda share: (share.whole, share.inputs // LEAST, -share.text),
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
    other: int,
    number: int,
) -> Share | None:
    mine, theirs = windows[text][number], windows[other][number]
    alike = (mine.first, mine.target) == (theirs.first, theirs.target)
    if not alike and number:
        return None  # windows that begin at other tokens of the text
    size = min(mine.inputs.size, theirs.inputs.size)
    differs = np.flatnonzero(mine.inputs[:size] != theirs.inputs[:size])
    equal = int(differs[0]) if differs.size else size
    if not alike:
        # Prompts of other lengths: no result is taken over, so the states end before the text.
        equal = min(equal, mine.first, theirs.first)
    aims = slice(mine.target, mine.target + mine.count)
    if (
        alike
        and equal == mine.inputs.size == theirs.inputs.size
        and np.array_equal(ids[text][aims], ids[other][aims])
    ):
        return Share(text=other, window=number, inputs=equal, whole=True)
    # What the last equal input is followed by differs, so its own output is wanted again.
    if equal <= LEAST:
        return None
    return Share(text=other, window=number, inputs=equal - 1, whole=False)


Look = Callable[[Reading], bool]


class ReadPieces(Protocol):
    """Where the numbers of pieces outlive a run that is interrupted."""

    def find(self, digest: bytes) -> F64 | None:
        """Return the numbers of a piece that was read before, float64 [2 + 2K, N]."""

    def add(self, digest: bytes, numbers: F64) -> None:
        """Keep the numbers of a piece."""


States = list[tuple[Any, Any]]
"""Keys and values of every layer, for the first inputs of a window."""


@dataclass(kw_only=True, eq=False)
class Piece:
    """A window as it is fed.

    Attributes:
        text: Whose window.
        window: All inputs, and which outputs are wanted.
        source: The piece that is read before and begins with the same inputs; None for none.
        begin: How many of its first inputs stand for this piece's own and are not fed.
        kept: How many of this piece's first inputs stand for others'.
        takers: How many of those others are still to be read.
        states: Of the first ``kept`` inputs, while others are still to be read.
        asked: What its outputs predict in other texts as well: text, token, and the place in the
            window of the input whose output it is.
    """

    text: PlannedText
    window: Window
    source: Piece | None = None
    begin: int = 0
    kept: int = 0
    takers: int = 0
    states: States | None = None
    asked: list[tuple[PlannedText, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.source is not None:
            self.source.kept = max(self.source.kept, self.begin)
            self.source.takers += 1

    @property
    def source_is_lost(self) -> bool:
        """It begins with the states of another piece, and those are not there (any more)."""
        return self.source is not None and self.source.states is None

    def feed_whole(self) -> None:
        """Begin with nobody's states: all of its inputs are fed."""
        if self.source is not None:
            self.source.takers -= 1
            self.source, self.begin = None, 0

    @property
    def inputs(self) -> I64:
        """The inputs that are fed."""
        return self.window.inputs[self.begin :]

    @property
    def size(self) -> int:
        """How many inputs are fed."""
        return int(self.window.inputs.size) - self.begin

    @property
    def rows(self) -> int:
        """How many predictions are wanted of their outputs."""
        return self.size - max(self.window.first - self.begin, 0) + len(self.asked)

    def wanted(self, start: int, width: int) -> tuple[slice, int] | None:
        """Return which outputs of some inputs are wanted, and the first token that they predict.

        Args:
            start: The first of these inputs among those that are fed.
            width: How many there are.
        """
        skip = max(self.window.first - self.begin - start, 0)
        stop = min(self.size - start, width)
        if skip >= stop:
            return None
        first = self.window.target + self.begin + start + skip - self.window.first
        return slice(skip, stop), first

    @property
    def predicted(self) -> list[tuple[PlannedText, slice]]:
        """Which tokens of which texts its outputs predict."""
        own = self.wanted(0, self.size)
        asked = [(text, slice(token, token + 1)) for text, token, _ in self.asked]
        if own is None:
            return asked
        rows, first = own
        return [(self.text, slice(first, first + rows.stop - rows.start)), *asked]

    @property
    def digest(self) -> bytes:
        """16 bytes that say what is fed and predicted, whatever document it is part of."""
        made = blake2b(self.window.inputs.tobytes(), digest_size=16)
        for text, tokens in self.predicted:
            made.update(b"|" + text.reading.ids[tokens].tobytes())
        made.update(f"|{self.window.first}|{self.begin}".encode())
        return made.digest()

    @property
    def numbers(self) -> F64:
        """What was found for these tokens, float64 [2 + 2K, N]."""
        return np.hstack([text.numbers(tokens) for text, tokens in self.predicted])

    def put_numbers(self, numbers: F64) -> None:
        """Write down what an interrupted run found."""
        begin = 0
        for text, tokens in self.predicted:
            end = begin + tokens.stop - tokens.start
            text.put_numbers(tokens, numbers[:, begin:end])
            begin = end

    def done(self) -> None:
        """It was read: states that nobody else waits for are forgotten."""
        if self.source is not None:
            self.source.takers -= 1
            if not self.source.takers:
                self.source.states = None


@dataclass(kw_only=True, eq=False)
class PlannedText:
    """One text of a document.

    Attributes:
        document: Whose text.
        reading: What is known of it so far.
        pieces: The pieces in which its windows are read; that of an equal window of another text
            serves both.
    """

    document: PlannedDocument
    reading: Reading
    pieces: list[Piece] = field(default_factory=list)
    # Whose numbers are taken over: of which of its tokens, for which of this text's.
    _takes: list[tuple[PlannedText, slice | I64, slice | I64]] = field(
        default_factory=list, init=False
    )

    @property
    def looked_at(self) -> bool:
        """Somebody looks at it while it is read."""
        return self.document.look is not None and self is self.document.texts[0]

    @property
    def waits(self) -> bool:
        """It is read when the first text was looked at: it costs as much, or nearly."""
        return self.document.look is not None and not (self.looked_at or self.reading.taken)

    def patch(self, other: PlannedText, patched: Patches) -> None:
        """Read it in the stretches in which it differs from another one."""
        self.reading = replace(self.reading, taken=int(patched.mine.size))
        self._takes.append((other, patched.theirs, patched.mine))
        for one in patched.stretches:
            source, window = other.pieces[one.source], one.window
            if one.asked:
                source.asked.append((self, window.target - 1, one.shared - 1))
            if window.count:
                self.pieces.append(Piece(text=self, window=window, source=source, begin=one.shared))

    def put(self, window: Window, source: Piece | None, share: Share | None) -> None:
        """Read the next window, or take it over from another piece as far as they are equal."""
        if source is None or share is None:
            self.pieces.append(Piece(text=self, window=window))
            return
        count = window.count if share.whole else max(share.inputs - window.first, 0)
        same = slice(window.target, window.target + count)
        self._takes.append((source.text, same, same))
        if share.whole:
            self.pieces.append(source)
        else:
            self.pieces.append(Piece(text=self, window=window, source=source, begin=share.inputs))

    def write(self, first: int, sums: RowSums, rows: slice) -> None:
        """Write down what some rows of sums say of the tokens from ``first`` on."""
        reading, probability = self.reading, sums.probability[rows].numpy()
        at, lo = slice(first, first + probability.size), sums.lo[:, rows].numpy()
        reading.entropy_bits[at] = np.maximum(sums.entropy_bits[rows].numpy(), 0.0)
        reading.probability[at] = probability
        reading.lo[:, at] = np.clip(lo, 0.0, 1.0)
        reading.hi[:, at] = np.clip(lo + probability, 0.0, 1.0)

    def numbers(self, tokens: slice) -> F64:
        """Return what is known of some tokens, float64 [2 + 2K, N]."""
        r = self.reading
        return np.vstack(
            [r.entropy_bits[tokens], r.probability[tokens], r.lo[:, tokens], r.hi[:, tokens]]
        )

    def put_numbers(self, tokens: slice, numbers: F64) -> None:
        """Write down what :meth:`numbers` returned in an interrupted run."""
        r = self.reading
        r.entropy_bits[tokens], r.probability[tokens] = numbers[:2]
        r.lo[:, tokens], r.hi[:, tokens] = np.split(numbers[2:], 2)
        self.reading = replace(r, resumed=r.resumed + numbers.shape[1])

    def take(self) -> None:
        """Take over what other texts say, which are complete themselves."""
        mine = self.reading
        for text, there, here in self._takes:
            theirs = text.reading
            mine.entropy_bits[here] = theirs.entropy_bits[there]
            mine.probability[here] = theirs.probability[there]
            mine.lo[:, here], mine.hi[:, here] = theirs.lo[:, there], theirs.hi[:, there]


@dataclass(kw_only=True, eq=False)
class PlannedDocument:
    """The texts of one document.

    Attributes:
        look: Looks at what is known of the first one; True when that is enough.
        texts: Its texts.
        stopped: Tokens of the first text after which the look had seen enough.
        error: Why it cannot be read.
    """

    look: Look | None
    texts: list[PlannedText] = field(default_factory=list)
    stopped: int | None = None
    error: ModelError | None = None
    _known: int = field(default=0, init=False)

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
        """Say how a document is read.

        Args:
            texts: int64 [L] each.
            windows: How each is cut.
            look: Who looks at the first one.
            keys: How many rows of intervals there are.
            context: Longest input in tokens.
            states: The model's states can be kept, so that pieces may begin with those of others.
        """
        document = cls(look=look)
        for ids, mine in zip(texts, windows, strict=True):
            reading = blank(ids, keys, len(mine))
            document.texts.append(PlannedText(document=document, reading=reading))
        patched = [
            patches(ids, texts[0], mine, windows[0], context=context) if number and states else None
            for number, (ids, mine) in enumerate(zip(texts, windows, strict=True))
        ]
        whole = [number for number, one in enumerate(patched) if one is None]
        found = shares([texts[n] for n in whole], [windows[n] for n in whole])
        for number, taken in zip(whole, found, strict=True):
            for window, share in zip(windows[number], taken, strict=True):
                source = None
                if share is not None and (states or share.whole):
                    source = document.texts[whole[share.text]].pieces[share.window]
                document.texts[number].put(window, source, share)
        for text, one in zip(document.texts, patched, strict=True):
            if one is not None:
                text.patch(document.texts[0], one)
        return document

    @property
    def pieces(self) -> list[Piece]:
        """What is fed, each once."""
        return [piece for text in self.texts for piece in text.pieces if piece.text is text]

    @property
    def over(self) -> bool:
        """Nothing more of it is read."""
        return self.stopped is not None or self.error is not None

    def show(self, text: PlannedText, first: int, count: int) -> bool:
        """Show what is known after some more tokens of a text; True where it is enough.

        Args:
            text: Only the first one is looked at.
            first: The first of these tokens.
            count: How many there are.
        """
        if self.look is None or self.over or not text.looked_at:
            return False
        # The first token of a text may be predicted by nothing.
        if first <= max(self._known, 1):
            self._known = first + count
        if first + count > self._known or self._known >= len(text.reading):
            return False
        if self.look(text.reading.first(self._known)):
            self.stopped = self._known
        return self.over

    def forget(self) -> None:
        """Give kept states back."""
        for piece in self.pieces:
            piece.states = None

    def finish(self) -> list[Reading] | ModelError:
        """Return what was read, or why it could not be."""
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
    """Everything as for a token that nothing predicted."""
    return Reading(
        ids=np.array(ids, dtype=np.int64),
        entropy_bits=np.zeros(ids.size),
        probability=np.ones(ids.size),
        lo=np.zeros((keys, ids.size)),
        hi=np.ones((keys, ids.size)),
        windows=windows,
    )

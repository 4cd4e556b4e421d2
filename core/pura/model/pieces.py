"""The texts of a document as pieces that are fed to a network, and what is found for each token.

A piece is a window of a text, or a stretch in which a text differs from another one. Where its
first inputs are those of another piece, the states of that one stand for them
(:mod:`pura.model.differences`), and numbers for the same tokens are taken over when all is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.base.errors import ModelError
from pura.model.differences import Patches, Share, patches, shares
from pura.model.reading import Reading
from pura.model.windows import Window

if TYPE_CHECKING:
    from pura.model.tiles import RowSums

I64 = npt.NDArray[np.int64]
Look = Callable[[Reading], bool]


class SharedAnswer(NamedTuple):
    """A token of another text that an output of a piece predicts as well.

    Attributes:
        text: The other text.
        token: Its token.
        place: Of the input whose output it is, in the window.
    """

    text: PlannedText
    token: int
    place: int


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
        asked: What its outputs predict in other texts.
    """

    text: PlannedText
    window: Window
    source: Piece | None = None
    begin: int = 0
    kept: int = 0
    takers: int = 0
    states: States | None = None
    asked: list[SharedAnswer] = field(default_factory=list)

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

    def done(self) -> None:
        """It was read: states that nobody else waits for are forgotten."""
        if self.source is not None:
            self.source.takers -= 1
            if not self.source.takers:
                self.source.states = None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Take:
    """Numbers that another text says: of which of its tokens, for which of this text's."""

    text: PlannedText
    theirs: slice | I64
    mine: slice | I64


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
    _takes: list[_Take] = field(default_factory=list, init=False)

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
        self._takes.append(_Take(text=other, theirs=patched.theirs, mine=patched.mine))
        for one in patched.stretches:
            source, window = other.pieces[one.source], one.window
            if one.asked:
                source.asked.append(SharedAnswer(self, window.target - 1, one.shared - 1))
            if window.count:
                self.pieces.append(Piece(text=self, window=window, source=source, begin=one.shared))

    def put(self, window: Window, source: Piece | None, share: Share | None) -> None:
        """Read the next window, or take it over from another piece as far as they are equal."""
        if source is None or share is None:
            self.pieces.append(Piece(text=self, window=window))
            return
        count = window.count if share.whole else max(share.inputs - window.first, 0)
        same = slice(window.target, window.target + count)
        self._takes.append(_Take(text=source.text, theirs=same, mine=same))
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

    def take(self) -> None:
        """Take over what other texts say, which are complete themselves."""
        mine = self.reading
        for one in self._takes:
            theirs = one.text.reading
            mine.entropy_bits[one.mine] = theirs.entropy_bits[one.theirs]
            mine.probability[one.mine] = theirs.probability[one.theirs]
            mine.lo[:, one.mine], mine.hi[:, one.mine] = (
                theirs.lo[:, one.theirs],
                theirs.hi[:, one.theirs],
            )


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
                return ModelError("model.not-finite", code="model-damaged")
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

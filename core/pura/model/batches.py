"""In which order pieces are fed to the network, and which of them together.

Rows of about the same length share a pass, be they of one text or of many. What stands behind the
end of a shorter one changes nothing before it, so it needs no mask; and at most a tenth of a pass
is such padding. A row is a window. Pieces that begin with the states of others follow right behind
those, so that only a few states are kept at a time; where the model takes a mask, many of them
stand in one row, and those of a short window in that window's own row.

There are two types of batch, since a pass under a mask keeps no states: :class:`PlainBatch` and
:class:`MaskedBatch`. Each refuses what it cannot feed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pura.model.pieces import Piece, PlannedDocument

Row = tuple[Piece, ...]

PADDING: Final = 0.1  # share of a pass that may go on what is thrown away
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

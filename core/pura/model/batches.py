"""In which order pieces are fed to the network, and which of them together.

Rows of about the same length share a pass, be they of one text or of many. What stands behind the
end of a shorter one changes nothing before it, so it needs no mask; and at most a tenth of a pass
is such padding. A row is a window. Pieces that begin with the states of others follow right behind
those, so that only a few states are kept at a time; where the model takes a mask, many of them
stand in one row, and those of a short window in that window's own row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pura.model.pieces import Piece

Row = tuple[Piece, ...]
Batch = tuple[Row, ...]

PADDING: Final = 0.1  # share of a pass that may go on what is thrown away
MASK: Final = 1024  # numbers of a mask for every input that a batch may have

TOGETHER: Final = 384
"""Inputs up to which a window and what begins with its states make one row. Under a mask attention
reckons what a window of its own leaves out; from some 400 inputs on that costs more than a pass."""


def size_of(row: Row) -> int:
    """Return how many inputs of a row are fed."""
    return sum(piece.size for piece in row)


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

    def row(piece: Piece) -> Row:
        both = (piece, *behind[piece])
        joined = len(both) == 1 + piece.takers and not any(p.takers for p in behind[piece])
        return (
            both if masks and joined and size_of(both) <= min(TOGETHER, alone(piece)) else both[:1]
        )

    def put(some: Sequence[Piece]) -> None:
        rows = [row(piece) for piece in some if piece.source is None]
        for batch in _side_by_side(rows, most, alone):
            follow(batch)
        for behind_others in _in_a_row([p for p in some if p.source], most, alone, masks):
            follow((behind_others,))

    def follow(batch: Batch) -> None:
        out.append(batch)
        put([p for row in batch for source in row for p in behind[source] if p not in row])

    put(behind[None])
    return out


def _side_by_side(rows: Sequence[Row], most: int, alone: Callable[[Piece], int]) -> Iterator[Batch]:
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


def _in_a_row(
    pieces: Sequence[Piece], most: int, alone: Callable[[Piece], int], masks: bool
) -> Iterator[Row]:
    """Pieces that begin with kept states, as many as make a mask of bearable size.

    One whose own states are wanted goes alone: those of a row stand between others. Behind several
    sources the mask hides most of them, so that little is put behind more than one.
    """
    row: list[Piece] = []
    begun: dict[Piece | None, int] = {}
    fed = 0
    for piece in pieces:
        if piece.takers or piece.size > alone(piece) or not masks:
            yield (piece,)
            continue
        more = begun | {piece.source: max(begun.get(piece.source, 0), piece.begin)}
        inputs = fed + piece.size
        limit = most * MASK if len(more) == 1 else TOGETHER**2 // 2
        if row and (inputs > most or inputs * (inputs + sum(more.values())) > limit):
            yield tuple(row)
            row, inputs, more = [], piece.size, {piece.source: piece.begin}
        row.append(piece)
        fed, begun = inputs, more
    if row:
        yield tuple(row)

"""From the places of characters to those of tokens and passages on a page."""

from __future__ import annotations

from typing import Final

import numpy as np

from pura.documents.pages import SPAN, Places
from pura.scheme import F64, I64

_SAME_LINE: Final = 0.5  # of the height: boxes that share more of it stand on one line
_WIDE: Final = 2.0  # heights; a wider gap is one between columns


def page_of(places: Places, character: int) -> int:
    """Return the page on which a character stands, from 0."""
    return max(0, int(np.searchsorted(places.starts, character, side="right")) - 1)


def token_boxes(
    places: Places, spans: I64, page: int, size: tuple[float, float]
) -> tuple[F64, I64]:
    """Return where tokens stand on a page.

    Characters that stand on one line are put together; each box begins where the one before it on
    its line ends, so that the blank between two words belongs to the second, as in the text.

    Args:
        places: Where the characters of the text stand.
        spans: int64 [L, 2], the characters of each token.
        page: From 0.
        size: Its width and height, in any unit.

    Returns:
        float64 [R, 4], left, top, right and bottom as shares of the page, in the order of the text;
        int64 [R], the token of each. A token that goes over a line end has several boxes, one
        without a known place none.
    """
    edges = np.append(places.starts, len(places.boxes))
    start, end = int(edges[page]), int(edges[page + 1])
    scale = np.array([*size, *size]) / SPAN
    boxes = places.boxes[start:end] * scale
    place = np.flatnonzero((boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1]))
    token = np.searchsorted(spans[:, 1], place + start, side="right")
    inside = token < len(spans)
    inside[inside] = spans[token[inside], 0] <= place[inside] + start
    place, token = place[inside], token[inside].astype(np.int64)
    if not place.size:
        return np.empty((0, 4)), np.empty(0, dtype=np.int64)
    boxes = boxes[place]
    left, top, right, bottom = boxes.T
    shared = np.minimum(bottom[1:], bottom[:-1]) - np.maximum(top[1:], top[:-1])
    high = np.minimum(bottom[1:] - top[1:], bottom[:-1] - top[:-1])
    gap = left[1:] - right[:-1]
    goes_on = (shared > _SAME_LINE * high) & (np.abs(gap) < _WIDE * high)
    firsts = np.flatnonzero(np.append(True, ~goes_on | (token[1:] != token[:-1])))
    least = np.minimum.reduceat(boxes[:, :2], firsts)
    most = np.maximum.reduceat(boxes[:, 2:], firsts)
    behind = np.append(False, goes_on & (np.diff(place) <= 2))[firsts]
    behind[1:] &= least[1:, 0] > most[:-1, 0]
    least[1:, 0] = np.where(behind[1:], most[:-1, 0], least[1:, 0])
    found: F64 = np.column_stack([least, most]) / (scale * SPAN)
    return found, token[firsts]


def columns(boxes: F64) -> F64:
    """Return the columns that boxes of a passage fill, from top to bottom.

    Args:
        boxes: float64 [R, 4], as of :func:`token_boxes`.

    Returns:
        float64 [B, 4]; another one begins where the text goes up again.
    """
    if not len(boxes):
        return boxes
    up = boxes[1:, 3] < boxes[:-1, 1]
    firsts = np.flatnonzero(np.append(True, up))
    least = np.minimum.reduceat(boxes[:, :2], firsts)
    most = np.maximum.reduceat(boxes[:, 2:], firsts)
    found: F64 = np.column_stack([least, most])
    return found

"""Positions of tokens and passages on a page, computed from those of their characters."""

from __future__ import annotations

from typing import Final

import numpy as np

from pura.documents.pages import SPAN, Places
from pura.scheme import F64, I64

_SAME_LINE: Final = 0.5  # share of the height that boxes on one line have in common
_WIDE: Final = 2.0  # box heights; a wider gap separates columns


def page_of(layout: Places, character: int) -> int:
    """Return the number of the page that a character is on, from 0."""
    return max(0, int(np.searchsorted(layout.starts, character, side="right")) - 1)


def token_boxes(
    layout: Places, spans: I64, page: int, size: tuple[float, float]
) -> tuple[F64, I64]:
    """Return the boxes of tokens on a page.

    Characters on one line are joined to one box. Each box begins where the previous one on its line
    ends, so that the blank between two words belongs to the second, as in the text.

    Args:
        layout: Positions of the characters of the text.
        spans: int64 [L, 2], the characters of each token.
        page: From 0.
        size: Its width and height, in any unit.

    Returns:
        float64 [R, 4], left, top, right and bottom as shares of the page, in the order of the text;
        int64 [R], the token of each. A token on two lines has two boxes, a token with an unknown
        position none.
    """
    edges = np.append(layout.starts, len(layout.boxes))
    start, end = int(edges[page]), int(edges[page + 1])
    scale = np.array([*size, *size]) / SPAN
    boxes = layout.boxes[start:end] * scale
    index = np.flatnonzero((boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1]))
    token = np.searchsorted(spans[:, 1], index + start, side="right")
    inside = token < len(spans)
    inside[inside] = spans[token[inside], 0] <= index[inside] + start
    index, token = index[inside], token[inside].astype(np.int64)
    if not index.size:
        return np.empty((0, 4)), np.empty(0, dtype=np.int64)
    boxes = boxes[index]
    left, top, right, bottom = boxes.T
    shared = np.minimum(bottom[1:], bottom[:-1]) - np.maximum(top[1:], top[:-1])
    high = np.minimum(bottom[1:] - top[1:], bottom[:-1] - top[:-1])
    gap = left[1:] - right[:-1]
    goes_on = (shared > _SAME_LINE * high) & (np.abs(gap) < _WIDE * high)
    firsts = np.flatnonzero(np.append(True, ~goes_on | (token[1:] != token[:-1])))
    upper_left = np.minimum.reduceat(boxes[:, :2], firsts)
    lower_right = np.maximum.reduceat(boxes[:, 2:], firsts)
    follows_box = np.append(False, goes_on & (np.diff(index) <= 2))[firsts]
    follows_box[1:] &= upper_left[1:, 0] > lower_right[:-1, 0]
    upper_left[1:, 0] = np.where(follows_box[1:], lower_right[:-1, 0], upper_left[1:, 0])
    token_areas: F64 = np.column_stack([upper_left, lower_right]) / (scale * SPAN)
    return token_areas, token[firsts]


def columns(boxes: F64) -> F64:
    """Return the columns that the boxes of a passage cover, in the order of the text.

    Args:
        boxes: float64 [R, 4], from :func:`token_boxes`.

    Returns:
        float64 [B, 4]; a new column begins where the text jumps up the page.
    """
    if not len(boxes):
        return boxes
    up = boxes[1:, 3] < boxes[:-1, 1]
    firsts = np.flatnonzero(np.append(True, up))
    upper_left = np.minimum.reduceat(boxes[:, :2], firsts)
    lower_right = np.maximum.reduceat(boxes[:, 2:], firsts)
    column_areas: F64 = np.column_stack([upper_left, lower_right])
    return column_areas

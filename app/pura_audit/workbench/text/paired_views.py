"""Two views of texts that show the same words at the same height, and scroll together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QTimer

from pura.record.comparison import Alignment, Kind, Pair
from pura_audit.session.selection import Selection
from pura_audit.workbench.text.text_canvas import Differences
from pura_audit.workbench.text.text_view import TextView

I64 = npt.NDArray[np.int64]
_FEW: Final = 40  # characters that both have; for fewer no line is left empty


class PairedViews(QObject):
    """Keeps two views together.

    Args:
        first: One, and what is selected in it.
        second: The other.
        parent: Owns it.
    """

    def __init__(
        self, first: tuple[TextView, Selection], second: tuple[TextView, Selection], parent: QObject
    ) -> None:
        super().__init__(parent)
        (self._left, self._mine), (self._right, self._theirs) = first, second
        self._alignment: Alignment | None = None
        self._begins = False
        self._following = self._scrolling = False
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._lay)
        for view, other in ((self._left, self._right), (self._right, self._left)):
            view.broken.connect(self._soon.start)
            view.zoomed.connect(other.set_text_size)
        self._left.verticalScrollBar().valueChanged.connect(self._scroll_right)
        self._right.verticalScrollBar().valueChanged.connect(self._scroll_left)
        self._mine.changed.connect(self._from_left)
        self._theirs.changed.connect(self._from_right)

    def pair(self, alignment: Alignment | None) -> None:
        """Show what goes together and what differs; None while that is not known."""
        self._alignment, self._begins = alignment, True
        pairs = alignment.differences if alignment is not None else ()
        for view, side, kind in (
            (self._left, "left", Kind.LEFT),
            (self._right, "right", Kind.RIGHT),
        ):
            spans = [getattr(p, side) for p in pairs]
            view.show_differences(
                Differences(
                    spans=np.array(spans, dtype=np.int64).reshape(-1, 2),
                    alone=np.array([p.kind is kind for p in pairs], dtype=bool),
                )
            )
        self._soon.start()

    def show_pair(self, pair: Pair) -> None:
        """Bring a stretch of both texts on screen and point at it."""
        self._left.show_difference(pair.left)
        self._right.show_difference(pair.right)
        empty = pair.left[0] == pair.left[1]
        (self._right if empty else self._left).show_character(
            (pair.right if empty else pair.left)[0]
        )

    def _lay(self) -> None:
        """Leave lines empty where the other text has more."""
        if self._alignment is None or self._left.laying or self._right.laying:
            return
        views = self._left, self._right
        starts = self._left.own_starts(), self._right.own_starts()
        layouts = beside(self._alignment, self._left.text, *starts)
        for view, layout in zip(views, layouts, strict=True):
            view.lay_beside(layout.breaks, layout.empty)
        if self._begins:
            self._begins = False
            same = (p for p in self._alignment.pairs if p.kind is Kind.SAME)
            first = next((p for p in same if p.left[1] - p.left[0] >= _FEW), None)
            if first is not None:
                self._left.show_character(first.left[0])

    def _scroll_right(self, value: int) -> None:
        self._scroll(self._right, value)

    def _scroll_left(self, value: int) -> None:
        self._scroll(self._left, value)

    def _scroll(self, other: TextView, value: int) -> None:
        # One view may be lower than the other, and reach further: that is no reason to go back.
        if self._alignment is not None and not self._scrolling:
            self._scrolling = True
            other.verticalScrollBar().setValue(value)
            self._scrolling = False

    def _from_left(self) -> None:
        self._follow(self._left, self._mine, self._right, self._theirs)

    def _from_right(self) -> None:
        self._follow(self._right, self._theirs, self._left, self._mine)

    def _follow(
        self, view: TextView, selection: Selection, other: TextView, follower: Selection
    ) -> None:
        """Select the token at the same place of the other text."""
        token, starts = selection.token, view.token_starts()
        if self._following or self._alignment is None or token is None or token >= starts.size:
            return
        # A token begins with the blank before its word.
        place = min(int(starts[token]) + 1, len(view.text) - 1)
        across = self._alignment.right_of if view is self._left else self._alignment.left_of
        found = other.token_of_character(across(place))
        if found is not None:
            self._following = True
            follower.select_token(found)
            self._following = False


@dataclass(kw_only=True)
class Layout:
    """How the lines of one text are laid out beside the other.

    Attributes:
        breaks: Characters that begin a line besides those that do anyhow.
        empty: For each line that is left empty the character that begins the line after it.
    """

    breaks: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)

    @property
    def more(self) -> int:
        """How many lines that makes."""
        return len(self.breaks) + len(self.empty)


def beside(alignment: Alignment, text: str, left: I64, right: I64) -> tuple[Layout, Layout]:
    """Lay two texts out so that what is the same is level.

    Where they are apart by one line, one is left empty; where it is more, what both have begins
    with a line of its own.

    Args:
        alignment: Of the texts.
        text: The left one.
        left: int64 [N + 1], first character of every line, and the text's end.
        right: int64 [M + 1], of the other.

    Returns:
        A layout for each; both have as many lines then.
    """
    # What both have, and where the difference before it begins.
    spans = [
        (*pair.left, *pair.right, before.left[0], before.right[0])
        for before, pair in zip(
            (alignment.pairs[:1] + alignment.pairs), alignment.pairs, strict=False
        )
        if pair.kind is Kind.SAME and pair.left[1] - pair.left[0] >= _FEW
    ]
    x, x_end, y, y_end, *own = np.array(spans, dtype=np.int64).reshape(-1, 6).T
    # No line begins with the blank before a word.
    blanks = np.array([text[place].isspace() for place in x.tolist()], dtype=np.int64)
    starts, begins = (left, right), (x + blanks, y + blanks)
    # The first line that begins inside of each stretch, and what of the other text is beside it.
    x, y = begins
    mine, theirs = np.searchsorted(left[:-1], x), np.searchsorted(right[:-1], y)
    into = np.minimum(
        np.where(left[mine] < x_end, left[mine] - x, x_end - x),
        np.where(right[theirs] < y_end, right[theirs] - y, x_end - x),
    )
    into = np.minimum(into, x_end - x - 1)
    near, holds, at, before = (
        [some.tolist() for some in both]
        for both in (
            [_nearest_line(s, b + into) for s, b in zip(starts, begins, strict=True)],
            [_line(s, b) for s, b in zip(starts, begins, strict=True)],
            begins,
            [
                np.where(s[_line(s, o)] == o, o, b)
                for s, b, o in zip(starts, begins, own, strict=True)
            ],
        )
    )
    found = Layout(), Layout()
    for place in range(x.size):
        apart = _apart(near[0][place], near[1][place], found)
        short = int(apart > 0)
        if abs(apart) == 1:
            found[short].empty.append(int(starts[short][near[short][place]]))
        elif apart:
            for side in (0, 1):
                if at[side][place] != starts[side][holds[side][place]]:
                    found[side].breaks.append(at[side][place])
            apart = _apart(holds[0][place], holds[1][place], found)
            short = int(apart > 0)
            found[short].empty.extend([before[short][place]] * abs(apart))
    apart = _apart(left.size - 1, right.size - 1, found)
    short = int(apart > 0)
    found[short].empty.extend([int(starts[short][-1])] * abs(apart))
    return found


def _apart(line: int, other: int, found: tuple[Layout, Layout]) -> int:
    """Return by how many lines the first text is further down than the second."""
    return line + found[0].more - other - found[1].more


def _line(starts: I64, places: I64) -> I64:
    """Return the line that holds each character."""
    return np.searchsorted(starts[:-1], places, side="right") - 1


def _nearest_line(starts: I64, places: I64) -> I64:
    """Return the line whose beginning is nearest to each character."""
    line = _line(starts, places)
    found: I64 = line + (2 * (places - starts[line]) > starts[line + 1] - starts[line])
    return found

"""Two texts side by side: the same words at one height, evidence shaded in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QModelIndex, QObject, Qt, QTimer
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QComboBox, QSizePolicy, QSplitter, QWidget

from pura.documents import Document
from pura.record.audit import Audit
from pura.record.comparison import Alignment, Kind, Pair, align, marked_in_one
from pura_audit.jobs.queue import Done, Failure, Job, Outcome
from pura_audit.platform.i18n import filled, moment, translate
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.selection import Selection
from pura_audit.session.session import Session
from pura_audit.theme.theme import GRID, Theme
from pura_audit.widgets.card import ElidedLabel, add_parts, label, row_of
from pura_audit.widgets.form_dialog import PlainDialog, close_button, dialog_column, plain_button
from pura_audit.widgets.text_layout import safe_text
from pura_audit.workbench.text_canvas import Differences
from pura_audit.workbench.text_card import TextCard
from pura_audit.workbench.text_view import TextView

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
        self._left, self._right = first[0], second[0]
        self._alignment: Alignment | None = None
        self._begins = False
        self._following = self._scrolling = False
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._lay)
        for view, other in ((self._left, self._right), (self._right, self._left)):
            view.broken.connect(self._soon.start)
            view.zoomed.connect(other.set_text_size)
        left, right = first, second
        for (view, selection), (other, follower) in ((left, right), (right, left)):
            view.verticalScrollBar().valueChanged.connect(partial(self._scroll, other))
            selection.changed.connect(partial(self._follow, view, selection, other, follower))

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
        layouts = level_lines(self._alignment, self._left.text, *starts)
        for view, layout in zip(views, layouts, strict=True):
            view.level(layout.breaks, layout.empty)
        if self._begins:
            self._begins = False
            same = (p for p in self._alignment.pairs if p.kind is Kind.SAME)
            first = next((p for p in same if p.left[1] - p.left[0] >= _FEW), None)
            if first is not None:
                self._left.show_character(first.left[0])

    def _scroll(self, other: TextView, value: int) -> None:
        # One view may be lower than the other, and reach further: that is no reason to go back.
        if self._alignment is not None and not self._scrolling:
            self._scrolling = True
            other.verticalScrollBar().setValue(value)
            self._scrolling = False

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
        breaks: Characters that begin a line besides those that do in any case.
        empty: For each line that is left empty the character that begins the line after it.
    """

    breaks: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)

    @property
    def more(self) -> int:
        """How many lines that makes."""
        return len(self.breaks) + len(self.empty)


def level_lines(alignment: Alignment, text: str, left: I64, right: I64) -> tuple[Layout, Layout]:
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


_SIDE_BY_SIDE: Final = 680  # pixels from which there is room for one beside the other
_WITH_FACTS: Final = 420  # pixels of a pane from which its numbers stand beside the name
_QUOTED: Final = 40  # characters of a difference that are named


@dataclass(kw_only=True, eq=False)
class TextChoice:
    """A text that can be shown.

    Attributes:
        item: Its row in the list; None for an audit that was handed over.
        saved: That audit.
        rows: Of the list; one of them may hold the text of an audit that was kept without it.
    """

    item: Item | None = None
    saved: Audit | None = None
    rows: Sequence[Item] = ()

    @property
    def audit(self) -> Audit | None:
        """What was found in it, where that is in memory."""
        if self.item is None:
            return self.saved
        return self.item.shown

    @property
    def text(self) -> str | None:
        """The text, where it is in memory."""
        audit, document = self.audit, self.item.document if self.item is not None else None
        if audit is not None and audit.text is not None:
            return audit.text
        if document is None and audit is not None:
            found = (row.document for row in self.rows if row.document is not None)
            document = next((one for one in found if _is_of(one, audit)), None)
        return document.text if document is not None else None

    @property
    def fetched(self) -> bool:
        """Whether all of it is in memory that can be."""
        if self.item is None or self.item.state is ItemState.FAILED:
            return True
        audited = self.item.state is ItemState.DONE and self.item.finding is not None
        return self.audit is not None if audited else self.text is not None

    @property
    def words(self) -> str:
        """What it is called."""
        if self.item is not None:
            found = self.item.finding
            name, created = self.item.name, found.created if found is not None else ""
        else:
            assert self.saved is not None  # a choice is one or the other
            name, created = self.saved.input.name, self.saved.created
        audited = moment(created) or translate("SideBySide", "not audited")
        return f"{name}, {audited}"


def text_choices(items: Sequence[Item], audits: Sequence[Audit] = ()) -> list[TextChoice]:
    """Return what can be shown: audits, then the texts of the list that they are not of.

    Args:
        items: The rows of the list.
        audits: Audits that may be in a case only.
    """
    named = {audit.id for audit in audits}
    others = (i for i in items if i.finding is None or i.finding.id not in named)
    return [
        *(TextChoice(saved=audit, rows=items) for audit in audits),
        *(TextChoice(item=item, rows=items) for item in others if _readable(item)),
    ]


def _readable(item: Item) -> bool:
    if item.finding is not None:
        return item.finding.verdict != "not-examinable"
    return item.state is not ItemState.FAILED


def _is_of(document: Document, audit: Audit) -> bool:
    """Return whether a document is what an audit was made of: of a file with parts that one."""
    same = document.sha256 == audit.input.sha256
    return same and len(document.text) == audit.input.characters


class _Pane(TextCard):
    """One of the texts, below what it is chosen with."""

    def __init__(self, selection: Selection, theme: Theme, name: str) -> None:
        super().__init__(selection, theme)
        self.selection = selection
        self.choice = QComboBox()
        self.choice.setAccessibleName(name)
        self.choice.setMinimumContentsLength(8)
        self.choice.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.title.hide()
        self.head.insertWidget(0, self.choice, 3)
        self.view.setAccessibleName(name)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.find_bar.enter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the room to the name where there is little."""
        super().resizeEvent(event)
        self.side_note.setVisible(self.width() >= _WITH_FACTS)


class SideBySideDialog(PlainDialog):
    """Two texts, what they share and where they differ.

    Args:
        session: Its list holds the texts, and its queue of files aligns them.
        theme: The colours.
        choices: What there is to choose from.
        first: Which of them is the first text.
        second: Which is the second.
    """

    def __init__(
        self,
        session: Session,
        theme: Theme,
        choices: Sequence[TextChoice],
        first: int,
        second: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._choices = session, list(choices)
        self._job: Job | None = None
        self._awaited: list[TextChoice] = []
        self._alignment: Alignment | None = None
        self._stops: list[tuple[Pair, bool]] = []  # and whether it is a mark seen in one only
        self._place = -1
        self.setWindowTitle(translate("SideBySide", "Two texts side by side"))
        self.resize(1180, 760)
        self.first = _Pane(Selection(self), theme, translate("SideBySide", "First text"))
        self.second = _Pane(Selection(self), theme, translate("SideBySide", "Second text"))
        self.pairing = PairedViews(
            (self.first.view, self.first.selection),
            (self.second.view, self.second.selection),
            self,
        )
        self.words = label("", "reading", wrap=True)
        self.here = ElidedLabel(role="muted")
        self.previous = plain_button(translate("SideBySide", "Previous difference"), self.go_back)
        self.next = plain_button(translate("SideBySide", "Next difference"), self.go_on)
        native = QKeySequence.SequenceFormat.NativeText
        for button, act, name in (
            (self.previous, self.go_back, "Shift+F3"),
            (self.next, self.go_on, "F3"),
        ):
            keys = QKeySequence(name)
            QShortcut(keys, self).activated.connect(act)  # a button's own one waits
            button.setToolTip(keys.toString(native))
        self._splitter = QSplitter()
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(GRID)
        for pane in (self.first, self.second):
            self._splitter.addWidget(pane)
        self._marks = label(
            translate(
                "SideBySide",
                "Underlined: other words. Framed, or with a line next to it: only in this text."
                " Wedge and hatching: the other text has more here.",
            ),
            "small",
            wrap=True,
        )
        head = row_of((self.here, 1), self.previous, self.next)
        foot = row_of((self._marks, 1), close_button(self))
        layout = dialog_column(self, spacing=GRID)
        add_parts(layout, self.words, head, (self._splitter, 1), foot)
        for pane, place in ((self.first, first), (self.second, second)):
            pane.choice.addItems([f"{n}. {c.words}" for n, c in enumerate(self._choices, start=1)])
            pane.choice.setCurrentIndex(place)
            pane.choice.currentIndexChanged.connect(self._choose)
        session.texts.queue.dataChanged.connect(self._changed)
        self._choose()
        self.first.view.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put one below the other where there is no room beside it."""
        super().resizeEvent(event)
        wide = self.width() >= _SIDE_BY_SIDE
        self._splitter.setOrientation(
            Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        )

    def done(self, result: int) -> None:
        """Stop aligning."""
        self._drop()
        super().done(result)

    def _drop(self) -> None:
        if self._job is not None:
            self._job.drop()
            self._job = None

    # What is shown

    @property
    def chosen(self) -> tuple[TextChoice, TextChoice]:
        """The two texts."""
        first, second = (pane.choice.currentIndex() for pane in (self.first, self.second))
        return self._choices[first], self._choices[second]

    def _choose(self) -> None:
        for one in self.chosen:
            if not one.fetched and one.item is not None:
                self._session.record.fetch(one.item)
        self._show()

    def _changed(self, first: QModelIndex, last: QModelIndex) -> None:
        queue = self._session.texts.queue
        rows = {queue.item(row) for row in range(first.row(), last.row() + 1)}
        if any(one.item in rows and one.fetched for one in self._awaited):
            self._show()

    def _show(self) -> None:
        self._drop()
        self._awaited = [one for one in self.chosen if not one.fetched]
        self._alignment, self._stops, self._place = None, [], -1
        self.pairing.pair(None)
        texts = []
        for pane, one in zip((self.first, self.second), self.chosen, strict=True):
            pane.selection.show(one.audit)
            pane.show_text(one.text or "", one.audit, _note(one))
            texts.append(one.text)
        left, right = texts
        self.here.setText("")
        self._enable()
        if left is None or right is None:
            self.words.setText(translate("SideBySide", "A text is missing."))
            return
        self.words.setText(translate("SideBySide", "The texts are being aligned …"))
        self._job = self._session.jobs.files.do(
            lambda context: align(left, right, checkpoint=context.checkpoint),
            self._aligned,
            self,
            urgent=True,
        )

    def _aligned(self, outcome: Outcome[Alignment]) -> None:
        self._job = None
        match outcome:
            case Done(alignment):
                self._alignment = alignment
                self._stops = self._find_stops(alignment)
                self.pairing.pair(alignment)
                self.words.setText(self._summary(alignment))
            case Failure():
                self.words.setText(outcome.words)
        self._enable()

    def _find_stops(self, alignment: Alignment) -> list[tuple[Pair, bool]]:
        stops = [(pair, False) for pair in alignment.differences]
        audits = [one.audit for one in self.chosen]
        if all(audit is not None for audit in audits):
            marked = [audit.finding.passages for audit in audits if audit is not None]
            spans = [[(p.start, p.end) for _, p in passages] for passages in marked]
            stops += [(pair, True) for pair in marked_in_one(alignment, *spans)]
        return sorted(stops, key=lambda stop: (stop[0].left, stop[0].right))

    def _summary(self, alignment: Alignment) -> str:
        differ, parts = len(alignment.differences), []
        if not differ:
            parts.append(translate("SideBySide", "No word differs."))
        elif not alignment.shared:
            parts.append(
                translate("SideBySide", "The texts have no passage of several words in common.")
            )
        else:
            first, second = (
                f"{100 * alignment.shared // max(1, size)}\N{NO-BREAK SPACE}%"
                for size in alignment.words
            )
            words = translate(
                "SideBySide",
                "{n:plural(One difference|{n:count} differences)}. {first:text} of the first "
                "text's words are in the second, and {second:text} of the second text's words "
                "are in the first, in the same order.",
            )
            parts.append(filled(words, n=differ, first=first, second=second))
        if only := sum(marked for _, marked in self._stops):
            words = translate(
                "SideBySide",
                "{n:plural(One stretch is|{n:count} stretches are)} marked in one of them only.",
            )
            parts.append(filled(words, n=only))
        return " ".join(parts)

    # From one difference to the next

    def go_on(self) -> None:
        """Show the next difference; after the last one the first."""
        self._go(1)

    def go_back(self) -> None:
        """Show the difference before; before the first one the last."""
        self._go(-1)

    def _go(self, by: int) -> None:
        if not self._stops:
            return
        begun = self._place >= 0
        self._place = (self._place + by) % len(self._stops) if begun else (0 if by > 0 else -1)
        self._place %= len(self._stops)
        pair, marked = self._stops[self._place]
        self.pairing.show_pair(pair)
        words = translate("SideBySide", "{n:count} of {all:count}: {what:text}")
        what = _marked(pair, self.chosen) if marked else _difference(pair, self.chosen)
        self.here.setText(filled(words, n=self._place + 1, all=len(self._stops), what=what))

    def _enable(self) -> None:
        for button in (self.previous, self.next):
            button.setEnabled(bool(self._stops))


def _note(one: TextChoice) -> str:
    if not one.fetched:
        return translate("SideBySide", "It is being opened.")
    if one.text is None and one.item is not None and one.item.failure is not None:
        return one.item.failure.words
    if one.text is None:
        return translate(
            "SideBySide", "This text was not kept. Add its file to the list to see it here."
        )
    return translate("SideBySide", "Not audited, so nothing is shaded.")


def _quotes(pair: Pair, chosen: tuple[TextChoice, TextChoice]) -> list[str]:
    quoted = []
    for one, (start, end) in zip(chosen, (pair.left, pair.right), strict=True):
        words = safe_text((one.text or "")[start : min(end, start + _QUOTED)].strip())
        quoted.append(f"{words} …" if end - start > _QUOTED else words)
    return quoted


def _difference(pair: Pair, chosen: tuple[TextChoice, TextChoice]) -> str:
    words = {
        Kind.LEFT: translate("SideBySide", "only in the first text “{first:text}”"),
        Kind.RIGHT: translate("SideBySide", "only in the second text “{second:text}”"),
    }.get(pair.kind, translate("SideBySide", "“{first:text}”, in the second “{second:text}”"))
    first, second = _quotes(pair, chosen)
    return filled(words, first=first, second=second)


def _marked(pair: Pair, chosen: tuple[TextChoice, TextChoice]) -> str:
    words = (
        translate("SideBySide", "marked in the first text only “{first:text}”")
        if pair.kind is Kind.LEFT
        else translate("SideBySide", "marked in the second text only “{first:text}”")
    )
    first, _ = _quotes(pair, chosen)
    return filled(words, first=first)

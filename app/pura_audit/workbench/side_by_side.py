"""Two texts side by side, aligned and with their evidence."""

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
    """Keeps two text views aligned.

    Args:
        first: The first view and its selection.
        second: The second view and its selection.
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
        for view, partner in ((self._left, self._right), (self._right, self._left)):
            view.broken.connect(self._soon.start)
            view.zoomed.connect(partner.set_text_size)
        left, right = first, second
        for (view, selection), (partner, follower) in ((left, right), (right, left)):
            view.verticalScrollBar().valueChanged.connect(partial(self._scroll, partner))
            selection.changed.connect(partial(self._follow, view, selection, partner, follower))

    def pair(self, alignment: Alignment | None) -> None:
        """Show an alignment; None while it is computed."""
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
                    one_sided=np.array([p.kind is kind for p in pairs], dtype=bool),
                )
            )
        self._soon.start()

    def show_pair(self, pair: Pair) -> None:
        """Scroll to a part of both texts and highlight it."""
        self._left.show_difference(pair.left)
        self._right.show_difference(pair.right)
        empty = pair.left[0] == pair.left[1]
        (self._right if empty else self._left).show_character(
            (pair.right if empty else pair.left)[0]
        )

    def _lay(self) -> None:
        """Align the lines of both texts."""
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

    def _scroll(self, partner: TextView, value: int) -> None:
        # One view may be lower than the other, and reach further: that is no reason to go back.
        if self._alignment is not None and not self._scrolling:
            self._scrolling = True
            partner.verticalScrollBar().setValue(value)
            self._scrolling = False

    def _follow(
        self, view: TextView, selection: Selection, partner: TextView, follower: Selection
    ) -> None:
        """Select the token at the same place of the other text."""
        token, starts = selection.token, view.token_starts()
        if self._following or self._alignment is None or token is None or token >= starts.size:
            return
        # A token begins with the blank before its word.
        character = min(int(starts[token]) + 1, len(view.text) - 1)
        across = self._alignment.right_of if view is self._left else self._alignment.left_of
        target = partner.token_of_character(across(character))
        if target is not None:
            self._following = True
            follower.select_token(target)
            self._following = False


@dataclass(kw_only=True)
class Layout:
    """The layout of a text's lines beside another text.

    Attributes:
        breaks: Characters that begin an additional line.
        empty: For each empty line, the character that begins the line after it.
    """

    breaks: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)

    @property
    def more(self) -> int:
        """Number of additional lines."""
        return len(self.breaks) + len(self.empty)


def level_lines(alignment: Alignment, text: str, left: I64, right: I64) -> tuple[Layout, Layout]:
    """Return layouts that put equal parts of two texts at the same height.

    If they differ by one line, a line stays empty. If they differ by more, the common part begins
    with a new line.

    Args:
        alignment: The alignment of the texts.
        text: The left text.
        left: int64 [N + 1], first character of every line of the left text, and its length.
        right: int64 [M + 1], the same for the right text.

    Returns:
        The layouts of the left and the right text, with equal numbers of lines.
    """
    # What both have, and where the difference before it begins.
    spans = [
        (*pair.left, *pair.right, before.left[0], before.right[0])
        for before, pair in zip(
            (alignment.pairs[:1] + alignment.pairs), alignment.pairs, strict=False
        )
        if pair.kind is Kind.SAME and pair.left[1] - pair.left[0] >= _FEW
    ]
    x, x_end, y, y_end, *difference_starts = np.array(spans, dtype=np.int64).reshape(-1, 6).T
    # No line begins with the blank before a word.
    blanks = np.array([text[index].isspace() for index in x.tolist()], dtype=np.int64)
    starts, begins = (left, right), (x + blanks, y + blanks)
    # The first line that begins inside of each stretch, and what of the other text is beside it.
    x, y = begins
    left_lines, right_lines = np.searchsorted(left[:-1], x), np.searchsorted(right[:-1], y)
    into = np.minimum(
        np.where(left[left_lines] < x_end, left[left_lines] - x, x_end - x),
        np.where(right[right_lines] < y_end, right[right_lines] - y, x_end - x),
    )
    into = np.minimum(into, x_end - x - 1)
    nearest_lines, holds, first_characters, before = (
        [some.tolist() for some in both]
        for both in (
            [_nearest_line(s, b + into) for s, b in zip(starts, begins, strict=True)],
            [_line(s, b) for s, b in zip(starts, begins, strict=True)],
            begins,
            [
                np.where(s[_line(s, o)] == o, o, b)
                for s, b, o in zip(starts, begins, difference_starts, strict=True)
            ],
        )
    )
    layouts = Layout(), Layout()
    for number in range(x.size):
        difference = _apart(nearest_lines[0][number], nearest_lines[1][number], layouts)
        short = int(difference > 0)
        if abs(difference) == 1:
            layouts[short].empty.append(int(starts[short][nearest_lines[short][number]]))
        elif difference:
            for side in (0, 1):
                if first_characters[side][number] != starts[side][holds[side][number]]:
                    layouts[side].breaks.append(first_characters[side][number])
            difference = _apart(holds[0][number], holds[1][number], layouts)
            short = int(difference > 0)
            layouts[short].empty.extend([before[short][number]] * abs(difference))
    difference = _apart(left.size - 1, right.size - 1, layouts)
    short = int(difference > 0)
    layouts[short].empty.extend([int(starts[short][-1])] * abs(difference))
    return layouts


def _apart(left_line: int, right_line: int, layouts: tuple[Layout, Layout]) -> int:
    """Return how many lines the left text is below the right one."""
    return left_line + layouts[0].more - right_line - layouts[1].more


def _line(starts: I64, characters: I64) -> I64:
    """Return the line that holds each character."""
    return np.searchsorted(starts[:-1], characters, side="right") - 1


def _nearest_line(starts: I64, characters: I64) -> I64:
    """Return the line whose beginning is nearest to each character."""
    line = _line(starts, characters)
    nearest: I64 = line + (2 * (characters - starts[line]) > starts[line + 1] - starts[line])
    return nearest


_SIDE_BY_SIDE: Final = 680  # pixels from which there is room for one beside the other
_WITH_FACTS: Final = 420  # pixels of a pane from which its numbers stand beside the name
_QUOTED: Final = 40  # characters of a difference that are named


@dataclass(kw_only=True, eq=False)
class TextChoice:
    """A text to choose from.

    Attributes:
        item: Row of the list; None for an audit from a case.
        saved: The audit from a case, or None.
        rows: Rows of the list, one of which may hold the text of an audit saved without it.
    """

    item: Item | None = None
    saved: Audit | None = None
    rows: Sequence[Item] = ()

    @property
    def audit(self) -> Audit | None:
        """The audit of the text, if it is in memory."""
        if self.item is None:
            return self.saved
        return self.item.shown

    @property
    def text(self) -> str | None:
        """The text, if it is in memory."""
        audit, document = self.audit, self.item.document if self.item is not None else None
        if audit is not None and audit.text is not None:
            return audit.text
        if document is None and audit is not None:
            documents = (row.document for row in self.rows if row.document is not None)
            document = next((document for document in documents if _is_of(document, audit)), None)
        return document.text if document is not None else None

    @property
    def fetched(self) -> bool:
        """Whether everything that is stored of it is in memory."""
        if self.item is None or self.item.state is ItemState.FAILED:
            return True
        audited = self.item.state is ItemState.DONE and self.item.finding is not None
        return self.audit is not None if audited else self.text is not None

    @property
    def words(self) -> str:
        """Name for people."""
        if self.item is not None:
            finding = self.item.finding
            name, created = self.item.name, finding.created if finding is not None else ""
        else:
            assert self.saved is not None  # a choice is one or the other
            name, created = self.saved.input.name, self.saved.created
        audited = moment(created) or translate("SideBySide", "not audited")
        return f"{name}, {audited}"


def text_choices(items: Sequence[Item], audits: Sequence[Audit] = ()) -> list[TextChoice]:
    """Return the texts to choose from: the audits, then the other texts of the list.

    Args:
        items: The rows of the list.
        audits: Audits, which may be in a case only.
    """
    audit_ids = {audit.id for audit in audits}
    unaudited = (i for i in items if i.finding is None or i.finding.id not in audit_ids)
    return [
        *(TextChoice(saved=audit, rows=items) for audit in audits),
        *(TextChoice(item=item, rows=items) for item in unaudited if _readable(item)),
    ]


def _readable(item: Item) -> bool:
    if item.finding is not None:
        return item.finding.verdict != "not-examinable"
    return item.state is not ItemState.FAILED


def _is_of(document: Document, audit: Audit) -> bool:
    """Return whether a document is the text of an audit."""
    same = document.sha256 == audit.input.sha256
    return same and len(document.text) == audit.input.characters


class _Pane(TextCard):
    """One of the two texts, with its chooser."""

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
        """Give the room to the name if there is little."""
        super().resizeEvent(event)
        self.side_note.setVisible(self.width() >= _WITH_FACTS)


class SideBySideDialog(PlainDialog):
    """Shows two texts with their common parts and their differences.

    Args:
        session: The session with the list of texts and the queue that aligns them.
        theme: The colours.
        choices: The texts to choose from.
        first: Index of the first text.
        second: Index of the second text.
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
        for button, action, name in (
            (self.previous, self.go_back, "Shift+F3"),
            (self.next, self.go_on, "F3"),
        ):
            keys = QKeySequence(name)
            QShortcut(keys, self).activated.connect(action)  # a button's own one waits
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
        for pane, index in ((self.first, first), (self.second, second)):
            pane.choice.addItems([f"{n}. {c.words}" for n, c in enumerate(self._choices, start=1)])
            pane.choice.setCurrentIndex(index)
            pane.choice.currentIndexChanged.connect(self._choose)
        session.texts.queue.dataChanged.connect(self._changed)
        self._choose()
        self.first.view.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the texts one below the other in a narrow dialog."""
        super().resizeEvent(event)
        wide = self.width() >= _SIDE_BY_SIDE
        self._splitter.setOrientation(
            Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        )

    def done(self, result: int) -> None:
        """Stop the alignment when the dialog closes."""
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
        for choice in self.chosen:
            if not choice.fetched and choice.item is not None:
                self._session.record.fetch(choice.item)
        self._show()

    def _changed(self, first: QModelIndex, last: QModelIndex) -> None:
        queue = self._session.texts.queue
        rows = {queue.item(row) for row in range(first.row(), last.row() + 1)}
        if any(choice.item in rows and choice.fetched for choice in self._awaited):
            self._show()

    def _show(self) -> None:
        self._drop()
        self._awaited = [choice for choice in self.chosen if not choice.fetched]
        self._alignment, self._stops, self._place = None, [], -1
        self.pairing.pair(None)
        texts = []
        for pane, text_choice in zip((self.first, self.second), self.chosen, strict=True):
            pane.selection.show(text_choice.audit)
            pane.show_text(text_choice.text or "", text_choice.audit, _note(text_choice))
            texts.append(text_choice.text)
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
        audits = [choice.audit for choice in self.chosen]
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
            template = translate(
                "SideBySide",
                "{n:plural(One difference|{n:count} differences)}. {first:text} of the first "
                "text's words are in the second, and {second:text} of the second text's words "
                "are in the first, in the same order.",
            )
            parts.append(filled(template, n=differ, first=first, second=second))
        if only := sum(marked for _, marked in self._stops):
            template = translate(
                "SideBySide",
                "{n:plural(One stretch is|{n:count} stretches are)} marked in one of them only.",
            )
            parts.append(filled(template, n=only))
        return " ".join(parts)

    # From one difference to the next

    def go_on(self) -> None:
        """Show the next difference, wrapping at the end."""
        self._go(1)

    def go_back(self) -> None:
        """Show the previous difference, wrapping at the beginning."""
        self._go(-1)

    def _go(self, step: int) -> None:
        if not self._stops:
            return
        started = self._place >= 0
        self._place = (
            (self._place + step) % len(self._stops) if started else (0 if step > 0 else -1)
        )
        self._place %= len(self._stops)
        pair, marked = self._stops[self._place]
        self.pairing.show_pair(pair)
        template = translate("SideBySide", "{n:count} of {all:count}: {what:text}")
        difference = _marked(pair, self.chosen) if marked else _difference(pair, self.chosen)
        self.here.setText(
            filled(template, n=self._place + 1, all=len(self._stops), what=difference)
        )

    def _enable(self) -> None:
        for button in (self.previous, self.next):
            button.setEnabled(bool(self._stops))


def _note(choice: TextChoice) -> str:
    if not choice.fetched:
        return translate("SideBySide", "It is being opened.")
    if choice.text is None and choice.item is not None and choice.item.failure is not None:
        return choice.item.failure.words
    if choice.text is None:
        return translate(
            "SideBySide", "This text was not kept. Add its file to the list to see it here."
        )
    return translate("SideBySide", "Not audited, so nothing is shaded.")


def _quotes(pair: Pair, choices: tuple[TextChoice, TextChoice]) -> list[str]:
    quoted = []
    for choice, (start, end) in zip(choices, (pair.left, pair.right), strict=True):
        quotation = safe_text((choice.text or "")[start : min(end, start + _QUOTED)].strip())
        quoted.append(f"{quotation} …" if end - start > _QUOTED else quotation)
    return quoted


def _difference(pair: Pair, choices: tuple[TextChoice, TextChoice]) -> str:
    template = {
        Kind.LEFT: translate("SideBySide", "only in the first text “{first:text}”"),
        Kind.RIGHT: translate("SideBySide", "only in the second text “{second:text}”"),
    }.get(pair.kind, translate("SideBySide", "“{first:text}”, in the second “{second:text}”"))
    first, second = _quotes(pair, choices)
    return filled(template, first=first, second=second)


def _marked(pair: Pair, choices: tuple[TextChoice, TextChoice]) -> str:
    template = (
        translate("SideBySide", "marked in the first text only “{first:text}”")
        if pair.kind is Kind.LEFT
        else translate("SideBySide", "marked in the second text only “{first:text}”")
    )
    first, _ = _quotes(pair, choices)
    return filled(template, first=first)

"""The answer: outcome, one sentence, for whom, what weakens it, and the steps that follow."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from pura.base import numerals
from pura.record.audit import Audit
from pura.record.finding import said
from pura.record.spoken import limits_words, whom_words
from pura.words.sentences import fill
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.queue_model import Item
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import GAP, GRID, PADDING, Theme
from pura_audit.widgets.card import ScrollCard, label, restyle, set_tip
from pura_audit.widgets.layouts import Fold
from pura_audit.workbench.answer.mark_list import COUNTED, MarkList, grouped

REPORT: Final = "report"
STEPS: Final = ("save", "review", REPORT, "sign")
_SIGNS: Final = {"done": "✓", "bad": "!"}


class Steps(QWidget):
    """Four steps in a row.

    Signals:
        wanted: One of them was pressed: its name.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for place, name in enumerate(STEPS):
            if place:
                row.addWidget(label("–", "muted"))
            button = QPushButton()
            button.setProperty("role", "step")
            button.clicked.connect(lambda _=False, n=name: self.wanted.emit(n))
            self.buttons[name] = button
            row.addWidget(button)

    def show_item(self, item: Item) -> None:
        """Show where the finding of a row stands."""
        words, tips = _words(item), _tips(item)
        states = step_states(item)
        for place, name in enumerate(STEPS, start=1):
            button, state = self.buttons[name], states[name]
            sign = _SIGNS.get(state, str(place))
            button.setText(f"{sign} {words[name]}")
            button.setToolTip(tips[name])
            button.setAccessibleName(f"{words[name]}: {tips[name]}")
            restyle(button, "state", state)


def step_states(item: Item) -> dict[str, str]:
    """Return the state of each step: ``done``, ``bad``, ``next`` or ``later``."""
    at = item.status
    done = {
        "save": at is not None,
        "review": at is not None and at.review == "confirmed",
        "report": at is not None and at.report == "issued",
        "sign": at is not None and at.signed,
    }
    states: dict[str, str] = {}
    for name in STEPS:
        waits = "next" not in states.values() and "bad" not in states.values()
        states[name] = "done" if done[name] else "next" if waits else "later"
    if at is not None and at.review == "disputed":
        states["review"] = "bad"
    return states


def next_words(item: Item) -> str:
    """Say what is to be done with a finding next; empty where all is done."""
    states, tips = step_states(item), _tips(item)
    return next((tips[name] for name in STEPS if states[name] == "next"), "")


def _words(item: Item) -> dict[str, str]:
    at = item.status
    review = at.review if at is not None else ""
    report = at.report if at is not None else ""
    return {
        "save": translate("Steps", "Saved") if at is not None else translate("Steps", "Save"),
        "review": {
            "confirmed": translate("Steps", "Reviewed"),
            "disputed": translate("Steps", "Disputed"),
        }.get(review, translate("Steps", "Review")),
        "report": translate("Steps", "Draft written")
        if report == "drafted"
        else translate("Steps", "Reported")
        if report == "issued"
        else translate("Steps", "Report"),
        "sign": translate("Steps", "Signed")
        if at is not None and at.signed
        else translate("Steps", "Sign"),
    }


def _tips(item: Item) -> dict[str, str]:
    at = item.status
    if at is None:
        save = translate("Steps", "Save the finding to a case")
    else:
        words = translate("Steps", "In the case “{case:text}”; press to file it elsewhere")
        save = filled(words, case=at.name or "–")
    if at is not None and at.review:
        by = (
            translate("Steps", "Confirmed by {who:text}")
            if at.review == "confirmed"
            else translate("Steps", "Disputed by {who:text}")
        )
        review = filled(by, who=at.reviewer or "–")
    else:
        review = translate("Steps", "Let a second person look at the finding")
    return {
        "save": save,
        "review": review,
        "report": translate("Steps", "Make a report of the finding"),
        "sign": translate("Steps", "Sign a report"),
    }


MAX_WIDTH = 960  # longer lines are hard to read
PLACES = 3  # passages whose limits the card states; the report has all
RANKED = 3  # candidates that the card names; the table has all


class AnswerView(ScrollCard):
    """What it means, in one glance; what can be done about it stands below and never scrolls.

    Signals:
        details_wanted: The full wording is asked for.
        compared_wanted: The two propositions are asked for.
        candidates_wanted: The table of candidates is asked for.
        step_wanted: A step of the finding: ``save``, ``review``, ``report`` or ``sign``.
        resized: The limits were opened or folded: it wants another height.
    """

    details_wanted = Signal()
    compared_wanted = Signal()
    candidates_wanted = Signal()
    step_wanted = Signal(str)
    resized = Signal()

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, widest=MAX_WIDTH, below=12)
        self.audit: Audit | None = None
        self._note = ""
        column = self.column
        self.heading = label("", "answer", wrap=True)
        self.sentence = label("", "reading", wrap=True)
        self.more = label("", "muted", wrap=True)
        self.measured = label("", "muted", wrap=True)
        self.payload = PayloadBox()
        self.marks = MarkList(selection, theme)
        self.compared = _link(translate("Answer", "What this compares"), self.compared_wanted)
        self._candidates = _link(translate("Answer", "Candidates"), self.candidates_wanted)
        self.limits = Fold("", ruled=False)
        self.limit_lines = label("", "body", wrap=True)
        self.limits.body.addWidget(self.limit_lines)
        self.limits.toggled.connect(self._opened)
        for widget in (self.heading, self.sentence, self.more, self.measured, self.limit_lines):
            widget.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        column.addWidget(self.heading)
        column.addWidget(self.sentence)
        for part in (self.payload, self.marks, self.more):
            column.addWidget(part)
        self._links = QWidget()
        links = QHBoxLayout(self._links)
        links.setContentsMargins(0, 0, 0, 0)
        links.setSpacing(GAP)
        links.addWidget(self.compared)
        links.addWidget(self._candidates)
        links.addStretch(1)
        column.addWidget(self._links)
        column.addWidget(self.limits)
        column.addWidget(self.measured)
        column.addStretch(1)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.scroll_area.setAccessibleName(translate("Answer", "Answer"))
        self.body.addWidget(self._foot())

    def _foot(self) -> QWidget:
        foot = self._footer = QWidget()
        rule = QFrame()
        rule.setProperty("role", "rule")
        self.steps = Steps()
        self.steps.wanted.connect(self.step_wanted)
        self._details = _link(translate("Answer", "Details"), self.details_wanted)
        self.report = QPushButton(translate("Answer", "Report …"))
        self.report.clicked.connect(lambda: self.step_wanted.emit(REPORT))
        row = QHBoxLayout()
        row.setContentsMargins(PADDING, 7, PADDING, 9)
        row.setSpacing(GAP)
        row.addWidget(self.steps)
        row.addStretch(1)
        for button in (self._details, self.report):
            row.addWidget(button)
        column = QVBoxLayout(foot)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(rule)
        column.addLayout(row)
        return foot

    def natural_height(self, width: int) -> int:
        """Return the height at which nothing scrolls."""
        return super().natural_height(width) + self._footer.sizeHint().height()

    def least_height(self, width: int) -> int:
        """Return the height at which outcome, sentence and payload are whole."""
        inside = min(MAX_WIDTH, max(200, width)) - 2 * PADDING
        below = (self.more, self._links, self.limits, self.measured)
        spare = sum(_height(part, inside) + GRID for part in below if not part.isHidden())
        return self.natural_height(width) - spare - self.marks.spare_height()

    def show_item(self, item: Item, audit: Audit) -> None:
        """Show the finding of a row, what stands beside it, and where it stands."""
        note = _note(item, audit)
        if self.audit is not audit or self._note != note:
            self.show_audit(audit, note)
        self.steps.show_item(item)

    def show_audit(self, audit: Audit, note: str = "") -> None:
        """Show the findings of an audit, below a note."""
        self.audit, self._note = audit, note
        tongue, found = language(), audit.finding
        self.heading.setText(fill(found.headline, tongue))
        self.sentence.setText(" ".join(said(found.answer, tongue)))
        self.compared.setVisible(bool(found.caveat))
        set_tip(self.compared, *said(found.compared, tongue))
        # The list of the marks says how many there are.
        beside = (one for one in found.beside if one.key != COUNTED)
        others = said((*beside, *found.conditions), tongue)
        if note:
            others.insert(0, note)
        self.more.setText("\n".join(others))
        self.more.setVisible(bool(others))
        self.measured.setText(measured_words(audit))
        # Without a mark, and in a mark by others, there is no payload to speak of.
        marks = found.marks
        self.payload.setVisible(len(marks) == 1)
        self.payload.show_audit(audit)
        self.marks.show_audit(audit)
        self._show_limits(audit)
        self._candidates.setVisible(any(len(mark.candidates) > 1 for mark in marks))
        count = len(marks[0].candidates) if len(marks) == 1 else 0
        words = translate("Answer", "Candidates ({n:text})") if count else ""
        self._candidates.setText(filled(words, n=count) or translate("Answer", "Candidates"))
        self._links.setVisible(not (self.compared.isHidden() and self._candidates.isHidden()))
        self.scroll_area.verticalScrollBar().setValue(0)

    def payload_text(self) -> str:
        """Return the payload that the card names as found; "" without one, or in question."""
        payload = None if self.audit is None else self.audit.payload
        return "" if payload is None else payload.bits or ""

    def _opened(self, opened: bool) -> None:
        self.resized.emit()
        if opened:
            show = self.scroll_area.ensureWidgetVisible
            QTimer.singleShot(0, self, lambda: show(self.limit_lines, 0, GRID))

    def _show_limits(self, audit: Audit) -> None:
        lines = said(audit.finding.cautions, language())
        words = translate("Answer", "{n:plural(One limit|{n:count} limits)} of this finding")
        self.limits.retitle(filled(words, n=len(lines)))
        self.limit_lines.setText("\n".join(f"–  {line}" for line in lines))
        self.limits.fold()
        self.limits.setVisible(bool(lines))


def _note(item: Item, audit: Audit) -> str:
    """Say why a text could not be examined, or how its finding relates to a later audit."""
    day = numerals.date(audit.created, language())
    if item.active:
        words = translate(
            "Answer",
            "This text is being audited again. Until then this is the finding of {day:text}.",
        )
        return filled(words, day=day)
    if item.failure is None or audit.verdict == "not-examinable":
        return item.failure.message if item.failure is not None else ""
    words = translate(
        "Answer", "A later audit failed: {why:text} This is still the finding of {day:text}."
    )
    return filled(words, why=item.failure.words, day=day)


def measured_words(audit: Audit) -> str:
    """Say what an audit was measured with, and when; of what was not examined, when alone."""
    if audit.verdict == "not-examinable":
        words = translate("Answer", "noted on {day:text}")
        return filled(words, day=numerals.date(audit.created, language()))
    words = translate(
        "Answer",
        "{n:plural(Key|Keys)} {keys:text} · profile {profile:text} · model {model:text} · "
        "examined on {day:text}",
    )
    return filled(
        words,
        n=len(audit.keys),
        keys=audit.finding.keys,
        profile=audit.finding.profile,
        model=audit.model.name,
        day=numerals.date(audit.created, language()),
    )


class PayloadBox(QFrame):
    """For whom and when; or that this is not decided, and between which payloads."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "box")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(GAP, GRID, GAP, GRID)
        self._column.setSpacing(4)

    def show_audit(self, audit: Audit) -> None:
        """Show the payload of a text with one mark."""
        _empty(self._column)
        payload = audit.payload
        if payload is None:
            return
        tongue = language()
        named = whom_words(audit.profile, payload, grouped(payload.best), tongue)
        value = label(named, "value", wrap=True)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._add(value)
        if not payload.identified:
            for rank, found in enumerate(audit.candidates[:RANKED], start=1):
                words = ", ".join(f"{f.name} {f.text}" for f in found.fields) or grouped(found.bits)
                share = numerals.weight(found.posterior, tongue)
                line = translate("Answer", "{rank:text}. {payload:text} · share {weight:text}")
                filled_line = filled(line, rank=str(rank), payload=words, weight=share)
                shown = label(filled_line, "muted", wrap=True)
                set_tip(shown, _share_words())
                self._add(shown)
            return
        value.setObjectName("payload")
        if not payload.fields:
            value.setFont(fonts.mono(fonts.BODY, strong=True))
            value.setProperty("face", "mono")
        value.setToolTip(grouped(payload.best))
        where = translate(
            "Answer",
            "{share:text} of the tokens, in {k:plural(one passage|{k:count} passages)} · "
            "payload of {n:text} bits",
        )
        self._add(
            label(
                filled(
                    where,
                    share=numerals.share(audit.finding.share or 0.0, language()),
                    k=len(audit.finding.passages),
                    n=str(len(payload.best)),
                ),
                "muted",
            )
        )
        for _, passage in audit.finding.passages[:PLACES]:
            if limits := limits_words(passage, tongue):
                place = audit.finding.place(passage, tongue)
                words = f"{place[:1].upper()}{place[1:]}; {limits}"
                self._add(label(words, "muted", wrap=True))
        if audit.register is not None:
            match = audit.finding.register_match
            words = (
                filled(
                    translate("Answer", "Register entry {n:count}: {who:text}"),
                    n=match.entry,
                    who=match.who,
                )
                if match is not None
                else translate("Answer", "No entry of the register has this payload")
            )
            self._add(label(words, "muted", wrap=True))

    def _add(self, line: QLabel) -> None:
        self._column.addWidget(line)


def _share_words() -> str:
    return translate(
        "Answer",
        "All possible payloads share 1; the better one fits the text, the more it has. This ranks "
        "payloads, not people.",
    )


def _height(part: QWidget, width: int) -> int:
    return part.heightForWidth(width) if part.hasHeightForWidth() else part.sizeHint().height()


def _link(words: str, signal: object) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("role", "link")
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.clicked.connect(signal)
    return button


def _empty(layout: QLayout) -> None:
    while layout.count():
        item = layout.takeAt(0)
        if item is None:
            continue
        if (widget := item.widget()) is not None:
            widget.setObjectName("")
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            _empty(inner)

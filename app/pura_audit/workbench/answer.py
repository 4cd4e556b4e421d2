"""The answer.

Outcome, one sentence, for whom, what weakens it, the steps that follow, and the marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from pura.base import numerals
from pura.caselog.reports import CaseStatus
from pura.record.audit import Audit
from pura.record.finding import rendered
from pura.record.left_out import listed_lines, summary_line
from pura.record.naming import NamedMark, NamedPayload, evidence_ratio, limits_words, whom_words
from pura.words.sentences import fill, scale
from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.queue_model import Item
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import (
    BADGE,
    GAP,
    GRID,
    PADDING,
    Theme,
    mark_pen,
    paint_badge,
)
from pura_audit.widgets.card import (
    ElidedLabel,
    Fold,
    ScrollCard,
    add_parts,
    clear_layout,
    column_of,
    label,
    part_height,
    push_button,
    restyle,
    row_of,
    rule,
    set_tip,
)

COUNTED = "marks.counted"
"""The sentence that says how many marks there are; it stands above them."""

DRAFT = "public.key"
"""The sentence that says why a finding stays a draft; it stands above the answer."""

AT_LEAST = 3
"""Marks that are seen at once, however low the window is."""


class MarkList(QWidget):
    """One row a mark; a press selects it. Hidden where a text has one mark or none."""

    def __init__(self, selection: Selection, theme: Theme) -> None:
        super().__init__()
        self._selection, self._theme = selection, theme
        self.caption = label("", "muted", wrap=True)
        self.rows: list[MarkRow] = []
        self._column = column_of(spacing=GRID // 2)
        column_of(self.caption, self._column, spacing=GRID // 2, inside=self)
        selection.mark_changed.connect(self._follow)
        theme.changed.connect(self.update)

    def show_audit(self, audit: Audit) -> None:
        """Show the marks of an audit."""
        clear_layout(self._column)
        self.rows = []
        marks = audit.finding.marks
        several = len(marks) > 1
        self.setVisible(several)
        if not several:
            return
        counted = (one for one in audit.finding.qualifications if one.key == COUNTED)
        self.caption.setText(" ".join(rendered(counted, language())))
        for number, mark in enumerate(marks):
            written = grouped(mark.payload.best)
            named = whom_words(audit.profile, mark.payload, written, language())
            words = [audit.finding.place(mark.passages[0], language())] if mark.passages else []
            if ratio := evidence_ratio(mark, language(), audit.lr_cap):
                words.append(filled(translate("Marks", "L {ratio:text}"), ratio=ratio))
            if len(audit.finding.marking_keys) > 1:
                words.append(filled(translate("Marks", "key {key:text}"), key=mark.key_title))
            row = MarkRow(number, mark, named, " · ".join(words), self._theme)
            row.clicked.connect(lambda _=False, n=number: self._selection.select_mark(n))
            self.rows.append(row)
            self._column.addWidget(row)
        self._follow()

    def spare_height(self) -> int:
        """Return the height of the rows below the first three."""
        more = self.rows[AT_LEAST:]
        return sum(row.sizeHint().height() + self._column.spacing() for row in more)

    def _follow(self) -> None:
        chosen = self._selection.mark or 0
        for number, row in enumerate(self.rows):
            row.setChecked(number == chosen)


class MarkRow(QPushButton):
    """A mark: its number and line as in the text, its payload, and where it stands."""

    def __init__(self, number: int, mark: NamedMark, named: str, words: str, theme: Theme) -> None:
        super().__init__()
        self._number, self._theme = number, theme
        self.setProperty("role", "row")
        self.setCheckable(True)
        self.setAutoExclusive(True)
        # Its words are shortened; it never makes the card wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.payload = ElidedLabel(named, role="value")
        if mark.payload.identified and not mark.payload.fields:
            self.payload.setFont(fonts.mono(fonts.BODY, strong=True))
            self.payload.setProperty("face", "mono")
        if number == 0:
            self.payload.setObjectName("payload")
        facts = ElidedLabel(words, role="small", align=Qt.AlignmentFlag.AlignRight)
        for part in (self.payload, facts):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row = row_of((self.payload, 3), (facts, 2), spacing=-1, inside=self)
        row.setContentsMargins(2 * GRID + BADGE + GAP, 5, GAP, 5)
        name = translate("Marks", "Mark {n:text}, {payload:text}: {facts:text}")
        self.setAccessibleName(filled(name, n=number + 1, payload=named, facts=words))
        limits = [limits_words(passage, language()) for passage in mark.passages]
        act = translate("Marks", "Show its bits, and where it begins")
        self.setToolTip("\n".join([act, *filter(None, limits)]))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the size of the line."""
        layout = self.layout()
        assert layout is not None
        return layout.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the least size: the words are shortened."""
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw number and line as they stand beside the text."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(mark_pen(self._theme, self._number, 3 if self.isChecked() else 2))
        painter.drawLine(GRID, 7, GRID, self.height() - 7)
        box = QRectF(2 * GRID, (self.height() - BADGE) / 2, BADGE, BADGE)
        paint_badge(painter, self._theme, self._number, box)


def grouped(bits: str) -> str:
    """Write bits in groups of four."""
    return " ".join(bits[i : i + 4] for i in range(0, len(bits), 4))


REPORT: Final = "report"
STEPS: Final = ("save", "review", REPORT, "sign")
_SIGNS: Final = {"done": "✓", "bad": "!"}


def show_steps(buttons: Mapping[str, QPushButton], item: Item) -> None:
    """Show in the buttons of the four steps how far the finding of a row is."""
    words, tips = _words(item), _tips(item)
    states = step_states(item)
    for place, name in enumerate(STEPS, start=1):
        button, state = buttons[name], states[name]
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
    """Say what is to be done with a finding next, or how it ended."""
    states, tips = step_states(item), _tips(item)
    return next((tips[name] for name in STEPS if states[name] == "next"), tips[STEPS[-1]])


def version_words(item: Item) -> str:
    """Name which examination of the same bytes a finding is; empty of the only one."""
    at = item.status
    words = translate("Answer", "Version {n:text}: compare with the earlier one")
    return filled(words, n=at.version) if at is not None and at.version > 1 else ""


def waits_words(item: Item, step: str) -> str:
    """Say why a step cannot be done yet; empty where it can."""
    at = item.status
    saved, final = at is not None, at is not None and at.report == "issued"
    ready = {"review": saved, "sign": final}.get(step, True)
    return "" if ready else _tips(item)[step]


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
        else translate("Steps", "Final")
        if report == "issued"
        else translate("Steps", "Report"),
        "sign": translate("Steps", "Signed")
        if at is not None and at.signed
        else translate("Steps", "Sign"),
    }


def _tips(item: Item) -> dict[str, str]:
    """Say of each step who did it and when, or what it is and what has to come before."""
    at = item.status
    save = translate("Steps", "Save it to a case")
    review = translate("Steps", "Ask a second person")
    report = translate("Steps", "Make the report")
    sign = translate("Steps", "Sign the final report")
    if at is None:
        first = translate("Steps", "It has to be saved first.")
        review, report, sign = (f"{words}. {first}" for words in (review, report, sign))
        return {"save": save, "review": review, "report": report, "sign": sign}
    case = filled(translate("Steps", "In the case “{case:text}”"), case=at.name or "–")
    again = translate("Steps", "press to file it in another case")
    save = "; ".join(filter(None, (case, _by(at, "save"), again)))
    if at.review:
        seen = (
            translate("Steps", "Confirmed")
            if at.review == "confirmed"
            else translate("Steps", "Disputed")
        )
        review = f"{seen} {_by(at, 'review')}"
    if at.report == "issued":
        report = " ".join((translate("Steps", "Final report"), _by(at, "report")))
    elif item.finding is not None and item.finding.draft:
        draft = translate("Steps", "It stays a draft: anyone can know the key.")
        report = f"{report}. {draft}"
    elif at.review != "confirmed":
        draft = translate("Steps", "It is a draft until a second person has confirmed the finding.")
        report = f"{report}. {draft}"
    if at.signed:
        parts = (translate("Steps", "Signed"), _by(at, "sign"), _examined_by(at))
        sign = " ".join(filter(None, parts))
    elif at.report != "issued":
        none = translate("Steps", "There is none yet.")
        sign = f"{sign}. {none}"
    return {"save": save, "review": review, "report": report, "sign": sign}


def _examined_by(at: CaseStatus) -> str:
    """Name who examined the text, where that is not who signed; else nothing."""
    signer = at.acts["sign"][0] if "sign" in at.acts else None
    if not at.examiner or (signer or "").casefold() == at.examiner.casefold():
        return ""
    return filled(translate("Steps", "(examined by {who:text})"), who=at.examiner)


def _by(at: CaseStatus, act: str) -> str:
    """Say who did it and when; who signed is the certificate's subject. Empty where unknown."""
    if act not in at.acts:
        return ""
    who, when = at.acts[act]
    words = translate("Steps", "by {who:text} on {day:text}")
    return filled(words, who=who or "–", day=numerals.date(when, language()))


class StrengthScale(QWidget):
    """The words of the scale as a strip: where this finding stands, and where the threshold is."""

    _BAR: Final = 8
    _MODERATE: Final = 2  # more than that is never said against a mark

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._audit: Audit | None = None
        set_role(self, QAccessible.Role.Graphic)
        self.setFont(fonts.face(fonts.LABEL))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_audit(self, audit: Audit) -> None:
        """Show the evidence of an audit; nothing where nothing follows from it."""
        self._audit = audit
        self.setVisible(audit.verdict in ("mark", "indication", "no-mark"))
        self.setAccessibleName(f"{self.word()}. {self._threshold_words()}")
        self.setToolTip("\n".join(f"{row.range}: {row.word}" for row in scale(language())))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room of the strip and of one line on either side."""
        line = self.fontMetrics().height()
        return QSize(240, 2 * line + self._BAR + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the height that it always has."""
        return QSize(120, self.sizeHint().height())

    @property
    def place(self) -> int:
        """Which word of the scale holds, from 0."""
        if self._audit is None:
            return 0
        value = self._audit.evidence.log10_e
        rows = scale(language())
        here = max(place for place, row in enumerate(rows) if abs(value) >= row.low)
        return min(here, self._MODERATE) if value < 0 else here

    def word(self) -> str:
        """Return the word that holds, and for what."""
        if self._audit is None:
            return ""
        word = scale(language())[self.place].word
        words = translate("Answer", "Support for a mark: {word:text}")
        if not self.place:
            words = translate("Answer", "Support: {word:text}")
        elif self._audit.evidence.log10_e < 0:
            words = translate("Answer", "Support against a mark: {word:text}")
        return filled(words, word=word)

    def _threshold(self) -> float:
        value = None if self._audit is None else self._audit.policy.get("t_found")
        return float(value) if isinstance(value, int | float) else 0.0

    def _threshold_words(self) -> str:
        words = translate("Answer", "Decision threshold: {times:text}")
        return filled(words, times=numerals.count(round(10 ** self._threshold()), language()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a piece for each word, filled up to the one that holds."""
        if self._audit is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows, here = scale(language()), self.place
        line, width = self.fontMetrics().height(), self.width()
        step, top = width / len(rows), line + 3
        colour = "against" if self._audit.evidence.log10_e < 0 else "support"
        painter.setPen(Qt.PenStyle.NoPen)
        for place in range(len(rows)):
            strong = 0 < place <= here
            painter.setBrush(self._theme.colour(colour if strong else "line"))
            painter.drawRoundedRect(QRectF(place * step + 1, top, step - 2, self._BAR), 2, 2)
        painter.setPen(self._theme.colour("text"))
        middle, word = (here + 0.5) * step, self.word()
        across = self.fontMetrics().horizontalAdvance(word)
        left = min(max(0.0, middle - across / 2), width - across)
        painter.drawText(QRectF(left, 0, across + 2, line), word)
        beyond = [place for place, row in enumerate(rows) if row.low >= self._threshold()]
        at = (beyond[0] if beyond else len(rows)) * step
        painter.setPen(QPen(self._theme.colour("text"), 2))
        painter.drawLine(QPointF(at, top - 2), QPointF(at, top + self._BAR + 3))
        painter.setPen(self._theme.colour("muted"))
        words = self._threshold_words()
        across = self.fontMetrics().horizontalAdvance(words)
        left = min(max(0.0, at - across / 2), width - across)
        painter.drawText(QRectF(left, top + self._BAR + 3, across + 2, line), words)


MAX_WIDTH = 960  # longer lines are hard to read
PLACES = 3  # passages whose limits the card states; the report has all
RANKED = 3  # candidates that the card names; the table has all


class AnswerView(ScrollCard):
    """What it means, in one glance; what can be done about it stands below and never scrolls.

    Signals:
        step_wanted: A step of the finding: ``save``, ``review``, ``report`` or ``sign``.
        parts_wanted: What the finding left out of the file is to be examined.
        resized: The limits were opened or folded: it wants another height.
    """

    step_wanted = Signal(str)
    parts_wanted = Signal()
    resized = Signal()

    def __init__(self, selection: Selection, theme: Theme) -> None:
        super().__init__(widest=MAX_WIDTH, below=12)
        self.audit: Audit | None = None
        self._note = ""
        self.document = ElidedLabel(role="muted", middle=True)
        self.heading = label("", "answer", wrap=True)
        self.strength = StrengthScale(theme)
        self.note = label("", "attention", wrap=True)
        self.sentence = label("", "reading", wrap=True)
        self.left_out = label("", "attention", wrap=True)
        self.examine_parts = push_button("", self.parts_wanted.emit)
        self._left_out_row = QWidget()
        row_of((self.left_out, 1), self.examine_parts, spacing=GAP, inside=self._left_out_row)
        self.more = label("", "muted", wrap=True)
        self.measured = label("", "muted", wrap=True)
        self.payload = QFrame()
        self.payload.setProperty("role", "box")
        self._payload = column_of(spacing=4, inside=self.payload)
        self._payload.setContentsMargins(GAP, GRID, GAP, GRID)
        self.marks = MarkList(selection, theme)
        self.compared = _link(translate("Answer", "What this compares"))
        self.versions = _link("")
        self.candidates = _link(translate("Answer", "Candidates"))
        self.limits = Fold("", ruled=False)
        self.limit_lines = label("", "body", wrap=True)
        self.limits.body.addWidget(self.limit_lines)
        self.limits.toggled.connect(self._opened)
        for widget in (
            self.heading,
            self.note,
            self.sentence,
            self.left_out,
            self.more,
            self.measured,
            self.limit_lines,
        ):
            widget.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        # The limits open below all that is above them; their heading takes no line of its own.
        self._links = QWidget()
        self.limits.side_note.hide()
        links = (self.compared, self.candidates, self.versions, self.limits.head, None)
        row_of(*links, spacing=GAP, inside=self._links)
        outcome = column_of(self.document, self.heading, spacing=2)
        above = (
            row_of((outcome, 3), (self.strength, 2), spacing=PADDING),
            self.note,
            self.sentence,
            self._left_out_row,
            self.payload,
            self.marks,
            self.more,
        )
        add_parts(self.column, *above, self._links, self.limits, self.measured, None)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.scroll_area.setAccessibleName(translate("Answer", "Answer"))
        self.body.addWidget(self._foot())

    def _foot(self) -> QWidget:
        foot = self._footer = QWidget()
        self.steps = {
            name: push_button("", partial(self.step_wanted.emit, name), role="step")
            for name in STEPS
        }
        first, *others = self.steps.values()
        steps = row_of(first, spacing=4)
        for button in others:
            add_parts(steps, label("–", "muted"), button)
        self.details = _link(translate("Answer", "Details"))
        act = partial(self.step_wanted.emit, REPORT)
        self.report = push_button(translate("Answer", "Report …"), act)
        for button in (*self.steps.values(), self.details, self.report):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # no ring where the mouse was used
        self.next = ElidedLabel(role="muted")
        row = row_of(steps, (self.next, 1), self.details, self.report, spacing=GAP)
        row.setContentsMargins(PADDING, 7, PADDING, 9)
        column_of(rule(), row, spacing=0, inside=foot)
        return foot

    def natural_height(self, width: int) -> int:
        """Return the height at which nothing scrolls."""
        return super().natural_height(width) + self._footer.sizeHint().height()

    def least_height(self, width: int) -> int:
        """Return the height at which outcome, sentence and payload are whole."""
        column, margins = self.column, self.column.contentsMargins()
        inside = self._wide(width) - margins.left() - margins.right()
        below = map(column.itemAt, range(column.indexOf(self.more), column.count()))
        heights = [part_height(i, inside) for i in below if i is not None and not i.isEmpty()]
        rest = sum(heights) + column.spacing() * len(heights) + margins.bottom()
        return self.natural_height(width) - rest - self.marks.spare_height()

    def show_item(self, item: Item, audit: Audit) -> None:
        """Show the finding of a row, what stands beside it, and where it stands."""
        note = _note(item, audit)
        if self.audit is not audit or self._note != note:
            self.show_audit(audit, note)
        there = item.path is not None or bool(item.document and audit.input.excluded)
        self.examine_parts.setVisible(there and bool(_parts_left_out(audit)))
        self.document.setText(item.name)
        self.versions.setText(version_words(item))
        self.versions.setVisible(bool(self.versions.text()))
        self._show_links()
        self.next.setText(next_words(item))
        show_steps(self.steps, item)

    def show_audit(self, audit: Audit, note: str = "") -> None:
        """Show the findings of an audit, and a note on them."""
        self.audit, self._note = audit, note
        tongue, found = language(), audit.finding
        self.heading.setText(fill(found.headline, tongue))
        self.sentence.setText(" ".join(rendered(found.answer, tongue)))
        said = f"{self.heading.text()}. {self.sentence.text()}"
        self.scroll_area.setAccessibleDescription(said)
        self.strength.show_audit(audit)
        self.compared.setVisible(bool(found.caveat))
        set_tip(self.compared, *rendered(found.compared, tongue))
        # The list of the marks says how many there are.
        beside = (one for one in found.qualifications if one.key not in (COUNTED, DRAFT))
        others = rendered(beside, tongue) + found.notes(tongue, without=("left_out",))
        self._show_left_out(audit)
        draft = rendered((one for one in found.wording if one.key == DRAFT), tongue)
        notes = [*filter(None, (note, *draft))]
        self.note.setText("\n".join(notes))
        self.note.setVisible(bool(notes))
        self.more.setText("\n".join(others))
        self.more.setVisible(bool(others))
        self.measured.setText(measured_words(audit))
        # Without a mark, and in a mark by others, there is no payload to speak of.
        marks = found.marks
        self.payload.setVisible(len(marks) == 1)
        self._show_payload(audit)
        self.marks.show_audit(audit)
        self._show_limits(audit)
        self.candidates.setVisible(any(len(mark.candidates) > 1 for mark in marks))
        count = len(marks[0].candidates) if len(marks) == 1 else 0
        words = translate("Answer", "Candidates ({n:text})") if count else ""
        self.candidates.setText(filled(words, n=count) or translate("Answer", "Candidates"))
        self._show_links()
        self.scroll_area.verticalScrollBar().setValue(0)

    def _show_links(self) -> None:
        links = (self.compared, self.candidates, self.versions, self.limits.head)
        self._links.setVisible(not all(link.isHidden() for link in links))

    def _opened(self, opened: bool) -> None:
        self.resized.emit()
        if opened:
            show = self.scroll_area.ensureWidgetVisible
            QTimer.singleShot(0, self, lambda: show(self.limit_lines, 0, GRID))

    def _show_payload(self, audit: Audit) -> None:
        """Show the payload of a text with one mark."""
        clear_layout(self._payload)
        if audit.payload is not None:
            add_parts(self._payload, *payload_lines(audit, audit.payload))

    def _show_left_out(self, audit: Audit) -> None:
        """Say in one line what of the file was not examined, and offer to examine it."""
        left_out, examined, tongue = audit.input.left_out, audit.input.examined_words, language()
        self.left_out.setText(summary_line(left_out, examined, tongue))
        set_tip(self.left_out, *listed_lines(left_out, examined, tongue)[1:])
        several = len(_parts_left_out(audit)) > 1
        self.examine_parts.setText(
            translate("Answer", "Examine these parts")
            if several
            else translate("Answer", "Examine this part")
        )
        self.examine_parts.hide()  # a record alone has no file to read them from
        self._left_out_row.setVisible(bool(self.left_out.text()))

    def _show_limits(self, audit: Audit) -> None:
        lines = rendered(audit.finding.cautions, language())
        words = translate("Answer", "{n:plural(One limit|{n:count} limits)} of this finding")
        self.limits.retitle(filled(words, n=len(lines)))
        self.limit_lines.setText("\n".join(f"–  {line}" for line in lines))
        self.limits.fold()
        self.limits.setVisible(bool(lines))
        self.limits.head.setVisible(bool(lines))


def _parts_left_out(audit: Audit) -> list[str]:
    """Return the parts that were left out and can be examined."""
    return [entry.part for entry in audit.input.left_out if entry.part]


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
    if item.unkept:
        words = translate(
            "Answer",
            "This finding is not saved: {why:text} It is safe here until the window is closed.",
        )
        return filled(words, why=item.failure.words)
    words = translate(
        "Answer", "A later audit failed: {why:text} This is still the finding of {day:text}."
    )
    return filled(words, why=item.failure.words, day=day)


def measured_words(audit: Audit) -> str:
    """Say what an audit was measured with, and when; of what was not examined, when alone."""
    if audit.verdict == "not-examinable":
        words = translate("Answer", "noted on {day:text}")
        return filled(words, day=numerals.date(audit.created, language()))
    return " ".join(rendered(audit.finding.basis, language()))


def payload_lines(audit: Audit, payload: NamedPayload) -> Iterator[QLabel]:
    """Yield for whom and when; or that this is not decided, and between which payloads."""
    tongue = language()
    named = whom_words(audit.profile, payload, grouped(payload.best), tongue)
    value = label(named, "payload", wrap=True)
    value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    yield value
    if not payload.identified:
        for rank, found in enumerate(audit.candidates[:RANKED], start=1):
            words = ", ".join(f"{f.name} {f.text}" for f in found.fields) or grouped(found.bits)
            if other := audit.other_key_title(found):
                words = f"{words} · {other}"
            share = numerals.weight(found.posterior, tongue)
            line = translate("Answer", "{rank:text}. {payload:text} · share {weight:text}")
            filled_line = filled(line, rank=str(rank), payload=words, weight=share)
            shown = label(filled_line, "muted", wrap=True)
            set_tip(shown, _share_words())
            yield shown
        return
    value.setObjectName("payload")
    if not payload.fields:
        value.setFont(fonts.mono(fonts.READING, strong=True))
        value.setProperty("face", "mono")
    value.setToolTip(grouped(payload.best))
    where = translate(
        "Answer",
        "{share:text} of the tokens, in {k:plural(one passage|{k:count} passages)} · "
        "payload of {n:text} bits",
    )
    share = numerals.share(audit.finding.share or 0.0, tongue)
    count = len(audit.finding.passages)
    words = filled(where, share=share, k=count, n=str(len(payload.best)))
    yield label(words, "muted")
    for _, passage in audit.finding.passages[:PLACES]:
        if limits := limits_words(passage, tongue):
            place = audit.finding.place(passage, tongue)
            words = f"{place[:1].upper()}{place[1:]}; {limits}"
            yield label(words, "muted", wrap=True)
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
        yield label(words, "muted", wrap=True)


def _share_words() -> str:
    return translate(
        "Answer",
        "All possible payloads share 1; the better one fits the text, the more it has. This ranks "
        "payloads, not people.",
    )


def _link(words: str) -> QPushButton:
    made = push_button(words, role="link")
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    return made

"""The answer.

It shows the outcome, a sentence, the recipient, limits, the next steps, and the marks.
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
"""Key of the sentence with the number of marks, which is shown above them."""

DRAFT = "public.key"
"""Key of the sentence on why a finding stays a draft, which is shown above the answer."""

AT_LEAST = 3
"""Number of marks that are visible even in a low window."""


class MarkList(QWidget):
    """The list of a text's marks; a press selects one. Hidden for fewer than two marks."""

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
        counted = (phrase for phrase in audit.finding.qualifications if phrase.key == COUNTED)
        self.caption.setText(" ".join(rendered(counted, language())))
        for number, mark in enumerate(marks):
            written = grouped(mark.payload.best)
            recipient = whom_words(audit.profile, mark.payload, written, language())
            facts = [audit.finding.place(mark.passages[0], language())] if mark.passages else []
            if ratio := evidence_ratio(mark, language(), audit.lr_cap):
                facts.append(filled(translate("Marks", "L {ratio:text}"), ratio=ratio))
            if len(audit.finding.marking_keys) > 1:
                facts.append(filled(translate("Marks", "key {key:text}"), key=mark.key_title))
            row = MarkRow(number, mark, recipient, " · ".join(facts), self._theme)
            row.clicked.connect(lambda _=False, n=number: self._selection.select_mark(n))
            self.rows.append(row)
            self._column.addWidget(row)
        self._follow()

    def spare_height(self) -> int:
        """Return the height of the rows below the first three."""
        spare_rows = self.rows[AT_LEAST:]
        return sum(row.sizeHint().height() + self._column.spacing() for row in spare_rows)

    def _follow(self) -> None:
        selected = self._selection.mark or 0
        for number, row in enumerate(self.rows):
            row.setChecked(number == selected)


class MarkRow(QPushButton):
    """A row for a mark: its number and colour, its payload, and its position."""

    def __init__(
        self, number: int, mark: NamedMark, recipient: str, mark_facts: str, theme: Theme
    ) -> None:
        super().__init__()
        self._number, self._theme = number, theme
        self.setProperty("role", "row")
        self.setCheckable(True)
        self.setAutoExclusive(True)
        # Its words are shortened; it never makes the card wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.payload = ElidedLabel(recipient, role="value")
        if mark.payload.identified and not mark.payload.fields:
            self.payload.setFont(fonts.mono(fonts.BODY, strong=True))
            self.payload.setProperty("face", "mono")
        if number == 0:
            self.payload.setObjectName("payload")
        facts = ElidedLabel(mark_facts, role="small", align=Qt.AlignmentFlag.AlignRight)
        for part in (self.payload, facts):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row = row_of((self.payload, 3), (facts, 2), spacing=-1, inside=self)
        row.setContentsMargins(2 * GRID + BADGE + GAP, 5, GAP, 5)
        name = translate("Marks", "Mark {n:text}, {payload:text}: {facts:text}")
        self.setAccessibleName(filled(name, n=number + 1, payload=recipient, facts=mark_facts))
        limits = [limits_words(passage, language()) for passage in mark.passages]
        hint = translate("Marks", "Show its bits, and where it begins")
        self.setToolTip("\n".join([hint, *filter(None, limits)]))
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
        """Draw the number and the line of the mark as beside the text."""
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
    """Show the state of a finding's four steps on their buttons."""
    labels, tips = _words(item), _tips(item)
    states = step_states(item)
    for index, name in enumerate(STEPS, start=1):
        button, state = buttons[name], states[name]
        sign = _SIGNS.get(state, str(index))
        button.setText(f"{sign} {labels[name]}")
        button.setToolTip(tips[name])
        button.setAccessibleName(f"{labels[name]}: {tips[name]}")
        restyle(button, "state", state)


def step_states(item: Item) -> dict[str, str]:
    """Return the state of each step: ``done``, ``bad``, ``next`` or ``later``."""
    status = item.status
    steps_taken = {
        "save": status is not None,
        "review": status is not None and status.review == "confirmed",
        "report": status is not None and status.report == "issued",
        "sign": status is not None and status.signed,
    }
    states: dict[str, str] = {}
    for name in STEPS:
        waits = "next" not in states.values() and "bad" not in states.values()
        states[name] = "done" if steps_taken[name] else "next" if waits else "later"
    if status is not None and status.review == "disputed":
        states["review"] = "bad"
    return states


def next_words(item: Item) -> str:
    """Return the next step for a finding, or its final state."""
    states, tips = step_states(item), _tips(item)
    return next((tips[name] for name in STEPS if states[name] == "next"), tips[STEPS[-1]])


def version_words(item: Item) -> str:
    """Return which examination of the same bytes a finding is; empty for the only one."""
    status = item.status
    template = translate("Answer", "Version {n:text}: compare with the earlier one")
    return filled(template, n=status.version) if status is not None and status.version > 1 else ""


def waits_words(item: Item, step: str) -> str:
    """Return why a step is not possible yet; empty if it is."""
    status = item.status
    saved, final = status is not None, status is not None and status.report == "issued"
    ready = {"review": saved, "sign": final}.get(step, True)
    return "" if ready else _tips(item)[step]


def _words(item: Item) -> dict[str, str]:
    status = item.status
    review = status.review if status is not None else ""
    report = status.report if status is not None else ""
    return {
        "save": translate("Steps", "Saved") if status is not None else translate("Steps", "Save"),
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
        if status is not None and status.signed
        else translate("Steps", "Sign"),
    }


def _tips(item: Item) -> dict[str, str]:
    """Return for each step who did it and when, or what it needs."""
    status = item.status
    save = translate("Steps", "Save it to a case")
    review = translate("Steps", "Ask a second person")
    report = translate("Steps", "Make the report")
    sign = translate("Steps", "Sign the final report")
    if status is None:
        first = translate("Steps", "It has to be saved first.")
        review, report, sign = (f"{step}. {first}" for step in (review, report, sign))
        return {"save": save, "review": review, "report": report, "sign": sign}
    case = filled(translate("Steps", "In the case “{case:text}”"), case=status.name or "–")
    refile = translate("Steps", "press to file it in another case")
    save = "; ".join(filter(None, (case, _by(status, "save"), refile)))
    if status.review:
        judged = (
            translate("Steps", "Confirmed")
            if status.review == "confirmed"
            else translate("Steps", "Disputed")
        )
        review = f"{judged} {_by(status, 'review')}"
    if status.report == "issued":
        report = " ".join((translate("Steps", "Final report"), _by(status, "report")))
    elif item.finding is not None and item.finding.draft:
        draft = translate("Steps", "It stays a draft: anyone can know the key.")
        report = f"{report}. {draft}"
    elif status.review != "confirmed":
        draft = translate("Steps", "It is a draft until a second person has confirmed the finding.")
        report = f"{report}. {draft}"
    if status.signed:
        parts = (translate("Steps", "Signed"), _by(status, "sign"), _examined_by(status))
        sign = " ".join(filter(None, parts))
    elif status.report != "issued":
        no_report = translate("Steps", "There is none yet.")
        sign = f"{sign}. {no_report}"
    return {"save": save, "review": review, "report": report, "sign": sign}


def _examined_by(status: CaseStatus) -> str:
    """Return who examined the text, if that is not the signer; else an empty string."""
    signer = status.acts["sign"][0] if "sign" in status.acts else None
    if not status.examiner or (signer or "").casefold() == status.examiner.casefold():
        return ""
    return filled(translate("Steps", "(examined by {who:text})"), who=status.examiner)


def _by(status: CaseStatus, step: str) -> str:
    """Return who did a step and when; empty if unknown. The signer is the certificate's subject."""
    if step not in status.acts:
        return ""
    actor, date = status.acts[step]
    template = translate("Steps", "by {who:text} on {day:text}")
    return filled(template, who=actor or "–", day=numerals.date(date, language()))


class StrengthScale(QWidget):
    """The verbal scale as a strip, with the reached step and the decision threshold."""

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
        """Show the evidence of an audit; hide the strip if nothing follows from it."""
        self._audit = audit
        self.setVisible(audit.verdict in ("mark", "indication", "no-mark"))
        self.setAccessibleName(f"{self.word()}. {self._threshold_words()}")
        self.setToolTip("\n".join(f"{row.range}: {row.word}" for row in scale(language())))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the strip with a line of text above and below."""
        line = self.fontMetrics().height()
        return QSize(240, 2 * line + self._BAR + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the height that it always has."""
        return QSize(120, self.sizeHint().height())

    @property
    def place(self) -> int:
        """Index of the reached step of the scale, from 0."""
        if self._audit is None:
            return 0
        evidence = self._audit.evidence.log10_e
        rows = scale(language())
        step = max(index for index, row in enumerate(rows) if abs(evidence) >= row.low)
        return min(step, self._MODERATE) if evidence < 0 else step

    def word(self) -> str:
        """Return the reached step in words."""
        if self._audit is None:
            return ""
        word = scale(language())[self.place].word
        template = translate("Answer", "Support for a mark: {word:text}")
        if not self.place:
            template = translate("Answer", "Support: {word:text}")
        elif self._audit.evidence.log10_e < 0:
            template = translate("Answer", "Support against a mark: {word:text}")
        return filled(template, word=word)

    def _threshold(self) -> float:
        threshold = None if self._audit is None else self._audit.policy.get("t_found")
        return float(threshold) if isinstance(threshold, int | float) else 0.0

    def _threshold_words(self) -> str:
        template = translate("Answer", "Decision threshold: {times:text}")
        return filled(template, times=numerals.count(round(10 ** self._threshold()), language()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the steps, filled up to the reached one, and the threshold."""
        if self._audit is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows, reached = scale(language()), self.place
        line, width = self.fontMetrics().height(), self.width()
        step, top = width / len(rows), line + 3
        colour = "against" if self._audit.evidence.log10_e < 0 else "support"
        painter.setPen(Qt.PenStyle.NoPen)
        for word_index in range(len(rows)):
            strong = 0 < word_index <= reached
            painter.setBrush(self._theme.colour(colour if strong else "line"))
            painter.drawRoundedRect(QRectF(word_index * step + 1, top, step - 2, self._BAR), 2, 2)
        painter.setPen(self._theme.colour("text"))
        middle, word = (reached + 0.5) * step, self.word()
        across = self.fontMetrics().horizontalAdvance(word)
        left = min(max(0.0, middle - across / 2), width - across)
        painter.drawText(QRectF(left, 0, across + 2, line), word)
        beyond = [index for index, row in enumerate(rows) if row.low >= self._threshold()]
        threshold_x = (beyond[0] if beyond else len(rows)) * step
        painter.setPen(QPen(self._theme.colour("text"), 2))
        painter.drawLine(QPointF(threshold_x, top - 2), QPointF(threshold_x, top + self._BAR + 3))
        painter.setPen(self._theme.colour("muted"))
        caption = self._threshold_words()
        across = self.fontMetrics().horizontalAdvance(caption)
        left = min(max(0.0, threshold_x - across / 2), width - across)
        painter.drawText(QRectF(left, top + self._BAR + 3, across + 2, line), caption)


MAX_WIDTH = 960  # longer lines are hard to read
MAX_PASSAGES = 3  # passages whose limits the card states; the report has all
RANKED = 3  # candidates that the card names; the table has all


class AnswerView(ScrollCard):
    """The card with the answer; the next steps stand below and never scroll.

    Signals:
        step_wanted: The user chose a step: ``save``, ``review``, ``report`` or ``sign``.
        parts_wanted: The parts of the file that were left out are to be examined.
        resized: The limits were opened or folded, so the card needs another height.
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
        first, *further = self.steps.values()
        steps = row_of(first, spacing=4)
        for button in further:
            add_parts(steps, label("–", "muted"), button)
        self.details = _link(translate("Answer", "Details"))
        ask_report = partial(self.step_wanted.emit, REPORT)
        self.report = push_button(translate("Answer", "Report …"), ask_report)
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
        """Return the height at which outcome, sentence and payload are fully visible."""
        column, margins = self.column, self.column.contentsMargins()
        inside = self._wide(width) - margins.left() - margins.right()
        below = map(column.itemAt, range(column.indexOf(self.more), column.count()))
        heights = [part_height(i, inside) for i in below if i is not None and not i.isEmpty()]
        rest = sum(heights) + column.spacing() * len(heights) + margins.bottom()
        return self.natural_height(width) - rest - self.marks.spare_height()

    def show_item(self, item: Item, audit: Audit) -> None:
        """Show the finding of a row with its notes and its state."""
        note = _note(item, audit)
        if self.audit is not audit or self._note != note:
            self.show_audit(audit, note)
        has_source = item.path is not None or bool(item.document and audit.input.excluded)
        self.examine_parts.setVisible(has_source and bool(_parts_left_out(audit)))
        self.document.setText(item.name)
        self.versions.setText(version_words(item))
        self.versions.setVisible(bool(self.versions.text()))
        self._show_links()
        self.next.setText(next_words(item))
        show_steps(self.steps, item)

    def show_audit(self, audit: Audit, note: str = "") -> None:
        """Show the findings of an audit, and a note on them."""
        self.audit, self._note = audit, note
        tongue, finding = language(), audit.finding
        self.heading.setText(fill(finding.headline, tongue))
        self.sentence.setText(" ".join(rendered(finding.answer, tongue)))
        spoken = f"{self.heading.text()}. {self.sentence.text()}"
        self.scroll_area.setAccessibleDescription(spoken)
        self.strength.show_audit(audit)
        self.compared.setVisible(bool(finding.caveat))
        set_tip(self.compared, *rendered(finding.compared, tongue))
        # The list of the marks says how many there are.
        qualifications = (
            phrase for phrase in finding.qualifications if phrase.key not in (COUNTED, DRAFT)
        )
        remarks = rendered(qualifications, tongue) + finding.notes(tongue, without=("left_out",))
        self._show_left_out(audit)
        draft = rendered((phrase for phrase in finding.wording if phrase.key == DRAFT), tongue)
        notes = [*filter(None, (note, *draft))]
        self.note.setText("\n".join(notes))
        self.note.setVisible(bool(notes))
        self.more.setText("\n".join(remarks))
        self.more.setVisible(bool(remarks))
        self.measured.setText(measured_words(audit))
        # Without a mark, and in a mark by others, there is no payload to speak of.
        marks = finding.marks
        self.payload.setVisible(len(marks) == 1)
        self._show_payload(audit)
        self.marks.show_audit(audit)
        self._show_limits(audit)
        self.candidates.setVisible(any(len(mark.candidates) > 1 for mark in marks))
        count = len(marks[0].candidates) if len(marks) == 1 else 0
        template = translate("Answer", "Candidates ({n:text})") if count else ""
        self.candidates.setText(filled(template, n=count) or translate("Answer", "Candidates"))
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
        """Show which parts of the file were not examined, and offer to examine them."""
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
        template = translate("Answer", "{n:plural(One limit|{n:count} limits)} of this finding")
        self.limits.retitle(filled(template, n=len(lines)))
        self.limit_lines.setText("\n".join(f"–  {line}" for line in lines))
        self.limits.fold()
        self.limits.setVisible(bool(lines))
        self.limits.head.setVisible(bool(lines))


def _parts_left_out(audit: Audit) -> list[str]:
    """Return the parts that were left out and can be examined."""
    return [entry.part for entry in audit.input.left_out if entry.part]


def _note(item: Item, audit: Audit) -> str:
    """Return why a text could not be examined, or how its finding relates to a later audit."""
    day = numerals.date(audit.created, language())
    if item.active:
        template = translate(
            "Answer",
            "This text is being audited again. Until then this is the finding of {day:text}.",
        )
        return filled(template, day=day)
    if item.failure is None or audit.verdict == "not-examinable":
        return item.failure.message if item.failure is not None else ""
    if item.unkept:
        template = translate(
            "Answer",
            "This finding is not saved: {why:text} It is safe here until the window is closed.",
        )
        return filled(template, why=item.failure.words)
    template = translate(
        "Answer", "A later audit failed: {why:text} This is still the finding of {day:text}."
    )
    return filled(template, why=item.failure.words, day=day)


def measured_words(audit: Audit) -> str:
    """Return key, model and date of an audit; only the date if the text was not examined."""
    if audit.verdict == "not-examinable":
        template = translate("Answer", "noted on {day:text}")
        return filled(template, day=numerals.date(audit.created, language()))
    return " ".join(rendered(audit.finding.basis, language()))


def payload_lines(audit: Audit, payload: NamedPayload) -> Iterator[QLabel]:
    """Yield the lines on the recipient, or on the candidates if the payload is undecided."""
    tongue = language()
    recipient = whom_words(audit.profile, payload, grouped(payload.best), tongue)
    recipient_label = label(recipient, "payload", wrap=True)
    recipient_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    yield recipient_label
    if not payload.identified:
        for rank, candidate in enumerate(audit.candidates[:RANKED], start=1):
            text = ", ".join(f"{f.name} {f.text}" for f in candidate.fields) or grouped(
                candidate.bits
            )
            if key_title := audit.other_key_title(candidate):
                text = f"{text} · {key_title}"
            share = numerals.weight(candidate.posterior, tongue)
            line = translate("Answer", "{rank:text}. {payload:text} · share {weight:text}")
            filled_line = filled(line, rank=str(rank), payload=text, weight=share)
            candidate_label = label(filled_line, "muted", wrap=True)
            set_tip(candidate_label, _share_words())
            yield candidate_label
        return
    recipient_label.setObjectName("payload")
    if not payload.fields:
        recipient_label.setFont(fonts.mono(fonts.READING, strong=True))
        recipient_label.setProperty("face", "mono")
    recipient_label.setToolTip(grouped(payload.best))
    extent = translate(
        "Answer",
        "{share:text} of the tokens, in {k:plural(one passage|{k:count} passages)} · "
        "payload of {n:text} bits",
    )
    share = numerals.share(audit.finding.share or 0.0, tongue)
    count = len(audit.finding.passages)
    text = filled(extent, share=share, k=count, n=str(len(payload.best)))
    yield label(text, "muted")
    for _, passage in audit.finding.passages[:MAX_PASSAGES]:
        if limits := limits_words(passage, tongue):
            passage_text = audit.finding.place(passage, tongue)
            text = f"{passage_text[:1].upper()}{passage_text[1:]}; {limits}"
            yield label(text, "muted", wrap=True)
    if audit.register is not None:
        match = audit.finding.register_match
        text = (
            filled(
                translate("Answer", "Register entry {n:count}: {who:text}"),
                n=match.entry,
                who=match.who,
            )
            if match is not None
            else translate("Answer", "No entry of the register has this payload")
        )
        yield label(text, "muted", wrap=True)


def _share_words() -> str:
    return translate(
        "Answer",
        "All possible payloads share 1; the better one fits the text, the more it has. This ranks "
        "payloads, not people.",
    )


def _link(text: str) -> QPushButton:
    link = push_button(text, role="link")
    link.setCursor(Qt.CursorShape.PointingHandCursor)
    return link

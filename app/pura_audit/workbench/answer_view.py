"""The answer: outcome, sentence, scale, payload, and what weakens it; the record's own words."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from pura.record.audit import Audit
from pura.words.sentence import Sentence
from pura.words.sentences import fill
from pura_audit.jobs.outcome import Failure
from pura_audit.look import fonts
from pura_audit.look.theme import GAP, GRID, PADDING, Theme
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.selection import Selection
from pura_audit.widgets.card import Card, label
from pura_audit.widgets.flow import FlowLayout
from pura_audit.widgets.scale_strip import ScaleStrip
from pura_audit.workbench.mark_list import MarkList, grouped

MAX_WIDTH = 960  # longer lines are hard to read
NOTES = ("note.",)
REPORT_ONLY = ("scope",)  # speaks of the sections of a report


def caution_words(sentence: Sentence) -> str:
    """Return a caution in a few words, for its pill; the sentence itself is the tool tip."""
    name = sentence.key.partition(".")[2]
    words = {
        "repaired": translate("Answer", "{k:plural(one bit|{k:text} bits)} repaired"),
        "erasures": translate("Answer", "{k:plural(one position|{k:text} positions)} never read"),
        "few-usable": translate("Answer", "few usable positions"),
        "short": translate("Answer", "short text"),
        "prompt-unknown": translate("Answer", "prompt unknown"),
        "message-unknown": translate("Answer", "user's message unknown"),
        "prompts-one": translate("Answer", "{k:text} candidate prompts"),
        "prompts-none": translate("Answer", "{k:text} candidate prompts"),
        "prior-unused": translate("Answer", "no register as prior"),
        "model-differs": translate("Answer", "another model than the profile's"),
        "model-unknown": translate("Answer", "generating model not named"),
        "unmeasured": translate("Answer", "power not measured"),
        "signs": translate("Answer", "mostly code or numbers"),
        "language": translate("Answer", "does not look English"),
        "retokenised": translate("Answer", "tokens may differ"),
        "several-keys": translate("Answer", "several keys tried"),
        "paper-decoder": translate("Answer", "published decoder"),
    }
    said = words.get(name, name.replace("-", " "))
    count = sentence.values.get("k")
    return filled(said, k=count if isinstance(count, int) else 0)


class AnswerView(Card):
    """What it means.

    Signals:
        details_wanted: The full wording is asked for.
        candidates_wanted: The table of candidates is asked for.
        report_wanted: A report is to be made.
    """

    details_wanted = Signal()
    candidates_wanted = Signal()
    report_wanted = Signal()

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("", parent, inner=PADDING)
        self._audit: Audit | None = None
        self.frame_layout.setContentsMargins(0, 0, 0, 0)
        inside = QWidget()
        column = self._column = QVBoxLayout(inside)
        column.setContentsMargins(PADDING, 20, PADDING, 12)
        column.setSpacing(GRID)
        self.heading = label("", "answer", wrap=True)
        self.sentence = label("", "", wrap=True)
        self.note = label("", "small", wrap=True)
        self.chance = label("", "small", wrap=True)
        self.more = label("", "muted", wrap=True)
        self.scale = ScaleStrip(theme)
        self.marks = MarkList(selection, theme)
        for widget in (self.heading, self.sentence, self.note, self.chance, self.more):
            widget.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self._facts = QHBoxLayout()
        self._facts.setSpacing(PADDING)
        self._pill_row = QWidget()
        self._pills = FlowLayout(self._pill_row)
        self._links = QHBoxLayout()
        self._details = _link(translate("Answer", "Full wording and steps"), self.details_wanted)
        self._candidates = _link(translate("Answer", "Candidates"), self.candidates_wanted)
        self._report = _link(translate("Answer", "Report …"), self.report_wanted)
        self._links.setSpacing(GAP)
        self._links.addWidget(self._details)
        self._links.addWidget(self._candidates)
        self._links.addWidget(self._report)
        self._links.addStretch(1)
        for widget in (self.heading, self.sentence, self.note):
            column.addWidget(widget)
        column.addSpacing(4)
        column.addWidget(self.scale)
        column.addSpacing(4)
        column.addWidget(self.marks)
        column.addLayout(self._facts)
        for part in (self.more, self._pill_row, self.chance):
            column.addWidget(part)
        column.addLayout(self._links)
        column.addStretch(1)
        inside.setMaximumWidth(MAX_WIDTH)
        self.scroll_area = QScrollArea()
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_area.setAccessibleName(translate("Answer", "Answer"))
        self.scroll_area.setWidget(inside)
        self.body.addWidget(self.scroll_area)

    def natural_height(self, width: int) -> int:
        """Return the height at which nothing scrolls."""
        return self._column.totalHeightForWidth(min(MAX_WIDTH, max(200, width - 2))) + 4

    def show_audit(self, audit: Audit, failure: Failure | None = None) -> None:
        """Show the findings of an audit, and why the text could not be examined."""
        self._audit = audit
        self.heading.setText(audit.title(language()))
        first, *rest = audit.sentences
        self.sentence.setText(fill(first, language()))
        # What the number is not stands right below it; what chance can do stands at the end.
        strength = [s for s in rest if s.key == "note.n1" or s.key.startswith("evidence.")]
        chance = [s for s in rest if s.key.startswith(NOTES) and s not in strength]
        apart = (*strength, *chance, *(s for s in rest if s.key.startswith("marks.")))
        others = [fill(s, language()) for s in rest if s not in apart and s.key not in REPORT_ONLY]
        why = "" if failure is None else failure.message
        self.note.setText(" ".join([why, *(fill(s, language()) for s in strength)]).strip())
        self.chance.setText("\n".join(fill(s, language()) for s in chance))
        self.more.setText("\n".join(others))
        self.more.setVisible(bool(others))
        examined = audit.verdict != "not-examinable"
        self.scale.setVisible(examined)
        if examined:
            evidence = audit.evidence
            self.scale.show_place(evidence.scale_word, math.log10(evidence.lr_capped))
        self.marks.show_audit(audit)
        self._fill_facts(audit)
        self._fill_pills(audit)
        # Without a mark there is no payload to speak of, so no candidates either.
        self._candidates.setVisible(audit.verdict == "mark" and len(audit.candidates) > 1)
        count = len(audit.candidates)
        self._candidates.setText(filled(translate("Answer", "Candidates ({n:text})"), n=count))
        self.scroll_area.verticalScrollBar().setValue(0)

    def payload_text(self) -> str:
        """Return the payload as it stands on screen, blanks left out; "" without one."""
        found = self.findChild(QLabel, "payload")
        return "".join(found.text().split()) if found is not None else ""

    def _fill_facts(self, audit: Audit) -> None:
        _empty(self._facts)
        if audit.verdict != "mark":
            return
        if len(audit.marks) < 2:
            self._add_payload(audit)
        if audit.register is not None:
            matches = audit.register.matches
            words = matches[0].who if matches else translate("Answer", "no entry")
            self._facts.addLayout(_fact(translate("Answer", "Register"), label(words, "value")), 1)
        self._facts.addStretch(1)

    def _add_payload(self, audit: Audit) -> None:
        bits = audit.payload.bits
        value = label(grouped(bits), "value")
        value.setObjectName("payload")
        value.setFont(fonts.mono(fonts.BODY, strong=True))
        value.setWordWrap(len(bits) > 48)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._facts.addLayout(_fact(_payload_caption(audit), value), 2)
        for field in audit.payload.fields:
            shown = label(field.text if field.known else f"{field.raw} ?", "value")
            self._facts.addLayout(_fact(field.name, shown), 1)

    def _fill_pills(self, audit: Audit) -> None:
        self._pills.clear()
        for sentence in audit.cautions:
            pill = label(caution_words(sentence), "pill")
            if sentence.key == "caution.repaired":
                pill.setProperty("kind", "repaired")
            full = fill(sentence, language())
            pill.setToolTip(f"<p>{_escape(full)}</p>")
            pill.setAccessibleName(full)
            self._pills.addWidget(pill)
            pill.show()
        self._pill_row.setVisible(bool(audit.cautions))
        self._pill_row.updateGeometry()


def _payload_caption(audit: Audit) -> str:
    return filled(translate("Answer", "Payload, {n:text} bits"), n=len(audit.payload.bits))


def _fact(caption: str, value: QLabel) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(2)
    column.addWidget(label(caption, "label"))
    column.addWidget(value)
    return column


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


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")

"""Dialogs with all details of a finding, its propositions, its candidates, or a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFormLayout, QScrollArea, QVBoxLayout, QWidget

from pura.base import numerals
from pura.base.numerals import weight
from pura.record.audit import Audit
from pura.record.comparison import compare_audits
from pura.record.evidence import VariantFacts
from pura.record.finding import rendered
from pura.record.naming import whom_words
from pura.record.surroundings import StepReport
from pura.words.sentences import changed, noted, step_name, title
from pura_audit.platform.i18n import decimal, filled, language, moment, number, translate
from pura_audit.theme.theme import GRID, Theme
from pura_audit.widgets.card import Fold, add_parts, column_of, label, push_button
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    PlainDialog,
    button_row,
    close_button,
    dialog_column,
    plain_button,
)
from pura_audit.widgets.plot_card import ScaleStrip
from pura_audit.widgets.working_dialog import fill_table, make_table
from pura_audit.workbench.answer import grouped

_PROMPTS = 5  # candidates that are named


Part = tuple[str, Sequence[str], bool]
"""A part: its title, its lines, and whether it is folded."""


def parts(audit: Audit, next_step: str = "") -> list[Part]:
    """Return the whole content of a record in the order of a report's first page.

    Args:
        audit: The record.
        next_step: The next step for the finding; empty for none.
    """
    tongue, finding = language(), audit.finding
    recipients = tuple(
        whom_words(audit.profile, mark.payload, grouped(mark.payload.best), tongue)
        for mark in finding.marks
    )
    headlines = (*finding.answer, *finding.qualifications)
    rest = [phrase for phrase in finding.wording if phrase not in headlines]
    limits = (*rendered(finding.cautions, tongue), *finding.notes(tongue))
    steps = [_step(step, tongue) for step in audit.log]
    provenance = [f"{name}: {fact}" for name, fact in _provenance(audit, tongue)]
    variants = audit.variants if len(audit.variants) > 1 else ()
    in_short = [
        ("", [" ".join(rendered(finding.answer, tongue)), *rendered(finding.caveat, tongue)]),
        (translate("Dialog", "For whom, when"), recipients),
        (translate("Dialog", "In addition"), rendered(finding.qualifications, tongue)),
        (translate("Dialog", "What it rests on"), ["\n".join(_ground(audit, tongue))]),
        (translate("Dialog", "What weakens or limits this"), [f"–  {text}" for text in limits]),
        (translate("Dialog", "What to do next"), [next_step]),
    ]
    background = [
        (translate("Dialog", "The findings in full"), rendered(rest, tongue)),
        (
            translate("Dialog", "Each mark"),
            ["\n".join(mark_line) for mark_line in finding.mark_lines(tongue)],
        ),
        (translate("Dialog", "What is compared"), rendered(finding.compared, tongue)),
        (translate("Dialog", "Scale"), ["\n".join(finding.scale_lines(tongue))]),
        (translate("Dialog", "Readings of the text"), ["\n".join(map(_reading, variants))]),
        (translate("Dialog", "After candidate prompts"), ["\n".join(_prompted(audit))]),
        (translate("Dialog", "Measured with"), ["\n".join(provenance)]),
        (translate("Dialog", "Steps"), ["\n".join(steps)]),
    ]
    rows = [(*row, False) for row in in_short] + [(*row, True) for row in background]
    return [row for row in rows if any(row[1])]


def wording(audit: Audit, next_step: str = "") -> str:
    """Return the whole content of a record as text."""
    sections = parts(audit, next_step)
    return "\n\n".join("\n".join(filter(None, (head, *lines))) for head, lines, _ in sections)


def _ground(audit: Audit, tongue: str) -> list[str]:
    """Return what was examined, and with which key, profile and model."""
    finding = audit.finding
    day = numerals.date(audit.created, tongue)
    lines = [
        (translate("Dialog", "Text"), f"{audit.input.name}, SHA-256 {audit.input.sha256 or '–'}"),
        (translate("Dialog", "Keys tried"), finding.keys),
        (translate("Dialog", "Profile"), finding.profile),
        (translate("Dialog", "Model"), finding.model),
        (translate("Dialog", "Examined on"), day),
    ]
    if audit.verdict == "not-examinable":
        lines = [lines[0], (translate("Dialog", "Noted on"), day)]
    return [f"{name}: {fact}" for name, fact in lines]


def _reading(variant: VariantFacts) -> str:
    """Return the evidence of one reading of the text."""
    name = {
        "found": translate("Dialog", "as found"),
        "restored": translate("Dialog", "typographic changes undone"),
        "layout": translate("Dialog", "lines and blanks restored too"),
        "case": translate("Dialog", "capitals restored too"),
        "spelling": translate("Dialog", "broken words mended and signs put back too"),
        "ids": translate("Dialog", "token ids as saved"),
    }.get(variant.name, variant.name)
    text = filled(
        translate("Dialog", "{name:text}: evidence {value:text} (log₁₀), {n:count} tokens"),
        name=name,
        value=decimal(variant.log10_e, 1),
        n=variant.tokens,
    )
    if variant.changes:
        text += (
            " ("
            + "; ".join(changed(c.name, c.count, (), language()) for c in variant.changes)
            + ")"
        )
    shown_mark = translate("Dialog", "shown")
    return f"{text}  ← {shown_mark}" if variant.shown else text


def _prompted(audit: Audit) -> list[str]:
    """Return the evidence after the best candidate prompts."""
    read = [(prompt.log10_e, prompt) for prompt in audit.prompts if prompt.log10_e is not None]
    lines = []
    for log10_e, facts in sorted(read, key=lambda pair: -pair[0])[:_PROMPTS]:
        text = filled(
            translate(
                "Dialog", "prompt {i:count}: evidence {value:text} (log₁₀), {n:count} tokens before"
            ),
            i=facts.number,
            value=decimal(log10_e, 1),
            n=facts.tokens,
        )
        shown_mark = translate("Dialog", "shown")
        lines.append(f"{text}  ← {shown_mark}" if facts.shown else text)
    if len(read) > _PROMPTS:
        further = translate("Dialog", "{n:count} more, with less evidence")
        lines.append(filled(further, n=len(read) - _PROMPTS))
    return lines


def _provenance(audit: Audit, tongue: str) -> list[tuple[str, str]]:
    device = audit.device
    return [
        (translate("Dialog", "Key"), audit.key.title),
        *_tried(audit),
        (translate("Dialog", "Model"), audit.finding.model),
        (translate("Dialog", "Tokenizer"), audit.model.tokenizer),
        (translate("Dialog", "Profile"), audit.finding.profile),
        (
            translate("Dialog", "Device"),
            f"{device.name}, {device.dtype}. {noted(device.reason, tongue)}",
        ),
        (translate("Dialog", "Input"), f"SHA-256 {audit.input.sha256}"),
        ("log10 e", decimal(audit.evidence.log10_e, 1)),
        (translate("Dialog", "Usable positions"), number(audit.evidence.usable)),
    ]


def _tried(audit: Audit) -> list[tuple[str, str]]:
    if len(audit.keys) < 2:
        return []
    names = ", ".join(key.title for key in audit.keys)
    template = translate("Dialog", "{names:text}. The number is the mean over all of them.")
    return [(translate("Dialog", "Keys tried"), filled(template, names=names))]


def _step(step: StepReport, tongue: str) -> str:
    state = f"{decimal(step.seconds, 2)} s" if step.done else translate("Dialog", "left out")
    note = step.words(tongue)
    name = step_name(step.name, tongue)
    return f"{step.number:>2}  {name}: {state}" + (f" ({note})" if note else "")


def details_dialog(
    audit: Audit, theme: Theme, next_step: str = "", parent: QWidget | None = None
) -> PlainDialog:
    """Return the dialog with the finding in full; its background is folded.

    Args:
        audit: The record.
        theme: The colours.
        next_step: The next step for the finding.
        parent: The window that the dialog belongs to.
    """
    dialog = PlainDialog(parent)
    dialog.setWindowTitle(translate("Dialog", "Details"))
    dialog.resize(720, 640)
    layout = dialog_column(dialog, audit.title(language()), audit.input.name)
    if audit.verdict != "not-examinable":
        strip = ScaleStrip(theme)
        strip.show_place(audit.evidence.scale_word, math.log10(audit.evidence.lr_capped))
        layout.addWidget(strip)
    inside = QWidget()
    column = column_of(inside=inside)
    column.setContentsMargins(GRID, GRID, GRID, GRID)
    for part in parts(audit, next_step):
        _add_part(column, *part)
    column.addStretch(1)
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setAccessibleName(translate("Dialog", "Full wording"))
    area.setWidget(inside)
    layout.addWidget(area, 1)
    clipboard = QGuiApplication.clipboard()
    copy = push_button(
        translate("Dialog", "Copy"), lambda: clipboard.setText(wording(audit, next_step))
    )
    layout.addLayout(button_row(close_button(dialog, enter=True), left=(copy,)))
    return dialog


def _add_part(column: QVBoxLayout, head: str, lines: Sequence[str], folded: bool) -> None:
    if folded:
        fold = Fold(head)
        column.addWidget(fold)
        column = fold.body
    elif head:
        column.addWidget(label(head, "section"))
    for index, text in enumerate(lines):
        role = "" if head else "muted" if index else "reading"  # the answer, what it is not
        line = label(text, role, wrap=True)
        line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(line)
    if not folded:
        column.addSpacing(GRID)


class CompareDialog(PlainDialog):
    """Compares two audits line by line.

    Args:
        audits: The audits to choose from; the first two are compared first.

    Signals:
        texts_wanted: Both texts are to be shown side by side; carries their indexes.
    """

    texts_wanted = Signal(int, int)

    def __init__(self, audits: Sequence[Audit], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._audits = list(audits)
        self.setWindowTitle(translate("Compare", "Compare two audits"))
        self.resize(860, 768)
        self.first = self._choice(translate("Compare", "First audit"))
        self.second = self._choice(translate("Compare", "Second audit"))
        self.second.setCurrentIndex(min(1, len(self._audits) - 1))
        self.words = label("", "reading", wrap=True)
        self.table = make_table(translate("Compare", "Comparison"))
        layout = dialog_column(self, translate("Compare", "Compare two audits"))
        form = QFormLayout()
        form.setSpacing(GRID)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for choice in (self.first, self.second):
            form.addRow(choice.accessibleName(), choice)
        self.side_by_side = plain_button(
            translate("Compare", "Texts side by side …"), self._ask_texts
        )
        self.side_by_side.setEnabled(bool(self._audits))
        foot = button_row(close_button(self, enter=True), left=[self.side_by_side])
        add_parts(layout, form, self.words, (self.table, 1), foot)
        for choice in (self.first, self.second):
            choice.currentIndexChanged.connect(lambda _index: self.show_lines())
        self.show_lines()
        self.first.setFocus()

    def _choice(self, name: str) -> QComboBox:
        choice = QComboBox()
        choice.setAccessibleName(name)
        # As wide as the dialog, however long a name is.
        choice.setSizeAdjustPolicy(choice.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        for position, audit in enumerate(self._audits, start=1):
            choice.addItem(f"{position}. {audit.input.name}, {moment(audit.created)}")
        return choice

    def _ask_texts(self) -> None:
        self.texts_wanted.emit(self.first.currentIndex(), self.second.currentIndex())

    def show_lines(self) -> None:
        """Compare the two selected audits."""
        if not self._audits:
            self.words.setText(
                translate("Compare", "Two finished audits are needed. Audit texts first.")
            )
            return
        lines = compare_audits(
            self._audits[self.first.currentIndex()], self._audits[self.second.currentIndex()]
        )
        differing = sum(not line.same for line in lines)
        template = translate(
            "Compare", "{n:plural(One|{n:count})} of {all:count} lines {n:plural(differs|differ)}."
        )
        if not differing:
            template = translate("Compare", "Nothing differs, the evidence within its tolerance.")
        self.words.setText(filled(template, n=differing, all=len(lines)))
        names = _names()
        headers = (
            "",
            translate("Compare", "What"),
            self.first.accessibleName(),
            self.second.accessibleName(),
        )
        rows = [
            (
                "" if line.same else "≠",
                names[line.name],
                _words(line.name, line.first),
                _words(line.name, line.second),
            )
            for line in lines
        ]
        fill_table(self.table, headers, rows, widest=290)


def _words(name: str, code: str) -> str:
    """Return a code in words; other values stay as they are."""
    if name == "verdict":
        return title(code, language())
    if name == "prompt":
        known_word = translate("Compare", "known")
        return known_word if code == "known" else translate("Compare", "unknown")
    if name == "payload" and set(code) <= {"0", "1"}:
        return grouped(code)
    if name == "evidence" and code != "–":
        return decimal(float(code), 3)
    return code


def _names() -> dict[str, str]:
    return {
        "item": translate("Compare", "Item"),
        "sha256": "SHA-256",
        "tokens": translate("Compare", "Tokens"),
        "keys": translate("Compare", "Keys"),
        "profile": translate("Compare", "Profile"),
        "model": translate("Compare", "Model"),
        "prompt": translate("Compare", "Prompt"),
        "device": translate("Compare", "Device"),
        "decoder": translate("Compare", "Decoder"),
        "verdict": translate("Compare", "Outcome"),
        "payload": translate("Compare", "Payload"),
        "repaired": translate("Compare", "Repaired positions"),
        "usable": translate("Compare", "Usable positions"),
        "evidence": translate("Compare", "Evidence (log₁₀)"),
    }


def compared_dialog(audit: Audit, parent: QWidget) -> FittedDialog:
    """Return the dialog with both propositions, and what the number does not mean."""
    dialog = FittedDialog(parent)
    caption = translate("Dialog", "What is compared")
    dialog.setWindowTitle(caption)
    dialog.setMinimumWidth(560)
    layout = dialog_column(dialog, caption)
    for sentence in rendered((*audit.finding.compared, *audit.finding.caveat), language()):
        line = label(sentence, "reading", wrap=True)
        line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(line)
    add_parts(layout, None, button_row(close_button(dialog, enter=True)))
    return dialog


def candidate_table(
    audit: Audit, number: int = 0
) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """Return the headers, the rows and the introduction of the table of candidates.

    Args:
        audit: The record.
        number: Index of the mark, in the order of the text.
    """
    names = [field.name for field in audit.profile.fields]
    mark = audit.finding.marks[number]
    headers = (
        translate("Dialog", "Rank"),
        translate("Dialog", "Share"),
        translate("Dialog", "Payload"),
        *names,
        *((translate("Dialog", "Register"),) if audit.register else ()),
    )
    rows = []
    for rank, candidate in enumerate(mark.candidates, start=1):
        # A payload in question is nobody's, so no entry stands beside it; nor does one beside
        # the same payload under another key, which is another mark.
        key_title = audit.other_key_title(candidate)
        is_best = not key_title and candidate.bits == mark.payload.best
        entry = mark.entry if is_best else None
        rows.append(
            (
                str(rank),
                weight(candidate.posterior, language()),
                grouped(candidate.bits) + (f" · {key_title}" if key_title else ""),
                *(field.text for field in candidate.fields),
                *((entry.who if entry else "–",) if audit.register else ()),
            )
        )
    explanation = translate(
        "Dialog",
        "Shares of 1, all payloads counting alike beforehand. They rank the payloads under the "
        "assumption that the text carries a mark of this key.",
    )
    return headers, rows, explanation

"""Compare two audits; the two possibilities compared; the ranked payloads as a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QWidget,
)

from pura.base.numerals import weight
from pura.record.audit import Audit
from pura.record.comparison import compare_audits
from pura.record.finding import said
from pura.words.sentences import title
from pura_audit.platform.i18n import decimal, filled, language, translate
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    PlainDialog,
    button_row,
    close_button,
    dialog_column,
    plain_button,
)
from pura_audit.widgets.table_dialog import fill_table, make_table
from pura_audit.workbench.answer.mark_list import grouped


class CompareDialog(PlainDialog):
    """Two audits, what they share and where they differ.

    Args:
        audits: What there is to choose from; the first two are shown.

    Signals:
        texts_wanted: Their texts side by side: which audit is the first, and which the second.
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
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for choice in (self.first, self.second):
            form.addRow(choice.accessibleName(), choice)
        layout.addLayout(form)
        layout.addWidget(self.words)
        layout.addWidget(self.table, 1)
        self.beside = plain_button(translate("Compare", "Texts side by side …"), self._ask_texts)
        self.beside.setEnabled(bool(self._audits))
        layout.addLayout(button_row(close_button(self, enter=True), left=[self.beside]))
        for choice in (self.first, self.second):
            choice.currentIndexChanged.connect(lambda _index: self.show_lines())
        self.show_lines()
        self.first.setFocus()

    def _choice(self, name: str) -> QComboBox:
        choice = QComboBox()
        choice.setAccessibleName(name)
        for place, audit in enumerate(self._audits, start=1):
            choice.addItem(f"{place}. {audit.input.name}, {audit.created[:16].replace('T', ' ')}")
        return choice

    def _ask_texts(self) -> None:
        self.texts_wanted.emit(self.first.currentIndex(), self.second.currentIndex())

    def show_lines(self) -> None:
        """Compare the two that are chosen."""
        if not self._audits:
            self.words.setText(
                translate("Compare", "Two finished audits are needed. Audit texts first.")
            )
            return
        lines = compare_audits(
            self._audits[self.first.currentIndex()], self._audits[self.second.currentIndex()]
        )
        differing = sum(not line.same for line in lines)
        words = translate(
            "Compare", "{n:plural(One|{n:count})} of {all:count} lines {n:plural(differs|differ)}."
        )
        if not differing:
            words = translate("Compare", "Nothing differs, the evidence within its tolerance.")
        self.words.setText(filled(words, n=differing, all=len(lines)))
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


def _words(name: str, value: str) -> str:
    """Write a value for people, where it is a code."""
    if name == "verdict":
        return title(value, language())
    if name == "prompt":
        known = translate("Compare", "known")
        return known if value == "known" else translate("Compare", "unknown")
    if name == "payload" and set(value) <= {"0", "1"}:
        return grouped(value)
    if name == "evidence" and value != "–":
        return decimal(float(value), 3)
    return value


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


class ComparedDialog(FittedDialog):
    """Both propositions, and what the number is not."""

    def __init__(self, audit: Audit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = translate("Dialog", "What is compared")
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        layout = dialog_column(self, title)
        found = audit.finding
        for words in said((*found.compared, *found.caveat), language()):
            line = label(words, "reading", wrap=True)
            line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(line)
        layout.addStretch(1)
        layout.addLayout(button_row(close_button(self, enter=True)))


def candidate_table(
    audit: Audit, number: int = 0
) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """Return headers, rows and the sentence above them.

    Args:
        audit: The record.
        number: Of which mark, in the order of the text.
    """
    names = [field.name for field in audit.profile.fields]
    match = audit.finding.register_match
    headers = (
        translate("Dialog", "Rank"),
        translate("Dialog", "Share"),
        translate("Dialog", "Payload"),
        *names,
        *((translate("Dialog", "Register"),) if audit.register else ()),
    )
    rows = []
    mark = audit.finding.marks[number]
    for rank, found in enumerate(mark.candidates, start=1):
        # A payload in question is nobody's, so no entry stands beside it.
        entry = match if match is not None and match.payload == found.bits else None
        rows.append(
            (
                str(rank),
                weight(found.posterior, language()),
                grouped(found.bits),
                *(value.text for value in found.fields),
                *((entry.who if entry else "–",) if audit.register else ()),
            )
        )
    words = translate(
        "Dialog",
        "Shares of 1, all payloads counting alike beforehand. They rank the payloads under the "
        "assumption that the text carries a mark of this key.",
    )
    return headers, rows, words

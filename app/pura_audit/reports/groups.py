"""Groups of the report's form: audits, parties, item, remarks, layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from pura.base.numerals import SPOKEN
from pura.record.audit import Audit
from pura.report import ItemNotes, Parties, ReportRequest
from pura.report.build import MAX_AUDITS
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.platform.settings import WindowSettings
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import ElidedLabel, Fold, label
from pura_audit.widgets.form_dialog import LabelledField, Words, ask_file, choice, pair

_ROW: Final = 27
_ROWS: Final = 5  # that are seen at once


class FormGroup(Fold):
    """A group of the report's form.

    Signals:
        changed: Something was typed or chosen.
    """

    changed = Signal()

    def check(self) -> bool:
        """Say what is wrong; return whether all is well."""
        return True

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with what this group holds."""
        return request


class AuditsGroup(FormGroup):
    """Which audits go into the report."""

    def __init__(self, audits: Sequence[tuple[str, Audit]], *, every: bool = False) -> None:
        super().__init__(translate("Report", "Audits"), opened=True)
        self._audits = [audit for _, audit in audits]
        self.list = QListWidget()
        self.list.setAccessibleName(translate("Report", "Audits of this report"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for place, (name, audit) in enumerate(audits):
            row = QListWidgetItem(f"{name} · {audit.title(language())}")
            row.setToolTip(row.text())
            row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            on = every or place == 0
            row.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
            self.list.addItem(row)
        self.list.setCurrentRow(0)
        self.list.setFixedHeight(_ROW * max(1, min(len(self._audits), _ROWS)) + 8)
        self.list.itemChanged.connect(lambda _: self._changed())
        self.wrong = label("", "attention", wrap=True)
        self.body.addWidget(self.list)
        self.body.addWidget(self.wrong)
        self._changed()

    def chosen(self) -> tuple[Audit, ...]:
        """Return the audits that are ticked, in their order."""
        return tuple(
            audit
            for place, audit in enumerate(self._audits)
            if self.list.item(place).checkState() == Qt.CheckState.Checked
        )

    def _changed(self) -> None:
        words = translate("Report", "{n:count} of {all:count}")
        self.tell(filled(words, n=len(self.chosen()), all=len(self._audits)))
        self.changed.emit()

    def check(self) -> bool:
        """Say what is wrong; return whether all is well."""
        words, count = "", len(self.chosen())
        if not count:
            words = translate("Report", "Tick at least one audit.")
        elif count > MAX_AUDITS:
            words = translate("Report", "A report takes at most {most:count} audits.")
            words = filled(words, most=MAX_AUDITS)
        self.wrong.setText(words)
        self.wrong.setVisible(bool(words))
        return not words


class _WordsGroup(FormGroup):
    """A group of words that says how many of its fields are filled."""

    def __init__(self, title_: str) -> None:
        super().__init__(title_)
        self.fields: dict[str, Words] = {}

    def add(self, name: str, caption: str, text: str, *, lines: int = 1) -> Words:
        """Add a field."""
        words = Words(caption, lines=lines)
        words.set_text(text)
        words.edited.connect(self._edited)
        self.fields[name] = words
        self.body.addWidget(words)
        return words

    def _edited(self) -> None:
        self.count()
        self.changed.emit()

    def count(self) -> None:
        """Say how many fields are filled."""
        given = sum(bool(words.text) for words in self.fields.values())
        words = translate("Report", "{n:count} of {all:count} given")
        none = translate("Report", "not given")
        self.tell(filled(words, n=given, all=len(self.fields)) if given else none)

    def check(self) -> bool:
        """Say what is wrong; return whether all is well."""
        return not sum(not words.check() for words in self.fields.values())

    def texts(self) -> dict[str, str]:
        """Return what stands in the fields, by their names."""
        return {name: words.text for name, words in self.fields.items()}


class PartiesGroup(_WordsGroup):
    """Who asks, who examines, who answers for it."""

    def __init__(self, base: Parties, settings: WindowSettings) -> None:
        super().__init__(translate("Report", "Parties"))
        names = {
            "organisation": translate("Report", "Organisation"),
            "address": translate("Report", "Address"),
            "place": translate("Report", "Place of the work"),
            "customer": translate("Report", "Customer"),
            "question": translate("Report", "Question"),
            "purpose": translate("Report", "Legal basis or purpose"),
            "examiner": translate("Report", "Examiner"),
            "reviewer": translate("Report", "Technical reviewer"),
            "authoriser": translate("Report", "Authoriser"),
        }
        for field in fields(Parties):
            text = getattr(base, field.name) or getattr(settings, f"report_{field.name}", "")
            lines = 2 if field.name in ("address", "question") else 1
            self.add(field.name, names[field.name], text, lines=lines)
        self.count()

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with these parties."""
        return replace(request, parties=Parties(**self.texts()))


class ItemGroup(_WordsGroup):
    """How the item came in."""

    def __init__(self, base: ItemNotes) -> None:
        super().__init__(translate("Report", "Item"))
        self.add("source", translate("Report", "Source and how it was received"), base.source)
        self.add("received", translate("Report", "Date and time of receipt"), base.received)
        self.add("custody", translate("Report", "Custody since"), base.custody, lines=2)
        self.add(
            "supplied",
            translate("Report", "What the customer said about it"),
            base.supplied,
            lines=2,
        )
        self.add(
            "disclosed",
            translate("Report", "Case information disclosed, and when"),
            base.disclosed,
            lines=2,
        )
        self.count()

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with these notes."""
        return replace(request, item=ItemNotes(**self.texts()))


class RemarksGroup(_WordsGroup):
    """What the examiner and the reviewer add."""

    def __init__(self, base: ReportRequest, settings: WindowSettings) -> None:
        super().__init__(translate("Report", "Remarks"))
        self.add(
            "deviations",
            translate("Report", "Deviations from the method"),
            base.deviations,
            lines=2,
        )
        self.add(
            "external", translate("Report", "Parts that others provided"), base.external, lines=2
        )
        self.remark = self.add(
            "remark", translate("Report", "Remark of the examiner"), base.remark, lines=4
        )
        self.remark.set_hint(translate("Report", "In a box of its own, apart from the findings"))
        self.add(
            "review",
            translate("Report", "What the reviewer recomputed, and the result"),
            base.review,
            lines=2,
        )
        standing = self.add(
            "standing",
            translate("Report", "Standing remarks of the organisation"),
            base.standing or settings.report_standing,
            lines=3,
        )
        standing.set_hint(translate("Report", "Stand in each report, with its integrity"))
        self.count()

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with these remarks."""
        found = self.texts()
        return replace(
            request,
            deviations=found["deviations"],
            external=found["external"],
            remark=found["remark"],
            review=found["review"],
            standing=found["standing"],
        )


class LayoutGroup(FormGroup):
    """Language, paper, logo."""

    def __init__(self, base: ReportRequest, settings: WindowSettings) -> None:
        super().__init__(translate("Report", "Layout"))
        plain = ReportRequest()
        tongue = settings.report_language or language()
        if base.language != plain.language:
            tongue = base.language
        paper = settings.report_paper or usual_paper()
        if base.paper != plain.paper:
            paper = base.paper
        first, self.language = choice(
            translate("Report", "Language"),
            [(code, spoken.name) for code, spoken in SPOKEN.items()],
            tongue,
            self._changed,
        )
        second, self.paper = choice(
            translate("Report", "Paper"),
            [("a4", "A4"), ("us-letter", translate("Report", "US Letter"))],
            paper,
            self._changed,
        )
        self.logo: Path | None = None
        if base.logo is None and settings.report_logo:
            self.logo = Path(settings.report_logo)
        self._given = base.logo is not None
        self.logo_name = ElidedLabel()
        self.choose = QPushButton(translate("Report", "Choose …"))
        self.choose.setAccessibleName(translate("Report", "Choose a logo"))
        self.drop = QPushButton(translate("Report", "Leave out"))
        self.drop.setAccessibleName(translate("Report", "Leave the logo out"))
        row = QWidget()
        inside = QHBoxLayout(row)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(GRID)
        inside.addWidget(self.logo_name, 1)
        for button, act in ((self.choose, self._ask_logo), (self.drop, self._leave_out)):
            button.setAutoDefault(False)
            button.clicked.connect(act)
            inside.addWidget(button)
        self.logo_field = LabelledField(translate("Report", "Logo (PNG or SVG)"), row)
        self.body.addLayout(pair(first, second))
        self.body.addWidget(self.logo_field)
        self._changed()

    def take_logo(self, path: Path | None) -> None:
        """Choose a logo, or none."""
        self.logo, self._given = path, False
        self.logo_field.complain("")
        self._changed()

    def _leave_out(self) -> None:
        self.take_logo(None)

    def _changed(self) -> None:
        given = translate("Report", "from the case")
        none = translate("Report", "none")
        self.logo_name.setText(self.logo.name if self.logo else given if self._given else none)
        self.drop.setEnabled(self.logo is not None or self._given)
        self.tell(f"{self.language.currentText()} · {self.paper.currentText()}")
        self.changed.emit()

    def _ask_logo(self) -> None:
        ask_file(
            self,
            translate("Report", "Choose a logo"),
            self.take_logo,
            translate("Report", "Pictures (*.png *.svg)"),
        )

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with this layout."""
        return replace(
            request,
            language=self.language.currentData(),
            paper=self.paper.currentData(),
            logo=request.logo if self._given else None,
        )


def usual_paper() -> str:
    """Return the paper that the system's country uses."""
    system = QLocale.system().measurementSystem()
    return "us-letter" if system == QLocale.MeasurementSystem.ImperialUSSystem else "a4"

"""The form of a report: groups of fields that fold, and the request made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QDate, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from pura.record.audit import Audit
from pura.report.request import ReportRequest
from pura_audit.jobs.queue import Failure
from pura_audit.platform.i18n import filled, translate
from pura_audit.platform.settings import WindowSettings
from pura_audit.reports.groups import (
    AuditsGroup,
    FormGroup,
    LayoutGroup,
    TextGroup,
    WordsGroup,
    item_group,
    parties_group,
    remarks_group,
)
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import Fold, add_parts, column_of, label
from pura_audit.widgets.form_dialog import (
    LINE,
    LabelledField,
    Words,
    choice,
    name_input,
    pair,
    spin_box,
)

FIRST: Final = "first"
REPLACES: Final = "replaces"
SUPPLEMENTS: Final = "supplements"


class ReportForm(QScrollArea):
    """The form with all inputs of a report.

    Args:
        audits: Names and audits to choose from; the first one is ticked.
        base: Initial content.
        settings: The settings with the details of the organisation.
        parent: The widget that holds the form.
        tick_all: Whether all audits are ticked, not only the first.

    Signals:
        changed: The input has changed.
    """

    changed = Signal()

    def __init__(
        self,
        audits: Sequence[tuple[str, Audit]],
        base: ReportRequest,
        settings: WindowSettings,
        parent: QWidget | None = None,
        *,
        tick_all: bool = False,
    ) -> None:
        super().__init__(parent)
        self.base = base
        self.audits = AuditsGroup(audits, tick_all=tick_all)
        self.report = ReportGroup(base)
        self.parties = parties_group(base, settings)
        self.item = item_group(base, settings)
        self.text = TextGroup(base)
        self.remarks = remarks_group(base, settings)
        self.layout_ = LayoutGroup(base, settings)
        inside = QWidget(self)
        self.setWidgetResizable(True)  # while it is empty: it lays out what there is at once
        self.setWidget(inside)
        column = column_of(inside=inside)
        column.setContentsMargins(0, 0, GRID, 0)
        self.groups: tuple[FormGroup, ...] = (
            self.audits,
            self.report,
            self.parties,
            self.item,
            self.text,
            self.remarks,
            self.layout_,
        )
        for group in self.groups:
            column.addWidget(group)
            group.changed.connect(self._changed)
            group.toggled.connect(partial(self._reveal, group))
        self.extra = QVBoxLayout()
        add_parts(column, self.extra, None)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(translate("Report", "What the report is told"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._follow()

    def _follow(self) -> None:
        """Show the inputs that apply to the ticked audits."""
        ticked = self.audits.chosen()
        self.text.follow(ticked)
        self.report.follow(ticked)

    def _reveal(self, group: Fold, opened: bool) -> None:
        """Scroll a group into view after it was opened."""
        if opened:
            QTimer.singleShot(0, group, lambda: self.ensureWidgetVisible(group, 0, GRID))

    def _changed(self) -> None:
        self._follow()
        self.changed.emit()

    def check(self) -> bool:
        """Check all fields and show errors below them; return whether all are valid."""
        bad = [group for group in self.groups if not group.check()]
        if self.report.final.isChecked() and not self.parties.fields["authoriser"].text:
            self.parties.fields["authoriser"].complain(
                translate("Report", "A final report names who authorised it.")
            )
            bad.append(self.parties)
        for group in bad:
            group.open()
        return not bad

    def request(self) -> ReportRequest:
        """Return the request of the form; the logo is still a path."""
        request = self.base
        for group in self.groups:
            request = group.into(request)
        return request

    def place_failure(self, failure: Failure) -> bool:
        """Show a failure at the field that caused it; return whether there is one."""
        message = failure.words
        match failure.code:
            case code if code.startswith("report-words"):
                name = code.removeprefix("report-words").lstrip("-") or "remark"
                self.remarks.fields[name].complain(message)
                self.remarks.open()
            case "report-authoriser":
                self.parties.fields["authoriser"].complain(message)
                self.parties.open()
            # The logo is the only file that a report is made of.
            case "report-logo" | "file-unreadable" | "file-large":
                self.layout_.logo_field.complain(message)
                self.layout_.open()
            case _:
                return False
        return True

    def point(self) -> None:
        """Scroll to the first field with an error."""
        for field in self.findChildren(LabelledField):
            if field.wrong.text():
                field.widget.setFocus()
                self.ensureWidgetVisible(field, 0, GRID)
                return

    def clear_failures(self) -> None:
        """Remove errors that only building the report can detect."""
        for field in self.remarks.fields.values():
            field.check()
        self.layout_.logo_field.complain("")

    def remembered(self) -> dict[str, str]:
        """Return the inputs that the settings store; none is about a text or a case."""
        parties = self.parties.fields
        logo: Path | None = self.layout_.logo
        settings = {
            f"report_{name}": parties[name].text
            for name in ("organisation", "address", "place", "examiner")
        }
        return settings | {
            "report_standing": self.remarks.fields["standing"].text,
            "report_language": str(self.layout_.language.currentData()),
            "report_paper": str(self.layout_.paper.currentData()),
            "report_logo": str(logo) if logo is not None else "",
        }


class ReportGroup(WordsGroup):
    """The group of number, case, and state of the report."""

    def __init__(self, base: ReportRequest) -> None:
        super().__init__(translate("Report", "Report"), opened=True)
        self.number = Words(translate("Report", "Number"))
        self.case = Words(translate("Report", "Case"))
        self.classification = Words(
            translate("Report", "Classification"), hint=translate("Report", "e.g. confidential")
        )
        self.issued = Words(translate("Report", "Date of issue"))
        self.version = spin_box(1, 999, base.version)
        self.version.setFixedHeight(LINE)  # as high as the line next to it
        version = LabelledField(translate("Report", "Version"), self.version)
        name_input(self.version, translate("Report", "Version"))
        relation = SUPPLEMENTS if base.supplements else REPLACES if base.replaces else FIRST
        field, self.relation = choice(
            translate("Report", "Earlier reports"),
            [
                (FIRST, translate("Report", "None: this is the first")),
                (REPLACES, translate("Report", "Replaces a report")),
                (SUPPLEMENTS, translate("Report", "Supplements a report")),
            ],
            relation,
            self._related,
        )
        self.replaces = Words(translate("Report", "Number of the earlier report"))
        self.reason = Words(translate("Report", "Reason"), lines=2)
        self.final = QCheckBox(translate("Report", "Final: reviewed and authorised"))
        self.final.setToolTip(
            translate("Report", "Until then every page says that this is a draft.")
        )
        self.final.setChecked(base.final)
        self.stays_draft = label("", "attention", wrap=True)
        self.stays_draft.hide()
        self.fields = {
            "number": self.number,
            "case": self.case,
            "classification": self.classification,
            "issued": self.issued,
            "replaces": self.replaces,
            "reason": self.reason,
        }
        for name, text_field in self.fields.items():
            text_field.set_text(getattr(base, name))
        today = QDate.currentDate().toString(Qt.DateFormat.ISODate)
        self.issued.set_text(base.issued[:10] or today)
        add_parts(
            self.body,
            pair(self.number, version, shares=(3, 1)),
            pair(self.case, self.issued),
            self.classification,
            field,
            self.replaces,
            self.reason,
            self.final,
            self.stays_draft,
        )
        for text_field in self.fields.values():
            text_field.edited.connect(self._edited)
        self.version.valueChanged.connect(lambda _: self._edited())
        self.final.toggled.connect(lambda _: self._edited())
        self._related()

    def follow(self, audits: Sequence[Audit]) -> None:
        """Keep the report a draft if a key of its findings is public."""
        keys = dict.fromkeys(key for audit in audits for key in audit.finding.public_keys)
        template = translate("Report", "It stays a draft: anyone can know the key {keys:text}.")
        self.stays_draft.setText(filled(template, keys=", ".join(keys)) if keys else "")
        self.stays_draft.setVisible(bool(keys))
        if keys:
            self.final.setChecked(False)
        self.final.setEnabled(not keys)

    def _related(self) -> None:
        earlier = self.relation.currentData() != FIRST
        self.replaces.setVisible(earlier)
        self.reason.setVisible(earlier)
        self._edited()

    def _count(self) -> None:
        final = self.final.isChecked()
        self.tell(translate("Report", "final") if final else translate("Report", "draft"))

    def check(self) -> bool:
        """Check the input and show errors; return whether it is valid."""
        good = super().check()
        if not QDate.fromString(self.issued.text, Qt.DateFormat.ISODate).isValid():
            self.issued.complain(translate("Report", "Write it as 2026-11-21."))
            return False
        return good

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with this group's fields."""
        relation = self.relation.currentData()
        texts = self.texts()
        if relation == FIRST:
            texts |= {"replaces": "", "reason": ""}
        return replace(
            request,
            version=self.version.value(),
            final=self.final.isChecked(),
            supplements=relation == SUPPLEMENTS,
            **texts,
        )

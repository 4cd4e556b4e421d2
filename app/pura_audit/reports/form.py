"""The form of a report: calm groups that fold away, and the request that comes of them."""

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
    """All that a report is told.

    Args:
        audits: Names and audits to choose from; the first is chosen.
        base: What is known beforehand.
        settings: What is remembered of the organisation.
        parent: Where it lies.
        every: All audits are chosen, not the first alone.

    Signals:
        changed: Something in it is other than before.
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
        """Show what the chosen audits allow."""
        ticked = self.audits.chosen()
        self.text.follow(ticked)
        self.report.follow(ticked)

    def _reveal(self, group: Fold, opened: bool) -> None:
        """Bring a group into view that was just opened, once it has its size."""
        if opened:
            QTimer.singleShot(0, group, lambda: self.ensureWidgetVisible(group, 0, GRID))

    def _changed(self) -> None:
        self._follow()
        self.changed.emit()

    def check(self) -> bool:
        """Say below every field what is wrong with it; return whether all is well."""
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
        """Return what the report is told; its logo is a file still."""
        request = self.base
        for group in self.groups:
            request = group.into(request)
        return request

    def place_failure(self, failure: Failure) -> bool:
        """Say a failure where it belongs; return whether there is such a place."""
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
        """Bring the first field that has something wrong into view."""
        for field in self.findChildren(LabelledField):
            if field.wrong.text():
                field.widget.setFocus()
                self.ensureWidgetVisible(field, 0, GRID)
                return

    def clear_failures(self) -> None:
        """Take back the failures of fields that only building the report finds."""
        for field in self.remarks.fields.values():
            field.check()
        self.layout_.logo_field.complain("")

    def remembered(self) -> dict[str, str]:
        """Return what the settings keep: nothing of a text, and nothing of a case."""
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
    """Number, case, and how final it is."""

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
        """Keep the report a draft where anyone can know a key of its findings."""
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
        """Say what is wrong; return whether all is well."""
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

"""Groups of the form of a report.

The groups are audits, parties, item, remarks, layout, and how the text is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from PySide6.QtCore import QEvent, QLocale, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPalette, QTextCursor
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from pura.base.numerals import SPOKEN
from pura.record.audit import Audit
from pura.report.annexes import lacks_pages
from pura.report.build import MAX_AUDITS
from pura.report.request import EXCERPT, FULL, OMITTED, REDACTED, Parties, ReportRequest
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.platform.settings import WindowSettings
from pura_audit.theme import fonts
from pura_audit.widgets.card import (
    ElidedLabel,
    FlowLayout,
    Fold,
    add_parts,
    column_of,
    label,
    row_of,
)
from pura_audit.widgets.form_dialog import (
    LabelledField,
    Remark,
    Words,
    ask_file,
    choice,
    pair,
    plain_button,
)
from pura_audit.widgets.text_layout import safe_text

_ROW: Final = 27  # pixels of a row in the list of audits
_ROWS: Final = 5  # that are seen at once


class FormGroup(Fold):
    """A group of the form of a report.

    Signals:
        changed: The input has changed.
    """

    changed = Signal()

    def check(self) -> bool:
        """Check the input and show errors; return whether it is valid."""
        return True

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with the input of this group."""
        return request


class AuditsGroup(FormGroup):
    """The group of the audits that the report covers."""

    def __init__(self, audits: Sequence[tuple[str, Audit]], *, tick_all: bool = False) -> None:
        super().__init__(translate("Report", "Audits"), opened=True)
        self._audits = [audit for _, audit in audits]
        self.list = QListWidget()
        self.list.setAccessibleName(translate("Report", "Audits of this report"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for index, (name, audit) in enumerate(audits):
            row = QListWidgetItem(f"{name} · {audit.title(language())}")
            row.setToolTip(row.text())
            row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            ticked = tick_all or index == 0
            row.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
            self.list.addItem(row)
        self.list.setCurrentRow(0)
        self.list.setFixedHeight(_ROW * max(1, min(len(self._audits), _ROWS)) + 8)
        self.list.itemChanged.connect(lambda _: self._changed())
        self.wrong = label("", "attention", wrap=True)
        add_parts(self.body, self.list, self.wrong)
        self._changed()

    def chosen(self) -> tuple[Audit, ...]:
        """Return the ticked audits, in their order."""
        return tuple(
            audit
            for index, audit in enumerate(self._audits)
            if self.list.item(index).checkState() == Qt.CheckState.Checked
        )

    def _changed(self) -> None:
        template = translate("Report", "{n:count} of {all:count}")
        self.tell(filled(template, n=len(self.chosen()), all=len(self._audits)))
        self.changed.emit()

    def check(self) -> bool:
        """Check the input and show errors; return whether it is valid."""
        fault, count = "", len(self.chosen())
        if not count:
            fault = translate("Report", "Tick at least one audit.")
        elif count > MAX_AUDITS:
            fault = translate("Report", "A report takes at most {most:count} audits.")
            fault = filled(fault, most=MAX_AUDITS)
        self.wrong.setText(fault)
        self.wrong.setVisible(bool(fault))
        return not fault


class WordsGroup(FormGroup):
    """A group of text fields that shows how many are filled in.

    Args:
        heading: Heading of the group.
        part: Part of the request with the fields: ``parties``, ``item``, or "" for the request.
        opened: Whether the group is open at first.

    Attributes:
        fields: The fields, by their names in the request.
    """

    def __init__(self, heading: str, part: str = "", *, opened: bool = False) -> None:
        super().__init__(heading, opened=opened)
        self._part = part
        self.fields: dict[str, Words] = {}

    def add(
        self,
        captions: Mapping[str, str],
        base: ReportRequest,
        settings: WindowSettings,
        lines: Mapping[str, int],
    ) -> None:
        """Add fields.

        Args:
            captions: Captions by the names of the fields.
            base: The request with the initial content.
            settings: The settings with the usual content of reports.
            lines: Number of lines of fields with more than one.
        """
        defaults = getattr(base, self._part) if self._part else base
        for name, caption in captions.items():
            field = Words(caption, lines=lines.get(name, 1))
            usual = getattr(settings, f"report_{name}", "")
            if name == "examiner":  # whoever works here said it once
                usual = usual or settings.auditor
            field.set_text(getattr(defaults, name) or usual)
            field.edited.connect(self._edited)
            self.fields[name] = field
            self.body.addWidget(field)
        self._count()

    def _edited(self) -> None:
        self._count()
        self.changed.emit()

    def _count(self) -> None:
        filled_in = sum(bool(field.text) for field in self.fields.values())
        template = translate("Report", "{n:count} of {all:count} given")
        nothing = translate("Report", "not given")
        self.tell(filled(template, n=filled_in, all=len(self.fields)) if filled_in else nothing)

    def check(self) -> bool:
        """Check the input and show errors; return whether it is valid."""
        return not sum(not field.check() for field in self.fields.values())  # each says it

    def texts(self) -> dict[str, Any]:
        """Return the texts of the fields by name."""
        return {name: field.text for name, field in self.fields.items()}

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with these texts."""
        texts = self.texts()
        if self._part:
            texts = {self._part: replace(getattr(request, self._part), **texts)}
        return replace(request, **texts)


def parties_group(base: ReportRequest, settings: WindowSettings) -> WordsGroup:
    """Return the group of the parties: client, examiner and authoriser."""
    captions = {
        "organisation": translate("Report", "Organisation"),
        "address": translate("Report", "Address"),
        "place": translate("Report", "Place of the work"),
        "customer": translate("Report", "Customer"),
        "question": translate("Report", "Question"),
        "purpose": translate("Report", "Legal basis or purpose"),
        "examiner": translate("Report", "Examiner"),
        "qualifications": translate("Report", "Qualifications of the examiner"),
        "reviewer": translate("Report", "Technical reviewer"),
        "authoriser": translate("Report", "Authoriser"),
    }
    in_order = {field.name: captions[field.name] for field in fields(Parties)}
    group = WordsGroup(translate("Report", "Parties"), "parties")
    group.add(in_order, base, settings, {"address": 2, "question": 2})
    return group


def item_group(base: ReportRequest, settings: WindowSettings) -> WordsGroup:
    """Return the group of how the item was received."""
    captions = {
        "source": translate("Report", "Source and how it was received"),
        "received": translate("Report", "Date and time of receipt"),
        "custody": translate("Report", "Custody since"),
        "supplied": translate("Report", "What the customer said about it"),
        "disclosed": translate("Report", "Case information disclosed, and when"),
    }
    group = WordsGroup(translate("Report", "Item"), "item")
    group.add(captions, base, settings, {"custody": 2, "supplied": 2, "disclosed": 2})
    return group


def remarks_group(base: ReportRequest, settings: WindowSettings) -> WordsGroup:
    """Return the group of the remarks of examiner and reviewer."""
    captions = {
        "deviations": translate("Report", "Deviations from the method"),
        "external": translate("Report", "Parts that others provided"),
        "remark": translate("Report", "Remark of the examiner"),
        "review": translate("Report", "What the reviewer recomputed, and the result"),
        "standing": translate("Report", "Standing remarks of the organisation"),
    }
    lines = {"deviations": 2, "external": 2, "remark": 4, "review": 2, "standing": 3}
    group = WordsGroup(translate("Report", "Remarks"))
    group.add(captions, base, settings, lines)
    remark, standing = group.fields["remark"], group.fields["standing"]
    remark.set_hint(translate("Report", "In a box of its own, apart from the findings"))
    standing.set_hint(translate("Report", "Printed in every report, next to its integrity"))
    return group


class LayoutGroup(FormGroup):
    """The group of language, paper and logo."""

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
        self.choose = plain_button(translate("Report", "Choose …"), self._ask_logo)
        self.choose.setAccessibleName(translate("Report", "Choose a logo"))
        caption = translate("Report", "Leave out")
        self.drop = plain_button(caption, lambda: self.take_logo(None))
        self.drop.setAccessibleName(translate("Report", "Leave the logo out"))
        row = QWidget()
        row_of((self.logo_name, 1), self.choose, self.drop, inside=row)
        self.logo_field = LabelledField(translate("Report", "Logo (PNG or SVG)"), row)
        add_parts(self.body, pair(first, second), self.logo_field)
        self._changed()

    def take_logo(self, path: Path | None) -> None:
        """Choose a logo, or none."""
        self.logo, self._given = path, False
        self.logo_field.complain("")
        self._changed()

    def _changed(self) -> None:
        from_case = translate("Report", "from the case")
        without = translate("Report", "none")
        self.logo_name.setText(
            self.logo.name if self.logo else from_case if self._given else without
        )
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
    """Return the usual paper size of the system's country."""
    system = QLocale.system().measurementSystem()
    return "us-letter" if system == QLocale.MeasurementSystem.ImperialUSSystem else "a4"


Ranges = tuple[tuple[int, int], ...]
_STEPS: Final = 200  # that can be taken back
MAX_MATCHES: Final = 5000  # places that are blacked out at once


class RedactionView(QWidget):
    """The text in which the user blacks out parts.

    Signals:
        changed: The redactions have changed.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.ranges: Ranges = ()
        self._before: list[Ranges] = []
        self._units = np.zeros(1, dtype=np.int64)
        self.view = _Text(self)
        self.view.selectionChanged.connect(self._allow)
        self.view.cursorPositionChanged.connect(self._allow)
        self.black = plain_button(translate("Report", "Black out"), self.hide_chosen)
        self.black.setToolTip(translate("Report", "Black out what is selected (Del)"))
        self.everywhere = plain_button(
            translate("Report", "Black out everywhere"), self.hide_everywhere
        )
        self.everywhere.setToolTip(
            translate("Report", "Black out what is selected wherever the text has it")
        )
        self.show_again = plain_button(translate("Report", "Show again"), self.show_chosen)
        self.undo_button = plain_button(translate("Report", "Undo"), self.undo)
        self.words = label("", "muted", wrap=True)
        row = QWidget()
        flow = FlowLayout(row)
        for button in (self.black, self.everywhere, self.show_again, self.undo_button):
            flow.addWidget(button)
        column_of(self.view, row, self.words, inside=self)
        self._show()

    def load(self, text: str, ranges: Iterable[tuple[int, int]] = ()) -> None:
        """Show another text with its redactions."""
        if text != self.text:
            self.text = text
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            # Qt counts in units of 16 bits, the record in characters.
            self._units = np.concatenate(([0], np.cumsum(1 + (codes > 0xFFFF)))).astype(np.int64)
            self.view.setPlainText("\n".join(safe_text(line) for line in text.split("\n")))
        self._before.clear()
        self.ranges = merged(ranges, len(text))
        self._show()

    # Intentions

    def hide_chosen(self) -> None:
        """Black out the selection."""
        start, end = self.chosen()
        if start < end:
            self._set((*self.ranges, (start, end)))

    def hide_everywhere(self) -> None:
        """Black out every occurrence of the selection."""
        start, end = self.chosen()
        selection = self.text[start:end]
        if not selection.strip():
            return
        matches = []
        position = self.text.find(selection)
        while position >= 0:
            matches.append((position, position + len(selection)))
            position = self.text.find(selection, position + len(selection))
            if len(matches) > MAX_MATCHES:
                self.words.setText(
                    translate("Report", "Too many places have these words. Select more of them.")
                )
                return
        self._set((*self.ranges, *matches))

    def show_chosen(self) -> None:
        """Reveal the selection, or the redaction under the cursor."""
        start, end = self.chosen()
        if start == end:
            self._set(tuple(r for r in self.ranges if not r[0] <= start <= r[1]))
            return
        remaining = []
        for first, last in self.ranges:
            remaining += [(first, min(last, start)), (max(first, end), last)]
        self._set(tuple(r for r in remaining if r[0] < r[1]))

    def undo(self) -> None:
        """Undo the last step."""
        if self._before:
            self.ranges = self._before.pop()
            self._show()
            self.changed.emit()

    def chosen(self) -> tuple[int, int]:
        """Return the range of the selection in characters of the text."""
        cursor = self.view.textCursor()
        ends = np.searchsorted(self._units, [cursor.selectionStart(), cursor.selectionEnd()])
        return int(ends[0]), int(ends[1])

    def select(self, start: int, end: int) -> None:
        """Select characters of the text."""
        cursor = self.view.textCursor()
        cursor.setPosition(int(self._units[start]))
        cursor.setPosition(int(self._units[end]), QTextCursor.MoveMode.KeepAnchor)
        self.view.setTextCursor(cursor)

    def _set(self, ranges: Iterable[tuple[int, int]]) -> None:
        merged_ranges = merged(ranges, len(self.text))
        if merged_ranges == self.ranges:
            return
        self._before.append(self.ranges)
        del self._before[:-_STEPS]
        self.ranges = merged_ranges
        self._show()
        self.changed.emit()

    # What is shown

    def _show(self) -> None:
        ink = self.palette().color(QPalette.ColorRole.Text)
        marks = []
        for start, end in self.ranges:
            mark = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.view.document())
            cursor.setPosition(int(self._units[start]))
            cursor.setPosition(int(self._units[end]), QTextCursor.MoveMode.KeepAnchor)
            mark.cursor = cursor
            mark.format.setBackground(ink)
            mark.format.setForeground(ink)
            marks.append(mark)
        self.view.setExtraSelections(marks)
        count = sum(end - start for start, end in self.ranges)
        summary = filled(
            translate(
                "Report",
                "{n:count} {n:plural(stretch is|stretches are)} blacked out, {black:count} of "
                "{all:count} characters.",
            ),
            n=len(self.ranges),
            black=count,
            all=len(self.text),
        )
        if not self.ranges:
            summary = translate("Report", "Nothing is blacked out yet. Select words in the text.")
        self.words.setText(summary)
        self.undo_button.setEnabled(bool(self._before))
        self._allow()

    def _allow(self) -> None:
        start, end = self.chosen()
        self.black.setEnabled(start < end)
        self.everywhere.setEnabled(bool(self.text[start:end].strip()))
        self.show_again.setEnabled(any(a <= end and start <= b for a, b in self.ranges))

    def changeEvent(self, event: QEvent) -> None:
        """Apply changed colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show()


class _Text(QPlainTextEdit):
    """The text field with the keyboard commands of redaction."""

    def __init__(self, owner: RedactionView) -> None:
        super().__init__(owner)
        self._owner = owner
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setFont(fonts.face(fonts.BODY))
        self.setFixedHeight(220)
        self.setAccessibleName(translate("Report", "Text to black out"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Black out with Del, and undo with the usual keys."""
        if event.key() == Qt.Key.Key_Delete:
            self._owner.hide_chosen()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self._owner.undo()
        else:
            super().keyPressEvent(event)


def merged(ranges: Iterable[tuple[int, int]], size: int) -> Ranges:
    """Return the ranges sorted, clipped to the text, and merged where they touch."""
    separate: list[tuple[int, int]] = []
    for start, end in sorted((max(0, a), min(b, size)) for a, b in ranges):
        if start >= end:
            continue
        if separate and start <= separate[-1][1]:
            separate[-1] = (separate[-1][0], max(separate[-1][1], end))
        else:
            separate.append((start, end))
    return tuple(separate)


class TextGroup(FormGroup):
    """The group of how the report shows the text: in full, as excerpts, redacted, or not at all.

    Signals:
        original_wanted: The user wants to choose the examined file, for its pages.
    """

    original_wanted = Signal()

    def __init__(self, base: ReportRequest) -> None:
        super().__init__(translate("Report", "Examined text"))
        self._audits: tuple[Audit, ...] = ()
        self._loaded: Audit | None = None
        self._given = (base.redactions, *base.further)
        self._ranges: dict[str, Ranges] = {}
        field, self.mode = choice(
            translate("Report", "The report shows"),
            [
                (FULL, translate("Report", "the whole text")),
                (EXCERPT, translate("Report", "excerpts around the passages")),
                (REDACTED, translate("Report", "the text with parts blacked out")),
                (OMITTED, translate("Report", "nothing of the text")),
            ],
            base.text,
            self._changed,
        )
        self.which_field, self.which = choice(
            translate("Report", "Text to black out"), [], "", self._show
        )
        self.explain = label("", "muted", wrap=True)
        self.caution = label("", "attention", wrap=True)
        self.redaction = RedactionView()
        self.redaction.changed.connect(self._redacted)
        self.pages = Remark(stays=True)
        self.original = plain_button(
            translate("Report", "Original file …"), self.original_wanted.emit
        )
        self.original.setToolTip(
            translate("Report", "A case keeps the text, not the file: give the PDF for its pages")
        )
        add_parts(self.body, field, self.explain, self.pages, row_of(self.original, None))
        for widget in (self.which_field, self.redaction, self.caution):
            self.body.addWidget(widget)
        self._changed()

    def follow(self, audits: Sequence[Audit]) -> None:
        """Offer the texts of these audits; keep the redactions of others."""
        if [id(audit) for audit in audits] == [id(audit) for audit in self._audits]:
            return
        current = self._audit
        self._audits = tuple(audits)
        for audit, ranges in zip(audits, self._given, strict=False):
            self._ranges.setdefault(audit.id, ranges)
        self._given = ()
        self.which.blockSignals(True)
        self.which.clear()
        for number, audit in enumerate(audits, start=1):
            self.which.addItem(f"{number}. {audit.input.name}")
        indexes = [i for i, audit in enumerate(audits) if audit is current]
        self.which.setCurrentIndex(indexes[0] if indexes else 0)
        self.which.blockSignals(False)
        self._show()

    @property
    def _audit(self) -> Audit | None:
        """The audit whose text is on screen."""
        index = self.which.currentIndex()
        return self._audits[index] if 0 <= index < len(self._audits) else None

    def _load(self) -> None:
        audit = self._audit
        if audit is not None and self.mode.currentData() == REDACTED and audit is not self._loaded:
            self._loaded = audit
            self.redaction.load(audit.text or "", self._ranges.get(audit.id, ()))

    def _redacted(self) -> None:
        if self._loaded is not None:
            self._ranges[self._loaded.id] = self.redaction.ranges
        self._say()
        self.changed.emit()

    def _show(self) -> None:
        self._load()
        self._say()

    def _changed(self) -> None:
        self._show()
        self.changed.emit()

    def _say(self) -> None:
        mode = self.mode.currentData()
        self.tell(self.mode.currentText())
        self.explain.setText(
            {
                FULL: translate(
                    "Report", "The text and its tokens are in the report and its record."
                ),
                EXCERPT: translate(
                    "Report",
                    "Passages with some words around them; what is left out is in the file "
                    "nowhere.",
                ),
                REDACTED: translate(
                    "Report", "What is blacked out is in the file nowhere; its length can be seen."
                ),
                OMITTED: translate("Report", "The item is named by its file name and its SHA-256."),
            }[mode]
        )
        several = len(self._audits) > 1
        has_text = self._audit is not None and self._audit.text is not None
        self.redaction.setVisible(mode == REDACTED and has_text)
        self.which_field.setVisible(mode == REDACTED and several)
        caution = ""
        if mode == REDACTED and not has_text:
            caution = translate("Report", "This record holds no text; there is nothing to show.")
        elif mode == REDACTED and several and (unredacted := self._whole()):
            caution = filled(
                translate(
                    "Report",
                    "In {n:count} {n:plural(text|texts)} nothing is blacked out; "
                    "{n:plural(it appears|they appear)} whole.",
                ),
                n=unredacted,
            )
        self.caution.setText(caution)
        self.caution.setVisible(bool(caution))

        printed = mode == FULL and any(lacks_pages(audit, ()) for audit in self._audits)
        self.pages.setVisible(printed)
        self.original.setVisible(printed)

    def say_pages(self, audits: Sequence[Audit], request: ReportRequest) -> None:
        """Show whether the report has the pages of the original files."""
        pages = request.pages or ((),) * len(audits)
        if any(map(lacks_pages, audits, pages)):
            self.pages.say(
                translate("Report", "Pages with passages are not shown: the file is not at hand."),
                role="attention",
            )
        else:
            self.pages.say(translate("Report", "Pages with passages are shown as pictures."))

    def _whole(self) -> int:
        """Return the number of texts without redactions."""
        return sum(not self._ranges.get(audit.id) and bool(audit.text) for audit in self._audits)

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with the input of this group."""
        mode = self.mode.currentData()
        ranges = [self._ranges.get(audit.id, ()) for audit in self._audits]
        if mode != REDACTED or not ranges:
            return replace(request, text=mode, redactions=(), further=())
        return replace(request, text=mode, redactions=ranges[0], further=tuple(ranges[1:]))

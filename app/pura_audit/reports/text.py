"""What of the examined text a report shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pura.record.audit import Audit
from pura.report import ReportRequest
from pura.report.request import EXCERPT, FULL, OMITTED, REDACTED
from pura_audit.platform.i18n import filled, translate
from pura_audit.reports.groups import FormGroup
from pura_audit.reports.redact import Ranges, RedactionView
from pura_audit.widgets.card import label
from pura_audit.widgets.fields import choice


class TextGroup(FormGroup):
    """Whole, in excerpts, with parts blacked out, or not at all."""

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
            translate("Report", "Text to black out"), [], "", self._chosen
        )
        self.explain = label("", "muted", wrap=True)
        self.caution = label("", "attention", wrap=True)
        self.redaction = RedactionView()
        self.redaction.changed.connect(self._redacted)
        for widget in (field, self.explain, self.which_field, self.redaction, self.caution):
            self.body.addWidget(widget)
        self._changed()

    def follow(self, audits: Sequence[Audit]) -> None:
        """Offer the texts of these audits; what was blacked out of another stays known."""
        if [id(one) for one in audits] == [id(one) for one in self._audits]:
            return
        shown = self._audit
        self._audits = tuple(audits)
        for audit, ranges in zip(audits, self._given, strict=False):
            self._ranges.setdefault(audit.id, ranges)
        self._given = ()
        self.which.blockSignals(True)
        self.which.clear()
        for place, audit in enumerate(audits, start=1):
            self.which.addItem(f"{place}. {audit.input.name}")
        places = [i for i, one in enumerate(audits) if one is shown]
        self.which.setCurrentIndex(places[0] if places else 0)
        self.which.blockSignals(False)
        self._load()
        self._say()

    @property
    def _audit(self) -> Audit | None:
        """The one whose text is on screen."""
        place = self.which.currentIndex()
        return self._audits[place] if 0 <= place < len(self._audits) else None

    def _load(self) -> None:
        audit = self._audit
        if audit is not None and self.mode.currentData() == REDACTED and audit is not self._loaded:
            self._loaded = audit
            self.redaction.load(audit.text or "", self._ranges.get(audit.id, ()))

    def _chosen(self) -> None:
        self._load()
        self._say()

    def _redacted(self) -> None:
        if self._loaded is not None:
            self._ranges[self._loaded.id] = self.redaction.ranges
        self._say()
        self.changed.emit()

    def _changed(self) -> None:
        self._load()
        self._say()
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
        there = self._audit is not None and self._audit.text is not None
        self.redaction.setVisible(mode == REDACTED and there)
        self.which_field.setVisible(mode == REDACTED and several)
        words = ""
        if mode == REDACTED and not there:
            words = translate("Report", "This record holds no text; there is nothing to show.")
        elif mode == REDACTED and several and (whole := self._whole()):
            words = filled(
                translate(
                    "Report",
                    "In {n:count} {n:plural(text|texts)} nothing is blacked out; "
                    "{n:plural(it appears|they appear)} whole.",
                ),
                n=whole,
            )
        self.caution.setText(words)
        self.caution.setVisible(bool(words))

    def _whole(self) -> int:
        """Return how many texts have nothing blacked out."""
        return sum(not self._ranges.get(one.id) and bool(one.text) for one in self._audits)

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with this choice."""
        mode = self.mode.currentData()
        ranges = [self._ranges.get(one.id, ()) for one in self._audits]
        if mode != REDACTED or not ranges:
            return replace(request, text=mode, redactions=(), further=())
        return replace(request, text=mode, redactions=ranges[0], further=tuple(ranges[1:]))

"""What of the examined text a report shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal

from pura.audit.record import Audit
from pura.audit.report import ReportRequest
from pura.audit.report.request import EXCERPT, FULL, OMITTED, REDACTED
from pura_audit.dialogs.report_fields import choice
from pura_audit.dialogs.report_redact import Ranges, RedactionView
from pura_audit.i18n import translate
from pura_audit.views.card import label
from pura_audit.views.fold import Fold


class TextGroup(Fold):
    """Whole, in excerpts, with parts blacked out, or not at all."""

    changed = Signal()

    def __init__(self, base: ReportRequest) -> None:
        super().__init__(translate("Report", "Examined text"))
        self._audit: Audit | None = None
        self._several = False
        self._first = base.redactions
        self._ranges: dict[str, Ranges] = {}
        field, self.mode = choice(
            translate("Report", "The report shows"),
            [(FULL, translate("Report", "the whole text")),
             (EXCERPT, translate("Report", "excerpts around the passages")),
             (REDACTED, translate("Report", "the text with parts blacked out")),
             (OMITTED, translate("Report", "nothing of the text"))],
            base.text, self._changed,
        )  # fmt: skip
        self.explain = label("", "muted", wrap=True)
        self.caution = label("", "attention", wrap=True)
        self.redaction = RedactionView()
        self.redaction.changed.connect(self._redacted)
        for widget in (field, self.explain, self.redaction, self.caution):
            self.body.addWidget(widget)
        self._changed()

    def follow(self, audits: Sequence[Audit]) -> None:
        """Show the text of the first audit; what was blacked out of another stays known."""
        audit = audits[0] if audits else None
        several = len(audits) > 1
        if audit is self._audit and several == self._several:
            return
        other = audit is not self._audit
        self._audit, self._several = audit, several
        if audit is not None and other:
            if self._first:
                self._ranges.setdefault(audit.id, self._first)
                self._first = ()
            if self.mode.currentData() == REDACTED:
                self._load()
        self._say()

    def _load(self) -> None:
        audit = self._audit
        if audit is not None:
            self.redaction.load(audit.text or "", self._ranges.get(audit.id, ()))

    def _redacted(self) -> None:
        if self._audit is not None:
            self._ranges[self._audit.id] = self.redaction.ranges
        self.changed.emit()

    def _changed(self) -> None:
        if self.mode.currentData() == REDACTED:
            self._load()
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        mode = self.mode.currentData()
        self.tell(self.mode.currentText())
        self.explain.setText({
            FULL: translate("Report", "The text and its tokens are in the report and its record."),
            EXCERPT: translate(
                "Report", "Passages with some words around them; what is left out is in the file "
                "nowhere.",
            ),
            REDACTED: translate(
                "Report", "What is blacked out is in the file nowhere; its length can be seen."
            ),
            OMITTED: translate("Report", "The item is named by its file name and its SHA-256."),
        }[mode])  # fmt: skip
        there = self._audit is not None and self._audit.text is not None
        self.redaction.setVisible(mode == REDACTED and there)
        words = ""
        if mode == REDACTED and not there:
            words = translate("Report", "This record holds no text; there is nothing to show.")
        elif mode == REDACTED and self._several:
            words = translate(
                "Report",
                "Only the first text can be blacked out here. The others appear whole; make a "
                "report of each, or leave the texts out.",
            )
        self.caution.setText(words)
        self.caution.setVisible(bool(words))

    def check(self) -> bool:
        """Return True: every choice can be made."""
        return True

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with this choice."""
        mode = self.mode.currentData()
        ranges = self._ranges.get(self._audit.id, ()) if self._audit is not None else ()
        return replace(request, text=mode, redactions=ranges if mode == REDACTED else ())

"""Four eyes: a second person confirms or disputes a finding."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from pura.caselog import Case, CaseItem
from pura.usecases.cases import review_finding
from pura_audit.cases.pane import ERASED, case_name, moment
from pura_audit.jobs.queue import Failure, Outcome
from pura_audit.platform.i18n import decimal, filled, language, translate
from pura_audit.session.drafts import PAUSE_MS
from pura_audit.session.keeper import Cases
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, Scrolled, label
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    Remark,
    Words,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
    plain_button,
)


class ReviewDialog(FittedDialog):
    """What was found, who looks at it, and what came of that.

    Args:
        cases: Works on the log.
        case: The case.
        item: The audit.

    Signals:
        signed: It was written.
    """

    signed = Signal()

    def __init__(
        self, cases: Cases, case: Case, item: CaseItem, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._cases, self._item = cases, item
        self._about = ("review", item.id, item.entry.hash)
        self._working = False
        heading = translate("Cases", "Second person")
        self.setWindowTitle(heading)
        self.setMinimumWidth(580)
        self.who = Words(translate("Cases", "Your name"))
        self.recomputed = Words(
            translate("Cases", "What you recomputed, and with what result"),
            lines=3,
            hint=translate("Cases", "e.g. audited the text again: same outcome and payload"),
        )
        self.remark = Words(translate("Cases", "Remark (may stay empty)"), lines=2)
        self.words = Remark()
        self.confirm = main_button(
            translate("Cases", "Confirm the finding"), lambda: self.sign(agree=True), enter=False
        )
        self.dispute = plain_button(
            translate("Cases", "Dispute it"), lambda: self.sign(agree=False)
        )
        layout = dialog_column(
            self,
            heading,
            translate(
                "Cases",
                "A finding needs a second pair of eyes: not those of whoever examined or filed "
                "the text. The names stand in the log and in reports.",
            ),
        )
        parts = QVBoxLayout()
        parts.setSpacing(GAP)
        parts.addWidget(_finding(case, item))
        for field in (self.who, self.recomputed, self.remark):
            parts.addWidget(field)
            field.edited.connect(self._check)
        parts.addStretch(1)
        layout.addWidget(Scrolled(parts), 1)
        layout.addWidget(self.words)
        cancel = cancel_button(self, enter=False)
        layout.addLayout(button_row(cancel, self.dispute, self.confirm))
        self._bring_back()
        self._check()
        self.who.widget.setFocus()

    @property
    def _fields(self) -> dict[str, Words]:
        return {"who": self.who, "recomputed": self.recomputed, "remark": self.remark}

    def _bring_back(self) -> None:
        drafts = self._cases.drafts
        for name, words in (drafts.take(self._about) or {}).items():
            if name in self._fields:
                self._fields[name].set_text(words)
        self._noting = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._noting.timeout.connect(self._note)
        for field in self._fields.values():
            field.edited.connect(self._noting.start)

    def _note(self) -> None:
        self._cases.drafts.note(
            self._about, {name: field.text for name, field in self._fields.items()}
        )

    def done(self, result: int) -> None:
        """It was written, or given up: nothing of it is kept."""
        self._noting.stop()
        self._cases.drafts.forget(self._about)
        super().done(result)

    def _check(self) -> None:
        fits = [field.check() for field in (self.who, self.recomputed, self.remark)]
        ready = all(fits) and bool(self.who.text and self.recomputed.text) and not self._working
        self.confirm.setEnabled(ready)
        self.dispute.setEnabled(ready)

    def sign(self, *, agree: bool) -> None:
        """Write it to the log."""
        self._working = True
        self._check()
        work = partial(
            review_finding,
            self._cases.environment,
            item=self._item,
            reviewer=self.who.text,
            agree=agree,
            recomputed=self.recomputed.text,
            words=self.remark.text,
        )
        self._cases.change(lambda _: work(), self._signed, self)

    def _signed(self, outcome: Outcome[None]) -> None:
        self._working = False
        self._check()
        if isinstance(outcome, Failure):
            self.words.say(outcome)
        else:
            self.accept()
            self.signed.emit()


def _finding(case: Case, item: CaseItem) -> Card:
    card = Card(inner=2 * GRID)
    card.body.addWidget(label(item.headline(language()), "reading", wrap=True))
    evidence = ERASED if item.finding is None else decimal(item.finding.log10_e, 1)
    who = filled(
        translate("Cases", "Examined by {who:text}, {when:text}"),
        who=item.examiner or ERASED,
        when=moment(item.examined),
    )
    filed = filled(
        translate("Cases", "Filed by {who:text}, {when:text}"),
        who=item.auditor or ERASED,
        when=moment(item.entry.time),
    )
    lines = [
        f"{item.name or ERASED} · {case_name(case)}",
        f"{translate('Pile', 'Evidence, log₁₀')}: {evidence}",
        f"{who} · {filed}",
    ]
    for line in lines:
        card.body.addWidget(label(line, "muted", wrap=True))
    return card

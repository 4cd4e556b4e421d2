"""Forms of the case log: questions, events, reviews, saving audits, and the check of the log."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from pura.caselog import (
    CUSTODY,
    KEEP,
    LEAVE_OUT,
    SEAL,
    Case,
    CaseItem,
    action_words,
    list_cases,
)
from pura.caselog.verify import LogCheck
from pura.keys import Secret
from pura.record.audit import Audit
from pura.report.check import BAD
from pura.usecases.cases import SaveTo, check_log, review_finding, save_audits
from pura_audit.cases.pane import ERASED, case_name
from pura_audit.jobs.queue import Done, Job, Outcome, by_outcome, with_progress
from pura_audit.platform.i18n import decimal, filled, language, moment, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.keeper import PAUSE_MS, Cases
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import (
    Card,
    Scrolled,
    add_parts,
    clear_layout,
    label,
    progress_bar,
    push_button,
    row_of,
)
from pura_audit.widgets.check_list import check_card, check_list
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    LabelledField,
    MainButton,
    PlainDialog,
    RetryDialog,
    Words,
    button_row,
    cancel_button,
    choice,
    close_button,
    dialog_column,
    opened,
    pair,
    plain_button,
)


class AskDialog(FittedDialog):
    """Asks for one or several texts.

    Args:
        title: Title of the dialog.
        introduction: Reason and consequences, shown below the title.
        action: Text of the main button.
        fields: Name and number of lines of each field.
        texts: Initial content of the fields.
        grave: Whether the action cannot be undone, so that the safe button is the default.
        needed: Indexes of the fields that must not be empty.
        role: Role of the title in the style sheet.

    Signals:
        given: The user submitted the dialog; carries one text for each field.
    """

    given = Signal(object)

    def __init__(
        self,
        title: str,
        introduction: str,
        action: str,
        fields: Sequence[tuple[str, int]],
        parent: QWidget | None = None,
        *,
        texts: Sequence[str] = (),
        grave: bool = False,
        needed: Sequence[int] = (0,),
        role: str = "reading",
    ) -> None:
        super().__init__(parent)
        self._needed = needed
        self.setWindowTitle(title)
        self.setMinimumWidth(520)
        layout = dialog_column(self, title, introduction, role=role)
        self.fields = [Words(name, lines=lines) for name, lines in fields]
        for field, text in zip(self.fields, texts, strict=False):
            field.set_text(text)
        for field in self.fields:
            field.edited.connect(self._check)
        self.place(layout)
        self.ok = MainButton(action, self._give, enter=not grave)
        cancel = cancel_button(self)
        cancel.setDefault(grave)
        add_parts(layout, None, button_row(cancel, self.ok))
        self._check()
        self.fields[0].widget.setFocus()

    def place(self, layout: QVBoxLayout) -> None:
        """Add the fields to the layout."""
        for field in self.fields:
            layout.addWidget(field)

    def answer(self) -> object:
        """Return the texts of the fields."""
        return tuple(field.text for field in self.fields)

    def _check(self) -> None:
        fits = [field.check() for field in self.fields]  # each says what is wrong with it
        needed = [self.fields[index] for index in self._needed]
        self.ok.require({field.caption: field.text for field in needed}, free=all(fits))

    def _give(self) -> None:
        answer = self.answer()
        self.accept()
        self.given.emit(answer)


class EventDialog(AskDialog):
    """Asks for an event: what happened, who handed the item over, who received it, and its hash.

    Signals:
        given: The user submitted the event; carries the arguments of
            :func:`~pura.caselog.record_event` by name.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            translate("Cases", "Record an event"),
            translate(
                "Cases",
                "Every handler and every transfer of the item belongs on record. An entry "
                "cannot be changed later.",
            ),
            translate("Cases", "Record"),
            (
                (translate("Cases", "From whom, how, where"), 3),
                (translate("Cases", "Released by (may stay empty)"), 1),
                (translate("Cases", "Received by (may stay empty)"), 1),
                (translate("Cases", "Hash of the item (may stay empty)"), 1),
            ),
            parent,
            role="answer",
        )
        self.setMinimumWidth(560)

    def place(self, layout: QVBoxLayout) -> None:
        """Add the kind of event and the fields to the layout, the two persons side by side."""
        field, self.kind = choice(
            translate("Cases", "What happened"),
            [(action, action_words(action, language())) for action in CUSTODY],
            "item-received",
            lambda: None,
        )
        self.details, self.handed, self.taken, self.digest = self.fields
        add_parts(layout, field, self.details, pair(self.handed, self.taken), self.digest)

    def answer(self) -> dict[str, str]:
        """Return the event."""
        names = ("details", "handed", "taken", "digest")
        texts = {name: field.text for name, field in zip(names, self.fields, strict=True)}
        return {"action": self.kind.currentData(), **texts}


class ReviewDialog(RetryDialog):
    """The review of a finding by a second person.

    Args:
        cases: Works on the log.
        case: The case.
        item: The audit.
        reviewer: The user's name, filled in unless the user examined or filed the text.
    """

    def __init__(
        self,
        cases: Cases,
        case: Case,
        item: CaseItem,
        parent: QWidget | None = None,
        *,
        reviewer: str = "",
    ) -> None:
        super().__init__(parent)
        self._cases, self._item = cases, item
        self._about = ("review", item.id, item.entry.hash)
        heading = translate("Cases", "Second person")
        self.setWindowTitle(heading)
        self.setMinimumWidth(580)
        self.who = Words(translate("Cases", "Your name"))
        if reviewer not in (item.examiner, item.auditor):
            self.who.set_text(reviewer)
        self.recomputed = Words(
            translate("Cases", "What you recomputed, and with what result"),
            lines=3,
            hint=translate("Cases", "e.g. audited the text again: same outcome and payload"),
        )
        self.remark = Words(translate("Cases", "Remark (may stay empty)"), lines=2)
        self.confirm = MainButton(
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
                "A second person has to look at a finding, not the one who examined or filed "
                "the text. The names appear in the log and in reports.",
            ),
        )
        parts = QVBoxLayout()
        parts.setSpacing(GAP)
        parts.addWidget(_finding(case, item))
        for field in (self.who, self.recomputed, self.remark):
            parts.addWidget(field)
            field.edited.connect(self.check)
        parts.addStretch(1)
        add_parts(layout, (Scrolled(parts), 1), self.words)
        cancel = cancel_button(self, enter=False)
        layout.addLayout(button_row(cancel, self.dispute, self.confirm))
        self._bring_back()
        self.check()
        self.who.widget.setFocus()

    @property
    def _fields(self) -> dict[str, Words]:
        return {"who": self.who, "recomputed": self.recomputed, "remark": self.remark}

    def _bring_back(self) -> None:
        drafts = self._cases.drafts
        for name, text in (drafts.take(self._about) or {}).items():
            if name in self._fields:
                self._fields[name].set_text(text)
        self._noting = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._noting.timeout.connect(self._note)
        for field in self._fields.values():
            field.edited.connect(self._noting.start)

    def _note(self) -> None:
        self._cases.drafts.note(
            self._about, {name: field.text for name, field in self._fields.items()}
        )

    def forget(self) -> None:
        """Drop the draft of a review that was written or discarded."""
        self._noting.stop()
        self._cases.drafts.forget(self._about)

    def check(self) -> None:
        """Check the input: a valid name and a description of what was recomputed are required."""
        fits = [field.check() for field in (self.who, self.recomputed, self.remark)]
        needed = {field.caption: field.text for field in (self.who, self.recomputed)}
        self.confirm.require(needed, free=all(fits) and not self.trying)
        self.dispute.setEnabled(self.confirm.isEnabled())

    def sign(self, *, agree: bool) -> None:
        """Write the review to the log."""
        self.begin()
        work = partial(
            review_finding,
            self._cases.environment,
            item=self._item,
            reviewer=self.who.text,
            agree=agree,
            recomputed=self.recomputed.text,
            words=self.remark.text,
        )
        self._cases.change(lambda _: work(), self.ended, self)


def _finding(case: Case, item: CaseItem) -> Card:
    card = Card(inner=2 * GRID)
    card.body.addWidget(label(item.headline(language()), "reading", wrap=True))
    evidence = ERASED if item.finding is None else decimal(item.finding.log10_e, 1)
    examined_by = filled(
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
        f"{translate('Results', 'Evidence, log₁₀')}: {evidence}",
        f"{examined_by} · {filed}",
    ]
    for line in lines:
        card.body.addWidget(label(line, "muted", wrap=True))
    return card


MODES: Final = (KEEP, SEAL, LEAVE_OUT)


class SaveDialog(RetryDialog):
    """Saves one finished audit, or all of them, to a case.

    Args:
        cases: Works on the log.
        settings: The settings, which store the user's name and how texts are kept, never the case.
        current: The audit on screen.
        other_audits: The other finished audits: records, or identifiers in the case log.

    Signals:
        saved: Audits were saved; carries the case and their number.
    """

    saved = Signal(object, int)
    last = ""
    """The case that was last saved to in this run; it is not stored."""

    def __init__(
        self,
        cases: Cases,
        settings: SettingsFile,
        current: Audit,
        other_audits: Sequence[Audit | str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._cases, self._settings = cases, settings
        self._current, self._others = current, tuple(other_audits)
        title = translate("Cases", "Save to a case")
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        self.case = QComboBox()
        self.case.setEditable(True)
        self.case.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        completer, line = self.case.completer(), self.case.lineEdit()
        assert completer is not None  # an editable box has both
        assert line is not None
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        line.setPlaceholderText(translate("Cases", "Choose a case, or type the name of a new one"))
        self.who = Words(translate("Cases", "Who saves"))
        self.who.set_text(settings.current.auditor)
        self.who.setVisible(not settings.current.auditor)  # it is asked for once
        text = filled(translate("Cases", "Saved by {who:text}: change"), who=self.who.text)
        self.other = push_button(text, self._ask_who, role="link")
        self.other.setAutoDefault(False)
        self.other.setHidden(not settings.current.auditor)
        self.purpose = Words(translate("Cases", "Purpose (may stay empty)"))
        self.all = QCheckBox()
        self.save = MainButton(translate("Cases", "Save"), self.start)
        self._lay_out(title)
        self.case.editTextChanged.connect(lambda _: self.check())
        self.who.edited.connect(self.check)
        self.check()
        listed = by_outcome(self._offer, self.words.say)
        cases.read(lambda log, _: list_cases(log, state="open"), listed, self)
        self.case.setFocus()

    def _lay_out(self, title: str) -> None:
        layout = dialog_column(
            self,
            title,
            translate(
                "Cases",
                "What is saved can be opened again without the model. Every step is an entry "
                "in the case log, which is only ever added to.",
            ),
        )
        parts = QVBoxLayout()
        parts.setSpacing(GAP)
        parts.addWidget(LabelledField(translate("Cases", "Case"), self.case))
        parts.addLayout(row_of(self.other, None))
        parts.addWidget(self.who)
        parts.addWidget(self.purpose)
        parts.addWidget(label(translate("Cases", "The text itself"), "section"))
        parts.addLayout(self._modes())
        count = len(self._others)
        self.all.setText(
            filled(
                translate(
                    "Cases",
                    "Also the other {n:plural(finished audit|{n:count} finished audits)} of the "
                    "list",
                ),
                n=count,
            )
        )
        self.all.setVisible(count > 0)
        add_parts(parts, self.all, None)
        add_parts(
            layout, (Scrolled(parts), 1), self.words, button_row(cancel_button(self), self.save)
        )

    def _ask_who(self) -> None:
        """Show the field for another person's name."""
        self.other.hide()
        self.who.show()
        self.who.widget.setFocus()

    def _modes(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(GRID)
        self.modes = QButtonGroup(self)
        for index, text in enumerate(
            (
                translate("Cases", "Keep it, readable for whoever can open the log"),
                translate("Cases", "Keep it encrypted, under a passphrase"),
                translate("Cases", "Leave it out; the findings and its digest are kept"),
            )
        ):
            button = QRadioButton(text)
            self.modes.addButton(button, index)
            column.addWidget(button)
        stored = self._settings.current.case_text
        self.modes.button(MODES.index(stored)).setChecked(True)
        return column

    def _offer(self, cases: Sequence[Case]) -> None:
        typed = self.case.currentText()
        self.case.addItems([case.name for case in cases if case.name is not None])
        # None is chosen beforehand: what is saved to a wrong case stays there.
        self.case.setCurrentIndex(-1)
        self.case.setEditText(typed or self.last)
        self.check()

    def check(self) -> None:
        """Enable the button if the case and the person are named."""
        case = {translate("Cases", "Case"): self.case.currentText().strip()}
        self.save.require(case | {self.who.caption: self.who.text}, free=not self.trying)

    @property
    def mode(self) -> str:
        """How the text is stored."""
        return MODES[self.modes.checkedId()]

    def start(self) -> None:
        """Save, after asking for a passphrase if texts are to be encrypted."""
        if self.mode != SEAL:
            self._save(None)
            return
        dialog = PassphraseDialog(
            translate("Cases", "Passphrase of the kept text"),
            translate(
                "Cases", "Anyone who is to read the text later needs it. It is not stored anywhere."
            ),
            translate("Cases", "Save"),
            self,
            new=True,
        )
        dialog.given.connect(self._save)
        opened(dialog)

    def _save(self, secret: Secret | None) -> None:
        audits = (self._current, *(self._others if self.all.isChecked() else ()))
        self._settings.update(auditor=self.who.text, case_text=self.mode)
        self.begin()
        target = SaveTo(
            case=self.case.currentText().strip(),
            auditor=self.who.text,
            text=self.mode,
            passphrase=secret,
            purpose=self.purpose.text,
        )
        work = partial(save_audits, self._cases.environment, target, audits)
        self._cases.change(with_progress(work), self._saved, self)

    def _saved(self, outcome: Outcome[tuple[Case, int]]) -> None:
        self.ended(outcome)
        if isinstance(outcome, Done):
            case, count = outcome.result
            SaveDialog.last = case.name or ""
            self.saved.emit(case, count)


class CheckDialog(PlainDialog):
    """Checks the log, also against the head that a report has printed.

    Args:
        cases: Works on the log.
        settings: The settings with the user's name.

    Attributes:
        checks: The results; None while the check runs.
    """

    def __init__(self, cases: Cases, settings: SettingsFile, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases, self._settings = cases, settings
        self._asked: Job | None = None
        self.checks: tuple[LogCheck, ...] | None = None
        title = translate("Cases", "Check the case log")
        self.setWindowTitle(title)
        self.resize(760, 720)
        self.head = Words(
            translate("Cases", "Head to compare with (in a report: Integrity; may stay empty)"),
            hint=translate("Cases", "number:hash"),
        )
        self.again = MainButton(translate("Cases", "Check"), self.check, enter=False)
        self.bar = progress_bar(translate("Cases", "Checking"), endless=True)
        self.words = label("", "reading", wrap=True)
        name, margins = translate("Cases", "Single checks"), (GRID // 2,) * 4
        self.area, self.rows = check_list(name, margins)
        layout = dialog_column(self, title)
        row = row_of((self.head, 1))
        bottom = QVBoxLayout()
        add_parts(bottom, None, self.again)
        row.addLayout(bottom)
        add_parts(layout, row, self.bar, self.words, (self.area, 1), button_row(close_button(self)))
        self.check()

    def check(self) -> None:
        """Check the whole log."""
        auditor, environment = self._settings.current.auditor, self._cases.environment
        work = partial(
            check_log, environment, head=self.head.text, record=bool(auditor), auditor=auditor
        )
        self.checks = None
        self.bar.show()
        self.again.setEnabled(False)
        self.words.setText(translate("Cases", "Checking …"))
        queue = self._cases.change if auditor else self._cases.ask
        self._asked = queue(
            lambda context: work(checkpoint=context.checkpoint), self._checked, self
        )

    def _checked(self, outcome: Outcome[tuple[LogCheck, ...]]) -> None:
        self.bar.hide()
        self.again.setEnabled(True)
        clear_layout(self.rows)
        self.head.complain("")
        self.words.setText("")
        by_outcome(self._show, lambda failure: self.head.complain(failure.words))(outcome)

    def _show(self, checks: tuple[LogCheck, ...]) -> None:
        self.checks = checks
        faults = sum(check.state == BAD for check in self.checks)
        summary = filled(
            translate("Cases", "Of {checks:count} checks, {faults:count} found something wrong.")
            if faults
            else translate("Cases", "{checks:count} checks; none found anything wrong."),
            checks=len(self.checks),
            faults=faults,
        )
        self.words.setText(summary)
        for check in self.checks:
            title, text = check.title(language()), check.text(language())
            self.rows.addWidget(check_card(check.state, title, text))

    def done(self, result: int) -> None:
        """Drop the running check when the dialog closes."""
        if self._asked is not None:
            self._asked.drop()
        super().done(result)

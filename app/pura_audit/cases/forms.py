"""Forms of the cases: a question, an event, the second person's review, saving audits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QStringListModel, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QCompleter,
    QLineEdit,
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
    Event,
    Query,
    action_words,
    list_cases,
)
from pura.keys import Secret
from pura.record.audit import Audit
from pura.usecases.cases import SavedAudits, SaveTo, review_finding, save_audits
from pura_audit.cases.pane import ERASED, case_name, moment
from pura_audit.jobs.context import Done, Failure, Outcome
from pura_audit.platform.i18n import decimal, filled, language, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.keeper import PAUSE_MS, Cases
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, label
from pura_audit.widgets.fields import LabelledField, Words, choice, pair
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    Remark,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
    opened,
    plain_button,
)
from pura_audit.widgets.layouts import Scrolled


class AskDialog(FittedDialog):
    """One or two fields and a button.

    Args:
        title: What is asked.
        words: Why, and what follows.
        action: What the button does.
        fields: Name and number of lines of each field; the first may not stay empty.
        texts: What stands in them at first.
        grave: It cannot be undone: the safe button is the default.

    Signals:
        given: What was typed, one text a field.
    """

    given = Signal(tuple)

    def __init__(
        self,
        title: str,
        words: str,
        action: str,
        fields: Sequence[tuple[str, int]],
        parent: QWidget | None = None,
        *,
        texts: Sequence[str] = (),
        grave: bool = False,
        may_be_empty: bool = False,
    ) -> None:
        super().__init__(parent)
        self._may_be_empty = may_be_empty
        self.setWindowTitle(title)
        self.setMinimumWidth(520)
        layout = dialog_column(self, title, words, role="reading")
        self.fields = [Words(name, lines=lines) for name, lines in fields]
        for field, text in zip(self.fields, texts, strict=False):
            field.set_text(text)
        for field in self.fields:
            layout.addWidget(field)
            field.edited.connect(self._check)
        self.ok = main_button(action, self._give, enter=not grave)
        cancel = cancel_button(self)
        cancel.setDefault(grave)
        layout.addStretch(1)
        layout.addLayout(button_row(cancel, self.ok))
        self._check()
        self.fields[0].widget.setFocus()

    def _check(self) -> None:
        fits = [field.check() for field in self.fields]  # each says what is wrong with it
        self.ok.setEnabled(all(fits) and (self._may_be_empty or bool(self.fields[0].text)))

    def _give(self) -> None:
        texts = tuple(field.text for field in self.fields)
        self.accept()
        self.given.emit(texts)


def suggest(field: Words, names: Sequence[str]) -> None:
    """Offer names while one types."""
    assert isinstance(field.widget, QLineEdit)
    known = QCompleter(QStringListModel(list(names)), field.widget)
    known.setCaseSensitivity(known.caseSensitivity().CaseInsensitive)
    field.widget.setCompleter(known)


class EventDialog(FittedDialog):
    """What happened, who handed the item over, who took it, its hash.

    Signals:
        given: The Event.
    """

    given = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = translate("Cases", "Record an event")
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        field, self.kind = choice(
            translate("Cases", "What happened"),
            [(action, action_words(action, language())) for action in CUSTODY],
            "item-received",
            self._check,
        )
        self.details = Words(translate("Cases", "From whom, how, where"), lines=3)
        self.handed = Words(translate("Cases", "Released by (may stay empty)"))
        self.taken = Words(translate("Cases", "Received by (may stay empty)"))
        self.digest = Words(translate("Cases", "Hash of the item (may stay empty)"))
        self.ok = main_button(translate("Cases", "Record"), self._give)
        layout = dialog_column(
            self,
            title,
            translate(
                "Cases",
                "Every handler and every transfer of the item belongs on record. An entry "
                "cannot be changed later.",
            ),
        )
        layout.addWidget(field)
        layout.addWidget(self.details)
        layout.addLayout(pair(self.handed, self.taken))
        layout.addWidget(self.digest)
        for words in (self.details, self.handed, self.taken, self.digest):
            words.edited.connect(self._check)
        layout.addStretch(1)
        layout.addLayout(button_row(cancel_button(self), self.ok))
        self._check()
        self.details.widget.setFocus()

    def _check(self) -> None:
        fields = (self.details, self.handed, self.taken, self.digest)
        fits = [field.check() for field in fields]
        self.ok.setEnabled(all(fits) and bool(self.details.text))

    def _give(self) -> None:
        event = Event(
            action=self.kind.currentData(),
            details=self.details.text,
            handed=self.handed.text,
            taken=self.taken.text,
            digest=self.digest.text,
        )
        self.accept()
        self.given.emit(event)


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
    evidence = ERASED if item.log10_e is None else decimal(item.log10_e, 1)
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


MODES: Final = (KEEP, SEAL, LEAVE_OUT)


class SaveDialog(FittedDialog):
    """Saves one audit, or all that are finished.

    Args:
        cases: Works on the log.
        settings: Remembers who saves, and what becomes of texts; never the case.
        current: The audit on screen.
        others: The other finished audits of the list: records, or identifiers in the case log.

    Signals:
        saved: The case, as it is now, and how many audits were saved.
    """

    saved = Signal(object, int)
    last = ""
    """The case that was saved to last in this run; it is written nowhere."""

    def __init__(
        self,
        cases: Cases,
        settings: SettingsFile,
        current: Audit,
        others: Sequence[Audit | str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._cases, self._settings = cases, settings
        self._current, self._others = current, tuple(others)
        self._working = False
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
        self.purpose = Words(translate("Cases", "Purpose (may stay empty)"))
        self.all = QCheckBox()
        self.words = Remark()
        self.save = main_button(translate("Cases", "Save"), self.start)
        self._lay_out(title)
        self.case.editTextChanged.connect(lambda _: self._check())
        self.who.edited.connect(self._check)
        self._check()
        cases.read(lambda log, _: list_cases(log, Query(state="open")), self._listed, self)
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
        parts.addWidget(self.all)
        parts.addStretch(1)
        layout.addWidget(Scrolled(parts), 1)
        layout.addWidget(self.words)
        layout.addLayout(button_row(cancel_button(self), self.save))

    def _modes(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(GRID)
        self.modes = QButtonGroup(self)
        for place, words in enumerate(
            (
                translate("Cases", "Keep it, readable for whoever can open the log"),
                translate("Cases", "Keep it encrypted, under a passphrase"),
                translate("Cases", "Leave it out; the findings and its digest are kept"),
            )
        ):
            button = QRadioButton(words)
            self.modes.addButton(button, place)
            column.addWidget(button)
        known = self._settings.current.case_text
        self.modes.button(MODES.index(known)).setChecked(True)
        return column

    def _listed(self, outcome: Outcome[tuple[Case, ...]]) -> None:
        if isinstance(outcome, Failure):
            self._fail(outcome)
        elif isinstance(outcome, Done):
            self._offer(outcome.result)

    def _offer(self, cases: Sequence[Case]) -> None:
        typed = self.case.currentText()
        self.case.addItems([case.name for case in cases if case.name is not None])
        # None is chosen beforehand: what is saved to a wrong case stays there.
        self.case.setCurrentIndex(-1)
        self.case.setEditText(typed or self.last)
        self._check()

    def _check(self) -> None:
        ready = bool(self.case.currentText().strip() and self.who.text)
        self.save.setEnabled(ready and not self._working)

    @property
    def mode(self) -> str:
        """What becomes of the text."""
        return MODES[self.modes.checkedId()]

    def start(self) -> None:
        """Save, after a passphrase where one is needed."""
        if self.mode != SEAL:
            self._save(None)
            return
        dialog = PassphraseDialog(
            translate("Cases", "Passphrase of the kept text"),
            translate("Cases", "Whoever shall read the text later needs it. It is kept nowhere."),
            translate("Cases", "Save"),
            self,
            new=True,
        )
        dialog.given.connect(self._save)
        opened(dialog)

    def _save(self, secret: Secret | None) -> None:
        audits = (self._current, *(self._others if self.all.isChecked() else ()))
        self._settings.update(auditor=self.who.text, case_text=self.mode)
        self._working = True
        self.words.hide()
        self._check()
        to = SaveTo(
            case=self.case.currentText().strip(),
            auditor=self.who.text,
            text=self.mode,
            passphrase=secret,
            purpose=self.purpose.text,
        )
        self._cases.change(
            lambda context: save_audits(
                self._cases.environment,
                to,
                audits,
                progress=context.progress,
                checkpoint=context.checkpoint,
            ),
            self._saved,
            self,
        )

    def _saved(self, outcome: Outcome[SavedAudits]) -> None:
        self._working = False
        self._check()
        if isinstance(outcome, Failure):
            self._fail(outcome)
        elif isinstance(outcome, Done):
            done = outcome.result
            SaveDialog.last = done.case.name or ""
            self.accept()
            self.saved.emit(done.case, done.count)

    def _fail(self, failure: Failure) -> None:
        self.words.say(failure)

"""Save audits to a case: which case, who saves, what becomes of the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from pura.caselog import (
    KEEP,
    LEAVE_OUT,
    SEAL,
    Case,
    list_cases,
)
from pura.keys import Secret
from pura.record.audit import Audit
from pura.usecases.cases import SaveTo, save_audits
from pura_audit.jobs.queue import Done, Failure, Outcome
from pura_audit.keys.passphrase import PassphraseDialog
from pura_audit.platform.i18n import filled, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.keeper import Cases
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Scrolled, label
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    LabelledField,
    Remark,
    Words,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
    opened,
)

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
        cases.read(lambda log, _: list_cases(log, state="open"), self._listed, self)
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

    def _saved(self, outcome: Outcome[tuple[Case, int]]) -> None:
        self._working = False
        self._check()
        if isinstance(outcome, Failure):
            self._fail(outcome)
        elif isinstance(outcome, Done):
            case, count = outcome.result
            SaveDialog.last = case.name or ""
            self.accept()
            self.saved.emit(case, count)

    def _fail(self, failure: Failure) -> None:
        self.words.say(failure)

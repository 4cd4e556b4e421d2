"""How often marked texts of the organisation's own kind are found: the page that measures it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from pura.desk.power import (
    SHARES,
    MeasurePower,
    PowerLine,
    RelyOnPower,
    estimate_power,
    measure_power,
    power_lines,
    rely_on_power,
)
from pura.verdict.policy import Policy, default_policy
from pura.verdict.power_file import MAX_NAME, SHORT, PowerFile
from pura_audit.jobs.outcome import Progress
from pura_audit.look.theme import GRID
from pura_audit.platform.i18n import duration, filled, number, translate
from pura_audit.session.choices import Catalogue
from pura_audit.session.session import Session
from pura_audit.widgets.card import label
from pura_audit.widgets.fields import name_input, spin_box
from pura_audit.widgets.form_dialog import (
    button_row,
    close_button,
    dialog_column,
    main_button,
    plain_button,
)
from pura_audit.widgets.tables import fill_table, make_table
from pura_audit.widgets.working_dialog import WorkingDialog

ROW, HEAD = 32, 40
_SHOWN = 4


class PowerDialog(WorkingDialog):
    """Asks what to measure, measures, shows the table, and lets the policy rely on it."""

    def __init__(self, session: Session, model: str, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._model, self._path = model, Path()
        self._made: PowerFile | None = None
        found = session.catalogue or Catalogue()
        self._profiles, self._policy = found.profiles, found.policy or default_policy()
        self.setWindowTitle(translate("Power", "How much is found"))
        self.resize(760, 780)
        self.name, self.documents = QLineEdit(), QLineEdit("500, 2000")
        self.name.setMaxLength(MAX_NAME)
        self.profile, self.reader = QComboBox(), QComboBox()
        self.profile.addItems([p.title for p in self._profiles])
        self.profile.currentTextChanged.connect(self.name.setText)
        self.name.setText(self.profile.currentText())
        self.reader.addItem(translate("Power", "the same"), "")
        for one in found.models:
            if one.name != model:
                self.reader.addItem(one.name, one.name)
        words = translate("Power", "Use a file with a prompt a line …")
        self.prompts = plain_button(words, self.ask_file)
        self.chat = QCheckBox(translate("Power", "Put the prompts into the model’s chat template"))
        self.texts, self.tokens = spin_box(1, 1000, 64), spin_box(20, 4000, 200)
        self.estimate = plain_button(translate("Power", "How long?"), self._estimate)
        self.measure = main_button(translate("Power", "Measure"), self._measure)
        self.rely = plain_button(translate("Power", "Let the policy rely on it"), self._rely)
        self.sentence = label("", "reading", wrap=True)
        self.table = make_table(translate("Power", "Shares found"))
        self.table.setMinimumHeight(_SHOWN * ROW + HEAD)
        self._lay_out()
        if session.profile in self._profiles:
            self.profile.setCurrentIndex(self._profiles.index(session.profile))
        self.refresh_buttons()

    def _lay_out(self) -> None:
        title = translate("Power", "How often are texts of “{model:text}” found?")
        layout = dialog_column(
            self,
            filled(title, model=self._model),
            translate(
                "Power",
                "The model writes marked texts, each with a key of its own, and they are read as "
                "an audit reads. What is measured here may be said of your texts where no mark is "
                "found. It can be stopped and goes on where it was.",
            ),
        )
        form = QFormLayout()
        form.setSpacing(GRID)
        for words, field in (
            (translate("Power", "Name of the table"), self.name),
            (translate("Power", "Profile"), self.profile),
            (translate("Power", "Reading model"), self.reader),
            (translate("Power", "Texts to write"), self.texts),
            (translate("Power", "Tokens of each"), self.tokens),
            (translate("Power", "Inside texts of so many tokens"), self.documents),
        ):
            name_input(field, words)
            form.addRow(words, field)
        row = QHBoxLayout()
        row.addWidget(self.prompts)
        row.addStretch(1)
        form.addRow("", self.chat)
        form.addRow("", row)
        layout.addLayout(form)
        layout.addLayout(self.progress_row())
        layout.addWidget(self.sentence)
        layout.addWidget(self.table, 1)
        layout.addLayout(
            button_row(close_button(self), self.measure, left=(self.estimate, self.rely))
        )
        self._show_result(shown=False)
        layout.addStretch(0)

    def _show_result(self, *, shown: bool) -> None:
        for widget in (self.sentence, self.table, self.rely):
            widget.setVisible(shown)

    def refresh_buttons(self) -> None:
        """Enable what can be done now."""
        free = not self.busy
        ready = bool(self._profiles) and free
        for button in (self.measure, self.estimate):
            button.setEnabled(ready)
        self.rely.setEnabled(free and self._made is not None)
        for widget in (
            self.name,
            self.profile,
            self.reader,
            self.texts,
            self.tokens,
            self.documents,
            self.chat,
            self.prompts,
        ):
            widget.setEnabled(free)
        if not self._profiles:
            self.say(translate("Power", "A measurement takes a profile."), bad=True)

    def ask_file(self) -> QDialog:
        """Ask for a file of prompts."""
        dialog = QFileDialog(self, translate("Power", "Prompts"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([translate("Power", "Text files (*.txt)")])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self._use(Path(name)))
        dialog.open()
        return dialog

    def _use(self, path: Path) -> None:
        self._path = path
        words = filled(translate("Power", "Prompts of “{file:text}” (change …)"), file=path.name)
        self.prompts.setText(words)

    def request(self) -> MeasurePower | None:
        """Return what the form asks for; None, and why in words, where it cannot be read."""
        parts = self.documents.text().replace(";", ",").split(",")
        lengths = [part.strip() for part in parts if part.strip()]
        if not all(part.isdecimal() for part in lengths):
            self.say(
                translate("Power", "The lengths are whole numbers with commas between them."),
                bad=True,
            )
            return None
        return MeasurePower(
            name=self.name.text().strip() or self.profile.currentText(),
            profile=self._profiles[self.profile.currentIndex()].profile,
            model=self._model,
            reader=str(self.reader.currentData()) or None,
            prompts=self._path if self._path.name else None,
            chat=self.chat.isChecked(),
            texts=self.texts.value(),
            tokens=self.tokens.value(),
            documents=tuple(int(part) for part in lengths),
        )

    def _estimate(self) -> None:
        request, workplace = self.request(), self.session.workplace
        if request is not None:
            self.begin(
                lambda context: estimate_power(workplace, request, checkpoint=context.checkpoint),
                then=self._say_time,
            )

    def _say_time(self, seconds: float) -> None:
        words = translate("Power", "About {time:text} on this computer, from a short trial.")
        self.say(filled(words, time=duration(seconds)))

    def _measure(self) -> None:
        request, workplace = self.request(), self.session.workplace
        if request is None:
            return
        self._made = None
        self._show_result(shown=False)
        self.begin(
            lambda context: measure_power(
                workplace, request, progress=context.progress, checkpoint=context.checkpoint
            ),
            then=self.show_result,
        )

    def _progressed(self, progress: Progress) -> None:
        super()._progressed(progress)
        words = {
            "texts": translate("Power", "Writing the texts"),
            "reading": translate("Power", "Reading them"),
            "reading-inside": translate("Power", "Reading them inside longer texts"),
            "counting": translate("Power", "Weighing the evidence"),
        }.get(progress.name)
        if words is None:
            return
        of_tokens = progress.name == "texts"
        counted = (
            translate("Power", "{step:text}: {n:count} of {all:count} tokens")
            if of_tokens
            else translate("Power", "{step:text}: {n:count} of {all:count} texts")
        )
        said = filled(counted, step=words, n=progress.done, all=progress.total)
        if progress.seconds_left is not None:
            left = translate("Power", "{said:text}, {time:text} left")
            said = filled(left, said=said, time=duration(progress.seconds_left))
        self.say(said)

    def show_result(self, made: PowerFile) -> None:
        """Show what a table says."""
        self._made = made
        texts = made.table.conditions["texts"]
        words = translate(
            "Power", "Table “{name:text}” ({table:text}) is stored; {n:count} texts were counted."
        )
        self.say("")
        self.sentence.setText(
            filled(words, name=made.table.name, table=made.fingerprint[:SHORT], n=texts)
        )
        headers = (
            translate("Power", "Marked texts"),
            *(
                filled(translate("Power", "{n:count} % found from"), n=round(100 * share))
                for share in SHARES
            ),
            translate("Power", "At most shown"),
            translate("Power", "Texts"),
        )
        lines = power_lines(made.table, self._policy.t_found)
        fill_table(self.table, headers, [row_of(line) for line in lines], 340)
        self._show_result(shown=True)
        self.refresh_buttons()

    def _rely(self) -> None:
        if self._made is None:
            return
        workplace, request = self.session.workplace, RelyOnPower(name=self._made.fingerprint)
        self.begin(lambda _: rely_on_power(workplace, request), words=_relied)


def row_of(line: PowerLine) -> tuple[str, ...]:
    """Return a line of a table in cells."""
    if line.edit:
        what = filled(translate("Power", "edited ({edit:text})"), edit=line.edit)
    elif line.text_usable:
        words = translate("Power", "passages in up to {n:count} positions")
        what = filled(words, n=line.text_usable)
    else:
        what = translate("Power", "whole texts")
    from_ = translate("Power", "{n:count} positions")
    none = translate("Power", "not shown")
    needed = [none if n is None else filled(from_, n=n) for n in line.needed]
    return (what, *needed, f"{int(100 * line.most)} %", number(line.texts))


def _relied(policy: Policy) -> str:
    words = translate("Power", "The policy is now {rule:text} and relies on this table.")
    return filled(words, rule=policy.rule)

"""How often marked texts of the organisation's own kind are found: the page that measures it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from pura.measure import DOCUMENTS, LEARNT, PASSAGES, TEXTS, TOKENS
from pura.usecases.measurements import estimate_power, measure_power, plan_power
from pura.verdict.power_file import MAX_NAME
from pura_audit.jobs.queue import Progress
from pura_audit.platform.i18n import duration, filled, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import Scrolled
from pura_audit.widgets.form_dialog import (
    ask_file,
    button_row,
    close_button,
    dialog_column,
    main_button,
    name_input,
    plain_button,
    spin_box,
)
from pura_audit.widgets.working_dialog import WorkingDialog

if TYPE_CHECKING:
    from pura.measure.power_plan import PowerPlan


class PowerDialog(WorkingDialog):
    """Asks what to measure, and measures.

    Signals:
        measured: The table, as a PowerFile; it is stored.
    """

    measured = Signal(object)

    def __init__(self, session: Session, model: str, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._model, self._path = model, Path()
        found = session.chosen.catalogue or Inventory()
        self._profiles = tuple(p for p in found.profiles if p.profile.foreign is None)
        self.setWindowTitle(translate("Power", "Measure how much is found"))
        self.setMinimumWidth(680)
        self.name, self.passages, self.documents, self.edits = (QLineEdit() for _ in range(4))
        self.name.setMaxLength(MAX_NAME)
        self.passages.setText(", ".join(map(str, PASSAGES)))
        self.documents.setText(", ".join(map(str, DOCUMENTS)))
        self.edits.setPlaceholderText(
            translate("Power", "none; such as substitute:0.1, delete:0.1")
        )
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
        self.texts, self.tokens = spin_box(*TEXTS), spin_box(*TOKENS)
        self.learn = spin_box(*LEARNT)
        self.learn.setSpecialValueText(translate("Power", "none: the shipped table weighs"))
        self.estimate = plain_button(translate("Power", "How long?"), self._estimate)
        self.measure = main_button(translate("Power", "Measure"), self._measure)
        self._inputs: tuple[QWidget, ...] = ()
        self._lay_out()
        if session.chosen.profile in self._profiles:
            self.profile.setCurrentIndex(self._profiles.index(session.chosen.profile))
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
        fields: tuple[tuple[str, QWidget], ...] = (
            (translate("Power", "Name of the table"), self.name),
            (translate("Power", "Profile"), self.profile),
            (translate("Power", "Reading model"), self.reader),
            (translate("Power", "Texts to write"), self.texts),
            (translate("Power", "Tokens of each"), self.tokens),
            (translate("Power", "More texts, to learn a likelihood table"), self.learn),
            (translate("Power", "Passages of so many tokens"), self.passages),
            (translate("Power", "Inside texts of so many tokens"), self.documents),
            (translate("Power", "Edits, measured too"), self.edits),
        )
        for words, field in fields:
            name_input(field, words)
            form.addRow(words, field)
        row = QHBoxLayout()
        row.addWidget(self.prompts)
        row.addStretch(1)
        form.addRow("", self.chat)
        form.addRow("", row)
        layout.addWidget(Scrolled(form), 1)
        layout.addLayout(self.progress_row())
        layout.addLayout(button_row(close_button(self), self.measure, left=(self.estimate,)))
        self._inputs = (*(field for _, field in fields), self.chat, self.prompts)

    def refresh_buttons(self) -> None:
        """Enable what can be done now."""
        free = not self.busy
        ready = bool(self._profiles) and free
        for button in (self.measure, self.estimate):
            button.setEnabled(ready)
        for widget in self._inputs:
            widget.setEnabled(free)
        if not self._profiles:
            self.say(translate("Power", "A measurement takes a profile."), bad=True)

    def ask_file(self) -> QDialog:
        """Ask for a file of prompts."""
        return ask_file(
            self, translate("Power", "Prompts"), self._use, translate("Power", "Text files (*.txt)")
        )

    def _use(self, path: Path) -> None:
        self._path = path
        words = filled(translate("Power", "Prompts of “{file:text}” (change …)"), file=path.name)
        self.prompts.setText(words)

    def plan(self) -> Callable[[], PowerPlan] | None:
        """Return what makes the plan of the form; None, and why in words, where it cannot be."""
        lengths = [_parts(self.passages.text()), _parts(self.documents.text())]
        if not all(part.isdecimal() for parts in lengths for part in parts):
            self.say(
                translate("Power", "The lengths are whole numbers with commas between them."),
                bad=True,
            )
            return None
        passages, documents = (tuple(int(part) for part in parts) for parts in lengths)
        return partial(
            plan_power,
            name=self.name.text().strip() or self.profile.currentText(),
            profile=self._profiles[self.profile.currentIndex()].profile,
            prompts=self._path if self._path.name else None,
            chat=self.chat.isChecked(),
            texts=self.texts.value(),
            learn=self.learn.value(),
            tokens=self.tokens.value(),
            passages=passages,
            documents=documents,
            edits=tuple(_parts(self.edits.text())),
        )

    def _estimate(self) -> None:
        plan, environment, model = self.plan(), self.session.environment, self._model
        if plan is not None:
            self.begin(
                lambda context: estimate_power(
                    environment, plan=plan(), model=model, checkpoint=context.checkpoint
                ),
                then=self._say_time,
                at="model",
            )

    def _say_time(self, seconds: float) -> None:
        words = translate("Power", "About {time:text} on this computer, from a short trial.")
        self.say(filled(words, time=duration(seconds)))

    def _measure(self) -> None:
        plan, environment, model = self.plan(), self.session.environment, self._model
        if plan is None:
            return
        reader = str(self.reader.currentData()) or None
        self.begin(
            lambda context: measure_power(
                environment,
                plan=plan(),
                model=model,
                reader=reader,
                progress=context.progress,
                checkpoint=context.checkpoint,
            ),
            then=self.measured.emit,
            at="model",
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


def _parts(text: str) -> list[str]:
    """Return what stands between the commas of a line."""
    return [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]

"""The dialog that writes a marked text for a recipient."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from pura.base.errors import InputError
from pura.base.files import write_or_refuse
from pura.keys import KeyRef
from pura.model.store import builtin_model
from pura.register.rows import MAX_TEXT, Recipient
from pura.scheme import Profile
from pura.usecases.marking import MarkedText, carried_bits, mark_text
from pura_audit.jobs.queue import Progress, with_progress
from pura_audit.platform.i18n import error_words, filled, translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import FlowLayout, Scrolled, add_parts, column_of, label, row_of
from pura_audit.widgets.form_dialog import (
    LabelledField,
    MainButton,
    ask_target,
    button_row,
    close_button,
    combo,
    dialog_column,
    plain_button,
    spin_box,
)
from pura_audit.widgets.payload_form import PayloadForm
from pura_audit.widgets.working_dialog import WorkingDialog

LENGTH: Final = 300  # tokens that are suggested
MAX_TOKENS: Final = 4000
FORM: Final = 360  # pixels of the form beside the text


class MarkDialog(WorkingDialog):
    """Writes a marked text with the chosen set-up.

    Args:
        session: The session with the chosen set-up.
        profile: The profile of the mark.
        key: The key of the mark.

    Signals:
        noted: The register got an entry.
        audit_wanted: The text is to be added to the list; carries it.
    """

    noted = Signal()
    audit_wanted = Signal(str)

    def __init__(
        self, session: Session, profile: Profile, key: KeyRef, parent: QWidget | None = None
    ) -> None:
        super().__init__(session, parent)
        self._profile, self._key = profile, key
        self.made = ""  # what is shown has lost its no-break spaces
        self.setWindowTitle(translate("Mark", "Mark a text"))
        self.resize(980, 640)
        self.prompt = QPlainTextEdit()
        self.prompt.setTabChangesFocus(True)
        self.prompt.setFixedHeight(96)
        self.prompt.setPlaceholderText(translate("Mark", "What the text goes on from"))
        # A payload without fields is a number that the register draws for the recipient.
        self.draws = not profile.fields
        self.form = PayloadForm()
        self.form.show_profile(profile)
        self.form.changed.connect(self.refresh_buttons)
        self.form.setVisible(not self.draws)
        self.who = QLineEdit()
        self.who.setMaxLength(MAX_TEXT)
        self.who.setPlaceholderText(
            translate("Mark", "A name or a pseudonym")
            if self.draws
            else translate("Mark", "Not noted in the register")
        )
        self.who.textChanged.connect(lambda _: self.refresh_buttons())
        self.note = QLineEdit()
        self.note.setMaxLength(MAX_TEXT)
        self.note.setPlaceholderText(translate("Mark", "A request, a reference, a purpose"))
        self.model = combo((model.name, model.name) for model in session.chosen.found.models)
        if session.chosen.model is not None:
            self.model.setCurrentIndex(self.model.findData(session.chosen.model.name))
        self.trial = label("", "muted", wrap=True)
        self.length = spin_box(20, MAX_TOKENS, LENGTH)
        self.few = label("", "attention", wrap=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(translate("Mark", "The marked text"))
        self.text.setPlaceholderText(translate("Mark", "The marked text stands here."))
        self.write = MainButton(translate("Mark", "Write the text"), self._write)
        self.copy = plain_button(translate("Mark", "Copy"), self._copy)
        self.save = plain_button(translate("Mark", "Save …"), self.ask_target)
        self.audit = plain_button(translate("Mark", "Put it into the list"), self._to_list)
        self._lay_out()
        self.model.currentIndexChanged.connect(lambda _: self._told())
        self.length.valueChanged.connect(lambda _: self._told())
        self._told()
        self.prompt.setFocus()

    @property
    def _who_caption(self) -> str:
        return translate("Mark", "To whom, for the register")

    def _lay_out(self) -> None:
        title = translate("Mark", "Mark a text with the set-up “{name:text}”")
        column = dialog_column(
            self, filled(title, name=self._profile.name or self._key.label or "")
        )
        left = column_of(
            LabelledField(translate("Mark", "Prompt"), self.prompt),
            self.form,
            LabelledField(self._who_caption, self.who),
            LabelledField(translate("Mark", "For what, for the register"), self.note),
            LabelledField(translate("Mark", "Model"), self.model),
            self.trial,
            LabelledField(translate("Mark", "Length in tokens"), self.length),
            self.few,
            None,
            spacing=GAP,
        )
        form = Scrolled(left)
        form.setFixedWidth(FORM)
        buttons = FlowLayout()
        for button in (self.audit, self.save, self.copy):
            buttons.addWidget(button)
        right = column_of((self.text, 1), buttons)
        middle = row_of(form, (right, 1), spacing=2 * GRID)
        add_parts(
            column,
            (middle, 1),
            self.progress_row(),
            button_row(close_button(self), self.write),
        )

    def refresh_buttons(self) -> None:
        """Enable the inputs and buttons that can be used now."""
        written = bool(self.made) and not self.busy
        needed = (
            {self._who_caption: self.who.text().strip()}
            if self.draws
            else {self.form.caption: self.form.payload}
        )
        self.write.require(needed, free=not self.busy)
        for button in (self.copy, self.save, self.audit):
            button.setEnabled(written)

    def _told(self) -> None:
        """Show the purpose of the model, and whether the text is too short for its payload."""
        trial = translate(
            "Mark",
            "The built-in model is for trials: its texts are simple and often wrong. Texts for "
            "others are marked where they are written: in the engine that serves your model.",
        )
        builtin = self.model.currentData() == builtin_model().name
        self.trial.setText(trial)
        self.trial.setVisible(builtin)
        bits = carried_bits(self._profile, self.length.value())
        few = translate(
            "Mark",
            "A text of this length carries about {n:count} of the {all:count} payload bits: "
            "it cannot be read whole. Take more tokens.",
        )
        self.few.setText(filled(few, n=bits, all=self._profile.payload_bits))
        self.few.setVisible(bits < self._profile.payload_bits)
        self.refresh_buttons()

    def _write(self) -> None:
        recipient = self.who.text().strip()
        if not (recipient if self.draws else self.form.payload):
            return
        self.made = ""
        self.text.clear()
        work = partial(
            mark_text,
            self.session.environment,
            prompt=self.prompt.toPlainText(),
            payload=None if self.draws else self.form.payload,
            key=self._key,
            profile=self._profile,
            model=self.model.currentData(),
            tokens=self.length.value(),
            recipient=Recipient(who=recipient, note=self.note.text().strip())
            if recipient
            else None,
        )
        self.begin(with_progress(work), on_result=self._written, queue="model")

    def _progressed(self, progress: Progress) -> None:
        super()._progressed(progress)
        template = translate("Mark", "{n:count} of {all:count} tokens")
        if progress.total:
            self.say(filled(template, n=progress.done, all=progress.total))

    def _written(self, marked: MarkedText) -> None:
        self.made = marked.text
        self.text.setPlainText(marked.text)
        template = translate("Mark", "{n:plural(One token|{n:count} tokens)} written and marked.")
        parts = [filled(template, n=marked.ids.size)]
        if marked.entry is not None:
            noted = translate(
                "Mark", "Payload {payload:text} was issued to “{who:text}” (entry {entry:count})."
            )
            payload, issue = marked.mark.payload.hex, marked.entry.issue
            parts.append(filled(noted, payload=payload, who=issue.who, entry=marked.entry.number))
            self.noted.emit()
        self.say(" ".join(parts))
        self.refresh_buttons()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.made)
        self.say(translate("Mark", "Copied."))

    def _to_list(self) -> None:
        self.audit_wanted.emit(self.made)
        self.say(translate("Mark", "The text is in the list."))

    def ask_target(self) -> QWidget:
        """Ask for the file to save the text to."""
        return ask_target(
            self,
            translate("Mark", "Save the marked text"),
            self.write_to,
            translate("Mark", "Texts (*.txt)"),
            suffix="txt",
        )

    def write_to(self, path: Path) -> None:
        """Write the text byte for byte."""
        try:
            write_or_refuse(path, self.made.encode())
        except InputError as error:
            self.say(error_words(error), bad=True)
            return
        self.say(filled(translate("Mark", "Saved: {file:text}"), file=path.name))

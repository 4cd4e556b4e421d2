"""Power tables: the list of measured tables, and the form that measures a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QWidget,
)

from pura.detect.verdict.policy import Policy, default_policy
from pura.detect.verdict.power import MAX_NAME, SHORT, PowerEntry, PowerFile
from pura.keys import Secret
from pura.measure import DOCUMENTS, LEARNT, PASSAGES, TEXTS, TOKENS
from pura.usecases.measurements import (
    SHARES,
    PowerFound,
    add_power,
    estimate_power,
    export_power,
    list_power,
    measure_power,
    plan_power,
    power_lines,
    rely_on_power,
    remove_power,
    sign_power,
)
from pura_audit.jobs.queue import Done, Outcome, Progress, with_progress
from pura_audit.platform.i18n import duration, filled, moment, number, translate
from pura_audit.session.session import Session
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.widgets.card import Scrolled, add_parts, shortened
from pura_audit.widgets.form_dialog import (
    MainButton,
    ask_file,
    ask_first,
    ask_target,
    button_row,
    close_button,
    combo,
    dialog_column,
    named_rows,
    opened,
    plain_button,
    spin_box,
)
from pura_audit.widgets.working_dialog import StoreDialog, WorkingDialog, fill_table, make_table

if TYPE_CHECKING:
    from pura.measure.power_plan import PowerPlan


def own_profiles(session: Session) -> QComboBox:
    """Return a choice of PURA's own profiles, with the profile in use selected."""
    profiles = [p for p in session.chosen.found.profiles if p.profile.foreign is None]
    box = combo((p.profile, p.title) for p in profiles)
    if session.chosen.profile in profiles:
        box.setCurrentIndex(profiles.index(session.chosen.profile))
    return box


class PowerDialog(WorkingDialog):
    """Measures a power table with the settings that the user enters.

    Signals:
        measured: A table was measured and stored; carries the PowerFile.
    """

    measured = Signal(object)

    def __init__(self, session: Session, model: str, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._model, self._path = model, Path()
        self.setWindowTitle(translate("Power", "Measure how much is found"))
        self.setMinimumWidth(680)
        self.name, self.passages, self.documents, self.edits = (QLineEdit() for _ in range(4))
        self.name.setMaxLength(MAX_NAME)
        self.passages.setText(", ".join(map(str, PASSAGES)))
        self.documents.setText(", ".join(map(str, DOCUMENTS)))
        self.edits.setPlaceholderText(
            translate("Power", "none; such as substitute:0.1, delete:0.1")
        )
        self.profile = own_profiles(session)
        self.profile.currentTextChanged.connect(self.name.setText)
        self.name.setText(self.profile.currentText())
        models = [
            installed.name for installed in session.chosen.found.models if installed.name != model
        ]
        same = ("", translate("Power", "the same"))
        self.reader = combo([same, *((name, name) for name in models)])
        text = translate("Power", "Use a file with a prompt a line …")
        self.prompts = plain_button(text, self.ask_file)
        self.chat = QCheckBox(translate("Power", "Put the prompts into the model’s chat template"))
        self.texts, self.tokens = spin_box(*TEXTS), spin_box(*TOKENS)
        self.learn = spin_box(*LEARNT)
        self.learn.setSpecialValueText(translate("Power", "none: the shipped table weighs"))
        self.estimate = plain_button(translate("Power", "How long?"), self._estimate)
        self.measure = MainButton(translate("Power", "Measure"), self._measure)
        self._inputs: tuple[QWidget, ...] = ()
        self._lay_out()
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
        form = named_rows(fields)
        form.addRow("", self.chat)
        form.addRow("", button_row(left=(self.prompts,)))
        add_parts(
            layout,
            (Scrolled(form), 1),
            self.progress_row(),
            button_row(close_button(self), self.measure, left=(self.estimate,)),
        )
        self._inputs = (*(field for _, field in fields), self.chat, self.prompts)

    def refresh_buttons(self) -> None:
        """Enable the inputs that can be used now."""
        free = not self.busy
        needed = {self.profile.accessibleName(): self.profile.count()}
        self.measure.require(needed, free=free)
        self.estimate.setEnabled(self.measure.isEnabled())
        for widget in self._inputs:
            widget.setEnabled(free)

    def ask_file(self) -> QDialog:
        """Ask for a file of prompts."""
        return ask_file(
            self, translate("Power", "Prompts"), self._use, translate("Power", "Text files (*.txt)")
        )

    def _use(self, path: Path) -> None:
        self._path = path
        text = filled(translate("Power", "Prompts of “{file:text}” (change …)"), file=path.name)
        self.prompts.setText(shortened(text))

    def plan(self) -> Callable[[], PowerPlan] | None:
        """Return a function that makes the plan; None, after a message, if an input is invalid."""
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
            profile=self.profile.currentData(),
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
                on_result=self._say_time,
                queue="model",
            )

    def _say_time(self, seconds: float) -> None:
        text = translate("Power", "About {time:text} on this computer, from a short trial.")
        self.say(filled(text, time=duration(seconds)))

    def _measure(self) -> None:
        plan, environment, model = self.plan(), self.session.environment, self._model
        if plan is None:
            return
        reader = str(self.reader.currentData()) or None
        self.begin(
            with_progress(
                lambda **callbacks: measure_power(
                    environment, plan=plan(), model=model, reader=reader, **callbacks
                )
            ),
            on_result=self.measured.emit,
            queue="model",
        )

    def _progressed(self, progress: Progress) -> None:
        super()._progressed(progress)
        text = {
            "texts": translate("Power", "Writing the texts"),
            "reading": translate("Power", "Reading them"),
            "reading-inside": translate("Power", "Reading them inside longer texts"),
            "counting": translate("Power", "Weighing the evidence"),
        }.get(progress.name)
        if text is None:
            return
        of_tokens = progress.name == "texts"
        counted = (
            translate("Power", "{step:text}: {n:count} of {all:count} tokens")
            if of_tokens
            else translate("Power", "{step:text}: {n:count} of {all:count} texts")
        )
        text = filled(counted, step=text, n=progress.done, all=progress.total)
        if progress.seconds_left is not None:
            left = translate("Power", "{progress:text}, {time:text} left")
            text = filled(left, progress=text, time=duration(progress.seconds_left))
        self.say(text)


def _parts(text: str) -> list[str]:
    """Return the parts of a line between commas or semicolons."""
    return [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]


T = TypeVar("T")
_VISIBLE_ROWS = 4  # rows of the table of lines that are visible at once
_ROW, _HEAD = 32, 40  # pixels of a row and of the header


def _table_files() -> str:
    return filled(translate("Power", "Measured tables ({files:text})"), files="*.json")


class PowerTablesDialog(StoreDialog[PowerFound]):
    """The list of power tables, with the content of the selected one below it.

    Args:
        session: The session.
        model: The model whose texts "Measure …" measures.
    """

    def __init__(self, session: Session, model: str, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.resize(1000, 680)
        self._model = model
        self._policy = session.chosen.found.policy or default_policy()
        self.state.setText(
            translate(
                "Power",
                "How often marked texts of your own kind are found. Where a text shows no mark, "
                "the tables that the policy relies on say how often one would have been found, "
                "before those that ship with the program.",
            )
        )
        self.none.setText(
            translate(
                "Power",
                "No tables yet. Measure one, or add one that was measured on another computer.",
            )
        )
        self.lay_out(
            translate("Power", "How much is found"),
            {
                "measure": (translate("Power", "Measure …"), self.ask_measure),
                "add": (translate("Power", "Add a file …"), self.ask_file),
                "-rely": (translate("Power", "Let the policy rely on it"), self._rely),
                "sign": (translate("Power", "Sign …"), self.ask_certificate),
                "export": (translate("Power", "Export …"), self.ask_export),
                "-remove": (translate("Power", "Remove …"), self.ask_remove),
            },
        )
        self.lines = make_table(translate("Power", "Shares found"))
        self.lines.setMinimumHeight(_VISIBLE_ROWS * _ROW + _HEAD)
        self.column.insertWidget(3, self.lines, 1)
        self.refresh_buttons()
        self._do(lambda: None)

    def key(self, row: PowerFound) -> str:
        """Return the fingerprint of the table."""
        return row.sealed.fingerprint

    def cells(self, row: PowerFound) -> Sequence[str]:
        """Return a row of the table."""
        table = row.sealed.table
        conditions = table.conditions
        return (
            table.name,
            moment(str(conditions.get("date", ""))),
            str(conditions.get("names", {}).get("generator", "")),
            number(int(conditions.get("texts", 0))),
            row.signed.subject if row.signed is not None else "–",
            translate("Power", "yes") if row.relied_on else "–",
        )

    def refresh_buttons(self) -> None:
        """Enable the buttons that apply to the selected table, and show its content."""
        entry = self.selected
        for kind, button in self.buttons.items():
            button.setEnabled(not self.busy and (entry is not None or kind in ("measure", "add")))
        relied_on = entry is not None and entry.relied_on
        if "rely" in self.buttons:
            self.buttons["rely"].setText(
                translate("Power", "No longer rely on it")
                if relied_on
                else translate("Power", "Let the policy rely on it")
            )
            self.buttons["remove"].setEnabled(self.buttons["remove"].isEnabled() and not relied_on)
            self._tell(entry)

    def _tell(self, entry: PowerFound | None) -> None:
        self.detail.setText(_detail(entry) if entry is not None else "")
        self.lines.setVisible(entry is not None)
        headers = (
            translate("Power", "Marked texts"),
            *(
                filled(translate("Power", "{n:count} % found from"), n=round(100 * share))
                for share in SHARES
            ),
            translate("Power", "At most shown"),
            translate("Power", "Texts"),
        )
        lines = power_lines(entry.sealed.table, self._policy.t_found) if entry is not None else ()
        fill_table(self.lines, headers, [_line(line) for line in lines], 340)

    def _do(self, use_case: Callable[[], T], words: Callable[[T], str] | None = None) -> None:
        """Carry out a use case, then show the tables again."""
        environment = self.session.environment
        self.begin(
            lambda _: (use_case(), list_power(environment)),
            words=None if words is None else lambda outcome: words(outcome[0]),
            on_result=lambda outcome: self._show(outcome[1]),
        )

    def _show(self, rows: tuple[PowerFound, ...], selected_key: str = "") -> None:
        headers = (
            translate("Power", "Name"),
            translate("Power", "Measured"),
            translate("Power", "Writing model"),
            translate("Power", "Texts"),
            translate("Power", "Signed as"),
            translate("Power", "Policy"),
        )
        self.fill(headers, rows, selected_key)

    def ask_measure(self) -> PowerDialog:
        """Open the form that measures a table."""
        dialog = PowerDialog(self.session, self._model, self)
        dialog.measured.connect(lambda file: self._take(dialog, file))
        opened(dialog)
        return dialog

    def _take(self, dialog: PowerDialog, file: PowerFile) -> None:
        dialog.accept()
        environment = self.session.environment
        self.begin(
            lambda _: list_power(environment),
            words=lambda _: _stored(file),
            on_result=lambda rows: self._show(rows, file.fingerprint),
        )

    def ask_file(self) -> QDialog:
        """Ask for a table that was measured on another computer."""
        environment = self.session.environment
        return ask_file(
            self,
            translate("Power", "Add a table"),
            lambda path: self._do(lambda: add_power(environment, path), _added),
            _table_files(),
        )

    def ask_certificate(self) -> QDialog | None:
        """Ask for the certificate to sign the selected table with."""
        if self.selected is None:
            return None
        name = self.selected.sealed.fingerprint
        kinds = filled(translate("Power", "Certificates ({files:text})"), files="*.p12 *.pfx")
        title = translate("Power", "Choose a certificate")
        return ask_file(self, title, lambda path: self.ask_passphrase(name, path), kinds)

    def ask_passphrase(self, name: str, certificate: Path) -> QDialog:
        """Ask for the passphrase of a certificate, and sign the table with it.

        Args:
            name: Fingerprint of the table.
            certificate: PKCS#12 file.
        """
        explanation = translate(
            "Power",
            "The table is signed with “{file:text}”. Whoever gets the table can check that it is "
            "yours and unchanged.",
        )
        dialog = PassphraseDialog(
            translate("Power", "Sign the table"),
            filled(explanation, file=certificate.name),
            translate("Power", "Sign"),
            self,
            new=False,
        )
        environment = self.session.environment

        def ended(outcome: Outcome[tuple[PowerFound, tuple[PowerFound, ...]]]) -> None:
            dialog.ended(outcome)
            if isinstance(outcome, Done):
                self._show(outcome.result[1])

        def sign(secret: Secret) -> None:
            self.session.do(
                lambda _: (
                    sign_power(environment, name=name, certificate=certificate, passphrase=secret),
                    list_power(environment),
                ),
                ended,
                dialog,
                words=lambda outcome: _signed(outcome[0]),
            )

        dialog.given.connect(sign)
        return opened(dialog)

    def ask_export(self) -> QDialog | None:
        """Ask for the file to export the selected table to."""
        if self.selected is None:
            return None
        name, environment = self.selected.sealed.fingerprint, self.session.environment
        written = translate("Power", "The table was written to “{file:text}”.")
        return ask_target(
            self,
            translate("Power", "Export the table"),
            lambda path: self._do(
                lambda: export_power(environment, name, path, replace=True),
                lambda _: filled(written, file=path.name),
            ),
            _table_files(),
            suffix="json",
        )

    def _rely(self) -> None:
        if self.selected is None:
            return
        name, rely = self.selected.sealed.fingerprint, not self.selected.relied_on
        environment = self.session.environment
        self._do(lambda: rely_on_power(environment, name=name, on=rely), _relied)

    def ask_remove(self) -> QDialog | None:
        """Ask for confirmation before a table is removed."""
        if self.selected is None:
            return None
        table, environment = self.selected.sealed.table, self.session.environment
        fingerprint = self.selected.sealed.fingerprint
        removed = translate("Power", "The table was removed.")

        def remove() -> None:
            self._do(lambda: remove_power(environment, fingerprint), lambda _: removed)

        return ask_first(
            self,
            translate("Power", "Remove a table"),
            filled(translate("Power", "Remove “{table:text}”?"), table=table.name),
            translate("Power", "It can be measured again, or added again from a file."),
            (translate("Power", "Remove"), remove),
        )


def _detail(entry: PowerFound) -> str:
    table = entry.sealed.table
    kinds = ", ".join(table.conditions.get("kinds", []))
    sentences = (
        translate("Power", "Read by “{reader:text}”. Kind of text: {kinds:text}."),
        translate("Power", "It brings a likelihood table that was learnt.")
        if table.likelihood is not None
        else translate("Power", "The shipped likelihood table weighed the texts."),
        translate("Power", "Fingerprint {table:text}"),
    )
    reader = str(table.conditions.get("names", {}).get("reader", ""))
    return filled(
        "{} {}\n{}".format(*sentences),
        reader=reader,
        kinds=kinds or translate("Power", "not told apart"),
        table=entry.sealed.fingerprint,
    )


def _line(line: PowerEntry) -> tuple[str, ...]:
    """Return the cells of a line of a power table."""
    if line.edit:
        kind = filled(translate("Power", "edited ({edit:text})"), edit=line.edit)
    elif line.text_usable:
        text = translate("Power", "passages in up to {n:count} positions")
        kind = filled(text, n=line.text_usable)
    else:
        kind = translate("Power", "whole texts")
    from_ = translate("Power", "{n:count} positions")
    not_shown = translate("Power", "not shown")
    needed = [not_shown if n is None else filled(from_, n=n) for n in map(line.needed, SHARES)]
    return (kind, *needed, f"{int(100 * max(line.limits))} %", number(max(line.texts)))


def _stored(file: PowerFile) -> str:
    text = translate(
        "Power", "Table “{name:text}” ({table:text}) is stored; {n:count} texts were counted."
    )
    return filled(
        text,
        name=file.table.name,
        table=file.fingerprint[:SHORT],
        n=file.table.conditions["texts"],
    )


def _added(entry: PowerFound) -> str:
    text = translate("Power", "The table “{table:text}” was added.")
    return filled(text, table=entry.sealed.table.name)


def _signed(entry: PowerFound) -> str:
    text = translate("Power", "The table “{table:text}” is signed as {who:text}.")
    signer = entry.signed.subject if entry.signed is not None else ""
    return filled(text, table=entry.sealed.table.name, who=signer)


def _relied(policy: Policy) -> str:
    text = translate(
        "Power",
        "The policy is now {rule:text} and relies on {n:plural(one table|{n:count} tables)}.",
    )
    return filled(text, rule=policy.rule, n=len(policy.power_tables))

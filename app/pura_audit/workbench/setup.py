"""Setting up the program: the first page, new set-ups, and team bundles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from pura.keys import MAX_NAME, KeyRef, Place, Secret, State, passphrase_bytes
from pura.keys.sealed import SUFFIX as KEY_FILE
from pura.model.store import builtin_model
from pura.record.left_out import QUOTATIONS, REFERENCES
from pura.scheme.fields import Field
from pura.usecases.keys import SUFFIX, Bundle, create_bundle, open_bundle, take_bundle, unlock_files
from pura.usecases.models import install_model
from pura.usecases.profiles import ProfileDone
from pura.usecases.setup import TEMPLATES, set_up
from pura.usecases.setups import StoredSetup, save_setup
from pura_audit.jobs.queue import Failure, Job, JobContext, Outcome, Progress, by_outcome
from pura_audit.platform.i18n import duration, filled, size, translate
from pura_audit.session.choices import Inventory, KeyChoice
from pura_audit.session.session import Session
from pura_audit.stores.key_forms import PassphraseDialog, folder_passphrase
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import (
    Fold,
    add_parts,
    column_of,
    label,
    progress_bar,
    push_button,
    row_of,
    shortened,
)
from pura_audit.widgets.check_list import check_list
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    Host,
    MainButton,
    ask_file,
    ask_target,
    button_row,
    cancel_button,
    combo,
    dialog_column,
    name_input,
    named_rows,
    opened,
    spin_box,
)
from pura_audit.widgets.working_dialog import WorkingDialog

# Shares of the progress at which stages of an installation end; see ModelStore.install_builtin.
FETCHED: Final = 0.5
UNPACKED: Final = 0.6


class SetupView(QFrame):
    """Three ways to begin, with the progress below them.

    Signals:
        complete: Nothing is missing any more; carries whether the keyboard is in use.
        needed: Carries whether something has to be set up.
    """

    complete = Signal(bool)
    needed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.bundle = push_button(translate("Setup", "Open a team bundle …"))
        self.sample = push_button(translate("Setup", "Try with the sample"))
        self.own = push_button(translate("Setup", "Set up ours …"))
        self.words = label("", "attention", wrap=True)
        self.bar = progress_bar(translate("Setup", "Progress of the installation"))
        self.stage = label("", "muted", wrap=True)
        self.cancel = push_button(translate("Setup", "Cancel"))
        self.ways = QWidget()
        self._lay_out()
        self.busy(None)

    def _lay_out(self) -> None:
        grid = QGridLayout(self.ways)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GAP)
        grid.setColumnStretch(1, 1)
        fetched = translate(
            "Setup",
            "A marked text with its public key. The built-in model is fetched once: {size:text}.",
        )
        for index, (button, explanation) in enumerate(
            (
                (
                    self.bundle,
                    translate("Setup", "A colleague sent you a file with key, profile and rules."),
                ),
                (self.sample, filled(fetched, size=size(builtin_model().download_bytes))),
                (
                    self.own,
                    translate("Setup", "Your own key, and a register of who got which answer."),
                ),
            )
        ):
            explanation_label = label(explanation, "muted", wrap=True)
            button.setAccessibleDescription(explanation)
            grid.addWidget(button, index, 0)
            grid.addWidget(explanation_label, index, 1, Qt.AlignmentFlag.AlignVCenter)
        # What comes and goes keeps its place, so that no button moves under the pointer.
        self.words.setMinimumHeight(2 * self.words.fontMetrics().lineSpacing())
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        for widget in (self.bar, self.stage, self.cancel, self.words):
            policy = widget.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            widget.setSizePolicy(policy)
        moving = row_of((self.bar, 1), self.cancel, spacing=GAP)
        column_of(self.ways, moving, self.stage, self.words, spacing=GRID, inside=self)

    def show_when(self, needed: bool) -> None:
        """Hide the page once nothing is missing."""
        focus = self.window().focusWidget()  # a button that goes hands it to the next one
        has_focus = focus is not None and self.isAncestorOf(focus)
        keys = self.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        self.setVisible(needed)
        self.needed.emit(needed)
        if has_focus and not needed:
            self.complete.emit(keys)

    def busy(self, progress: Progress | None) -> None:
        """Show the progress of an installation; None for no installation."""
        running = progress is not None
        for widget in (self.bar, self.stage, self.cancel):
            widget.setVisible(running)
        if progress is not None:
            self.bar.setRange(0, progress.total)
            self.bar.setValue(progress.done)
            self.stage.setText(stage_words(progress))

    def say(self, message: str) -> None:
        """Show an error; an empty message hides the line."""
        self.words.setText(message)
        self.words.setVisible(bool(message))


def stage_words(progress: Progress) -> str:
    """Return the step of an installation, its progress and the time left."""
    if not progress.total:
        return translate("Setup", "Looking for the model")
    share = progress.done / progress.total
    if share < FETCHED:
        size_bytes = builtin_model().download_bytes
        template = translate("Setup", "1 of 3, fetching: {done:text} of {all:text}")
        parts = [
            filled(template, done=size(round(size_bytes * share / FETCHED)), all=size(size_bytes))
        ]
    elif share < UNPACKED:
        parts = [translate("Setup", "2 of 3, checking what was fetched")]
    else:
        parts = [translate("Setup", "3 of 3, preparing it for this computer")]
    if progress.seconds_left is not None:
        left = translate("Busy", "{time:text} left")
        parts.append(filled(left, time=duration(progress.seconds_left)))
    return " · ".join(parts)


class SetupActs(QObject):
    """Connects the first page with the session."""

    def __init__(self, views: Sequence[SetupView], session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._install: Job | None = None
        self._progress: Progress | None = None
        self.show_in(views)
        session.chosen.changed.connect(self._refresh)
        session.install_wanted.connect(self.install_model)

    def show_in(self, views: Sequence[SetupView]) -> None:
        """Set the views to update: the first page and that of a waiting text."""
        self._views = views
        for view in views:
            view.cancel.clicked.connect(self._cancel)
            view.busy(self._progress)
        self._refresh()

    def install_model(self) -> None:
        """Install the built-in model, unless that is already under way."""
        if self._session.jobs.installs.busy:
            return
        environment = self._session.environment
        self._say("")
        self._tell(Progress(step=0, name="install"))
        self._install = self._session.do(
            lambda context: install_model(
                environment, progress=context.progress, checkpoint=context.checkpoint
            ),
            self._installed,
            self,
            progressed=self._tell,
            queue="installs",
        )

    def _tell(self, progress: Progress | None) -> None:
        self._progress = progress
        for view in self._views:
            view.busy(progress)

    def _say(self, message: str) -> None:
        for view in self._views:
            view.say(message)

    def _cancel(self) -> None:
        if self._install is not None:
            self._install.cancel()

    def _installed(self, outcome: Outcome[object]) -> None:
        self._install = None
        self._tell(None)
        if isinstance(outcome, Failure):
            self._say(outcome.words)
        self._refresh()

    def _refresh(self) -> None:
        catalogue = self._session.chosen.catalogue
        if catalogue is not None:
            complete = bool(catalogue.keys and catalogue.models and catalogue.own_profiles)
            self._views[0].show_when(not complete)


class KeyKeepingDialog(WorkingDialog):
    """A dialog that stores a key; without a keyring it goes into an encrypted file."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._asking: PassphraseDialog | None = None

    def ask_place(self, on_secret: Callable[[Secret | None], None]) -> None:
        """Ask for the passphrase of the key files if necessary, then call the function."""
        inventory = self.session.chosen.found
        if inventory.place is Place.KEYRING or inventory.files is State.READY:
            on_secret(None)
            return
        self._asking = dialog = folder_passphrase(self, new=inventory.place is None)
        dialog.given.connect(on_secret)
        dialog.finished.connect(lambda _: setattr(self, "_asking", None))
        opened(dialog)

    def _ended(self, failure: Failure | None) -> None:
        super()._ended(failure)
        if self._asking is not None:
            if failure is not None and failure.code == "folder-passphrase":
                self._asking.ended(failure)
            else:
                self._asking.accept()


class SetupDialog(KeyKeepingDialog):
    """Makes a new set-up from a name, a key and the meaning of the payload.

    All other settings have defaults and are folded.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._file: Path | None = None
        self.setWindowTitle(translate("Setup", "Set up ours"))
        self.setMinimumWidth(560)
        column = dialog_column(
            self,
            translate("Setup", "Set up ours"),
            translate(
                "Setup",
                "Key, model and profile are made together. Whoever marks your texts needs the "
                "same key and profile: pass them on as a team bundle.",
            ),
        )
        inventory = session.chosen.found
        self.name = QLineEdit()
        self.name.setMaxLength(MAX_NAME)
        self.name.setPlaceholderText(translate("Setup", "e.g. Our assistant"))
        self.name.textChanged.connect(lambda _: self.refresh_buttons())
        keys = [(key.ref, key.label) for key in inventory.keys if key.entry is not None]
        self.key = combo(
            [
                (_NEW, translate("Setup", "A new key")),
                *keys,
                (_FILE, translate("Setup", "From a file …")),
            ]
        )
        self.key.activated.connect(lambda _: self._key_chosen())
        self.passphrase = QLineEdit()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self.templates = {
            name: QRadioButton(text)
            for name, text in (
                ("answer", translate("Setup", "One number for each answer")),
                ("customer-date", translate("Setup", "The recipient: customer and date")),
                ("customer", translate("Setup", "The recipient: customer only")),
            )
        }
        self.templates["answer"].setChecked(True)
        self.about = label("", "muted", wrap=True)
        says = column_of(*self.templates.values(), self.about)
        builtin = filled(
            translate("Setup", "Built in ({size:text}, fetched once)"),
            size=size(builtin_model().download_bytes),
        )
        installed = [(model.name, model.name) for model in inventory.models]
        self.model = combo(installed or [(None, builtin)])
        self.code = combo(
            [
                ("tbcc", translate("Setup", "Convolutional: reads shorter texts")),
                ("spc", translate("Setup", "Parity blocks: as in the paper")),
            ]
        )
        self.bits = spin_box(8, 64, 36)
        form = named_rows(
            [(translate("Setup", "Name"), self.name), (translate("Setup", "Key"), self.key)],
            spacing=GAP,
            aligned=True,
        )
        self._passphrase_words = translate("Setup", "Passphrase of the key file")
        name_input(self.passphrase, self._passphrase_words)
        form.addRow(self._passphrase_words, self.passphrase)
        form.addRow(translate("Setup", "A mark says"), says)
        form.setRowVisible(self.passphrase, False)
        self._form = form
        further = Fold(translate("Setup", "More"), ruled=False)
        further.body.addLayout(
            named_rows(
                [
                    (translate("Setup", "Model that reads"), self.model),
                    (translate("Setup", "Code"), self.code),
                    (translate("Setup", "Bits of a number"), self.bits),
                ],
                spacing=GAP,
                aligned=True,
            )
        )
        self.go = MainButton(translate("Setup", "Set up"), self._go)
        foot = button_row(cancel_button(self), self.go)
        add_parts(column, form, further, foot, self.progress_row())  # below: no button moves
        for button in self.templates.values():
            button.toggled.connect(lambda _: self.refresh_buttons())
        self.refresh_buttons()

    @property
    def template(self) -> str:
        """Name of the selected template."""
        return next(name for name, button in self.templates.items() if button.isChecked())

    def refresh_buttons(self) -> None:
        """Enable the button once there is a name and nothing runs."""
        has_file = self.key.currentData() != _FILE or self._file is not None
        name = {self.name.accessibleName(): self.name.text().strip()}
        self.go.require(name, free=has_file and not self.busy)
        self.bits.setEnabled(self.template == "answer")
        explanations = {
            "answer": translate(
                "Setup",
                "A number that is drawn at random and used once: 36 bits unless you say otherwise. "
                "Your register names the recipient.",
            ),
            "customer-date": translate(
                "Setup", "The number of a customer, up to 1,048,575, and the day: 36 bits."
            ),
            "customer": translate(
                "Setup", "The number of a customer, up to 16,777,215: 24 bits, for shorter texts."
            ),
        }
        explanation = explanations[self.template]
        if TEMPLATES[self.template]:
            cost = translate(
                "Setup",
                "With the recipient in the payload, texts in that name can be forged from "
                "collected answers, and the text carries personal data.",
            )
            explanation = f"{explanation} {cost}"
        self.about.setText(explanation)

    def _key_chosen(self) -> None:
        if self.key.currentData() == _FILE:
            dialog = ask_file(
                self,
                translate("Setup", "File of a key"),
                self.take_key,
                translate("Register", "All files (*)"),
            )
            dialog.rejected.connect(lambda: self.key.setCurrentIndex(0))
        self.refresh_buttons()

    def take_key(self, path: Path) -> None:
        """Select a key file."""
        self._file = path
        self.key.setItemText(self.key.count() - 1, shortened(path.name))
        self._form.setRowVisible(self.passphrase, path.suffix == KEY_FILE)
        self.refresh_buttons()

    def _go(self) -> None:
        if isinstance(self.key.currentData(), KeyRef):  # it is kept somewhere
            self._set_up(None)
        else:
            self.ask_place(self._set_up)

    def _set_up(self, folder: Secret | None) -> None:
        environment, key_choice = self.session.environment, self.key.currentData()
        stored = key_choice if isinstance(key_choice, KeyRef) else None
        key = self._file if key_choice == _FILE else stored
        secret = Secret(passphrase_bytes(self.passphrase.text())) if key is self._file else None
        if not self.passphrase.text():
            secret = None
        name, template = self.name.text().strip(), self.template
        fields = [
            Field(name=field_words(field), bits=bits, kind=kind)
            for field, bits, kind in TEMPLATES[template]
        ]
        bits, code, model = self.bits.value(), self.code.currentData(), self.model.currentData()

        def work(context: JobContext) -> ProfileDone:
            if folder is not None:
                unlock_files(environment, passphrase=folder)
            return set_up(
                environment,
                name=name,
                fields=fields,
                bits=bits,
                code=code,
                model=model,
                key=key,
                passphrase=secret,
                progress=context.progress,
                checkpoint=context.checkpoint,
            )

        self.begin(work, on_result=self._made, queue="installs")

    def _progressed(self, progress: Progress) -> None:
        super()._progressed(progress)
        self.say(stage_words(progress))

    def _made(self, outcome: ProfileDone) -> None:
        choices = self.session.chosen
        choices.use_setup(outcome.name or "")
        template = translate("Setup", "“{name:text}” is set up.")
        self.session.noticed.emit(filled(template, name=outcome.profile.name or ""))
        self.accept()


_MOST_KEYS_HEIGHT: Final = 320  # pixels; more keys scroll


class SeveralKeysDialog(FittedDialog):
    """Chooses several keys that every audit tries; the evidence is the mean over all."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        title = translate("Setup", "Try several keys")
        self.setWindowTitle(title)
        column = dialog_column(
            self,
            title,
            translate(
                "Setup",
                "Every audit tries the ticked keys, and the evidence is the mean over them. "
                "Each key that made no mark lowers it a little.",
            ),
        )
        used = {key.fingerprint for key in session.chosen.keys}
        self.boxes = {}
        area, rows = check_list(translate("Setup", "Keys"), (0, 0, GRID, 0))
        for key in session.chosen.found.keys:
            box = QCheckBox(f"{key.label} ({key.fingerprint})".replace("&", "&&"))
            box.setChecked(key.fingerprint in used)
            box.toggled.connect(lambda _: self._refresh())
            self.boxes[key] = box
            rows.addWidget(box)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the first key has the focus, not its frame
        height = (len(self.boxes) + 1) * (self.fontMetrics().height() + 2 * GRID)
        area.setMinimumHeight(min(height, _MOST_KEYS_HEIGHT))
        column.addWidget(area)
        self.submit = MainButton(translate("Setup", "Use these keys"), self._choose)
        column.addLayout(button_row(cancel_button(self), self.submit))
        self._refresh()

    def _ticked(self) -> list[KeyChoice]:
        return [key for key, box in self.boxes.items() if box.isChecked()]

    def _refresh(self) -> None:
        self.submit.require({translate("Setup", "Key"): bool(self._ticked())})

    def _choose(self) -> None:
        self._session.chosen.choose_keys(self._ticked())
        self.accept()


class SaveSetupDialog(WorkingDialog):
    """Saves the chosen keys, profile and model as a set-up."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        title = translate("Setup", "Save as a set-up")
        self.setWindowTitle(title)
        column = dialog_column(
            self,
            title,
            translate(
                "Setup", "Key, profile and model as they are chosen now, to be chosen as one."
            ),
        )
        self.name = QLineEdit()
        self.name.setMaxLength(MAX_NAME)
        self.name.textChanged.connect(lambda _: self.refresh_buttons())
        form = named_rows([(translate("Setup", "Name"), self.name)], spacing=GAP, aligned=True)
        caption = label(
            translate(
                "Setup",
                "Left out of every examined text, as a part of its own that can be examined too:",
            ),
            "muted",
            wrap=True,
        )
        self.leave_out = {
            QUOTATIONS: QCheckBox(translate("Setup", "Quotations of 15 words or more")),
            REFERENCES: QCheckBox(translate("Setup", "Lists of references")),
        }
        left_out = session.chosen.setup.leave_out if session.chosen.setup is not None else ()
        for name, box in self.leave_out.items():
            box.setChecked(name in left_out)
        self.submit = MainButton(translate("Setup", "Save"), self._save)
        foot = button_row(cancel_button(self), self.submit)
        boxes = column_of(*self.leave_out.values(), spacing=GRID)
        add_parts(column, form, caption, boxes, foot, self.progress_row())
        self.refresh_buttons()

    def refresh_buttons(self) -> None:
        """Enable the button once there is a name and all parts are chosen."""
        ready = self.session.chosen.ready and not self.busy
        self.submit.require({self.name.accessibleName(): self.name.text().strip()}, free=ready)

    def _save(self) -> None:
        choices, environment = self.session.chosen, self.session.environment
        if choices.profile is None or choices.model is None:
            return
        work = partial(
            save_setup,
            environment,
            name=self.name.text().strip(),
            profile=choices.profile.name,
            keys=tuple(key.fingerprint for key in choices.keys),
            model=choices.model.name,
            leave_out=tuple(name for name, box in self.leave_out.items() if box.isChecked()),
        )
        self.begin(lambda _: work(), on_result=self._saved)

    def _saved(self, setup: StoredSetup) -> None:
        self.session.chosen.use_setup(setup.name)
        self.accept()


_NEW: Final = "new"
_FILE: Final = "file"


def field_words(name: str) -> str:
    """Return the name of a template's field in the language of the window."""
    return {"customer": translate("Setup", "customer"), "date": translate("Setup", "date")}[name]


class BundleDialog(KeyKeepingDialog):
    """Asks for the passphrase of a bundle, shows its fingerprints, and imports it."""

    def __init__(self, session: Session, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._path = path
        self._secret: Secret | None = None
        self.setWindowTitle(translate("Bundle", "Team bundle"))
        self.setMinimumWidth(520)
        column = dialog_column(
            self,
            path.name,
            translate(
                "Bundle",
                "It brings a key, a profile, and where they are used a policy, power tables and "
                "the register. You see what it holds before anything is taken in.",
            ),
        )
        self.passphrase = QLineEdit()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        name_input(self.passphrase, translate("Bundle", "Passphrase of the bundle"))
        self.passphrase.setPlaceholderText(translate("Bundle", "Passphrase of the bundle"))
        self.passphrase.textChanged.connect(lambda _: self.refresh_buttons())
        self.holds = label(wrap=True)
        self.holds.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.holds.hide()
        self.policy = QCheckBox(translate("Bundle", "Its policy may replace the one that is here"))
        self.policy.hide()
        template = translate("Bundle", "Install the built-in model too ({size:text}, fetched once)")
        self.model = QCheckBox(filled(template, size=size(builtin_model().download_bytes)))
        self.model.setChecked(True)
        self.model.hide()
        self.go = MainButton(translate("Bundle", "Show what it holds"), self._go)
        foot = button_row(cancel_button(self), self.go)
        fields = (self.passphrase, self.holds, self.policy, self.model)
        add_parts(column, *fields, self.progress_row(stays=True), foot)
        self.finished.connect(lambda _: self._forget())
        self.refresh_buttons()

    def refresh_buttons(self) -> None:
        """Enable the button once there is a passphrase and nothing runs."""
        is_readable = self._secret is not None or self.passphrase.text()
        self.go.require({self.passphrase.accessibleName(): is_readable}, free=not self.busy)

    def _forget(self) -> None:
        if self._secret is not None and not self.busy:
            self._secret.wipe()

    def _go(self) -> None:
        if self._secret is not None:
            self._take(self._secret)
            return
        secret = Secret(passphrase_bytes(self.passphrase.text()))
        self.begin(
            lambda _: open_bundle(self._path, secret),
            on_result=lambda bundle: self._show(bundle, secret),
        )

    def _ended(self, failure: Failure | None) -> None:
        was_asking = self._asking is not None
        super()._ended(failure)
        if not was_asking and failure is not None and self._secret is None:
            self.passphrase.setFocus()
            self.passphrase.selectAll()

    def _show(self, bundle: Bundle, secret: Secret) -> None:
        self._secret = secret
        self.passphrase.clear()
        self.passphrase.hide()
        self.holds.setText("\n".join(bundle_lines(bundle)))
        self.holds.show()
        self.policy.setVisible(bundle.policy is not None)
        no_model = (
            not (self.session.chosen.catalogue or Inventory()).models
            and not self.session.jobs.installs.busy
        )
        self.model.setVisible(no_model and bundle.model in (None, builtin_model().fingerprint))
        self.say(translate("Bundle", "Compare the fingerprints with whoever made the bundle."))
        self.go.setText(translate("Bundle", "Take it in"))
        self.refresh_buttons()
        self.go.setFocus()  # else it goes on from the hidden field to “Cancel”, and Enter with it

    def _take(self, secret: Secret) -> None:
        self.ask_place(lambda folder: self._take_in(secret, folder))

    def _take_in(self, secret: Secret, folder: Secret | None) -> None:
        environment = self.session.environment
        # The secret is overwritten when it has been used; another try needs it again.
        lent, replaces = Secret(secret.copy()), self.policy.isChecked()

        def work(_: JobContext) -> Bundle:
            if folder is not None:
                unlock_files(environment, passphrase=folder)
            return take_bundle(
                environment, path=self._path, passphrase=lent, replace_policy=replaces
            )

        self.begin(
            work,
            words=lambda _: translate("Bundle", "The team bundle was taken in."),
            on_result=self._taken,
        )

    def _taken(self, bundle: Bundle) -> None:
        self.session.chosen.use_setup(bundle.profile)
        if self.model.isVisible() and self.model.isChecked():
            self.session.install_wanted.emit()
        self.accept()


def bundle_lines(bundle: Bundle) -> list[str]:
    """Return the content of a bundle, one line each."""
    named_part = translate("Bundle", "{what:text} “{name:text}”, fingerprint {fingerprint:text}")
    lines = [
        filled(named_part, what=what, name=name, fingerprint=fingerprint)
        for what, name, fingerprint in (
            (translate("Setup", "Key"), bundle.key, bundle.key_fingerprint),
            (translate("Setup", "Profile"), bundle.profile, bundle.profile_fingerprint),
        )
    ]
    if bundle.policy is not None:
        template = translate("Bundle", "Policy {name:text}")
        lines.append(filled(template, name=bundle.policy))
    for fingerprint in bundle.power:
        template = translate("Bundle", "Power table {fingerprint:text}")
        lines.append(filled(template, fingerprint=fingerprint[:16]))
    if bundle.register_rows:
        template = translate("Bundle", "Register of {n:plural(one payload|{n:count} payloads)}")
        lines.append(filled(template, n=bundle.register_rows))
    return lines


def ask_bundle(host: Host) -> QFileDialog:
    """Ask for the file of a bundle, then show its content."""
    return ask_file(
        host.frame,
        translate("Bundle", "Team bundle"),
        lambda path: show_bundle(host, path),
        _names(),
        translate("Register", "All files (*)"),
    )


def show_bundle(host: Host, path: Path) -> BundleDialog:
    """Show the content of a bundle, and offer to import it."""
    return opened(BundleDialog(host.session, path, host.frame))


def make_bundle(host: Host) -> PassphraseDialog | None:
    """Make a bundle of the chosen key and profile."""
    session = host.session
    key, profile = session.chosen.key, session.chosen.profile
    if key is None or key.entry is None or profile is None:
        host.say(translate("Bundle", "Choose a stored key and a profile first."))
        return None
    dialog = PassphraseDialog(
        translate("Bundle", "Make a team bundle"),
        filled(
            translate(
                "Bundle",
                "Key “{key:text}”, profile “{profile:text}”, and what counts here of policy, power "
                "tables and register. Tell your colleague the passphrase by another way.",
            ),
            key=key.label,
            profile=profile.name,
        ),
        translate("Bundle", "Save …"),
        host.frame,
        new=True,
    )

    def save(secret: Secret) -> None:
        def chosen(path: Path) -> None:
            work = partial(
                create_bundle,
                session.environment,
                key=key.label,
                profile=profile.name,
                passphrase=secret,
                path=path,
                replace=True,
            )
            message = translate(
                "Bundle", "The team bundle is saved. Compare the fingerprints later."
            )
            ended = by_outcome(lambda _: host.say(message), host.say)
            session.do(lambda _: work(), ended, host.frame)

        dialog = ask_target(
            host.frame,
            translate("Bundle", "Save the team bundle"),
            chosen,
            _names(),
            name=f"{profile.name}{SUFFIX}",
            suffix=SUFFIX[1:],
        )
        # Qt holds methods by weak references, which a secret does not have.
        dialog.rejected.connect(partial(Secret.wipe, secret))

    dialog.given.connect(save)
    return opened(dialog)


def _names() -> str:
    return translate("Bundle", "Team bundles (*.purateam)")

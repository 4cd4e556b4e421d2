"""Asks what the first-run page needs to know, then hands the use case to the session."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from pura.usecases.models import add_model, install_model
from pura.usecases.profiles import create_profile, import_profile
from pura_audit.cases.ask import AskDialog
from pura_audit.jobs.outcome import Failure, Outcome, Progress
from pura_audit.jobs.queue import Job, Work
from pura_audit.keys.requests import KeyAct
from pura_audit.platform.i18n import translate
from pura_audit.session.session import Session
from pura_audit.widgets.ask_file import ask_file, ask_folder
from pura_audit.widgets.form_dialog import opened
from pura_audit.workbench.states.setup_view import SetupView

T = TypeVar("T")


class SetupActs(QObject):
    """Between the first-run page and the session.

    Signals:
        keys_wanted: Show the dialog of the keys and ask for this KeyAct.
    """

    keys_wanted = Signal(object)

    def __init__(self, view: SetupView, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._install: Job | None = None
        self._progress: Progress | None = None
        self.show_in(view)
        session.chosen.changed.connect(self._refresh)
        session.install_wanted.connect(self.install_model)

    def show_in(self, view: SetupView) -> None:
        """Use this page from now on."""
        self._view = view
        for button, act in (
            (view.key.button, lambda: self.keys_wanted.emit(KeyAct.NEW)),
            (view.key.other, lambda: self.keys_wanted.emit(KeyAct.IMPORT)),
            (view.model.button, self.install_model),
            (view.model.other, self.ask_model),
            (view.profile.button, self.ask_profile),
            (view.profile.other, self.ask_profile_file),
        ):
            button.clicked.connect(lambda _=False, do=act: do())
        view.cancel_wanted.connect(self._cancel)
        view.busy(self._progress)
        self._refresh()

    def install_model(self) -> None:
        """Install the built-in model, unless one is on its way."""
        if self._session.jobs.installs.busy:
            return
        environment = self._session.environment
        self._add(
            lambda context: install_model(
                environment,
                progress=context.progress,
                checkpoint=context.checkpoint,
            )
        )

    def ask_model(self) -> QFileDialog:
        """Ask for the folder of a model."""
        environment = self._session.environment
        return ask_folder(
            self._window,
            translate("Setup", "Folder of a model"),
            lambda path: self._add(
                lambda context: add_model(
                    environment,
                    path=path,
                    progress=context.progress,
                    checkpoint=context.checkpoint,
                )
            ),
        )

    def ask_profile(self) -> AskDialog:
        """Ask for the name of a new profile."""
        dialog = AskDialog(
            translate("Setup", "Name of the profile, e.g. Internal"),
            "",
            translate("Keys", "Create"),
            [(translate("Setup", "Name"), 1)],
            self._window,
        )
        dialog.given.connect(lambda texts: self._create_profile(*texts))
        return opened(dialog)

    def ask_profile_file(self) -> QFileDialog:
        """Ask for the file of a profile."""
        environment = self._session.environment
        return ask_file(
            self._window,
            translate("Setup", "Profile from a file"),
            lambda path: self._begin(lambda _: import_profile(environment, path=path)),
            translate("Profiles", "Profiles (*.json)"),
            translate("Register", "All files (*)"),
        )

    def _create_profile(self, name: str) -> None:
        environment, model = self._session.environment, self._session.chosen.model
        chosen = model.name if model else None
        self._begin(lambda _: create_profile(environment, name=name.strip(), model=chosen))

    def _begin(self, work: Work[T]) -> None:
        self._view.say("")
        self._session.do(work, self._ended, self)

    def _add(self, work: Work[T]) -> None:
        """Fetch or add a model; keys and profiles can be seen to meanwhile."""
        self._view.say("")
        self._tell(Progress(step=0, name="install"))
        self._install = self._session.do(
            work, self._installed, self, progressed=self._tell, at="installs"
        )

    def _tell(self, progress: Progress | None) -> None:
        self._progress = progress
        self._view.busy(progress)

    def _cancel(self) -> None:
        if self._install is not None:
            self._install.cancel()

    def _installed(self, outcome: Outcome[object]) -> None:
        self._install = None
        self._tell(None)
        self._ended(outcome)

    def _ended(self, outcome: Outcome[object]) -> None:
        if isinstance(outcome, Failure):
            self._view.say(outcome.words)
        self._refresh()

    def _refresh(self) -> None:
        self._view.show_catalogue(self._session.chosen.catalogue)

"""Asks what a chore of the first-run page needs, then hands it to the session."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from pura_audit.jobs.messages import Chore, Failure, Progress
from pura_audit.platform.i18n import translate
from pura_audit.session.session import Session
from pura_audit.workbench.setup_view import SetupView


class Setup(QObject):
    """Between the first-run page and the session.

    Signals:
        keys_wanted: Show the dialog of the keys and ask for this chore.
    """

    keys_wanted = Signal(str)

    def __init__(self, view: SetupView, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._view, self._session, self._window = view, session, window
        view.wanted.connect(self.ask)
        view.cancel_wanted.connect(session.cancel_chore)
        session.choices_changed.connect(self._refresh)
        session.chore_changed.connect(self._chore_changed)

    def ask(self, kind: str) -> None:
        """Ask for name or place, and begin."""
        self._view.say("")
        match kind:
            case "install-model":
                self.begin(Chore(kind=kind))
            case "new-key" | "import-key":
                self.keys_wanted.emit(kind)
            case "new-profile":
                self._ask_name(kind, translate("Setup", "Name of the profile, e.g. Internal"))
            case _:
                self._ask_place(kind)

    def begin(self, chore: Chore) -> None:
        """Hand a chore over."""
        self._session.do_chore(chore)

    def _ask_name(self, kind: str, words: str, path: Path | None = None) -> None:
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(translate("Setup", "Name"))
        dialog.setLabelText(words)
        dialog.setInputMode(QInputDialog.InputMode.TextInput)
        dialog.setTextValue(path.stem if path is not None else "")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(
            lambda name: self.begin(Chore(kind=kind, name=name.strip(), path=path))
        )
        dialog.open()

    def _ask_place(self, kind: str) -> None:
        dialog = QFileDialog(self._window, translate("Setup", "Choose"))
        folder = kind == "add-model"
        modes = QFileDialog.FileMode
        dialog.setFileMode(modes.Directory if folder else modes.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self._placed(kind, Path(name)))
        dialog.open()

    def _placed(self, kind: str, path: Path) -> None:
        self.begin(Chore(kind=kind, path=path))

    def _refresh(self) -> None:
        self._view.show_catalogue(self._session.catalogue)

    def _chore_changed(self, state: object) -> None:
        if isinstance(state, Progress):
            self._view.busy(state.done / state.total if state.total else 0.0)
            return
        self._view.busy(None)
        self._view.say(f"{state.message} {state.hint}" if isinstance(state, Failure) else "")
        self._refresh()

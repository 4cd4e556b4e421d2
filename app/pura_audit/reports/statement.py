"""Check a statement that a detector signed: what it says, by whom, and of which text."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QWidget

from pura.report.statement_check import StatementCheck
from pura.usecases.reports import check_statement
from pura_audit.jobs.queue import Done, Failure, Outcome
from pura_audit.platform.i18n import language, translate
from pura_audit.reports.check import CheckList, lines_of
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import dropped_paths, label, restyle
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    ask_file,
    button_row,
    close_button,
    dialog_column,
)


class StatementDialog(PlainDialog):
    """Checks one statement after the other, without a network.

    Attributes:
        checked: The last answer, or None.
    """

    def __init__(
        self, session: Session, path: Path | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._path: Path | None = None
        self._text: Path | None = None
        self._sha256, self._named = "", ""
        self._trust: tuple[Path, ...] = ()
        self.checked: StatementCheck | None = None
        self.setWindowTitle(translate("Statement", "Statement of a detector"))
        self.setAcceptDrops(True)
        self.resize(760, 680)
        self._make()
        self._lay_out()
        self._refresh()
        self.choose.setFocus()
        if path is not None:
            self.take(path)

    def _make(self) -> None:
        self.choose = QPushButton(translate("Statement", "Choose a statement …"))
        self.choose.clicked.connect(self._ask_file)
        self.add_trust = QPushButton(translate("Statement", "Trust a key …"))
        self.add_trust.clicked.connect(self._ask_trust)
        self.add_text = QPushButton(translate("Statement", "Choose its text …"))
        self.add_text.clicked.connect(self._ask_text)
        self.on_screen = QPushButton(translate("Statement", "The text on screen"))
        self.on_screen.clicked.connect(self._take_current)
        self.on_screen.setVisible(self._current() is not None)
        self.copy_button = QPushButton(translate("ReportCheck", "Copy the results"))
        self.copy_button.clicked.connect(self.copy)
        self.file = label("", "value", wrap=True)
        self.trusted = label("", "muted", wrap=True)
        self.text = label("", "muted", wrap=True)
        self.summary = label("", "reading", wrap=True)
        self.said = label("", "", wrap=True)
        self.list = CheckList()
        self.area = self.list.area
        for button in (
            self.choose,
            self.add_trust,
            self.add_text,
            self.on_screen,
            self.copy_button,
        ):
            button.setAutoDefault(False)

    def _lay_out(self) -> None:
        layout = dialog_column(
            self,
            translate("Statement", "Statement of a detector"),
            translate(
                "Statement",
                "A detector that was asked by a trusted body signs what it answered. Whether that "
                "holds is checked here, without a network.",
            ),
        )
        form = QGridLayout()
        form.setHorizontalSpacing(GAP)
        form.setVerticalSpacing(GRID)
        form.setColumnStretch(1, 1)
        form.addWidget(self.choose, 0, 0)
        form.addWidget(self.file, 0, 1, 1, 2)
        form.addWidget(self.add_trust, 1, 0)
        form.addWidget(self.trusted, 1, 1, 1, 2)
        form.addWidget(self.add_text, 2, 0)
        form.addWidget(self.text, 2, 1)
        form.addWidget(self.on_screen, 2, 2)
        layout.addLayout(form)
        layout.addWidget(self.summary)
        layout.addWidget(self.said)
        layout.addWidget(self.area, 1)
        row: QHBoxLayout = button_row(close_button(self), left=(self.copy_button,))
        layout.addLayout(row)

    def _refresh(self) -> None:
        self.file.setText(
            self._path.name
            if self._path
            else translate("Statement", "or drop the file that the detector gave on this window")
        )
        self.trusted.setText(
            ", ".join(file.name for file in self._trust)
            or translate("ReportCheck", "None: who signed is shown, but not held against anything.")
        )
        self.text.setText(
            self._named or translate("Statement", "None: the statement names its text by a digest.")
        )
        self.copy_button.setEnabled(self.checked is not None)

    # Intentions

    def take(self, path: Path) -> None:
        """Choose a statement and check it."""
        self._path = path
        self.check()

    def trust(self, path: Path) -> None:
        """Trust a key or certificate, and check again."""
        self._trust = tuple(dict.fromkeys((*self._trust, path)))
        self.check()

    def take_text(self, path: Path) -> None:
        """Say which text it should be about, and check again."""
        self._text, self._sha256, self._named = path, "", path.name
        self.check()

    def _take_current(self) -> None:
        current = self._current()
        if current is not None:
            self._named, self._sha256 = current
            self._text = None
            self.check()

    def _current(self) -> tuple[str, str] | None:
        item = self._session.texts.current
        if item is None or item.document is None:
            return None
        return item.name, item.document.sha256

    def check(self) -> None:
        """Check what is chosen."""
        self.checked = None
        self.list.clear()
        self.summary.clear()
        self.said.clear()
        if (path := self._path) is not None:
            trust, text, sha256 = self._trust, self._text, self._sha256
            self._session.do(
                lambda _: check_statement(path=path, trust=trust, text=text, sha256=sha256),
                self._ended,
                self,
                at="stores",
            )
        self._refresh()

    def copy(self) -> None:
        """Copy all results as text."""
        if self.checked is not None:
            lines = [
                self.checked.headline(language()),
                *self._lines(),
                *lines_of(self.checked.checks),
            ]
            QGuiApplication.clipboard().setText("\n".join(lines))

    def _lines(self) -> list[str]:
        """Return what the statement says."""
        said = None if self.checked is None else self.checked.statement
        return (
            [] if said is None else [f"{name}: {value}" for name, value in said.lines(language())]
        )

    def _ended(self, outcome: Outcome[StatementCheck]) -> None:
        match outcome:
            case Done(checked):
                self.checked = checked
                amiss = checked.standing == "amiss"
                self.summary.setText(checked.headline(language()))
                restyle(self.summary, "role", "banner" if amiss else "reading")
                aside, above = (GAP, GRID) if amiss else (0, 0)
                self.summary.setContentsMargins(aside, above, aside, above)
                self.said.setText("\n".join(self._lines()))
                self.list.show_checks(checked.checks)
            case Failure():
                restyle(self.summary, "role", "reading")
                self.summary.setText(outcome.words)
        self._refresh()

    def _ask_file(self) -> None:
        kinds = translate("Statement", "Statements (*.json *.jws *.txt)")
        every = translate("ReportCheck", "All files (*)")
        ask_file(self, translate("Statement", "Choose a statement"), self.take, kinds, every)

    def _ask_trust(self) -> None:
        ask_file(
            self,
            translate("Statement", "Trust a key"),
            self.trust,
            translate("ReportCheck", "Certificates (*.pem *.crt *.cer *.der)"),
            translate("ReportCheck", "All files (*)"),
        )

    def _ask_text(self) -> None:
        every = translate("ReportCheck", "All files (*)")
        ask_file(self, translate("Statement", "Choose its text"), self.take_text, every)

    # Drops

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Welcome a file."""
        if dropped_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Check what was dropped."""
        if paths := dropped_paths(event.mimeData()):
            event.acceptProposedAction()
            self.take(paths[0])

"""Dialogs that hand use cases to the session: how these go, and a table of what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal, TypeVar

from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from pura_audit.jobs.context import Done, Failure, Outcome, Progress
from pura_audit.jobs.queue import Job, Work
from pura_audit.platform.i18n import translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    Remark,
    button_row,
    close_button,
    dialog_column,
    plain_button,
    progress_bar,
)
from pura_audit.widgets.layouts import Scrolled
from pura_audit.widgets.table_dialog import fill_table, make_table

R = TypeVar("R")
T = TypeVar("T")


class WorkingDialog(FittedDialog):
    """A dialog that hands use cases to the session, and shows how they go."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._job: Job | None = None
        self.words = Remark()
        # A widget: Qt takes the width of a layout with nothing in sight for a limit of its column.
        self._moving = QWidget()
        self.bar = progress_bar(translate("Stores", "Progress"))
        self.stop = plain_button(translate("Stores", "Stop"), self._stop)
        session.noticed.connect(self._noticed)
        self._show_progress(None)

    @property
    def busy(self) -> bool:
        """Whether something of this dialog runs or waits."""
        return self._job is not None

    def begin(
        self,
        work: Work[T],
        *,
        words: Callable[[T], str] | None = None,
        then: Callable[[T], None] | None = None,
        at: Literal["stores", "model", "installs"] = "stores",
    ) -> None:
        """Hand a use case over.

        Args:
            work: The use case.
            words: What is said of it when it is done.
            then: Gets what came of it when it is done.
            at: As for :meth:`Session.do`; where audits run before it, that is said.
        """

        def ended(outcome: Outcome[T]) -> None:
            self._ended(outcome if isinstance(outcome, Failure) else None)
            if then is not None and isinstance(outcome, Done):
                then(outcome.result)

        waits = at == "model" and self.session.jobs.model.busy
        self.say(translate("Stores", "This begins when the audits are done.") if waits else "")
        self._show_progress(0.0)
        self._job = self.session.do(
            work, ended, self, words=words, progressed=self._progressed, started=self._begun, at=at
        )
        self.refresh_buttons()

    def say(self, what: Failure | str, *, bad: bool = False) -> None:
        """Say how it went; nothing hides the line."""
        self.words.say(what, role="attention" if bad else "muted")

    def refresh_buttons(self) -> None:
        """Enable what can be done now."""

    def progress_row(self) -> QVBoxLayout:
        """Return the line of words, and below it the bar with its button."""
        column, row = QVBoxLayout(), QHBoxLayout(self._moving)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(self.bar, 1)
        row.addWidget(self.stop)
        column.setSpacing(GRID)
        column.addWidget(self.words)
        column.addWidget(self._moving)
        return column

    def _show_progress(self, share: float | None) -> None:
        self._moving.setVisible(share is not None)
        if share is not None:
            self.bar.setRange(0, 1000 if share > 0 else 0)
            self.bar.setValue(round(1000 * share))

    def _begun(self) -> None:
        self.say("")

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _progressed(self, progress: Progress) -> None:
        self._show_progress(progress.done / progress.total if progress.total else 0.0)

    def _ended(self, failure: Failure | None) -> None:
        self._job = None
        self._show_progress(None)
        self.refresh_buttons()
        if failure is not None:
            self.say(failure)

    def _noticed(self, words: str) -> None:
        if self._job is None and self.isVisible():
            self.say(words)


class StoreDialog(WorkingDialog, Generic[R]):
    """A title, a table, and one button for everything that can be done to its rows.

    A subclass names the key of a row, by which the choice is kept, and its cells.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.resize(1000, 560)
        self.column = dialog_column(self)
        self.title = label("", "answer")
        self.state = label("", "muted", wrap=True)
        self.none = label("", "muted", wrap=True)
        self.detail = label("", "muted", wrap=True)
        self.table = make_table("")
        self.buttons: dict[str, QPushButton] = {}
        self.rows: tuple[R, ...] = ()

    def key(self, row: R) -> str:
        """Return what tells a row from all others."""
        raise NotImplementedError

    def cells(self, row: R) -> Sequence[str]:
        """Return a row of the table."""
        raise NotImplementedError

    def lay_out(self, name: str, buttons: Mapping[str, tuple[str, Callable[[], object]]]) -> None:
        """Put it together; a button whose name starts with a dash stands apart."""
        self.setWindowTitle(name)
        self.title.setText(name)
        self.table.setAccessibleName(name)
        layout, middle, list_side = self.column, QHBoxLayout(), QVBoxLayout()
        layout.addWidget(self.title)
        layout.addWidget(self.state)
        list_side.setSpacing(GRID)
        for widget in (self.none, self.table, self.detail):
            list_side.addWidget(widget, 1 if widget is self.table else 0)
        column = QVBoxLayout()
        column.setSpacing(GRID)
        for kind, (words, act) in buttons.items():
            button = QPushButton(words)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, do=act: do())
            if kind.startswith("-"):
                column.addSpacing(GRID)
            self.buttons[kind.lstrip("-")] = button
            column.addWidget(button)
        column.addStretch(1)
        middle.setSpacing(GAP)
        middle.addLayout(list_side, 1)
        middle.addWidget(Scrolled(column))
        layout.addLayout(middle, 1)
        layout.addLayout(self.progress_row())
        layout.addLayout(button_row(close_button(self, enter=True)))

    def fill(self, headers: Sequence[str], rows: Sequence[R], chosen: str = "") -> None:
        """Show rows, and choose the one of this key; without one the choice stays."""
        if not chosen and self.selected is not None:
            chosen = self.key(self.selected)
        self.rows = tuple(rows)
        fill_table(self.table, headers, [self.cells(row) for row in rows])
        self.none.setVisible(not rows)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self.refresh_buttons())
        if rows:
            keys = [self.key(row) for row in rows]
            self.table.selectRow(keys.index(chosen) if chosen in keys else 0)
        self.refresh_buttons()

    @property
    def selected(self) -> R | None:
        """The chosen row."""
        model = self.table.selectionModel()
        places = model.selectedRows() if model is not None else []
        place = places[0].row() if places else -1
        return self.rows[place] if 0 <= place < len(self.rows) else None

"""What every dialog is made of, and what it may ask of the window that it was opened from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from pura_audit.jobs.context import Done, Failure, Outcome
from pura_audit.platform.i18n import translate
from pura_audit.session.selection import Selection
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID, PADDING, Mode, Theme
from pura_audit.widgets.card import label, restyle


class Host(Protocol):
    """The window, as its features know it.

    Attributes:
        session: The queue of texts, what is chosen, the jobs and the settings.
        selection: The audit on screen, and what is selected in it.
        actions_by_name: Everything that the menu can do.
        theme: Its colours.
    """

    session: Session
    selection: Selection
    actions_by_name: dict[str, QAction]
    theme: Theme

    @property
    def frame(self) -> QWidget:
        """The widget over which dialogs open."""

    @property
    def text_size(self) -> int:
        """Size of the examined text in pixels."""

    def set_text_size(self, size: int) -> None:
        """Change the size of the examined text."""

    def set_theme(self, mode: Mode) -> None:
        """Change the colours, and remember it."""

    def set_language(self, name: str) -> None:
        """Speak another language from now on; "" is that of the system."""

    def say(self, words: str) -> None:
        """Say something in the status line."""


TITLE: Final = 36  # pixels of a window's title

Shown = TypeVar("Shown", bound=QDialog)


class PlainDialog(QDialog):
    """A dialog in which Return presses the button that has the focus, and the main one elsewhere.

    Qt presses the main one also where the focus is on another that is not a default. It comes up no
    larger than the screen.
    """

    def showEvent(self, event: QShowEvent) -> None:
        """Stay on the screen."""
        super().showEvent(event)
        self.resize(self.size().boundedTo(self._room()))

    def _room(self) -> QSize:
        """Return the size of the screen below a title, or of the window behind if that is more."""
        parent = self.parentWidget()
        behind = parent.window().size() if parent is not None else QSize()
        return (self.screen().availableSize() - QSize(0, TITLE)).expandedTo(behind)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press what has the focus."""
        if not press_focused(self, event):
            super().keyPressEvent(event)


class FittedDialog(PlainDialog):
    """A dialog that takes the height its layout needs at its width: when it comes up, and later.

    Qt guesses the height of wrapped words for a width of its own choosing, and forgets the layout's
    smallest width once a dialog has one of its own.
    """

    def showEvent(self, event: QShowEvent) -> None:
        """Take the size that fits."""
        super().showEvent(event)
        self._make_room(at_least=0)

    def event(self, event: QEvent) -> bool:
        """Grow with what has come into it."""
        known = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._make_room(at_least=self.height())
        return known

    def _make_room(self, *, at_least: int) -> None:
        layout = self.layout()
        if layout is None:
            return
        width = max(self.width(), layout.totalMinimumSize().width())
        height = max(at_least, layout.totalMinimumSize().height())
        if layout.hasHeightForWidth():
            height = max(height, layout.totalHeightForWidth(width))
        self.resize(QSize(width, height).boundedTo(self._room()))


class Remark(QLabel):
    """The line of a dialog that says how it went.

    Args:
        stays: It keeps its place while it says nothing.
    """

    def __init__(self, *, stays: bool = False) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self._stays = stays
        self.say("")

    def say(self, what: Failure | str, *, role: str = "muted") -> None:
        """Say something; a failure always in the colour of attention."""
        failed = isinstance(what, Failure)
        words = what.words if isinstance(what, Failure) else what
        restyle(self, "role", "attention" if failed else role)
        self.setText(words)
        if not self._stays:
            self.setVisible(bool(words))


class TriedDialog(FittedDialog):
    """A dialog that stays, with all that was typed, until what it asked for has worked.

    A subclass calls :meth:`begin` when it asks; whoever does it calls :meth:`ended`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = Remark()
        self.trying = False

    def begin(self) -> None:
        """It is being tried."""
        self.trying = True
        self.words.say("")
        self.check()

    def ended(self, outcome: Outcome[object]) -> None:
        """Close when it has worked; else say why not, with the cursor where it can be mended."""
        if isinstance(outcome, Done):
            self.accept()
            return
        self.rest()
        if isinstance(outcome, Failure):
            self.words.say(outcome)
            if (line := self.at_fault(outcome)) is not None:
                line.setFocus()
                line.selectAll()

    def rest(self) -> None:
        """Let it be asked once more."""
        self.trying = False
        self.check()

    def check(self) -> None:
        """Enable the main button where it can be pressed."""
        raise NotImplementedError

    def at_fault(self, failure: Failure) -> QLineEdit | None:
        """Return the line that is to be mended; None where it is not known."""
        return None

    def forget(self) -> None:
        """Clear what is secret."""

    def done(self, result: int) -> None:
        """Keep no secret in a line that nobody sees any more."""
        self.forget()
        super().done(result)


def press_focused(root: QWidget, event: QKeyEvent) -> bool:
    """Press the focused button when the event is a Return; return whether there was one."""
    button = root.focusWidget()
    wanted = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    if not wanted or not isinstance(button, QPushButton | QToolButton):
        return False
    button.click()
    return True


def dialog_column(
    dialog: QDialog,
    title: str = "",
    words: str = "",
    *,
    role: str = "answer",
    spacing: int = GAP,
) -> QVBoxLayout:
    """Give a dialog its padding, and return the column that its parts go into.

    Args:
        dialog: A dialog without a layout.
        title: Heads the column; empty for none.
        words: What the dialog is for, below the title; empty for none.
        role: Of the title in the style sheet.
        spacing: Pixels between the parts.
    """
    column = QVBoxLayout(dialog)
    column.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
    column.setSpacing(spacing)
    if title:
        column.addWidget(label(title, role, wrap=True))
    if words:
        column.addWidget(label(words, "muted", wrap=True))
    return column


def plain_button(words: str, act: Callable[..., object]) -> QPushButton:
    """Return a button that Enter presses while it has the focus, and never otherwise."""
    button = QPushButton(words)
    button.setAutoDefault(False)
    button.clicked.connect(act)
    return button


def main_button(words: str, act: Callable[..., object], *, enter: bool = True) -> QPushButton:
    """Return the one button that does what the dialog is for.

    Args:
        words: What it does.
        act: Does it.
        enter: Enter presses it, wherever the focus is but on another button.
    """
    button = plain_button(words, act)
    button.setProperty("role", "main")
    if enter:
        button.setAutoDefault(True)
        button.setDefault(True)
    return button


def cancel_button(dialog: QDialog, *, enter: bool = True) -> QPushButton:
    """Return the button that closes a dialog and changes nothing.

    Args:
        dialog: The dialog.
        enter: Enter presses it while it has the focus; not so where Enter presses nothing at all.
    """
    button = plain_button(translate("Dialog", "Cancel"), dialog.reject)
    button.setAutoDefault(enter)
    return button


def close_button(dialog: QDialog, *, enter: bool = False) -> QPushButton:
    """Return the button that closes a dialog; ``enter`` says that Enter presses it."""
    button = plain_button(translate("Dialog", "Close"), dialog.accept)
    button.setAutoDefault(enter)
    button.setDefault(enter)
    return button


def button_row(*right: QWidget, left: Sequence[QWidget] = ()) -> QHBoxLayout:
    """Return the last row of a dialog: buttons at its right end, the main one last."""
    row = QHBoxLayout()
    for widget in left:
        row.addWidget(widget)
    row.addStretch(1)
    for widget in right:
        row.addWidget(widget)
    return row


def row_of(
    *widgets: QWidget | None, spacing: int = GRID, wide: QWidget | None = None
) -> QHBoxLayout:
    """Return a row of widgets; None is room that is left over, ``wide`` takes it instead."""
    row = QHBoxLayout()
    row.setSpacing(spacing)
    for widget in widgets:
        if widget is None:
            row.addStretch(1)
        else:
            row.addWidget(widget, int(widget is wide))
    return row


def progress_bar(name: str, *, endless: bool = False) -> QProgressBar:
    """Return a bar without numbers; an endless one only says that something is going on."""
    bar = QProgressBar()
    bar.setTextVisible(False)
    bar.setAccessibleName(name)
    if endless:
        bar.setRange(0, 0)
    return bar


def opened(dialog: Shown) -> Shown:
    """Open a dialog; nothing stands still behind it, and it goes when it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def ask_first(
    parent: QWidget,
    title: str,
    question: str,
    words: str,
    *acts: tuple[str, Callable[[], object]],
    keep: str = "",
    safe: bool = True,
) -> QMessageBox:
    """Ask before something is done.

    Args:
        parent: Over which it opens.
        title: Of the box.
        question: What is asked.
        words: What follows.
        acts: What can be done, and what does it.
        keep: What the button says that does nothing; empty: “Keep it”.
        safe: That button is the default, since something is lost; else the first of the others.
    """
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(title)
    box.setText(question)
    box.setInformativeText(words)
    buttons = [box.addButton(name, QMessageBox.ButtonRole.AcceptRole) for name, _ in acts]
    for button, (_, act) in zip(buttons, acts, strict=True):
        button.clicked.connect(lambda _checked=False, do=act: do())
    no = box.addButton(keep or translate("Stores", "Keep it"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(no if safe else buttons[0])
    box.setEscapeButton(no)
    return opened(box)

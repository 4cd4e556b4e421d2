"""Parts of dialogs: base classes, buttons, fields, file dialogs, and the window behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from pura.base.process import confines_children
from pura.documents import is_plain
from pura.report.request import MAX_FIELD
from pura_audit.jobs.queue import Done, Failure, Outcome
from pura_audit.platform.i18n import filled, translate
from pura_audit.session.selection import Selection
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID, PADDING, Mode, Theme
from pura_audit.widgets.card import column_of, label, push_button, restyle, row_of


class Host(Protocol):
    """The main window as the dialogs see it.

    Attributes:
        session: The texts, the choices, the jobs and the settings.
        selection: The audit on screen and the selection in it.
        actions_by_name: All actions of the menu.
        theme: The colours of the window.
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
        """Change the language; "" follows the system."""

    def say(self, message: Failure | str) -> None:
        """Show a message in the status line."""


TITLE: Final = 36  # pixels of a window's title

DialogT = TypeVar("DialogT", bound=QDialog)


class PlainDialog(QDialog):
    """A dialog in which Return presses the button that has the focus, and the main one elsewhere.

    Qt presses the main one also where the focus is on another that is not a default. It comes up no
    larger than the screen.
    """

    def showEvent(self, event: QShowEvent) -> None:
        """Limit the dialog to the size of the screen."""
        super().showEvent(event)
        self.resize(self.size().boundedTo(self._largest()))

    def _largest(self) -> QSize:
        """Return the size of the screen below a title, or of the window behind if that is more."""
        parent = self.parentWidget()
        window_size = parent.window().size() if parent is not None else QSize()
        return (self.screen().availableSize() - QSize(0, TITLE)).expandedTo(window_size)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press what has the focus."""
        if not press_focused(self, event):
            super().keyPressEvent(event)


class FittedDialog(PlainDialog):
    """A dialog that always takes the height that its layout needs at its width.

    Qt guesses the height of wrapped words for a width of its own choosing, and forgets the layout's
    smallest width once a dialog has one of its own.
    """

    def showEvent(self, event: QShowEvent) -> None:
        """Take the height that the layout needs."""
        super().showEvent(event)
        self._grow_to_fit(at_least=0)

    def event(self, event: QEvent) -> bool:
        """Grow with the content."""
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._grow_to_fit(at_least=self.height())
        return handled

    def _grow_to_fit(self, *, at_least: int) -> None:
        layout = self.layout()
        if layout is None:
            return
        width = max(self.width(), layout.totalMinimumSize().width())
        height = max(at_least, layout.totalMinimumSize().height())
        if layout.hasHeightForWidth():
            height = max(height, layout.totalHeightForWidth(width))
        self.resize(QSize(width, height).boundedTo(self._largest()))


class Remark(QLabel):
    """The line of a dialog that shows messages.

    Args:
        stays: Whether the line keeps its room while it is empty.
    """

    def __init__(self, *, stays: bool = False) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self._stays = stays
        self.say("")

    def say(self, message: Failure | str, *, role: str = "muted") -> None:
        """Show a message; failures have the colour of attention."""
        failed = isinstance(message, Failure)
        text = message.words if isinstance(message, Failure) else message
        restyle(self, "role", "attention" if failed else role)
        self.setText(text)
        if not self._stays:
            self.setVisible(bool(text))


class RetryDialog(FittedDialog):
    """A dialog that stays open, with its input, until its request has succeeded.

    A subclass calls :meth:`begin` when it sends its request; the receiver calls :meth:`ended`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = Remark()
        self.trying = False

    def begin(self) -> None:
        """Block the form while its request runs."""
        self.trying = True
        self.words.say("")
        self.check()

    def ended(self, outcome: Outcome[object]) -> None:
        """Close after a success; after a failure, show it and focus the input to correct."""
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
        """Unblock the form, so that the user can submit it again."""
        self.trying = False
        self.check()

    def check(self) -> None:
        """Enable the main button if the input is complete."""
        raise NotImplementedError

    def at_fault(self, failure: Failure) -> QLineEdit | None:
        """Return the line with the wrong input; None if it is not known."""
        return None

    def forget(self) -> None:
        """Clear all secrets in the inputs."""

    def done(self, result: int) -> None:
        """Clear all secrets when the dialog closes."""
        self.forget()
        super().done(result)


def press_focused(root: QWidget, event: QKeyEvent) -> bool:
    """Press the focused button when the event is a Return; return whether there was one."""
    button = root.focusWidget()
    is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    if not is_return or not isinstance(button, QPushButton | QToolButton):
        return False
    button.click()
    return True


def dialog_column(
    dialog: QDialog,
    title: str = "",
    purpose: str = "",
    *,
    role: str = "answer",
    spacing: int = GAP,
) -> QVBoxLayout:
    """Give a dialog its margins and title; return the layout for its parts.

    Args:
        dialog: A dialog without a layout.
        title: Heading of the dialog; empty for none.
        purpose: Purpose of the dialog, shown below the title; empty for none.
        role: Role of the title in the style sheet.
        spacing: Pixels between the parts.
    """
    column = column_of(spacing=spacing, inside=dialog)
    column.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
    if title:
        column.addWidget(label(title, role, wrap=True))
    if purpose:
        column.addWidget(label(purpose, "muted", wrap=True))
    return column


def plain_button(text: str, on_click: Callable[..., object]) -> QPushButton:
    """Return a button that Enter presses while it has the focus, and never otherwise."""
    button = push_button(text, on_click)
    button.setAutoDefault(False)
    return button


class MainButton(QPushButton):
    """The main button of a dialog.

    Attributes:
        missing: The line beside the button that names missing inputs; see :func:`button_row`.

    Args:
        words: What it does.
        on_click: Called on a press.
        enter: Whether Enter presses it, unless another button has the focus.
    """

    def __init__(self, text: str, on_click: Callable[..., object], *, enter: bool = True) -> None:
        super().__init__(text)
        self.clicked.connect(lambda _=False: on_click())
        self.setProperty("role", "main")
        self.setAutoDefault(enter)
        self.setDefault(enter)
        self.missing = Remark()

    def require(self, inputs: Mapping[str, object], *, free: bool = True) -> None:
        """Enable the button once every input is there; until then, name the missing ones.

        Args:
            inputs: Value of every input that is needed, by its name.
            free: False while a job runs: the button stays disabled.
        """
        names = " · ".join(name for name, value in inputs.items() if not value)
        text = filled(translate("Dialog", "Still needed: {what:text}"), what=names)
        self.missing.say(text if names else "")
        self.setAccessibleDescription(self.missing.text())
        self.setEnabled(free and not names)


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


def button_row(*right: QWidget, left: Sequence[QWidget] = ()) -> QLayout:
    """Return the last row of a dialog: buttons at its right end, the main one last."""
    row = row_of(*left, None, *right, spacing=-1)
    if right and isinstance(right[-1], MainButton):
        if left or len(right) > 2:  # there is no room for words beside them
            return column_of(right[-1].missing, row)
        row.insertWidget(0, right[-1].missing, 1000)
    return row


def opened(dialog: DialogT) -> DialogT:
    """Open a dialog without blocking; it is deleted when it closes."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def ask_first(
    parent: QWidget,
    title: str,
    question: str,
    consequences: str,
    *choices: tuple[str, Callable[[], object]],
    keep: str = "",
    safe: bool = True,
) -> QMessageBox:
    """Ask the user to choose between actions.

    Args:
        parent: The widget over which the box opens.
        title: Title of the box.
        question: The question.
        consequences: What follows from each choice.
        choices: Text and action of each button.
        keep: Text of the button that does nothing. Default: “Keep it”.
        safe: Whether that button is the default; otherwise the first choice is.
    """
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(title)
    box.setText(question)
    box.setInformativeText(consequences)
    buttons = [box.addButton(name, QMessageBox.ButtonRole.AcceptRole) for name, _ in choices]
    for button, (_, action) in zip(buttons, choices, strict=True):
        button.clicked.connect(lambda _checked=False, do=action: do())
    no = box.addButton(keep or translate("Stores", "Keep it"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(no if safe else buttons[0])
    box.setEscapeButton(no)
    return opened(box)


_agreed: Final[list[bool]] = []


def ask_to_read(
    parent: QWidget, paths: Iterable[Path], read: Callable[[], object]
) -> QMessageBox | None:
    """Read files, after a question if one is not plain text and readers cannot be confined.

    The question is asked once a session.

    Args:
        parent: The widget over which the question opens.
        paths: The files and folders.
        read: Reads them.

    Returns:
        The open question; None if no question was necessary.
    """
    if _agreed or confines_children() or all(is_plain(path) for path in paths):
        read()
        return None

    def agree() -> None:
        _agreed.append(True)
        read()

    return ask_first(
        parent,
        translate("Unconfined", "Files from others"),
        translate("Unconfined", "Read files that are no plain text on this computer?"),
        translate(
            "Unconfined",
            "They are read in a process of their own, which this system does not confine: code "
            "hidden in one would run with your rights. Read files from strangers on Linux, or "
            "convert them to plain text on another computer.",
        ),
        (translate("Unconfined", "Read them"), agree),
        keep=translate("Unconfined", "Do not read them"),
    )


LINE: Final = 32  # height of a line, as high as a choice beside it


class LabelledField(QWidget):
    """A field with its name and a line for errors.

    Args:
        caption: The name.
        widget: The field.
        longest: Maximum number of characters; 0 for no limit.
    """

    def __init__(self, caption: str, widget: QWidget, *, longest: int = 0) -> None:
        super().__init__()
        self.caption, self.widget = caption, widget
        self._longest = longest
        name_input(widget, caption)
        name = label(caption, "label", wrap=True)
        name.setBuddy(widget)
        self.wrong = label("", "attention", wrap=True)  # laid out when there is something wrong
        # Room that is left over does not go between the name and its field.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._column = column_of(name, widget, spacing=3, inside=self)

    def complain(self, fault: str) -> None:
        """Show an error below the field; "" removes it."""
        if fault and self.wrong.parent() is None:
            self._column.addWidget(self.wrong)
        self.wrong.setText(fault)
        self.wrong.setVisible(bool(fault))
        self.widget.setAccessibleDescription(fault)


class Words(LabelledField):
    """A field for text of one or several lines.

    Signals:
        edited: The text has changed.
    """

    edited = Signal()

    def __init__(self, caption: str, *, lines: int = 1, hint: str = "") -> None:
        self._box: QLineEdit | QPlainTextEdit
        if lines == 1:
            self._box = QLineEdit()
            self._box.setMinimumHeight(LINE)
            self._box.setMaxLength(32_000)  # too long is said, not cut
        else:
            self._box = QPlainTextEdit()
            self._box.setTabChangesFocus(True)
            self._box.setFixedHeight(20 + 17 * lines)
        self._box.setPlaceholderText(hint)
        super().__init__(caption, self._box, longest=MAX_FIELD)
        self._box.textChanged.connect(lambda *_: self.edited.emit())

    @property
    def text(self) -> str:
        """The text of the field, without surrounding blanks."""
        box = self._box
        return (box.text() if isinstance(box, QLineEdit) else box.toPlainText()).strip()

    def set_text(self, text: str) -> None:
        """Set the text of the field."""
        if isinstance(self._box, QLineEdit):
            self._box.setText(text)
            self._box.setCursorPosition(0)
        else:
            self._box.setPlainText(text)

    def set_hint(self, hint: str) -> None:
        """Set the placeholder of the empty field."""
        self._box.setPlaceholderText(hint)

    def check(self) -> bool:
        """Show an error if the text is too long; return whether it fits."""
        fits = len(self.text) <= self._longest
        text = translate(
            "Report", "This has {n:count} characters; a report takes {most:count}. Shorten it."
        )
        text = filled(text, n=len(self.text), most=self._longest)
        self.complain("" if fits else text)
        return fits


def choice(
    caption: str, rows: Sequence[tuple[str, str]], current: str, on_change: Callable[[], object]
) -> tuple[LabelledField, QComboBox]:
    """Return a field with a choice of values, and the box in it."""
    box = combo(rows, current)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(6)
    box.currentIndexChanged.connect(lambda _: on_change())
    return LabelledField(caption, box), box


def combo(rows: Iterable[tuple[object, str]], current: object = None) -> QComboBox:
    """Return a choice of values with their texts; the current one, or the first, is selected."""
    box = QComboBox()
    for value, text in rows:
        box.addItem(text, value)
    box.setCurrentIndex(max(0, box.findData(current)))
    return box


def value_of(field: QWidget) -> Any:
    """Return the value of a field; a long text keeps its line ends."""
    match field:
        case QComboBox():
            return field.currentData()
        case QSpinBox():
            return field.value()
        case QPlainTextEdit():
            return field.toPlainText()
        case QLineEdit():
            return field.text().strip()
    raise TypeError(type(field).__name__)


def named_rows(
    rows: Iterable[tuple[str, QWidget]], *, spacing: int = GRID, aligned: bool = False
) -> QFormLayout:
    """Return a form with a name before each field, which is also the accessible name."""
    form = QFormLayout()
    form.setSpacing(spacing)
    if aligned:
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    for name, field in rows:
        name_input(field, name)
        form.addRow(name, field)
    return form


def pair(first: QWidget, second: QWidget, *, shares: tuple[int, int] = (1, 1)) -> QLayout:
    """Put two fields beside each other."""
    row = row_of()
    for part, share in zip((first, second), shares, strict=True):
        row.addWidget(part, share, Qt.AlignmentFlag.AlignTop)
    return row


def spin_box(low: int, high: int, value: int) -> QSpinBox:
    """Return a field for an integer, with the same text margin as other fields."""
    box = QSpinBox()
    box.setRange(low, high)
    box.setValue(value)
    box.lineEdit().setTextMargins(GRID, 0, 0, 0)
    return box


def name_input(widget: QWidget, name: str) -> None:
    """Set the accessible name of a widget and of the line inside a spin box."""
    widget.setAccessibleName(name)
    for line in widget.findChildren(QLineEdit):
        line.setAccessibleName(name)


Take = Callable[[Path], object]
# Size of Qt's own file dialog, and widths of its columns: name, size, type, date.
SIZE: Final = QSize(860, 560)
WIDTHS: Final = (310, 90, 110, 150)
_ARROWS: Final = {"backButton": "←", "forwardButton": "→", "toParentButton": "↑"}
_last: Final[list[str]] = []


def ask_file(parent: QWidget, title: str, take: Take, *kinds: str) -> QFileDialog:
    """Ask for one existing file.

    Args:
        parent: The window or dialog that asks.
        title: Title of the file dialog.
        take: Called with the chosen file; not called if the user cancels.
        kinds: File filters such as ``Profiles (*.json)``. Default: all files.

    Returns:
        The open file dialog; it is deleted when it closes.
    """
    dialog = _question(parent, title, kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return _asked(dialog, take)


def ask_files(
    parent: QWidget, title: str, take: Callable[[list[Path]], object], *kinds: str
) -> QFileDialog:
    """Ask for existing files; see :func:`ask_file`."""
    dialog = _question(parent, title, kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda names: take([*map(Path, names)]))
    return _asked(dialog)


def ask_folder(parent: QWidget, title: str, take: Take) -> QFileDialog:
    """Ask for an existing folder; see :func:`ask_file`."""
    dialog = _question(parent, title, ())
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return _asked(dialog, take)


def ask_target(
    parent: QWidget,
    title: str,
    take: Take,
    *kinds: str,
    name: str = "",
    suffix: str = "",
    folder: Path | None = None,
    confirm: bool = True,
) -> QFileDialog:
    """Ask for the file to write; the file dialog itself asks before it replaces one.

    Args:
        parent: See :func:`ask_file`.
        title: See :func:`ask_file`.
        take: See :func:`ask_file`.
        kinds: See :func:`ask_file`.
        name: Suggested name.
        suffix: Suffix for a name without one; with several kinds, the chosen kind's.
        folder: Folder that the dialog shows first.
        confirm: False if the caller asks before it replaces a file.
    """
    dialog = _question(parent, title, kinds)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not confirm)
    dialog.setDefaultSuffix(suffix)
    if len(kinds) > 1:
        dialog.filterSelected.connect(
            lambda name_filter: dialog.setDefaultSuffix(name_filter.split("*.")[-1].rstrip(")"))
        )
    if folder is not None:
        dialog.setDirectory(str(folder))
    if name:
        dialog.selectFile(name)
    return _asked(dialog, take)


def _question(parent: QWidget, title: str, kinds: tuple[str, ...]) -> QFileDialog:
    dialog = QFileDialog(parent, title)
    if kinds:
        dialog.setNameFilters(kinds)
    if _last:
        dialog.setDirectory(_last[0])
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filesSelected.connect(_remember)
    _apply_style(dialog)
    return dialog


def _apply_style(dialog: QFileDialog) -> None:
    """Style Qt's own file dialog; a native dialog has no Qt widgets and stays as it is."""
    for line in dialog.findChildren(QLineEdit):
        completer = line.completer()
        popup = None if completer is None else completer.popup()
        if popup is not None:
            popup.setObjectName("completions")
            dialog.resize(SIZE)
    for name, sign in _ARROWS.items():  # its own are black in every theme
        button = dialog.findChild(QToolButton, name)
        if button is not None:
            button.setIcon(QIcon())
            button.setText(sign)
    for table in dialog.findChildren(QTreeView):
        for column, wide in enumerate(WIDTHS):
            table.setColumnWidth(column, wide)
        table.header().setStretchLastSection(True)


def _asked(dialog: QFileDialog, take: Take | None = None) -> QFileDialog:
    if take is not None:
        dialog.fileSelected.connect(lambda name: take(Path(name)))
    dialog.open()
    return dialog


def _remember(names: list[str]) -> None:
    if names:
        _last[:] = [str(Path(names[0]).parent)]

"""Questions for files and folders, asked without standing in the way of the window.

They begin in the folder of the last answer; it is remembered until the program ends, and nowhere
else, since even a folder's name may be confidential.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QLineEdit, QToolButton, QTreeView, QWidget

Take = Callable[[Path], object]
SIZE: Final = QSize(860, 560)
WIDTHS: Final = (310, 90, 110, 150)
_ARROWS: Final = {"backButton": "←", "forwardButton": "→", "toParentButton": "↑"}
_last: Final[list[str]] = []


def ask_file(parent: QWidget, title: str, take: Take, *kinds: str) -> QFileDialog:
    """Ask for one file that is there.

    Args:
        parent: The window or dialog that asks.
        title: Of the question.
        take: Gets the file that was chosen, and is not called when none was.
        kinds: What is offered, as ``Profiles (*.json)``; left out: every file.

    Returns:
        The open question; it is deleted when it closes.
    """
    dialog = _question(parent, title, kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return _asked(dialog, take)


def ask_files(
    parent: QWidget, title: str, take: Callable[[list[Path]], object], *kinds: str
) -> QFileDialog:
    """Ask for files that are there; as :func:`ask_file`."""
    dialog = _question(parent, title, kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda names: take([*map(Path, names)]))
    return _asked(dialog)


def ask_folder(parent: QWidget, title: str, take: Take) -> QFileDialog:
    """Ask for a folder that is there; as :func:`ask_file`."""
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
    """Ask where a file is to be written; about one that is there the question asks by itself.

    Args:
        parent: As of :func:`ask_file`.
        title: As of :func:`ask_file`.
        take: As of :func:`ask_file`.
        kinds: As of :func:`ask_file`.
        name: What is suggested.
        suffix: Ending of a name that has none; of several kinds that of the chosen one follows.
        folder: Where it begins.
        confirm: False leaves it to the caller to ask about a file that is there.
    """
    dialog = _question(parent, title, kinds)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not confirm)
    dialog.setDefaultSuffix(suffix)
    if len(kinds) > 1:
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix(chosen.split("*.")[-1].rstrip(")"))
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
    _dress(dialog)
    return dialog


def _dress(dialog: QFileDialog) -> None:
    """Dress Qt's own dialog; where the desktop has one it has no widgets of Qt's."""
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

"""What to take of a folder: asked before it is walked, kept for folders that are dropped."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QWidget,
)

from pura.documents.folders import WalkOptions
from pura_audit.platform.i18n import translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
)


class FolderDialog(PlainDialog):
    """Filters, hidden files, links of a folder that was chosen."""

    def __init__(self, session: Session, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._folder = session, folder
        self.setWindowTitle(translate("Folder", "Open a folder"))
        self.setMinimumWidth(520)
        now = session.texts.folder_options
        self.include = _field(
            now.include,
            translate("Folder", "Take these names only"),
            translate("Folder", "for example *.docx *.pdf; empty: every format that is read"),
        )
        self.exclude = _field(
            now.exclude,
            translate("Folder", "Leave these names out"),
            translate("Folder", "for example old* *.bak"),
        )
        self.recursive = _box(translate("Folder", "Enter the folders inside"), now.recursive)
        self.hidden = _box(translate("Folder", "Take hidden files too"), now.hidden)
        self.links = _box(translate("Folder", "Follow symbolic links"), now.links)
        self.choose = main_button(translate("Folder", "Open the folder"), self._take)
        self._lay_out()

    def _lay_out(self) -> None:
        layout = dialog_column(
            self,
            self._folder.name or str(self._folder),
            translate(
                "Folder", "These choices also hold for folders that are dropped on the window."
            ),
            spacing=GRID,
        )
        layout.addSpacing(GRID)
        for field in (self.include, self.exclude):
            caption = label(field.accessibleName(), "label")
            caption.setBuddy(field)
            layout.addWidget(caption)
            layout.addWidget(field)
        layout.addSpacing(GRID)
        for box in (self.recursive, self.hidden, self.links):
            layout.addWidget(box)
        layout.addSpacing(GAP)
        layout.addLayout(button_row(cancel_button(self), self.choose))

    def options(self) -> WalkOptions:
        """Return what is chosen."""
        return WalkOptions(
            recursive=self.recursive.isChecked(),
            include=tuple(self.include.text().split()),
            exclude=tuple(self.exclude.text().split()),
            hidden=self.hidden.isChecked(),
            links=self.links.isChecked(),
        )

    def _take(self) -> None:
        """Keep the choices, and walk the folder."""
        self._session.texts.folder_options = self.options()
        self._session.texts.add_paths([self._folder])
        self.accept()


def _field(patterns: tuple[str, ...], name: str, hint: str) -> QLineEdit:
    field = QLineEdit(" ".join(patterns))
    field.setAccessibleName(name)
    field.setPlaceholderText(hint)
    return field


def _box(words: str, on: bool) -> QCheckBox:
    box = QCheckBox(words)
    box.setChecked(on)
    return box

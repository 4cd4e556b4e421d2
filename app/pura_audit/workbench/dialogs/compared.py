"""The two possibilities that the number of the answer compares, written out."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from pura.record.audit import Audit
from pura.record.finding import said
from pura_audit.platform.i18n import language, translate
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import FittedDialog, button_row, close_button, dialog_column


class ComparedDialog(FittedDialog):
    """Both propositions, and what the number is not."""

    def __init__(self, audit: Audit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = translate("Dialog", "What is compared")
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        layout = dialog_column(self, title)
        found = audit.finding
        for words in said((*found.compared, *found.caveat), language()):
            line = label(words, "reading", wrap=True)
            line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(line)
        layout.addStretch(1)
        layout.addLayout(button_row(close_button(self, enter=True)))

"""About: every version, the device and the keyring, ready to be copied; licences of all parts."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QWidget,
)

from pura.model.device import Device
from pura.version import __version__
from pura.words.sentences import fill, sentence
from pura_audit.jobs.context import Failure
from pura_audit.platform.i18n import translate
from pura_audit.platform.notices import notices
from pura_audit.session.session import Session
from pura_audit.theme import fonts
from pura_audit.widgets.form_dialog import PlainDialog, button_row, close_button, dialog_column

PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "numpy",
    "PySide6-Essentials",
    "pyqtgraph",
    "keyring",
)


def facts(session: Session) -> str:
    """Return versions, device and keyring, one a line."""
    lines = [
        f"PURA Audit {__version__}",
        f"Python {platform.python_version()}",
        f"Qt {qVersion()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
    ]
    for name in PACKAGES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} –")
    device = session.chosen.device
    if isinstance(device, Device):
        why = fill(sentence(device.reason), "en")
        lines.append(f"Device {device.kind}: {device.name}, {device.dtype}. {why}")
    elif isinstance(device, Failure):
        lines.append(f"Device: {device.message}")
    if session.chosen.catalogue is not None:
        backend = session.chosen.catalogue.backend or "none"
        lines.append(f"Keyring: {backend} ({session.chosen.catalogue.keyring.value})")
    return "\n".join(lines)


class AboutDialog(PlainDialog):
    """Shows and copies the facts."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialog", "About PURA Audit"))
        self.resize(560, 480)
        layout = dialog_column(
            self,
            f"PURA Audit {__version__}",
            translate(
                "Dialog",
                "Reads marks of the PURA-1 scheme. Apache License 2.0. Qt under the LGPL 3, "
                "Inter under the SIL Open Font License.",
            ),
        )
        self.facts = _pane(translate("Dialog", "Versions"))
        self.facts.setPlainText(facts(session))
        self.notices = _pane(translate("Dialog", "Licences"))
        self.tabs = QTabWidget()
        for pane in (self.facts, self.notices):
            self.tabs.addTab(pane, pane.accessibleName())
        self.tabs.currentChanged.connect(self._show_notices)
        layout.addWidget(self.tabs, 1)
        copy = QPushButton(translate("Dialog", "Copy"))
        copy.setObjectName("copy")
        copy.clicked.connect(self._copy)
        layout.addLayout(button_row(close_button(self, enter=True), left=(copy,)))

    def _show_notices(self, tab: int) -> None:
        """Read them when they are wanted: a megabyte of small files."""
        if self.tabs.widget(tab) is self.notices and self.notices.document().isEmpty():
            self.notices.setPlainText("\n".join(notices()))

    def _copy(self) -> None:
        shown = self.facts if self.tabs.currentWidget() is self.facts else self.notices
        QGuiApplication.clipboard().setText(shown.toPlainText())


def _pane(name: str) -> QPlainTextEdit:
    pane = QPlainTextEdit()
    pane.setReadOnly(True)
    pane.setTabChangesFocus(True)
    pane.setFont(fonts.mono(fonts.BODY))
    pane.setProperty("face", "mono")
    pane.setAccessibleName(name)
    return pane

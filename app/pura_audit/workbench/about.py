"""About: every version, the device and the keyring, ready to be copied for support."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from pura.version import __version__
from pura_audit.jobs.outcome import Failure
from pura_audit.look import fonts
from pura_audit.platform.i18n import translate
from pura_audit.session.choices import DeviceWords
from pura_audit.session.session import Session
from pura_audit.widgets.form_dialog import button_row, close_button, dialog_column

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
    device = session.device
    if isinstance(device, DeviceWords):
        lines.append(f"Device {device.kind}: {device.name}, {device.dtype}. {device.reason}")
    elif isinstance(device, Failure):
        lines.append(f"Device: {device.message}")
    if session.catalogue is not None:
        backend = session.catalogue.backend or "none"
        lines.append(f"Keyring: {backend} ({session.catalogue.keyring.value})")
    return "\n".join(lines)


class AboutDialog(QDialog):
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
        self.facts = QPlainTextEdit(facts(session))
        self.facts.setReadOnly(True)
        self.facts.setTabChangesFocus(True)
        self.facts.setFont(fonts.mono(fonts.BODY))
        self.facts.setAccessibleName(translate("Dialog", "Versions"))
        layout.addWidget(self.facts, 1)
        copy = QPushButton(translate("Dialog", "Copy"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.facts.toPlainText()))
        layout.addLayout(button_row(close_button(self, enter=True), left=(copy,)))

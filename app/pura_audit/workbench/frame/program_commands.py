"""Commands that set the program up, and its help: what each opens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog

from pura_audit.platform.i18n import translate
from pura_audit.widgets.form_dialog import opened
from pura_audit.workbench.actions import shortcut_rows

if TYPE_CHECKING:
    from pura_audit.stores.key_forms import KeyAct
    from pura_audit.stores.profiles import ProfilesDialog
    from pura_audit.widgets.form_dialog import Host


def show_keys(host: Host, act: KeyAct | None = None, *, source: Path | None = None) -> QDialog:
    """Show the keys; one of their acts, or the import of a file, is asked for at once.

    Whoever came for that alone is back where it was asked for when it is over.
    """
    from pura_audit.stores.keys import KeysDialog

    dialog = KeysDialog(host.session, host.frame)
    opened(dialog)
    form = dialog.ask_import(source) if source is not None else act and dialog.ask(act)
    if form:
        form.finished.connect(lambda _: dialog.close())
    return dialog


def show_models(host: Host) -> QDialog:
    """Show the models."""
    from pura_audit.stores.models import ModelsDialog

    return opened(ModelsDialog(host.session, host.frame))


def show_profiles(host: Host) -> ProfilesDialog:
    """Show the profiles."""
    from pura_audit.stores.profiles import ProfilesDialog

    return opened(ProfilesDialog(host.session, host.frame))


def show_settings(host: Host, field: str = "") -> QDialog:
    """Show the settings, at one of their fields."""
    from pura_audit.settings import SettingsDialog

    dialog = opened(SettingsDialog(host))
    dialog.language_wanted.connect(lambda name: _speak(host, dialog, name))
    if field:
        dialog.fields()[field].setFocus(Qt.FocusReason.ShortcutFocusReason)
    return dialog


def _speak(host: Host, dialog: QDialog, name: str) -> None:
    """Speak another language, and show the settings again in it; so the guide, at its page."""
    from pura_audit.workbench.dialogs.guide import GuideDialog, in_language

    if name == host.session.settings.current.language:
        return
    host.set_language(name)
    guides = host.frame.findChildren(GuideDialog)
    dialog.close()
    for guide in guides:
        guide.close()
        show_guide(host, in_language(guide.pages.page)).setGeometry(guide.geometry())
    show_settings(host, translate("Settings", "Language"))


def show_guide(host: Host, page: Path | None = None) -> QDialog:
    """Show the user guide, at one of its pages; it stays open beside the work."""
    from pura_audit.workbench.dialogs.guide import GuideDialog

    dialog = GuideDialog(host.frame, page)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog


def show_shortcuts(host: Host) -> QDialog:
    """Show all shortcuts."""
    from pura_audit.widgets.table_dialog import TableDialog

    headers = (translate("Dialog", "What"), translate("Dialog", "Shortcut"))
    rows = [*shortcut_rows(host.actions_by_name), *_more_keys()]
    title = translate("Dialog", "Keyboard shortcuts")
    return opened(TableDialog(title, headers, rows, "", host.frame))


def _more_keys() -> list[tuple[str, str]]:
    return [
        (translate("Dialog", "Menu"), "F10"),
        (translate("Dialog", "Token to token, line to line (in the text)"), "← → ↑ ↓"),
        (translate("Dialog", "Bit to bit, lane to lane (in the bits)"), "← → ↑ ↓"),
        (translate("Dialog", "From card to card"), "Tab, Shift+Tab"),
        (translate("Dialog", "Remove a text (in the list)"), "Del"),
    ]


def show_about(host: Host) -> QDialog:
    """Show every version."""
    from pura_audit.workbench.dialogs.guide import AboutDialog

    return opened(AboutDialog(host.session, host.frame))


def show_log(host: Host) -> None:
    """Open the folder of the log file."""
    from pura_audit.platform.diagnostics import log_folder

    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_folder())))

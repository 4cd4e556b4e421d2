"""The commands of the main window: words, shortcuts, menus."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from PySide6.QtCore import Qt

from pura_audit.platform.i18n import translate
from pura_audit.session.items import Item
from pura_audit.theme.theme import Mode
from pura_audit.widgets.host import Host
from pura_audit.workbench.actions import MenuCommand
from pura_audit.workbench.dialogs import openers
from pura_audit.workbench.dialogs.bundle import ask_bundle, make_bundle


class Workbench(Host, Protocol):
    """The window, as its menu knows it."""

    def open_files(self) -> None:
        """Ask for files."""

    def paste(self) -> None:
        """Take files or text from the clipboard."""

    def find_in_text(self) -> None:
        """Search in the text."""

    def remove_current(self) -> None:
        """Take the row on screen out."""

    def audit(self) -> None:
        """Audit what is due."""

    def audit_current(self) -> None:
        """Audit the row on screen again."""

    def cancel_current(self) -> None:
        """Stop the audit on screen."""

    def toggle_pause(self) -> None:
        """Pause the queue or let it go on."""

    def toggle_queue(self) -> None:
        """Fold or unfold the queue."""

    def show_document(self, item: Item) -> None:
        """Bring a text on screen."""

    def toggle_pile(self) -> None:
        """Show all texts as a table, or the one on screen again."""

    def toggle_evidence(self) -> None:
        """Show or hide the right column."""

    def zoom(self, by: int) -> None:
        """Make the text larger or smaller; 0 is the usual size."""

    def close(self) -> bool:
        """Close the window."""


def commands(window: Workbench) -> dict[str, list[MenuCommand]]:
    """Return everything that the window can do, by menu."""
    return {
        translate("Menu", "File"): _file(window),
        translate("Menu", "Edit"): _edit(window),
        translate("Menu", "Audit"): _audit(window),
        translate("Menu", "Cases"): _cases(window),
        translate("Menu", "Reports"): _reports(window),
        translate("Menu", "View"): _view(window),
        translate("Menu", "Set up"): _set_up(window),
        translate("Menu", "Help"): _help(window),
    }


def _file(window: Workbench) -> list[MenuCommand]:
    return [
        MenuCommand("open", translate("Menu", "Open …"), window.open_files, keys=("Ctrl+O",)),
        MenuCommand(
            "open-folder",
            translate("Menu", "Open a folder …"),
            lambda: openers.open_folder(window),
            keys=("Ctrl+Shift+O",),
        ),
        MenuCommand("sample", translate("Menu", "Try the sample"), window.session.texts.add_sample),
        MenuCommand(
            "reading",
            translate("Menu", "How this file is read …"),
            lambda: openers.show_reading(window),
            keys=("Ctrl+E",),
            apart=True,
        ),
        MenuCommand(
            "left-out",
            translate("Menu", "What was left out …"),
            lambda: openers.show_left_out(window),
        ),
        MenuCommand("close", translate("Menu", "Quit"), window.close, keys=("Ctrl+Q",), apart=True),
    ]


def _cases(window: Workbench) -> list[MenuCommand]:
    return [
        MenuCommand(
            "save",
            translate("Menu", "Save to a case …"),
            lambda: openers.save_to_case(window),
            keys=("Ctrl+S",),
        ),
        MenuCommand(
            "cases",
            translate("Menu", "Cases …"),
            lambda: openers.show_cases(window),
            keys=("Ctrl+Shift+C",),
        ),
        MenuCommand(
            "compare",
            translate("Menu", "Compare two audits …"),
            lambda: openers.compare_audits(window),
        ),
        MenuCommand(
            "side-by-side",
            translate("Menu", "Two texts side by side …"),
            lambda: openers.show_side_by_side(window),
            keys=("Ctrl+D",),
        ),
        MenuCommand(
            "register",
            translate("Menu", "Import issued payloads …"),
            lambda: openers.import_register(window),
            apart=True,
        ),
    ]


def _reports(window: Workbench) -> list[MenuCommand]:
    return [
        MenuCommand(
            "report",
            translate("Menu", "Report …"),
            lambda: openers.report_current(window),
            keys=("Ctrl+Shift+R",),
        ),
        MenuCommand(
            "sign-report", translate("Menu", "Sign a report …"), lambda: openers.sign_report(window)
        ),
        MenuCommand(
            "verify-report",
            translate("Menu", "Verify a report …"),
            lambda: openers.verify_report(window),
        ),
        MenuCommand(
            "statement",
            translate("Menu", "Statement of a detector …"),
            lambda: openers.check_statement(window),
        ),
    ]


def _set_up(window: Workbench) -> list[MenuCommand]:
    return [
        MenuCommand(
            "take-bundle", translate("Menu", "Take in a team bundle …"), lambda: ask_bundle(window)
        ),
        MenuCommand(
            "make-bundle", translate("Menu", "Make a team bundle …"), lambda: make_bundle(window)
        ),
        MenuCommand(
            "keys",
            translate("Menu", "Keys …"),
            lambda: openers.show_keys(window),
            keys=("Ctrl+Shift+K",),
        ),
        MenuCommand(
            "models",
            translate("Menu", "Models …"),
            lambda: openers.show_models(window),
            keys=("Ctrl+M",),
        ),
        MenuCommand(
            "profiles",
            translate("Menu", "Profiles …"),
            lambda: openers.show_profiles(window),
            keys=("Ctrl+L",),
        ),
        MenuCommand(
            "settings",
            translate("Menu", "Settings …"),
            lambda: openers.show_settings(window),
            keys=("Ctrl+,",),
            apart=True,
        ),
    ]


def _edit(window: Workbench) -> list[MenuCommand]:
    undo = window.session.texts.undo
    return [
        MenuCommand(
            "palette",
            translate("Menu", "Find everything …"),
            lambda: _find_everything(window),
            keys=("Ctrl+K",),
        ),
        MenuCommand("undo", translate("Menu", "Undo"), undo.undo, keys=("Ctrl+Z",)),
        MenuCommand("redo", translate("Menu", "Redo"), undo.redo, keys=("Ctrl+Shift+Z",)),
        MenuCommand("paste", translate("Menu", "Paste a text"), window.paste, keys=("Ctrl+V",)),
        MenuCommand(
            "find", translate("Menu", "Find in the text …"), window.find_in_text, keys=("Ctrl+F",)
        ),
        MenuCommand(
            "remove",
            translate("Menu", "Remove the text from the list"),
            window.remove_current,
            keys=("Ctrl+Backspace",),
        ),
    ]


def _find_everything(window: Workbench) -> None:
    from pura_audit.workbench.dialogs.palette import Palette

    palette = Palette(window, window.show_document)
    palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    palette.open()


def _audit(window: Workbench) -> list[MenuCommand]:
    select = window.selection
    return [
        MenuCommand(
            "audit", translate("Menu", "Audit"), window.audit, keys=("Ctrl+Return", "Ctrl+Enter")
        ),
        MenuCommand(
            "again",
            translate("Menu", "Audit this text again"),
            window.audit_current,
            keys=("Ctrl+R",),
        ),
        MenuCommand(
            "pause", translate("Menu", "Pause or go on"), window.toggle_pause, keys=("Ctrl+P",)
        ),
        MenuCommand(
            "cancel",
            translate("Menu", "Cancel the audit on screen, or show what is audited"),
            window.cancel_current,
            keys=("Esc",),
        ),
        MenuCommand(
            "cancel-all",
            translate("Menu", "Cancel all audits"),
            window.session.audits.cancel,
            keys=("Shift+Esc",),
        ),
        MenuCommand(
            "stress",
            translate("Menu", "Stress this text …"),
            lambda: openers.stress_text(window),
            apart=True,
        ),
        MenuCommand(
            "next",
            translate("Menu", "Next token that carries bits"),
            lambda: select.next_carrier(1),
            keys=("Ctrl+Right",),
            apart=True,
        ),
        MenuCommand(
            "previous",
            translate("Menu", "Previous token that carries bits"),
            lambda: select.next_carrier(-1),
            keys=("Ctrl+Left",),
        ),
        MenuCommand(
            "next-passage",
            translate("Menu", "Next mark or passage"),
            lambda: select.next_passage(1),
            keys=("F3",),
        ),
        MenuCommand(
            "previous-passage",
            translate("Menu", "Previous mark or passage"),
            lambda: select.next_passage(-1),
            keys=("Shift+F3",),
        ),
    ]


def _view(window: Workbench) -> list[MenuCommand]:
    rows = [
        MenuCommand(
            "queue", translate("Menu", "Fold the list of texts"), window.toggle_queue, keys=("F9",)
        ),
        MenuCommand(
            "pile",
            translate("Menu", "All texts as a table"),
            window.toggle_pile,
            keys=("Ctrl+T",),
        ),
        MenuCommand(
            "evidence",
            translate("Menu", "Show or hide the evidence"),
            window.toggle_evidence,
            keys=("F8",),
        ),
        MenuCommand(
            "larger",
            translate("Menu", "Larger text"),
            lambda: window.zoom(1),
            keys=("Ctrl++", "Ctrl+="),
            apart=True,
        ),
        MenuCommand(
            "smaller", translate("Menu", "Smaller text"), lambda: window.zoom(-1), keys=("Ctrl+-",)
        ),
        MenuCommand(
            "usual", translate("Menu", "Usual text size"), lambda: window.zoom(0), keys=("Ctrl+0",)
        ),
    ]
    for mode, words in (
        (Mode.SYSTEM, translate("Menu", "Colours of the system")),
        (Mode.LIGHT, translate("Menu", "Light")),
        (Mode.DARK, translate("Menu", "Dark")),
        (Mode.CONTRAST, translate("Menu", "High contrast")),
    ):
        rows.append(
            MenuCommand(
                f"theme-{mode.value}",
                words,
                partial(window.set_theme, mode),
                apart=mode is Mode.SYSTEM,
            )
        )
    return rows


def _help(window: Workbench) -> list[MenuCommand]:
    return [
        MenuCommand(
            "guide",
            translate("Menu", "User guide"),
            lambda: openers.show_guide(window),
            keys=("F2",),
        ),
        MenuCommand(
            "shortcuts",
            translate("Menu", "Keyboard shortcuts"),
            lambda: openers.show_shortcuts(window),
            keys=("F1", "Ctrl+?"),
        ),
        MenuCommand(
            "log", translate("Menu", "Show the log file"), lambda: openers.show_log(window)
        ),
        MenuCommand(
            "about", translate("Menu", "About PURA Audit"), lambda: openers.show_about(window)
        ),
    ]

"""The commands of the main window: a row each of words, what it does or opens, and shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QMenu, QWidget

from pura_audit.platform.i18n import translate
from pura_audit.session.queue_model import Item
from pura_audit.theme.theme import Mode
from pura_audit.widgets.form_dialog import Host, opened
from pura_audit.workbench.opening import (
    ask_diagnostic_file,
    check_statement,
    compare_audits,
    compare_versions,
    mark_text,
    open_folder,
    report_current,
    save_to_case,
    show_about,
    show_cases,
    show_guide,
    show_keys,
    show_left_out,
    show_log,
    show_models,
    show_profiles,
    show_reading,
    show_settings,
    show_setup,
    show_shortcuts,
    show_side_by_side,
    sign_report,
    verify_report,
)
from pura_audit.workbench.placement import Placement
from pura_audit.workbench.setup import ask_bundle, make_bundle


@dataclass(frozen=True)
class Command:
    """One thing that can be done.

    Attributes:
        name: For programs.
        words: For people.
        act: What it does.
        keys: Shortcuts, as Qt writes them, spaces between them.
        apart: A line stands above it in the menu.
    """

    name: str
    words: str
    act: Callable[[], object]
    keys: str = ""
    apart: bool = False


def build_menu(
    parent: QWidget, commands: dict[str, list[Command]]
) -> tuple[dict[str, QAction], QMenu]:
    """Make actions of commands and a menu with the submenus that they stand in."""
    actions: dict[str, QAction] = {}
    menu = QMenu(parent)
    menu.setAccessibleName(translate("Menu", "Menu"))
    for title, listed in commands.items():
        # One made by addMenu itself goes with the list of actions that PySide 6.8 finds it by.
        submenu = QMenu(title, menu)
        menu.addMenu(submenu)
        for command in listed:
            action = QAction(command.words, parent)
            action.setObjectName(command.name)
            action.setShortcuts([QKeySequence(k) for k in command.keys.split()])
            action.triggered.connect(lambda _checked=False, act=command.act: act())
            parent.addAction(action)
            actions[command.name] = action
            if command.apart:
                submenu.addSeparator()
            submenu.addAction(action)
    return actions, menu


class Workbench(Host, Protocol):
    """The window, as its menu knows it.

    Attributes:
        placement: Folds the queue, and shows or hides the right column.
    """

    placement: Placement

    def open_files(self) -> None:
        """Ask for files."""

    def try_sample(self) -> None:
        """Audit the sample text."""

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

    def show_document(self, item: Item) -> None:
        """Bring a text on screen."""

    def toggle_results(self) -> None:
        """Show all texts as a table, or the one on screen again."""

    def toggle_issued(self) -> None:
        """Show what was issued, or the texts again."""

    def look_up(self) -> None:
        """Show what was issued, with the cursor where a payload is typed."""

    def import_issued(self) -> QDialog | None:
        """Show what was issued, and ask for a table or a log of it."""

    def zoom(self, by: int) -> None:
        """Make the text larger or smaller; 0 is the usual size."""

    def close(self) -> bool:
        """Close the window."""


def commands(window: Workbench) -> dict[str, list[Command]]:
    """Return everything that the window can do, by menu."""
    undo, select = window.session.texts.undo, window.selection

    def on(act: Callable[[Workbench], object]) -> Callable[[], object]:
        return partial(act, window)

    return {
        translate("Menu", "File"): [
            Command("open", translate("Menu", "Open …"), window.open_files, "Ctrl+O"),
            Command(
                "open-folder", translate("Menu", "Open a folder …"), on(open_folder), "Ctrl+Shift+O"
            ),
            Command("sample", translate("Menu", "Try the sample"), window.try_sample),
            Command(
                "reading",
                translate("Menu", "How this file is read …"),
                on(show_reading),
                "Ctrl+E",
                apart=True,
            ),
            Command("left-out", translate("Menu", "What was left out …"), on(show_left_out)),
            Command("close", translate("Menu", "Quit"), window.close, "Ctrl+Q", apart=True),
        ],
        translate("Menu", "Edit"): [
            Command(
                "palette", translate("Menu", "Find everything …"), on(_find_everything), "Ctrl+K"
            ),
            Command("undo", translate("Menu", "Undo"), undo.undo, "Ctrl+Z"),
            Command("redo", translate("Menu", "Redo"), undo.redo, "Ctrl+Shift+Z"),
            Command("paste", translate("Menu", "Paste a text"), window.paste, "Ctrl+V"),
            Command("find", translate("Menu", "Find in the text …"), window.find_in_text, "Ctrl+F"),
            Command(
                "remove",
                translate("Menu", "Remove the text from the list"),
                window.remove_current,
                "Ctrl+Backspace",
            ),
        ],
        translate("Menu", "Audit"): [
            Command("audit", translate("Menu", "Audit"), window.audit, "Ctrl+Return Ctrl+Enter"),
            Command(
                "again", translate("Menu", "Audit this text again"), window.audit_current, "Ctrl+R"
            ),
            Command("pause", translate("Menu", "Pause or go on"), window.toggle_pause, "Ctrl+P"),
            Command(
                "cancel",
                translate("Menu", "Cancel the audit on screen, or show what is audited"),
                window.cancel_current,
                "Esc",
            ),
            Command(
                "cancel-all",
                translate("Menu", "Cancel all audits"),
                window.session.audits.cancel,
                "Shift+Esc",
            ),
            Command(
                "next",
                translate("Menu", "Next token that carries bits"),
                partial(select.next_carrier, 1),
                "Ctrl+Right",
                apart=True,
            ),
            Command(
                "previous",
                translate("Menu", "Previous token that carries bits"),
                partial(select.next_carrier, -1),
                "Ctrl+Left",
            ),
            Command(
                "next-passage",
                translate("Menu", "Next mark or passage"),
                partial(select.next_passage, 1),
                "F3",
            ),
            Command(
                "previous-passage",
                translate("Menu", "Previous mark or passage"),
                partial(select.next_passage, -1),
                "Shift+F3",
            ),
        ],
        translate("Menu", "Cases"): [
            Command("save", translate("Menu", "Save to a case …"), on(save_to_case), "Ctrl+S"),
            Command("cases", translate("Menu", "Cases …"), on(show_cases), "Ctrl+Shift+C"),
            Command("compare", translate("Menu", "Compare two audits …"), on(compare_audits)),
            Command(
                "versions",
                translate("Menu", "Compare with earlier examinations …"),
                on(compare_versions),
            ),
            Command(
                "side-by-side",
                translate("Menu", "Two texts side by side …"),
                on(show_side_by_side),
                "Ctrl+D",
            ),
        ],
        translate("Menu", "Issue"): [
            Command(
                "register", translate("Menu", "Issued payloads"), window.toggle_issued, "Ctrl+I"
            ),
            Command("who", translate("Menu", "Who got this payload?"), window.look_up),
            Command(
                "import-register",
                translate("Menu", "Import issued payloads …"),
                window.import_issued,
            ),
            Command(
                "generate", translate("Menu", "Mark a text …"), on(mark_text), "Ctrl+G", apart=True
            ),
        ],
        translate("Menu", "Reports"): [
            Command("report", translate("Menu", "Report …"), on(report_current), "Ctrl+Shift+R"),
            Command("sign-report", translate("Menu", "Sign a report …"), on(sign_report)),
            Command("verify-report", translate("Menu", "Verify a report …"), on(verify_report)),
            Command(
                "statement", translate("Menu", "Statement of a detector …"), on(check_statement)
            ),
        ],
        translate("Menu", "View"): [
            Command(
                "queue",
                translate("Menu", "Fold the list of texts"),
                window.placement.toggle_queue,
                "F9",
            ),
            Command(
                "results",
                translate("Menu", "All texts as a table"),
                window.toggle_results,
                "Ctrl+T",
            ),
            Command(
                "evidence",
                translate("Menu", "Show or hide the evidence"),
                window.placement.toggle_evidence,
                "F8",
            ),
            Command(
                "larger",
                translate("Menu", "Larger text"),
                partial(window.zoom, 1),
                "Ctrl++ Ctrl+=",
                apart=True,
            ),
            Command(
                "smaller", translate("Menu", "Smaller text"), partial(window.zoom, -1), "Ctrl+-"
            ),
            Command(
                "usual", translate("Menu", "Usual text size"), partial(window.zoom, 0), "Ctrl+0"
            ),
            *(
                Command(
                    f"theme-{mode.value}",
                    words,
                    partial(window.set_theme, mode),
                    apart=mode is Mode.SYSTEM,
                )
                for mode, words in _themes()
            ),
        ],
        translate("Menu", "Set up"): [
            Command("take-bundle", translate("Menu", "Take in a team bundle …"), on(ask_bundle)),
            Command("make-bundle", translate("Menu", "Make a team bundle …"), on(make_bundle)),
            Command("keys", translate("Menu", "Keys …"), on(show_keys), "Ctrl+Shift+K"),
            Command("models", translate("Menu", "Models …"), on(show_models), "Ctrl+M"),
            Command("set-up", translate("Menu", "Set up ours …"), on(show_setup)),
            Command("profiles", translate("Menu", "Profiles …"), on(show_profiles), "Ctrl+L"),
            Command(
                "settings", translate("Menu", "Settings …"), on(show_settings), "Ctrl+,", apart=True
            ),
        ],
        translate("Menu", "Help"): [
            Command("guide", translate("Menu", "User guide"), on(show_guide), "F2"),
            Command(
                "shortcuts",
                translate("Menu", "Keyboard shortcuts"),
                on(show_shortcuts),
                "F1 Ctrl+?",
            ),
            Command("log", translate("Menu", "Show the log file"), on(show_log)),
            Command(
                "diagnostics",
                translate("Menu", "Save a diagnostic file …"),
                on(ask_diagnostic_file),
            ),
            Command("about", translate("Menu", "About PURA Audit"), on(show_about)),
        ],
    }


def _themes() -> tuple[tuple[Mode, str], ...]:
    return (
        (Mode.SYSTEM, translate("Menu", "Colours of the system")),
        (Mode.LIGHT, translate("Menu", "Light")),
        (Mode.DARK, translate("Menu", "Dark")),
        (Mode.CONTRAST, translate("Menu", "High contrast")),
    )


def _find_everything(window: Workbench) -> None:
    from pura_audit.workbench.palette import Palette

    opened(Palette(window, window.show_document))

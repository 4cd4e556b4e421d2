"""The commands of the main window: words, shortcuts, menus."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from pura_audit.look.theme import Mode
from pura_audit.platform.i18n import translate
from pura_audit.widgets.host import Host
from pura_audit.workbench import dialogs
from pura_audit.workbench.actions import Command


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

    def toggle_pause(self) -> None:
        """Pause the queue or let it go on."""

    def toggle_queue(self) -> None:
        """Fold or unfold the queue."""

    def toggle_evidence(self) -> None:
        """Show or hide the right column."""

    def zoom(self, by: int) -> None:
        """Make the text larger or smaller; 0 is the usual size."""

    def close(self) -> bool:
        """Close the window."""


def commands(window: Workbench) -> list[Command]:
    """Return everything that the window can do."""
    return [*_file(window), *_edit(window), *_audit(window), *_view(window), *_help(window)]


def _file(window: Workbench) -> list[Command]:
    group = translate("Menu", "File")
    return [
        Command(
            name="open",
            words=translate("Menu", "Open …"),
            keys=("Ctrl+O",),
            act=window.open_files,
            group=group,
        ),
        Command(
            name="reading",
            words=translate("Menu", "How this file is read …"),
            keys=("Ctrl+E",),
            act=lambda: dialogs.show_reading(window),
            group=group,
        ),
        Command(
            name="open-folder",
            words=translate("Menu", "Open a folder …"),
            keys=("Ctrl+Shift+O",),
            act=lambda: dialogs.open_folder(window),
            group=group,
        ),
        Command(
            name="left-out",
            words=translate("Menu", "What was left out …"),
            keys=(),
            act=lambda: dialogs.show_left_out(window),
            group=group,
        ),
        Command(
            name="sample",
            words=translate("Menu", "Try the sample"),
            keys=(),
            act=window.session.add_sample,
            group=group,
        ),
        Command(
            name="save",
            words=translate("Menu", "Save to a case …"),
            keys=("Ctrl+S",),
            act=lambda: dialogs.save_to_case(window),
            group=group,
        ),
        Command(
            name="cases",
            words=translate("Menu", "Cases …"),
            keys=("Ctrl+Shift+C",),
            act=lambda: dialogs.show_cases(window),
            group=group,
        ),
        Command(
            name="register",
            words=translate("Menu", "Import issued payloads …"),
            keys=(),
            act=lambda: dialogs.import_register(window),
            group=group,
        ),
        Command(
            name="report",
            words=translate("Menu", "Report …"),
            keys=("Ctrl+Shift+R",),
            act=lambda: dialogs.make_report(window),
            group=group,
        ),
        Command(
            name="sign-report",
            words=translate("Menu", "Sign a report …"),
            keys=(),
            act=lambda: dialogs.sign_report(window),
            group=group,
        ),
        Command(
            name="verify-report",
            words=translate("Menu", "Verify a report …"),
            keys=(),
            act=lambda: dialogs.verify_report(window),
            group=group,
        ),
        Command(
            name="keys",
            words=translate("Menu", "Keys …"),
            keys=("Ctrl+K",),
            act=lambda: dialogs.show_keys(window),
            group=group,
        ),
        Command(
            name="models",
            words=translate("Menu", "Models …"),
            keys=("Ctrl+M",),
            act=lambda: dialogs.show_models(window),
            group=group,
        ),
        Command(
            name="profiles",
            words=translate("Menu", "Profiles …"),
            keys=("Ctrl+L",),
            act=lambda: dialogs.show_profiles(window),
            group=group,
        ),
        Command(
            name="settings",
            words=translate("Menu", "Settings …"),
            keys=("Ctrl+,",),
            act=lambda: dialogs.show_settings(window),
            group=group,
        ),
        Command(
            name="close",
            words=translate("Menu", "Quit"),
            keys=("Ctrl+Q",),
            act=window.close,
            group=group,
        ),
    ]


def _edit(window: Workbench) -> list[Command]:
    group = translate("Menu", "Edit")
    undo = window.session.undo
    return [
        Command(
            name="undo",
            words=translate("Menu", "Undo"),
            keys=("Ctrl+Z",),
            act=undo.undo,
            group=group,
        ),
        Command(
            name="redo",
            words=translate("Menu", "Redo"),
            keys=("Ctrl+Shift+Z",),
            act=undo.redo,
            group=group,
        ),
        Command(
            name="paste",
            words=translate("Menu", "Paste a text"),
            keys=("Ctrl+V",),
            act=window.paste,
            group=group,
        ),
        Command(
            name="find",
            words=translate("Menu", "Find in the text …"),
            keys=("Ctrl+F",),
            act=window.find_in_text,
            group=group,
        ),
        Command(
            name="remove",
            words=translate("Menu", "Remove the text from the list"),
            keys=("Ctrl+Backspace",),
            act=window.remove_current,
            group=group,
        ),
    ]


def _audit(window: Workbench) -> list[Command]:
    group = translate("Menu", "Audit")
    select = window.selection
    return [
        Command(
            name="audit",
            words=translate("Menu", "Audit"),
            keys=("Ctrl+Return", "Ctrl+Enter"),
            act=window.audit,
            group=group,
        ),
        Command(
            name="again",
            words=translate("Menu", "Audit this text again"),
            keys=("Ctrl+R",),
            act=window.audit_current,
            group=group,
        ),
        Command(
            name="pause",
            words=translate("Menu", "Pause or go on"),
            keys=("Ctrl+P",),
            act=window.toggle_pause,
            group=group,
        ),
        Command(
            name="cancel",
            words=translate("Menu", "Cancel"),
            keys=("Esc",),
            act=window.session.cancel,
            group=group,
        ),
        Command(
            name="compare",
            words=translate("Menu", "Compare two audits …"),
            keys=(),
            act=lambda: dialogs.compare_audits(window),
            group=group,
        ),
        Command(
            name="next",
            words=translate("Menu", "Next token that carries bits"),
            keys=("Ctrl+Right",),
            act=lambda: select.next_carrier(1),
            group=group,
        ),
        Command(
            name="previous",
            words=translate("Menu", "Previous token that carries bits"),
            keys=("Ctrl+Left",),
            act=lambda: select.next_carrier(-1),
            group=group,
        ),
    ]


def _view(window: Workbench) -> list[Command]:
    group = translate("Menu", "View")
    rows = [
        Command(
            name="queue",
            words=translate("Menu", "Fold the list of texts"),
            keys=("F9",),
            act=window.toggle_queue,
            group=group,
        ),
        Command(
            name="evidence",
            words=translate("Menu", "Show or hide the evidence"),
            keys=("F8",),
            act=window.toggle_evidence,
            group=group,
        ),
        Command(
            name="larger",
            words=translate("Menu", "Larger text"),
            keys=("Ctrl++", "Ctrl+="),
            act=lambda: window.zoom(1),
            group=group,
        ),
        Command(
            name="smaller",
            words=translate("Menu", "Smaller text"),
            keys=("Ctrl+-",),
            act=lambda: window.zoom(-1),
            group=group,
        ),
        Command(
            name="usual",
            words=translate("Menu", "Usual text size"),
            keys=("Ctrl+0",),
            act=lambda: window.zoom(0),
            group=group,
        ),
    ]
    for mode, words in (
        (Mode.SYSTEM, translate("Menu", "Colours of the system")),
        (Mode.LIGHT, translate("Menu", "Light")),
        (Mode.DARK, translate("Menu", "Dark")),
        (Mode.CONTRAST, translate("Menu", "High contrast")),
    ):
        rows.append(
            Command(
                name=f"theme-{mode.value}",
                words=words,
                keys=(),
                act=partial(window.set_theme, mode),
                group=group,
            )
        )
    return rows


def _help(window: Workbench) -> list[Command]:
    group = translate("Menu", "Help")
    return [
        Command(
            name="guide",
            words=translate("Menu", "User guide"),
            keys=("F2",),
            act=lambda: dialogs.show_guide(window),
            group=group,
        ),
        Command(
            name="shortcuts",
            words=translate("Menu", "Keyboard shortcuts"),
            keys=("F1", "Ctrl+?"),
            act=lambda: dialogs.show_shortcuts(window),
            group=group,
        ),
        Command(
            name="log",
            words=translate("Menu", "Show the log file"),
            keys=(),
            act=lambda: dialogs.show_log(window),
            group=group,
        ),
        Command(
            name="about",
            words=translate("Menu", "About PURA Audit"),
            keys=(),
            act=lambda: dialogs.show_about(window),
            group=group,
        ),
    ]

"""The palette, which finds commands, texts, cases, settings and guide pages by name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit

from pura.caselog import Case, list_cases
from pura_audit.cases.pane import case_name
from pura_audit.jobs.queue import Done, Outcome
from pura_audit.platform.i18n import translate
from pura_audit.session.queue_model import Item
from pura_audit.settings import SettingsDialog
from pura_audit.widgets.card import add_parts, label
from pura_audit.widgets.form_dialog import Host, PlainDialog, dialog_column
from pura_audit.widgets.working_dialog import fill_table, make_table
from pura_audit.workbench import opening
from pura_audit.workbench.guide import guide_pages

MAX_ENTRIES: Final = 100  # that the palette lists at once
_MOVES: Final = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


PaletteEntry = tuple[str, str, str, Callable[[], object], str]
"""An entry: its name, its kind, its shortcut, its action, and another name by which
it is found: that of the command line."""


class Palette(PlainDialog):
    """Finds entries by a query that may omit letters; Return runs the selected one.

    Args:
        host: The window.
        show: Shows a text.
    """

    def __init__(self, host: Host, show: Callable[[Item], object]) -> None:
        super().__init__(host.frame)
        self._host = host
        self._entries = [*_commands(host.actions_by_name.values()), *_texts(host, show)]
        self._cases_from = len(self._entries)
        self._entries += [*_settings(host), *_pages(host)]
        self.found: list[PaletteEntry] = []
        self.setWindowTitle(translate("Palette", "Find everything"))
        self.resize(720, 520)
        self.table = make_table(translate("Palette", "Found"))
        self.table.horizontalHeader().hide()
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.table.clicked.connect(self._take)
        self.line = QLineEdit()
        self.line.installEventFilter(self)
        self.line.setPlaceholderText(
            translate("Palette", "A command, a text, a case, a setting, a page of the guide")
        )
        self.line.setAccessibleName(self.line.placeholderText())
        self.line.textChanged.connect(self._find)
        self.line.returnPressed.connect(self._take)
        keys = translate("Palette", "↑ ↓ choose · Return opens or does it · Esc closes")
        add_parts(dialog_column(self), self.line, (self.table, 1), label(keys, "muted"))
        self._find()
        self.line.setFocus()
        if host.session.cases.there:
            host.session.cases.read(lambda log, _: list_cases(log), self._add_cases, self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys that move through a list on to the table."""
        pressed = event.type() == QEvent.Type.KeyPress
        if pressed and isinstance(event, QKeyEvent) and event.key() in _MOVES:
            self.table.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def _add_cases(self, outcome: Outcome[tuple[Case, ...]]) -> None:
        if isinstance(outcome, Done):
            kind = translate("Palette", "Case")
            self._entries[self._cases_from : self._cases_from] = [
                (
                    case_name(case) if case.name else "",
                    kind,
                    "",
                    partial(opening.show_cases, self._host, case.id),
                    "",
                )
                for case in outcome.result
            ]
            self._find()

    def _find(self) -> None:
        query = self.line.text()
        ranked = [(_place(query, entry), entry) for entry in self._entries]
        fits = [(distance, entry) for distance, entry in ranked if distance is not None]
        fits.sort(key=lambda pair: pair[0])  # stable: commands first, then texts
        self.found = [entry for _, entry in fits[:MAX_ENTRIES]]
        rows = [entry[:3] for entry in self.found]
        fill_table(self.table, ("", "", ""), rows, widest=420)
        if rows:
            self.table.selectRow(0)

    def _take(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        if rows:
            action = self.found[rows[0].row()][3]
            self.accept()
            QTimer.singleShot(0, self._host.frame, action)


def rank(query: str, name_text: str) -> int | None:
    """Return the distance of a name from a query; 0 is best, None is no match.

    Each word of the query begins a word of the name, is inside one, or at least has its
    letters in this order; accents and case do not count.
    """
    name, distance = _folded(name_text), 0
    for part in _folded(query).split():
        position = name.find(part)
        if position < 0:
            spread = _spread(part, name)
            if spread is None:
                return None
            distance += 10 + spread
        elif position and name[position - 1].isalnum():
            begins = any(word.startswith(part) for word in name.split())
            distance += 1 if begins else 4
        elif position:
            distance += 1
    return distance


def _place(query: str, entry: PaletteEntry) -> int | None:
    """Return the distance of an entry from a query; its other name counts as a prefix."""
    distance, typed = rank(query, entry[0]), _folded(query).strip()
    also = 5 if typed and entry[4].startswith(typed) else None
    return distance if also is None else min(also, also if distance is None else distance)


def _spread(part: str, name: str) -> int | None:
    """Return the number of letters between those of a word; None if they are not in order."""
    first, position = -1, -1
    for letter in part:
        position = name.find(letter, position + 1)
        if position < 0:
            return None
        first = position if first < 0 else first
    return position - first + 1 - len(part)


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _commands(actions: Iterable[QAction]) -> list[PaletteEntry]:
    kind, native = translate("Palette", "Command"), QKeySequence.SequenceFormat.NativeText
    return [
        (
            action.text().replace("&", ""),
            kind,
            action.shortcut().toString(native),
            action.trigger,
            action.objectName(),
        )
        for action in actions
        if action.isEnabled() and action.objectName() != NAME
    ]


def _texts(host: Host, show: Callable[[Item], object]) -> list[PaletteEntry]:
    kind = translate("Palette", "Text")
    return [
        (item.name, kind, "", partial(show, item), "") for item in host.session.texts.queue.items
    ]


def _settings(host: Host) -> list[PaletteEntry]:
    kind, dialog = translate("Palette", "Setting"), SettingsDialog(host)
    names = tuple(dialog.fields())
    dialog.deleteLater()
    return [(name, kind, "", partial(opening.show_settings, host, name), "") for name in names]


def _pages(host: Host) -> list[PaletteEntry]:
    kind = translate("Palette", "Guide")
    return [
        (title, kind, "", partial(opening.show_guide, host, path), "")
        for title, path in guide_pages()
    ]


NAME: Final = "palette"
"""Name of the command that opens the palette."""

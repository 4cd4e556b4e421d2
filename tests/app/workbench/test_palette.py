"""Ctrl+K: everything by its name, by keyboard alone."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog

from pura.base.paths import user_paths
from pura.caselog import CaseLog, open_case
from pura_audit.cases.dialog import CasesDialog
from pura_audit.settings import SettingsDialog
from pura_audit.workbench.guide import GuideDialog
from pura_audit.workbench.palette import Palette, rank


@pytest.fixture
def found(window, qtbot, text):
    """Types words into a new palette, and presses Return; returns what was found."""
    with CaseLog(user_paths().caselog, create=True) as log:
        open_case(log, "Zeitung gegen Amt", log.person("Anna"))
    for name in ("memo.txt", "Übersicht.txt"):
        window.session.texts.add_text(text, name)

    def type_in(words: str, kind: str) -> list[str]:
        window.actions_by_name["palette"].trigger()
        palette = next(one for one in window.findChildren(Palette) if one.isVisible())
        qtbot.waitUntil(lambda: any(one[1] == "Case" for one in palette._entries))
        qtbot.keyClicks(palette.line, words)
        names = [one[0] for one in palette.found]
        while palette.found[palette.table.currentIndex().row()][1] != kind:
            qtbot.keyClick(palette.line, Qt.Key.Key_Down)
        qtbot.keyClick(palette.line, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not palette.isVisible())
        return names

    return type_in


def opened(window: Any, qtbot: Any, kind: type[QDialog]) -> Any:
    def shown() -> list[Any]:
        return [one for one in window.findChildren(kind) if one.isVisible()]

    qtbot.waitUntil(lambda: bool(shown()))
    return shown()[0]


def test_commands_texts_cases_settings_and_pages_are_gone_to(window, qtbot, found):
    assert found("memo", "Text")[0] == "memo.txt"
    qtbot.waitUntil(lambda: window.session.texts.current.name == "memo.txt")
    assert found("ubersicht", "Text")[0] == "Übersicht.txt"
    qtbot.waitUntil(lambda: window.session.texts.current.name == "Übersicht.txt")
    assert found("as table", "Command")[0] == "All texts as a table"
    qtbot.waitUntil(window.results.isVisible)
    found("colours", "Setting")
    settings = opened(window, qtbot, SettingsDialog)
    assert isinstance(settings.focusWidget(), QComboBox)
    assert settings.focusWidget() is settings.fields()["Colours"]
    settings.reject()
    found("glossary", "Guide")
    guide = opened(window, qtbot, GuideDialog)
    assert guide.pages.source().fileName() == "glossary.md"
    guide.close()
    found("amt", "Case")
    cases = opened(window, qtbot, CasesDialog)
    qtbot.waitUntil(lambda: cases.pane.case is not None)
    assert cases.pane.case.name == "Zeitung gegen Amt"
    cases.reject()


def test_the_beginning_of_a_word_is_nearer_than_its_inside_and_letters_may_be_left_out():
    assert rank("rep sign", "Sign a report …") is not None
    assert rank("sgnrpt", "Sign a report …") is not None
    inside, begins = rank("port", "Sign a report …"), rank("rep", "Sign a report …")
    assert begins < inside
    assert rank("xyz", "Sign a report …") is None

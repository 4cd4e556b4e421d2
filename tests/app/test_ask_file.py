"""Questions for files: titled, filtered, dressed, and where the last answer was."""

from pathlib import Path

from PySide6.QtWidgets import QLineEdit

from pura_audit.theme.theme import DARK, Mode
from pura_audit.widgets.form_dialog import ask_file, ask_target


def test_the_question_begins_where_the_last_answer_was(window, tmp_path, monkeypatch):
    monkeypatch.setattr("pura_audit.widgets.form_dialog._last", [])
    taken: list[Path] = []
    there = tmp_path / "inside" / "p.json"
    there.parent.mkdir()
    there.write_text("{}")
    first = ask_file(window, "Profile from a file", taken.append, "Profiles (*.json)")
    assert first.windowTitle() == "Profile from a file"
    assert first.nameFilters() == ["Profiles (*.json)"]
    first.filesSelected.emit([str(there)])
    first.fileSelected.emit(str(there))
    assert taken == [there]
    first.reject()
    second = ask_target(window, "Save", taken.append, "A (*.a)", "B (*.b)", suffix="a")
    assert Path(second.directory().absolutePath()) == there.parent
    second.filterSelected.emit("B (*.b)")
    assert second.defaultSuffix() == "b"
    second.reject()


def test_qts_own_dialog_can_be_read_in_the_dark(window, qtbot):
    window.set_theme(Mode.DARK)
    dialog = ask_file(window, "Profile from a file", lambda _: None)
    line = dialog.findChild(QLineEdit, "fileNameEdit")
    popup = line.completer().popup()
    qtbot.waitUntil(lambda: popup.grab().toImage().pixelColor(3, 3).name() == DARK.card.lower())
    dialog.reject()

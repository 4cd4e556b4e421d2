"""Recent files: offered, opened, forgotten, switched off."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QMenu

from pura_audit.platform.i18n import translate
from pura_audit.workbench.commands import build_menu, commands


def opened(window: Any, qtbot: Any, path: Path) -> None:
    path.write_text("Some words to be read.", encoding="utf-8")
    window.session.texts.add_paths([path])
    qtbot.waitUntil(lambda: window.session.texts.current.document is not None)


def test_a_file_that_was_opened_can_be_opened_again(window, qtbot, tmp_path):
    path = tmp_path / "salt & pepper.txt"
    opened(window, qtbot, path)
    menu = window.recent
    menu.aboutToShow.emit()
    first = menu.actions()[0]
    assert first.text() == "&1  salt && pepper.txt"
    assert first.toolTip() == str(path)
    first.trigger()
    assert [item.path for item in window.session.texts.queue.items] == [path, path]
    qtbot.waitUntil(lambda: window.session.texts.queue.items[1].document is not None)


def test_the_list_can_be_emptied(window, qtbot, tmp_path):
    opened(window, qtbot, tmp_path / "a.txt")
    window.recent.aboutToShow.emit()
    window.recent.actions()[-2].trigger()
    assert window.session.settings.current.recent == ()
    window.recent.aboutToShow.emit()
    assert window.recent.actions()[0].text() == translate("Menu", "No recent files")
    assert not window.recent.actions()[-2].isEnabled()


def test_switched_off_nothing_is_kept_and_nothing_is_written(window, qtbot, tmp_path):
    opened(window, qtbot, tmp_path / "secret-name.txt")
    window.recent.aboutToShow.emit()
    window.recent.actions()[-1].trigger()
    opened(window, qtbot, tmp_path / "secret-name-2.txt")
    settings = window.session.settings
    assert settings.current.recent == ()
    assert "secret-name" not in settings.path.read_text(encoding="utf-8")
    window.recent.aboutToShow.emit()
    assert not window.recent.actions()[-1].isChecked()
    window.recent.actions()[-1].trigger()
    opened(window, qtbot, tmp_path / "c.txt")
    assert settings.current.recent == (str(tmp_path / "c.txt"),)


def test_no_menu_is_one_that_qt_made_by_itself(window, monkeypatch):
    # PySide 6.8 takes such a one away with the list of actions by which it is found.
    real = QMenu.addMenu

    def own(menu: QMenu, added: QMenu) -> Any:
        assert isinstance(added, QMenu)
        return real(menu, added)

    monkeypatch.setattr(QMenu, "addMenu", own)
    _, menu = build_menu(window, dict(list(commands(window).items())[:2]))
    assert [action.menu().title() for action in menu.actions()] == list(commands(window))[:2]

"""Another language at once: the window stays, what has words is made anew, what runs goes on."""

import gc
import weakref

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QWidget

from pura.base.paths import resource
from pura_audit.workbench import opening
from pura_audit.workbench.guide import GuideDialog


def settle() -> None:
    """Do what waits, deletions too."""
    QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()


def test_the_language_changes_while_an_audit_runs(window, engine, qtbot, tmp_path):
    session = window.session
    session.texts.add_text("The first text of two, which is found. " * 8, "first")
    session.audits.audit()
    first = session.texts.current
    qtbot.waitUntil(lambda: first.audit is not None)
    session.texts.add_paths([tmp_path / "gone.txt"])
    unread = session.texts.current
    qtbot.waitUntil(lambda: unread.failure is not None and not session.jobs.model.busy)
    engine.gate.clear()
    engine.entered.clear()
    session.texts.add_text("The second text of two, which is read. " * 8, "second")
    second = session.texts.current
    session.texts.set_prompt(second, "What was asked", several=False)
    session.audits.audit([second])
    qtbot.waitUntil(engine.entered.is_set)
    where, words = window.geometry(), unread.failure.message
    views = [
        weakref.ref(view) for view in (window.header, window.work, window.status, window.results)
    ]
    called: list[str] = []
    window.header.destroyed.connect(lambda: called.append("header"))
    settings = opening.show_settings(window)
    place = settings.language.findData("de")
    settings.language.setCurrentIndex(place)
    settings.language.activated.emit(place)
    settle()

    assert called == ["header"]
    assert [view() for view in views] == [None] * 4
    assert (window.geometry(), session.texts.current) == (where, second)
    assert second.state == "running"
    assert second.prompt == "What was asked"
    assert window.work.busy.isVisible()
    assert window.header.cancel.text() == "Abbrechen"
    assert window.actions_by_name["cancel"].isEnabled()
    assert unread.failure.message != words
    settings = next(d for d in window.findChildren(type(settings)) if d.isVisible())
    assert settings.windowTitle() == "Einstellungen"
    assert settings.focusWidget() is settings.language
    settings.close()
    engine.gate.set()
    qtbot.waitUntil(lambda: second.audit is not None and not session.jobs.model.busy)
    assert window.work.answer.audit is second.audit
    session.texts.show(first)
    assert window.work.answer.audit is first.audit
    shown = [words.text() for words in window.work.answer.findChildren(QLabel)]
    assert any("Markierung" in words for words in shown)
    assert window.selection.audit is first.audit


def test_the_guide_stays_at_its_page(window):
    opening.show_guide(window, resource("docs") / "how-to" / "reports.md")
    settings = opening.show_settings(window)
    settings.language_wanted.emit("de")
    settle()
    [guide] = window.findChildren(GuideDialog)
    assert guide.pages.page == (resource("docs") / "de" / "how-to" / "reports.md").resolve()
    for dialog in window.findChildren(QDialog):
        dialog.close()


@pytest.mark.sampled
def test_twenty_languages_later_there_is_one_window(window, qtbot):
    session = window.session
    session.texts.add_text("A text with some words in it. " * 40, "text")
    session.audits.audit()
    item = session.texts.current
    qtbot.waitUntil(lambda: item.audit is not None and not session.jobs.model.busy)
    window.selection.select_token(90)
    counts = []
    for turn in range(20):
        window.set_language(("de", "en")[turn % 2])
        settle()
        if turn % 2:
            counts.append((len(window.findChildren(QWidget)), len(QApplication.topLevelWidgets())))
    assert counts == [counts[0]] * 10
    assert (window.selection.token, session.texts.current) == (90, item)
    window.toggle_results()
    window.set_language("de")
    settle()
    assert window.results.isVisible()
    session.texts.touch(item)  # nobody of before is told, or this would fail
    session.chosen.changed.emit()
    session.noticed.emit("said")
    assert window.status.words.text() == "said"

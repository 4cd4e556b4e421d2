"""What the window says when something fails: what happened, what is safe, and one button."""

import pytest
from PySide6.QtWidgets import QDialog, QPushButton

from pura.base.errors import ModelError
from pura.caselog import CaseLog, open_case, save_audit
from pura.caselog.log import CASE_LOG
from pura_audit.session.keeper import Keeper
from pura_audit.stores.models import ModelsDialog


def fail(window, qtbot, engine, text, error):
    engine.error = error
    window.session.texts.add_text(text, "memo")
    window.audit()
    qtbot.waitUntil(lambda: window.session.texts.current.state == "failed")
    return window.work.error


def mains(view) -> list[str]:
    """The words of the buttons that ask to be pressed."""
    buttons = view.findChildren(QPushButton)
    return [b.text() for b in buttons if b.isVisible() and b.property("role") == "main"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_crash_in_the_worker(start, qtbot, engine, text, language):
    window = start(language=language, begin_audits=False)
    view = fail(window, qtbot, engine, text, RuntimeError("crash"))
    assert "RuntimeError" in view.what.text()
    assert {"en": "findings are safe", "de": "Befunde bleiben erhalten"}[
        language
    ] in view.safe.text()
    assert view.way.text()
    assert mains(view) == [{"en": "Try again", "de": "Noch einmal versuchen"}[language]]
    engine.error = None
    view.again.click()
    qtbot.waitUntil(lambda: window.session.texts.current.state == "done")


@pytest.mark.parametrize("code", ["model-missing", "model-gone"])
def test_a_model_that_is_missing_is_put_back_first(window, qtbot, engine, text, code):
    view = fail(window, qtbot, engine, text, ModelError("model.gone", name="tiny", code=code))
    assert mains(view) == ["Models …"]
    assert "pura model" not in view.way.text()  # no command where there is a button
    view.again.click()
    [dialog] = (d for d in window.findChildren(QDialog) if d.isVisible())
    assert isinstance(dialog, ModelsDialog)


def test_a_stopped_audit_says_what_is_safe(window, qtbot, engine, text):
    engine.gate.clear()
    window.session.texts.add_text(text, "memo")
    window.audit()
    qtbot.waitUntil(engine.entered.is_set)
    window.work.busy.cancel.click()
    qtbot.waitUntil(lambda: window.session.texts.current.state == "cancelled")
    assert "other findings are safe" in window.work.ready.words.text()
    assert window.header.audit.isEnabled()


def test_a_finding_that_a_full_disk_does_not_take(window, qtbot, monkeypatch, text):
    def full(*_: object) -> None:
        raise CASE_LOG.fault("full", "database.full-hint")

    session = window.session
    with monkeypatch.context() as disk:
        disk.setattr(Keeper, "_saving", full)
        session.texts.add_text(text, "memo")
        window.audit()
        item = session.texts.current
        qtbot.waitUntil(lambda: item.state == "done")
        said = window.work.answer.note.text()
        assert "not saved: The disk is full. Free some space" in said
        assert "safe here until the window is closed" in said
        assert window.work.answer.steps["save"].property("state") == "next"
    # There is room again: what is saved by hand says no more that it is not.
    with CaseLog(session.cases.path, create=True) as log:
        anna = log.person("Anna")
        save_audit(log, open_case(log, "Thesis", anna).id, item.audit, anna)
    session.cases.changed.emit()
    qtbot.waitUntil(lambda: item.status is not None)
    assert "not saved" not in window.work.answer.note.text()

"""Cases in the window: save, find, look into, four eyes, erase, reopen, report, check."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel

from pura.base import numerals
from pura.base.paths import user_paths
from pura.caselog import (
    LEAVE_OUT,
    CaseLog,
    Person,
    list_cases,
    open_case,
    read_case,
    save_audit,
    set_hold,
)
from pura.usecases.cases import worker_of
from pura_audit.cases.forms import AskDialog
from pura_audit.cases.pane import case_row, text_words
from pura_audit.reports.dialog import ReportDialog
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.widgets.working_dialog import fill_table, make_table
from pura_audit.workbench import opening


def open_log() -> CaseLog:
    return CaseLog(user_paths().caselog, create=True)


def cases() -> tuple[Any, ...]:
    with open_log() as log:
        return list_cases(log)


@pytest.fixture
def filled(window, audit) -> str:
    """A case with two audits, and another one; somebody's name stands in the settings."""
    window.session.settings.update(auditor="Anna")
    with open_log() as log:
        anna = log.person("Anna")
        open_case(log, "Complaint", anna, tags=["press"])
        case = open_case(log, "Thesis", anna, notes="urgent")
        save_audit(log, case.id, replace(audit, id="1" * 32), anna)
        other = replace(audit.input, name="second.txt", sha256="9" * 64)
        save_audit(log, case.id, replace(audit, id="2" * 32, input=other), anna, text=LEAVE_OUT)
        return case.id


@pytest.fixture
def browser(window, filled, qtbot):
    dialog = opening.show_cases(window)
    qtbot.waitUntil(lambda: dialog.pane.case is not None)
    return dialog


def given(qtbot: Any, act: Callable[[], AskDialog], *texts: str) -> None:
    """Fill a small question in and answer it."""
    dialog = act()
    for field, text in zip(dialog.fields, texts, strict=False):
        field.set_text(text)
    assert dialog.ok.isEnabled()
    dialog.ok.click()


def shown(browser: Any) -> Any:
    return browser.pane.case


def last_action() -> str:
    with open_log() as log:
        return list(log.entries())[-1].action


def test_saving_opens_a_case_and_says_so(window, audit, qtbot):
    window.session.texts.add_audit(audit)
    window.actions_by_name["save"].trigger()
    [dialog] = [d for d in window.findChildren(QDialog) if d.isVisible()]
    said = [dialog.save.missing.text()]
    dialog.case.setEditText("Thesis")
    assert not dialog.save.isEnabled()
    said.append(dialog.save.accessibleDescription())
    dialog.who.set_text("Anna")
    said.append(dialog.save.missing.text())
    assert said == ["Still needed: Case · Who saves", "Still needed: Who saves", ""]
    with qtbot.waitSignal(dialog.saved):
        dialog.save.click()
    [case] = cases()
    assert (case.name, case.auditor, case.items[0].mode) == ("Thesis", "Anna", "keep")
    assert "Thesis" in window.status.words.text()
    assert window.session.settings.current.auditor == "Anna"
    worker = worker_of(window.session.environment)
    assert worker.name == "Anna"
    with open_log() as log:
        assert Person(id=worker.id, name="Anna") in log.people()
    again = opening.save_to_case(window)
    qtbot.waitUntil(lambda: again.case.count() == 1)
    assert again.case.currentText() == "Thesis"  # where the last one went
    again.save.click()
    qtbot.waitUntil(again.words.isVisible)
    assert "already" in again.words.text()
    again.reject()


def test_nothing_to_save_is_said(window):
    assert opening.save_to_case(window) is None
    assert "Audit a text first" in window.status.words.text()


def test_several_audits_are_saved_at_once_and_the_text_can_be_left_out(window, audit, qtbot):
    for number in range(3):
        window.session.texts.add_audit(replace(audit, id=f"{number:032x}"))
    dialog = opening.save_to_case(window)
    assert "2" in dialog.all.text()
    dialog.all.setChecked(True)
    dialog.case.setEditText("Batch")
    dialog.who.set_text("Anna")
    dialog.modes.button(2).setChecked(True)
    with qtbot.waitSignal(dialog.saved) as caught:
        dialog.save.click()
    assert caught.args[1] == 3
    assert [item.mode for item in cases()[0].items] == ["leave-out"] * 3


def test_a_sealed_text_opens_with_its_passphrase(window, audit, qtbot):
    window.session.texts.add_audit(audit)
    dialog = opening.save_to_case(window)
    dialog.case.setEditText("Thesis")
    dialog.who.set_text("Anna")
    dialog.modes.button(1).setChecked(True)
    dialog.save.click()
    [ask] = dialog.findChildren(PassphraseDialog)
    for line in (ask.first, ask.again):
        line.setText("a quiet passphrase")
    with qtbot.waitSignal(dialog.saved):
        ask.ok.click()
    browser = opening.show_cases(window)
    qtbot.waitUntil(lambda: browser.pane.case is not None)
    browser.acts.do("open")
    [ask] = browser.findChildren(PassphraseDialog)
    ask.first.setText("another passphrase")
    ask.ok.click()
    qtbot.waitUntil(lambda: bool(ask.words.text()))
    assert ask.first.selectedText() == "another passphrase"
    ask.first.setText("a quiet passphrase")
    before = len(window.session.texts.queue.items)
    ask.ok.click()
    qtbot.waitUntil(lambda: len(window.session.texts.queue.items) == before + 1)
    assert window.session.texts.current.audit.text == audit.text


def test_the_list_is_searched_and_filtered(browser, qtbot):
    assert [case.name for case in browser._cases] == ["Thesis", "Complaint"]
    with qtbot.waitSignal(browser.filled):
        browser.search.setText("second.txt")
    assert [case.name for case in browser._cases] == ["Thesis"]
    with qtbot.waitSignal(browser.filled):
        browser.search.setText("nothing like it")
    assert "No case fits" in browser.none.text()
    assert not browser.pane.isEnabled()
    with qtbot.waitSignal(browser.filled):
        browser.search.clear()
    with qtbot.waitSignal(browser.filled):
        browser.state.setCurrentIndex(browser.state.findData("unreviewed"))
    assert [case.name for case in browser._cases] == ["Thesis"]


def test_an_empty_log_says_what_to_do(window, qtbot):
    browser = opening.show_cases(window)
    qtbot.waitSignal(browser.filled).wait()
    assert "Ctrl+S" in browser.none.text()
    window.session.settings.update(auditor="")
    dialog = browser.ask_new()
    dialog.fields[0].set_text("Thesis")
    assert dialog.ok.missing.text() == "Still needed: Your name"  # of nobody the log takes nothing
    dialog.reject()
    given(qtbot, browser.ask_new, "Thesis", "urgent", "Anna")
    qtbot.waitUntil(lambda: browser.pane.case is not None)
    assert shown(browser).notes[0].text == "urgent"
    assert window.session.settings.current.auditor == "Anna"


def test_audits_open_without_a_model(window, browser, audit, qtbot):
    assert browser.pane.items.model().rowCount() == 2
    browser.pane.items.selectRow(0)
    browser.pane.buttons["open"].click()
    qtbot.waitUntil(lambda: window.session.texts.current is not None)
    assert window.session.texts.current.audit.text == audit.text
    assert window.session.texts.current.audit.id == "1" * 32
    assert last_action() == "text-opened"


def test_days_and_times_read_as_in_findings(browser):
    case, pane = shown(browser), browser.pane
    day = numerals.date(case.opened, "en")
    minute = f"{day}, {case.opened[11:16]} UTC"
    assert pane.line.text() == f"Opened {minute} by Anna"
    assert pane.notes.toPlainText().startswith(f"{minute} · Anna")
    assert pane.history.model().cell(pane.history.model().rowCount() - 1, 1) == minute
    assert browser.table.model().cell(0, 2) == numerals.date(case.changed, "en")
    tip = browser.table.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == case.name  # beside the day there is little room for it


def test_notes_tags_and_names(browser, qtbot):
    case = shown(browser)
    given(qtbot, lambda: browser.acts.ask_note(case), "second thoughts")
    qtbot.waitUntil(lambda: len(shown(browser).notes) == 2)
    assert "second thoughts" in browser.pane.notes.toPlainText()
    given(qtbot, lambda: browser.acts.ask_tags(case), "a, b")
    qtbot.waitUntil(lambda: shown(browser).tags == ("a", "b"))
    given(qtbot, lambda: browser.acts.ask_name(case), "Diploma")
    qtbot.waitUntil(lambda: shown(browser).name == "Diploma")
    given(qtbot, lambda: browser.acts.ask_name(case), "Complaint")
    qtbot.waitUntil(lambda: "“Complaint” is taken" in browser.words.text())


def test_custody_is_put_on_record(browser, qtbot):
    dialog = browser.acts.ask_event(shown(browser))
    assert not dialog.ok.isEnabled()
    dialog.kind.setCurrentIndex(dialog.kind.findData("item-transferred"))
    dialog.details.set_text("to the laboratory")
    dialog.taken.set_text("Béla")
    dialog.ok.click()
    qtbot.waitUntil(lambda: last_action() == "item-transferred")
    qtbot.waitUntil(lambda: browser.pane.history.model().index(0, 3).data() == "Item handed on")


def test_four_eyes(browser, filled, qtbot):
    browser.pane.items.selectRow(0)
    dialog = browser.acts.ask_review(shown(browser))
    assert not dialog.confirm.isEnabled()
    dialog.who.set_text("anna")
    dialog.recomputed.set_text("the evidence")
    dialog.confirm.click()
    qtbot.waitUntil(dialog.words.isVisible)
    assert "Two people" in dialog.words.text()
    dialog.who.set_text("Béla")
    with qtbot.waitSignal(dialog.accepted):
        dialog.confirm.click()
    qtbot.waitUntil(lambda: shown(browser).items[0].review is not None)
    index = browser.pane.items.model().index(0, 5)
    assert index.data() == "confirmed by Béla"
    with open_log() as log:
        assert read_case(log, filled).items[0].review.state == "confirmed"


def test_a_hold_forbids_erasing_and_erasing_asks_for_a_reason(browser, qtbot):
    case = shown(browser)
    dialog = browser.acts.ask_erase(case, text_only=False)
    assert not dialog.ok.isEnabled()
    assert not dialog.ok.isDefault()
    dialog.reject()
    given(qtbot, lambda: browser.acts.ask_hold(case), "court")
    qtbot.waitUntil(lambda: shown(browser).held)
    assert not browser.pane.more["erase"].isEnabled()
    given(qtbot, lambda: browser.acts.ask_hold(shown(browser)), "settled")
    qtbot.waitUntil(lambda: not shown(browser).held)
    given(qtbot, lambda: browser.acts.ask_erase(case, text_only=True), "kept long enough")
    qtbot.waitUntil(lambda: "1 thing was erased" in browser.words.text())
    given(qtbot, lambda: browser.acts.ask_erase(case, text_only=False), "article 17")
    qtbot.waitUntil(lambda: shown(browser).name is None)
    assert browser.pane.items.model().index(0, 3).data() == "record erased"
    assert not browser.pane.buttons["open"].isEnabled()


def test_a_closed_case_takes_nothing_more(browser, qtbot):
    browser.acts.do("close")
    qtbot.waitUntil(lambda: shown(browser).closed)
    assert not browser.pane.buttons["note"].isEnabled()
    assert not browser.pane.buttons["review"].isEnabled()
    browser.acts.do("close")
    qtbot.waitUntil(lambda: not shown(browser).closed)


def test_a_case_goes_out_and_comes_in(window, browser, tmp_path, monkeypatch, qtbot):
    path = tmp_path / "thesis.puracase"
    browser.acts.export_to(shown(browser), path)
    qtbot.waitUntil(lambda: "Exported" in browser.words.text())
    browser.import_file(path)
    qtbot.waitUntil(lambda: "already" in browser.words.text())
    browser.import_file(tmp_path / "missing")
    qtbot.waitUntil(lambda: "cannot be read" in browser.words.text())


def test_an_incomplete_case_says_so_in_the_list_at_its_head_and_beside_the_audit(
    window, filled, qtbot
):
    with open_log() as log:
        entry = read_case(log, filled).items[0].entry
        log.db.execute("DELETE FROM kept WHERE seq = ? AND field = 'record'", (entry.seq,))
    dialog = opening.show_cases(window)
    qtbot.waitUntil(lambda: dialog.pane.case is not None)
    said = "\n".join(one.text() for one in dialog.findChildren(QLabel))
    assert "The case is incomplete: one thing that its entries commit to is missing" in said
    assert f"record ({entry.seq})" in said
    with open_log() as log:
        case = read_case(log, filled)
    assert case_row(case)[0] == "Thesis (incomplete)"
    assert [text_words(item) for item in case.items] == ["record missing", "left out"]


def test_two_audits_are_compared(window, browser, qtbot):
    browser.pane.items.selectAll()
    assert browser.pane.buttons["compare"].isEnabled()
    with qtbot.waitSignal(browser.compare_wanted) as caught:
        browser.pane.buttons["compare"].click()
    assert [one.id for one in caught.args[0]] == ["1" * 32, "2" * 32]


def test_a_report_of_a_case_knows_it_and_is_noted(window, browser, tmp_path, qtbot):
    browser.pane.items.selectRow(0)
    browser.pane.buttons["report"].click()
    qtbot.waitUntil(lambda: bool(window.findChildren(ReportDialog)))
    [dialog] = window.findChildren(ReportDialog)
    request = dialog.form.request()
    assert request.case == "Thesis"
    assert request.parties.examiner == "Anna"
    assert request.log.startswith("head ")
    with qtbot.waitSignal(dialog.saved):
        dialog.save_to(tmp_path / "report.pdf")
    qtbot.waitUntil(lambda: last_action() == "report-drafted")
    qtbot.waitUntil(lambda: "noted the report" in window.status.words.text())
    dialog.reject()


def test_the_log_is_checked_and_a_wrong_head_is_said(browser, qtbot):
    dialog = browser.acts.check_log()
    qtbot.waitUntil(lambda: dialog.checks is not None)
    assert {check.state for check in dialog.checks} == {"good", "notice"}
    assert last_action() == "log-verified"
    dialog.head.set_text("nonsense")
    dialog.again.click()
    qtbot.waitUntil(lambda: "not the head" in dialog.head.wrong.text())
    dialog.head.set_text("3:" + "a" * 64)
    dialog.again.click()
    qtbot.waitUntil(lambda: dialog.checks is not None)
    assert "wrong" in dialog.words.text()
    assert [check.key for check in dialog.checks if check.state == "bad"] == ["head.other"]
    dialog.accept()


def test_work_on_the_log_is_never_done_in_the_windows_thread(window, browser, qtbot):
    from PySide6.QtCore import QThread

    names: list[str] = []
    browser.write(lambda log: names.append(QThread.currentThread().objectName()))
    qtbot.waitUntil(lambda: bool(names))
    assert names == ["cases"]


def test_a_log_that_cannot_be_opened_is_said(window, qtbot):
    path = user_paths().caselog
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("this is no log " * 100)
    browser = opening.show_cases(window)
    qtbot.waitUntil(lambda: "not a case log" in browser.words.text())


def test_the_log_of_another_program_is_waited_for(window, browser, filled, qtbot):
    with open_log() as log, log.writing():
        anna = log.person("Anna")
        given(qtbot, lambda: browser.acts.ask_note(shown(browser)), "meanwhile")
        qtbot.wait(150)
        assert len(shown(browser).notes) == 1
        set_hold(log, filled, anna, held=True, reason="court")
    qtbot.waitUntil(lambda: len(shown(browser).notes) == 2)
    assert shown(browser).held


def test_the_name_in_the_settings(window):
    dialog = opening.show_settings(window)
    line = dialog.auditor  # type: ignore[attr-defined]
    line.setText("  Anna   Beispiel ")
    line.editingFinished.emit()
    assert window.session.settings.current.auditor == "Anna Beispiel"
    dialog.accept()


def test_in_a_narrow_table_words_come_before_air(qtbot):
    table = make_table("Names")
    qtbot.addWidget(table)
    heads, rows = ("First", "Second", "Third", "Last"), [("some words",) * 4]
    table.resize(900, 200)
    table.show()
    fill_table(table, heads, rows)
    first, last = (table.sizeHintForColumn(column) for column in (0, 3))
    assert table.columnWidth(0) > first
    table.resize(3 * first + last + 12, 200)
    fill_table(table, heads, rows)
    assert table.columnWidth(3) >= last

"""The steps of a finding: who and when, what is next, why not yet; versions; names of files."""

from typing import Any

import pytest
from PySide6.QtWidgets import QDialog, QFileDialog

from pura.caselog import CaseLog, list_cases, sign_off
from pura.caselog.cases import UNFILED
from pura_audit.cases.forms import ReviewDialog
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.workbench import opening
from pura_audit.workbench.details import CompareDialog


@pytest.fixture
def examined(window: Any, qtbot: Any, text: str) -> Item:
    session = window.session
    session.texts.add_text(text, "memo")
    session.audits.audit()
    item = session.texts.queue.items[0]
    qtbot.waitUntil(lambda: item.state is ItemState.DONE and item.status is not None)
    return item


def dialogs(window: Any) -> list[QDialog]:
    return [d for d in window.findChildren(QDialog) if d.isVisible()]


def test_a_finding_says_what_is_next_and_why_a_step_waits(window, examined, qtbot, paths):
    answer = window.work.answer
    qtbot.waitUntil(lambda: bool(answer.next.text()))
    assert answer.next.text() == "Ask a second person"
    answer.steps["sign"].click()
    assert window.status.words.text() == "Sign the final report. There is none yet."
    assert dialogs(window) == []
    with CaseLog(paths.caselog) as log:
        [case] = [case for case in list_cases(log) if case.name == UNFILED]
        sign_off(log, case.items[0], log.person("Bert"), agree=True, recomputed="All of it.")
    window.session.cases.changed.emit()
    qtbot.waitUntil(lambda: "report" in answer.next.text())
    assert "Confirmed by Bert on" in answer.steps["review"].toolTip()
    assert answer.next.text() == "Make the report"


def test_a_new_examination_of_the_same_bytes_is_a_version(window, examined, qtbot):
    answer = window.work.answer
    assert answer.versions.isHidden()
    window.actions_by_name["versions"].trigger()
    assert "no earlier examination" in window.status.words.text()
    first = examined.audit
    window.audit_current()
    qtbot.waitUntil(lambda: examined.status is not None and examined.status.version == 2)
    qtbot.waitUntil(answer.versions.isVisible)
    assert answer.versions.text() == "Version 2: compare with the earlier one"
    answer.versions.click()
    qtbot.waitUntil(lambda: bool(window.findChildren(CompareDialog)))
    (dialog,) = window.findChildren(CompareDialog)
    shown = [audit.id for audit in dialog._audits]
    assert shown == [examined.audit.id, first.id]
    assert "Nothing differs" in dialog.words.text()
    dialog.close()


def test_who_works_here_is_asked_once(window, examined, qtbot):
    first = opening.save_to_case(window)
    assert first.who.isVisible()
    first.case.setEditText("Thesis")
    first.who.set_text("Anna")
    with qtbot.waitSignal(first.saved):
        first.save.click()
    again = opening.save_to_case(window)
    assert again.who.isHidden()
    assert again.other.text() == "Saved by Anna: change"
    assert again.who.text == "Anna"
    again.other.click()
    assert again.who.isVisible()
    again.close()
    report = opening.make_report(window)
    assert report.form.parties.fields["examiner"].text == "Anna"
    report.done(0)
    with CaseLog(window.session.cases.path) as log:
        [case] = [case for case in list_cases(log) if case.name == "Thesis"]
    own = ReviewDialog(window.session.cases, case, case.items[0], window, reviewer="Anna")
    assert own.who.text == ""  # another person has to look
    other = ReviewDialog(window.session.cases, case, case.items[0], window, reviewer="Bert")
    assert other.who.text == "Bert"
    for dialog in (own, other):
        dialog.done(0)


def test_the_files_of_draft_final_and_signed_report_have_other_names(window, examined, tmp_path):
    def suggested(asks: Any, act: Any) -> str:
        act()
        (question,) = asks.findChildren(QFileDialog)
        name = question.selectedFiles()[0].rpartition("/")[2]
        question.setParent(None)
        question.deleteLater()
        return name

    report = opening.make_report(window)
    report.form.report.number.set_text("R-7")
    assert suggested(report, report.ask_where) == "R-7-draft.pdf"
    report.form.report.final.setChecked(True)
    report.form.parties.fields["authoriser"].set_text("Carla")
    report.preview.failure = None
    assert suggested(report, report.ask_where) == "R-7-final.pdf"
    annex = report.files.further(tmp_path / "R-7-final.pdf")["annex"]
    assert annex.name == "R-7-final-sealed.pdf"
    report.done(0)
    sign = opening.sign_report(window, tmp_path / "R-7-final.pdf")
    assert suggested(sign, sign._ask_to) == "R-7-signed.pdf"
    sign.close()

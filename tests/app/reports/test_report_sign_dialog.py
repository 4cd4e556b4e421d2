"""The window “Sign a report …”, with the real signing behind it."""

import hashlib
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typst
from PySide6.QtWidgets import QApplication

from pura.caselog import CaseLog, open_case, record_report
from pura.caselog.verify import verify_log
from pura.report.check import check_report
from pura_audit.workbench import opening


@pytest.fixture
def desk(tmp_path, certificate) -> Path:
    """A PDF and a certificate."""
    shutil.copy(certificate, tmp_path)
    (tmp_path / "r.pdf").write_bytes(typst.compile(b"#set document(date: none)\nHello"))
    return tmp_path


def opened(window: Any, desk: Path, passphrase: str) -> Any:
    dialog: Any = opening.sign_report(window)
    assert not dialog.sign_button.isEnabled()
    dialog.take(report=desk / "r.pdf", certificate=desk / "org.p12")
    assert not dialog.sign_button.isEnabled()
    dialog.passphrase.setText(passphrase)
    assert dialog.sign_button.isEnabled()
    return dialog


def test_a_report_is_signed(window, desk, qtbot):
    dialog = opened(window, desk, "Grüße 7")
    dialog.seal.setChecked(True)
    dialog.sign_to(desk / "signed.pdf")
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.passphrase.text() == ""
    assert "signed as Reports Desk" in dialog.words.text()
    signed = (desk / "signed.pdf").read_bytes()
    keys = {one.key for one in check_report(signed, moment=datetime.now(UTC)).checks}
    assert {"integrity.intact", "coverage.whole", "changes.none"} <= keys


def test_a_different_examiner_is_named_beside_who_signs(window, desk, qtbot):
    named = b'#set document(date: none, author: "A. Example")\nHello'
    (desk / "r.pdf").write_bytes(typst.compile(named))
    dialog = opened(window, desk, "Grüße 7")
    dialog.sign_to(desk / "signed.pdf")
    qtbot.waitUntil(lambda: not dialog.busy)
    assert "signed as Reports Desk" in dialog.words.text()
    assert dialog.words.text().endswith("It names A. Example as examiner.")
    signed = (desk / "signed.pdf").read_bytes()
    checks = {one.key: one for one in check_report(signed, moment=datetime.now(UTC)).checks}
    who = checks["signer.who-examiner"].values
    assert "Reports Desk" in str(who["subject"])
    assert who["examiner"] == "A. Example"


def test_signing_does_not_wait_for_an_audit_that_runs(window, desk, engine, text, qtbot):
    engine.gate.clear()
    window.session.texts.add_text(text)
    window.audit()
    qtbot.waitUntil(engine.entered.is_set)
    dialog = opened(window, desk, "Grüße 7")
    dialog.sign_to(desk / "signed.pdf")
    qtbot.waitUntil(lambda: not dialog.busy)
    assert (desk / "signed.pdf").is_file()
    assert window.session.texts.queue.items[0].active


def test_the_case_log_notes_it_and_its_head_is_signed_too(window, desk, paths, qtbot):
    with CaseLog(paths.caselog, create=True) as log:
        anna = log.person("Anna")
        case = open_case(log, "Thesis", anna)
        digest = hashlib.sha256((desk / "r.pdf").read_bytes()).hexdigest()
        record_report(
            log,
            case.id,
            anna,
            action="report-issued",
            number="1",
            sha256=digest,
            items=[],
            final=True,
        )
    dialog = opened(window, desk, "Grüße 7")
    assert dialog.log.isChecked()
    with qtbot.waitSignal(window.session.cases.changed):  # rows look again
        dialog.sign_to(desk / "signed.pdf")
    assert "signed as Reports Desk" in dialog.words.text()
    with CaseLog(paths.caselog, read_only=True) as log:
        noted, head = list(log.entries())[-2:]
        assert (noted.action, noted.case, head.action) == ("report-signed", case.id, "head-signed")
        signed = hashlib.sha256((desk / "signed.pdf").read_bytes()).hexdigest()
        assert noted.facts["sha256"] == signed
        assert {check.key for check in verify_log(log)} >= {"signatures.untrusted"}


def test_a_wrong_passphrase_is_told_and_writes_nothing(window, desk, qtbot):
    dialog = opened(window, desk, "another")
    dialog.reason.setText("Approved")
    QApplication.processEvents()  # the layout has settled
    before = dialog.height()
    dialog.sign_to(desk / "signed.pdf")
    qtbot.waitUntil(lambda: not dialog.busy)
    assert "no passphrase opens it" in dialog.words.text()
    assert not (desk / "signed.pdf").exists()
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: dialog.height() > before)
    qtbot.waitUntil(lambda: dialog.reason.height() >= dialog.reason.sizeHint().height())
    assert dialog.passphrase.selectedText() == "another"
    assert dialog.reason.text() == "Approved"


def test_a_draft_is_called_one_and_the_unsigned_report_is_never_replaced(window, desk, qtbot):
    before = (desk / "r.pdf").read_bytes()
    draft = b'#set document(date: none, keywords: ("pura-draft",))\nHello'
    (desk / "draft.pdf").write_bytes(typst.compile(draft))
    dialog = opened(window, desk, "Grüße 7")
    dialog.take(report=desk / "draft.pdf")
    qtbot.waitUntil(dialog.draft.isVisible)
    assert "is a draft" in dialog.draft.text()
    dialog.take(report=desk / "r.pdf")
    qtbot.waitUntil(dialog.draft.isHidden)
    dialog.sign_to(desk / "r.pdf")
    assert "another name" in dialog.words.text()
    assert (desk / "r.pdf").read_bytes() == before

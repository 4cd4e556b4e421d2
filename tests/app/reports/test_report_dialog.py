"""The window “Report …”: real PDFs, made in the real thread and read back."""

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pikepdf
import pypdfium2
import pytest
import typst
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from tests.app.records import issued, make_audit
from tests.core.programs import for_owner_alone

from pura.documents import read_document
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.surroundings import KeyFacts
from pura.report import typesetter
from pura.report.blocks import page_count, typeset
from pura.report.request import EXCERPT, MAX_LOGO, ItemNotes, ReportRequest
from pura.scheme import SecretKey
from pura.usecases.reports import Built
from pura_audit.platform.settings import SettingsFile
from pura_audit.reports import dialog as report_dialog
from pura_audit.reports import preview
from pura_audit.reports.sign import ReportSignDialog
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.workbench import opening


def words_of(pdf: Path | bytes) -> str:
    with pypdfium2.PdfDocument(pdf) as document:
        pages = [page.get_textpage().get_text_bounded() for page in document]
    # A word that is broken at the end of a line carries a mark of that.
    return " ".join(" ".join(pages).replace("\ufffe", "").split())


def record_of(pdf: Path) -> bytes:
    with pikepdf.open(pdf) as document:
        return document.attachments["record.json"].get_file().read_bytes()


def settled(dialog: Any) -> bool:
    preview = dialog.preview
    return preview.built is not None and not preview.renewing and not preview.view.missing()


@pytest.fixture(autouse=True)
def quick(request, monkeypatch):
    """One test has the child that typesets and the usual pause; the others make theirs here."""
    if request.node.originalname != test_the_preview_shows_every_page_of_the_report.__name__:
        monkeypatch.setattr(typesetter, "apart", lambda heartbeat: typeset)
        monkeypatch.setattr(preview, "WAIT_MS", 150)


@pytest.fixture
def opened(window, audit, qtbot) -> Callable[..., Any]:
    def make(*audits: Audit, base: ReportRequest | None = None, every: bool = False) -> Any:
        rows = [(one.input.name, one) for one in audits or (audit,)]
        dialog: Any = opening.make_report(window, rows, base, tick_all=every)
        qtbot.waitUntil(lambda: settled(dialog))
        return dialog

    return make


@pytest.fixture
def second(audit) -> Audit:
    return replace(audit, id="1" * 32, input=replace(audit.input, name="letter.txt"))


@pytest.fixture
def named(audit) -> Audit:
    return issued(audit, audit.payload.bits, who="Jane Roe")


def saved(dialog: Any, path: Path, qtbot: Any) -> None:
    with qtbot.waitSignal(dialog.saved) as signal:
        dialog.save_to(path)
    built, to = signal.args
    assert built.report.pdf == path.read_bytes()
    assert isinstance(built.request, ReportRequest)
    assert to == path


def test_the_preview_shows_every_page_of_the_report(opened, qtbot):
    dialog = opened()
    preview, view = dialog.preview, dialog.preview.view
    assert view.pages == page_count(preview.built.report.pdf) > 3
    assert view.accessibleName().endswith(f"Page 1 of {view.pages}")
    assert not preview.previous.isEnabled()
    assert preview.where.text() == f"Page 1 of {view.pages}"
    first = view.grab().toImage()
    preview.next.click()
    assert preview.where.text() == f"Page 2 of {view.pages}"
    qtbot.waitUntil(lambda: settled(dialog))
    assert view.grab().toImage() != first
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.page == view.pages - 1
    assert not preview.next.isEnabled()
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert view.page == view.pages - 2
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.page == 0


def test_pages_are_as_large_as_one_likes_without_waiting_for_an_audit(
    opened, window, engine, qtbot
):
    engine.gate.clear()
    window.session.texts.add_text("Some text that is audited for a long time.")
    window.session.audits.audit()
    qtbot.waitUntil(engine.entered.is_set)
    dialog = opened()
    assert window.session.jobs.model.busy
    view, zoom = dialog.preview.view, dialog.preview.zoom
    for fit in ("page", "actual", "width"):
        zoom.setCurrentIndex(zoom.findData(fit))
        zoom.activated.emit(zoom.currentIndex())
        assert view.fit == fit
        if fit == "page":
            assert view.scale(0) * 842 <= view.viewport().height()
        if fit == "actual":
            assert view.dpi(0) == round(96 * view.devicePixelRatioF())
        qtbot.waitUntil(lambda: settled(dialog))


def test_a_change_renews_the_preview_and_keeps_the_old_one_until_then(opened, qtbot):
    dialog = opened()
    before = dialog.preview.built
    dialog.form.report.case.widget.setText("2026-117 Ω")
    assert dialog.preview.built is before
    assert "being renewed" in dialog.preview.state.text()
    qtbot.waitUntil(lambda: settled(dialog))
    assert dialog.preview.built is not before
    assert dialog.preview.state.text() == ""
    assert "case 2026-117 Ω" in words_of(dialog.preview.built.report.pdf)


def test_many_quick_changes_make_one_report(opened, qtbot, monkeypatch):
    dialog = opened()
    made: list[str] = []
    real = report_dialog.build_report

    def counted(*given: Any, request: ReportRequest, **told: Any) -> Built:
        made.append(request.case)
        return real(*given, request=request, **told)

    monkeypatch.setattr(report_dialog, "build_report", counted)
    for end in range(1, 8):
        dialog.form.report.case.widget.setText("2026-117"[:end])
    qtbot.waitUntil(lambda: settled(dialog))
    assert made == ["2026-11"]


def test_everything_that_is_filled_in_reaches_the_report(opened, qtbot):
    dialog = opened()
    form = dialog.form
    told = []
    for group in (form.parties, form.item, form.remarks):
        for name, words in group.fields.items():
            words.set_text(f"Told {name}")
            told.append(f"Told {name}")
    form.report.number.set_text("R-7")
    form.report.relation.setCurrentIndex(form.report.relation.findData("supplements"))
    form.report.replaces.set_text("R-6")
    form.report.reason.set_text("A date was wrong")
    form.layout_.paper.setCurrentIndex(1)
    qtbot.waitUntil(lambda: settled(dialog))
    pdf = dialog.preview.built.report.pdf
    said = words_of(pdf)
    assert [words for words in [*told, "R-7", "R-6", "A date was wrong"] if words not in said] == []
    assert "Draft" in said
    with pypdfium2.PdfDocument(pdf) as document:
        assert document[0].get_width() == 612


def test_a_base_fills_the_form(opened):
    base = ReportRequest(case="C-1", item=ItemNotes(custody="Held in safe 3"), language="de")
    dialog = opened(base=base)
    assert dialog.form.report.case.text == "C-1"
    assert dialog.form.item.fields["custody"].text == "Held in safe 3"
    assert dialog.preview.built.request.item == base.item
    assert "Held in safe 3" in words_of(dialog.preview.built.report.pdf)
    assert "Entwurf" in words_of(dialog.preview.built.report.pdf)


def test_several_audits_go_into_one_report(opened, audit, second, qtbot, tmp_path):
    dialog = opened(audit, second)
    assert "letter.txt" not in words_of(dialog.preview.built.report.pdf)
    dialog.form.audits.list.item(1).setCheckState(Qt.CheckState.Checked)
    qtbot.waitUntil(lambda: settled(dialog))
    saved(dialog, tmp_path / "two.pdf", qtbot)
    said = words_of(tmp_path / "two.pdf")
    assert "letter.txt" in said
    assert "memo.txt" in said
    held = json.loads(record_of(tmp_path / "two.pdf"))["audits"]
    assert [json_io.from_dict(one).id for one in held] == [audit.id, second.id]


def test_no_audit_is_said_and_nothing_can_be_saved(opened):
    dialog = opened()
    dialog.form.audits.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert "at least one" in dialog.form.audits.wrong.text()
    assert not dialog.save_button.isEnabled()
    assert not dialog.preview.renewing


def test_the_command_takes_the_audits_of_the_list(window, audit, second):
    action = window.actions_by_name["report"]
    action.trigger()
    assert "needs a finished audit" in window.status.words.text()
    window.session.texts.add_audit(second)
    window.session.texts.add_audit(audit)
    dialog: Any = opening.make_report(window)
    rows = dialog.form.audits.list
    assert [rows.item(i).text().partition(" · ")[0] for i in range(2)] == ["memo.txt", "letter.txt"]
    assert dialog.form.audits.chosen() == (audit,)


# The text


def test_what_is_blacked_out_is_nowhere_in_the_files(opened, audit, qtbot, tmp_path):
    words = max({w for w in audit.text.split() if w.isalpha()}, key=len)
    dialog = opened()
    form = dialog.form
    form.text.mode.setCurrentIndex(form.text.mode.findData("redacted"))
    redaction = form.text.redaction
    place = audit.text.index(words)
    redaction.select(place, place + len(words))
    redaction.everywhere.click()
    assert words in redaction.view.toPlainText()
    for box in (dialog.files.record, dialog.files.tables, dialog.files.html):
        box.setChecked(True)
    qtbot.waitUntil(lambda: settled(dialog))
    saved(dialog, tmp_path / "r.pdf", qtbot)
    files = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert [name for name in files if name.startswith("r")] == [
        "r-memo.txt-00000000-bits.csv",
        "r-memo.txt-00000000-tokens.csv",
        "r.html",
        "r.json",
        "r.pdf",
    ]
    assert words in audit.text
    assert "█" * len(words) in json.loads(record_of(tmp_path / "r.pdf"))["text"]
    assert words not in words_of(tmp_path / "r.pdf").replace(" ", "")
    for name in files:
        if not name.endswith(".pdf"):
            assert words not in (tmp_path / name).read_text(encoding="utf-8")
    assert words.encode() not in record_of(tmp_path / "r.pdf")


def test_black_stretches_follow_characters_and_can_be_taken_back(opened, audit, qtbot):
    text = "One 😀 two\r\nJosé\u202e and 😀 José"
    dialog = opened(replace(audit, text=text + audit.text[len(text) :]))
    group = dialog.form.text
    group.mode.setCurrentIndex(group.mode.findData("redacted"))
    view = group.redaction
    place = text.index("José")
    view.select(place, place + 4)
    assert view.chosen() == (place, place + 4)
    assert view.view.textCursor().selectedText() == "José"
    view.everywhere.click()
    last = text.rindex("José")
    assert view.ranges[:2] == ((place, place + 4), (last, last + 4))
    assert "stretches are blacked out" in view.words.text()
    view.select(place + 1, place + 2)
    view.show_again.click()
    assert view.ranges[:2] == ((place, place + 1), (place + 2, place + 4))
    view.undo_button.click()
    assert view.ranges[0] == (place, place + 4)
    view.select(0, 3)
    qtbot.keyClick(view.view, Qt.Key.Key_Delete)
    assert view.ranges[0] == (0, 3)
    assert dialog.form.request().redactions == view.ranges


# What is wrong


def test_a_forbidden_remark_is_said_below_it_and_nothing_is_lost(opened, qtbot):
    dialog = opened()
    before = dialog.preview.built
    remark = dialog.form.remarks.fields["remark"]
    review = dialog.form.remarks.fields["review"]
    review.set_text("It proves the origin.")
    qtbot.waitUntil(review.wrong.isVisible)
    assert "“proves”" in review.wrong.text()
    review.set_text("The evidence.")
    remark.set_text("This proves the origin.")
    qtbot.waitUntil(lambda: dialog.preview.failure is not None)
    assert "“proves”" in remark.wrong.text()
    assert not remark.wrong.isHidden()
    assert remark.text == "This proves the origin."
    assert dialog.preview.built is before
    assert "before the last change" in dialog.preview.state.text()
    dialog.save_button.click()
    assert "Mend" in dialog.line.words.text()
    remark.set_text("The findings speak for H1.")
    qtbot.waitUntil(lambda: settled(dialog))
    assert remark.wrong.isHidden()
    assert dialog.preview.failure is None
    assert "The findings speak for H1." in words_of(dialog.preview.built.report.pdf)


def test_too_long_a_field_and_a_bad_date_are_said_in_place(opened, qtbot):
    dialog = opened()
    question = dialog.form.parties.fields["question"]
    question.set_text("x" * 4001)
    assert "4,001 characters" in question.wrong.text().replace("\N{NARROW NO-BREAK SPACE}", ",")
    assert dialog.form.parties.opened
    assert not dialog.preview.renewing
    question.set_text("Short")
    assert question.wrong.isHidden()
    dialog.form.report.issued.set_text("tomorrow")
    assert "2026-11-21" in dialog.form.report.issued.wrong.text()
    dialog.form.report.issued.set_text("2027-01-31")
    qtbot.waitUntil(lambda: settled(dialog))
    assert "31 January 2027" in words_of(dialog.preview.built.report.pdf)


def test_a_bad_logo_is_said_in_place(opened, qtbot, tmp_path):
    dialog = opened()
    for name, content in (("none", b"GIF89a"), ("gone", None), ("large", bytes(MAX_LOGO + 1))):
        path = tmp_path / f"logo-{name}.png"
        if content is not None:
            path.write_bytes(content)
        dialog.form.layout_.take_logo(path)
        qtbot.waitUntil(lambda: dialog.preview.failure is not None)
        assert "logo" in dialog.form.layout_.logo_field.wrong.text(), name
        dialog.form.layout_.drop.click()
        qtbot.waitUntil(lambda: settled(dialog))
        assert dialog.form.layout_.logo_field.wrong.isHidden(), name


# Saving


def test_what_is_saved_is_what_was_shown_and_can_be_signed(opened, window, qtbot, tmp_path):
    dialog = opened()
    shown = dialog.preview.built.report
    saved(dialog, tmp_path / "r.pdf", qtbot)
    assert (tmp_path / "r.pdf").read_bytes() == shown.pdf
    assert record_of(tmp_path / "r.pdf") == shown.json
    assert "“r.pdf” is saved." in dialog.line.words.text()
    assert not list(tmp_path.glob("*.html"))
    dialog.sign_button.click()
    (sign,) = window.findChildren(ReportSignDialog)
    assert sign.report == tmp_path / "r.pdf"
    sign.reject()
    dialog.form.report.case.widget.setText("another")
    assert not dialog.sign_button.isVisible()


def test_nothing_is_replaced_without_being_asked(opened, qtbot, tmp_path):
    dialog = opened()
    dialog.files.record.setChecked(True)
    (tmp_path / "r.json").write_text("mine")
    dialog.save_to(tmp_path / "r.pdf")
    qtbot.waitUntil(lambda: dialog.line.question is not None)
    box: QMessageBox = dialog.line.question
    assert "“r.json”" in box.text()
    assert box.defaultButton().text() == "Keep it"
    box.defaultButton().click()
    assert (tmp_path / "r.json").read_text() == "mine"
    assert not (tmp_path / "r.pdf").exists()
    dialog.line.question = None
    dialog.save_to(tmp_path / "r.pdf")
    qtbot.waitUntil(lambda: dialog.line.question is not None)
    with qtbot.waitSignal(dialog.saved):
        dialog.line.question.buttons()[0].click()
    assert (tmp_path / "r.json").read_bytes() == record_of(tmp_path / "r.pdf")


def test_saving_can_be_stopped_before_anything_is_written(opened, qtbot, tmp_path, monkeypatch):
    dialog = opened()
    gate, write = threading.Event(), report_dialog.write_report
    monkeypatch.setattr(
        report_dialog, "write_report", lambda files, **told: gate.wait(60) and write(files, **told)
    )
    dialog.save_to(tmp_path / "r.pdf")
    assert not dialog.left.isEnabled()
    dialog.line.stop.click()
    gate.set()
    qtbot.waitUntil(lambda: not dialog.line.busy)
    assert "nothing was written" in dialog.line.words.text()
    assert not (tmp_path / "r.pdf").exists()
    assert dialog.left.isEnabled()


def test_a_folder_that_refuses_is_told(opened, qtbot, tmp_path):
    (tmp_path / "file").write_text("no folder")
    dialog = opened()
    dialog.save_to(tmp_path / "file" / "r.pdf")
    qtbot.waitUntil(lambda: "cannot be written" in dialog.line.words.text())
    assert dialog.save_button.isEnabled()
    assert not dialog.sign_button.isVisible()


def test_names_go_into_an_annex_of_their_own(opened, named, qtbot, tmp_path):
    dialog = opened(named)
    assert not dialog.files.annex.isHidden()
    assert dialog.files.locks
    dialog.files.lock.setChecked(False)
    saved(dialog, tmp_path / "r.pdf", qtbot)
    annex = tmp_path / "r-sealed.pdf"
    assert "Jane Roe" in words_of(annex)
    assert for_owner_alone(annex)
    assert "Jane Roe" not in words_of(tmp_path / "r.pdf")
    assert b"Jane Roe" not in record_of(tmp_path / "r.pdf")
    assert "“r-sealed.pdf”" in dialog.line.words.text()


def test_the_annex_opens_with_its_passphrase_only(opened, named, qtbot, tmp_path):
    dialog = opened(named)
    dialog.save_to(tmp_path / "r.pdf")
    [ask] = dialog.findChildren(PassphraseDialog)
    for line in (ask.first, ask.again):
        line.setText("grüner Baum am Fluss")
    with qtbot.waitSignal(dialog.saved):
        ask.ok.click()
    annex = tmp_path / "r-sealed.pdf"
    with pytest.raises(pikepdf.PasswordError):
        pikepdf.open(annex)
    with pikepdf.open(annex, password="grüner Baum am Fluss") as document:
        assert document.encryption.bits == 256
        plain = document.attachments["annex.pdf"].get_file().read_bytes()
    assert "Jane Roe" in words_of(plain)
    printed = words_of(tmp_path / "r.pdf").replace(" ", "").replace("\u200b", "")
    assert hashlib.sha256(plain).hexdigest() in printed
    assert for_owner_alone(annex)


def test_of_the_organisation_much_is_remembered_and_of_the_case_nothing(
    opened, window, qtbot, tmp_path
):
    dialog = opened()
    logo = tmp_path / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    fields = dialog.form.parties.fields
    for name in fields:
        fields[name].set_text(f"My {name}")
    dialog.form.report.case.set_text("Secret case")
    dialog.form.remarks.fields["standing"].set_text("Kept for ten years.")
    dialog.form.layout_.take_logo(logo)
    dialog.form.layout_.language.setCurrentIndex(1)
    dialog.form.layout_.paper.setCurrentIndex(1)
    qtbot.waitUntil(lambda: settled(dialog))
    saved(dialog, tmp_path / "r.pdf", qtbot)
    dialog.reject()
    held = window.session.settings.path.read_text()
    assert "Secret case" not in held
    assert "My customer" not in held
    assert SettingsFile(window.session.settings.path.parent).problems == ()
    again = opened()
    kept = {n: w.text for n, w in again.form.parties.fields.items() if w.text}
    assert kept == {n: f"My {n}" for n in ("organisation", "address", "place", "examiner")}
    assert again.form.report.case.text == ""
    assert again.form.layout_.logo == logo
    assert again.preview.built.request.standing == "Kept for ten years."
    request = again.preview.built.request
    assert (request.language, request.paper, request.logo) == ("de", "us-letter", logo.read_bytes())


def test_closing_asks_when_something_was_filled_in(opened, qtbot):
    dialog = opened()
    dialog.form.report.case.widget.setText("C")
    dialog.reject()
    assert dialog.isVisible()
    with qtbot.waitSignal(dialog.finished):
        dialog._question.buttons()[0].click()


def test_a_report_among_the_texts_is_pointed_out(opened, window, qtbot, tmp_path):
    dialog = opened()
    saved(dialog, tmp_path / "r.pdf", qtbot)
    dialog.reject()
    window.session.texts.add_paths([tmp_path / "r.pdf"])

    def offer() -> QMessageBox | None:
        return next((b for b in window.findChildren(QMessageBox) if b.isVisible()), None)

    qtbot.waitUntil(lambda: offer() is not None)
    box = offer()
    assert "r.pdf" in box.text()
    box.reject()
    assert window.session.texts.current.path == tmp_path / "r.pdf"


def test_what_nobody_authorised_or_confirmed_cannot_be_final(opened, qtbot, tmp_path):
    dialog = opened()
    authoriser = dialog.form.parties.fields["authoriser"]
    dialog.form.report.final.setChecked(True)
    dialog.save_to(tmp_path / "r.pdf")
    assert authoriser.wrong.text()
    assert list(tmp_path.iterdir()) == []
    authoriser.widget.setText("B. Example")
    assert not authoriser.wrong.text()
    assert dialog.form.check()
    qtbot.waitUntil(lambda: dialog.preview.failure is not None)
    assert "no confirmation of exactly this finding" in dialog.preview.failure.words
    dialog.save_to(tmp_path / "r.pdf")
    assert list(tmp_path.iterdir()) == []
    dialog.form.report.final.setChecked(False)
    qtbot.waitUntil(lambda: settled(dialog) and dialog.preview.failure is None)


def test_a_report_on_a_finding_with_a_public_key_stays_a_draft(opened, audit):
    key = KeyFacts(fingerprint=SecretKey(bytes(range(32))).fingerprint, label="Sample")
    dialog = opened(replace(audit, key=key, keys=(key,)))
    group = dialog.form.report
    assert not group.final.isEnabled()
    assert not group.final.isChecked()
    assert key.title in group.stays_draft.text()
    assert not group.stays_draft.isHidden()


def test_another_ending_never_replaces_another_kind_of_file(opened, qtbot, tmp_path):
    (tmp_path / "memo.txt").write_text("mine")
    dialog = opened()
    with qtbot.waitSignal(dialog.saved) as signal:
        dialog.save_to(tmp_path / "memo.txt")
    assert signal.args[1] == tmp_path / "memo.txt.pdf"
    assert (tmp_path / "memo.txt").read_text() == "mine"


def test_each_of_several_texts_is_blacked_out_for_itself(opened, audit, second, qtbot):
    other = replace(second, text=audit.text.swapcase())
    dialog = opened(audit, other, every=True)
    group = dialog.form.text
    group.mode.setCurrentIndex(group.mode.findData("redacted"))
    assert not group.which_field.isHidden()
    assert "In 2 texts" in group.caution.text()
    group.redaction.select(0, 3)
    group.redaction.black.click()
    group.which.setCurrentIndex(1)
    assert group.redaction.text == other.text
    assert group.redaction.ranges == ()
    assert "In 1 text" in group.caution.text()
    group.redaction.select(5, 9)
    group.redaction.black.click()
    assert group.caution.isHidden()
    request = dialog.form.request()
    assert (request.redactions, request.further) == (((0, 3),), (((5, 9),),))
    dialog.form.audits.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert group.which_field.isHidden()
    assert group.redaction.text == other.text
    assert dialog.form.request().redactions == ((5, 9),)
    dialog.form.audits.list.item(0).setCheckState(Qt.CheckState.Checked)
    assert dialog.form.request().redactions == ((0, 3),)
    group.mode.setCurrentIndex(group.mode.findData("full"))
    assert dialog.form.request().redactions == ()


def test_pages_of_a_saved_finding_are_shown_once_its_file_is_given(
    opened, tbcc, sample_key, tmp_path, qtbot
):
    letter, other = tmp_path / "letter.pdf", tmp_path / "other.pdf"
    letter.write_bytes(typst.compile(("The officer read the whole letter. " * 40).encode()))
    other.write_bytes(b"%PDF-")
    document = read_document(letter).chosen[0]
    made = make_audit(document.text, tbcc, sample_key)
    printed = replace(made.input, name="letter.pdf", format="pdf", sha256=document.sha256)
    dialog = opened(replace(made, input=printed))
    group = dialog.form.text
    assert "not shown" in group.pages.text()
    assert "pages are not shown" in words_of(dialog.preview.built.report.pdf)
    dialog.take_originals([other])
    qtbot.waitUntil(lambda: "original of no finding" in group.pages.text())
    dialog.take_originals([letter])
    qtbot.waitUntil(lambda: "are shown" in group.pages.text())
    assert "Page 1 of the original" in words_of(dialog.preview.built.report.pdf)
    mode = group.mode
    mode.setCurrentIndex(mode.findData(EXCERPT))
    assert group.original.isHidden()

"""Nothing is lost: finished audits are in the case log at once, and the list comes back."""

import mailbox
import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pura.base.paths import user_paths
from pura.caselog import CaseLog, list_cases, sign_off
from pura.caselog.cases import UNFILED
from pura.keys import Secret
from pura_audit.cases.forms import ReviewDialog
from pura_audit.session.audits import length
from pura_audit.session.queue_model import ItemState, status_words
from pura_audit.session.record import Journal
from pura_audit.workbench import opening

# The window of the tests in a process of its own: one text finished, one running, one waiting.
CHILD = """
import importlib.util, json, sys
from dataclasses import replace
from pathlib import Path
from pura.caselog import CaseLog, list_cases
from pura.base.paths import user_paths
from pura.scheme import Profile, SecretKey
from pura_audit import application
from pura_audit.session.queue_model import ItemState
from pura_audit.cases.forms import ReviewDialog
from pura_audit.workbench import opening
from PySide6.QtCore import QTimer

here, sample, named = sys.argv[1:4]
spec = importlib.util.spec_from_file_location("stand_in", here)
stand_in = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stand_in)
data = json.loads(Path(sample).read_text())
engine = stand_in.TestEngine(
    Profile.from_dict(data["profile"]), SecretKey.from_hex(data["key_hex"])
)
app = application.make_application()
window = application.make_window(user_paths(), engine=engine, theme="light")
window.show()
session = window.session
journal = user_paths().state / "texts.jsonl"

def step():
    try:
        next(walk)
    except StopIteration:
        return
    QTimer.singleShot(20, step)

def steps():
    while not session.chosen.ready or not journal.exists():
        yield
    session.texts.add_text(data["texts"][0]["text"], "finished")
    session.audits.audit()
    while session.texts.queue.items[0].state is not ItemState.DONE:
        yield
    engine.gate.clear()
    session.texts.add_text(data["texts"][0]["text"], "running")
    session.texts.add_paths([Path(named)])
    while session.texts.queue.items[2].state is not ItemState.READY:
        yield
    session.audits.audit()
    while '"name": "running", "state": "running"' not in journal.read_text():
        yield
    session.texts.show(session.texts.queue.items[2])
    window.work.ready.prompt.setPlainText("Write about the council.")
    session.texts.show(session.texts.queue.items[0])
    item = session.texts.queue.items[0]
    report = opening.make_report(window)
    report.form.remarks.fields["remark"].widget.setPlainText("Seen twice.")
    other = opening.make_report(window, [("another", replace(item.audit, id="1" * 32))])
    other.form.remarks.fields["remark"].widget.setPlainText("Another.")
    with CaseLog(user_paths().caselog) as log:
        [case] = list_cases(log)
    review = ReviewDialog(session.cases, case, case.items[0], window)
    review.open()
    review.recomputed.set_text("Read it again.")

    def noted():
        there = session.drafts.path
        return there.read_text() if there.exists() else ""

    while "council" not in journal.read_text():
        yield
    while not all(words in noted() for words in ("Seen twice", "Another", "Read it")):
        yield
    print("there", flush=True)
    while True:
        yield

walk = steps()
QTimer.singleShot(0, step)
app.exec()
"""


def unfiled() -> Any:
    with CaseLog(user_paths().caselog) as log:
        [case] = [case for case in list_cases(log) if case.name == UNFILED]
        return case


def test_a_killed_program_loses_nothing(start, qtbot, tmp_path, text, engine):
    waiting = tmp_path / "waiting.txt"
    waiting.write_text(text * 3, encoding="utf-8")  # the longest, so that it waits
    here = Path(__file__).parent.parent / "conftest.py"
    sample = Path(__file__).parents[2] / "data" / "samples" / "marked-tbcc.json"
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(here), str(sample), str(waiting)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as child:
        assert child.stdout.readline() == "there\n"
        child.send_signal(signal.SIGKILL)
    window = start()
    session = window.session
    qtbot.waitUntil(lambda: len(session.texts.queue.items) == 3)
    finished, running, wait = session.texts.queue.items
    assert (finished.name, running.name, wait.name) == ("finished", "running", "waiting.txt")
    assert (finished.state, running.state) == (ItemState.DONE, ItemState.INTERRUPTED)
    assert "1 finished, 1 interrupted, 1 ready." in window.status.words.text()
    assert length(wait) > 0  # known before the file is read again
    assert wait.state in (ItemState.READY, ItemState.LOADING)
    assert wait.prompt == "Write about the council."
    session.texts.show(finished)
    qtbot.waitUntil(lambda: finished.audit is not None)
    assert finished.audit.text is not None
    assert engine.asked == []  # the finding came from the case log
    report = opening.make_report(window)
    assert report.form.remarks.fields["remark"].text == "Seen twice."
    assert stat.S_IMODE(session.drafts.path.stat().st_mode) == 0o600
    another = [("another", replace(finished.audit, id="1" * 32))]
    other = opening.make_report(window, another)
    assert other.form.remarks.fields["remark"].text == "Another."
    case = unfiled()
    review = ReviewDialog(session.cases, case, case.items[0], window)
    assert review.recomputed.text == "Read it again."
    assert not review.confirm.isEnabled()  # no name was given yet
    for form in (review, report, other):  # given up: nothing of it is kept
        form.done(0)
    qtbot.waitUntil(lambda: not session.drafts.path.exists())
    window.audit()
    qtbot.waitUntil(lambda: wait.state is ItemState.DONE)
    assert running.state is ItemState.DONE
    assert len(unfiled().items) == 3


def test_a_report_that_is_open_keeps_its_draft(window, qtbot, audit):
    two = [("one", audit), ("two", replace(audit, id="2" * 32))]
    first = opening.make_report(window, two[:1])
    first.form.remarks.fields["remark"].widget.setPlainText("Of one.")
    path = window.session.drafts.path
    qtbot.waitUntil(lambda: path.exists() and "Of one." in path.read_text())
    second = opening.make_report(window, two, tick_all=True)
    assert second.form.remarks.fields["remark"].text == ""
    second.done(0)
    assert "Of one." in path.read_text()
    first.done(0)
    qtbot.waitUntil(lambda: not path.exists())


def test_what_was_kept_readable_goes_when_the_settings_ask_for_less(window, qtbot, audit, paths):
    session = window.session
    session.texts.add_text("Four words and a secret.", "waiting")
    report = opening.make_report(window, [("one", audit)])
    report.form.remarks.fields["remark"].widget.setPlainText("A remark.")
    journal, drafts = Journal(paths.state).path, session.drafts.path
    qtbot.waitUntil(lambda: drafts.exists() and "secret" in journal.read_text())
    session.settings.update(case_text="leave-out")
    qtbot.waitUntil(lambda: not drafts.exists() and "secret" not in journal.read_text())
    assert "waiting" in journal.read_text()
    report.done(0)


def test_an_interrupted_row_shows_its_part_of_the_file_after_every_restart(start, qtbot, tmp_path):
    box = mailbox.mbox(tmp_path / "box.mbox")
    for words in ("The first message.", "The second message."):
        box.add(f"Subject: {words}\nContent-Type: text/plain\n\n{words}\n".encode())
    box.flush()
    box.close()
    session = start().session
    session.texts.add_paths([tmp_path / "box.mbox"])
    qtbot.waitUntil(lambda: len(session.texts.queue.items) == 2)
    for item in session.texts.queue.items:
        item.state = ItemState.RUNNING
        session.texts.touch(item)
    for _ in range(2):  # nobody looks at it in between
        session.close()
        window = start()
        session = window.session
        qtbot.waitUntil(lambda rows=session.texts.queue: len(rows.items) == 2)
    second = session.texts.queue.items[1]
    session.texts.show(second)
    qtbot.waitUntil(lambda: second.document is not None)
    assert second.state is ItemState.INTERRUPTED
    assert "The second message." in second.document.text
    assert window.work.text.isVisible()
    assert "Interrupted" in window.work.ready.heading.text()


def test_rows_say_saved_and_reviewed_and_a_filed_finding_leaves_the_unfiled_case(
    window, qtbot, text
):
    session = window.session
    session.settings.update(auditor="Anna")
    session.texts.add_text(text, "memo")
    session.audits.audit()
    item = session.texts.queue.items[0]
    qtbot.waitUntil(lambda: item.state is ItemState.DONE)
    assert status_words(item) == "saved · to review"
    [saved] = unfiled().items
    with CaseLog(user_paths().caselog) as log:
        sign_off(log, saved, log.person("Bert"), agree=True, recomputed="The evidence.")
    session.cases.changed.emit()
    qtbot.waitUntil(lambda: status_words(item) == "saved · reviewed")

    from pura.usecases.cases import SaveTo, save_audits

    save_audits(session.environment, SaveTo(case="Press 12", auditor="Anna"), [item.audit])
    session.cases.changed.emit()
    qtbot.waitUntil(lambda: item.status.name == "Press 12")
    assert item.status.review == "confirmed"
    assert unfiled().items == ()
    with CaseLog(user_paths().caselog) as log:
        [case] = [case for case in list_cases(log) if case.name == "Press 12"]
    assert case.items[0].review.who == "Bert"  # reports take it from here


def test_texts_are_kept_as_the_settings_say(window, qtbot, text, start, paths):
    session = window.session
    session.settings.update(case_text="leave-out")
    session.texts.add_text(text, "left out")
    session.audits.audit()
    qtbot.waitUntil(lambda: session.texts.queue.items[0].state is ItemState.DONE)
    session.settings.update(case_text="seal")
    assert session.keeper.wants_passphrase
    session.keeper.unlock(Secret(bytearray(b"a quiet passphrase")))
    session.texts.add_text(text, "encrypted")
    session.audits.audit()
    qtbot.waitUntil(lambda: session.texts.queue.items[1].state is ItemState.DONE)
    session.texts.add_text(text, "waiting")
    report = opening.make_report(window)
    report._note()
    session.close()
    assert not session.drafts.path.exists()
    assert [item.mode for item in unfiled().items] == ["leave-out", "seal"]
    assert text[:40] not in Journal(paths.state).path.read_text(encoding="utf-8")
    rows = start().session.texts.queue
    qtbot.waitUntil(lambda: len(rows.items) == 3)
    assert rows.items[2].state is ItemState.FAILED  # and says why
    assert "paste it again" in rows.items[2].failure.hint


def test_only_what_the_case_log_did_not_take_is_asked_about(window, qtbot, text):
    session = window.session
    session.cases.path.parent.mkdir(parents=True, exist_ok=True)
    session.cases.path.write_bytes(b"not a case log at all")
    session.texts.add_text(text, "memo")
    session.audits.audit()
    item = session.texts.queue.items[0]
    qtbot.waitUntil(lambda: item.state is ItemState.DONE)
    assert status_words(item) == "not saved"
    assert not window.close()
    assert "One finding is not in the case log" in window._question.informativeText()
    session.cases.path.unlink()
    window._question.reject()
    session.audits.audit([item])
    qtbot.waitUntil(lambda: item.status is not None)
    assert window.close()

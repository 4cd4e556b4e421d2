"""What a person does with the window, from dropping a file to closing it."""

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox, QPushButton
from tests.core.programs import lend

from pura.base.errors import ModelError
from pura.base.paths import user_paths
from pura.base.progress import Stage
from pura.detect.unexamined import FAULTS
from pura.detect.verdict.policy import default_policy
from pura.keys import KeyRef, Place, Secret
from pura.model import store
from pura.model.store import ModelCache
from pura.register.rows import Issue
from pura.register.store import Register
from pura.scheme import Payload, PayloadSeries, Profile, SecretKey
from pura.scheme.fields import Field
from pura.usecases.audits import Setup, UnreadFile, prepared
from pura.usecases.environment import Environment
from pura.usecases.keys import create_bundle, create_key
from pura.usecases.profiles import save_profile
from pura.usecases.setups import StoredSetup
from pura_audit import application
from pura_audit.jobs.queue import Progress
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.audits import excerpt_of
from pura_audit.session.choices import ProfileChoice
from pura_audit.session.queue_model import Item, ItemState, verdict_words
from pura_audit.stores.key_forms import KeyForm, PassphraseDialog
from pura_audit.widgets import form_dialog
from pura_audit.workbench import setup
from pura_audit.workbench.answer import grouped
from pura_audit.workbench.setup import BundleDialog, SetupDialog


def drop(window: Any, data: QMimeData) -> None:
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(
        QPointF(400, 400).toPoint(), Qt.DropAction.CopyAction, data, buttons, keys
    )
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    event = QDropEvent(QPointF(400, 400), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(window, event)


def drop_files(window: Any, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(p)) for p in paths])
    drop(window, data)


def states(window: Any) -> list[str]:
    return [item.state.value for item in window.session.texts.queue.items]


def test_a_dropped_file_is_audited_and_the_payload_stands_on_screen(window, qtbot, tmp_path, text):
    path = tmp_path / "Entwurf für März.txt"
    path.write_text(text, encoding="utf-8")
    drop_files(window, path)
    qtbot.waitUntil(lambda: states(window) == ["ready"])
    qtbot.mouseClick(window.header.audit, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: states(window) == ["done"])
    audit = window.session.texts.current.audit
    assert window.work.stack.currentWidget() is window.work.answer
    assert window.work.answer.payload.findChild(QLabel, "payload").toolTip() == grouped(
        audit.payload.bits
    )
    assert window.work.answer.heading.text() == "A mark was found"
    assert window.selection.audit is audit


def test_an_audit_begins_by_itself_when_a_text_was_dropped_and_all_is_there(
    window, qtbot, tmp_path, text, paths
):
    session = window.session
    assert not session.audits.starts_by_itself
    assert SettingsFile(paths.config).current.begin_audits is False  # after a restart too
    session.settings.update(begin_audits=None)
    keys = session.chosen.keys
    session.chosen.choose_keys([])
    (tmp_path / "memo.txt").write_text(text, encoding="utf-8")
    drop_files(window, tmp_path / "memo.txt")
    qtbot.waitUntil(lambda: states(window) == ["ready"])
    session.chosen.choose_keys(keys)  # what was missing has come
    qtbot.waitUntil(lambda: states(window) == ["done"])
    session.texts.add_text(text, "pasted")
    assert states(window) == ["done", "ready"]  # a prompt may be given first
    paths.policy.parent.mkdir(parents=True, exist_ok=True)
    paths.policy.write_text(default_policy().to_json(), encoding="utf-8")  # the organisation's
    assert not session.audits.starts_by_itself


def test_dropped_and_pasted_texts_become_rows(window, text):
    data = QMimeData()
    data.setText(text)
    drop(window, data)
    QGuiApplication.clipboard().setText("another text to look at")
    window.paste()
    assert states(window) == ["ready", "ready"]
    assert window.session.texts.current.document.text == "another text to look at"


def test_paste_and_remove_can_be_undone(window):
    session = window.session
    session.texts.add_text("one text here")
    session.texts.add_text("two texts here")
    session.texts.remove([session.texts.queue.items[0]])
    assert [i.document.text for i in session.texts.queue.items] == ["two texts here"]
    session.texts.undo.undo()
    assert [i.document.text for i in session.texts.queue.items] == [
        "one text here",
        "two texts here",
    ]
    session.texts.undo.undo()
    session.texts.undo.undo()
    assert session.texts.queue.items == ()
    assert session.texts.current is None


def test_a_bad_file_is_a_row_with_words_and_stops_nobody(window, qtbot, tmp_path, text):
    files = {
        "empty.txt": (b"", "no text"),
        "blank.txt": (b"  \n\t ", "no text"),
        "nul.txt": (b"half a text\x00and more", "not plain text"),
        "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a picture"),
        "huge.txt": (b"word " * 500_000, "2,500,000 characters"),
    }
    for name, (data, _) in files.items():
        (tmp_path / name).write_bytes(data)
    good = tmp_path / "good.txt"
    good.write_text(text, encoding="utf-8")
    drop_files(window, *(tmp_path / name for name in files), good)
    qtbot.waitUntil(lambda: states(window) == ["done"] * 5 + ["ready"])
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["done"] * 6)
    answer = window.work.answer
    for item, (name, (_, words)) in zip(
        window.session.texts.queue.items, files.items(), strict=False
    ):
        window.session.texts.show(item)
        assert item.name == name
        assert window.work.stack.currentWidget() is answer
        assert answer.heading.text() == "Not examinable"
        assert words in answer.note.text()
        assert not answer.compared.isVisible()


def test_a_missing_file_and_a_folder(window, qtbot, tmp_path, text):
    folder = tmp_path / "case"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_text(text, encoding="utf-8")
    (folder / "inner" / "b.txt").write_text(text, encoding="utf-8")
    (folder / ".hidden").write_text(text, encoding="utf-8")
    drop_files(window, folder, tmp_path / "gone.txt")
    qtbot.waitUntil(lambda: sorted(states(window)) == ["failed", "ready", "ready"])
    assert [i.name for i in window.session.texts.queue.items] == ["gone.txt", "a.txt", "b.txt"]


def test_text_with_lone_surrogates_is_refused_in_words(window):
    window.session.texts.add_text("a broken \ud800 text")
    assert states(window) == ["failed"]
    assert "surrogates" in window.session.texts.current.failure.message


def test_cancel_stops_the_running_and_the_waiting(window, qtbot, engine, text):
    engine.gate.clear()
    window.session.texts.add_text(text)
    window.session.texts.add_text(text + " again")
    window.audit()
    qtbot.waitUntil(engine.entered.is_set)
    qtbot.waitUntil(lambda: window.session.texts.queue.items[0].progress is not None)
    assert states(window) == ["running", "waiting"]
    assert window.header.cancel.isVisible()
    qtbot.mouseClick(window.header.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: states(window) == ["cancelled", "cancelled"])
    qtbot.waitUntil(lambda: not window.header.cancel.isVisible())
    engine.gate.set()
    window.audit_current()
    qtbot.waitUntil(lambda: "done" in states(window))


def test_the_last_finding_stays_until_another_one_replaces_it(window, qtbot, engine, text):
    window.session.texts.add_text(text)
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["done"])
    first = window.work.answer.audit

    def again() -> None:
        engine.gate.clear()
        engine.entered.clear()
        window.audit_current()
        qtbot.waitUntil(engine.entered.is_set)
        assert window.work.stack.currentWidget() is window.work.answer
        assert window.work.answer.audit is window.selection.audit is first
        assert "being audited again" in window.work.answer.note.text()

    again()
    window.actions_by_name["cancel"].trigger()
    engine.gate.set()
    qtbot.waitUntil(lambda: not window.session.jobs.model.busy)
    qtbot.waitUntil(lambda: states(window) == ["done"])
    assert window.work.answer.audit is first
    assert "audited again" not in window.work.answer.note.text()
    again()
    engine.error = ModelError("model.not-finite")
    engine.gate.set()
    qtbot.waitUntil(lambda: states(window) == ["done"])
    assert window.work.answer.audit is first
    assert "A later audit failed" in window.work.answer.note.text()
    engine.error = None
    window.audit_current()
    qtbot.waitUntil(lambda: window.work.answer.audit is not first)
    assert "failed" not in window.work.answer.note.text()


def test_esc_cancels_the_row_on_screen_and_brings_up_what_runs_where_it_is_another(
    window, qtbot, engine, text
):
    engine.gate.clear()
    for name in ("running", "waiting"):
        window.session.texts.add_text(text, name)
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["running", "waiting"])
    window.actions_by_name["cancel"].trigger()  # the last one added is on screen
    assert states(window) == ["running", "cancelled"]
    window.actions_by_name["cancel"].trigger()  # nothing of that row is left to cancel
    assert states(window) == ["running", "cancelled"]
    assert "“running” is being audited" in window.status.words.text()
    assert window.session.texts.current.name == "running"
    window.actions_by_name["cancel"].trigger()
    qtbot.waitUntil(lambda: states(window) == ["cancelled", "cancelled"])
    assert "Cancelled: “running”" in window.status.words.text()


def test_a_failed_audit_never_stops_the_queue(window, qtbot, engine, text):
    engine.gate.clear()
    engine.error = ModelError("model.not-finite")
    window.session.texts.add_text(text)
    window.session.texts.add_text(text + " more")
    window.audit()
    qtbot.waitUntil(engine.entered.is_set)
    engine.gate.set()
    qtbot.waitUntil(lambda: states(window) == ["failed", "failed"])
    engine.error = None
    window.audit_current()
    qtbot.waitUntil(lambda: states(window)[1] == "done")
    assert states(window)[0] == "failed"
    assert verdict_words(window.session.texts.queue.items[0]).startswith("The model gave")


def test_a_fault_of_the_program_is_words_and_never_the_text(window, qtbot, engine, text):
    engine.error = RuntimeError(f"oops near: {text}")
    window.session.texts.add_text(text)
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["failed"])
    failure = window.session.texts.current.failure
    assert failure.code == "internal"
    assert "RuntimeError" in failure.message
    assert text[:20] not in failure.message + failure.hint


def test_texts_that_come_one_by_one_are_audited_the_short_ones_first(window, text):
    window.toggle_pause()
    session = window.session
    for name, times in (("long", 9), ("short", 1), ("middle", 3)):
        session.texts.add_text(text * times, name)
        session.audits.audit()  # as files do that are wanted before they are read
    assert [item.name for item in session.audits.stream.order()] == ["short", "middle", "long"]


def test_pause_holds_the_queue_and_order_can_change(window, qtbot, engine, text):
    window.toggle_pause()
    for word in ("first", "other", "third"):
        window.session.texts.add_text(f"{word} {text}")
    window.audit()
    session = window.session
    first, second, third = session.texts.queue.items
    assert session.audits.stream.order() == (first, second, third)
    session.audits.stream.move(third, -1)
    assert session.audits.stream.order() == (first, third, second)
    window.toggle_pause()
    qtbot.waitUntil(lambda: states(window) == ["done"] * 3)
    assert [r.document.text.split()[0] for r in engine.asked] == ["first", "third", "other"]


def test_a_pile_is_read_side_by_side_with_keys_opened_once(window, qtbot, engine, text):
    engine.gate.clear()
    engine.together = 3
    session = window.session
    for number in range(5):
        session.texts.add_text(f"{text} {number}", f"memo {number}")
    window.audit()
    qtbot.waitUntil(engine.entered.is_set)
    qtbot.waitUntil(lambda: states(window) == ["running"] * 3 + ["waiting"] * 2)
    qtbot.waitUntil(
        lambda: all(item.progress is not None for item in session.texts.queue.items[:3])
    )
    session.texts.show(session.texts.queue.items[1])
    assert "of 3 texts" in window.work.busy.words.text()
    window.actions_by_name["cancel"].trigger()  # one of them; the others are read on
    session.audits.stream.stop([session.texts.queue.items[4]])
    engine.gate.set()
    qtbot.waitUntil(lambda: not session.jobs.model.busy)
    assert states(window) == ["done", "cancelled", "done", "done", "cancelled"]
    assert (engine.groups, len(engine.setups)) == ([3, 1], 1)


def test_a_text_that_trips_the_program_costs_those_beside_it_nothing(window, qtbot, engine, text):
    engine.together = 3
    engine.trips = "memo 1"
    noticed: list[str] = []
    window.session.audits.noticed.connect(noticed.append)
    for number in range(3):
        window.session.texts.add_text(f"{text} {number}", f"memo {number}")
    window.audit()
    qtbot.waitUntil(lambda: not window.session.jobs.model.busy)
    assert states(window) == ["done", "failed", "done"]
    assert window.session.texts.queue.items[1].failure.code == "internal"
    assert window.session.audits.read_alone == 2
    assert any("2 texts were read alone" in words for words in noticed)


def test_a_fault_of_the_real_reader_is_the_failure_of_its_text_alone(
    window, qtbot, engine, faulty, small_model, small_models, small_samples, monkeypatch
):
    """Every step has its fault in tests/core/usecases/test_contained.py."""
    sample = small_samples["marked-tbcc"]
    key = SecretKey.from_hex(sample["key_hex"])
    paths = user_paths()
    lend(small_models, paths.models)
    environment = Environment(
        paths=paths,
        device="cpu",
        held=ModelCache(lambda *_: small_model),
        lent_keys={key.fingerprint: key},
    )
    setup = Setup(
        keys=(KeyRef(fingerprint=key.fingerprint),),
        profile=Profile.from_dict(sample["profile"]),
        ask_register=True,
    )
    bits = Payload.from_bits([1] * setup.profile.payload_bits)
    with Register(paths.register, create=True) as register:  # else nothing is step 11
        series = PayloadSeries(key=key.fingerprint, profile=setup.profile.fingerprint)
        register.add(Issue(payload=bits, series=series, who="Anna", when="2026-01-02", model="m"))
    monkeypatch.setattr(engine, "prepared", lambda _: prepared(environment, setup, late=True))
    plain = small_samples["plain"]["texts"][0]["text"]
    texts = [plain[:200], sample["texts"][1]["text"], plain[:260]]
    for times, step in enumerate((1, 5, 12), 1):
        window.session.texts.remove(list(window.session.texts.queue.items))
        window.toggle_pause()
        for number, text in enumerate(texts):
            window.session.texts.add_text(text, f"memo {number}")
        window.audit()
        faulty(step, texts[1], RuntimeError(texts[1]))
        window.toggle_pause()
        qtbot.waitUntil(lambda: not window.session.jobs.model.busy)
        assert states(window) == ["done", "failed", "done"], step
        failure = window.session.texts.queue.items[1].failure
        assert failure.code == "internal"
        assert window.session.audits.read_alone == 2 * times
        log = (paths.state / FAULTS).read_text(encoding="utf-8")
        reference = failure.words.partition("reference ")[2][:8]
        assert f"fault {reference}: RuntimeError in a group of 1, at " in log
        assert not any(words in log + failure.words for words in (texts[1][:20], sample["key_hex"]))


def test_removing_a_running_row_cancels_it(window, qtbot, engine, text):
    engine.gate.clear()
    window.session.texts.add_text(text)
    window.audit()
    qtbot.waitUntil(engine.entered.is_set)
    window.session.texts.remove(list(window.session.texts.queue.items))
    qtbot.waitUntil(lambda: not window.session.jobs.model.busy)
    assert window.session.texts.queue.items == ()


def test_closing_while_busy_asks_once_then_cancels_and_waits(window, qtbot, engine, text):
    engine.gate.clear()
    window.session.texts.add_text(text)
    window.audit()
    qtbot.waitUntil(engine.entered.is_set)
    window.close()
    window.close()
    assert window.isVisible()
    boxes = [w for w in QApplication.topLevelWidgets() if w.inherits("QMessageBox")]
    assert len([b for b in boxes if b.isVisible()]) == 1
    stop = next(b for b in boxes[0].findChildren(QPushButton) if "Cancel" in b.text())
    qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.isVisible())
    assert window.session.texts.queue.items[0].state is ItemState.CANCELLED
    assert not window.session.jobs.model.alive


def test_the_model_is_never_used_on_the_window_s_thread(window, qtbot, engine, text):
    window.session.texts.add_text(text)
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["done"])
    assert engine.threads
    assert threading.current_thread().name not in engine.threads


def test_the_prompt_reaches_the_audit(window, qtbot, engine, text):
    window.session.texts.add_text(text)
    window.work.ready.prompt.setPlainText("Write about the council.")
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["done"])
    assert engine.asked[0].prompts == ("Write about the council.",)


def test_several_candidates_come_from_the_field_or_from_a_file_on_it(
    window, qtbot, engine, text, tmp_path
):
    window.session.texts.add_text(text)
    ready = window.work.ready
    ready.prompt.setPlainText("One.\n\nTwo.")
    ready.several.setChecked(True)
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["done"])
    assert engine.asked[0].prompts == ("One.", "Two.")

    window.session.texts.add_text(text + " More.")
    window.session.texts.show(window.session.texts.queue.items[-1])
    assert not ready.several.isChecked()
    file = tmp_path / "log.jsonl"
    file.write_text('{"prompt": "A\\nB"}\n{"prompt": "C"}\n', encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    assert ready.prompt.canInsertFromMimeData(data)
    ready.prompt.insertFromMimeData(data)
    qtbot.waitUntil(ready.several.isChecked)
    window.audit()
    qtbot.waitUntil(lambda: states(window)[-1] == "done")
    assert engine.asked[-1].prompts == ("A\nB", "C")

    window.session.texts.add_text(text + " Still more.")
    window.session.texts.show(window.session.texts.queue.items[-1])
    ready.prompt.setPlainText('{"prompt": 1}')
    ready.several.setChecked(True)
    window.audit()
    qtbot.waitUntil(lambda: "Line 1" in window.status.words.text())
    assert states(window)[-1] == "ready"


def test_one_press_on_the_first_page_installs_the_model_and_audits_the_sample(
    window, qtbot, engine, monkeypatch
):
    def no_space(*_: object, **__: object) -> None:
        raise ModelError("model.space", need=600, free=5)

    view = window.empty.setup
    assert not view.isVisible()
    engine.empty = True
    window.session.chosen.look_around()
    qtbot.waitUntil(view.isVisible)
    assert not window.header.audit.isEnabled()
    assert window.header.setup.accessibleName() == "Set-up: none yet"
    fetched = threading.Event()

    def fetch(*_: object, progress: Any, checkpoint: Any, **__: object) -> None:
        progress(Stage(name="install", done=250, total=1000))
        while not fetched.wait(0.005):
            checkpoint()

    monkeypatch.setattr(setup, "install_model", fetch)
    qtbot.mouseClick(view.sample, Qt.MouseButton.LeftButton)
    waits = window.work.ready.setup  # the sample waits on its own page, with the same progress
    qtbot.waitUntil(lambda: waits.stage.text().startswith("1 of 3, fetching: "))
    assert "when the model is installed" in window.work.ready.words.text()
    assert waits.cancel.isVisible()
    assert not waits.ways.isVisible()
    assert "Offline" not in window.status._network.text()
    done: list[object] = []
    window.session.do(lambda _: "key", done.append, window)  # the stores are free meanwhile
    qtbot.waitUntil(lambda: bool(done))
    waits.cancel.click()
    qtbot.waitUntil(waits.ways.isVisible)
    assert "Offline" in window.status._network.text()
    monkeypatch.setattr(setup, "install_model", no_space)
    window.session.install_wanted.emit()
    qtbot.waitUntil(lambda: "needs 600 MB" in waits.words.text())
    engine.empty = False
    monkeypatch.setattr(setup, "install_model", lambda *_, **__: None)
    window.session.install_wanted.emit()
    qtbot.waitUntil(lambda: states(window) == ["done"])
    assert not waits.words.text()


def test_no_button_of_the_first_page_moves_while_a_model_is_installed(window, qtbot, engine):
    view = window.empty.setup
    engine.empty = True
    window.session.chosen.look_around()
    qtbot.waitUntil(view.isVisible)

    def places() -> list[Any]:
        shown = (window.empty.open, view.bundle, view.sample, view.own)
        return [(button.mapTo(window, QPoint()), button.size()) for button in shown]

    before = places()
    view.busy(Progress(step=0, name="install", done=1, total=9))
    view.say("A fault in words.")
    QApplication.processEvents()
    assert places() == before


def test_a_ring_at_the_start_waits_for_the_keyboard(window, qtbot, engine):
    view = window.empty
    engine.empty = True
    window.session.chosen.look_around()
    qtbot.waitUntil(view.setup.isVisible)
    assert window.focusWidget() is view
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    assert window.focusWidget() is view.open
    view.setup.bundle.setFocus()
    window.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as Tab does
    view.setup.show_when(False)  # all is there: the keyboard goes on from the first button
    assert window.focusWidget() is view.open


def test_the_ways_to_begin_are_all_seen_in_a_low_window(window, qtbot, engine):
    engine.empty = True
    window.session.chosen.look_around()
    qtbot.waitUntil(window.empty.setup.isVisible)
    for low in (True, False):
        window.resize(1024, 640 if low else 900)
        QApplication.processEvents()
        area = window.empty.scroll_area.viewport()
        own = window.empty.setup.bar
        assert own.mapTo(area, QPoint(0, own.height())).y() < area.height(), low


def test_a_set_up_of_ones_own_is_one_form_with_a_name_and_a_template(
    window, qtbot, engine, monkeypatch, tmp_path
):
    asked: list[dict[str, Any]] = []

    def refused(_: object, **settings: Any) -> None:
        asked.append(settings)
        raise ModelError("model.space", need=600, free=5)

    monkeypatch.setattr(setup, "set_up", refused)
    engine.empty = True
    window.session.chosen.look_around()
    qtbot.waitUntil(window.empty.setup.isVisible)
    qtbot.mouseClick(window.empty.setup.own, Qt.MouseButton.LeftButton)
    [dialog] = window.findChildren(SetupDialog)
    assert not dialog.go.isEnabled()
    qtbot.keyClicks(dialog.name, "Our assistant")
    assert next(iter(dialog.templates)) == dialog.template == "answer", "offered first"
    assert "36 bits" in dialog.about.text()
    assert "forged" not in dialog.about.text()
    dialog.templates["customer"].click()
    assert "24 bits" in dialog.about.text()
    assert "forged from collected answers" in dialog.about.text()
    assert "personal data" in dialog.about.text()

    def go() -> None:
        qtbot.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
        passphrase = dialog.findChild(PassphraseDialog)  # no keyring here
        for line in (passphrase.first, passphrase.again):
            line.setText("four words in a row")
        passphrase.ok.click()

    go()
    qtbot.waitUntil(lambda: "needs 600 MB" in dialog.words.text() and not dialog.busy)
    qtbot.waitUntil(lambda: not dialog.findChildren(PassphraseDialog))
    assert dialog.name.text() == "Our assistant", "nothing that was typed is lost"
    assert asked[0]["fields"] == [Field(name="customer", bits=24, kind="integer")]
    assert (asked[0]["key"], asked[0]["model"]) == (None, None)
    file = tmp_path / "ours.purakey"
    file.write_bytes(b"")
    dialog.key.setCurrentIndex(dialog.key.count() - 1)
    dialog.take_key(file)
    assert dialog.passphrase.isVisible()
    go()
    qtbot.waitUntil(lambda: len(asked) > 1)
    assert asked[1]["key"] == file
    qtbot.waitUntil(lambda: not dialog.busy)
    dialog.reject()


def test_a_new_set_up_is_chosen_with_its_key_and_its_model(window, qtbot, engine, tbcc):
    session, header = window.session, window.header
    mine = tbcc.with_(key=engine.key.fingerprint, model=None)
    found = replace(
        session.chosen.catalogue,
        profiles=(
            ProfileChoice(name="internal", profile=tbcc),
            ProfileChoice(name="ours", profile=mine.with_(temperature=0.9)),
        ),
        setups=(StoredSetup(name="ours", profile="ours", keys=(engine.key.fingerprint,)),),
    )
    engine.catalogue = lambda: found
    session.chosen.use_setup("ours")
    qtbot.waitUntil(lambda: session.chosen.profile.name == "ours")
    assert [key.fingerprint for key in session.chosen.keys] == [engine.key.fingerprint]
    ticked = [a.text() for a in header.setups.actions() if a.isChecked()]
    assert len(ticked) == 1
    assert ticked[0].startswith("ours")


def test_a_file_without_a_text_is_a_finding_until_it_has_one(window, qtbot, tmp_path, engine):
    path = tmp_path / "letter.txt"
    path.write_bytes(b"half a text\x00and more")
    window.session.texts.add_paths([path])
    item = window.session.texts.current
    qtbot.waitUntil(lambda: item.state is ItemState.DONE)
    assert item.audit.verdict == "not-examinable"
    assert item.audit.input.name == "letter.txt"
    assert isinstance(engine.asked[-1], UnreadFile)
    cards = window.evidence
    assert "not examined" in cards.bits.empty.text() + cards.token.summary()
    path.write_text("Now there are words in it.", encoding="utf-8")
    window.session.audits.audit([item])
    qtbot.waitUntil(lambda: item.document is not None and item.state is ItemState.DONE)
    assert item.audit.verdict == "mark"


def test_a_file_without_a_text_waits_where_nothing_is_chosen(window, qtbot, tmp_path):
    path = tmp_path / "scan.pdf"
    path.write_bytes(b"%PDF-1.7 and nothing else")
    window.session.chosen.choose_keys(())
    window.session.texts.add_paths([path, tmp_path / "gone.pdf"])
    rows = window.session.texts.queue.items
    qtbot.waitUntil(lambda: all(row.state is ItemState.FAILED for row in rows))
    assert [row.failure.code for row in rows] == ["input-damaged", "input-unreadable"]
    assert window.work.stack.currentWidget() is window.work.error
    # Of a table each row that no text can be made of has its own, beside those that can be read.
    table = tmp_path / "rows.jsonl"
    odd = (r"half \ud800 a pair", r"a \u0000 in it", r"\u001b[2J and words")
    table.write_text("\n".join(f'{{"text": "{one}"}}' for one in odd), encoding="utf-8")
    window.session.texts.add_paths([table])
    qtbot.waitUntil(lambda: len(window.session.texts.queue.items) == 5)
    added = window.session.texts.queue.items[2:]
    assert [row.failure is not None for row in added].count(True) == 2


def test_a_long_audit_is_asked_for_with_its_cost_and_an_excerpt_is_offered(window, engine, text):
    session = window.session
    session.texts.add_text(text * 40, "long")
    session.texts.add_text("a short one, and some words", "short")
    long, short = session.texts.queue.items
    session.settings.update(pace=len(text) / 10, pace_of=session.audits.pace._of)  # 10 s a piece
    assert session.audits.pace.seconds([long]) == 400
    assert "about 7 min" in window.work.ready.expectation.text() or session.texts.current is short
    window.audit()
    box = window.findChild(QMessageBox)
    assert "7 min" in box.text()
    assert states(window) == ["ready", "ready"]  # nothing begins before somebody says so
    engine.gate.clear()
    buttons = {button.text(): button for button in box.buttons()}
    buttons["An excerpt first"].click()
    long, excerpt, short = session.texts.queue.items
    assert long.state is ItemState.READY
    assert long.document.text.startswith(excerpt.document.text)
    assert len(excerpt.document.text) <= session.audits.pace.excerpt < len(long.document.text)
    assert excerpt.name.startswith("long, first ")
    assert session.audits.stream.order() == (short, excerpt)
    assert session.audits.seconds_left == pytest.approx(
        session.audits.pace.seconds([excerpt, short])
    )
    engine.gate.set()


def test_bar_row_and_time_agree_and_a_pause_is_a_button(window, qtbot, engine, text):
    engine.gate.clear()
    window.session.texts.add_text(text, "memo")
    window.audit()
    qtbot.waitUntil(lambda: states(window) == ["running"])
    item = window.session.texts.current
    shares = []
    for step, done in ((4, 0), (5, 0), (5, 50), (5, 100), (6, 0), (8, 0), (9, 0), (12, 0)):
        item.progress = Progress(step=step, name="reading", done=done, total=100)
        window.session.texts.touch(item)
        bar = window.work.busy.bar
        shares.append(bar.value() / bar.maximum())
        assert f"{int(100 * item.progress.share)}\xa0%" in verdict_words(item)
        assert int(100 * shares[-1]) == int(100 * item.progress.share)
    assert shares == sorted(shares)
    window.work.busy.pause.click()
    assert window.session.jobs.model.paused
    assert window.work.busy.heading.text() == "Paused"
    window.work.busy.pause.click()
    assert not window.session.jobs.model.paused
    engine.gate.set()
    qtbot.waitUntil(lambda: states(window) == ["done"])


def test_the_pace_is_learnt_of_audits_on_this_device(window, audit):
    pace = window.session.audits.pace
    assert pace.rate is None
    slow = tuple(replace(step, seconds=2.0) for step in audit.log)
    long = replace(audit, log=slow, input=replace(audit.input, characters=2400))
    pace.note(replace(long, input=replace(audit.input, characters=10)))
    assert pace.rate is None  # too short to tell anything
    pace.note(long)
    assert pace.rate == 100
    pace.use(window.session.chosen.model, replace(window.session.chosen.device, dtype="bfloat16"))
    assert pace.rate is None


@pytest.mark.parametrize("ending", ["\n\n", ". ", " "])
def test_an_excerpt_ends_where_a_piece_ends(ending):
    text = "word" * 20 + ending + "x" * 60
    assert excerpt_of(text, 100) == ("word" * 20 + ending).rstrip()
    assert excerpt_of("short", 100) == "short"


def test_menus_are_short_and_return_presses_the_focused_button(window, qtbot):
    levels = [window.menu, *(action.menu() for action in window.menu.actions())]
    for menu in levels:
        entries = [action for action in menu.actions() if not action.isSeparator()]
        assert 1 < len(entries) <= 10, menu.title()
        parted = any(action.isSeparator() for action in menu.actions())
        assert parted or len(entries) < 7 or menu is window.menu, menu.title()
    window.empty.sample.setFocus()
    with qtbot.waitSignal(window.empty.sample.clicked):
        qtbot.keyClick(window.empty.sample, Qt.Key.Key_Return)


def test_a_file_opened_among_many_is_chosen_and_shown(window, tmp_path, text):
    session, queue = window.session, window.queue
    session.texts.queue.insert(
        Item(number=1000 + n, name=f"text {n}", state=ItemState.READY) for n in range(210)
    )
    session.texts.show(session.texts.queue.items[5])
    queue.search.setText("text")
    path = tmp_path / "memo.md"
    path.write_text(text, encoding="utf-8")
    window.add_files([path])
    assert session.texts.current.path == path
    assert [item.path for item in queue.selected()] == [path]
    assert queue.list.visualRect(queue.list.currentIndex()).intersects(queue.list.viewport().rect())


def test_the_window_opens_on_the_screen(app, qtbot, engine, paths, audit):
    for place in ((0, 0), (700, 700), (-500, -500)):
        made = application.make_window(paths, engine=engine, theme="light")
        qtbot.addWidget(made)
        room = made.screen().availableGeometry()  # 800 pixels wide here
        assert room.width() < 1100
        assert room.contains(made.geometry()), place
        made.session.texts.add_audit(audit)
        assert not made.evidence.isVisibleTo(made.inner)  # no room for it beside the text
        made.move(*place)
        made.placement.remember()
        made.resize(1440, 900)
        made.show()
        assert made.evidence.isVisibleTo(made.inner)
        made.session.close()


def test_a_team_bundle_is_shown_before_it_is_taken_in_and_a_wrong_passphrase_loses_nothing(
    window, qtbot, engine, tmp_path, tbcc, monkeypatch
):
    installed: list[object] = []
    monkeypatch.setattr(setup, "install_model", lambda at, **_: installed.append(at))
    words = "four words in a row"
    there = Environment(
        paths=user_paths(tmp_path / "there"), ask_folder=lambda _new: bytearray(words.encode())
    )
    tbcc = tbcc.with_(model=None)
    save_profile(there, name="House", profile=tbcc)
    create_key(there, name="Newsroom", place=Place.FILES)
    path = tmp_path / "team.purateam"
    secret = Secret(bytearray(words.encode()))
    held = create_bundle(there, key="Newsroom", profile="House", passphrase=secret, path=path)
    engine.empty = True
    window.session.chosen.look_around()
    qtbot.waitUntil(lambda: not window.session.chosen.catalogue.models)
    dialog = setup.show_bundle(window, path)
    size = dialog.size()
    qtbot.keyClicks(dialog.passphrase, "another passphrase")
    qtbot.keyClick(dialog.passphrase, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not dialog.busy and bool(dialog.words.text()))
    assert "does not open this" in dialog.words.text()
    assert dialog.isVisible()
    assert dialog.height() >= size.height()
    assert dialog.passphrase.selectedText() == "another passphrase"
    qtbot.keyClicks(dialog.passphrase, words)
    qtbot.keyClick(dialog.passphrase, Qt.Key.Key_Return)
    qtbot.waitUntil(dialog.holds.isVisible)
    assert dialog.model.isVisible()  # none is here: it is asked for once
    for shown in ("Newsroom", held.key_fingerprint, held.profile_fingerprint):
        assert shown in dialog.holds.text()
    here = window.session.environment
    assert [*here.keys.list(), *here.profiles.names()] == []  # before somebody says so
    # No keyring here: the key goes into an encrypted file, whose passphrase is chosen now.
    qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)  # takes it in, as on the first page
    asked = dialog.findChild(PassphraseDialog)
    for line in (asked.first, asked.again):
        line.setText("another set of words")
    with qtbot.waitSignal(dialog.accepted):
        asked.ok.click()
    assert [entry.fingerprint for entry in here.keys.list()] == [held.key_fingerprint]
    assert here.profiles.get("House") == tbcc
    qtbot.waitUntil(lambda: installed == [here])


def test_closing_while_a_model_is_fetched_asks_and_leaves_nothing_half_installed(
    window, qtbot, tmp_path, monkeypatch
):
    pip, mark = tmp_path / "python", tmp_path / "pid"
    pip.write_text(f"#!/bin/sh\necho $$ > {mark}\nexec sleep 60\n")
    pip.chmod(0o755)
    monkeypatch.setattr(store.sys, "executable", str(pip))
    session = window.session
    session.install_wanted.emit()
    qtbot.waitUntil(lambda: mark.exists() and bool(mark.read_text()))
    window.close()
    assert window.isVisible()
    (box,) = window.findChildren(QMessageBox)
    assert "model is being installed" in box.text()
    stop = next(b for b in box.buttons() if "Cancel" in b.text())
    qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.isVisible())
    assert [p.name for p in session.environment.models.folder.iterdir()] == [".lock"]
    assert not Path(f"/proc/{mark.read_text().strip()}").exists()


def test_a_file_that_is_no_text_opens_what_it_is_for(window, qtbot, tmp_path, tbcc):
    session = window.session
    for name, opens in (("team.purateam", BundleDialog), ("house.purakey", KeyForm)):
        (tmp_path / name).write_bytes(b"not one really")
        window.add_files([tmp_path / name])
        [dialog] = window.findChildren(opens)
        dialog.reject()
    assert not session.texts.queue.items
    house = tmp_path / "house.json"
    house.write_text(json.dumps(tbcc.to_dict() | {"name": "House"}))
    window.add_files([house])
    qtbot.waitUntil(lambda: "House" in session.environment.profiles.names())
    (tmp_path / "policy.json").write_text('{"schema": "pura-policy/1"}')
    window.add_files([tmp_path / "policy.json"])
    assert "a rule of the organisation" in window.status.words.text()
    assert not session.texts.queue.items
    (tmp_path / "memo.json").write_text('{"a": "text"}')
    window.add_files([tmp_path / "memo.json"])
    assert [item.name for item in session.texts.queue.items] == ["memo.json"]


def test_a_passphrase_is_wiped_where_no_file_is_chosen_for_a_bundle(window, monkeypatch):
    chosen = window.session.chosen
    stored = replace(chosen.key, entry=object())
    monkeypatch.setattr(type(chosen), "key", property(lambda _: stored))
    dialog = setup.make_bundle(window)
    secret = Secret(bytearray(b"four words in a row"))
    dialog.given.emit(secret)
    (asked,) = (one for one in window.findChildren(QFileDialog) if one.isVisible())
    asked.reject()
    assert not any(secret.copy())


def test_a_text_waits_until_there_is_a_set_up_and_its_page_offers_the_ways(window, text):
    session, ready = window.session, window.work.ready
    keys = session.chosen.keys
    session.chosen.choose_keys([])
    session.texts.add_text(text, "memo")
    assert ready.heading.text() == "Not set up yet"
    assert "Press Audit" not in ready.words.text()
    ready.setup.own.click()
    [dialog] = window.findChildren(SetupDialog)
    dialog.reject()
    session.chosen.choose_keys(keys)
    assert ready.heading.text() == "Ready"
    assert not ready.setup.isVisible()


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_where_nothing_confines_what_reads_a_person_is_asked_first(
    window, tmp_path, monkeypatch, system
):
    monkeypatch.setattr(form_dialog, "_agreed", [])
    files = {
        "plain.txt": b"plain words",
        "page.html": b"<p>words",
        "printed.txt": b"%PDF-1.7",  # what it is called does not count
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)

    def dropped(*names: str) -> QMessageBox | None:
        with monkeypatch.context() as change:
            change.setattr(sys, "platform", system)
            drop_files(window, *(tmp_path / name for name in names))
        boxes = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
        return boxes[-1] if boxes else None

    def press(box: QMessageBox, words: str) -> None:
        next(b for b in box.buttons() if b.text().replace("&", "") == words).click()

    assert dropped("plain.txt") is None
    assert len(states(window)) == 1
    for names in (("page.html",), ("plain.txt", "printed.txt")):
        box = dropped(*names)
        assert "does not confine" in box.informativeText()
        assert box.defaultButton().text().replace("&", "") == "Do not read them"
        press(box, "Do not read them")
        assert len(states(window)) == 1
    press(dropped("page.html", "printed.txt"), "Read them")
    assert len(states(window)) == 3
    assert dropped("page.html") is None  # once a session
    assert len(states(window)) == 4


def test_the_question_before_reading_is_asked_in_german(german, tmp_path, monkeypatch):
    monkeypatch.setattr(form_dialog, "_agreed", [])
    (tmp_path / "page.html").write_bytes(b"<p>words")
    with monkeypatch.context() as change:
        change.setattr(sys, "platform", "win32")
        drop_files(german, tmp_path / "page.html")
    [box] = [box for box in german.findChildren(QMessageBox) if box.isVisible()]
    assert "nicht einschränkt" in box.informativeText()
    box.escapeButton().click()
    assert states(german) == []

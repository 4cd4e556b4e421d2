"""The dialog of the keys over the real engine, on a machine without a keyring."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QRadioButton, QWidget

from pura.keys import KeyFile, KeyStore, Place, Secret, State, passphrase_bytes, write_key_file
from pura.keys.sealed import Cost
from pura.model.device import Device
from pura.scheme import Profile, SecretKey
from pura.usecases.keys import create_key, export_key, note_key
from pura_audit import application
from pura_audit.session.choices import AuditEngine, Inventory, KeyChoice
from pura_audit.stores.key_forms import KeyAct, KeyForm, PassphraseDialog, strength_words
from pura_audit.stores.keys import KeysDialog, state_words
from pura_audit.workbench import opening
from pura_audit.workbench.setup import SeveralKeysDialog

WORDS = "four words in a row"


class KeyEngine(AuditEngine):
    """The real one, except that no device is looked for."""

    def device(self) -> Device:
        return Device(kind="cpu", name="Test chip", dtype="float32", reason="device.asked-cpu")


@pytest.fixture
def bench(app, qtbot, paths) -> Iterator[Any]:
    made = application.make_window(paths, engine=KeyEngine(paths), theme="light")
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.session.chosen.catalogue is not None)
    yield made
    made.session.close()


@pytest.fixture
def keys(bench) -> KeysDialog:
    return opening.show_keys(bench)


def child(dialog: QDialog, kind: type) -> Any:
    QApplication.processEvents()
    return next(d for d in dialog.findChildren(kind) if d.isVisible())


def settle(qtbot: Any, dialog: KeysDialog) -> None:
    qtbot.waitUntil(lambda: dialog._job is None)


def give(dialog: QDialog, words: str = WORDS) -> None:
    box = child(dialog, PassphraseDialog)
    box.first.setText(words)
    box.again.setText(words)
    box.ok.click()


def labels(dialog: KeysDialog) -> list[str]:
    return [key.label for key in dialog.rows]


def make(qtbot: Any, dialog: KeysDialog, name: str) -> None:
    """Create a key in an encrypted file; asks for the passphrase the first time."""
    form = dialog.ask(KeyAct.NEW)
    form.line.setText(name)
    form.ok.click()
    catalogue = dialog.session.chosen.catalogue
    if catalogue.files is not State.READY:
        give(dialog)
    qtbot.waitUntil(lambda: name in labels(dialog))
    settle(qtbot, dialog)


def test_the_state_and_its_way_out_stand_on_top(keys, qtbot):
    assert keys.title.text() == "No keyring"
    assert "encrypted files" in keys.state.text()
    assert keys.unlock.isVisible()
    keys.unlock.click()
    give(keys)
    qtbot.waitUntil(lambda: keys.title.text() == "Encrypted key files")
    assert "Unlocked for this session" in keys.state.text()
    assert not keys.unlock.isVisible()


def test_every_state_has_words_of_its_own():
    said = set()
    for state in (State.READY, State.LOCKED, State.DENIED, State.GONE):
        ring = Inventory(place=Place.KEYRING, backend="Secret Service", keyring=state)
        said.add(state_words(ring))
    for state in (State.READY, State.LOCKED, State.DENIED, State.DAMAGED):
        said.add(state_words(Inventory(place=Place.FILES, files=state)))
    said.add(state_words(Inventory()))
    assert len(said) == 9


def test_a_key_through_its_whole_life(keys, bench, qtbot, tmp_path, paths):
    make(qtbot, keys, "House")
    assert bench.session.chosen.key.label == "House"
    first = keys.selected
    assert not keys.detail.isVisible()
    (paths.config / "keys").chmod(0o755)  # others may look into the folder
    keys.carry_out(partial(note_key, name="House", note="kept in the safe"))
    qtbot.waitUntil(lambda: keys.rows[0].entry.note == "kept in the safe")
    settle(qtbot, keys)
    assert "chmod 700" in keys.detail.text()
    assert keys.detail.isVisible()
    form = keys.ask(KeyAct.RENAME)
    form.line.setText("Haus")
    form.ok.click()
    qtbot.waitUntil(lambda: labels(keys) == ["Haus"])
    settle(qtbot, keys)
    form = keys.ask(KeyAct.DERIVE)
    form.epoch.setChecked(True)
    assert form.ok.isEnabled()  # today
    form.line.setText("2026-13")
    assert not form.ok.isEnabled()
    form.line.setText("2026-W47")
    assert form.ok.isEnabled()
    wanted = form._request().keywords
    assert (wanted["epoch"], wanted["label"]) == (True, "2026-W47")
    form.epoch.setChecked(False)
    form.line.setText("desk")
    form.ok.click()
    qtbot.waitUntil(lambda: labels(keys) == ["Haus", "Haus/desk"])
    settle(qtbot, keys)
    target = tmp_path / "copy.purakey"
    secret = Secret(passphrase_bytes("another set of words"))
    keys.carry_out(partial(export_key, name="Haus", path=target, passphrase=secret))
    settle(qtbot, keys)
    qtbot.waitUntil(target.exists)
    profile = Profile(
        payload_bits=24, code="tbcc", vocab_size=50_000, name="Internal", key=first.fingerprint
    )
    paths.profiles.mkdir(parents=True, exist_ok=True)
    (paths.profiles / "internal.json").write_text(profile.to_json())
    bench.session.chosen.look_around()
    qtbot.waitUntil(lambda: bool(keys.rows[0].usage and keys.rows[0].usage.profiles))
    keys.table.selectRow(0)
    box = keys.ask(KeyAct.DELETE)
    words = box.text() + box.informativeText()
    for part in ("Haus", first.fingerprint, "Internal", "Haus/desk", "cannot be undone"):
        assert part in words, part
    next(b for b in box.buttons() if "Delete" in b.text()).click()
    qtbot.waitUntil(lambda: labels(keys) == ["Haus/desk"])
    settle(qtbot, keys)
    # The exported copy brings it back; its passphrase is asked for when it turns out to be one.
    form = keys.ask(KeyAct.IMPORT)
    form.take(target)
    form.line.setText("Again")
    form.ok.click()
    settle(qtbot, keys)
    give(keys, "another set of words")
    qtbot.waitUntil(lambda: "Again" in labels(keys))
    again = next(key for key in keys.rows if key.label == "Again")
    assert again.fingerprint == first.fingerprint


def test_a_wrong_passphrase_is_said_and_asked_again(keys, bench, qtbot, paths):
    make(qtbot, keys, "House")
    bench.session.environment.keys.files.lock()
    bench.session.chosen.look_around()
    qtbot.waitUntil(lambda: "Locked" in keys.state.text())
    keys.unlock.click()
    box = child(keys, PassphraseDialog)
    box.first.setText("not the passphrase")
    box.ok.click()
    settle(qtbot, keys)
    assert "does not open" in box.words.text()
    box.first.setText(WORDS)
    box.ok.click()
    qtbot.waitUntil(lambda: "Unlocked" in keys.state.text())
    other = KeyStore(paths.config / "keys.json", find=lambda: None)
    other.files.unlock(passphrase_bytes(WORDS))
    assert other.get("House").fingerprint == keys.rows[0].fingerprint


def test_a_key_for_this_session_leaves_no_trace(keys, qtbot, tmp_path):
    key = SecretKey.generate()
    form = keys.ask(KeyAct.IMPORT)
    form.line.setText("Passing")
    form.typed.setText(key.to_hex())
    form.places[None].setChecked(True)
    with qtbot.waitSignal(form.accepted):
        form.ok.click()
    assert not form.typed.text()
    qtbot.waitUntil(lambda: labels(keys) == ["Passing"])
    assert keys.rows[0].fingerprint == key.fingerprint
    assert not keys.buttons[KeyAct.EXPORT].isEnabled()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or key.to_hex().encode() not in path.read_bytes()


def test_a_wrong_key_keeps_the_form_the_name_and_the_cursor(keys, qtbot, tmp_path):
    form = keys.ask(KeyAct.IMPORT)
    form.line.setText("Reading room")
    form.places[None].setChecked(True)
    before = form.height()
    for typed in ("zz" * 32, "ab" * 31):
        form.typed.setText(typed)
        qtbot.keyClick(form.line, Qt.Key.Key_Return)
        assert not form.ok.isEnabled()
        settle(qtbot, keys)
        assert form.isVisible()
        assert form.words.text()
        assert typed not in form.words.text()
        assert form.line.text() == "Reading room"
        assert form.typed.hasSelectedText()
        assert form.height() > before
    # An encrypted file: its passphrase is asked for above the form, as often as it takes.
    path = tmp_path / "copy.purakey"
    secret = KeyFile(key=SecretKey.generate(), name="Copy")
    path.write_bytes(write_key_file(secret, passphrase_bytes(WORDS), cost=Cost(log2_n=14)))
    form.typed.clear()
    form.take(path)
    form.ok.click()
    settle(qtbot, keys)
    box = child(keys, PassphraseDialog)
    for words in ("not the passphrase", WORDS):
        box.first.setText(words)
        qtbot.keyClick(box.first, Qt.Key.Key_Return)
        if words != WORDS:
            settle(qtbot, keys)
            assert "does not open" in box.words.text()
            assert box.first.hasSelectedText()
    qtbot.waitUntil(lambda: labels(keys) == ["Reading room"])
    assert keys._forms == []


def test_a_passphrase_is_shown_only_when_asked_and_judged_by_length(app, qtbot):
    dialog = PassphraseDialog("t", "w", "OK", new=True)
    qtbot.addWidget(dialog)
    assert dialog.first.echoMode() == QLineEdit.EchoMode.Password
    dialog.shown.setChecked(True)
    assert dialog.first.echoMode() == QLineEdit.EchoMode.Normal
    dialog.first.setText("short")
    assert "of at least 12" in dialog.strength.text()
    dialog.first.setText(WORDS)
    assert dialog.ok.missing.text() == "Still needed: Once more"
    dialog.again.setText(WORDS[:-1])
    assert not dialog.ok.isEnabled()
    dialog.again.setText(WORDS)
    assert dialog.ok.isEnabled()
    given: list[Secret] = []
    dialog.given.connect(given.append)
    dialog.ok.click()
    assert given[0].copy() == bytearray(WORDS.encode())
    assert not dialog.first.text()
    assert WORDS not in repr(given[0])
    assert [strength_words(n, 12)[1] for n in (0, 11, 12, 30)] == [False, False, True, True]


@pytest.fixture
def two_keys(bench, keys, qtbot):
    """Two keys of this run; the first is chosen."""
    for name in ("House", "Desk"):
        keys.carry_out(partial(create_key, name=name, session=True))
        qtbot.waitUntil(lambda n=name: n in labels(keys))
        settle(qtbot, keys)
    assert chosen_labels(bench) == ["House"]
    return bench


def chosen_labels(bench):
    return [key.label for key in bench.session.chosen.keys]


def key_actions(bench):
    return [action for action in bench.header.key.actions() if action.isCheckable()]


def test_in_the_menu_a_key_is_chosen_and_not_added(two_keys):
    menu, chip = two_keys.header.key, two_keys.header.setup
    assert [action.isChecked() for action in key_actions(two_keys)] == [True, False]
    key_actions(two_keys)[1].trigger()
    assert chosen_labels(two_keys) == ["Desk"]
    assert [action.isChecked() for action in key_actions(two_keys)] == [False, True]
    assert "Key: Desk" in chip.toolTip()
    assert "Key: Desk" in chip.accessibleDescription()
    assert menu.title() == "Key: Desk"
    key_actions(two_keys)[1].trigger()
    assert chosen_labels(two_keys) == ["Desk"], "the last one stays"
    session = two_keys.session
    assert session.settings.current.key == session.chosen.keys[0].fingerprint


def test_several_keys_are_tried_by_an_act_of_its_own(two_keys):
    two_keys.header.key.more_wanted.emit()
    dialog = two_keys.findChild(SeveralKeysDialog)
    boxes = list(dialog.boxes.values())
    assert [box.isChecked() for box in boxes] == [True, False]
    boxes[0].setChecked(False)
    assert not dialog.submit.isEnabled()
    for box in boxes:
        box.setChecked(True)
    dialog.submit.click()
    assert chosen_labels(two_keys) == ["House", "Desk"]
    assert [action.isChecked() for action in key_actions(two_keys)] == [True, True]
    assert two_keys.header.key.title() == "Key: House, Desk"
    # One that is chosen in the menu replaces them all.
    key_actions(two_keys)[0].trigger()
    assert chosen_labels(two_keys) == ["House"]
    assert [action.isChecked() for action in key_actions(two_keys)] == [True, False]


def test_keys_are_managed_from_the_menu(two_keys):
    manage: QAction = two_keys.header.key.actions()[-1]
    before = len(two_keys.findChildren(KeysDialog))
    manage.trigger()
    assert len(two_keys.findChildren(KeysDialog)) == before + 1


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_ticking_keeps_the_list_open(app, qtbot):
    from pura_audit.widgets.chips import ChoiceMenu

    owner = QWidget()
    qtbot.addWidget(owner)
    menu = ChoiceMenu(owner, "Letter")
    menu.fill([("a", "", True), ("b", "", False)], "", several=True)
    seen: list[list[int]] = []
    menu.several_chosen.connect(seen.append)
    menu.popup(owner.mapToGlobal(owner.rect().topLeft()))
    place = menu.actionGeometry(menu.actions()[1]).center()
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place)
    assert seen == [[0, 1]]
    assert menu.isVisible()
    menu.setActiveAction(menu.actions()[0])
    qtbot.keyClick(menu, Qt.Key.Key_Space)
    assert seen == [[0, 1], [1]]
    assert menu.isVisible()
    menu.close()


def test_all_ticked_keys_go_into_one_request_each_once(window, engine, qtbot):
    first = window.session.chosen.key
    other = KeyChoice(label="Other", fingerprint="f" * 16)
    again = KeyChoice(label="Same under another name", fingerprint=first.fingerprint, session=True)
    window.session.chosen.choose_keys([first, other, again])
    window.session.texts.add_text("A text that is to be audited with two keys.")
    window.session.audits.audit()
    qtbot.waitUntil(lambda: bool(engine.setups))
    labels = [ref.label for ref in engine.setups[0].needed_keys]
    assert labels == [first.label, other.label]


def test_an_audit_asks_for_the_passphrase_first(keys, bench, qtbot):
    from pura_audit.workbench.questions import unlocked

    make(qtbot, keys, "House")
    went: list[str] = []
    assert unlocked(bench.session, bench, lambda: went.append("open")) is None
    assert went == ["open"]
    bench.session.environment.keys.files.lock()
    bench.session.chosen.look_around()
    qtbot.waitUntil(lambda: bench.session.chosen.catalogue.files is State.LOCKED)
    dialog = unlocked(bench.session, bench, lambda: went.append("asked"))
    assert went == ["open"]
    dialog.first.setText("not the passphrase")
    dialog.ok.click()
    qtbot.waitUntil(lambda: "does not open" in dialog.words.text())
    assert went == ["open"]
    dialog.first.setText(WORDS)
    dialog.ok.click()
    qtbot.waitUntil(lambda: went == ["open", "asked"])
    qtbot.waitUntil(lambda: bench.session.chosen.catalogue.files is State.READY)
    qtbot.waitUntil(lambda: not bench.session.jobs.stores.busy)


def test_whoever_came_to_import_a_key_file_is_back_where_it_was_dropped(bench, qtbot, tmp_path):
    file = tmp_path / "desk.key"
    file.write_text("ab" * 32)
    for finish in ("make", "cancel"):
        bench.add_files([file.rename(tmp_path / "desk.purakey")])
        file = tmp_path / "desk.purakey"
        form = child(bench.findChild(KeysDialog), KeyForm)
        if finish == "make":
            next(b for b in form.findChildren(QRadioButton) if "session" in b.text()).click()
            form.ok.click()
        else:
            form.reject()
        qtbot.waitUntil(lambda: not bench.findChildren(KeysDialog))
    assert [key.label for key in bench.session.chosen.catalogue.keys] == ["desk"]

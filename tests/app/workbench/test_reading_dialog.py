"""How a file is read: another encoding, other parts, with a preview before it counts."""

import mailbox
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from pura_audit.session.queue_model import ItemState
from pura_audit.workbench import opening

RUSSIAN = "Совет собрался во вторник вечером, чтобы обсудить будущее гавани."


@pytest.fixture
def opened(window, qtbot):
    def open_(path: Path) -> Any:
        window.session.texts.add_paths([path])
        qtbot.waitUntil(lambda: not window.session.texts.current.active)
        dialog = opening.show_reading(window)
        qtbot.addWidget(dialog)
        qtbot.waitUntil(lambda: bool(dialog.preview.toPlainText() or dialog.notes.text()))
        return dialog

    return open_


def test_another_encoding_is_seen_first_and_holds_afterwards(window, qtbot, opened, tmp_path):
    path = tmp_path / "memo.txt"
    path.write_bytes(RUSSIAN.encode("koi8-r"))
    dialog = opened(path)
    place = dialog.encoding.findData("koi8-r")
    assert place > 0, [dialog.encoding.itemData(i) for i in range(dialog.encoding.count())]
    dialog.encoding.setCurrentIndex(place)
    dialog.encoding.activated.emit(place)
    qtbot.waitUntil(lambda: "your choice" in dialog.how.text())
    assert RUSSIAN in dialog.preview.toPlainText()
    assert "koi8-r" in dialog.how.text().replace("_", "-")
    assert not dialog.parts.isVisibleTo(dialog)
    qtbot.mouseClick(dialog.apply, Qt.MouseButton.LeftButton)
    item = window.session.texts.current
    assert item.document.text == RUSSIAN
    assert item.document.encoding_source == "chosen"
    assert item.state is ItemState.READY


def test_parts_of_a_mailbox_are_chosen(window, qtbot, opened, tmp_path):
    path = tmp_path / "box.mbox"
    box = mailbox.mbox(path)
    for words in ("First message, a few words long.", "Second message, also short."):
        message = EmailMessage()
        message["From"], message["Subject"] = "a@example.org", words.split()[0]
        message.set_content(words)
        box.add(message)
    box.close()
    dialog = opened(path)
    assert dialog.parts.count() == 2
    assert not dialog.encoding.isVisibleTo(dialog) or dialog.encoding.count()
    dialog.parts.item(0).setCheckState(Qt.CheckState.Unchecked)
    dialog.parts.setCurrentRow(1)
    assert "Second message" in dialog.preview.toPlainText()
    dialog.parts.item(1).setCheckState(Qt.CheckState.Unchecked)
    assert not dialog.apply.isEnabled()
    dialog.parts.item(1).setCheckState(Qt.CheckState.Checked)
    dialog.apply.click()
    assert "Second message" in window.session.texts.current.document.text


def test_a_damaged_file_says_why_and_changes_nothing(opened, tmp_path):
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\n garbage")
    dialog = opened(path)
    assert dialog.notes.text()
    assert not dialog.apply.isEnabled()


def test_a_pasted_text_has_no_file_to_read_otherwise(window):
    window.session.texts.add_text("Pasted words.")
    assert opening.show_reading(window) is None


def test_nothing_above_moves_when_the_file_has_been_looked_into(window, qtbot, tmp_path):
    plain, broken, box = (tmp_path / name for name in ("memo.txt", "broken.pdf", "box.mbox"))
    plain.write_text(RUSSIAN, encoding="utf-8")
    broken.write_bytes(b"%PDF-1.7\n garbage")
    mails = mailbox.mbox(box)
    for words in ("First message, a few words long.", "Second message, also short."):
        message = EmailMessage()
        message["From"], message["Subject"] = "a@example.org", words.split()[0]
        message.set_content(words)
        mails.add(message)
    mails.close()
    for path in (plain, broken, box):
        window.session.texts.add_paths([path])
        qtbot.waitUntil(lambda: not window.session.texts.current.active)
        dialog = opening.show_reading(window)
        qtbot.addWidget(dialog)
        QApplication.processEvents()
        shown = (dialog.encoding, dialog.how, dialog.apply)

        def places(shown: Any = shown, dialog: Any = dialog) -> list[QPoint]:
            return [one.mapTo(dialog, QPoint()) for one in (*shown, dialog.preview)]

        assert dialog.encoding.count() == 1, "the file was looked into before it was measured"
        before = places()
        qtbot.waitUntil(lambda d=dialog: bool(d.preview.toPlainText() or d.notes.text()))
        QApplication.processEvents()
        assert places() == before, path.name
        dialog.reject()

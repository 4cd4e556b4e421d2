"""Every state of the window in German, as small as it gets: nothing is cut, nothing overlaps.

At 200 % a screen of 1600 by 1000 pixels has 800 by 500 of those that layouts count in.
"""

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QWidget
from tests.app.room import faults

from pura_audit.jobs.queue import Failure, Progress
from pura_audit.session.queue_model import ItemState
from pura_audit.widgets.chips import Chip

SIZES = ((760, 460), (800, 500), (1024, 640), (1280, 720))


def at_every_size(window: Any, state: str) -> list[str]:
    found = []
    for size in SIZES:
        window.resize(*size)
        for _ in range(3):
            QApplication.processEvents()
        found += [f"{state} {size}: {fault}" for fault in faults(window)]
    return found


def test_nothing_is_cut_and_nothing_overlaps(german, audit, several, text):
    window, session = german, german.session
    found = at_every_size(window, "empty")
    window.empty.setup.show()
    window.empty.setup.busy(Progress(step=0, name="model", done=40, total=100, seconds_left=75))
    window.empty.setup.say("Die Datei lässt sich nicht lesen. " * 3)
    found += at_every_size(window, "setting up")
    session.texts.add_text(f"\u200b{text}", f"{'Stellungnahme_der_Verwaltung_' * 5}v3.docx")
    found += at_every_size(window, "ready")
    item = session.texts.current
    item.state = ItemState.INTERRUPTED
    window.work.ready.show_item(item, ("key", "model", "profile"))
    found += at_every_size(window, "missing")
    item.state, item.progress = (
        ItemState.RUNNING,
        Progress(step=5, name="reading", done=1234, total=56789, seconds_left=4000, texts=8),
    )
    session.texts.touch(item)
    found += at_every_size(window, "running")
    item.state = ItemState.FAILED
    item.failure = Failure(
        code="x",
        message="Die Datei enthält keinen Text, nur Bilder von Seiten. " * 2,
        hint="Lassen Sie den Text erkennen, und geben Sie die neue Datei. " * 2,
    )
    session.texts.touch(item)
    found += at_every_size(window, "failed")
    first, second = audit.candidates
    for name, one in {
        "mark": audit,
        "several marks": several,
        "in question": replace(
            audit,
            candidates=(replace(first, posterior=0.7), replace(second, posterior=0.3)),
        ),
        "no mark": replace(audit, verdict="insufficient", passages=(), sentences=()),
    }.items():
        session.texts.add_audit(replace(one, id=f"{len(session.texts.queue.items):032x}"))
        found += at_every_size(window, name)
    window.work.answer.limits.open()
    window.work.text.find_bar.enter()
    found += at_every_size(window, "limits")
    window.toggle_results()
    found += at_every_size(window, "table")
    window.toggle_issued()
    found += at_every_size(window, "issued")
    assert not found, "\n".join(found)


def test_a_narrow_chooser_says_what_is_chosen(qtbot):
    chip = Chip("Schlüssel")
    qtbot.addWidget(chip)
    chip.show()
    chip.show_value("Newsroom 2026", "")
    chip.resize(chip.sizeHint())
    assert chip.text() == "Schlüssel  Newsroom 2026"
    chip.resize(chip.minimumSizeHint())
    assert chip.text()[0] == "N"  # how many letters there is room for depends on the font


def test_a_cut_button_and_one_on_top_of_another_are_seen(app, qtbot):
    root = QWidget()
    qtbot.addWidget(root)
    row = QHBoxLayout(root)
    wide, narrow = QPushButton("Has the room it needs"), QPushButton("Has too little")
    for button in (wide, narrow):
        row.addWidget(button)
    root.show()
    assert faults(root) == []
    narrow.resize(20, narrow.height())
    assert faults(root) == ["cut: QPushButton “Has too little”"]
    wide.move(narrow.pos())
    assert "QPushButton on QPushButton in QWidget “”" in faults(root)

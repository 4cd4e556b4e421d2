"""Every state of the window in German, as small as it gets: nothing is cut, nothing overlaps.

At 200 % a screen of 1600 by 1000 pixels has 800 by 500 of those that layouts count in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QCheckBox,
    QLabel,
    QSplitterHandle,
    QWidget,
)

from pura.base.paths import Paths
from pura.record.audit import Audit
from pura_audit import application
from pura_audit.jobs.outcome import Failure, Progress
from pura_audit.platform.i18n import set_language
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.items import ItemState
from pura_audit.widgets.chips import Chip
from pura_audit.widgets.elided import ElidedLabel

DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
SIZES = ((760, 460), (800, 500), (1280, 720))


def parts(root: QWidget) -> Iterator[QWidget]:
    """What is on screen, without the insides of views."""
    for child in root.findChildren(QWidget, options=DIRECT):
        if child.isVisible() and not child.isWindow():
            yield child
            if not isinstance(child, QAbstractItemView):
                yield from parts(child)


def cut(widget: QWidget) -> bool:
    """Whether its words need more room than it has, and it does not shorten them."""
    room, metrics = widget.contentsRect(), widget.fontMetrics()
    if isinstance(widget, QLabel) and not isinstance(widget, ElidedLabel) and widget.text():
        if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height()
        lines = widget.text().split("\n")
        wide = max(map(metrics.horizontalAdvance, lines))
        return wide > room.width() or len(lines) * metrics.height() > room.height() + 1
    if isinstance(widget, QAbstractButton):
        frame = 20 if isinstance(widget, QCheckBox) else 0  # the box
        words = widget.text().replace("&", "")
        return bool(words) and metrics.horizontalAdvance(words) + frame > widget.width()
    return False


def faults(window: QWidget) -> list[str]:
    found = []
    seen = [window, *parts(window)]
    for widget in seen:
        words = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
        name = f"{type(widget).__name__} “{words:.50}”"
        if cut(widget):
            found.append(f"cut: {name}")
        above = widget.parentWidget()
        inside = above is None or isinstance(above.parentWidget(), QAbstractScrollArea)
        if not inside and not above.rect().adjusted(-1, -1, 1, 1).contains(widget.geometry()):
            found.append(f"outside {type(above).__name__}: {name}")
        children = [
            child
            for child in widget.findChildren(QWidget, options=DIRECT)
            if child in seen and not isinstance(child, QSplitterHandle)
        ]
        if isinstance(widget, QAbstractScrollArea) or widget.layout() is None:
            continue
        for one, other in combinations(children, 2):
            if one.geometry().intersects(other.geometry()):
                found.append(f"{type(one).__name__} on {type(other).__name__} in {name}")
    return found


@pytest.fixture
def german(app: Any, qtbot: Any, engine: Any, paths: Paths) -> Iterator[Any]:
    SettingsFile(paths.config).update(language="de")
    made = application.make_window(paths, engine=engine, theme="light")
    made.session.settings.update(begin_audits=False)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(
        lambda: made.session.chosen.catalogue is not None and made.session.chosen.device is not None
    )
    yield made
    engine.gate.set()
    made.session.close()
    set_language("en")


def at_every_size(window: Any, state: str) -> list[str]:
    found = []
    for size in SIZES:
        window.resize(*size)
        for _ in range(3):
            QApplication.processEvents()
        found += [f"{state} {size}: {fault}" for fault in faults(window)]
    return found


def test_nothing_is_cut_and_nothing_overlaps(
    german: Any, engine: Any, audit: Audit, text: str
) -> None:
    window, session = german, german.session
    found = at_every_size(window, "empty")
    window.empty.setup.show()
    window.empty.setup.busy(Progress(step=0, name="model", done=40, total=100, seconds_left=75))
    window.empty.setup.say("Die Datei lässt sich nicht lesen. " * 3)
    found += at_every_size(window, "setting up")
    session.texts.add_text(f"\u200b{text}", "Ein Brief an die Redaktion mit einem langen Namen")
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
    window.toggle_pile()
    found += at_every_size(window, "table")
    assert not found, "\n".join(found)


def test_a_narrow_chooser_says_what_is_chosen_or_what_lacks(qtbot: Any) -> None:
    chip = Chip("Schlüssel")
    qtbot.addWidget(chip)
    chip.show()
    choices = [("Newsroom 2026", "")]
    chip.set_choices(choices, 0, "fehlt", "")
    chip.resize(chip.sizeHint())
    assert chip.text() == "Schlüssel  Newsroom 2026  ▾"
    chip.resize(chip.minimumSizeHint())
    assert chip.text()[0] == "N"  # how many letters there is room for depends on the font
    chip.set_choices(choices, -1, "fehlt", "")
    assert chip.text()[0] == "S"

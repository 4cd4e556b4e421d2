"""While keys, models and profiles are looked for: nothing moves once they are found."""

import threading

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QLineEdit, QWidget

from pura_audit import application

SIZES = ((1440, 900), (1024, 640), (800, 500))


def places(window: QWidget) -> dict[QWidget, tuple[int, int]]:
    """Where everything stands that can be pressed or written into."""
    kinds = (QAbstractButton, QLineEdit, QAbstractScrollArea)
    return {
        widget: QRect(widget.mapTo(window, QPoint()), widget.size()).topLeft().toTuple()
        for widget in window.findChildren(QWidget)
        if isinstance(widget, kinds) and widget.isVisible()
    }


@pytest.mark.parametrize("case", ["nothing is set up", "all is here", "a text waits"])
def test_nothing_moves_when_it_is_found_what_is_here(app, qtbot, engine, paths, monkeypatch, case):
    found, look = threading.Event(), engine.catalogue
    engine.empty = case == "nothing is set up"
    for size in SIZES:
        found.clear()
        monkeypatch.setattr(engine, "catalogue", lambda: found.wait(60) and look())
        window = application.make_window(paths, engine=engine, theme="light", remembers=False)
        qtbot.addWidget(window)
        try:
            window.resize(*size)
            window.show()
            if case == "a text waits":
                window.session.texts.add_text("A text that waits to be audited. " * 60, "memo")
            for _ in range(5):
                QApplication.processEvents()
            assert not window.header.setup.property("missing")  # nothing is wrong yet
            before = places(window)
            found.set()
            chosen = window.session.chosen
            qtbot.waitUntil(lambda c=chosen: None not in (c.catalogue, c.device))
            qtbot.wait(100)
            after = places(window)
            moved = [
                f"{type(widget).__name__} “{widget.accessibleName()}” {place} {after[widget]}"
                for widget, place in before.items()
                if widget in after and after[widget] != place
            ]
            assert not moved, f"{size}: {moved}"
            assert len(before) > 5
        finally:
            found.set()
            window.session.close()

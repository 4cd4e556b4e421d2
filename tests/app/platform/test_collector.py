"""Garbage with windows in it is freed in the window's thread, between two events."""

import gc
import threading
import weakref
from typing import Any

from PySide6.QtWidgets import QDialog

from pura_audit.platform.diagnostics import the_collector


class Closed(QDialog):
    """A window that nobody holds but itself, as a closed one often does."""

    def __init__(self, freed: list[str]) -> None:
        super().__init__()
        weakref.finalize(self, lambda: freed.append(threading.current_thread().name))
        self.itself = self
        self.show()


def in_a_thread(work: Any) -> threading.Thread:
    thread = threading.Thread(target=work, name="another")
    thread.start()
    return thread


def test_what_another_thread_makes_frees_no_window(app, qtbot, monkeypatch):
    freed: list[str] = []
    Closed(freed)
    in_a_thread(lambda: [[place] for place in range(100_000)]).join()
    assert len(app.topLevelWidgets()) > 0
    assert freed == []
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 99))  # the oldest is due
    the_collector()
    qtbot.waitUntil(lambda: freed == ["MainThread"])


def test_another_thread_asks_for_it(app, qtbot):
    freed: list[str] = []
    Closed(freed)
    gc.collect(0)
    gc.collect(0)
    collector = the_collector()
    asking = in_a_thread(collector.collect)
    qtbot.waitUntil(lambda: not asking.is_alive())
    assert freed == ["MainThread"]


def test_it_rests_while_the_limit_is_none(app, qtbot, monkeypatch):
    limits = gc.get_threshold()
    collected: list[int] = []
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 99))
    monkeypatch.setattr(gc, "collect", collected.append)
    gc.set_threshold(0)
    try:
        the_collector()
        qtbot.wait(1500)
        assert collected == []
    finally:
        gc.set_threshold(*limits)
    qtbot.waitUntil(lambda: bool(collected))

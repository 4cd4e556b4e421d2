"""Whoever has gone on to other work is told that a long run has ended; no text is named."""

import pytest
from PySide6.QtWidgets import QApplication

from pura_audit.workbench.header import LONG_S, RunNotice


@pytest.mark.parametrize(
    ("seconds", "in_front", "told"),
    [(LONG_S + 1, False, 1), (LONG_S - 1, False, 0), (LONG_S + 1, True, 0)],
)
def test_only_a_long_run_behind_another_window_is_told(
    window, monkeypatch, seconds, in_front, told
):
    now = [0.0]
    alerts: list[object] = []
    front = window if in_front else None
    monkeypatch.setattr(QApplication, "activeWindow", staticmethod(lambda: front))
    monkeypatch.setattr(QApplication, "alert", staticmethod(alerts.append))
    notice = RunNotice(window.session, window, lambda: now[0])
    window.session.jobs.model.busy_changed.emit(True)
    now[0] = seconds
    window.session.jobs.model.busy_changed.emit(False)
    assert len(alerts) == told
    notice.deleteLater()

"""The stall meter, with a clock of its own; and what keeps the window's thread free."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from pura_audit import application
from pura_audit.platform import diagnostics
from pura_audit.platform.diagnostics import StallMeter


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def meter(app: Any, clock: Clock) -> Iterator[StallMeter]:
    made = StallMeter(clock=clock)
    made.start()
    made._timer.stop()  # the test beats itself
    yield made
    made.stop()


def test_a_steady_beat_is_no_stall(meter: StallMeter, clock: Clock) -> None:
    for _ in range(50):
        clock.now += 0.1
        meter.beat()
    assert not meter.stalls


def test_a_late_beat_is_a_stall_of_its_step(meter: StallMeter, clock: Clock) -> None:
    meter.mark("opening")
    clock.now += 0.75
    meter.mark("closing")
    clock.now += 0.05
    meter.beat()
    assert [(s.step, round(s.seconds, 6)) for s in meter.stalls] == [("opening", 0.75)]
    assert meter.longest("opening") == pytest.approx(0.75)
    assert meter.longest("closing") == pytest.approx(0.05)


def test_the_culprit_is_named_while_it_is_at_work(
    meter: StallMeter, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    def slow_culprit() -> None:
        clock.now += 0.3
        assert meter.looked.wait(timeout=30)  # the other thread looks at this line

    slow_culprit()
    meter.beat()
    (found,) = meter.stalls
    assert any("slow_culprit" in place and "test_stall.py" in place for place in found.stack)
    assert "slow_culprit" in caplog.text
    meter.beat()
    assert len(meter.stalls) == 1


def test_it_beats_by_itself_and_ends_cleanly(app: Any, qtbot: Any) -> None:
    meter = StallMeter(threshold=3600)
    meter.mark("idle")
    meter.start()
    first = meter._last
    qtbot.waitUntil(lambda: meter._last > first)
    assert any(t.name == "stall-meter" for t in threading.enumerate())
    meter.stop()
    meter.stop()
    assert not any(t.name == "stall-meter" for t in threading.enumerate())
    assert not meter.running


@pytest.mark.parametrize(
    ("arguments", "value", "on"),
    [([], "", False), ([], "0", False), ([], "1", True), (["--debug-stalls"], "", True)],
)
def test_it_is_off_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], value: str, on: bool
) -> None:
    monkeypatch.setenv("PURA_STALLS", value)
    assert application.parse(arguments).debug_stalls is on
    assert diagnostics.wanted() is (value == "1")


SHOWN = """
import sys
from pathlib import Path
from pura.base.paths import user_paths
from pura_audit.application import make_application, make_window
app = make_application()
window = make_window(user_paths(Path(sys.argv[1])))
window.show()
window.grab()
heavy = sorted({"torch", "transformers", "scipy"} & set(sys.modules))
window.session.close()
print("heavy:", heavy)
"""


def test_the_window_is_painted_before_torch_is_imported(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "heavy: []"


def test_what_is_drawn_is_bounded_by_what_is_seen(
    window: Any, qtbot: Any, text: str, tbcc: Any, sample_key: Any, audit_factory: Any
) -> None:
    window.resize(1440, 900)
    canvas = window.work.text.view

    def paint(count: int) -> int:
        window.session.texts.add_audit(audit_factory(text * count, tbcc, sample_key))
        qtbot.waitUntil(lambda: not canvas.laying)
        canvas.verticalScrollBar().setValue(canvas.verticalScrollBar().maximum() // 2)
        QApplication.processEvents()
        canvas.viewport().grab()
        return int(canvas.drawn)

    few, many = paint(8), paint(80)
    assert few > 50
    assert many <= 1.5 * few  # ten times the tokens, the same window

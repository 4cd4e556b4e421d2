"""The stall meter, with a clock of its own; and what keeps the window's thread free."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from pura_audit import application
from pura_audit.platform import diagnostics
from pura_audit.platform.diagnostics import StallMeter


@pytest.fixture
def meter(app, clock) -> Iterator[StallMeter]:
    made = StallMeter(clock=clock)
    made.start()
    made._timer.stop()  # the test beats itself
    yield made
    made.stop()


def test_a_steady_beat_is_no_stall(meter, clock):
    for _ in range(50):
        clock.now += 0.1
        meter.heartbeat()
    assert not meter.stalls


def test_a_late_beat_is_a_stall_of_its_step(meter, clock):
    meter.mark("opening")
    clock.now += 0.75
    meter.mark("closing")
    clock.now += 0.05
    meter.heartbeat()
    assert [(s.step, round(s.seconds, 6)) for s in meter.stalls] == [("opening", 0.75)]
    assert meter.longest("opening") == pytest.approx(0.75)
    assert meter.longest("closing") == pytest.approx(0.05)


def test_the_culprit_is_named_while_it_is_at_work(meter, clock, caplog):
    def slow_culprit() -> None:
        clock.now += 0.3
        assert meter.looked.wait(timeout=30)  # the other thread looks at this line

    slow_culprit()
    meter.heartbeat()
    (found,) = meter.stalls
    assert any("slow_culprit" in place and "test_stall.py" in place for place in found.stack)
    assert "slow_culprit" in caplog.text
    meter.heartbeat()
    assert len(meter.stalls) == 1


def test_it_beats_by_itself_and_ends_cleanly(app, qtbot):
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
def test_it_is_off_unless_asked_for(monkeypatch, arguments, value, on):
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


def test_the_window_is_painted_before_torch_is_imported(tmp_path):
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

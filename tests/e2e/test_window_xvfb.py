"""The real program on a real X screen: start, open, drop, audit, close; none of it offscreen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.programs("Xvfb"), pytest.mark.slow]
WAIT = 240

# Runs the program's own run() with its own flags and a file. A timer inside does what a person
# would: it drops another file on the window by the events that Qt makes of a drop, presses the
# button, waits, takes a picture of the screen (not of the widget) and closes the window through the
# platform, as a window manager does.
PERSON = """
import json, os, sys, traceback
from pathlib import Path
from PySide6.QtCore import QMimeData, QPointF, QTimer, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from pura_audit import application
from pura.desk.keys import ImportKey, import_key

text, key, folder, out, letter = map(Path, sys.argv[1:])
app = application.make_application()
seen = {"platform": QGuiApplication.platformName()}

def window():
    return next((w for w in app.topLevelWidgets() if hasattr(w, "session")), None)

def steps():
    w = yield lambda: window() is not None and window().isVisible()
    w = window()
    yield lambda: w.session.catalogue is not None and w.session.device is not None
    yield lambda: w.session.queue.items and w.session.queue.items[0].state.value == "ready"
    seen["opened"] = [(i.name, len(i.document.text)) for i in w.session.queue.items]
    w.session.remove(list(w.session.queue.items))
    request = ImportKey(name="Test", source=key, session=True)
    w.session.do(lambda _: import_key(w.session.workplace, request), lambda _: None, w)
    yield lambda: w.session.ready
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(text))])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    copy = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPointF(400, 300).toPoint(), copy, data, left, none)
    QApplication.sendEvent(w, enter)
    seen["welcome"] = enter.isAccepted()
    QApplication.sendEvent(w, QDropEvent(QPointF(400, 300), copy, data, left, none))
    item = w.session.queue.items[0]
    yield lambda: item.state.value == "ready"
    QTest.mouseClick(w.header.audit, left)
    yield lambda: not item.active
    seen["state"] = item.state.value
    seen["why"] = str(item.failure)
    seen["payload"] = w.work.answer.payload_text()
    yield lambda: w.work.answer.isVisible()
    QTest.qWait(300)
    w.screen().grabWindow(0).save(str(out))
    w.windowHandle().close()

plan = steps()
wanted = [next(plan)]

def go_on():
    try:
        if wanted[0]():
            wanted[0] = plan.send(None)
    except StopIteration:
        timer.stop()
    except Exception:
        traceback.print_exc()
        os._exit(3)  # at once, or the window would stay until the test loses patience

timer = QTimer()
timer.timeout.connect(go_on)
timer.start(50)
flags = ["--config-dir", str(folder), "--device", "cpu", "--debug-stalls"]
code = application.run([*flags, str(letter)])
seen["code"] = code
print(json.dumps(seen))
sys.exit(code)
"""


@pytest.fixture
def screen() -> Iterator[str]:
    """A screen of an X server of its own."""
    reader, writer = os.pipe()
    # The server chooses a free number itself and writes it into the pipe once it listens.
    command = [
        "Xvfb",
        "-displayfd",
        str(writer),
        "-screen",
        "0",
        "1440x900x24",
        "-nolisten",
        "tcp",
    ]
    server = subprocess.Popen(
        command, pass_fds=(writer,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
    try:
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture
def folder(home: Path, samples: dict[str, Any]) -> Path:
    """A user who has a model and a profile, and no key yet."""
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    text = json.dumps(samples["marked-tbcc"]["profile"])
    (profiles / "marked.json").write_text(text, encoding="utf-8")
    return home


def environment(screen: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("WAYLAND_DISPLAY", "QT_SCALE_FACTOR")}
    return kept | {"DISPLAY": screen, "QT_QPA_PLATFORM": "xcb", "LC_ALL": "C.UTF-8"}


@pytest.mark.model
def test_start_open_drop_audit_close_on_a_real_screen(
    screen: str, folder: Path, tmp_path: Path, samples: dict[str, Any]
) -> None:
    sample = samples["marked-tbcc"]["texts"][0]
    text, key, picture = tmp_path / "memo.txt", tmp_path / "key.txt", tmp_path / "screen.png"
    text.write_text(sample["text"], encoding="utf-8", newline="")
    key.write_text(samples["marked-tbcc"]["key_hex"], encoding="ascii")
    letter = tmp_path / "letter.txt"
    letter.write_text("A letter that nobody has marked.", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PERSON, *map(str, (text, key, folder, picture, letter))],
        env=environment(screen),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["platform"] == "xcb"
    assert seen["opened"] == [["letter.txt", 32]]
    assert seen["welcome"]
    assert seen["state"] == "done", seen["why"]
    assert seen["payload"] == "".join(map(str, sample["payload"]))
    assert "Traceback" not in done.stderr
    assert_painted(picture)


def assert_painted(picture: Path) -> None:
    """The screen shows a window: many colours, and those of our theme among them."""
    from PySide6.QtGui import QImage

    image = QImage(str(picture))
    assert (image.width(), image.height()) == (1440, 900)
    colours = [image.pixelColor(x, y).name() for x in range(0, 1440, 12) for y in range(0, 900, 12)]
    assert len(set(colours)) > 20
    assert max(colours.count(c) for c in set(colours)) < 0.95 * len(colours)

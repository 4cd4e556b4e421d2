"""The real program on a real desktop: X server, window manager, clipboard, keyring, screen reader.

Nothing inside the program helps: it says how it stands, and whatever a person does is done by other
programs. Keys and the mouse come through the X server, a file is dragged out of another window,
text comes from another program's clipboard, and buttons are pressed as a screen reader does it.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.programs("Xvfb", "openbox", "xdotool", "xclip"),
    pytest.mark.programs("dbus-run-session", "gnome-keyring-daemon"),
    pytest.mark.programs("/usr/libexec/at-spi-bus-launcher"),
    pytest.mark.slow,
    pytest.mark.weekly,
    # The library leaves its connection to the collector when a collection stays locked.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
WAIT = 120  # seconds

# The program itself, with its own flags; a timer writes a line whenever something has changed.
PROGRAM = """
import json, sys
from PySide6.QtCore import QPoint, QTimer
from pura_audit import application

app = application.make_application()
told = [""]

def tell():
    window = next((w for w in app.topLevelWidgets() if hasattr(w, "session")), None)
    if window is None or not window.isVisible():
        return
    session = window.session
    place = window.work.mapToGlobal(window.work.rect().center())
    rows = [
        [item.name, item.state.value, item.failure.code if item.failure else "",
         item.audit.decoded.bits if item.audit is not None else "",
         item.document.text if item.document else ""]
        for item in session.texts.queue.items
    ]
    now = json.dumps({
        "platform": app.platformName(), "place": [place.x(), place.y()], "rows": rows,
        "ready": session.chosen.ready and session.chosen.device is not None,
        "active": window.isActiveWindow(),
        "whole": window.screen().availableGeometry().contains(window.frameGeometry()),
    })
    if now != told[0]:
        told[0] = now
        print(now, flush=True)

timer = QTimer()
timer.timeout.connect(tell)
timer.start(50)
sys.exit(application.run(sys.argv[1:]))
"""

# Another program, out of whose window a file is dragged.
FILES = """
import sys
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDrag
from PySide6.QtWidgets import QApplication, QLabel

class Files(QLabel):
    def mousePressEvent(self, event):
        drag, data = QDrag(self), QMimeData()
        data.setUrls([QUrl.fromLocalFile(sys.argv[1])])
        drag.setMimeData(data)
        drag.exec(Qt.DropAction.CopyAction)

app = QApplication([])
files = Files("memo.txt")
files.setWindowFlags(Qt.WindowType.X11BypassWindowManagerHint)
files.setGeometry(0, 0, 120, 60)
files.show()
files.raise_()
print("here", flush=True)
app.exec()
"""


@pytest.fixture
def folder(home, samples) -> Path:
    """A user who has a model and a profile, and no key yet."""
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    text = json.dumps(samples["marked-tbcc"]["profile"])
    (profiles / "marked.json").write_text(text, encoding="utf-8")
    # The screen reader presses the button.
    (home / "config" / "settings.json").write_text('{"begin_audits": false}', encoding="utf-8")
    return home


class Seat:
    """Somebody who sits before the screen, and a screen reader."""

    def __init__(self, environment: dict[str, str], out: Path) -> None:
        self.environment, self._out = environment, out

    def start(self, *command: str, **more: Any) -> subprocess.Popen[Any]:
        """Start a program on the screen."""
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, **more)

    def hand(self, *words: str) -> None:
        """Move the mouse or press keys."""
        subprocess.run(["xdotool", *words], env=self.environment, check=True, timeout=60)

    def copy(self, words: str) -> None:
        """Put words on the clipboard, as another program does."""
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        copy = ["xclip", "-selection", "clipboard"]
        subprocess.run(copy, input=words.encode(), env=self.environment, check=True, **silent)

    def state(self) -> dict[str, Any]:
        """Return how the program says that it stands."""
        lines = [line for line in self._out.read_text().splitlines() if line.startswith("{")]
        return dict(json.loads(lines[-1])) if lines else {"rows": [], "ready": False}

    def until(self, ready: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait until the program stands so."""
        for _ in range(10 * WAIT):
            now = self.state()
            if ready(now):
                return now
            time.sleep(0.1)
        pytest.fail(f"it never came true: {self.state()}")


@pytest.mark.model
def test_a_working_day_on_a_real_desktop(screen, desktop, reader, folder, tmp_path, samples):
    sample = samples["marked-tbcc"]["texts"][0]
    text, letter, out = (tmp_path / name for name in ("memo.txt", "letter.txt", "out"))
    text.write_text(sample["text"], encoding="utf-8", newline="")
    letter.write_text("A letter that nobody has marked.", encoding="utf-8")
    done = desktop.process(
        "key", "new", "Newsroom"
    )  # the sample's own would not come from the ring
    assert done.returncode == 0, done.stderr

    kept = desktop.environment | {"DISPLAY": screen, "QT_QPA_PLATFORM": "xcb", "LC_ALL": "C.UTF-8"}
    seat = Seat(kept | {"OMP_WAIT_POLICY": "PASSIVE"}, out)
    manager = seat.start("openbox", stderr=subprocess.DEVNULL)
    flags = ["--config-dir", str(folder), "--device", "cpu", str(letter)]
    with out.open("w") as said, (tmp_path / "err").open("w") as wrong:
        program = seat.start(sys.executable, "-c", PROGRAM, *flags, stdout=said, stderr=wrong)
    try:
        day(seat, reader, desktop, text)
        assert program.wait(60) == 0
    finally:
        for process in (program, manager):
            process.kill()
            process.wait(30)
    assert "Traceback" not in (tmp_path / "err").read_text()


def day(seat: Seat, reader: Any, desktop: Any, text: Path) -> None:
    now = seat.until(lambda now: now["ready"] and now["active"] and now["rows"])
    assert now["platform"] == "xcb"
    assert now["whole"]  # title bar and frame too
    assert [row[0] for row in now["rows"]] == ["letter.txt"]
    # A file is dragged out of another program's window.
    files = seat.start(sys.executable, "-c", FILES, str(text), stdout=subprocess.PIPE)
    files.stdout.readline()
    x, y = map(str, now["place"])
    seat.hand("mousemove", "60", "30", "mousedown", "1", "sleep", "0.3", "mousemove", "90", "40")
    seat.hand("mousemove", "300", "200", "sleep", "0.3", "mousemove", x, y, "sleep", "0.5")
    seat.hand("mouseup", "1")
    seat.until(lambda now: len(now["rows"]) == 2 and now["rows"][1][1] == "ready")
    assert seat.state()["rows"][1][0] == "memo.txt"
    files.kill()  # only now: whoever drops a file is asked for it afterwards
    files.wait(30)
    files.stdout.close()
    # Words come from another program's clipboard.
    seat.copy("Words that somebody copied elsewhere.")
    seat.hand("mousemove", x, y, "key", "ctrl+v")
    now = seat.until(lambda now: len(now["rows"]) == 3)
    assert now["rows"][2][4] == "Words that somebody copied elsewhere."
    # A screen reader presses the button, and reads what was found.
    reader.press("Audit")
    now = seat.until(lambda now: all(row[1] == "done" for row in now["rows"]))
    found = now["rows"][1]
    assert {"Queue", "Details"} <= reader.names()
    # The keyring locks itself: the next audit says so, what was found stays, and after a login it
    # goes on.
    assert desktop.look("lock")[0]
    seat.copy(text.read_text(encoding="utf-8"))
    seat.hand("key", "ctrl+v")
    seat.until(lambda now: len(now["rows"]) == 4)
    reader.press("Audit")
    now = seat.until(lambda now: now["rows"][3][1] not in ("ready", "waiting", "running"))
    assert now["rows"][3][1:3] == ["failed", "keyring-locked"]
    assert now["rows"][1] == found
    desktop.log_in()
    reader.press("Try again")
    now = seat.until(lambda now: now["rows"][3][1] == "done")
    assert now["rows"][3][3] == found[3]
    # The window manager closes the window.
    seat.hand("key", "alt+F4")

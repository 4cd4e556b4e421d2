"""What a screen reader is told of the real window and of every dialog, through AT-SPI itself."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.app.records import make_audit

from pura.record import json_io
from pura.scheme import Profile

pytestmark = [
    pytest.mark.programs("Xvfb", "dbus-run-session", "gnome-keyring-daemon"),
    pytest.mark.programs("/usr/libexec/at-spi-bus-launcher"),
    pytest.mark.slow,
]

# The window with a finding and a set-up; a line that it is sent brings the next dialog.
PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import QSocketNotifier, QTimer
from tests.app.every_dialog import opened_dialogs
from pura.base.paths import user_paths
from pura.record import json_io
from pura_audit import application
from pura_audit.platform.notices import LABEL, sample

app = application.make_application()
audit = json_io.from_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
user_paths().profiles.mkdir()
(user_paths().profiles / "sample.json").write_text(sample().profile.to_json(), encoding="utf-8")
window = application.show_audit(audit, paths=user_paths(), session_keys={LABEL: sample().key})
window.show()
shown, acts = [], iter(opened_dialogs(window).items())

def tell(name):
    QTimer.singleShot(100, lambda: print(name, flush=True))

def follow():
    sys.stdin.readline()
    while shown:
        shown.pop().reject()
    name, act = next(acts, ("", app.quit))
    shown.extend(filter(None, [act()]))
    tell(name)

asked = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
asked.activated.connect(follow)
QTimer.singleShot(500, lambda: print("window", flush=True))
app.exec()
print("", flush=True)
"""

MARKUP = re.compile(r"</?\w+[^>]*>")
NAMELESS = frozenset(["panel", "filler", "pane", "splitter", "separator", "label", "cell", "item"])
"""Last words of the roles of what only holds other parts, and of what may be empty."""


def wrong(part: Any) -> str:
    """Say what a screen reader would say wrongly of a part; nothing where all is well."""
    if part.role in ("filler", "invalid", "unknown") and part.name:
        return "no role"
    if "focusable" in part.states and not part.name and part.role.split()[-1] not in NAMELESS:
        return "no name"
    if MARKUP.search(part.name + part.description):
        return "markup"
    if part.role in ("check box", "radio button") and "checkable" not in part.states:
        return "no state"
    return ""


@contextmanager
def window(screen: str, desktop: Any, record: Path, log: Path) -> Iterator[subprocess.Popen[str]]:
    environment = desktop.environment | {
        "DISPLAY": screen,
        "QT_QPA_PLATFORM": "xcb",
        "PYTHONPATH": ":".join(map(str, sys.path)),
    }
    with log.open("w") as said:
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(record)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
    try:
        assert program.stdout.readline() == "window\n", log.read_text()
        yield program
    finally:
        program.kill()
        program.wait(60)
        for pipe in (program.stdin, program.stdout):
            pipe.close()


@pytest.fixture
def record(tmp_path, samples, sample_key) -> Path:
    sample = samples["marked-tbcc"]
    profile = Profile.from_dict(sample["profile"])
    audit = make_audit(sample["texts"][0]["text"], profile, sample_key)
    path = tmp_path / "record.json"
    path.write_text(json_io.to_json(audit), encoding="utf-8")
    return path


def speak(home: Path, language: str) -> None:
    (home / "config").mkdir()
    (home / "config/settings.json").write_text(f'{{"language": "{language}"}}', encoding="utf-8")


@pytest.mark.parametrize(
    ("language", "answer", "heading"),
    [("en", "Answer", "A mark was found"), ("de", "Antwort", "Eine Markierung wurde gefunden")],
)
def test_the_window_is_told(
    screen, desktop, reader, home, record, tmp_path, language, answer, heading
):
    speak(home, language)
    with window(screen, desktop, record, tmp_path / "log"):
        parts = list(reader.walk())
    told = {(part.role, part.name) for part in parts}
    assert {("section", answer), ("heading", heading)} <= told, sorted(told)
    assert {role for role, _ in told} >= {"chart", "document", "graphic", "button menu"}
    said = next(part.description for part in parts if part.role == "section")
    assert said.startswith(f"{heading}. ")
    [row] = [part for part in parts if part.role == "list item"]
    assert "selected" in row.states
    assert [(fault, part) for part in parts if (fault := wrong(part))] == []


@pytest.mark.weekly
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_dialog_is_told(screen, desktop, reader, home, record, tmp_path, language):
    speak(home, language)
    faults, names = [], []
    with window(screen, desktop, record, tmp_path / "log") as program:
        before = set(reader.frames())
        while True:
            program.stdin.write("\n")
            program.stdin.flush()
            if not (name := program.stdout.readline().strip()):
                break
            names.append(name)
            parts = [p for at in reader.frames() if at not in before for p in reader.walk(at)]
            faults += [f"{name}: {fault}: {p[2:5]}" for p in parts if (fault := wrong(p))]
            if not parts:
                faults.append(f"{name}: nothing is told")
    assert len(names) > 30
    assert not faults, "\n".join(faults)
    assert "Traceback" not in (tmp_path / "log").read_text()

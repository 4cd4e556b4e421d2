"""The guards that every test stands under do fail a test that breaks them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
BROKEN = {
    "a thread that goes on": (
        (
            "import threading, time\n"
            "def test_it():\n"
            "    threading.Thread(target=time.sleep, args=(8,)).start()\n"
        ),
        "threads left behind",
    ),
    "a Qt thread that goes on": (
        (
            "from PySide6.QtCore import QThread\n"
            "kept = []\n"
            "def test_it(qapp):\n"
            "    thread = QThread()\n"
            "    kept.append(thread)\n"
            "    thread.start()\n"
        ),
        "Qt threads left behind",
    ),
    "a warning": (
        "import warnings\ndef test_it():\n    warnings.warn('stale', DeprecationWarning)\n",
        "DeprecationWarning: stale",
    ),
    "a warning of Qt": (
        (
            "from PySide6.QtCore import QObject\n"
            "def test_it(qtlog, qapp):\n"
            "    from PySide6.QtCore import qWarning\n"
            "    qWarning('a signal without a receiver')\n"
        ),
        "a signal without a receiver",
    ),
    "a file left open": (
        "import gc\ndef test_it(tmp_path):\n    (tmp_path / 'x').open('w')\n    gc.collect()\n",
        "ResourceWarning",
    ),
}
SOUND = "import os\ndef test_it():\n    assert 'DBUS_SESSION_BUS_ADDRESS' not in os.environ\n"


def run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run one test file under the project's own settings and fixtures, in a process of its own."""
    file = folder / "test_inner.py"
    file.write_text(source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "-c",
        str(TESTS.parent / "pyproject.toml"),
        "--rootdir",
        str(folder),
        str(file),
    ]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(TESTS), "DBUS_SESSION_BUS_ADDRESS": "unix:path=x"},
    )


@pytest.mark.parametrize("what", BROKEN)
def test_a_test_fails_that_leaves(what: str, tmp_path: Path) -> None:
    source, complaint = BROKEN[what]
    done = run(tmp_path, source)
    assert done.returncode not in (0, 5), done.stdout
    assert complaint in done.stdout + done.stderr


def test_a_sound_test_passes_and_sees_no_keyring(tmp_path: Path) -> None:
    done = run(tmp_path, SOUND)
    assert done.returncode == 0, done.stdout

"""The guards that every test stands under do fail a test that breaks them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
BROKEN = {
    "thread": (
        (
            "import threading, time\n"
            "def test_it():\n"
            "    threading.Thread(target=time.sleep, args=(40,)).start()\n"
        ),
        "threads left behind",
    ),
    "qt_thread": (
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
    "warning": (
        "import warnings\ndef test_it():\n    warnings.warn('stale', DeprecationWarning)\n",
        "DeprecationWarning: stale",
    ),
    "qt_warning": (
        (
            "from PySide6.QtCore import QObject\n"
            "def test_it(qtlog, qapp):\n"
            "    from PySide6.QtCore import qWarning\n"
            "    qWarning('a signal without a receiver')\n"
        ),
        "a signal without a receiver",
    ),
    "open_file": (
        "import gc\ndef test_it(tmp_path):\n    (tmp_path / 'x').open('w')\n    gc.collect()\n",
        "ResourceWarning",
    ),
}
SOUND = "import os\ndef test_it():\n    assert 'DBUS_SESSION_BUS_ADDRESS' not in os.environ\n"


@pytest.mark.weekly
def test_each_guard_fails_the_test_that_breaks_it_and_no_other(tmp_path):
    """One run under the project's own settings and fixtures, in a process of its own."""
    for name, source in {"sound": SOUND, **{n: s for n, (s, _) in BROKEN.items()}}.items():
        (tmp_path / f"test_{name}.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider"),
            *("-c", str(TESTS.parent / "pyproject.toml"), "--rootdir", str(tmp_path)),
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(TESTS), "DBUS_SESSION_BUS_ADDRESS": "unix:path=x"},
    )
    broken = set(re.findall(r"^(?:FAILED|ERROR) test_(\w+)\.py", done.stdout, flags=re.MULTILINE))
    assert broken == set(BROKEN), done.stdout
    parts = re.split(r"^_+ .*test_it _+$", done.stdout, flags=re.MULTILINE)
    for name, (_, complaint) in BROKEN.items():
        assert any(f"test_{name}.py" in part and complaint in part for part in parts), done.stdout

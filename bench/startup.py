"""How long it takes until a person can begin: imports, the command, the window.

    python bench/startup.py [--rounds 5]

Every start is a process of its own, timed from outside, the interpreter's own start included; the
ways take turns, the first round warms the file cache and does not count. The window is drawn
offscreen and its process ends at the first painted frame; torch must not be imported by then, or
the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

from _common import interleaved, median_ratio, print_facts, print_table

# Ends the process at once when its first frame is painted: an orderly end would wait for the model
# thread, which imports torch from then on.
_WINDOW = """
import os, sys
from pathlib import Path
from PySide6.QtCore import QEvent, QObject, QTimer
from pura.base.paths import user_paths
from pura_audit.application import make_application, make_window

class Watch(QObject):
    def eventFilter(self, watched, event):
        if watched is window and event.type() == QEvent.Type.Paint:
            heavy = [name for name in ("torch", "transformers") if name in sys.modules]
            if heavy:
                sys.stderr.write(f"imported before the window was painted: {heavy}")
                sys.stderr.flush()
            QTimer.singleShot(0, lambda: os._exit(1 if heavy else 0))
        return False

app = make_application()
window = make_window(user_paths(Path(sys.argv[1])))
watch = Watch()
window.installEventFilter(watch)
window.show()
app.exec()
"""


def _start(*arguments: str) -> Callable[[], None]:
    """Return a start of this Python with ``arguments``, which must succeed."""

    def run() -> None:
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{arguments[-1]}: exit status {done.returncode}\n{done.stderr}")

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)  # no keyring: it may ask for a password
    print_facts("Start-up", seed=0)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PURA_HOME"] = folder
        ways = {
            "the interpreter alone": _start("-c", "pass"),
            "import pura.scheme": _start("-c", "import pura.scheme"),
            "import pura.decode (NumPy, no torch)": _start("-c", "import pura.decode.exact"),
            "pura --version": _start("-m", "pura.cli", "--version"),
            "import torch and transformers": _start("-c", "import torch, transformers"),
            "import pura_audit.application": _start("-c", "import pura_audit.application"),
            "window: first painted frame": _start("-c", _WINDOW, folder),
        }
        times = interleaved(ways, rounds=rounds)
    base = "the interpreter alone"
    print_table(
        ["start", "median s", "least s", "most s", "times the interpreter"],
        [
            [
                name,
                f"{statistics.median(took):.2f}",
                f"{min(took):.2f}",
                f"{max(took):.2f}",
                f"{median_ratio(times, name, base):.1f}",
            ]
            for name, took in times.items()
        ],
    )


if __name__ == "__main__":
    main()

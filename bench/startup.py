"""What it costs until a person can begin: imports, the command, an audit, the window.

    python bench/startup.py [--rounds 5]

Every start is a process of its own, measured from outside: the processor's seconds of it and its
children, user and system, the interpreter's own start included. The ways take turns; the first
round does not count: it warms the file cache and compiles modules, as an installation has them.
The audit is of one text of about 200 tokens and needs the built-in model installed. The window is
drawn offscreen and its process ends at the first painted frame; torch must not be imported by then,
or the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from _common import interleaved, median_ratio, print_facts, print_table
from pura.base.paths import resource, user_paths

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


# The parts of an audit that nothing can leave out, timed one by one in a process of its own.
_PARTS = """
import json, sys, time
clock, model = time.process_time, sys.argv[1]
parts, begun = {}, clock()
import torch
parts["import torch"] = clock() - begun
from safetensors.torch import load_file
begun = clock()
load_file(f"{model}/model.safetensors")
parts["weights"] = clock() - begun
from transformers import AutoModelForCausalLM
network = AutoModelForCausalLM.from_pretrained(model, local_files_only=True)
ids = torch.arange(205)[None] + 300
with torch.inference_mode():
    begun = clock()
    hidden = network.model(ids).last_hidden_state
    parts["forward pass"] = clock() - begun
    begun = clock()
    network.lm_head(hidden).log_softmax(-1)
    parts["head"] = clock() - begun
print(json.dumps(parts))
"""

BUILTIN = "smollm2-135m"


def _start(*arguments: str) -> Callable[[], None]:
    """Return a start of this Python with ``arguments``, which must succeed."""

    def run() -> None:
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{arguments[-1]}: exit status {done.returncode}\n{done.stderr}")

    return run


def _parts(model: Path) -> dict[str, float]:
    """Return the processor seconds of what an audit cannot leave out."""
    done = subprocess.run(
        [sys.executable, "-c", _PARTS, str(model)], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def _first_line(words: list[str]) -> float:
    """Return the seconds, by the clock, until an audit in a terminal says what it does."""
    ours, theirs = os.openpty()
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "pura.cli", *words],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as run:
        os.read(ours, 1)
        took = time.perf_counter() - begun
        run.kill()
    os.close(ours)
    os.close(theirs)
    return took


def _spent_by_children() -> float:
    spent = getrusage(RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _prepare_audit(home: Path, models: Path) -> list[str]:
    """Lend a home model, marked text, key and profile; return the words of the audit."""
    (home / "data").mkdir()
    (home / "data" / "models").symlink_to(models, target_is_directory=True)
    sample = json.loads(resource("samples", "marked.json").read_text(encoding="utf-8"))
    text = " ".join(sample["texts"][0]["text"].split()[:150])
    profile = json.dumps(sample["profile"])
    for name, words in (
        ("text.txt", text),
        ("key.txt", sample["key_hex"]),
        ("profile.json", profile),
    ):
        (home / name).write_text(words, encoding="utf-8")
    at = [str(home / name) for name in ("text.txt", "profile.json", "key.txt")]
    return ["verify", at[0], "--profile", at[1], "--key-file", at[2], "--model", BUILTIN]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)  # no keyring: it may ask for a password
    print_facts("Start-up", seed=0)
    models = user_paths().models
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PURA_HOME"] = folder
        audit = _prepare_audit(Path(folder), models)
        ways = {
            "the interpreter alone": _start("-c", "pass"),
            "import numpy": _start("-c", "import numpy"),
            "import typer": _start("-c", "import typer"),
            "import torch": _start("-c", "import torch"),
            "import torch and transformers": _start("-c", "import torch, transformers"),
            "import pura.scheme": _start("-c", "import pura.scheme"),
            "import pura.detect.decode (NumPy, no torch)": _start(
                "-c", "import pura.detect.decode.exact"
            ),
            "pura --version": _start("-m", "pura.cli", "--version"),
            "pura --help": _start("-m", "pura.cli", "--help"),
            "pura verify --help": _start("-m", "pura.cli", "verify", "--help"),
            "pura key list": _start("-m", "pura.cli", "key", "list"),
            "pura profile list": _start("-m", "pura.cli", "profile", "list"),
            "pura model list": _start("-m", "pura.cli", "model", "list"),
            "pura verify, one text of 200 tokens": _start("-m", "pura.cli", *audit),
            "import pura_audit.application": _start("-c", "import pura_audit.application"),
            "window: first painted frame": _start("-c", _WINDOW, folder),
        }
        times = interleaved(ways, rounds=rounds, clock=_spent_by_children)
        parts = [_parts(models / BUILTIN) for _ in range(rounds + 1)][1:]
        first = [_first_line(audit) for _ in range(rounds)]
    base = "the interpreter alone"
    print_table(
        ["start", "median CPU s", "least", "most", "times the interpreter"],
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
    least = {name: statistics.median(one[name] for one in parts) for name in parts[0]}
    print(", ".join(f"{name} {took:.2f}" for name, took in least.items()))
    whole = statistics.median(times["pura verify, one text of 200 tokens"])
    print(f"pura verify: {whole / sum(least.values()):.2f} times the sum of these parts")
    print(f"until its first line: {statistics.median(first):.2f} s by the clock")


if __name__ == "__main__":
    main()

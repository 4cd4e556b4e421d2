"""From an engine to a report: the commands of the page, then the text in the real window."""

import datetime as dt
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from pypdfium2 import PdfDocument
from tests.e2e import test_window_xvfb as desk
from tests.e2e.test_pages_run import ROOT, compare, marked_ends, results_of, shown

LLAMA = ROOT / ".engines" / "llama_cpp" / "bin" / "python"
CUSTOMERS = {"north": 417, "south": 9, "harbour": 12}  # as the page has them

pytestmark = [
    *desk.pytestmark,
    pytest.mark.model,
    pytest.mark.programs("bash", "curl"),
    pytest.mark.skipif(
        "PURA_CIRCLE" not in os.environ and not LLAMA.exists(),
        reason="llama.cpp is not built here: packaging/weekly.sh circle does it",
    ),
]


@pytest.fixture
def models(installed_models: Path) -> Path:
    return installed_models


def test_the_circle_shows_what_its_commands_print(
    screen: str, desktop: Any, reader: Any, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "circle"
    folder.mkdir()
    run_page("circle.md", folder, desktop.environment)
    text = max((folder / "answers").iterdir(), key=lambda file: file.stat().st_size)
    [name] = CUSTOMERS.keys() & set(re.split(r"\W", text.name))
    answer = json.loads((folder / "answer.json").read_text())["answer"]
    day = dt.date.fromisoformat(answer["marks"][0]["fields"]["day"])
    assert answer["marks"][0]["fields"]["customer"] == str(CUSTOMERS[name])
    said = f"customer {CUSTOMERS[name]} · day {day.day} {day:%B %Y}"
    assert said in words_of(folder / "report.pdf")
    assert name in words_of(folder / "names.pdf")
    bits = paste(text, screen, desktop, reader, home, tmp_path)
    assert int(bits[:10], 2) == CUSTOMERS[name]


def run_page(name: str, folder: Path, environment: dict[str, str]) -> None:
    """Run the commands as a reader does, programs of their own; some of them are servers."""
    steps = shown((ROOT / "docs" / "how-to" / name).read_text(encoding="utf-8"))
    instead = {"~/pura-audit": str(ROOT)}
    with socket.socket() as one, socket.socket() as two:
        for free, usual in ((one, "8000"), (two, "8080")):
            free.bind(("127.0.0.1", 0))
            instead[f"127.0.0.1:{usual}"] = f"127.0.0.1:{free.getsockname()[1]}"
            instead[f"--port {usual}"] = f"--port {free.getsockname()[1]}"
    commands = [step.command for step in steps]
    for old, new in instead.items():
        commands = [command.replace(old, new) for command in commands]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(
        ["bash"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment | {"PATH": path, "OMP_WAIT_POLICY": "PASSIVE"},
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            said, _ = shell.communicate(marked_ends(commands))
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)
    compare(steps, results_of(said, len(commands)))


def words_of(path: Path) -> str:
    """Return the text of a PDF."""
    with closing(PdfDocument(path)) as document:
        return " ".join(page.get_textpage().get_text_range() for page in document)


def paste(text: Path, screen: str, desktop: Any, reader: Any, home: Path, tmp_path: Path) -> str:
    """Paste a text into the window, have it audited, and return the payload that it shows."""
    kept = desktop.environment | {"DISPLAY": screen, "QT_QPA_PLATFORM": "xcb", "LC_ALL": "C.UTF-8"}
    out = tmp_path / "out"
    seat = desk.Seat(kept | {"OMP_WAIT_POLICY": "PASSIVE"}, out)
    manager = seat.start("openbox", stderr=subprocess.DEVNULL)
    flags = ["--config-dir", str(home), "--device", "cpu"]
    with out.open("w") as said, (tmp_path / "err").open("w") as wrong:
        program = seat.start(sys.executable, "-c", desk.PROGRAM, *flags, stdout=said, stderr=wrong)
    try:
        now = seat.until(lambda now: now["ready"] and now["active"])
        subprocess.run(
            ["xclip", "-selection", "clipboard"],
            input=text.read_bytes(),
            env=seat.environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        seat.hand("mousemove", *map(str, now["place"]), "key", "ctrl+v")
        seat.until(lambda now: now["rows"])
        reader.press("Audit")
        now = seat.until(lambda now: now["rows"][0][1] == "done")
        seat.hand("key", "alt+F4")
        assert program.wait(60) == 0
    finally:
        for process in (program, manager):
            process.kill()
            process.wait(30)
    assert "Traceback" not in (tmp_path / "err").read_text()
    return str(now["rows"][0][3])

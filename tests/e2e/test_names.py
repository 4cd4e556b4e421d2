"""Names that steer: markup, escape sequences, line breaks, bytes that are no UTF-8."""

import csv
import io
import json
import os
from pathlib import Path

import pytest

from pura.base.progress import Stage
from pura.cli import progress as progress_line
from pura.cli.terminal import Terminal

WORDS = "The ferry was late again, and nobody on the pier was surprised."
NAMES = [b"[b] [link=x].txt", b"two\nlines \x1b[31m\x07.txt", b"caf\xe9 \xff.txt"]


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "names"
    folder.mkdir()
    for name in NAMES:
        (folder / os.fsdecode(name)).write_text(WORDS)
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["[/b]\x1b[2J"], [WORDS]])
    return folder


@pytest.mark.model
def test_names_that_steer_cost_no_finding(pura, marked, folder, tmp_path):
    given = ["--profile", marked / "profile.json", "--key-file", marked / "key.txt"]
    rows = pura("verify", folder, *given, "--json", "--save", "Names", "--auditor", "A. Example")
    assert rows.returncode == 0, rows.stderr
    found = [json.loads(row) for row in rows.stdout.splitlines() if row.startswith("{")]
    names = {row["input"]["name"] for row in found}
    assert names == {
        "[b] [link=x].txt",
        "two\\nlines \\x1b[31m\\x07.txt",
        "caf\\udce9 \\udcff.txt",
        "table.csv",
    }
    words = pura("verify", folder, *given, "--pdf", tmp_path / "names.pdf")
    assert words.returncode == 0, words.stderr
    shown = pura("caselog", "show", "Names")
    for done in (rows, words, shown):
        assert not {"\x1b", "\x07"} & set(done.stdout + done.stderr)
    for name in names:
        assert name in words.stdout
    gone = pura("verify", folder / os.fsdecode(b"gone \xff\x1b.txt"), *given)
    assert gone.returncode == 1
    assert "gone \\udcff\\x1b.txt" in gone.stderr


def test_the_progress_line_takes_any_name(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    screen.rich.file = io.StringIO()
    monkeypatch.setattr(Terminal, "is_terminal", True)
    monkeypatch.setattr(screen.rich, "_force_terminal", True)
    monkeypatch.setattr(screen.rich, "is_interactive", True)
    monkeypatch.setattr(progress_line, "err", screen)
    with progress_line.ProgressLine("[/b] \x1b]0;title\x07") as report:
        report(Stage(name="reading", done=1, total=2))
        report._bar.refresh()
    assert "[/b]" in screen.rich.file.getvalue()
    assert "\x1b]0;title" not in screen.rich.file.getvalue()

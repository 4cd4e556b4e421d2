"""Every command that a page shows exists, with the options that it is shown with."""

import functools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup

from pura.cli.__main__ import app
from pura.cli.tree import LazyCommand

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "resources/languages").glob("*/words/*.json")),
]
# What a page leaves open: (| in a table, … for anything.
OPEN = re.compile(r"\s(\||>|<|&&|;|2>|#).*$")
OTHER = re.compile(r"[…\[(|]|[A-Z]+$|\.\.\.")


def commands(page: str) -> list[str]:
    """Every command line of a page: blocks that are indented or fenced, and code in a sentence."""
    joined = re.sub(r"\\\n\s*", " ", page)
    lines = re.findall(r"^(?: {4,}|\$ )(pura .*)$", joined, re.MULTILINE)
    codes = re.findall(r"[`“„](pura [^`“”\n]*(?:\n[^`“”\n]+)?)[`“”]", joined)
    return [*lines, *(" ".join(code.split()).rstrip("\\") for code in codes)]


@functools.cache
def fetched(command: Any) -> Any:
    """Return a command itself where another stands for it until it is called."""
    return command.fetched() if isinstance(command, LazyCommand) else command


@functools.cache
def root() -> Any:
    """Return the program."""
    return typer.main.get_command(app)


def fault(line: str) -> str:
    """Say what of a command line does not exist; empty when all does."""
    try:
        words = shlex.split(OPEN.sub("", line))[1:]
    except ValueError:  # cut in the middle of a quotation
        words = OPEN.sub("", line).split()[1:]
    command = root()
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            name = word.split("=")[0]
            options = {o: p for p in command.params for o in (*p.opts, *p.secondary_opts)}
            if name in ("-h", "--help"):
                continue
            if name not in options:
                return f"{command.name} has no {name}"
            if not options[name].is_flag and "=" not in word and words:
                words.pop(0)
        elif isinstance(command, TyperGroup):
            if OTHER.match(word):
                return ""
            if word not in command.commands:
                return f"{command.name} has no {word}"
            command = fetched(command.commands[word])
    return ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_of_a_page_exists(path):
    faults = {
        f"{line}: {why}" for line in commands(path.read_text("utf-8")) if (why := fault(line))
    }
    assert not faults


def test_a_command_that_does_not_exist_is_seen():
    assert fault("pura verify text.txt --profile house --json") == ""
    assert fault("pura verify text.txt --prophile house") == "verify has no --prophile"
    assert fault("pura caselog burn") == "caselog has no burn"
    assert len(commands("See `pura key\nlist`.\n\n    pura batch run IN \\\n      -o OUT\n")) == 2

"""The manual: a page for ``man`` of each command, of the words that ``--help`` shows.

    python -m pura.cli.manual FOLDER [LANGUAGE]

A group and the commands inside it share a page, as in ``man pura-key``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer
import typer.main
from typer.core import TyperGroup

from pura.base.files import write_atomic
from pura.cli.__main__ import app
from pura.cli.pages import Page, page_of, typer_words
from pura.cli.terminal import use_language
from pura.cli.tree import PROGRAM, Group, LazyCommand
from pura.version import __version__

_SECTION: Final = 1
_AT_THE_START: Final = re.compile(r"^([.'])", re.MULTILINE)


def write_manual(folder: Path, language: str = "en") -> list[Path]:
    """Write the page of the program and those of its commands.

    Args:
        folder: Where to, as in ``share/man/man1``; it is made.
        language: ``en`` or ``de``.

    Returns:
        The files.
    """
    use_language(language)
    root = typer.main.get_command(app)
    assert isinstance(root, Group)
    root.speak()
    context = typer.Context(root, info_name=PROGRAM)
    pages = [(PROGRAM, [page_of(root, context)])]
    pages += [
        (f"{PROGRAM}-{name}", list(pages_inside(command, context, name)))
        for name, command in root.commands.items()
    ]
    written = []
    for name, parts in pages:
        path = folder / f"{name}.{_SECTION}"
        write_atomic(path, _roff(name, parts).encode())
        written.append(path)
    return written


def pages_inside(command: Any, above: Any, name: str) -> Iterator[Page]:
    """Return the page of a command, and those of the commands inside it."""
    if isinstance(command, LazyCommand):
        command = command.fetched()
    context = typer.Context(command, info_name=name, parent=above)
    yield page_of(command, context)
    if isinstance(command, TyperGroup):
        for inner, about in command.commands.items():
            yield from pages_inside(about, context, inner)


def _roff(name: str, pages: list[Page]) -> str:
    first, *inner = pages
    lines = [
        f'.TH {_plain(name.upper())} {_SECTION} "" "PURA Audit {__version__}"',
        f".SH {_title('manual.name')}",
        rf"{_plain(name)} \- {_plain(first.about[0])}",
        f".SH {_title('manual.synopsis')}",
        *_call(first),
    ]
    if first.about[1:]:
        lines.append(f".SH {_title('manual.description')}")
        lines += [line for part in first.about[1:] for line in (".PP", _plain(part))]
    for title, rows in first.tables:
        lines.append(f".SH {_plain(title.upper())}")
        lines += _rows(rows)
    lines += _example(".SH", first)
    for page in inner:
        lines += [f".SH {_plain(page.path)}", *_call(page)]
        lines += [line for part in page.about for line in (".PP", _plain(part))]
        for title, rows in page.tables:
            lines += [f".SS {_plain(title)}", *_rows(rows)]
        lines += _example(".SS", page)
    return "\n".join(lines) + "\n"


def _title(key: str) -> str:
    return _plain(typer_words(key).upper())


def _call(page: Page) -> Iterator[str]:
    yield f".B {_plain(page.path)}"
    yield _plain(page.usage)


def _example(heading: str, page: Page) -> Iterator[str]:
    if page.example:
        title = typer_words("page.example")
        yield f"{heading} {_plain(title.upper() if heading == '.SH' else title)}"
        yield _plain(page.example)


def _rows(rows: Any) -> Iterator[str]:
    for name, about in rows:
        yield ".TP"
        yield f".B {_plain(name)}"
        yield _plain(about)


def _plain(text: str) -> str:
    r"""Write text for roff: a backslash, a hyphen that is typed, a dot that begins a line."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    return _AT_THE_START.sub(r"\\&\1", escaped)


if __name__ == "__main__":
    write_manual(Path(sys.argv[1]), *sys.argv[2:3])

"""``pura help``: the page of a command, or of the documentation that comes with the program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from pura.base.errors import InputError
from pura.base.paths import resource
from pura.cli.terminal import language, out

_PARTS: Final = ("start", "how-to", "reference", "how-it-works")
"""The parts of the documentation, in the order in which people need them."""


def help_page(
    topic: Annotated[
        str, typer.Argument(help="A command, or a page such as serving, reports or glossary.")
    ],
) -> None:
    """Show the page of a command, or of the documentation.

    Pages are in the language of the run where they are translated, else in English.
    """
    pages = topics(language())
    if topic not in pages:
        raise InputError("choice.unknown", name=topic, known=", ".join(pages), code="usage")
    out.print(pages[topic].read_text(encoding="utf-8").rstrip("\n"))


def topics(language: str) -> dict[str, Path]:
    """Return the pages of the documentation by their names, in a language where there is one.

    Args:
        language: ``en`` or ``de``.
    """
    pages: dict[str, Path] = {}
    docs = resource("docs")
    for folder in (docs, docs / language):
        for part in _PARTS:
            pages |= {path.stem: path for path in sorted((folder / part).glob("*.md"))}
    return pages

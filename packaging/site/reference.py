"""Write the pages that follow from the program: commands, errors, settings, schemas.

    python packaging/site/reference.py PAGES

They are made with the site (build.sh) and kept nowhere else: ``reference/`` and ``de/reference/``
of the folder of pages, and an index for each. Rows and records have English names only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import errors
import typer
import typer.main

from pura.base.paths import resource
from pura.cli.__main__ import app
from pura.cli.manual import pages_inside
from pura.cli.pages import Page, page_of
from pura.cli.terminal import use_language
from pura.cli.tree import PROGRAM, Group

HEADS = {
    "en": ("Commands", "Settings of a policy", "Made from the program"),
    "de": (
        "Befehle",
        "Einstellungen einer Richtlinie",
        "Aus dem Programm",
    ),
}
EXITS = {
    "en": """Exit codes: 0 every input was audited, whatever the outcome, or the command did what
was asked; 1 some input could not be audited, or the command failed; 2 wrong usage; of
`pura report verify` also 3 not signed, and 4 signed by somebody who was not examined.""",
    "de": """Rückgabewerte: 0 alle Eingaben wurden untersucht, gleich mit welchem Ergebnis, oder der
Befehl hat getan, was verlangt war; 1 eine Eingabe konnte nicht untersucht werden, oder der Befehl
ist gescheitert; 2 falscher Aufruf; bei `pura report verify` auch 3 nicht signiert und 4 signiert
von jemandem, der nicht geprüft wurde.""",
}
SCHEMAS = ("policy", "finding", "audit", "rows", "batch-row")


def commands(language: str) -> str:
    """Return the page of all commands, of the words that ``--help`` shows."""
    use_language(language)
    root = typer.main.get_command(app)
    assert isinstance(root, Group)
    root.speak()
    context = typer.Context(root, info_name=PROGRAM)
    parts = [f"# {HEADS[language][0]}", EXITS[language], *_command(page_of(root, context))]
    for name, command in root.commands.items():
        for page in pages_inside(command, context, name):
            parts += _command(page)
    return "\n\n".join(parts) + "\n"


def _command(page: Page) -> Iterator[str]:
    yield f"## `{page.path}`"
    yield f"    {page.path} {page.usage}"
    yield from (_plain(part) for part in page.about)
    for title, rows in page.tables:
        yield f"**{title}**"
        yield "\n".join(f"* `{name}`: {_plain(about)}" for name, about in rows)


def settings(language: str) -> str:
    """Return the list of a policy's settings: meaning, default, range."""
    schema = json.loads(resource("policy.schema.json").read_text(encoding="utf-8"))
    rows = [f"# {HEADS[language][1]}", ""]
    for name, rule in schema["properties"].items():
        about, default = rule.pop("description"), rule.pop("default", rule.get("const"))
        given = json.dumps(default, ensure_ascii=False)
        rows.append(f"* `{name}` = `{given}`: {_plain(about)} `{json.dumps(rule)}`")
    return "\n".join(rows) + "\n"


def schemas() -> str:
    """Return what the rows of programs hold: the names at the top of each schema."""
    parts = ["# Rows and records"]
    for name in SCHEMAS:
        whole = json.loads(resource(f"{name}.schema.json").read_text(encoding="utf-8"))
        parts.append(f"## [{name}.schema.json](../{name}.schema.json)")
        parts.append(_plain(whole.get("description", whole.get("title", name))))
        for title, one in whole.get("$defs", {"": whole}).items():
            if title:
                parts.append(f"### `{title}`")
            fields = one.get("properties", {})
            if fields:
                parts.append("\n".join(_field(field, rule) for field, rule in fields.items()))
    return "\n\n".join(parts) + "\n"


def _field(name: str, rule: dict[str, Any]) -> str:
    about = rule.get("description", rule.get("const", rule.get("type", "")))
    about = " | ".join(about) if isinstance(about, list) else str(about)
    return f"* `{name}`: {_plain(about)}" if about else f"* `{name}`"


def _plain(text: str) -> str:
    return text.replace("*", r"\*").replace("<", r"\<").replace("[", r"\[")


def write(pages: Path) -> None:
    """Write all pages of both languages into a folder of pages."""
    for language, folder in (("en", pages / "reference"), ("de", pages / "de" / "reference")):
        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            "commands": commands(language),
            "errors": errors.page(language),
            "settings": settings(language),
        }
        if language == "en":
            texts["schemas"] = schemas()
        names = "\n".join(texts)
        texts["index"] = f"# {HEADS[language][2]}\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"
        for name, text in texts.items():
            (folder / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

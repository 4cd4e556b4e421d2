"""A command's page of help: gathered from its arguments and options, and laid out as text."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from typer.core import TyperArgument, TyperCommand, TyperGroup

from pura.base.catalogue import catalogue
from pura.cli.command_table import EXAMPLES, HEADINGS
from pura.cli.shared_options import force_option, json_option
from pura.cli.terminal import language

_WIDEST: Final = 100
_LONGEST_NAME: Final = 26  # a longer one stands on a line of its own
_INDENT: Final = 2


PageRow = tuple[str, str]
"""An argument, option or inner command: how it is written and what it is for."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a command says of itself.

    Attributes:
        path: How it is called, as in ``pura key new``.
        usage: What comes after that.
        about: Its paragraphs, each on one line.
        tables: Arguments, options under their headings, commands inside: titles and rows.
        example: How it is called, for instance; empty for a group.
    """

    path: str
    usage: str
    about: tuple[str, ...]
    tables: tuple[tuple[str, tuple[PageRow, ...]], ...]
    example: str


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text, each on one line: the keys of the volume ``help``."""
    return [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]


def translated(text: str) -> str:
    """Return a help text in the language of this run, each paragraph by itself."""
    texts = catalogue("help")
    parts = paragraphs(text)
    # A paragraph that nobody has translated yet stays in English: it must not end the command.
    return "\n\n".join(texts[p].texts[language()] if p in texts else p for p in parts)


def typer_words(key: str, **values: str) -> str:
    """Return a text of the volume ``typer`` in the language of this run."""
    return catalogue("typer").fill(key, language(), values)


def page_of(command: TyperCommand | TyperGroup, context: Any) -> Page:
    """Gather what a command says of itself."""
    path = context.command_path
    words = path.partition(" ")[2]
    headings = HEADINGS.get(words, {})
    titles = ("page.arguments", *headings, "page.options", "page.commands")
    tables: dict[str, list[PageRow]] = {title: [] for title in titles}
    for param in command.get_params(context):
        title = "page.arguments" if isinstance(param, TyperArgument) else "page.options"
        title = next((t for t, names in headings.items() if param.name in names.split()), title)
        if not getattr(param, "hidden", False):
            tables[title].append(_row(param, context))
    if isinstance(command, TyperGroup):
        tables["page.commands"] = [
            (c.name or "", paragraphs(c.help or "")[0]) for c in command.commands.values()
        ]
    example = EXAMPLES.get(words)
    return Page(
        path=path,
        usage=usage_of(command, context),
        about=tuple(paragraphs(command.help or "")),
        tables=tuple((typer_words(title), tuple(rows)) for title, rows in tables.items() if rows),
        example="" if example is None else f"{path} {example}".rstrip(),
    )


def usage_of(command: TyperCommand | TyperGroup, context: Any) -> str:
    """Return what comes after the command's name."""
    arguments = [
        p for p in command.get_params(context) if isinstance(p, TyperArgument) and not p.hidden
    ]
    pieces = [command.options_metavar or ""]
    pieces += [_argument(p) if p.required else f"[{_argument(p)}]" for p in arguments]
    if isinstance(command, TyperGroup):
        pieces.append(command.subcommand_metavar)
    return " ".join(pieces)


def as_text(page: Page) -> str:
    """Lay a page out for a terminal."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    used = f"{typer_words('page.usage')} {page.path} {page.usage}"
    blocks = [_wrapped(used, width, later=4)]
    blocks += [_wrapped(part, width, first=_INDENT, later=_INDENT) for part in page.about]
    for title, rows in page.tables:
        lines = (_in_columns(row, width) for row in rows)
        blocks.append("\n".join((f"{title}:", *lines)))
    if page.example:
        blocks.append(f"{typer_words('page.example')}:\n{' ' * _INDENT}{page.example}")
    return "\n\n".join(blocks) + "\n"


def _in_columns(row: PageRow, width: int) -> str:
    column, (name, about) = _INDENT + _LONGEST_NAME + 2, row
    words, written = _wrapped(about, width, first=column, later=column), " " * _INDENT + name
    if len(name) > _LONGEST_NAME:
        return f"{written}\n{words}"
    return written.ljust(column) + words.lstrip()


def _wrapped(text: str, width: int, *, first: int = 0, later: int = 0) -> str:
    return textwrap.fill(
        text,
        max(width, later + 20),
        initial_indent=" " * first,
        subsequent_indent=" " * later,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _row(param: Any, context: Any) -> PageRow:
    positional = isinstance(param, TyperArgument)
    name = _argument(param) if positional else _option(param, context)
    # These two are of no command, so that nothing has put them into the language of the run.
    text = translated(param.help) if param in (force_option(), json_option()) else param.help
    return name, " ".join(filter(None, (text, *_notes(param, context))))


def _argument(param: Any) -> str:
    name = param.metavar or param.name.upper()
    return f"{name}…" if param.nargs != 1 and not name.endswith("…") else name


def _option(param: Any, context: Any) -> str:
    names = ", ".join(sorted(param.opts, key=len))
    if param.secondary_opts:
        names += f", {', '.join(param.secondary_opts)}"
    if param.is_flag or param.count:
        return names
    return f"{names} {param.metavar or _kind_of(param, context)}"


def _kind_of(param: Any, context: Any) -> str:
    """Return what stands for the value of an option that says nothing better."""
    kind = param.display_type(context)
    return next((word for name, word in _KINDS.items() if name in kind), "TEXT")


_KINDS: Final = {"path": "FILE", "int": "N", "float": "N"}


def _notes(param: Any, context: Any) -> Iterator[str]:
    """Say what else is to be known: the variable, what holds when it is left out, the range."""
    if param.envvar and param.show_envvar:
        yield typer_words("page.variable", value=str(param.envvar))
    before, context.resilient_parsing = context.resilient_parsing, True
    try:
        default = param.get_default(context, call=False)
    finally:
        context.resilient_parsing = before
    plain = getattr(param, "is_flag", False) and not param.secondary_opts
    if param.show_default and default not in (None, "") and not plain:
        if param.param_type_name == "option" and param.secondary_opts:
            default = (param.opts if default else param.secondary_opts)[0]
        yield typer_words("page.default", value=str(default))
    if param.min is not None or param.max is not None:
        ends = ("" if end is None else str(end) for end in (param.min, param.max))
        yield f"[{'–'.join(ends)}]"
    if param.required:
        yield typer_words("page.required")

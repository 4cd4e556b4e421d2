"""The tree of commands: its help and its usage errors are in the language of the run.

English help stands in the code, as Typer wants it, and is the key of its translation in the volume
``help``. What Typer says itself is English in its code; the volume ``typer`` holds those sentences
as Typer writes them, with blanks, so that one that was said is recognised and said in German.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import zip_longest
from typing import Any, Final, cast

import typer
import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.models import CommandFunctionType

from pura.base.catalogue import catalogue
from pura.base.numerals import LANGUAGES
from pura.cli.terminal import err, language, say, use_language

_INTERRUPTED: Final = 130
# Typer's help page takes its words from these names of its module; {} is where a value goes.
_WORDS_OF_THE_PAGE: Final = {
    "ARGUMENTS_PANEL_TITLE": "page.arguments",
    "OPTIONS_PANEL_TITLE": "page.options",
    "COMMANDS_PANEL_TITLE": "page.commands",
    "REQUIRED_LONG_STRING": "page.required",
    "DEFAULT_STRING": "page.default",
    "ENVVAR_STRING": "page.variable",
}


class App(typer.Typer):
    """A group of commands.

    Args:
        about: Its help; that of a group inside another stands where it is hung up there.
    """

    def __init__(self, about: str | None = None) -> None:
        super().__init__(
            cls=Group,
            help=about,
            no_args_is_help=True,
            add_completion=False,
            pretty_exceptions_enable=False,
        )

    def command(
        self, name: str | None = None, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Register a function as a command."""
        return super().command(name, **({"cls": Command} | settings))

    def later(self, name: str, home: str, about: str) -> None:
        """Hang up a command or group that is imported when it is called.

        Args:
            name: As it is called.
            home: Its module and its name there, as in ``pura.cli.keys:app``.
            about: What the page of this group says of it.
        """

        def fetch() -> object:
            module, _, its_name = home.partition(":")
            return getattr(import_module(module), its_name)

        super().command(name, cls=Later, help=about)(fetch)


class Command(TyperCommand):
    """A command whose page and usage line are in the language of the run."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        _format_usage(self, ctx, formatter)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _prepare_page()
        super().format_help(ctx, formatter)

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return ``--help``."""
        return _in_language(super().get_help_option(ctx))


class Later(TyperCommand):
    """Stands for a command until that is called; knows its name and what a page says of it."""

    def fetched(self) -> TyperCommand | TyperGroup:
        """Import the command and put its help into the language of the run."""
        assert self.callback is not None
        home = self.callback()
        app = home
        if not isinstance(home, App):
            app = App()
            app.command(self.name)(home)
        command: Any = typer.main.get_command(app)
        if language() != "en":
            _translate(command)
        if app is home:
            command.name, command.help = self.name, self.help
        return cast("TyperCommand | TyperGroup", command)


class Group(TyperGroup):
    """A group of commands whose page, usage line and errors are in the language of the run."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        _format_usage(self, ctx, formatter)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _prepare_page()
        super().format_help(ctx, formatter)

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return ``--help``."""
        return _in_language(super().get_help_option(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the arguments name, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, Later):
            command = command.fetched()
        return name, command, rest

    def main(self, args: Sequence[str] | None = None, *rest: Any, **settings: Any) -> Any:
        """Run the command that the arguments name; its usage errors are said here."""
        use_language(asked_language(sys.argv[1:] if args is None else args))
        if language() != "en":
            _translate(self)
        try:
            code = super().main(args, *rest, **(settings | {"standalone_mode": False}))
        except typer.TyperException as error:
            _complain(error)
            sys.exit(error.exit_code)
        except typer.Abort:
            err.print(say("stopped"))
            sys.exit(1)
        if code == _INTERRUPTED:
            err.print(say("stopped"))
        sys.exit(code or 0)


def asked_language(args: Sequence[str]) -> str:
    """Return the language that arguments or environment ask for, before anything is parsed."""
    asked = [os.environ.get("PURA_LANGUAGE", "")]
    for option, following in zip_longest(args, args[1:], fillvalue=""):
        name, _, value = option.partition("=")
        if name == "--language":
            asked.append(value or following)
    return next((name for name in reversed(asked) if name in LANGUAGES), "en")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text, each on one line: the keys of the volume ``help``."""
    return [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]


def _translate(command: TyperCommand | TyperGroup | Any) -> None:
    """Put the help of a command, and of those inside it, into the language of the run."""
    if command.help:
        command.help = _helped(command.help)
    command.options_metavar = _typer("page.options-here")
    for param in command.params:
        if isinstance(param, TyperArgument | TyperOption):
            param.help = _helped(param.help or "")
            if param.metavar:
                param.metavar = _helped(param.metavar)
    if isinstance(command, TyperGroup):
        command.subcommand_metavar = _typer("page.command-here")
        for inner in command.commands.values():
            _translate(inner)


def _helped(text: str) -> str:
    texts = catalogue("help")
    return "\n\n".join(texts[part].texts[language()] for part in paragraphs(text))


def _typer(key: str, **values: str) -> str:
    return catalogue("typer").fill(key, language(), values)


def _format_usage(command: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    pieces = " ".join(command.collect_usage_pieces(ctx))
    formatter.write_usage(ctx.command_path, pieces, prefix=f"{_typer('page.usage')} ")


def _prepare_page() -> None:
    from typer import rich_utils  # costs a tenth of a second, and few calls print a page

    for name, key in _WORDS_OF_THE_PAGE.items():
        setattr(rich_utils, name, _typer(key, value="{}"))


def _in_language(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.help = _typer("page.help")
    return option


def _complain(error: typer.TyperException) -> None:
    """Say on standard error how a command is called, and what is wrong with this call."""
    message = error.format_message()
    if not message:
        return  # a group without a command, whose page has just been printed
    context = getattr(error, "ctx", None)
    if context is not None:
        err.print(context.get_usage())
    said = catalogue("typer").retold("said", message, language())
    err.print(said, style="bold red")
    if context is not None:
        err.print(_typer("page.try", command=context.command_path))

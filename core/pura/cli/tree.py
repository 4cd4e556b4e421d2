"""The tree of commands: its help and its usage errors are in the language of the run.

English help stands in the code, as Typer wants it, and is the key of its translation in the volume
``help``. What Typer says itself is English in its code; the volume ``typer`` holds those sentences
as Typer writes them, with blanks, so that one that was said is recognised and said in German.
"""

from __future__ import annotations

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
from pura.cli.page import as_text, page_of, paragraphs, typer_words, usage_of
from pura.cli.terminal import err, language, rows_into, say, use_language

PROGRAM: Final = "pura"
COMPLETING: Final = "_PURA_COMPLETE"  # as Typer makes it of the program's name
_INTERRUPTED: Final = 130


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
        return super().command(name, **({"cls": PageCommand} | settings))

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


class PageCommand(TyperCommand):
    """A command whose page and usage line are in the language of the run."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        _format_usage(self, ctx, formatter)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        formatter.write(as_text(page_of(self, ctx)))

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return ``--help``."""
        return _in_language(super().get_help_option(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one that writes rows into a file writes rows."""
        path = ctx.params.get("_rows")
        if path is None:
            return super().invoke(ctx)
        if "as_json" in ctx.params:
            ctx.params["as_json"] = True
        with rows_into(path):
            return super().invoke(ctx)


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
        formatter.write(as_text(page_of(self, ctx)))

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return ``--help``."""
        return _in_language(super().get_help_option(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the arguments name, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, Later):
            command = command.fetched()
        return name, command, rest

    def speak(self) -> None:
        """Put the help into the language of the run."""
        if language() != "en":
            _translate(self)

    def _page_asked(self, args: Sequence[str]) -> str:
        """Return the page of a command that is named with nothing but ``--help``; else nothing.

        Typer would load what checks the values of options first, and there are none.
        """
        if not args or args[-1] not in ("--help", "-h"):
            return ""
        command: Any = self
        context = typer.Context(command, info_name=PROGRAM, **command.context_settings)
        for name in args[:-1]:
            command = command.commands.get(name) if isinstance(command, TyperGroup) else None
            if isinstance(command, Later):
                command = command.fetched()
            if command is None:
                return ""
            settings = command.context_settings
            context = typer.Context(command, parent=context, info_name=name, **settings)
        return str(command.get_help(context))

    def main(self, args: Sequence[str] | None = None, *rest: Any, **settings: Any) -> Any:
        """Run the command that the arguments name; its usage errors are said here."""
        settings = {"prog_name": PROGRAM} | settings
        use_language(asked_language(sys.argv[1:] if args is None else args))
        self.speak()
        if COMPLETING in os.environ:
            from typer._completion_classes import completion_init

            completion_init()
        elif page := self._page_asked(sys.argv[1:] if args is None else args):
            typer.echo(page)
            sys.exit(0)
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


def _translate(command: TyperCommand | TyperGroup | Any) -> None:
    """Put the help of a command, and of those inside it, into the language of the run."""
    if command.help:
        command.help = _helped(command.help)
    command.options_metavar = typer_words("page.options-here")
    for param in command.params:
        if isinstance(param, TyperArgument | TyperOption):
            param.help = _helped(param.help or "")
            if param.metavar:
                param.metavar = _helped(param.metavar)
    if isinstance(command, TyperGroup):
        command.subcommand_metavar = typer_words("page.command-here")
        for inner in command.commands.values():
            _translate(inner)


def _helped(text: str) -> str:
    texts = catalogue("help")
    parts = paragraphs(text)
    # A paragraph that nobody has translated yet stays in English: it must not end the command.
    return "\n\n".join(texts[p].texts[language()] if p in texts else p for p in parts)


def _format_usage(command: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    used = usage_of(command, ctx)
    formatter.write_usage(ctx.command_path, used, prefix=f"{typer_words('page.usage')} ")


def _in_language(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.help = typer_words("page.help")
    return option


def _complain(error: typer.TyperException) -> None:
    """Say on standard error how a command is called, and what is wrong with this call."""
    message = error.format_message()
    if not message:
        return
    context = getattr(error, "ctx", None)
    usage = context.get_usage() if context is not None else ""
    if usage and message.startswith(usage):  # a group without a command: its page says all
        err.print(message)
        return
    if usage:
        err.print(usage)
    said = catalogue("typer").retold("said", message, language())
    err.print(said, style="bold red")
    if context is not None:
        err.print(typer_words("page.try", command=context.command_path))

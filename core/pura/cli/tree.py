"""The tree of commands: groups, commands that are imported when called, options of all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import zip_longest
from typing import Any, Final, cast

import typer
import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.models import CommandFunctionType

from pura.base.catalogue import catalogue
from pura.base.files import replacing
from pura.base.numerals import LANGUAGES
from pura.cli.command_table import FORMER_COMMANDS, FORMER_OPTIONS, MAKERS
from pura.cli.pages import as_text, page_of, translated, typer_words, usage_of
from pura.cli.shared_options import force_option, json_option, options_everywhere
from pura.cli.terminal import (
    as_printed,
    err,
    language,
    rows_into,
    say,
    use_language,
)

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

        super().command(name, cls=LazyCommand, help=about)(fetch)


class _InLanguage:
    """Page and usage line in the language of the run."""

    def format_usage(self: Any, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        _format_usage(self, ctx, formatter)

    def format_help(self: Any, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        formatter.write(as_text(page_of(self, ctx)))

    def get_help_option(self: Any, ctx: Any) -> TyperOption | None:
        """Return ``--help``."""
        return _in_language(super().get_help_option(ctx))  # type: ignore[misc]


_WRITTEN: Final = {"output", "_rows", "ids", "store", "pdf", "to", "json_file"}
"""Parameters that name a file to write."""


class PageCommand(_InLanguage, TyperCommand):
    """A command whose page and usage line are in the language of the run.

    It takes the options of the program behind its own name too, and former names of its options.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its options and arguments, and the options of the program."""
        params = super().get_params(ctx)
        names = {name for param in params for name in param.opts}
        options = [*options_everywhere()]
        if _WRITTEN & {param.name for param in params}:
            options.append(force_option())
        if ctx.command_path.partition(" ")[2] in MAKERS:
            options.append(json_option())
        options = [option for option in options if names.isdisjoint(option.opts)]
        end = next((n for n, param in enumerate(params) if "--help" in param.opts), len(params))
        return [*params[:end], *options, *params[end:]]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a former name of an option becomes its present one."""
        return super().parse_args(ctx, list(_renamed(args, former_options(ctx))))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one that writes rows into a file, or is asked for JSON, writes rows."""
        makes = "_json" in ctx.params
        as_printed.json |= bool(ctx.params.pop("_json", False))
        with replacing(bool(ctx.params.pop("_replace", False))):
            return self._invoke(ctx, makes=makes)

    def _invoke(self, ctx: Any, *, makes: bool) -> Any:
        path = ctx.params.get("_rows")
        if as_printed.json and not makes and not {"as_json", "_rows"} & ctx.params.keys():
            raise typer.BadParameter(say("choose.no-json"), ctx=ctx, param_hint="--json")
        if as_printed.json and "as_json" in ctx.params:
            ctx.params["as_json"] = True
        if path is None:
            return super().invoke(ctx)
        if "as_json" in ctx.params:
            ctx.params["as_json"] = True
        with rows_into(path):
            return super().invoke(ctx)


def former_options(context: Any) -> dict[str, str]:
    """Return the former names of a command's options, each with its present one."""
    return FORMER_OPTIONS.get(context.command_path.partition(" ")[2], {})


def _renamed(args: Sequence[str], former: dict[str, str]) -> Iterator[str]:
    """Yield arguments with the present names of options, and say which are former ones."""
    literal = False
    for word in args:
        literal |= word == "--"
        name, sign, value = word.partition("=")
        if literal or name not in former:
            yield word
            continue
        err.print(say("former", former=name, now=former[name]))
        yield f"{former[name]}{sign}{value}"


class LazyCommand(TyperCommand):
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


class Group(_InLanguage, TyperGroup):
    """A group of commands whose page, usage line and errors are in the language of the run."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its options; a group inside the program takes those of the program, too."""
        params = super().get_params(ctx)
        names = {name for param in params for name in param.opts}
        return params + [option for option in options_everywhere() if names.isdisjoint(option.opts)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a former name of an option becomes its present one."""
        return super().parse_args(ctx, list(_renamed(args, former_options(ctx))))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the arguments name, imported; also by a former name."""
        path = f"{ctx.command_path.partition(' ')[2]} {args[0]}".strip()
        if present := FORMER_COMMANDS.get(path):
            err.print(say("former", former=args[0], now=present))
            args = [present, *args[1:]]
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
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
            if isinstance(command, LazyCommand):
                command = command.fetched()
            if command is None:
                return ""
            settings = command.context_settings
            context = typer.Context(command, parent=context, info_name=name, **settings)
        return str(command.get_help(context))

    def main(self, args: Sequence[str] | None = None, *rest: Any, **settings: Any) -> Any:
        """Run the command that the arguments name; its usage errors are said here."""
        settings = {"prog_name": PROGRAM} | settings
        args = _helping(sys.argv[1:] if args is None else args, self)
        use_language(asked_language(args))
        self.speak()
        if COMPLETING in os.environ:
            from typer._completion_classes import completion_init

            completion_init()
        elif page := self._page_asked(args):
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


def _helping(args: Sequence[str], root: Group) -> list[str]:
    """Return ``help COMMAND`` as ``COMMAND --help``; other arguments as they are."""
    start = next((n for n, word in enumerate(args) if not word.startswith("-")), len(args))
    if start and args[start - 1] == "--language":  # its value is no command
        start = next((n for n in range(start + 1, len(args)) if args[n][:1] != "-"), len(args))
    options, command = list(args[:start]), list(args[start:])
    if command[:1] != ["help"]:
        return list(args)
    if not command[1:]:
        return [*options, "--help"]
    return [*options, *command[1:], "--help"] if command[1] in root.commands else list(args)


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
        command.help = translated(command.help)
    command.options_metavar = typer_words("page.options-here")
    for param in command.params:
        if isinstance(param, TyperArgument | TyperOption):
            param.help = translated(param.help or "")
            if param.metavar:
                param.metavar = translated(param.metavar)
    if isinstance(command, TyperGroup):
        command.subcommand_metavar = typer_words("page.command-here")
        for inner in command.commands.values():
            _translate(inner)


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

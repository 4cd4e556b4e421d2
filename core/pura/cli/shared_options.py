"""Options that many commands take: of the program itself, ``--force`` and ``--json``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer
import typer.main
from typer.core import TyperOption

from pura.cli.terminal import go_into_detail, notes, use_language


def _quieten(enabled: bool) -> None:
    if enabled:
        notes.quiet = True


def _go_into_detail(enabled: bool) -> None:
    if enabled:
        go_into_detail()


@cache
def options_everywhere() -> tuple[TyperOption, ...]:
    """Return the options of the program that each command takes behind its name as well."""

    def function(
        *,
        _quiet: Annotated[
            bool,
            typer.Option("--quiet", "-q", help="…", hidden=True, callback=_quieten),
        ] = False,
        _verbose: Annotated[
            bool,
            typer.Option("--verbose", "-v", help="…", hidden=True, callback=_go_into_detail),
        ] = False,
        _language: Annotated[
            str,
            typer.Option("--language", help="…", hidden=True, callback=use_language),
        ] = "",
    ) -> None:
        """Hold the options."""

    for option in (options := _options_of(function)):
        option.expose_value = False
    return options


@cache
def force_option() -> TyperOption:
    """Return ``--force``, which each command has that writes a file."""

    def function(
        *,
        _replace: Annotated[
            bool, typer.Option("--force", help="Replace files that are there.")
        ] = False,
    ) -> None:
        """Hold the option."""

    return _options_of(function)[0]


def _options_of(function: Callable[..., None]) -> tuple[TyperOption, ...]:
    app = typer.Typer(add_completion=False)
    app.command()(function)
    params = typer.main.get_command(app).params
    return tuple(param for param in params if isinstance(param, TyperOption))


@cache
def json_option() -> TyperOption:
    """Return ``--json``, which each command has that makes, changes or removes something."""

    def function(
        *, _json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    ) -> None:
        """Hold the option."""

    return _options_of(function)[0]

"""The ``pura`` command: everything the window does, without a window."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from pura.base import logs
from pura.base.errors import PuraError
from pura.base.process import Signals, close_to_others, unconfined
from pura.cli.command_table import COMMANDS
from pura.cli.interrupt import end_tidily
from pura.cli.terminal import (
    as_printed,
    complain,
    details,
    err,
    exit_code,
    go_into_detail,
    notes,
    say,
    set_key_passphrase,
    use_language,
    warn_unconfined,
    write_alike,
)
from pura.cli.tree import PROGRAM, App
from pura.version import __version__

app = App(
    "Embed, read and defend the PURA watermark.\n\n"
    "The options --quiet, --verbose, --language and --json stand before a command or behind it."
)
for _name, _home, _about in COMMANDS:
    app.later(_name, f"pura.cli.{_home}", _about)
if find_spec("pura_lab") is not None:  # the distribution pura-lab
    app.later("lab", "pura_lab.commands:app", "Attacks on texts, and what they do to marks.")


def _version(*, shown: bool) -> None:
    if shown:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback(context_settings={"help_option_names": ["--help", "-h"]})
def options(
    *,
    _: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Print the version.",
            is_eager=True,
            callback=lambda v: _version(shown=v),
        ),
    ] = False,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="PURA_PASSPHRASE_FILE",
            help="File with the passphrase of encrypted key files: the folder of stored keys, and "
            "--key-file. If missing, it is asked for.",
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Say findings and errors only: no notes, no progress."),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also print the log: what is loaded, read and written, with counts, seconds and "
            "codes of errors; and the steps of each audit.",
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON, where the command has it."),
    ] = False,
    _language: Annotated[
        str,
        typer.Option(
            "--language",
            envvar="PURA_LANGUAGE",
            help="Language of what is said: en or de; left out: en.",
            callback=use_language,
            show_default=False,
        ),
    ] = "",
) -> None:
    """Embed, read and defend the PURA watermark."""
    as_printed.json = as_json
    set_key_passphrase(passphrase_file)
    notes.quiet = quiet
    details.quiet = True
    logs.silence()
    if verbose:
        go_into_detail()
    unconfined[:] = [warn_unconfined]


def main() -> None:
    """Run the command; errors become one sentence, a way out and an exit code."""
    close_to_others()
    signals = Signals()
    signals.catch()
    try:
        _run()
    except SystemExit:
        if signals.ended is not None:
            sys.exit(signals.ended.status)
        raise


def _run() -> None:
    try:
        end_tidily()
        app()
    except PuraError as error:
        complain(error)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        err.print(say("stopped"))
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone; nothing is left to say to it.
        sys.stderr.close()
        sys.exit(1)


def run() -> None:
    """Run the command in a process of its own."""
    write_alike()
    main()


if __name__ == "__main__":
    run()

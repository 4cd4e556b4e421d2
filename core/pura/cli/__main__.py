"""The ``pura`` command: everything the window does, without a window."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pura.base.errors import PuraError
from pura.cli import caselog, keys, models, power, profiles, register, report
from pura.cli.generate import generate
from pura.cli.passphrases import set_folder_passphrase
from pura.cli.selftest import selftest
from pura.cli.terminal import complain, err, say, use_language
from pura.cli.tree import App
from pura.cli.verify import verify
from pura.version import __version__

app = App("Embed, read and defend the PURA watermark.")
app.add_typer(keys.app, name="key")
app.add_typer(models.app, name="model")
app.add_typer(profiles.app, name="profile")
app.add_typer(power.app, name="power")
app.add_typer(register.app, name="register")
app.add_typer(report.app, name="report")
app.add_typer(caselog.app, name="caselog")
app.command("generate")(generate)
app.command("verify")(verify)
app.command("selftest")(selftest)


def _version(*, shown: bool) -> None:
    if shown:
        typer.echo(f"pura {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    _: Annotated[
        bool,
        typer.Option(
            "--version",
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
            help="Passphrase of the encrypted key files, where keys are kept in such; else asked.",
        ),
    ] = None,
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
    set_folder_passphrase(passphrase_file)


def main() -> None:
    """Run the command; errors become one sentence, a way out and an exit code."""
    try:
        app()
    except PuraError as error:
        complain(error)
        sys.exit(2 if error.code == "usage" else 1)
    except KeyboardInterrupt:
        err.print(say("stopped"))
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone; nothing is left to say to it.
        sys.stderr.close()
        sys.exit(1)


if __name__ == "__main__":
    main()

"""``pura serve statement``: statements that a detector signed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from pura.cli.common import environment
from pura.cli.terminal import Language, RowsInto, out, write_row
from pura.cli.tree import App

_EXIT: Final = {"amiss": 1, "signed": 4, "trusted": 0}
_STYLES: Final = {"good": "green", "notice": "yellow", "bad": "bold red", "open": "dim"}

statements = App("Statements that a detector signed.")


@statements.command("verify")
def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The statement, or an answer that holds it.")
    ],
    text: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The text that it should be of.")
    ] = None,
    trust: Annotated[
        list[Path] | None,
        typer.Option(metavar="KEY", help="Public key or certificate that you trust (PEM, DER)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    _rows: RowsInto = None,
    language: Language = "",
) -> None:
    """Check a statement that a detector signed, without a network.

    Exit codes: 0 signed with a key that --trust names, and nothing was found that is not as it
    should be; 1 something was; 2 usage; 4 signed, but the signer was not examined, since --trust
    names nobody.
    """
    from pura.usecases.statements import check_statement

    found = check_statement(path=file, trust=tuple(trust or ()), text=text)
    said = found.statement
    if as_json:
        write_row(
            {
                "file": file.name,
                "standing": found.standing,
                "headline": found.headline(language),
                "statement": None if said is None else said.plain(),
                "checks": [one.plain(language) for one in found.checks],
            },
            "statement-check",
        )
        raise typer.Exit(_EXIT[found.standing])
    out.print(found.headline(language), style="bold red" if found.standing == "amiss" else "bold")
    if said is not None:
        for title, value in said.lines(language):
            out.print(f"{title}: ", style="bold", end="")
            out.print(value)
    for check in found.checks:
        out.print(f"{check.title(language)}: ", style="bold", end="")
        out.print(check.result(language), style=_STYLES[check.state])
        out.print(f"  {check.text(language)}")
    raise typer.Exit(_EXIT[found.standing])


@statements.command("key")
def key() -> None:
    """Print the public key that the detector signs with, to be published; it is made if need be."""
    from pura.usecases.statements import detector_key

    out.print(detector_key(environment()).public_pem().strip())

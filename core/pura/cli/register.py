"""``pura register``: to whom, when and for which model a payload was issued."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pura.cli.common import ProfileOption, environment, load_profile
from pura.cli.terminal import RowsInto, err, out, say, write_row
from pura.cli.tree import App

app = App()

Payload = Annotated[str, typer.Argument(help="The payload as 0 and 1, or 0x… in hex.")]


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV (payload or fields, who, when, model); or a log of issued payloads, or a"
            " folder of them."
        ),
    ],
    profile: ProfileOption,
) -> None:
    """Add every row of a table or of a server's logs, or none: bad rows are named."""
    from pura.usecases.register import import_register

    at = environment()
    done = import_register(at, path=file, profile=load_profile(at, profile))
    out.print(say("register.added", rows=done.rows, version=done.version))


@app.command("export")
def export(file: Annotated[Path, typer.Argument(help="CSV file to write.")]) -> None:
    """Write the register as a table."""
    from pura.usecases.register import export_register

    done = export_register(environment(), path=file)
    out.print(say("register.written", rows=done.rows))


@app.command("add")
def add(
    payload: Payload,
    profile: ProfileOption,
    who: Annotated[str, typer.Option(help="To whom; a pseudonym is enough, and better.")],
    when: Annotated[str, typer.Option(help="Date of issue.")] = "",
    model: Annotated[str, typer.Option(help="Model it was issued for.")] = "",
) -> None:
    """Add one issued payload."""
    from pura.register.rows import Issue
    from pura.scheme import parse_payload
    from pura.usecases.register import add_issue

    at = environment()
    bits = parse_payload(payload, load_profile(at, profile).payload_bits)
    issue = Issue(payload=bits, who=who, when=when, model=model)
    entry = add_issue(at, issue=issue)
    out.print(say("entry", number=entry.number))


@app.command("find")
def find(payload: Payload, profile: ProfileOption, _rows: RowsInto = None) -> None:
    """Look a payload up; exit code 1 when it was never issued."""
    from pura.scheme import parse_payload
    from pura.usecases.register import find_payload

    at = environment()
    bits = parse_payload(payload, load_profile(at, profile).payload_bits)
    entry = find_payload(at, payload=bits)
    if entry is None:
        err.print(say("register.none"))
        raise typer.Exit(1)
    issue = entry.issue
    row = {"entry": entry.number, "payload": issue.payload.text, "who": issue.who}
    row |= {"when": issue.when, "model": issue.model}
    write_row(row, "issue")

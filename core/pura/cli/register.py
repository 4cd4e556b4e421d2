"""``pura register``: to whom, when and for which model a payload was issued."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from pura.base.paths import user_paths
from pura.cli.common import ProfileOption, err, find_profile, out
from pura.register.register_csv import export_csv, import_csv, parse_payload
from pura.register.rows import Issue
from pura.register.store import Register

app = typer.Typer(no_args_is_help=True, help="The register of issued payloads.")

Payload = Annotated[str, typer.Argument(help="The payload as 0 and 1, or 0x… in hex.")]


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="CSV: payload or fields, who, when, model.")],
    profile: ProfileOption,
) -> None:
    """Add every row of a table, or none: bad rows are named."""
    with Register(user_paths().register, create=True) as register:
        added = import_csv(register, file, find_profile(profile))
        out.print(f"{added} entries added; register {register.version()}.", markup=False)


@app.command("export")
def export(file: Annotated[Path, typer.Argument(help="CSV file to write.")]) -> None:
    """Write the register as a table."""
    with Register(user_paths().register, read_only=True) as register:
        out.print(f"{export_csv(register, file)} entries written.", markup=False)


@app.command("add")
def add(
    payload: Payload,
    profile: ProfileOption,
    who: Annotated[str, typer.Option(help="To whom; a pseudonym is enough, and better.")],
    when: Annotated[str, typer.Option(help="Date of issue.")] = "",
    model: Annotated[str, typer.Option(help="Model it was issued for.")] = "",
) -> None:
    """Add one issued payload."""
    bits = parse_payload(payload, find_profile(profile).payload_bits)
    with Register(user_paths().register, create=True) as register:
        entry = register.add(Issue(payload=bits, who=who, when=when, model=model))
        out.print(f"Entry {entry.number}.", markup=False)


@app.command("find")
def find(payload: Payload, profile: ProfileOption) -> None:
    """Look a payload up; exit code 1 when it was never issued."""
    bits = parse_payload(payload, find_profile(profile).payload_bits)
    with Register(user_paths().register, read_only=True) as register:
        entry = register.find(bits)
        if entry is None:
            err.print("No entry has this payload.")
            raise typer.Exit(1)
        issue = entry.issue
        row = {"entry": entry.number, "payload": issue.payload.text, "who": issue.who}
        row |= {"when": issue.when, "model": issue.model}
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")

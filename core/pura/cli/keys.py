"""``pura key``: secret keys in the operating system's keyring."""

from __future__ import annotations

import getpass
import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pura.cli.common import MAX_KEY_FILE, err, interactive, key_store, out, read_key_file
from pura.scheme import SecretKey

app = typer.Typer(no_args_is_help=True, help="Secret keys in the operating system's keyring.")

Name = Annotated[str, typer.Argument(help="The key's name.")]


@app.command("new")
def new(name: Name, note: Annotated[str, typer.Option(help="A note for people.")] = "") -> None:
    """Make a fresh key and store it in the keyring."""
    store = key_store()
    entry = store.add(name, SecretKey.generate(), note)
    err.print(f"Stored in {store.title}.", markup=False)
    out.print(f"{entry.name}  {entry.fingerprint}", markup=False)


@app.command("import")
def import_(
    name: Name,
    file: Annotated[
        Path | None, typer.Option("--file", help="File with 64 hex digits; else asked for.")
    ] = None,
    note: Annotated[str, typer.Option(help="A note for people.")] = "",
) -> None:
    """Store a key that exists already; it is asked for without echo, or read from stdin."""
    store = key_store()
    entry = store.add(name, _secret(file), note)
    err.print(f"Stored in {store.title}.", markup=False)
    out.print(f"{entry.name}  {entry.fingerprint}", markup=False)


def _secret(file: Path | None) -> SecretKey:
    if file is not None:
        return read_key_file(file)
    if interactive():
        return SecretKey.from_hex(getpass.getpass("Key (64 hex digits, not shown): "))
    return SecretKey.from_hex(sys.stdin.read(MAX_KEY_FILE))


@app.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the known keys: name, fingerprint, date. Secrets are never shown."""
    store = key_store()
    entries = store.list()
    if as_json:
        for e in entries:
            row = {"name": e.name, "fingerprint": e.fingerprint, "created": e.created}
            sys.stdout.write(json.dumps(row | {"note": e.note}, ensure_ascii=False) + "\n")
        return
    if not out.is_terminal:
        for e in entries:
            out.print(f"{e.fingerprint}  {e.created}  {e.name}", markup=False)
        return
    if not entries:
        out.print("No keys yet. Make one with “pura key new NAME”.")
        return
    table = Table("Name", "Fingerprint", "Created", "Note", title=f"Keys in {store.title}")
    for e in entries:
        table.add_row(e.name, e.fingerprint, e.created, e.note)
    out.print(table)


@app.command("delete")
def delete(
    name: Name, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> None:
    """Delete a key for good: texts marked with it can no longer be verified here."""
    store = key_store()
    entry = store.entry(name)
    if not yes:
        question = (
            f"Delete “{entry.name}” ({entry.fingerprint})? Texts marked with it can no longer "
            "be verified on this computer."
        )
        typer.confirm(question, abort=True)
    store.delete(name)
    err.print(f"Deleted “{name}”.", markup=False)

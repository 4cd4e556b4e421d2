"""``pura key list`` and ``pura key state``: what is there, and whether it can be used."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from pura.audit.keys import KeyEntry, KeyStore, Role, State, words
from pura.cli.common import err, key_store, out

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


def list_(as_json: AsJson = False) -> None:
    """List the known keys: name, fingerprint, date. Secrets are never shown."""
    store = key_store()
    entries = store.list()
    if as_json:
        for entry in entries:
            _write({k: v for k, v in asdict(entry).items() if k != "account"})
        return
    if not out.is_terminal:
        for entry in entries:
            out.print(f"{entry.fingerprint}  {entry.created}  {entry.name}", markup=False)
        return
    if not entries:
        out.print("No keys yet. Make one with “pura key new NAME”.")
        return
    table = Table("Name", "Fingerprint", "Created", "Kind", "Kept in", "Note")
    for entry in entries:
        table.add_row(
            entry.name, entry.fingerprint, entry.created[:10], kind(entry), entry.place.value,
            entry.note,
        )  # fmt: skip
    out.print(table)


def state(
    check: Annotated[
        bool, typer.Option("--check", help="Read every key too; a prompt may come up.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say which key store is in use and in what state it is.

    Exit codes: 0 it can be used, 1 it cannot, or with --check some key cannot be read.
    """
    store = key_store()
    standing = store.standing()
    said, way_out = words(standing.state, standing.title, files=not store.has_keyring)
    if as_json:
        _write({"store": standing.title, "state": standing.state.value,
                "files": standing.files.value, "message": said, "hint": way_out})  # fmt: skip
    else:
        out.print(said, markup=False)
        if way_out:
            out.print(way_out, markup=False)
        if store.has_keyring and store.files.exists:
            also, _ = words(standing.files, store.files.title, files=True)
            out.print(also, markup=False)
    good = standing.state is State.READY
    if check:
        # Opening the folder of files is part of the check; it asks for its passphrase by itself.
        found = [_check(store, entry, as_json) for entry in store.list()]  # each says its state
        good = all(found)
    raise typer.Exit(0 if good else 1)


def kind(entry: KeyEntry) -> str:
    """Say what a key is for."""
    if entry.role is Role.DERIVED:
        return f"derived: {entry.deployment}"
    return "master" if entry.role is Role.MASTER else ""


def _check(store: KeyStore, entry: KeyEntry, as_json: bool) -> bool:
    found, error = store.check(entry.name)
    if as_json:
        _write({"name": entry.name, "fingerprint": entry.fingerprint, "state": found.value,
                "message": error.message if error else "", "hint": error.hint if error else ""}
               )  # fmt: skip
    elif error is None:
        out.print(f"{entry.name}  {entry.fingerprint}  can be read", markup=False)
    else:
        out.print(f"{entry.name}  {entry.fingerprint}  {error.message}", markup=False)
        err.print(error.hint, markup=False)
    return found is State.READY


def _write(row: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")

"""``pura key list`` and ``pura key state``: what is there, and whether it can be used."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.errors import KeyStoreError
from pura.cli.common import environment
from pura.cli.passphrases import warn
from pura.cli.terminal import RowsInto, err, language, out, say, write_row

if TYPE_CHECKING:
    from pura.keys import KeyEntry, State

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


def list_(as_json: AsJson = False, _rows: RowsInto = None) -> None:
    """List the known keys: name, fingerprint, date. Secrets are never shown."""
    from rich.table import Table

    store = environment().keys
    entries = store.list()
    warn(store.exposures())
    if as_json:
        for entry in entries:
            write_row({k: v for k, v in asdict(entry).items() if k != "account"}, "key")
        return
    if not entries:
        err.print(say("key.none"))
        return
    if not out.is_terminal:
        for entry in entries:
            out.print(f"{entry.fingerprint}  {entry.created}  {entry.name}")
        return
    table = Table(
        *(say(f"head.{h}") for h in ("name", "fingerprint", "created", "kind", "kept", "note"))
    )
    for entry in entries:
        table.add_row(
            entry.name,
            entry.fingerprint,
            entry.created[:10],
            kind(entry),
            say(f"kept.{entry.place}"),
            entry.note,
        )
    out.print(table)


def state(
    check: Annotated[
        bool, typer.Option("--check", help="Read every key too; a prompt may come up.")
    ] = False,
    as_json: AsJson = False,
    _rows: RowsInto = None,
) -> None:
    """Say which key store is in use and in what state it is.

    Exit codes: 0 it can be used, 1 it cannot, or with --check some key cannot be read.
    """
    from pura.keys import State, words

    store = environment().keys
    # Reading comes first: it opens the folder of files, and then the state is the one after it.
    found = [(entry, *store.check(entry.name)) for entry in store.list()] if check else []
    standing = store.standing()
    spoken = "en" if as_json else language()
    said, way_out = words(standing.state, standing.title, spoken, files=not store.has_keyring)
    if as_json:
        write_row(
            {
                "store": standing.title,
                "state": standing.state.value,
                "files": standing.files.value,
                "message": said,
                "hint": way_out,
            },
            "key-store",
        )
    else:
        out.print(said)
        if way_out:
            out.print(way_out)
        if store.has_keyring and store.files.exists:
            also, _ = words(standing.files, store.files.title, language(), files=True)
            out.print(also)
    for entry, entry_state, error in found:
        _tell(entry, entry_state, error, as_json=as_json)
    states = [entry_state for _, entry_state, _ in found] or [standing.state]
    good = all(one is State.READY for one in states)
    raise typer.Exit(0 if good else 1)


def kind(entry: KeyEntry) -> str:
    """Say what a key is for."""
    from pura.keys import KeyRole

    if entry.role is KeyRole.DERIVED:
        return say("key.derived", deployment=entry.deployment)
    return say("key.master") if entry.role is KeyRole.MASTER else ""


def _tell(entry: KeyEntry, found: State, error: KeyStoreError | None, *, as_json: bool) -> None:
    if as_json:
        said, way_out = (error.message, error.hint) if error else ("", "")
        write_row(
            {
                "name": entry.name,
                "fingerprint": entry.fingerprint,
                "state": found.value,
                "message": said,
                "hint": way_out,
            },
            "key-check",
        )
    elif error is None:
        out.print(f"{entry.name}  {entry.fingerprint}  {say('key.readable')}")
    else:
        message, hint = error.words(language())
        out.print(f"{entry.name}  {entry.fingerprint}  {message}")
        err.print(hint)

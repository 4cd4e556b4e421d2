"""``pura key``: secret keys in the keyring, or in encrypted files where there is none."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from pura.base.errors import KeyFormatError, KeyStoreError
from pura.base.files import write_atomic
from pura.base.paths import user_paths
from pura.cli import key_listing
from pura.cli.common import err, interactive, key_store, out
from pura.cli.passphrases import STDIN, passphrase
from pura.keys import KeyEntry, KeyFile, KeyStore, Place, parse_key
from pura.keys.keyfile import load_key
from pura.keys.sealed import MAX_FILE
from pura.register.key_usage import find_usage, sentences
from pura.scheme import SecretKey

app = typer.Typer(
    no_args_is_help=True,
    help="Secret keys in the keyring, or in encrypted files. Secrets are never arguments.",
)
app.command("list")(key_listing.list_)
app.command("state")(key_listing.state)

Name = Annotated[str, typer.Argument(help="The key's name.")]
Note = Annotated[str, typer.Option(help="A note for people.")]
InFile = Annotated[
    bool, typer.Option("--in-file", help="Keep it in an encrypted file, not in the keyring.")
]
PassphraseFile = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file",
        metavar="FILE",
        help="Passphrase of the file in its first line, “-” for stdin; else asked for.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command("new")
def new(name: Name, note: Note = "", in_file: InFile = False) -> None:
    """Make a fresh key and store it."""
    store = key_store()
    with SecretKey.generate() as key:
        _told(store, store.add(name, key, note, place=_place(in_file)))


@app.command("import")
def import_(
    name: Annotated[
        str | None, typer.Argument(help="The key's name; an encrypted file brings its own.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Key in hex, base64 or encrypted; else asked."),
    ] = None,
    note: Note = "",
    passphrase_file: PassphraseFile = None,
    in_file: InFile = False,
) -> None:
    """Store a key that exists already; it is asked for without echo, or read from a file or stdin.

    Its form is seen by itself: 64 hex digits, base64 of 32 bytes, or an encrypted key file.
    """
    store = key_store()
    found = _secret(file, passphrase_file)
    with found.key:
        if not (name or found.name):
            raise KeyStoreError(
                "The key needs a name.", "Give one: pura key import NAME.", code="key-name"
            )
        entry = store.add(
            name or found.name,
            found.key,
            note or found.note,
            role=found.role,
            master=found.master,
            deployment=found.deployment,
            created=found.created,
            place=_place(in_file),
        )
    _told(store, entry)


@app.command("export")
def export(
    name: Name,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file; “-” is stdout.")
    ],
    passphrase_file: PassphraseFile = None,
    yes: Yes = False,
) -> None:
    """Write an encrypted copy of a key, under a passphrase."""
    store = key_store()
    entry = store.entry(name)
    if output != STDIN and output.exists():
        raise KeyStoreError(
            f"There already is a file {output.name}.", "Choose another name.", code="file-exists"
        )
    if not yes:
        err.print(
            f"Whoever has this file and its passphrase can forge marks of “{entry.name}” "
            f"({entry.fingerprint}) and read every one.",
            markup=False,
        )
        typer.confirm("Write it?", abort=True, err=True)
    words = passphrase(passphrase_file, "Passphrase for the file", new=True)
    try:
        data = store.export(name, words)
    finally:
        words[:] = bytes(len(words))
    if output == STDIN:
        sys.stdout.write(data.decode("ascii"))
        return
    try:
        write_atomic(output, data, private=True)
    except OSError as error:
        raise KeyStoreError(
            f"The file cannot be written: {error.strerror or 'unknown reason'}.",
            "Check the folder, the space and the permissions.",
            code="file-write",
        ) from None
    err.print(f"Written to {output}. Keep file and passphrase in different places.", markup=False)


@app.command("rename")
def rename(
    name: Name, new_name: Annotated[str, typer.Argument(metavar="NEW", help="The new name.")]
) -> None:
    """Give a key another name; its fingerprint stays."""
    entry = key_store().rename(name, new_name)
    out.print(f"{entry.name}  {entry.fingerprint}", markup=False)


@app.command("note")
def note_(
    name: Name, text: Annotated[str, typer.Argument(help="The note; empty takes it off.")]
) -> None:
    """Write a note to a key."""
    entry = key_store().set_note(name, text)
    out.print(f"{entry.name}  {entry.fingerprint}  {entry.note}", markup=False)


@app.command("derive")
def derive(
    master: Annotated[str, typer.Argument(help="Name of the master key.")],
    label: Annotated[str, typer.Argument(help="Name of the deployment, e.g. newsroom-2026.")],
    name: Annotated[
        str, typer.Option(help="Name of the new key; else the master's and the label.")
    ] = "",
    note: Note = "",
    in_file: InFile = False,
) -> None:
    """Derive the key of a deployment from a master key (HKDF-SHA256), and store it."""
    store = key_store()
    _told(store, store.derive(master, label, name, note, _place(in_file)))


@app.command("delete")
def delete(name: Name, yes: Yes = False) -> None:
    """Delete a key for good: texts marked with it can no longer be verified here."""
    store, paths = key_store(), user_paths()
    entry = store.entry(name)
    if not yes:
        for sentence in sentences(find_usage(entry, store.list(), paths.profiles, paths.register)):
            err.print(sentence, markup=False)
        typer.confirm(f"Delete “{entry.name}”?", abort=True, err=True)
    store.delete(name)
    err.print(f"Deleted “{name}”.", markup=False)


def _place(in_file: bool) -> Place | None:
    return Place.FILES if in_file else None


def _told(store: KeyStore, entry: KeyEntry) -> None:
    title = store.files.title if entry.place is Place.FILES else store.title
    err.print(f"Stored in {title}.", markup=False)
    out.print(f"{entry.name}  {entry.fingerprint}", markup=False)


def _secret(file: Path | None, passphrase_file: Path | None) -> KeyFile:
    def ask() -> bytearray:
        return passphrase(passphrase_file, "Passphrase of the key file")

    if file is not None and file != STDIN:
        return load_key(file, ask)
    if passphrase_file == STDIN:
        raise KeyFormatError(
            "Key and passphrase cannot both come from standard input.",
            "Put one of them into a file.",
        )
    if file is None and interactive():
        typed = getpass.getpass("Key (hex or base64, not shown): ")
        return parse_key(typed.encode("utf-8", "replace"), ask)
    return parse_key(sys.stdin.buffer.read(MAX_FILE + 1), ask)

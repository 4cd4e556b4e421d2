"""``pura key`` and ``pura bundle``: secret keys, and what a team shares under one passphrase."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.errors import KeyFormatError, KeyStoreError
from pura.base.files import refuse_taken
from pura.cli.options import FileToWrite, JsonLines, Yes, environment
from pura.cli.terminal import (
    STDIN,
    RowsInto,
    as_printed,
    columns,
    confirm,
    err,
    interactive,
    language,
    out,
    passphrase,
    passphrase_for,
    print_made,
    say,
    warn,
    with_passphrase,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.keys import KeyEntry, Place, Secret, State
    from pura.usecases.keys import Bundle, KeyDone


app = App()
bundles = App()

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


@app.command("list")
def list_(as_json: JsonLines = False, _rows: RowsInto = None) -> None:
    """List the known keys: name, fingerprint, date. Secrets are never shown."""
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
    heads = ("name", "fingerprint", "created", "kind", "kept", "note")
    rows = (
        (e.name, e.fingerprint, e.created[:10], kind(e), say(f"kept.{e.place}"), e.note)
        for e in entries
    )
    out.print(columns(heads, rows, boxed=True))


@app.command("state")
def state(
    check: Annotated[
        bool, typer.Option("--check", help="Read every key too; a prompt may come up.")
    ] = False,
    as_json: JsonLines = False,
    _rows: RowsInto = None,
) -> None:
    """Say which key store is in use and in what state it is.

    Exit codes: 0 it can be used, 1 it cannot, or with --check some key cannot be read.
    """
    from pura.keys import State, words

    store = environment().keys
    # Reading comes first: it opens the folder of files, and then the state is the one after it.
    found = [(entry, *store.check(entry.name)) for entry in store.list()] if check else []
    state, files = store.state(), store.files.state()
    spoken = "en" if as_json else language()
    said, way_out = words(state, store.title, spoken, files=not store.has_keyring)
    if as_json:
        write_row(
            {
                "store": store.title,
                "state": state.value,
                "files": files.value,
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
            also, _ = words(files, store.files.title, language(), files=True)
            out.print(also)
    for entry, entry_state, error in found:
        _tell(entry, entry_state, error, as_json=as_json)
    states = [entry_state for _, entry_state, _ in found] or [state]
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


@app.command("new")
def new(name: Name, note: Note = "", in_file: InFile = False) -> None:
    """Make a fresh key and store it."""
    from pura.usecases.keys import create_key

    _told(create_key(environment(), name=name, note=note, place=_place(in_file)))


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
    from pura.usecases.keys import import_key

    at = environment()
    source = _source(file, passphrase_file)

    def take_in(secret: Secret | None) -> KeyDone:
        return import_key(
            at,
            source=source,
            passphrase=secret,
            name=name or "",
            note=note,
            place=_place(in_file),
        )

    _told(with_passphrase(take_in, passphrase_file, say("ask.key-file")))


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
    from pura.usecases.keys import export_key

    at = environment()
    entry = at.keys.entry(name)
    path = None if output == STDIN else output
    if path is not None:
        refuse_taken(path, KeyStoreError)  # before the questions, not after them
    if not yes:
        err.print(say("key.warn", name=entry.name, fingerprint=entry.fingerprint))
        confirm(say("key.write"))
    words = passphrase(passphrase_file, say("ask.file"), new=True)
    done = export_key(at, name=name, passphrase=words, path=path)
    if path is None:
        sys.stdout.write(done.data.decode("ascii"))
    else:
        err.print(say("key.written", path=str(path)))


@app.command("rename")
def rename(
    name: Name, new_name: Annotated[str, typer.Argument(metavar="NEW", help="The new name.")]
) -> None:
    """Give a key another name; its fingerprint stays."""
    from pura.usecases.keys import rename_key

    key = rename_key(environment(), name=name, new=new_name).key
    sentence = f"{key.label}  {key.fingerprint}"
    print_made("key", key.label or "", sentence, fingerprint=key.fingerprint)


@app.command("note")
def note_(
    name: Name, text: Annotated[str, typer.Argument(help="The note; empty takes it off.")]
) -> None:
    """Write a note to a key."""
    from pura.usecases.keys import note_key

    done = note_key(environment(), name=name, note=text)
    stored = done.entry.note if done.entry is not None else ""
    sentence = f"{done.key.label}  {done.key.fingerprint}  {stored}"
    print_made("key", done.key.label or "", sentence, fingerprint=done.key.fingerprint)


@app.command("derive")
def derive(
    master: Annotated[str, typer.Argument(help="Name of the master key.")],
    label: Annotated[str, typer.Argument(help="Name of the deployment, e.g. newsroom-2026.")] = "",
    epoch: Annotated[
        str,
        typer.Option(help="Instead of a label: 2026-11-22 (day), 2026-W47 (week) or 2026-11."),
    ] = "",
    name: Annotated[
        str, typer.Option(help="Name of the new key; else the master's and the label.")
    ] = "",
    note: Note = "",
    in_file: InFile = False,
) -> None:
    """Derive the key of a deployment or an epoch from a master key (HKDF-SHA256), and store it."""
    from pura.usecases.keys import derive_key

    if bool(label) == bool(epoch):
        raise typer.BadParameter(say("choose.label"), param_hint="LABEL, --epoch")
    done = derive_key(
        environment(),
        master=master,
        label=label or epoch,
        epoch=bool(epoch),
        name=name,
        note=note,
        place=_place(in_file),
    )
    _told(done)


@app.command("remove")
def remove(name: Name, yes: Yes = False) -> None:
    """Delete a key for good: texts marked with it can no longer be verified here."""
    from pura.register.usage import sentences
    from pura.usecases.keys import delete_key, key_usage

    at = environment()
    usage = key_usage(at, name)
    if not yes:
        for sentence in sentences(usage, language()):
            err.print(sentence)
        confirm(say("key.delete", name=usage.entry.name))
    delete_key(at, name=name)
    fingerprint = usage.entry.fingerprint
    sentence = say("key.deleted", name=name)
    print_made("key", name, sentence, fingerprint=fingerprint, aside=True)


def _place(in_file: bool) -> Place | None:
    from pura.keys import Place

    return Place.FILES if in_file else None


def _told(done: KeyDone) -> None:
    err.print(say("key.stored", place=done.keyring or say("kept.folder")))
    sentence = f"{done.key.label}  {done.key.fingerprint}"
    print_made("key", done.key.label or "", sentence, fingerprint=done.key.fingerprint)


def _source(file: Path | None, passphrase_file: Path | None) -> Path | Secret:
    import getpass

    from pura.keys import Secret
    from pura.keys.sealed import MAX_FILE

    if file is not None and file != STDIN:
        return file
    if passphrase_file == STDIN:
        raise KeyFormatError("command.stdin-twice")
    if file is None and interactive():
        typed = getpass.getpass(say("ask.key"))
        return Secret(bytearray(typed.encode("utf-8", "replace")))
    return Secret(bytearray(sys.stdin.buffer.read(MAX_FILE + 1)))


BundlePassphrase = Annotated[
    Path | None, typer.Option(help="Its first line is the passphrase; - is stdin.")
]


@bundles.command("create")
def create(
    key: Annotated[str, typer.Option("--key", help="Name of the key.")],
    profile: Annotated[str, typer.Option("--profile", help="Name of the profile.")],
    output: FileToWrite,
    register: Annotated[
        bool, typer.Option(help="With the register of issued payloads, where there is one.")
    ] = True,
    passphrase_file: BundlePassphrase = None,
) -> None:
    """Put profile, key, policy, power tables and register into one encrypted file."""
    from pura.usecases.keys import create_bundle

    secret = passphrase(passphrase_file, say("bundle.new-passphrase"), new=True)
    made = create_bundle(
        environment(),
        key=key,
        profile=profile,
        passphrase=secret,
        path=output,
        register=register,
    )
    if not as_printed.json:
        _show(made)
    sentence = say("bundle.written", file=output.name)
    print_made(
        "bundle", output.name, sentence, files=[output], count=made.register_rows, aside=True
    )


@bundles.command("import")
def import_bundle(
    file: Annotated[Path, typer.Argument(help="A bundle.")],
    replace_policy: Annotated[
        bool, typer.Option("--replace-policy", help="Another policy that is here is replaced.")
    ] = False,
    yes: Yes = False,
    passphrase_file: BundlePassphrase = None,
) -> None:
    """Show what a bundle holds, and take it in."""
    from pura.usecases.keys import open_bundle, take_bundle

    secret = passphrase_for(file, passphrase_file, prompt=say("bundle.passphrase"))
    bundle = open_bundle(file, secret)
    if not as_printed.json:
        _show(bundle)
    confirm(say("bundle.confirm"), yes=yes)
    take_bundle(environment(), path=file, passphrase=secret, replace_policy=replace_policy)
    print_made("bundle", file.name, say("bundle.taken"), count=bundle.register_rows, aside=True)


def _show(bundle: Bundle) -> None:
    """Print what is in it; the fingerprints are what two people compare."""
    none = say("bundle.none")
    out.print(say("bundle.key", name=bundle.key, fingerprint=bundle.key_fingerprint))
    out.print(say("bundle.profile", name=bundle.profile, fingerprint=bundle.profile_fingerprint))
    out.print(say("bundle.policy", name=bundle.policy or none))
    out.print(say("bundle.power", names=", ".join(f[:16] for f in bundle.power) or none))
    out.print(say("bundle.register", n=bundle.register_rows))

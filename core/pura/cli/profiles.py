"""``pura profile``: what generator and verifier share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.cli.options import (
    FileToWrite,
    JsonLines,
    KeyFile,
    KeyName,
    Yes,
    environment,
    find_key,
    session,
)
from pura.cli.terminal import (
    RowsInto,
    confirm,
    err,
    out,
    print_made,
    refuse_unknown,
    say,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.scheme import Profile

app = App()

Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        help="FIELD=FROM..TO or FIELD=VALUE: what can have been issued at most; repeat it. A date"
        " may be “today”, the day of the audit.",
    ),
]
TokenizerModel = Annotated[str | None, typer.Option(help="Model whose tokenizer it is for.")]
StoreName = Annotated[str | None, typer.Option(help="Store it under this name too.")]
InsteadOfStdout = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")
]
StoredName = Annotated[str, typer.Argument(help="A stored name.")]


@app.command("new")
def new(
    bits: Annotated[int, typer.Option("--bits", help="Payload bits.")] = 36,
    code: Annotated[str, typer.Option(help="tbcc (stronger) or spc (the paper's).")] = "tbcc",
    blocks: Annotated[int | None, typer.Option(help="Parity blocks, with spc only.")] = None,
    model: TokenizerModel = None,
    vocab_size: Annotated[int | None, typer.Option(help="Instead of --model.")] = None,
    temperature: Annotated[float, typer.Option(help="The generator's temperature.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="0 = off.")] = 0,
    top_p: Annotated[float, typer.Option(help="1 = off.")] = 1.0,
    history: Annotated[str, typer.Option(help="used (the paper's rule) or all.")] = "used",
    prefix: Annotated[str, typer.Option(help="none, or bos for models that need it.")] = "none",
    chat_template: Annotated[
        Path | None,
        typer.Option(help="File: what stands before a text, with {prompt} and {system}."),
    ] = None,
    system_prompt: Annotated[
        Path | None, typer.Option(help="File with the system prompt of the template.")
    ] = None,
    key_epochs: Annotated[
        str | None,
        typer.Option(help="day, week or month: each has a key of its own, derived from one."),
    ] = None,
    fields: Annotated[
        Path | None, typer.Option(help="JSON file with the payload's fields.")
    ] = None,
    limit: Limits = None,
    payload_use: Annotated[
        str | None,
        typer.Option(
            help="answer: a number for each answer, drawn at random, whose recipient the register"
            " names. recipient: the payload names the recipient, which can be forged from collected"
            " answers and puts personal data into the text. [default: recipient with --fields,"
            " otherwise answer]"
        ),
    ] = None,
    name: StoreName = None,
    output: InsteadOfStdout = None,
) -> None:
    """Make a profile; printed as JSON unless it is written to a file."""
    from pura.detect.verdict.expect import advise
    from pura.scheme.profile import KEY_EPOCHS, MAX_PAYLOAD_BITS, PAYLOAD_USES
    from pura.usecases.profiles import create_profile

    if not 1 <= bits <= MAX_PAYLOAD_BITS:
        words = say("choose.bits", most=MAX_PAYLOAD_BITS)
        raise typer.BadParameter(words, param_hint="--bits")
    refuse_unknown("--code", code, ("tbcc", "spc"))
    refuse_unknown("--history", history, ("used", "all"))
    refuse_unknown("--prefix", prefix, ("none", "bos"))
    refuse_unknown("--key-epochs", key_epochs, KEY_EPOCHS)
    refuse_unknown("--payload-use", payload_use, PAYLOAD_USES)
    # Without the option the profile chooses by its fields.
    use = {} if payload_use is None else {"payload_use": payload_use}
    profile = create_profile(
        environment(),
        name=name,
        output=output,
        bits=bits,
        code=code,
        blocks=blocks,
        model=model,
        vocab_size=vocab_size,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        history=history,
        prefix=prefix,
        chat_template=chat_template,
        system_prompt=system_prompt,
        key_epochs=key_epochs,
        layout=fields or (),
        limits=_limits(limit or ()),
        **use,
    ).profile
    _show_made(profile, name, output)
    if profile.recipient_in_payload:
        err.print(_payload_use(profile))
    for code, setting in advise(profile).items():
        if setting == "payload_bits":
            words = say(f"advice.{code}")
            err.print(say("profile.advice", setting="--bits", words=words))


def _payload_use(profile: Profile) -> str:
    """Return the sentence on what payloads of a profile stand for, and what that costs."""
    return say(f"profile.use.{profile.payload_use or 'unstated'}")


def _show_made(profile: Profile, name: str | None, output: Path | None) -> None:
    if name is None and output is None:
        sys.stdout.write(profile.to_json())
        return
    print_made(
        "profile",
        name or profile.name or "",
        say("profile.written", fingerprint=profile.fingerprint),
        fingerprint=profile.fingerprint,
        files=[] if output is None else [output],
        aside=True,
    )


@app.command("foreign")
def foreign(
    settings: Annotated[
        Path,
        typer.Argument(help="JSON settings of the program that writes the mark, with its key."),
    ],
    key: KeyName = None,
    key_file: KeyFile = None,
    model: TokenizerModel = None,
    width: Annotated[
        int | None,
        typer.Option(help="KGW: rows of the generating model's output, if not the tokenizer's."),
    ] = None,
    name: StoreName = None,
    output: InsteadOfStdout = None,
) -> None:
    """Make a profile of a mark by others: of vLLM, SGLang or transformers.

    The key in the settings is sealed under a key of yours. Delete the settings file afterwards.
    """
    from pura.usecases.profiles import create_foreign

    with session() as at:
        profile = create_foreign(
            at,
            settings=settings,
            key=find_key(at, key, key_file),
            name=name,
            output=output,
            model=model,
            width=width,
        ).profile
    _show_made(profile, name, output)


@app.command("list")
def list_(as_json: JsonLines = False, _rows: RowsInto = None) -> None:
    """List the stored profiles."""
    profiles = environment().profiles
    names = profiles.names()
    for name in names:
        if not as_json:
            out.print(name)
            continue
        profile = profiles.get(name)
        row = {
            "name": name,
            "fingerprint": profile.fingerprint,
            "payload_bits": profile.payload_bits,
            "fields": [field.name for field in profile.fields],
        }
        write_row(row, "profile")
    if not names:
        err.print(say("profile.none"))


@app.command("show")
def show(profile: Annotated[str, typer.Argument(help="A file or a stored name.")]) -> None:
    """Check a profile, print it with every default filled in, and what is odd about it."""
    from pura.detect.verdict.expect import advise, length_needed
    from pura.scheme import Profile
    from pura.scheme.foreign import FOREIGN_NAMES
    from pura.usecases.profiles import find_profile

    checked, notes = Profile.load_noted(find_profile(environment(), profile))
    _say(notes)
    sys.stdout.write(checked.to_json())
    if checked.foreign is not None:
        name = FOREIGN_NAMES[checked.scheme]
        err.print(say("profile.foreign", fingerprint=checked.fingerprint, name=name))
        return
    err.print(
        say(
            "profile.shown",
            fingerprint=checked.fingerprint,
            bits=checked.payload_bits,
            positions=checked.codeword_length,
        ),
    )
    err.print(_payload_use(checked))
    needed = length_needed(checked)
    if needed is None:
        words = say("profile.unmeasured")
    else:
        words = say("profile.length", usable=needed[0], tokens=needed[1])
    err.print(words)
    for code, setting in advise(checked).items():
        words = say(f"advice.{code}")
        err.print(say("profile.advice", setting=setting, words=words))


@app.command("limit")
def limit_(
    name: StoredName,
    limit: Limits = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all limits.")] = False,
) -> None:
    """Show the limits of a profile's fields, or replace them by --limit; --clear removes them.

    State it before a text is looked at. The fingerprint stays, and so does what can be read.
    """
    from pura.usecases.profiles import limit_profile

    if limit and clear:
        raise typer.BadParameter(say("choose.limit-or-clear"), param_hint="--clear")
    if not limit and not clear:
        sys.stdout.write(environment().profiles.get(name).to_json())
        return
    done = limit_profile(environment(), name=name, limits=_limits(limit or ()))
    sys.stdout.write(done.profile.to_json())


def _limits(options: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the limits of each field that is named."""
    found: dict[str, tuple[str, ...]] = {}
    for option in options:
        field, sign, limit = option.partition("=")
        if not sign:
            raise typer.BadParameter(say("choose.limit"), param_hint="--limit")
        found[field.strip()] = (*found.get(field.strip(), ()), limit.strip())
    return found


def _say(notes: tuple[str, ...]) -> None:
    for note in notes:
        err.print(say(f"note.{note}"))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A profile file.")],
    name: Annotated[str | None, typer.Option(help="Its name here.")] = None,
) -> None:
    """Take a profile file in; one of an older version is brought to the present one."""
    from pura.usecases.profiles import import_profile

    done = import_profile(environment(), path=file, name=name)
    _say(done.notes)
    print_made(
        "profile",
        done.name or "",
        say("profile.stored", name=done.name or ""),
        fingerprint=done.profile.fingerprint,
        aside=True,
    )


@app.command("export")
def export(
    name: StoredName,
    output: FileToWrite,
) -> None:
    """Write a stored profile to a file."""
    from pura.usecases.profiles import export_profile

    export_profile(environment(), name=name, path=output)
    print_made("profile", name, "", files=[output])


@app.command("remove")
def remove(
    name: StoredName,
    yes: Yes = False,
) -> None:
    """Delete a stored profile; texts that were marked with it cannot be audited without it."""
    from pura.usecases.profiles import remove_profile

    at = environment()
    at.profiles.get(name)
    confirm(say("profile.delete", name=name), yes=yes)
    remove_profile(at, name=name)
    print_made("profile", name, "")

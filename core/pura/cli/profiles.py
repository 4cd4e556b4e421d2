"""``pura profile``: what generator and verifier share besides the key."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pura.base.errors import ProfileError
from pura.base.files import write_atomic
from pura.base.paths import user_paths
from pura.cli.common import err, out, profile_path
from pura.profiles.store import ProfileFolder
from pura.scheme import Profile, default_blocks, parse_layout
from pura.scheme.profile_versions import NOTES
from pura.verdict.profile_advice import advise, length_needed

app = typer.Typer(no_args_is_help=True, help="What generator and verifier share besides the key.")


@app.command("new")
def new(
    bits: Annotated[int, typer.Option("--bits", help="Payload bits.")] = 36,
    code: Annotated[str, typer.Option(help="tbcc (stronger) or spc (the paper's).")] = "tbcc",
    blocks: Annotated[int | None, typer.Option(help="Parity blocks, with spc only.")] = None,
    model: Annotated[str | None, typer.Option(help="Model whose tokenizer it is for.")] = None,
    vocab_size: Annotated[int | None, typer.Option(help="Instead of --model.")] = None,
    temperature: Annotated[float, typer.Option(help="The generator's temperature.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="0 = off.")] = 0,
    top_p: Annotated[float, typer.Option(help="1 = off.")] = 1.0,
    history: Annotated[str, typer.Option(help="used (the paper's rule) or all.")] = "used",
    prefix: Annotated[str, typer.Option(help="none, or bos for models that need it.")] = "none",
    fields: Annotated[
        Path | None, typer.Option(help="JSON file with the payload's fields.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Store it under this name too.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")
    ] = None,
) -> None:
    """Make a profile; printed as JSON unless it is written to a file."""
    if code == "spc" and blocks is None:
        blocks = default_blocks(bits)
    facts: dict[str, Any] = {"vocab_size": vocab_size} if vocab_size else _model_facts(model)
    profile = Profile(
        payload_bits=bits,
        code=code,
        blocks=blocks,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        history=history,
        prefix=prefix,
        name=name,
        fields=_layout(fields, bits),
        **facts,
    )
    if name is not None:
        _store(name, profile)
    if output is not None:
        if output.exists():
            raise ProfileError(
                "There already is a file of that name.", "Choose another name.", code="file-exists"
            )
        write_atomic(output, profile.to_json().encode())
    if name is None and output is None:
        sys.stdout.write(profile.to_json())
    else:
        err.print(f"Profile {profile.fingerprint} written.", markup=False)


def _layout(path: Path | None, bits: int) -> Any:
    if path is None:
        return ()
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ProfileError(
            "The file with the payload's fields cannot be read as JSON.",
            "Give a list of {name, bits, kind}.",
        ) from None
    return parse_layout(entries, bits)


def _model_facts(name: str | None) -> dict[str, Any]:
    from pura.model import offline

    offline.prepare()
    from pura.model.store import ModelStore

    store = ModelStore(user_paths().models)
    installed = (store.get(name),) if name else store.list()
    if len(installed) != 1:
        raise ProfileError(
            "It is not clear which model's tokenizer the profile is for.",
            "Use --model NAME, or --vocab-size V.",
            code="model-ambiguous",
        )
    facts = installed[0]
    return {
        "vocab_size": facts.vocab_size,
        "tokenizer": facts.tokenizer_fingerprint,
        "model": facts.fingerprint,
    }


def _store(name: str, profile: Profile) -> None:
    if not name.strip() or "/" in name or "\\" in name or name.startswith("."):
        raise ProfileError("A profile's name holds no slashes.", "Choose a plain name.")
    _folder().save(name, profile)


def _folder() -> ProfileFolder:
    return ProfileFolder(user_paths().profiles)


@app.command("list")
def list_() -> None:
    """List the stored profiles."""
    for name in _folder().names():
        out.print(name, markup=False)


@app.command("show")
def show(profile: Annotated[str, typer.Argument(help="A file or a stored name.")]) -> None:
    """Check a profile, print it with every default filled in, and what is odd about it."""
    checked, notes = Profile.load_noted(profile_path(profile))
    _say(notes)
    sys.stdout.write(checked.to_json())
    err.print(
        f"Fingerprint {checked.fingerprint}; {checked.payload_bits} bits on "
        f"{checked.codeword_length} positions.",
        markup=False,
    )
    needed = length_needed(checked)
    if needed.tokens is None:
        words = (
            "How much text a finding takes was not measured for these settings; “pura model "
            "fitness” measures it."
        )
    else:
        words = (
            f"A finding takes {needed.usable} usable positions, about {needed.tokens} tokens of "
            "unedited text of the built-in model."
        )
    err.print(words, markup=False)
    for advice in advise(checked):
        err.print(f"{advice.setting}: {advice.words}", markup=False)


def _say(notes: tuple[str, ...]) -> None:
    for note in notes:
        err.print(NOTES[note], markup=False)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A profile file.")],
    name: Annotated[str | None, typer.Option(help="Its name here.")] = None,
) -> None:
    """Take a profile file in; one of an older version is brought to the present one."""
    stored, notes = _folder().take_in(file, name)
    _say(notes)
    err.print(f"Stored as “{stored}”.", markup=False)


@app.command("export")
def export(
    name: Annotated[str, typer.Argument(help="A stored name.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
) -> None:
    """Write a stored profile to a file."""
    if output.exists():
        raise ProfileError(
            "There already is a file of that name.", "Choose another name.", code="file-exists"
        )
    _folder().hand_out(name, output)


@app.command("remove")
def remove(
    name: Annotated[str, typer.Argument(help="A stored name.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a stored profile; texts that were marked with it cannot be audited without it."""
    _folder().get(name)
    if not yes:
        typer.confirm(f"Delete the profile “{name}”?", abort=True)
    _folder().remove(name)

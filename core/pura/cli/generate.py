"""``pura generate``: write a marked text with a local model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.errors import PayloadError, naming
from pura.base.files import refuse_taken, write_or_refuse
from pura.cli.options import (
    DeviceOption,
    DtypeOption,
    KeyFile,
    KeyName,
    ModelOption,
    ProfileOption,
    find_key,
    load_profile,
    session,
)
from pura.cli.terminal import err, say, write_text

if TYPE_CHECKING:
    from pura.scheme import Payload, Profile


def generate(
    profile: ProfileOption,
    prompt: Annotated[str | None, typer.Option(help="What the text goes on from.")] = None,
    prompt_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prompt, from a UTF-8 file.")
    ] = None,
    payload: Annotated[
        str | None, typer.Option(metavar="BITS", help="The payload as 0 and 1, or 0x… in hex.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="NAME=VALUE", help="A field of the payload's layout."),
    ] = None,
    key: KeyName = None,
    key_file: KeyFile = None,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
    tokens: Annotated[int, typer.Option(min=1, max=100_000, help="Length of the text.")] = 200,
    epoch: Annotated[
        str | None,
        typer.Option(
            metavar="DAY|WEEK|MONTH",
            help="Mark with the key of this time, not the present one; none: the key as it is.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the ordinary randomness; left out: fresh.")
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the token ids to this new file as JSON."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the text to this new file, not to stdout."),
    ] = None,
) -> None:
    """Write a marked text: the payload hides in the sampling, not the probabilities."""
    for path in filter(None, (ids, output)):
        refuse_taken(path)  # before the work, not after it
    with session(device, dtype) as at:
        shared = load_profile(at, profile)
        bits = payload_of(shared, payload, field)
        one = find_key(at, key, key_file)
        start = _prompt(prompt, prompt_file)
        _warn_of_few(tokens, shared)

        from pura.usecases.keys import marking_key

        one = marking_key(at, one, shared, epoch or "")
        with at.opened_keys([one]) as [(secret, _)]:
            language_model = at.model(model, profile=shared)

            from pura.embed import generate as run

            made = run(
                language_model,
                start,
                bits,
                secret,
                shared,
                tokens=tokens,
                seed=seed,
                ignore_eos=True,
            )
    if ids is not None:
        note = {"ids": made.ids.tolist(), "payload": bits.text, "profile": shared.fingerprint}
        write_or_refuse(ids, (json.dumps(note) + "\n").encode())
    if output is not None:
        write_or_refuse(output, made.text.encode())
        err.print(say("generated", count=int(made.ids.size)))
    else:
        write_text(made.text)


def _warn_of_few(tokens: int, profile: Profile) -> None:
    """Say so where a text of so many tokens cannot carry its payload."""
    from pura.verdict.expect import USABLE_SHARE, readable_bits

    bits = readable_bits(round(tokens * USABLE_SHARE), profile.payload_bits)
    if bits < profile.payload_bits:
        words = say("generate.few", tokens=tokens, bits=bits, payload_bits=profile.payload_bits)
        err.print(words)


def _prompt(text: str | None, file: Path | None) -> str:
    if file is None:
        return text or ""
    if text is not None:
        raise PayloadError("command.prompt-twice", code="usage")
    from pura.documents import read_file

    with naming(file.name):
        return read_file(file).text


def payload_of(profile: Profile, text: str | None, fields: list[str] | None) -> Payload:
    """Return the payload that the options name, as bits, in hex or by its fields."""
    from pura.scheme import Payload, pack

    if (text is None) == (not fields):
        raise PayloadError("command.payload")
    if fields:
        pairs = [item.partition("=") for item in fields]
        if bad := next((name for name, sign, _ in pairs if not sign), None):
            raise PayloadError("command.field", bad=bad)
        return pack(profile.fields, {name: value for name, _, value in pairs})
    assert text is not None
    if text.lower().startswith("0x"):
        try:
            return Payload.from_int(int(text, 16), profile.payload_bits)
        except ValueError:
            raise PayloadError("payload.form") from None
    return Payload(text=text)

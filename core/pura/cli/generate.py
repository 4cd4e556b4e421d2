"""``pura generate``: write a marked text with a local model."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.errors import KeyStoreError, PayloadError, naming
from pura.base.files import refuse_taken, write_or_refuse
from pura.cli.manifest import form_for, signer
from pura.cli.options import (
    CERTIFICATE,
    PRIVATE_KEY,
    SOFT_BINDING,
    CertificatePassphrase,
    DeviceOption,
    DtypeOption,
    Embed,
    KeyFile,
    KeyName,
    ModelOption,
    PayloadFields,
    PayloadOrFields,
    ProfileOfSetup,
    QuestionStoreOption,
    SetupOption,
    StoreToWrite,
    Timestamp,
    payload_of,
    session,
    setup_parts,
)
from pura.cli.terminal import (
    as_printed,
    err,
    print_made,
    say,
    write_text,
)

if TYPE_CHECKING:
    from pura.scheme import Payload, Profile
    from pura.usecases.marking import MarkedText


def generate(
    context: typer.Context,
    setup_name: SetupOption = None,
    profile: ProfileOfSetup = None,
    prompt: Annotated[str | None, typer.Option(help="What the text goes on from.")] = None,
    prompt_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prompt, from a UTF-8 file.")
    ] = None,
    payload: PayloadOrFields = None,
    field: PayloadFields = None,
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
    outside_limits: Annotated[
        bool,
        typer.Option(
            "--outside-limits", help="Take a payload outside the limits of the profile, too."
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Of the ordinary randomness; left out: fresh.")
    ] = None,
    who: Annotated[
        str,
        typer.Option(
            help="Recipient of the text, for the register. Without a payload a number is drawn"
            " that was never issued."
        ),
    ] = "",
    note: Annotated[str, typer.Option(help="Purpose of the text, for the register.")] = "",
    keep_question: Annotated[
        bool,
        typer.Option(
            "--keep-question",
            help="Keep the prompt in the question store, so that an audit can use it.",
        ),
    ] = False,
    question_store: QuestionStoreOption = None,
    ids: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the token ids to this new file as JSON."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the text to this new file, not to stdout."),
    ] = None,
    certificate: Annotated[Path | None, CERTIFICATE] = None,
    certificate_key: Annotated[Path | None, PRIVATE_KEY] = None,
    passphrase_file: CertificatePassphrase = None,
    soft_binding: Annotated[str, SOFT_BINDING] = "",
    embed: Embed = None,
    timestamp: Timestamp = None,
    store: StoreToWrite = None,
) -> None:
    """Write a marked text: the payload hides in the sampling, not the probabilities.

    With --certificate also its manifest (C2PA), which names the same payload.
    """
    from pura.provenance.writing import DETACHED, check_ready, sign_manifest
    from pura.register.rows import Recipient
    from pura.usecases.manifests import name_manifest
    from pura.usecases.marking import mark_text

    for path in filter(None, (ids, output, store)):
        refuse_taken(path)  # before the work, not after it
    identity = None
    if certificate is not None:
        form = form_for(embed, output.name if output else "")
        if form == DETACHED and store is None:
            raise typer.BadParameter(say("manifest.store"), param_hint="--store")
        identity = signer(certificate, certificate_key, passphrase_file)
        check_ready(identity, soft_binding)
    with session(device, dtype) as at:
        parts = setup_parts(
            at,
            context,
            setup=setup_name,
            profile=profile,
            key=key,
            key_file=key_file,
            model=model,
        )
        shared = parts.profile
        bits = _payload(shared, payload, field, who)
        if len({ref.fingerprint for ref in parts.keys}) != 1:
            raise KeyStoreError("command.one-key", code="key-one")
        start = _prompt(prompt, prompt_file)
        _warn_of_few(tokens, shared)
        made = mark_text(
            at,
            prompt=start,
            payload=bits,
            key=parts.keys[0],
            profile=shared,
            recipient=Recipient(who=who, note=note) if who else None,
            model=parts.model,
            tokens=tokens,
            epoch=epoch or "",
            seed=seed,
            keep_question=keep_question and (question_store or True),
            outside_limits=outside_limits,
        )
    carried = made.mark.payload
    if ids is not None:
        saved = {"ids": made.ids.tolist(), "payload": carried.text, "profile": shared.fingerprint}
        write_or_refuse(ids, (json.dumps(saved) + "\n").encode())
    text = made.text
    if identity is not None:
        signing = partial(sign_manifest, soft_binding=soft_binding, form=form, timestamp=timestamp)
        signed = signing(text, identity, payload=carried.text, profile=shared.fingerprint)
        text = signed.text
        if made.entry is not None:
            name_manifest(
                at,
                entry=made.entry.number,
                payload=carried,
                profile=shared,
                manifest=signed.manifest,
            )
        if store is not None:
            write_or_refuse(store, signed.store)
        subject = identity.certificate.subject
        err.print(say("manifest.made", manifest=signed.manifest, subject=subject))
    _print_kept(made, carried, who)
    count = int(made.ids.size)
    if output is not None:
        write_or_refuse(output, text.encode())
        sentence = say("generated", count=count)
        print_made("text", output.name, sentence, files=[output], count=count, aside=True)
    elif as_printed.json:
        print_made("text", "", "", count=count, text=text)
    else:
        write_text(text)


def _print_kept(made: MarkedText, payload: Payload, who: str) -> None:
    """Print where the text stands in the register, and where its question is kept."""
    if made.entry is not None:
        err.print(say("register.issued", payload=payload.hex, who=who, number=made.entry.number))
    if made.question is not None:
        err.print(say("questions.kept", number=made.question))


def _payload(
    profile: Profile, text: str | None, fields: list[str] | None, who: str
) -> Payload | None:
    """Return the payload that the options name; None where the register is to draw one."""
    if who and text is None and not fields and not profile.fields:
        return None
    return payload_of(profile, text, fields)


def _warn_of_few(tokens: int, profile: Profile) -> None:
    """Say so where a text of so many tokens cannot carry its payload."""
    from pura.usecases.marking import carried_bits

    bits = carried_bits(profile, tokens)
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

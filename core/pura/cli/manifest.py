"""``pura manifest``: signed metadata (C2PA) that names the same issue as a text's mark."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.errors import InputError, SigningError
from pura.base.files import refuse_taken, write_or_refuse
from pura.cli.options import (
    CERTIFICATE,
    PRIVATE_KEY,
    SOFT_BINDING,
    CertificatePassphrase,
    Embed,
    JsonPrinted,
    PayloadFields,
    PayloadOrFields,
    ProfileOption,
    StoreToWrite,
    Timestamp,
    environment,
    load_profile,
    payload_of,
)
from pura.cli.terminal import (
    out,
    refuse_unknown,
    say,
    with_passphrase,
    write_row,
    write_text,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.base.identity import Identity

app = App()

SignableText = Annotated[Path, typer.Argument(metavar="FILE", help="Marked text, in UTF-8.")]


@app.command("sign")
def sign(
    text: SignableText,
    *,
    profile: ProfileOption,
    payload: PayloadOrFields = None,
    field: PayloadFields = None,
    soft_binding: Annotated[str, SOFT_BINDING],
    certificate: Annotated[Path, CERTIFICATE],
    certificate_key: Annotated[Path | None, PRIVATE_KEY] = None,
    passphrase_file: CertificatePassphrase = None,
    embed: Embed = None,
    timestamp: Timestamp = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="New file for the text with its manifest; with --embed none for the manifest.",
        ),
    ],
    store: StoreToWrite = None,
    entry: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Entry of the register to name the manifest in."),
    ] = None,
    as_json: JsonPrinted = False,
) -> None:
    """Sign a manifest (C2PA) that names the same issue as the mark of a text."""
    from pura.provenance.writing import DETACHED, sign_manifest
    from pura.usecases.manifests import name_manifest, read_signable

    form = form_for(embed, text.name)
    for path in filter(None, (output, store)):
        refuse_taken(path, SigningError)  # before the question, not after it
    at = environment()
    shared = load_profile(at, profile)
    bits = payload_of(shared, payload, field)
    words = read_signable(text)
    identity = signer(certificate, certificate_key, passphrase_file)
    signing = partial(sign_manifest, soft_binding=soft_binding, form=form, timestamp=timestamp)
    made = signing(words, identity, payload=bits.text, profile=shared.fingerprint)
    if entry is not None:
        name_manifest(at, entry=entry, payload=bits, profile=shared, manifest=made.manifest)
    write_or_refuse(output, made.store if form == DETACHED else made.text.encode())
    if store is not None:
        write_or_refuse(store, made.store)
    who = identity.certificate.subject
    if as_json:
        row = {"manifest": made.manifest, "payload": bits.text, "form": form, "signer": who}
        write_row(row, "manifest")
    else:
        out.print(say("manifest.signed", manifest=made.manifest, subject=who, name=output.name))


@app.command("assertion")
def assertion(
    text: SignableText,
    *,
    profile: ProfileOption,
    payload: PayloadOrFields = None,
    field: PayloadFields = None,
    soft_binding: Annotated[str, SOFT_BINDING],
) -> None:
    """Print the assertions of such a manifest as JSON, for whoever signs elsewhere."""
    from datetime import UTC, datetime

    from pura.provenance.writing import assertions, definition
    from pura.usecases.manifests import read_signable

    shared = load_profile(environment(), profile)
    bits = payload_of(shared, payload, field).text
    words = read_signable(text)
    said = assertions(words, bits, shared.fingerprint, soft_binding, now=datetime.now(UTC))
    write_text(json.dumps(definition(said), ensure_ascii=False, indent=1) + "\n")


def form_for(embed: str | None, name: str) -> str:
    """Return how a manifest is embedded in a file of this name.

    Raises:
        InputError: In a comment, and a file of this kind has none.
    """
    from pura.provenance.writing import COMMENT, FORMS, form_of

    refuse_unknown("--embed", embed, FORMS)
    if embed == COMMENT != form_of(name):
        raise InputError("manifest.comment", name=name, code="usage")
    return embed or form_of(name)


def signer(certificate: Path, key: Path | None, passphrase_file: Path | None) -> Identity:
    """Read the certificate that signs; its passphrase is asked for only if it has one."""
    from pura.usecases.keys import open_identity

    return with_passphrase(
        lambda secret: open_identity(certificate, secret, SigningError, key),
        passphrase_file,
        say("ask.of", name=(key or certificate).name),
    )

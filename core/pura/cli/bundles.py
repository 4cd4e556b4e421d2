"""``pura bundle``: what a team shares, in one file under one passphrase."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.cli.common import environment, passphrase, passphrase_for
from pura.cli.terminal import confirm, err, out, say
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.usecases.bundles import Bundle

app = App()


@app.command("create")
def create(
    key: Annotated[str, typer.Option("--key", help="Name of the key.")],
    profile: Annotated[str, typer.Option("--profile", help="Name of the profile.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    register: Annotated[
        bool, typer.Option(help="With the register of issued payloads, where there is one.")
    ] = True,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(help="Its first line is the passphrase; - is stdin."),
    ] = None,
) -> None:
    """Put profile, key, policy, power tables and register into one encrypted file."""
    from pura.keys import Secret
    from pura.usecases.bundles import create_bundle

    secret = Secret(passphrase(passphrase_file, say("bundle.new-passphrase"), new=True))
    made = create_bundle(
        environment(),
        key=key,
        profile=profile,
        passphrase=secret,
        path=output,
        register=register,
    )
    _show(made)
    err.print(say("bundle.written", file=output.name))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A bundle.")],
    replace_policy: Annotated[
        bool, typer.Option("--replace-policy", help="Another policy that is here is replaced.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(help="Its first line is the passphrase; - is stdin."),
    ] = None,
) -> None:
    """Show what a bundle holds, and take it in."""
    from pura.keys import Secret
    from pura.usecases.bundles import open_bundle, take_bundle

    secret = Secret(passphrase_for(file, file=passphrase_file, prompt=say("bundle.passphrase")))
    _show(open_bundle(file, secret))
    if not yes:
        confirm(say("bundle.confirm"))
    take_bundle(environment(), path=file, passphrase=secret, replace_policy=replace_policy)
    err.print(say("bundle.taken"))


def _show(bundle: Bundle) -> None:
    """Print what is in it; the fingerprints are what two people compare."""
    none = say("bundle.none")
    out.print(say("bundle.key", name=bundle.key, fingerprint=bundle.key_fingerprint))
    out.print(say("bundle.profile", name=bundle.profile, fingerprint=bundle.profile_fingerprint))
    out.print(say("bundle.policy", name=bundle.policy or none))
    out.print(say("bundle.power", names=", ".join(f[:16] for f in bundle.power) or none))
    out.print(say("bundle.register", n=bundle.register_rows))

"""``pura report annex``: what a deployment can show to a regulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pura.cli.common import PolicyOption, ProfileOption, environment, load_profile
from pura.cli.terminal import language, out, say


def annex(
    *,
    profile: ProfileOption,
    pdf: Annotated[Path, typer.Option(metavar="OUT", help="PDF to write.")],
    policy: PolicyOption = None,
    tongue: Annotated[str | None, typer.Option("--language", help="en or de.")] = None,
    paper: Annotated[str, typer.Option(help="a4 or us-letter.")] = "a4",
    detector: Annotated[
        str, typer.Option(metavar="URL", help="Where others may ask the detector.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write an annex for regulators: what can be shown under Article 50(2) of the EU AI Act.

    Filled from profile, policy and power tables; every number names its source. No legal advice.
    """
    from pura.usecases.annex import write_annex

    at = environment()
    written = write_annex(
        at,
        profile=load_profile(at, profile),
        pdf=pdf,
        policy=policy,
        language=tongue or language(),
        paper=paper,
        replace=force,
        detector=detector,
    )
    out.print(say("file.written", path=str(written.path), count=written.size))

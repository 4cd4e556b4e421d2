"""``pura selftest``: recompute every test vector on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pura.cli.terminal import err, language, out, say


def selftest(
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of vector files; left out: those that ship."),
    ] = None,
) -> None:
    """Recompute every test vector and compare. Exit code 1 when one differs or none is there."""
    from pura.base.resources import resource
    from pura.desk.selftest import check_folder

    results = check_folder(vectors if vectors is not None else resource("vectors"))
    bad = [r for r in results if r.problem]
    for result in results:
        if result.problem is not None:
            problem, _ = result.problem.words(language())
            err.print(say("selftest.bad", name=result.name, problem=problem))
        else:
            out.print(say("selftest.good", name=result.name))
    if not results:
        err.print(say("selftest.none"))
    raise typer.Exit(1 if bad or not results else 0)

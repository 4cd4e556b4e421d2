"""``pura selftest``: recompute every test vector on this machine, and try the cage."""

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
    """Recompute every test vector; then try to get out of the sandbox for files from others.

    Exit code 1 when a vector differs, none is there, or a way out is open. With --vectors, the
    vectors only.
    """
    from pura.base.paths import resource
    from pura.usecases.selftest import check_folder

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
    shut = vectors is not None or _cage_is_shut()
    raise typer.Exit(0 if shut and results and not bad else 1)


def _cage_is_shut() -> bool:
    from pura.usecases.selftest import check_cage

    cage = check_cage()
    if cage is None:
        out.print(say("selftest.cage-weak"))
        return True
    if cage.problem is not None:
        problem, hint = cage.problem.words(language())
        err.print(
            say("selftest.bad", name=say("selftest.cage"), problem=f"{problem} {hint}".strip())
        )
        return False
    known = cage.landlock
    files = say("selftest.landlock", version=known) if known else say("selftest.no-landlock")
    names = say("selftest.namespaces" if cage.namespaces else "selftest.no-namespaces")
    out.print(say("selftest.cage-shut", tried=cage.tried, landlock=files, namespaces=names))
    return True

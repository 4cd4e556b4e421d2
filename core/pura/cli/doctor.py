"""``pura doctor``: what a support person asks first."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final

import typer

from pura.cli.common import environment
from pura.cli.terminal import Language, RowsInto, language, out, say, write_row

_STYLES: Final = {"ok": "green", "warning": "yellow", "fault": "bold red"}


def doctor(
    hashes: Annotated[
        bool, typer.Option("--hash", help="Also hash every file of the installed models.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a thing.")] = False,
    _rows: RowsInto = None,
    _language: Language = "",
) -> None:
    """Look at everything that an audit needs, and say what to do about what is wrong.

    It changes nothing, loads no model and shows neither keys nor texts, so that what it says can be
    sent to whoever helps. Exit codes: 0 nothing is at fault, 1 something is.
    """
    from pura.usecases.doctor import examine

    grades: Counter[str] = Counter()
    width = max(len(say(f"doctor.{grade}")) for grade in _STYLES)
    for found in examine(environment(), hashes=hashes):
        grades[found.grade] += 1
        words, hint = found.remark.words("en" if as_json else language())
        if as_json:
            row = {"check": found.name, "grade": found.grade, "text": words, "hint": hint}
            write_row(row, "doctor")
            continue
        out.print(f"{say(f'doctor.{found.grade}'):>{width}}", style=_STYLES[found.grade], end="  ")
        out.print(words)
        if hint and found.grade != "ok":
            out.print(f"{'':>{width}}  {hint}")
    if not as_json:
        out.print(say("doctor.sum", faults=grades["fault"], warnings=grades["warning"]))
    raise typer.Exit(1 if grades["fault"] else 0)

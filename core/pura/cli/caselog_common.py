"""What the case-log commands share: their options."""

from __future__ import annotations

from typing import Annotated

import typer

CaseName = Annotated[str, typer.Argument(metavar="CASE", help="Its name, or its identifier.")]
Auditor = Annotated[
    str | None,
    typer.Option(
        "--auditor",
        metavar="NAME",
        envvar="PURA_AUDITOR",
        help="Who acts, as the log shall say; else whoever works here.",
    ),
]
Reason = Annotated[str, typer.Option("--reason", help="Why; the log keeps it.")]

"""``pura report``: what leaves the tool."""

from __future__ import annotations

import typer

from pura.cli.report_build import build
from pura.cli.report_check import sign, verify

app = typer.Typer(no_args_is_help=True, help="Reports: make, sign and check them.")
app.command("build")(build)
app.command("sign")(sign)
app.command("verify")(verify)

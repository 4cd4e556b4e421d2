"""``pura report``: what leaves the tool."""

from __future__ import annotations

import typer

from pura.cli.report_check import sign, verify

app = typer.Typer(no_args_is_help=True, help="Reports: sign them, check them.")
app.command("sign")(sign)
app.command("verify")(verify)

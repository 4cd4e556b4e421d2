"""``pura report``: what leaves the tool."""

from __future__ import annotations

from pura.cli.report_annex import annex
from pura.cli.report_build import build
from pura.cli.report_check import sign, verify
from pura.cli.tree import App

app = App()
app.command("build")(build)
app.command("sign")(sign)
app.command("verify")(verify)
app.command("annex")(annex)

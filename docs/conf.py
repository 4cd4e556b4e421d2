"""How the pages become a site (``make site``; decision 002)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pura.version import __version__

HERE = Path(__file__).parent

project = "PURA Audit"
author = "The PURA Audit developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = f"PURA Audit {release}"
html_show_copyright = html_show_sphinx = html_copy_source = False
# The folder of pages is a copy in which those made from the program stand too (build.sh).
# Records of decisions are reached from their own index; that every page is reached a test asks.
suppress_warnings = ["toc.not_included"]
highlight_language = "none"

# Headings are reached as on a forge, which the window's guide does too.
myst_heading_anchors = 4
# Beside the usual schemes one for files of the repository that are no pages: they lie in the site
# as they are.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "tree": "{{path}}"}
html_extra_path = [
    "../SECURITY.md",
    "../CONTRIBUTING.md",
    *(f"../resources/{n}.schema.json" for n in ("policy", "finding", "audit", "rows", "batch-row")),
]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
napoleon_use_ivar = True
napoleon_numpy_docstring = False


def _links_out(app: object, name: str, text: list[str]) -> None:
    """Let links that leave this folder lead to the copies in the site, and show tables."""
    folder = (HERE / name).parent
    up = "../" * name.count("/")

    def inside(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / link[1]))
        return link[0] if target.is_relative_to(HERE) else f"](tree:{up}{target.name})"

    text[0] = re.sub(r"\]\(\.\./([\w-]+\.schema\.json)\)", rf"](tree:{up}\1)", text[0])
    text[0] = re.sub(
        r"^\[(.+)\]\((\S+\.csv)\)$",
        r"```{csv-table} \1\n:file: \2\n:header-rows: 1\n```",
        text[0],
        flags=re.MULTILINE,
    )
    text[0] = re.sub(r"\]\((\.\./[^)#\s]+)(?:#[^)\s]+)?\)", inside, text[0])


def setup(app: object) -> None:
    """Read the pages through :func:`_links_out`."""
    app.connect("source-read", _links_out)

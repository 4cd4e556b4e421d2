"""From blocks to a PDF (PDF/A-3a, PDF/UA-1) and to one HTML file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pura.base.catalogue import phrase
from pura.base.errors import ReportError
from pura.base.json_text import json_text
from pura.base.paths import resource
from pura.report.blocks import Block, Content
from pura.report.figures import logo_format

STANDARDS: Final = ("a-3a", "ua-1")


Typeset = Callable[[dict[str, str], bytes | None], bytes]
"""Makes a PDF of what typst gets as inputs, and of a logo."""


def typeset(inputs: dict[str, str], logo: bytes | None) -> bytes:
    """Make a PDF in this process.

    Args:
        inputs: What the template is given.
        logo: PNG or SVG.

    Raises:
        ReportError: typst refused.
    """
    import typst

    with tempfile.TemporaryDirectory(prefix="pura-report-") as folder:
        root = Path(folder)
        if logo is not None:
            (root / f"logo.{inputs['logo']}").write_bytes(logo)
        source = root / "report.typ"
        source.write_bytes(resource("report", "report.typ").read_bytes())
        try:
            made = typst.compile(
                str(source),
                root=str(root),
                sys_inputs=inputs,
                pdf_standards=list(STANDARDS),
                font_paths=[str(resource("report", "fonts")), str(resource("ui", "fonts"))],
                ignore_system_fonts=True,
            )
        except Exception as error:
            # typst's own words may quote the text under audit.
            raise ReportError("report.not-made", kind=type(error).__name__) from None
    if not isinstance(made, bytes):
        raise ReportError("report.not-made", kind=phrase("reader.no-answer"))
    return made


def compile_pdf(
    content: Content,
    *,
    attached: Mapping[str, bytes] = MappingProxyType({}),
    logo: bytes | None = None,
    logo_words: str = "",
    typeset: Typeset = typeset,
) -> bytes:
    """Return the PDF of a report.

    Args:
        content: What it says. Texts go in as data and are never read as markup.
        attached: JSON files inside it, by name.
        logo: PNG or SVG.
        logo_words: What the logo shows, for those who do not see it.
        typeset: Does it, in this process or apart.
    """
    inputs = {"data": json_text(content.plain())}
    files = {name: data.decode("utf-8") for name, data in attached.items()}
    inputs |= {"attached": json_text(files)}
    kind = None if logo is None else logo_format(logo)
    if kind is not None:
        inputs |= {"logo": kind, "logo-alt": logo_words}
    return typeset(inputs, logo if kind is not None else None)


def render_pages(pdf: bytes, *, dpi: int = 90, pages: range | None = None) -> list[bytes]:
    """Return pages as PNG pictures, for previews.

    Raises:
        ReportError: This is no PDF that can be drawn.
    """
    import io

    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(pdf)
        try:
            wanted = pages if pages is not None else range(len(document))
            found = []
            for number in wanted:
                picture = document[number].render(scale=dpi / 72).to_pil()
                sink = io.BytesIO()
                picture.save(sink, "PNG")
                found.append(sink.getvalue())
            return found
        finally:
            document.close()
    except (pypdfium2.PdfiumError, IndexError) as error:
        raise ReportError("report.not-made", kind=type(error).__name__) from None


def page_count(pdf: bytes) -> int:
    """Return how many pages a PDF has."""
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        return len(document)
    finally:
        document.close()


_STYLE: Final = """
:root { color-scheme: light dark; --ink: #18202c; --muted: #5a6576; --line: #dfe3e9;
  --ground: #ffffff; --pale: #f5f6f8; --found: #1f7a55; --against: #a64a0c;
  --s1: #e6eef9; --s2: #cfe0f3; --s3: #b3cdea; --s4: #93b7df; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf4; --muted: #94a1b3; --line: #2b3440;
  --ground: #12161c; --pale: #1a2029; --found: #63c79b; --against: #f0a062;
  --s1: #1c2a3d; --s2: #22344d; --s3: #2a4263; --s4: #33527c; } .figure { background: #fff; } }
* { box-sizing: border-box; }
body { font: 15px/1.55 Inter, system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 52rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.15rem; margin-top: 2.2rem;
  border-bottom: 1px solid var(--line); padding-bottom: .3rem; } h3 { font-size: 1rem; }
.muted, .note, header, footer { color: var(--muted); font-size: .85rem; }
.draft { color: var(--against); font-weight: 600; }
.lead { font-size: 1.5rem; font-weight: 600; border-left: 3px solid var(--ink);
  padding-left: .8rem; margin: 1rem 0; } .lead.found { border-color: var(--found); }
.lead.attention { border-color: var(--against); }
table { border-collapse: collapse; width: 100%; font-size: .87rem; margin: .8rem 0;
  font-variant-numeric: tabular-nums; } th, td { text-align: left; vertical-align: top;
  padding: .3rem .5rem; overflow-wrap: anywhere; } thead th { color: var(--muted);
  border-bottom: 1px solid var(--line); } tbody tr:nth-child(even) { background: var(--pale); }
.facts th { width: 32%; color: var(--muted); font-weight: 400; } .facts tr { background: none; }
.right { text-align: right; } .code { font-family: ui-monospace, monospace; font-size: .92em; }
.box { border: 1px solid var(--line); background: var(--pale); border-radius: 6px;
  padding: .8rem 1rem; white-space: pre-wrap; }
.text { border-left: 2px solid var(--line); padding-left: 1rem; white-space: pre-wrap;
  overflow-wrap: anywhere; line-height: 1.8; }
.text .p1 { background: var(--s1); } .text .p2 { background: var(--s2); }
.text .p3 { background: var(--s3); } .text .p4 { background: var(--s4); }
.text .n { text-decoration: underline dotted var(--against); text-underline-offset: 3px; }
.figure { margin: 1rem 0; border-radius: 6px; } .figure img { width: 100%; height: auto; }
figcaption { color: var(--muted); font-size: .8rem; }
@media print { body { margin: 0; max-width: none; } h2, h3 { break-after: avoid; } }
"""


def html_page(content: Content) -> str:
    """Return the report as one HTML document.

    Args:
        content: The same that the PDF was made of.
    """
    parts = [
        f'<!doctype html>\n<html lang="{content.language}">\n<head>\n<meta charset="utf-8">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        # Nothing is loaded from anywhere, whatever a text may hold.
        (
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'; img-src data:\">\n"
        ),
        f"<title>{escape(content.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n",
        f"<header>{escape(content.head)}",
        f' <span class="draft">{escape(content.draft)}</span>' if content.draft else "",
        f"</header>\n<h1>{escape(content.title)}</h1>\n",
    ]
    parts += [_block(block) for block in content.summary]
    for section in content.sections:
        parts.append(f"<section>\n<h2>{section.number}&ensp;{escape(section.title)}</h2>\n")
        parts += [_block(block) for block in section.blocks]
        parts.append("</section>\n")
    parts.append(f"<footer>{escape(content.foot)}<br>{escape(content.end)}</footer>\n")
    return "".join([*parts, "</body>\n</html>\n"])


def _block(block: Block) -> str:
    words = escape(block.text)
    match block.kind:
        case "h":
            return f"<h3>{words}</h3>\n"
        case "lead":
            return f'<p class="lead {escape(block.tone)}">{words}</p>\n'
        case "note":
            return f'<p class="note">{words}</p>\n'
        case "box":
            return f'<div class="box">{words}</div>\n'
        case "list":
            return "<ul>" + "".join(f"<li>{escape(r[0])}</li>" for r in block.rows) + "</ul>\n"
        case "facts":
            rows = "".join(
                f'<tr><th scope="row">{escape(name)}</th>'
                f"<td{_code(value)}>{escape(value)}</td></tr>"
                for name, value in block.rows
            )
            return f'<table class="facts"><tbody>{rows}</tbody></table>\n'
        case "table":
            return _table(block)
        case "figure":
            return _figure(block)
        case "text":
            return '<div class="text">' + "".join(_run(*run) for run in block.runs) + "</div>\n"
    return f"<p>{words}</p>\n"


def _table(block: Block) -> str:
    sides = [' class="right"' if side == "right" else "" for side in block.align]
    head = "".join(
        f'<th scope="col"{side}>{escape(cell)}</th>'
        for cell, side in zip(block.head, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{s}>{escape(c)}</td>" for c, s in zip(row, sides, strict=True))
        + "</tr>"
        for row in block.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n"


def _figure(block: Block) -> str:
    import base64

    data = base64.b64encode(block.svg.encode()).decode("ascii")
    return (
        f'<figure class="figure"><img src="data:image/svg+xml;base64,{data}" '
        f'alt="{escape(block.alt)}"><figcaption>{escape(block.text)}</figcaption></figure>\n'
    )


def _run(words: str, level: int) -> str:
    if 0 < level < 9:
        return f'<span class="p{level}">{escape(words)}</span>'
    if level < 0:
        return f'<span class="n">{escape(words)}</span>'
    return escape(words)


def _code(value: str) -> str:
    plain = value.replace(" ", "")
    long = len(plain) >= 16 and all(c in "0123456789abcdef" for c in plain)
    return ' class="code"' if long else ""

"""The blocks of a report, and their rendering as PDF (PDF/A-3a, PDF/UA-1) or as one HTML file.

Blocks are plain values. A character without a glyph in the fonts is printed as its code point.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pura.base.catalogue import Value, catalogue, check_language, phrase
from pura.base.errors import ReportError
from pura.base.json_text import json_text
from pura.base.paths import resource
from pura.report.request import logo_format


@dataclass(frozen=True, kw_only=True)
class Block:
    """One piece of a section.

    Attributes:
        kind: ``p`` paragraph, ``lead`` the answer, ``note`` small print, ``h`` heading of a part,
            ``facts`` name and value, ``table``, ``list``, ``figure``, ``text`` the examined text,
            ``box`` a framed remark.
        text: The text of the block.
        head: Column heads of a table.
        rows: Rows of ``facts``, ``table``, ``list``.
        align: Of each column: ``left`` or ``right``.
        widths: Shares of the columns; empty sizes them by their content.
        svg: The picture of a figure.
        alt: Description of a figure for people who cannot see it.
        runs: Of the examined text: characters and shade, -4 … 4; 9 marks a hidden stretch.
        tone: Colour of a lead: ``found``, ``attention`` or ``plain``.
    """

    kind: str
    text: str = ""
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    align: tuple[str, ...] = ()
    widths: tuple[float, ...] = ()
    svg: str = ""
    alt: str = ""
    runs: tuple[tuple[str, int], ...] = ()
    tone: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A numbered section.

    Attributes:
        number: 1 … 14.
        title: The heading.
        blocks: The content.
        apart: Whether the section begins on a new page.
    """

    number: int
    title: str
    blocks: tuple[Block, ...]
    apart: bool = False


@dataclass(frozen=True, kw_only=True)
class Content:
    """A whole report.

    Attributes:
        title: Title of the document.
        language: ``en`` or ``de``.
        paper: Paper size as typst names it.
        head: Line at the top of every page.
        foot: Line at the foot of every page, before the page number.
        page: How a page number is written, with ``{n}`` and ``{of}``.
        draft: Word across the head of a draft; empty once it is final.
        date: ``(year, month, day)`` of issue; the document's own date.
        sections: In order.
        end: The last line.
        organisation: Name and address of the organisation, printed above the title.
        author: Author of the document.
        summary: Blocks before the first section: page one, or the overview of several items.
    """

    title: str
    language: str
    paper: str
    head: str
    foot: str
    page: str
    draft: str
    date: tuple[int, int, int]
    sections: tuple[Section, ...]
    end: str
    organisation: str = ""
    author: str = ""
    summary: tuple[Block, ...] = ()


def paragraph(text: str) -> Block:
    """Return a paragraph."""
    return Block(kind="p", text=text)


def note(text: str) -> Block:
    """Return small print."""
    return Block(kind="note", text=text)


def heading(text: str) -> Block:
    """Return the heading of a part."""
    return Block(kind="h", text=text)


def facts(rows: Sequence[tuple[str, str]]) -> Block:
    """Return a block of names with their values."""
    return Block(kind="facts", rows=tuple(rows))


def stated(text: str) -> str | None:
    """Return a form field as it was filled in; None if it is blank."""
    return text if text.strip() else None


def bullets(texts: Sequence[str]) -> Block:
    """Return a list."""
    return Block(kind="list", rows=tuple((item,) for item in texts))


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    align: Sequence[str],
    widths: Sequence[float] = (),
) -> Block:
    """Return a table with a head."""
    return Block(
        kind="table",
        head=tuple(head),
        rows=tuple(tuple(row) for row in rows),
        align=tuple(align),
        widths=tuple(widths),
    )


class Labels:
    """The texts of one language.

    Args:
        language: ``en`` or ``de``.
        volume: Volume of the message catalogue.
    """

    def __init__(self, language: str, volume: str = "report") -> None:
        check_language(language)
        self.language = language
        self._words = catalogue(volume)

    def __call__(self, key: str, **values: Value) -> str:
        """Return a text with its blanks filled.

        Raises:
            KeyError: There is no such text.
        """
        return self._words.fill(key, self.language, values)

    def facts(self, *rows: tuple[str, str | None]) -> Block:
        """Return a block of names, looked up by their keys, with values; omit rows without one."""
        return facts([(self(key), printable(value)) for key, value in rows if value is not None])


_PRINTED_CONTROLS: Final = {"\n", "\t"}
# Direction marks would reorder what stands beside them: an auditor wants to see them instead.
_ACTING: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@cache
def _ranges() -> tuple[list[int], list[int]]:
    ranges = json.loads(resource("report", "coverage.json").read_text(encoding="utf-8"))["ranges"]
    return [first for first, _ in ranges], [last for _, last in ranges]


def covered(char: str) -> bool:
    """Return whether a font of the report has a glyph for a character."""
    firsts, lasts = _ranges()
    index = bisect_right(firsts, ord(char)) - 1
    return index >= 0 and ord(char) <= lasts[index]


def printable(text: str) -> str:
    """Return a text with every character that cannot be printed replaced by its code point.

    Line breaks and tabs stay. ASCII controls become their symbols (U+2400 …). Other characters
    that act on the display, or that no font has, become ``⟨U+XXXX⟩``.
    """
    distinct = {char: _printed_char(char) for char in set(text)}
    if all(char == printed for char, printed in distinct.items()):
        return text
    return "".join(distinct[char] for char in text)


def _printed_char(char: str) -> str:
    if char in _PRINTED_CONTROLS:
        return char
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        picture = chr(0x2400 + code) if code < 0x20 else "\u2421"
        return picture if covered(picture) else f"⟨U+{code:04X}⟩"
    if unicodedata.category(char) in _ACTING:
        return f"⟨U+{code:04X}⟩"
    return char if covered(char) or char == " " else f"⟨U+{code:04X}⟩"


STANDARDS: Final = ("a-3a", "ua-1")


Typeset = Callable[[dict[str, str], bytes | None], bytes]
"""Makes a PDF from the inputs of the typst template and a logo."""


def typeset(inputs: dict[str, str], logo: bytes | None) -> bytes:
    """Make a PDF in this process.

    Args:
        inputs: Values for the template.
        logo: PNG or SVG.

    Raises:
        ReportError: typst failed.
    """
    import typst

    with tempfile.TemporaryDirectory(prefix="pura-report-") as folder:
        root = Path(folder)
        if logo is not None:
            (root / f"logo.{inputs['logo']}").write_bytes(logo)
        source = root / "report.typ"
        source.write_bytes(resource("report", "report.typ").read_bytes())
        try:
            pdf = typst.compile(
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
    if not isinstance(pdf, bytes):
        raise ReportError("report.not-made", kind=phrase("reader.no-answer"))
    return pdf


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
        content: Content of the report. Its texts are passed as data, never read as markup.
        attached: JSON files to attach, by name.
        logo: PNG or SVG.
        logo_words: Description of the logo for people who cannot see it.
        typeset: Makes the PDF, in this process or in a child process.
    """
    inputs = {"data": json_text(asdict(content))}
    files = {name: data.decode("utf-8") for name, data in attached.items()}
    inputs |= {"attached": json_text(files)}
    kind = None if logo is None else logo_format(logo)
    if kind is not None:
        inputs |= {"logo": kind, "logo-alt": logo_words}
    return typeset(inputs, logo if kind is not None else None)


def render_pages(pdf: bytes, *, dpi: int = 90, pages: range | None = None) -> list[bytes]:
    """Return pages as PNG pictures, for previews.

    Raises:
        ReportError: The file is not a PDF, or cannot be drawn.
    """
    import io

    import pypdfium2

    pictures = []
    try:
        with closing(pypdfium2.PdfDocument(pdf)) as document:
            for number in pages if pages is not None else range(len(document)):
                sink = io.BytesIO()
                document[number].render(scale=dpi / 72).to_pil().save(sink, "PNG")
                pictures.append(sink.getvalue())
            return pictures
    except (pypdfium2.PdfiumError, IndexError) as error:
        raise ReportError("report.not-made", kind=type(error).__name__) from None


def page_count(pdf: bytes) -> int:
    """Return how many pages a PDF has."""
    import pypdfium2

    with closing(pypdfium2.PdfDocument(pdf)) as document:
        return len(document)


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
  padding: .25rem .8rem .25rem 0; overflow-wrap: anywhere; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--muted); border-color: var(--muted); overflow-wrap: normal; }
.facts th { width: 34%; color: var(--muted); font-weight: 400; }
.facts th, .facts td { border: 0; }
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
@media print { body { margin: 0; max-width: none; } h2, h3, .lead { break-after: avoid; }
  tr, figure { break-inside: avoid; } .apart { break-before: page; } }
"""


def html_page(content: Content) -> str:
    """Return the report as one HTML document.

    Args:
        content: The content that the PDF is made from.
    """
    parts = [
        f'<!doctype html>\n<html lang="{content.language}">\n<head>\n<meta charset="utf-8">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        # The browser loads nothing from elsewhere, whatever the text contains.
        (
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'; img-src data:\">\n"
        ),
        f"<title>{escape(content.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n",
        f"<header>{escape(content.head)}",
        f' <span class="draft">{escape(content.draft)}</span>' if content.draft else "",
        "</header>\n",
        f'<p class="muted">{escape(content.organisation)}</p>\n' if content.organisation else "",
        f"<h1>{escape(content.title)}</h1>\n",
    ]
    parts += [_block(block, "h2") for block in content.summary]
    for section in content.sections:
        kind = ' class="apart"' if section.apart else ""
        title = f"{section.number}&ensp;{escape(section.title)}"
        parts.append(f"<section{kind}>\n<h2>{title}</h2>\n")
        parts += [_block(block) for block in section.blocks]
        parts.append("</section>\n")
    parts.append(f"<footer>{escape(content.foot)}<br>{escape(content.end)}</footer>\n")
    return "".join([*parts, "</body>\n</html>\n"])


def _block(block: Block, heading: str = "h3") -> str:
    text = escape(block.text)
    match block.kind:
        case "h":
            return f"<{heading}>{text}</{heading}>\n"
        case "lead":
            return f'<p class="lead {escape(block.tone)}">{text}</p>\n'
        case "note":
            return f'<p class="note">{text}</p>\n'
        case "box":
            return f'<div class="box">{text}</div>\n'
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
    return f"<p>{text}</p>\n"


def _table(block: Block) -> str:
    def row_of(cells: Sequence[str], tag: str, attributes: str = "") -> str:
        kinds = (
            ' class="right"' if side == "right" else _code(cell)
            for cell, side in zip(cells, block.align, strict=True)
        )
        row = (
            f"<{tag}{attributes}{kind}>{escape(c)}</{tag}>"
            for c, kind in zip(cells, kinds, strict=True)
        )
        return f"<tr>{''.join(row)}</tr>"

    cols = "".join(f'<col style="width:{w / sum(block.widths):.0%}">' for w in block.widths)
    head = row_of(block.head, "th", ' scope="col"')
    rows = "".join(row_of(row, "td") for row in block.rows)
    return f"<table>{cols}<thead>{head}</thead><tbody>{rows}</tbody></table>\n"


def _figure(block: Block) -> str:
    import base64

    encoded = base64.b64encode(block.svg.encode()).decode("ascii")
    caption = f"<figcaption>{escape(block.text)}</figcaption>" if block.text else ""
    return (
        f'<figure class="figure"><img src="data:image/svg+xml;base64,{encoded}" '
        f'alt="{escape(block.alt)}">{caption}</figure>\n'
    )


def _run(text: str, level: int) -> str:
    if 0 < level < 9:
        return f'<span class="p{level}">{escape(text)}</span>'
    if level < 0:
        return f'<span class="n">{escape(text)}</span>'
    return escape(text)


def _code(value: str) -> str:
    plain = value.replace(" ", "")
    long = len(plain) >= 16 and all(c in "0123456789abcdef" for c in plain)
    return ' class="code"' if long else ""

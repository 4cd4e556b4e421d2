"""From blocks to a PDF: PDF/A-3a and PDF/UA-1 by typst, the same bytes for the same content."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pura.base.catalogue import phrase
from pura.base.errors import ReportError
from pura.base.json_text import json_text
from pura.base.resources import resource
from pura.report.blocks import Content
from pura.report.logo import logo_format

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

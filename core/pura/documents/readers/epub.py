"""Books (EPUB): all chapters as one text, in reading order."""

from __future__ import annotations

import posixpath
from typing import Final
from urllib.parse import unquote

from pura.documents.encodings import decode
from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.html import read_page
from pura.documents.readers.packages import (
    ZipPackage,
    attribute,
    local_name,
    locked,
    metadata,
    named,
)
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.transforms import Transform

_SEALED: Final = "META-INF/encryption.xml"
_DESCRIBING: Final = frozenset({"title", "description", "subject"})


def read_epub(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the chapters of a book in reading order as one text, and its other pages."""
    package = ZipPackage(file_bytes)
    root = next(named(package.xml("META-INF/container.xml"), "rootfile"))
    book_name = attribute(root, "full-path")
    book = package.xml(book_name)
    pages = {
        item.get("id", ""): posixpath.normpath(
            posixpath.join(posixpath.dirname(book_name), unquote(item.get("href", "")))
        )
        for item in named(book, "item")
        if "html" in item.get("media-type", "")
    }
    chapters = dict.fromkeys(pages[item.get("idref", "")] for item in named(book, "itemref"))
    other_pages = [page for page in pages.values() if page not in chapters and page in package]
    if _SEALED in package:  # encrypted fonts do not matter, but encrypted chapters are unreadable
        listed = [attribute(e, "URI") for e in named(package.xml(_SEALED), "CipherReference")]
        if not {unquote(name) for name in listed}.isdisjoint(chapters):
            raise locked()
    text, dropped, left_out = _joined(package, list(chapters))
    extracts = [Extract(text=text, transforms=dropped, left_out=left_out)]
    other_text, _, _ = _joined(package, other_pages)
    if other_text:
        kind = LeftOutKind.MAIN_TEXT
        part = "beside the chapters"
        extracts.append(
            Extract(text=other_text, part=part, role=ALTERNATIVE, kind=kind, location=part)
        )
    described = [e.text or "" for e in book.iter() if local_name(e) in _DESCRIBING]
    return [*extracts, *metadata(described)]


def _joined(
    package: ZipPackage, names: list[str]
) -> tuple[str, tuple[Transform, ...], tuple[LeftOut, ...]]:
    """Return pages as one text, with their transforms and left-out content."""
    pages = [read_page(decode(package.read(name)).text) for name in names]
    text = "\n\n".join(page.text.strip() for page in pages if page.text.strip())
    hidden = sum(change.count for page in pages for change in page.transforms)
    dropped = (Transform(name="hidden-removed", count=hidden),) if hidden else ()
    return text, dropped, tuple(entry for page in pages for entry in page.entries_apart())

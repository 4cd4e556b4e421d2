"""Books (EPUB): all chapters as one text, in the order in which they are read."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from pura.documents.encodings import decode
from pura.documents.extraction import Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.html import visible
from pura.documents.readers.packages import ZipPackage, attribute, locked, named
from pura.record.transforms import Transform


def read_epub(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the chapters of a book in their order, as one text."""
    package = ZipPackage(data)
    root = next(named(package.xml("META-INF/container.xml"), "rootfile"))
    where = attribute(root, "full-path")
    book = package.xml(where)
    places = {
        item.get("id", ""): posixpath.normpath(
            posixpath.join(posixpath.dirname(where), unquote(item.get("href", "")))
        )
        for item in named(book, "item")
        if "html" in item.get("media-type", "")
    }
    chapters = dict.fromkeys(places[one.get("idref", "")] for one in named(book, "itemref"))
    sealed = "META-INF/encryption.xml"
    if sealed in package:  # fonts may be, words that are cannot be read
        listed = [attribute(one, "URI") for one in named(package.xml(sealed), "CipherReference")]
        if not {unquote(one) for one in listed}.isdisjoint(chapters):
            raise locked()
    pages = [visible(decode(package.read(chapter)).text) for chapter in chapters]
    text = "\n\n".join(page.strip() for page, _ in pages if page.strip())
    hidden = sum(change.count for _, changes in pages for change in changes)
    dropped = (Transform(name="hidden-removed", count=hidden),) if hidden else ()
    return [Extract(text=text, transforms=dropped)]

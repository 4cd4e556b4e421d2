"""OpenDocument texts, as accepted and as original, in a package or in one flat XML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.blocks import TextBlock, extract
from pura.documents.readers.packages import (
    ZipPackage,
    attribute,
    local_name,
    locked,
    named,
    parse,
)
from pura.record.left_out import LeftOutKind

_SPACE: Final = re.compile(r"[ \t\n\r]+")
_ODT_APART: Final = frozenset(
    {
        "tracked-changes",
        "note",
        "annotation",
        "annotation-end",
        "frame",
        "forms",
        "ruby-text",
        "sequence-decls",
        "user-field-decls",
        "variable-decls",
        "table-of-content",
        "hidden-text",
    }
)


def read_odt(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text as accepted; where changes are tracked also the original."""
    root = _content(data)
    body = next((e for e in named(root, "text") if "office" in str(e.tag)), root)
    added, removed = _changes(body)
    changed = bool(added or removed)
    extracts = [extract(_OdtWalk(set(), {}).blocks(body), "as accepted" if changed else "")]
    if changed:
        original = _OdtWalk(added, removed).blocks(body)
        extracts.append(extract(original, "as original", ALTERNATIVE))
    notes = [b for e in named(body, "note-body") for b in _OdtWalk(set(), {}).blocks(e)]
    if notes:
        extracts.append(extract(notes, "footnotes", ALTERNATIVE, kind=LeftOutKind.NOTE))
    return extracts


def _content(data: bytes) -> Any:
    """Return the root of a document's content."""
    if not data.lstrip().startswith(b"PK"):
        return parse(data)
    package = ZipPackage(data)
    manifest = "META-INF/manifest.xml"
    if manifest in package and any(named(package.xml(manifest), "encryption-data")):
        raise locked()
    return package.xml("content.xml")


def _changes(body: Any) -> tuple[set[str], dict[str, str]]:
    """Return ids of insertions, and the text of every deletion by id."""
    added: set[str] = set()
    removed: dict[str, str] = {}
    for region in named(body, "changed-region"):
        name = attribute(region, "id")
        for kind in region:
            if local_name(kind) == "insertion":
                added.add(name)
            elif local_name(kind) == "deletion":
                paragraphs = [b.text for b in _OdtWalk(set(), {}).blocks(kind)]
                removed[name] = "\n".join(paragraphs)
    return added, removed


class _OdtWalk:
    """One pass over a body; leaves out what is ``added``, puts back what is ``removed``."""

    def __init__(self, added: set[str], removed: dict[str, str]) -> None:
        self._added, self._removed = added, removed
        self._inside: set[str] = set()

    def blocks(self, element: Any) -> list[TextBlock]:
        """Return the blocks below an element, in order."""
        return list(self._blocks(element, tight=False))

    def _blocks(self, element: Any, *, tight: bool) -> Iterator[TextBlock]:
        for child in element:
            tag = local_name(child)
            if tag in ("p", "h"):
                yield TextBlock(text=self._paragraph(child), tight=tight)
            elif tag == "table-row":
                cells = [
                    "\n".join(b.text for b in self._blocks(cell, tight=True))
                    for cell in child
                    if local_name(cell) == "table-cell"
                ]
                yield TextBlock(text="\t".join(cells), tight=True)
            elif tag in ("change-start", "change-end", "change"):
                if text := self._change(child):
                    yield TextBlock(text=text, tight=tight)
            elif tag not in _ODT_APART:
                yield from self._blocks(child, tight=tight or tag == "list")

    def _paragraph(self, element: Any) -> str:
        text = "".join(self._inline(element)).strip(" ")
        # Spaces and breaks that the writer meant stand as signs of their own until here.
        return text.replace("\ue000", " ").replace("\ue001", "\n").replace("\ue002", "\t")

    def _inline(self, element: Any) -> Iterator[str]:
        yield self._visible(element.text)
        for child in element:
            tag = local_name(child)
            if tag in ("change-start", "change-end", "change"):
                yield self._change(child)
            elif self._inside:
                pass
            elif tag == "s":
                count = attribute(child, "c")
                yield "\ue000" * (min(int(count), 1000) if count.isdigit() else 1)
            elif tag == "line-break":
                yield "\ue001"
            elif tag == "tab":
                yield "\ue002"
            elif tag not in _ODT_APART:
                yield from self._inline(child)
            yield self._visible(child.tail)

    def _visible(self, text: str | None) -> str:
        return "" if self._inside or not text else _SPACE.sub(" ", text)

    def _change(self, element: Any) -> str:
        name = attribute(element, "change-id")
        tag = local_name(element)
        if tag == "change-start" and name in self._added:
            self._inside.add(name)
        elif tag == "change-end":
            self._inside.discard(name)
        elif tag == "change" and not self._inside:
            return self._removed.get(name, "")
        return ""

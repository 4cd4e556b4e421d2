"""Word documents: the text as accepted, as original, and what stands beside it.

The XML is read directly: relationships that lead outside, pictures, macros, fields' codes and
templates are never touched, so that nothing outside can be asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.blocks import TextBlock, extract
from pura.documents.readers.packages import local_name, named, open_package
from pura.record.left_out import LeftOutKind
from pura.record.transforms import Transform
from pura.words.sentences import sentence

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT: Final = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_SIGNS: Final = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\u2011",
    "softHyphen": "\u00ad",
}
_ADDED: Final = frozenset({"ins", "moveTo"})
_REMOVED: Final = frozenset({"del", "moveFrom"})
_APART: Final = frozenset({"txbxContent", "Fallback", "instrText", "pPr", "rPr", "comment", "pict"})


def read_docx(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text as accepted; where changes are tracked also the original; notes apart."""
    package = open_package(data)
    main = package.main_part("word/document.xml")
    root = package.xml(main)
    changed = any(local_name(e) in _ADDED | _REMOVED for e in root.iter())
    notes = (sentence("left-out.numbers"),) if any(named(root, "numPr")) else ()
    readings = [("as accepted" if changed else "", MAIN, False)]
    if changed:
        readings.append(("as original", ALTERNATIVE, True))
    extracts = []
    for part, role, original in readings:
        walk = _Walk(original=original)
        blocks = walk.blocks(root)
        extracts.append(extract(blocks, part, role, dropped=walk.transforms(), notes=notes))

    def apart(elements: Iterable[Any], part: str, kind: LeftOutKind) -> None:
        blocks = [b for element in elements for b in _Walk(original=False).blocks(element)]
        if any(block.text.strip() for block in blocks):
            extracts.append(extract(blocks, part, ALTERNATIVE, kind=kind))

    for part in ("footnotes", "endnotes"):
        apart((package.xml(name) for name in package.beside(main, part)), part, LeftOutKind.NOTE)
    boxes = named(root, "txbxContent")
    boxed = (box for box in boxes if not _in_fallback(box))
    apart(boxed, "text boxes", LeftOutKind.TEXT_BOX)
    commented = (package.xml(name) for name in package.beside(main, "comments"))
    comments = (comment for part in commented for comment in named(part, "comment"))
    apart(comments, "comments", LeftOutKind.COMMENT)
    repeated = (package.xml(name) for name in package.related_as(main, "header", "footer"))
    apart(repeated, "headers and footers", LeftOutKind.HEADER)
    return extracts


def _value(element: Any, name: str) -> str | None:
    found = element.get(_W + name)
    value = found if found is not None else element.get(_STRICT + name)
    return None if value is None else str(value)


def _child(element: Any, *path: str) -> Any:
    for name in path:
        element = next((c for c in element if local_name(c) == name), None)
        if element is None:
            return None
    return element


def _in_fallback(element: Any) -> bool:
    return any(local_name(above) == "Fallback" for above in element.iterancestors())


class _Walk:
    """One pass over a body, in one of the two readings."""

    def __init__(self, *, original: bool) -> None:
        self._skip = _ADDED if original else _REMOVED
        self._mark = "ins" if original else "del"
        self._hidden = 0
        self._pending = ""  # of a paragraph whose mark this reading does not have

    def transforms(self) -> tuple[Transform, ...]:
        """Return what was dropped on the way."""
        if not self._hidden:
            return ()
        return (Transform(name="hidden-removed", count=self._hidden),)

    def blocks(self, element: Any) -> list[TextBlock]:
        """Return the blocks below an element, in order."""
        found = list(self._blocks(element))
        if self._pending:
            found.append(TextBlock(text=self._pending))
            self._pending = ""
        return found

    def _blocks(self, element: Any) -> Iterator[TextBlock]:
        for child in element:
            tag = local_name(child)
            if tag == "p":
                text = self._pending + "".join(self._inline(child))
                joined = _child(child, "pPr", "rPr", self._mark) is not None
                self._pending = text if joined else ""
                if not joined:
                    yield TextBlock(text=text, tight=_child(child, "pPr", "numPr") is not None)
            elif tag == "tr":
                yield TextBlock(text=self._row(child), tight=True)
            elif tag not in self._skip and tag not in _APART and tag != "footnotePr":
                yield from self._blocks(child)

    def _row(self, row: Any) -> str:
        cells = [cell for cell in row if local_name(cell) == "tc"]
        return "\t".join("\n".join(b.text for b in self._blocks(cell)) for cell in cells)

    def _inline(self, element: Any) -> Iterator[str]:
        for child in element:
            tag = local_name(child)
            if tag in ("t", "delText"):
                yield child.text or ""
            elif tag == "r" and self._vanishes(child):
                self._hidden += 1
            elif tag == "br" and _value(child, "type") in ("page", "column"):
                continue
            elif tag in _SIGNS:
                yield _SIGNS[tag]
            elif tag not in self._skip and tag not in _APART:
                yield from self._inline(child)

    @staticmethod
    def _vanishes(run: Any) -> bool:
        vanish = _child(run, "rPr", "vanish")
        return vanish is not None and _value(vanish, "val") not in ("0", "false", "off")

"""Word documents: body text in order, with tracked changes in both readings.

The XML is read directly: relationships, pictures, macros and templates are never touched, so that
nothing outside can be asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pura.documents.readers.packed import TextBlock, ZipContainer, join, local_name
from pura.documents.values import ALTERNATIVE, MAIN, Extract, ReadOptions
from pura.record.surroundings import Transform
from pura.words.sentences import Sentence, sentence

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


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text as accepted; where changes are tracked also the original; notes apart."""
    package = ZipContainer(data)
    name = "word/document.xml" if "word/document.xml" in package else "word/document2.xml"
    root = package.xml(name)
    changed = any(local_name(e) in _ADDED | _REMOVED for e in root.iter())
    notes = _left_out(root, package)
    readings = [("as accepted" if changed else "", MAIN, False)]
    if changed:
        readings.append(("as original", ALTERNATIVE, True))
    extracts = []
    for part, role, original in readings:
        walk = _Walk(original=original)
        text, transforms = join(walk.blocks(root))
        extracts.append(
            Extract(
                text=text,
                part=part,
                role=role,
                notes=notes,
                transforms=(*transforms, *walk.transforms()),
            )
        )
    for part in ("footnotes", "endnotes"):
        if f"word/{part}.xml" in package:
            text, transforms = join(_Walk(original=False).blocks(package.xml(f"word/{part}.xml")))
            if text.strip():
                extracts.append(
                    Extract(text=text, part=part, role=ALTERNATIVE, transforms=transforms)
                )
    boxes = [
        b
        for e in root.iter()
        if local_name(e) == "txbxContent" and not _in_fallback(e)
        for b in _Walk(original=False).blocks(e)
    ]
    if boxes:
        text, transforms = join(boxes)
        extracts.append(
            Extract(text=text, part="text boxes", role=ALTERNATIVE, transforms=transforms)
        )
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


def _left_out(root: Any, package: ZipContainer) -> tuple[Sentence, ...]:
    notes = []
    if any(local_name(e) == "numPr" for e in root.iter()):
        notes.append(sentence("left-out.numbers"))
    if "word/header1.xml" in package or "word/footer1.xml" in package:
        notes.append(sentence("left-out.headers"))
    if "word/comments.xml" in package:
        notes.append(sentence("left-out.comments"))
    return tuple(notes)


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

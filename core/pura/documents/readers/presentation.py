"""Presentations: slides in the order of the show, and their notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.blocks import TextBlock, extract
from pura.documents.readers.packages import attribute, local_name, named, open_package
from pura.record.left_out import LeftOutKind

_PPTX_SIGNS: Final = {"br": "\n", "tab": "\t"}
_FURNITURE: Final = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Places of a slide that hold its number, the date, and what stands on every slide."""


def read_pptx(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return slides and notes, together as main parts, one by one as alternatives."""
    package = open_package(data)
    show = package.main_part("ppt/presentation.xml")
    related = package.related(show)
    order = named(package.xml(show), "sldId")
    slides: list[TextBlock] = []
    notes: list[TextBlock] = []
    begun: list[tuple[int, int]] = []  # of each slide, in the blocks of slides and of notes
    apart: list[Extract] = []
    for number, element in enumerate(order, start=1):
        # A slide has two identifiers; that of its relation has a namespace.
        ids = [value for name, value in element.attrib.items() if name.startswith("{")]
        _, target = related.get(ids[0] if ids else "", ("", ""))
        begun.append((len(slides), len(notes)))
        if not target:
            continue
        root = package.xml(target)
        part = f"slide {number}"
        kind: LeftOutKind | None = None
        if root.get("show") in ("0", "false"):
            part += " (hidden)"
            kind = LeftOutKind.SLIDE
            mine: list[TextBlock] = []
            beside: list[TextBlock] = []
        else:
            mine, beside = slides, notes
        blocks = list(_blocks(root))
        mine += blocks
        apart += _filled([extract(blocks, part, ALTERNATIVE, kind=kind)])
        for relation, name in package.related(target).values():
            if relation == "notesSlide":
                said = list(_blocks(package.xml(name)))
                beside += said
                of_notes = LeftOutKind.SPEAKER_NOTES if kind else None
                apart += _filled([extract(said, f"notes of {part}", ALTERNATIVE, kind=of_notes)])
    whole = [
        extract(slides, "slides", kind=LeftOutKind.SLIDE, begun=[first for first, _ in begun]),
        extract(
            notes, "notes", kind=LeftOutKind.SPEAKER_NOTES, begun=[first for _, first in begun]
        ),
    ]
    return [*_filled(whole), *apart]


def _filled(extracts: Sequence[Extract]) -> list[Extract]:
    return [one for one in extracts if one.text]


def _blocks(element: Any) -> Iterator[TextBlock]:
    """Yield the paragraphs of shapes and the rows of tables, in the order of the file."""
    for child in element:
        match local_name(child):
            case "sp" if _is_furniture(child):
                continue
            case "p":
                if text := "".join(_inline(child)):
                    yield TextBlock(text=text)
            case "tr":
                cells = (
                    "\n".join(block.text for block in _blocks(cell))
                    for cell in child
                    if local_name(cell) == "tc"
                )
                yield TextBlock(text="\t".join(cells), tight=True)
            case "Fallback":  # the same once more, for older programs
                continue
            case _:
                yield from _blocks(child)


def _is_furniture(shape: Any) -> bool:
    return any(
        attribute(place, "type") in _FURNITURE
        for part in shape
        if local_name(part) == "nvSpPr"
        for place in named(part, "ph")
    )


def _inline(element: Any) -> Iterator[str]:
    for child in element:
        tag = local_name(child)
        if tag == "t":
            yield child.text or ""
        elif tag in _PPTX_SIGNS:
            yield _PPTX_SIGNS[tag]
        elif tag not in ("pPr", "rPr", "endParaRPr"):
            yield from _inline(child)

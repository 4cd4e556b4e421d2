"""Presentations: all slides as one text, all notes as another; each of them as a part on request.

The XML is read directly, as that of Word documents: links, macros, pictures and films are never
touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from pura.documents.readers.packed import (
    TextBlock,
    ZipContainer,
    attribute,
    join_placed,
    local_name,
)
from pura.documents.values import ALTERNATIVE, MAIN, Extract, ReadOptions
from pura.words.sentences import sentence

_SIGNS: Final = {"br": "\n", "tab": "\t"}
_FURNITURE: Final = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Places of a slide that hold its number, the date, and what stands on every slide."""


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return slides and notes, together as main parts, one by one as alternatives."""
    package = ZipContainer(data)
    show = "ppt/presentation.xml"
    related = package.related(show)
    order = [e for e in package.xml(show).iter() if local_name(e) == "sldId"]
    slides: list[TextBlock] = []
    notes: list[TextBlock] = []
    begun: list[tuple[int, int]] = []  # of each slide, in the blocks of slides and of notes
    apart: list[Extract] = []
    hidden: list[str] = []
    for number, element in enumerate(order, start=1):
        # A slide has two identifiers; that of its relation has a namespace.
        ids = [value for name, value in element.attrib.items() if name.startswith("{")]
        _, target = related.get(ids[0] if ids else "", ("", ""))
        begun.append((len(slides), len(notes)))
        if not target:
            continue
        root = package.xml(target)
        part = f"slide {number}"
        if root.get("show") in ("0", "false"):
            hidden.append(part)
            part += " (hidden)"
            mine: list[TextBlock] = []
            beside: list[TextBlock] = []
        else:
            mine, beside = slides, notes
        blocks = list(_blocks(root))
        mine += blocks
        apart += _extract(blocks, part, ALTERNATIVE)
        for kind, name in package.related(target).values():
            if kind == "notesSlide":
                said = list(_blocks(package.xml(name)))
                beside += said
                apart += _extract(said, f"notes of {part}", ALTERNATIVE)
    extracts = [
        *_extract(slides, "slides", MAIN, [first for first, _ in begun]),
        *_extract(notes, "notes", MAIN, [first for _, first in begun]),
        *apart,
    ]
    if hidden and extracts:
        note = sentence("left-out.hidden-parts", names=", ".join(hidden))
        extracts[0] = replace(extracts[0], notes=(note,))
    return extracts


def _extract(
    blocks: list[TextBlock], part: str, role: str, begun: Sequence[int] = ()
) -> list[Extract]:
    text, transforms, starts = join_placed(blocks)
    pages = tuple((*starts, len(text))[first] for first in begun)
    found = Extract(text=text, part=part, role=role, transforms=transforms, pages=pages)
    return [found] if text else []


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
        local_name(e) == "ph" and attribute(e, "type") in _FURNITURE
        for part in shape
        if local_name(part) == "nvSpPr"
        for e in part.iter()
    )


def _inline(element: Any) -> Iterator[str]:
    for child in element:
        tag = local_name(child)
        if tag == "t":
            yield child.text or ""
        elif tag in _SIGNS:
            yield _SIGNS[tag]
        elif tag not in ("pPr", "rPr", "endParaRPr"):
            yield from _inline(child)

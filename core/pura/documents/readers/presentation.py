"""Presentations: slides in the order of the show, their notes, and further content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.blocks import TextBlock, extract, extract_apart
from pura.documents.readers.drawings import drawing_texts, embedded_documents, texts_of_drawings
from pura.documents.readers.packages import Package, attribute, local_name, named, open_package
from pura.record.left_out import LeftOutKind

_SIGNS: Final = {"br": "\n", "tab": "\t"}
_REPEATED_PLACEHOLDERS: Final = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Placeholders of a slide for its number, the date, and headers and footers."""
_SHAPES: Final = frozenset({"sp", "cxnSp", "grpSp", "graphicFrame", "pic"})


def read_pptx(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return all slides and all notes as main parts, single slides, and further parts."""
    package = open_package(file_bytes)
    show = package.main_part("ppt/presentation.xml")
    related = package.related(show)
    order = named(package.xml(show), "sldId")
    slides: list[TextBlock] = []
    notes: list[TextBlock] = []
    page_starts: list[tuple[int, int]] = []  # of each slide, in the blocks of slides and of notes
    separate_extracts: list[Extract] = []
    asides = _SlideAsides()
    names: list[str] = []
    for number, element in enumerate(order, start=1):
        # A slide has two identifiers; the one of its relation has a namespace.
        ids = [value for name, value in element.attrib.items() if name.startswith("{")]
        _, target = related.get(ids[0] if ids else "", ("", ""))
        page_starts.append((len(slides), len(notes)))
        if not target:
            continue
        names.append(target)
        root = package.xml(target)
        part = f"slide {number}"
        hidden = root.get("show") in ("0", "false")
        if hidden:
            part += " (hidden)"
        blocks = list(asides.blocks(root))
        if not hidden:
            slides += blocks
        separate_extracts += _filled([_single(blocks, part, LeftOutKind.SLIDE if hidden else None)])
        asides.comments += _comments(package, target)
        for name in package.related_as(target, "notesSlide"):
            spoken = list(asides.blocks(package.xml(name)))
            if not hidden:
                notes += spoken
            kind = LeftOutKind.SPEAKER_NOTES if hidden else None
            separate_extracts += _filled([_single(spoken, f"notes of {part}", kind)])
    starts, starts_of_notes = (
        [first for first, _ in page_starts],
        [first for _, first in page_starts],
    )
    together = [
        extract(slides, "slides", kind=LeftOutKind.SLIDE, page_starts=starts),
        extract(notes, "notes", kind=LeftOutKind.SPEAKER_NOTES, page_starts=starts_of_notes),
    ]
    asides.repeated += _of_layouts(package, names)
    return [
        *_filled(together),
        *separate_extracts,
        *extract_apart(asides.comments, "comments", LeftOutKind.COMMENT),
        *extract_apart(asides.hidden, "hidden text", LeftOutKind.HIDDEN_TEXT),
        *extract_apart(_distinct(asides.repeated), "headers and footers", LeftOutKind.HEADER),
        *texts_of_drawings(package, names),
        *package.properties(),
        *embedded_documents(package, names),
    ]


def _single(blocks: Sequence[TextBlock], part: str, kind: LeftOutKind | None) -> Extract:
    return extract(blocks, part, ALTERNATIVE, kind=kind)


def _filled(extracts: Sequence[Extract]) -> list[Extract]:
    return [slide_extract for slide_extract in extracts if slide_extract.text]


def _distinct(blocks: Sequence[TextBlock]) -> list[TextBlock]:
    """Return each block with letters once, since footers are repeated on every slide."""
    texts = dict.fromkeys(block.text for block in blocks)
    return [TextBlock(text=text, tight=True) for text in texts if _has_letters(text)]


def _has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


class _SlideAsides:
    """Content beside the text of slides, collected while they are read.

    Attributes:
        comments: Comments of reviewers.
        hidden: Text in hidden shapes.
        repeated: Slide numbers, dates and footers.
    """

    def __init__(self) -> None:
        self.comments: list[TextBlock] = []
        self.hidden: list[TextBlock] = []
        self.repeated: list[TextBlock] = []

    def blocks(self, element: Any) -> Iterator[TextBlock]:
        """Yield the paragraphs of shapes and the rows of tables, in the order of the file."""
        for child in element:
            name = local_name(child)
            if name in _SHAPES and _is_hidden(child):
                self.hidden += _texts_of_shape(child)
            elif name == "sp" and _is_repeated(child):
                self.repeated += _texts_of_shape(child)
            elif name == "p":
                if text := "".join(_inline(child)):
                    yield TextBlock(text=text)
            elif name == "tr":
                cells = (
                    "\n".join(block.text for block in self.blocks(cell))
                    for cell in child
                    if local_name(cell) == "tc"
                )
                yield TextBlock(text="\t".join(cells), tight=True)
            elif name != "Fallback":  # repeats the content for older programs
                yield from self.blocks(child)


def _texts_of_shape(shape: Any) -> list[TextBlock]:
    return [TextBlock(text=text) for text in drawing_texts(shape)]


def _comments(package: Package, slide: str) -> list[TextBlock]:
    """Return the comments on a slide, in the form of PowerPoint 2007 or of 2021."""
    blocks = []
    for name in package.related_as(slide, "comments"):
        for comment in named(package.xml(name), "cm"):
            plain = [e.text for e in comment.iter() if local_name(e) == "text" and e.text]
            blocks += [TextBlock(text=text) for text in plain or drawing_texts(comment)]
    return blocks


def _of_layouts(package: Package, slides: Sequence[str]) -> list[TextBlock]:
    """Return the texts that layouts and masters show on slides, without placeholders."""
    layouts = {name for slide in slides for name in package.related_as(slide, "slideLayout")}
    masters = {name for layout in layouts for name in package.related_as(layout, "slideMaster")}
    return [
        block
        for name in (*sorted(layouts), *sorted(masters))
        for shape in named(package.xml(name), "sp")
        if not any(_placeholders(shape))
        for block in _texts_of_shape(shape)
    ]


def _is_hidden(shape: Any) -> bool:
    return any(
        attribute(properties, "hidden") in ("1", "true")
        for child in shape
        if local_name(child).startswith("nv")
        for properties in child
        if local_name(properties) == "cNvPr"
    )


def _placeholders(shape: Any) -> Iterator[Any]:
    for child in shape:
        if local_name(child) == "nvSpPr":
            yield from named(child, "ph")


def _is_repeated(shape: Any) -> bool:
    return any(
        attribute(placeholder, "type") in _REPEATED_PLACEHOLDERS
        for placeholder in _placeholders(shape)
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

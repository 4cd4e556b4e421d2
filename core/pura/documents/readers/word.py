"""Word documents: the text with changes accepted, the original text, and further content.

The XML is read directly. External relationships, pictures, macros, field codes and templates are
never used, so that nothing outside can be requested. Every word of the file is in exactly one of
these: the body, a further part (notes, comments, headers, text boxes, hidden text, diagrams,
embedded documents), or the list of deletions by tracked changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from pura.base.errors import InputError
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.blocks import QUOTATION_STYLES, TextBlock, extract, extract_apart
from pura.documents.readers.drawings import drawing_texts, embedded_documents, texts_of_drawings
from pura.documents.readers.embedded import inner_parts, read_inner, unreadable
from pura.documents.readers.packages import Package, local_name, named, open_package
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.transforms import Transform
from pura.words.sentences import sentence

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT: Final = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_SIGNS: Final = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\u2011",
    "softHyphen": "\u00ad",
}
_TEXTS: Final = frozenset({"t", "delText"})
_ADDED: Final = frozenset({"ins", "moveTo"})
_REMOVED: Final = frozenset({"del", "moveFrom"})
_APART: Final = frozenset(
    {
        *("drawing", "pict", "object", "txbxContent"),  # their text becomes separate parts
        *("instrText", "delInstrText", "fldData", "ffData"),  # what a field does, not what it shows
        *("pPr", "rPr", "tblPr", "trPr", "tcPr", "sectPr", "sdtPr", "sdtEndPr", "rubyPr"),
    }
)
"""Elements in a body whose text is not part of the body."""
_READING: Final = "rt"
"""Element with the reading of Chinese characters, which is printed small above them."""
_AS_ORIGINAL: Final = "as original"

# Formats of inserted documents ("altChunk") by their content type.
_CHUNK_FORMATS: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "message/rfc822": "eml",
    "multipart/related": "eml",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    "text/plain": "text",
}


def read_docx(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text with changes accepted, the original text, and further parts."""
    package = open_package(file_bytes)
    main = package.main_part("word/document.xml")
    root = package.xml(main)
    styles = _Styles.of(package, main)
    changed = any(local_name(e) in _ADDED | _REMOVED for e in root.iter())
    notes = (sentence("left-out.numbers"),) if any(named(root, "numPr")) else ()
    asides = _WordAsides()

    def walk(name: str, elements: Iterable[Any], collected: _WordAsides) -> list[TextBlock]:
        story = _StoryWalk(package, name, styles, collected)
        return [block for element in elements for block in story.blocks(element)]

    accepted = walk(main, [root], asides)
    original: list[Extract] = []
    if changed:
        ignored = _WordAsides()
        story = _StoryWalk(package, main, styles, ignored, original=True)
        blocks = story.blocks(root)
        original.append(
            extract(blocks, _AS_ORIGINAL, ALTERNATIVE, dropped=ignored.transforms(), notes=notes)
        )

    separate_extracts: list[Extract] = []
    roots = {main: root}
    for part, kind, relations in _STORIES:
        blocks = []
        for name in package.beside(main, *relations):
            roots[name] = package.xml(name)
            blocks += walk(name, [roots[name]], asides)
        separate_extracts += extract_apart(blocks, part, kind)
    boxes = [
        block
        for name, story_root in roots.items()
        for block in walk(name, _text_boxes(story_root), asides)
    ]
    separate_extracts += extract_apart(boxes, "text boxes", LeftOutKind.TEXT_BOX)
    separate_extracts += extract_apart(asides.hidden, "hidden text", LeftOutKind.HIDDEN_TEXT)
    canvases = [TextBlock(text=text) for story in roots.values() for text in _canvas_texts(story)]
    separate_extracts += extract_apart(canvases, "drawings", LeftOutKind.DIAGRAM)
    separate_extracts += texts_of_drawings(package, list(roots))
    separate_extracts += package.properties()
    separate_extracts += asides.inner
    separate_extracts += embedded_documents(package, list(roots))
    body = extract(
        accepted,
        "as accepted" if changed else "",
        MAIN,
        dropped=asides.transforms(),
        notes=notes,
        left_out=asides.left_out(),
    )
    return [body, *original, *separate_extracts]


_STORIES: Final = (
    ("footnotes", LeftOutKind.NOTE, ("footnotes",)),
    ("endnotes", LeftOutKind.NOTE, ("endnotes",)),
    ("comments", LeftOutKind.COMMENT, ("comments",)),
    ("headers and footers", LeftOutKind.HEADER, ("header", "footer")),
)
"""Further parts of the package: name, kind, and relations of the body that lead to them."""


@dataclass
class _WordAsides:
    """Content beside the body, collected while it is read.

    Attributes:
        hidden: Text that is formatted as hidden.
        deleted: Text that tracked changes deleted.
        readings: Readings of Chinese characters.
        inner: Parts of inserted documents, except their main text, which is in the body.
        hidden_runs: Number of pieces of hidden text.
    """

    hidden: list[TextBlock] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)
    inner: list[Extract] = field(default_factory=list)
    hidden_runs: int = 0

    def transforms(self) -> tuple[Transform, ...]:
        """Return the transforms for removed text."""
        if not self.hidden_runs:
            return ()
        return (Transform(name="hidden-removed", count=self.hidden_runs),)

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return content that is in no separate part."""
        entries = []
        if deleted := "\n".join(self.deleted).strip():
            entries.append(LeftOut.of_text(LeftOutKind.DELETED_TEXT, deleted, part=_AS_ORIGINAL))
        if readings := " ".join(self.readings).strip():
            entries.append(LeftOut.of_text(LeftOutKind.NOTE, readings))
        return tuple(entries)


class _StoryWalk:
    """Reads a story (the body, the footnotes …), with changes accepted or as original."""

    def __init__(
        self,
        package: Package,
        name: str,
        styles: _Styles,
        asides: _WordAsides,
        *,
        original: bool = False,
    ) -> None:
        self._package, self._name = package, name
        self._styles, self._asides = styles, asides
        self._original = original
        self._skip = _ADDED if original else _REMOVED
        self._mark = "ins" if original else "del"
        self._pending = ""  # of a paragraph whose mark this reading does not have
        self._hidden: list[str] = []  # of the paragraph
        self._paragraph_hidden = False

    def blocks(self, element: Any) -> list[TextBlock]:
        """Return the blocks below an element, in order."""
        blocks = list(self._blocks(element))
        if self._pending:
            blocks.append(TextBlock(text=self._pending))
            self._pending = ""
        return blocks

    def _blocks(self, element: Any) -> Iterator[TextBlock]:
        for child in element:
            tag = local_name(child)
            if tag == "p":
                yield from self._paragraph(child)
            elif tag == "tr":
                if _child(child, "trPr", self._mark) is not None:
                    self._remove(child)
                else:
                    yield TextBlock(text=self._row(child), tight=True)
            elif tag == "altChunk":
                yield from self._chunk(child)
            elif tag in self._skip:
                self._remove(child)
            elif tag not in _APART and not _is_superseded(child):
                yield from self._blocks(child)

    def _paragraph(self, paragraph: Any) -> Iterator[TextBlock]:
        style = _child(paragraph, "pPr", "pStyle")
        style_name = None if style is None else _value(style)
        self._paragraph_hidden = style_name in self._styles.hidden
        text = self._pending + "".join(self._inline(paragraph))
        if self._hidden:
            self._asides.hidden.append(TextBlock(text="".join(self._hidden)))
            self._hidden = []
        joined = _child(paragraph, "pPr", "rPr", self._mark) is not None
        self._pending = text if joined else ""
        if not joined:
            yield TextBlock(
                text=text,
                tight=_child(paragraph, "pPr", "numPr") is not None,
                quotation=style_name in self._styles.quoting,
            )

    def _row(self, row: Any) -> str:
        cells = ("\n".join(block.text for block in self._blocks(cell)) for cell in _cells(row))
        return "\t".join(cells)

    def _inline(self, element: Any) -> Iterator[str]:
        for child in element:
            tag = local_name(child)
            if tag in _TEXTS:
                yield child.text or ""
            elif tag == "r" and self._is_hidden(child):
                self._asides.hidden_runs += 1
                self._hidden += self._inline(child)
            elif tag == "br" and _value(child, "type") in ("page", "column"):
                continue
            elif tag in _SIGNS:
                yield _SIGNS[tag]
            elif tag == _READING:
                self._asides.readings.append(_plain(child))
            elif tag in self._skip:
                self._remove(child)
            elif tag not in _APART and not _is_superseded(child):
                yield from self._inline(child)

    def _remove(self, element: Any) -> None:
        """Omit an insertion or deletion by tracked changes; deleted text is collected."""
        if not self._original and (text := _plain(element)):
            self._asides.deleted.append(text)

    def _is_hidden(self, run: Any) -> bool:
        vanish = _child(run, "rPr", "vanish")
        if vanish is not None:
            return _is_on(vanish)
        style = _child(run, "rPr", "rStyle")
        style_hides = style is not None and _value(style) in self._styles.hidden
        return style_hides or self._paragraph_hidden

    def _chunk(self, element: Any) -> Iterator[TextBlock]:
        """Read a document that Word inserts here when it opens the file."""
        identifier = next((v for k, v in element.attrib.items() if k.endswith("}id")), "")
        _, name = self._package.related(self._name).get(identifier, ("", ""))
        if not name:
            return
        content_type = self._package.content_type(name).partition(";")[0].strip().lower()
        try:
            extracts = read_inner(self._package.read(name), name, _CHUNK_FORMATS.get(content_type))
        except InputError as error:
            if not self._original:
                self._asides.inner.append(unreadable(error, name, label="inserted"))
            return
        yield from (TextBlock(text=inner.text) for inner in extracts if inner.role == MAIN)
        if not self._original:
            other_extracts = [inner for inner in extracts if inner.role != MAIN]
            parts = inner_parts(
                other_extracts, f"inserted {name}", name, LeftOutKind.EMBEDDED_DOCUMENT
            )
            self._asides.inner += parts


def _cells(row: Any) -> Iterator[Any]:
    """Yield the cells of a row, including those inside content controls and custom XML."""
    for child in row:
        tag = local_name(child)
        if tag == "tc":
            yield child
        elif tag not in _APART and tag != "tblPrEx":
            yield from _cells(child)


def _text_boxes(root: Any) -> Iterator[Any]:
    return (box for box in named(root, "txbxContent") if not _below_superseded(box))


def _canvas_texts(root: Any) -> Iterator[str]:
    """Yield the texts in drawings outside text boxes."""
    for drawing in named(root, "drawing"):
        if _below_superseded(drawing):
            continue
        for body in named(drawing, "txBody"):
            yield from drawing_texts(body)


def _plain(element: Any) -> str:
    """Return all text below an element, a line for each paragraph."""
    pieces: list[str] = []
    for below in element.iter():
        tag = local_name(below)
        if tag in _TEXTS and not _below_superseded(below, element):
            pieces.append(below.text or "")
        elif tag in _SIGNS:
            pieces.append(" ")
        elif tag == "p" and pieces:
            pieces.append("\n")
    return "".join(pieces)


def _is_superseded(element: Any) -> bool:
    """Return whether an element repeats its sibling for older programs."""
    if local_name(element) != "Fallback":
        return False
    return any(local_name(sibling) == "Choice" for sibling in element.getparent())


def _below_superseded(element: Any, top: Any = None) -> bool:
    for above in element.iterancestors():
        if above is top:
            return False
        if _is_superseded(above):
            return True
    return False


@dataclass(frozen=True, kw_only=True)
class _Styles:
    """Identifiers of styles with special meanings.

    Attributes:
        hidden: Styles with hidden text.
        quoting: Paragraph styles for quotations.
    """

    hidden: frozenset[str | None]
    quoting: frozenset[str | None]

    @classmethod
    def of(cls, package: Package, main: str) -> _Styles:
        """Read the styles of a document, including properties inherited from other styles."""
        styles: dict[str, Any] = {}
        for name in package.beside(main, "styles"):
            for style in named(package.xml(name), "style"):
                styles[_value(style, "styleId") or ""] = style

        def inherited(judge: Callable[[Any], bool | None]) -> frozenset[str | None]:
            @cache
            def applies(name: str, depth: int = 0) -> bool:
                style = styles.get(name)
                if style is None or depth > len(styles):  # styles that are based on each other
                    return False
                judgement = judge(style)
                if judgement is not None:
                    return judgement
                based_on = _child(style, "basedOn")
                return based_on is not None and applies(_value(based_on) or "", depth + 1)

            return frozenset(name for name in styles if applies(name))

        return cls(hidden=inherited(_hides), quoting=inherited(_quotes))


def _hides(style: Any) -> bool | None:
    """Return whether a style hides its text; None if it inherits this."""
    vanish = _child(style, "rPr", "vanish")
    return None if vanish is None else _is_on(vanish)


def _quotes(style: Any) -> bool | None:
    """Return whether a style is for quotations; None if it inherits this."""
    name = _child(style, "name")
    is_quotation = name is not None and (_value(name) or "").lower() in QUOTATION_STYLES
    return True if is_quotation else None


def _is_on(switch: Any) -> bool:
    return _value(switch) not in ("0", "false", "off")


def _value(element: Any, name: str = "val") -> str | None:
    plain = element.get(_W + name)
    text = plain if plain is not None else element.get(_STRICT + name)
    return None if text is None else str(text)


def _child(element: Any, *path: str) -> Any:
    for name in path:
        element = next((child for child in element if local_name(child) == name), None)
        if element is None:
            return None
    return element

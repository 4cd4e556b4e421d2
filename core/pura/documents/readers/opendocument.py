"""OpenDocument texts, with changes accepted and as original, and the content beside the body.

A document is a package, or one flat XML file. Frames, shapes, notes and annotations are inside
paragraphs in the XML, but outside the body on the page, so they become separate parts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.blocks import QUOTATION_STYLES, TextBlock, extract, extract_apart
from pura.documents.readers.embedded import ole_extracts
from pura.documents.readers.packages import (
    Package,
    ZipPackage,
    attribute,
    local_name,
    locked,
    metadata,
    named,
    parse,
)
from pura.record.left_out import LeftOut, LeftOutKind

_SPACE: Final = re.compile(r"[ \t\n\r]+")
_AS_ORIGINAL: Final = "as original"
_DRAWING: Final = "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
_CHANGES: Final = frozenset({"change-start", "change-end", "change"})
_NO_WORDS: Final = frozenset(
    {
        *("tracked-changes", "sequence-decls", "user-field-decls", "variable-decls"),
        *("annotation-end", "index-title-template", "note-citation"),
        *("table-of-content-source", "alphabetical-index-source", "bibliography-source"),
        *("illustration-index-source", "table-index-source", "object-index-source"),
        *("user-index-source",),
    }
)
"""Elements with settings, numbers or reference marks, but without text."""
_DESCRIBING: Final = ("title", "subject", "description", "keyword")
_CAPTIONS: Final = frozenset({"title", "desc"})
"""Names of drawings, which are not shown."""


def read_odt(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text with changes accepted, the original text, and further parts."""
    document = _OdtDocument.opened(file_bytes)
    changes = _changes(document.body)
    changed = bool(changes.added or changes.removed)
    asides = _OdtAsides()
    walk = _OdtWalk(asides, document.hidden_styles, quoting_styles=document.quoting_styles)
    body = walk.blocks(document.body)
    original: list[Extract] = []
    if changed:
        blocks = _OdtWalk(_OdtAsides(), document.hidden_styles, changes).blocks(document.body)
        original.append(extract(blocks, _AS_ORIGINAL, ALTERNATIVE))
    repeated = [block for root in document.repeated for block in walk.blocks(root)]
    left_out = (*changes.left_out(), *asides.left_out())
    return [
        extract(body, "as accepted" if changed else "", left_out=left_out),
        *original,
        *extract_apart(asides.notes, "footnotes", LeftOutKind.NOTE),
        *extract_apart(asides.boxes, "text boxes", LeftOutKind.TEXT_BOX),
        *extract_apart(asides.comments, "comments", LeftOutKind.COMMENT),
        *extract_apart(repeated, "headers and footers", LeftOutKind.HEADER),
        *extract_apart(asides.contents, "table of contents", LeftOutKind.MAIN_TEXT),
        *extract_apart(asides.hidden, "hidden text", LeftOutKind.HIDDEN_TEXT),
        *extract_apart(asides.fields, "form fields", LeftOutKind.FORM_FIELD),
        *metadata(document.description),
        *document.objects(asides.objects),
    ]


@dataclass(frozen=True, kw_only=True)
class _OdtDocument:
    """The parts of a document.

    Attributes:
        body: Element of the text.
        repeated: Headers and footers.
        hidden_styles: Names of the styles with hidden text.
        quoting_styles: Names of the paragraph styles for quotations.
        description: Title, subject, description and keywords.
        package: The package with embedded objects; None for a flat file.
    """

    body: Any
    repeated: tuple[Any, ...]
    hidden_styles: frozenset[str]
    quoting_styles: frozenset[str]
    description: tuple[str, ...]
    package: Package | None

    @classmethod
    def opened(cls, file_bytes: bytes) -> _OdtDocument:
        """Open a package or a flat file."""
        if not file_bytes.lstrip().startswith(b"PK"):
            root = parse(file_bytes)
            return cls._of([root], root, root, None)
        package = ZipPackage(file_bytes)
        manifest = "META-INF/manifest.xml"
        if manifest in package and any(named(package.xml(manifest), "encryption-data")):
            raise locked()
        content_root = package.xml("content.xml")
        styles = [package.xml(name) for name in ("styles.xml",) if name in package]
        meta = package.xml("meta.xml") if "meta.xml" in package else None
        return cls._of([content_root, *styles], content_root, meta, package)

    @classmethod
    def _of(
        cls, roots: list[Any], content_root: Any, meta: Any, package: Package | None
    ) -> _OdtDocument:
        body = next(
            (e for e in named(content_root, "text") if "office" in str(e.tag)), content_root
        )
        repeated = [
            e
            for root in roots
            for style in named(root, "master-page")
            for e in style
            if local_name(e).startswith(("header", "footer"))
        ]
        described = () if meta is None else tuple(_described(meta))
        return cls(
            body=body,
            repeated=tuple(repeated),
            hidden_styles=_hidden_styles(roots),
            quoting_styles=_quoting_styles(roots),
            description=described,
            package=package,
        )

    def objects(self, names: Iterable[str]) -> list[Extract]:
        """Return the texts of embedded documents and charts."""
        if self.package is None:
            return []
        extracts: list[Extract] = []
        for name in dict.fromkeys(names):
            content_name = posixpath.join(name, "content.xml")
            if content_name in self.package:  # an OpenDocument object, stored as a folder
                paragraphs = [
                    TextBlock(text="".join(paragraph.itertext()))
                    for paragraph in named(self.package.xml(content_name), "p")
                ]
                part = f"embedded {name}"
                extracts += extract_apart(paragraphs, part, LeftOutKind.EMBEDDED_DOCUMENT)
            elif name in self.package:
                extracts += ole_extracts(self.package.read(name), name)
        return extracts


def _described(meta: Any) -> Iterator[str]:
    for properties in named(meta, "meta"):
        for element in properties:
            if local_name(element) in _DESCRIBING:
                yield element.text or ""


def _hidden_styles(roots: Iterable[Any]) -> frozenset[str]:
    """Return the names of the styles of text, paragraphs and sections that hide their text."""
    is_hidden: dict[str, bool] = {}
    parents: dict[str, str] = {}
    for root in roots:
        for style in named(root, "style"):
            name = attribute(style, "name")
            parents[name] = attribute(style, "parent-style-name")
            for properties in style:
                if display := attribute(properties, "display"):
                    is_hidden[name] = display == "none"
    hidden = set()
    for name in parents:
        ancestors: list[str] = []
        style = name
        while style in parents and style not in is_hidden and style not in ancestors:
            ancestors.append(style)
            style = parents[style]
        if is_hidden.get(style):
            hidden.add(name)
    return frozenset(hidden)


def _quoting_styles(roots: Iterable[Any]) -> frozenset[str]:
    """Return the names of the paragraph styles for quotations, and of styles based on them."""
    quoting = {name.capitalize() for name in QUOTATION_STYLES} | set(QUOTATION_STYLES)
    children: dict[str, list[str]] = {}
    for root in roots:
        for style in named(root, "style"):
            name = attribute(style, "name")
            children.setdefault(attribute(style, "parent-style-name"), []).append(name)
            if (attribute(style, "display-name") or name).lower() in QUOTATION_STYLES:
                quoting.add(name)
    waiting = list(quoting)
    while waiting:
        for name in children.pop(waiting.pop(), ()):
            quoting.add(name)
            waiting.append(name)
    return frozenset(quoting)


@dataclass(frozen=True, kw_only=True)
class _Changes:
    """Tracked changes.

    Attributes:
        added: Identifiers of insertions.
        removed: The text of every deletion, by identifier.
    """

    added: frozenset[str] = frozenset()
    removed: dict[str, str] = field(default_factory=dict)

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the deleted text, which the accepted text does not contain."""
        deleted = "\n".join(self.removed.values()).strip()
        if not deleted:
            return ()
        return (LeftOut.of_text(LeftOutKind.DELETED_TEXT, deleted, part=_AS_ORIGINAL),)


def _changes(body: Any) -> _Changes:
    added: set[str] = set()
    removed: dict[str, str] = {}
    walk = _OdtWalk(_OdtAsides(), frozenset())
    for region in named(body, "changed-region"):
        name = attribute(region, "id")
        for kind in region:
            if local_name(kind) == "insertion":
                added.add(name)
            elif local_name(kind) == "deletion":
                removed[name] = "\n".join(block.text for block in walk.blocks(kind))
    return _Changes(added=frozenset(added), removed=removed)


@dataclass
class _OdtAsides:
    """Content beside the body, by kind; ``objects`` contains names of parts."""

    notes: list[TextBlock] = field(default_factory=list)
    boxes: list[TextBlock] = field(default_factory=list)
    comments: list[TextBlock] = field(default_factory=list)
    contents: list[TextBlock] = field(default_factory=list)
    hidden: list[TextBlock] = field(default_factory=list)
    fields: list[TextBlock] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return content that is in no separate part."""
        readings = " ".join(self.readings).strip()
        return (LeftOut.of_text(LeftOutKind.NOTE, readings),) if readings else ()


class _OdtWalk:
    """Reads parts of a document, with changes accepted or as original.

    Args:
        asides: Collects the content beside the body.
        hidden_styles: Names of the styles with hidden text.
        changes: Tracked changes, to read the original: insertions are omitted and deletions
            restored. None for the text with changes accepted.
        quoting_styles: Names of the paragraph styles for quotations.
    """

    def __init__(
        self,
        asides: _OdtAsides,
        hidden_styles: frozenset[str],
        changes: _Changes | None = None,
        *,
        quoting_styles: frozenset[str] = frozenset(),
    ) -> None:
        self._asides, self._hidden_styles = asides, hidden_styles
        self._quoting_styles = quoting_styles
        self._changes = changes or _Changes()
        self._inside: set[str] = set()  # insertions that are open, in the original
        self._separate: dict[str, Callable[[Any], None]] = {
            "note": self._note,
            "annotation": lambda e: self._to(self._asides.comments, e),
            "table-of-content": lambda e: self._to(self._asides.contents, e),
            "forms": self._forms,
            "ruby-text": lambda e: self._asides.readings.append("".join(e.itertext())),
            "hidden-text": self._hidden_field,
            "hidden-paragraph": self._hidden_field,
            "object": self._object,
            "object-ole": self._object,
        }

    def blocks(self, element: Any) -> list[TextBlock]:
        """Return the blocks below an element, in order."""
        return list(self._blocks(element, tight=False))

    def _blocks(self, element: Any, *, tight: bool) -> Iterator[TextBlock]:
        for child in element:
            tag = local_name(child)
            if tag in _CHANGES:
                if text := self._change(child):
                    yield TextBlock(text=text, tight=tight)
            elif self._collect_aside(child):
                continue
            elif tag in ("p", "h"):
                quotes = attribute(child, "style-name") in self._quoting_styles
                yield TextBlock(text=self._paragraph(child), tight=tight, quotation=quotes)
            elif tag == "table-row":
                cells = [
                    "\n".join(block.text for block in self._blocks(cell, tight=True))
                    for cell in child
                    if local_name(cell) == "table-cell"
                ]
                yield TextBlock(text="\t".join(cells), tight=True)
            else:
                yield from self._blocks(child, tight=tight or tag == "list")

    def _paragraph(self, element: Any) -> str:
        text = "".join(self._inline(element)).strip(" ")
        # Up to here, private characters stand for explicit spaces, breaks and tabs.
        return text.replace("\ue000", " ").replace("\ue001", "\n").replace("\ue002", "\t")

    def _inline(self, element: Any) -> Iterator[str]:
        yield self._visible(element.text)
        for child in element:
            tag = local_name(child)
            if tag in _CHANGES:
                yield self._change(child)
            elif self._inside or self._collect_aside(child):
                pass
            elif tag == "s":
                count = attribute(child, "c")
                yield "\ue000" * (min(int(count), 1000) if count.isdigit() else 1)
            elif tag == "line-break":
                yield "\ue001"
            elif tag == "tab":
                yield "\ue002"
            else:
                yield from self._inline(child)
            yield self._visible(child.tail)

    def _visible(self, text: str | None) -> str:
        return "" if self._inside or not text else _SPACE.sub(" ", text)

    def _change(self, element: Any) -> str:
        name = attribute(element, "change-id")
        tag = local_name(element)
        if tag == "change-start" and name in self._changes.added:
            self._inside.add(name)
        elif tag == "change-end":
            self._inside.discard(name)
        elif tag == "change" and not self._inside:
            return self._changes.removed.get(name, "")
        return ""

    # Content beside the body

    def _collect_aside(self, element: Any) -> bool:
        """Return whether an element is outside the body, and collect its text if so."""
        tag = local_name(element)
        if tag in _NO_WORDS:
            return True
        if attribute(element, "style-name") in self._hidden_styles or (
            tag == "section" and attribute(element, "display") == "none"
        ):
            self._hide(element)
            return True
        if tag in self._separate:
            self._separate[tag](element)
            return True
        if _is_drawing(element) and tag != "a":  # a link around a drawing, or around words
            self._draw(element)
            return True
        return False

    def _to(self, blocks: list[TextBlock], element: Any) -> None:
        blocks += self._blocks(element, tight=False)

    def _note(self, element: Any) -> None:
        for body in named(element, "note-body"):
            self._to(self._asides.notes, body)

    def _draw(self, element: Any) -> None:
        """Collect the text of a frame or shape, and the names of the objects in it."""
        if local_name(element) in _CAPTIONS:
            return
        self._to(self._asides.boxes, element)

    def _object(self, element: Any) -> None:
        target = unquote(attribute(element, "href"))
        if target and "://" not in target:
            self._asides.objects.append(posixpath.normpath(target.removeprefix("./")))
        self._to(self._asides.boxes, element)  # in flat files the object itself is here

    def _hide(self, element: Any) -> None:
        """Collect hidden text: the paragraphs below an element, or its own characters."""
        blocks = [TextBlock(text="".join(p.itertext())) for p in named(element, "p")]
        self._asides.hidden += blocks or [TextBlock(text="".join(element.itertext()))]

    def _hidden_field(self, element: Any) -> None:
        text = "".join(element.itertext()) or attribute(element, "string-value")
        self._asides.hidden.append(TextBlock(text=text))

    def _forms(self, element: Any) -> None:
        for control in element.iter():
            current_value = attribute(control, "current-value") or attribute(control, "value")
            label = attribute(control, "label")
            paragraphs = "".join(p.text or "" for p in control if local_name(p) == "p")
            self._asides.fields += [
                TextBlock(text=text) for text in (label, paragraphs or current_value) if text
            ]


def _is_drawing(element: Any) -> bool:
    return isinstance(element.tag, str) and element.tag.startswith(f"{{{_DRAWING}}}")

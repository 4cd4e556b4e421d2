"""Office documents: Word, OpenDocument, books, workbooks, presentations, RTF.

The XML is read directly: relationships that lead outside, pictures, macros, formulas and templates
are never touched, so that nothing outside can be asked for. Containers and XML are opened within
bounds.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from lxml import etree
from striprtf.striprtf import rtf_to_text

from pura.base.errors import InputError
from pura.documents.encodings import decode
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import (
    MAX_PACKED_ENTRIES,
    MAX_PARTS,
    MAX_TOTAL_CHARACTERS,
    MAX_UNPACKED_BYTES,
    ReadOptions,
    over,
)
from pura.documents.readers.html import visible
from pura.documents.readers.rows import MIN_WORDS
from pura.record.left_out import LeftOutKind
from pura.record.transforms import Transform
from pura.words.sentences import Sentence, sentence


class ZipContainer:
    """A zip container whose directory has been checked. Archives inside it are never opened."""

    def __init__(self, data: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        entries = self._zip.infolist()
        if len(entries) > MAX_PACKED_ENTRIES:
            raise over("limit.parts", most=MAX_PACKED_ENTRIES)
        _check_overlap(entries)
        self._entries = {entry.filename: entry for entry in entries}

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Unpack one entry, no further than the limit, whatever its header claims.

        Raises:
            InputError: Too large, or locked.
        """
        entry = self._entries[name]
        if entry.flag_bits & 1:
            raise locked()
        if entry.file_size > MAX_UNPACKED_BYTES:
            raise _bomb()
        with self._zip.open(entry) as file:
            data = file.read(MAX_UNPACKED_BYTES + 1)
        if len(data) > MAX_UNPACKED_BYTES:
            raise _bomb()
        return data

    def xml(self, name: str) -> Any:
        """Return the root of an entry's XML; see :func:`parse`."""
        return parse(self.read(name))

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return what an entry of an Office package refers to inside it, by identifier.

        Returns:
            The last word of the relation's type, and the entry's name. What lies outside the
            package, or is not in it, is left out.
        """
        folder, file = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        if relations not in self:
            return {}
        found = {}
        for relation in self.xml(relations):
            target = posixpath.normpath(posixpath.join(folder, relation.get("Target", "")))
            target = target.lstrip("/")
            if relation.get("TargetMode") != "External" and target in self:
                kind = relation.get("Type", "").rpartition("/")[2]
                found[relation.get("Id", "")] = (kind, target)
        return found


def parse(data: bytes) -> Any:
    """Parse XML without declarations, entities, other files or network.

    Raises:
        InputError: It declares a document type, or is nested too deeply.
    """
    # Office programs never write one; every entity attack needs one. UTF-16 is seen through.
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"<!DOCTYPE" in data.replace(b"\x00", b""):
        raise InputError("input.outside", code="input-outside")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        if "depth" in str(error).lower():
            raise over("limit.deep") from None
        raise


def locked() -> InputError:
    """Return the refusal of a file that needs a password."""
    return InputError("packed.locked", code="input-encrypted")


def _check_overlap(entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that share packed bytes: so a small file unpacks to petabytes."""
    end = 0
    for entry in sorted(entries, key=lambda e: e.header_offset):
        if entry.header_offset < end:
            raise InputError("packed.overlap", code="input-damaged")
        end = entry.header_offset + 30 + entry.compress_size


def _bomb() -> InputError:
    return over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace; versions of a format differ in it."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def named(root: Any, name: str) -> Iterator[Any]:
    """Yield the elements below one, and itself, that have a name without its namespace."""
    return (element for element in root.iter() if local_name(element) == name)


def attribute(element: Any, name: str) -> str:
    """Return an attribute by its name without namespace; empty where it is not there."""
    return next((str(v) for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """One paragraph, list item or table row.

    Attributes:
        text: Its characters; may be empty.
        tight: It belongs on the line after a tight block before it, without a blank line (list
            items, table rows).
    """

    text: str
    tight: bool = False


def extract(
    blocks: Sequence[TextBlock],
    part: str = "",
    role: str = MAIN,
    *,
    kind: LeftOutKind | None = None,
    dropped: tuple[Transform, ...] = (),
    notes: tuple[Sentence, ...] = (),
    begun: Sequence[int] = (),
) -> Extract:
    """Return blocks as one text of a file.

    Args:
        blocks: In reading order.
        part: Which part of the file it is.
        role: Whether it is audited, as of an :class:`Extract`.
        kind: What it is, where it holds words beside the main text.
        dropped: What was left out of the blocks.
        notes: What is uncertain.
        begun: The blocks with which pages begin.
    """
    text, joined, starts = join(blocks)
    pages = tuple((*starts, len(text))[first] for first in begun)
    return Extract(
        text=text,
        part=part,
        role=role,
        kind=kind,
        transforms=(*joined, *dropped),
        notes=notes,
        pages=pages,
    )


def join(blocks: Sequence[TextBlock]) -> tuple[str, tuple[Transform, ...], tuple[int, ...]]:
    """Join blocks as a plain-text writer would.

    Office formats do not say whether a paragraph break was one line end or two. Where the writer
    made empty paragraphs for blank lines, every break is one line end; where there are none,
    paragraphs are set apart by a blank line, as generated text usually has them.

    Returns:
        The text, what was done, and where each block begins, in characters.
    """
    full = [bool(block.text.strip()) for block in blocks]
    first = full.index(True) if any(full) else len(full)
    last = len(full) - 1 - full[::-1].index(True) if any(full) else -1
    spaced = not all(full[first : last + 1])
    pieces: list[str] = []
    starts: list[int] = []
    blank = length = 0
    for n, block in enumerate(blocks):
        if first < n <= last:
            single = spaced or (blocks[n - 1].tight and block.tight)
            blank += not single
            pieces.append("\n" if single else "\n\n")
            length += len(pieces[-1])
        starts.append(length)
        if full[n]:
            pieces.append(block.text)
            length += len(block.text)
    done = (Transform(name="paragraph-breaks", count=blank),) if blank else ()
    return "".join(pieces), done, tuple(starts)


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
    package = ZipContainer(data)
    name = "word/document.xml" if "word/document.xml" in package else "word/document2.xml"
    root = package.xml(name)
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
        if f"word/{part}.xml" in package:
            apart([package.xml(f"word/{part}.xml")], part, LeftOutKind.NOTE)
    boxes = named(root, "txbxContent")
    boxed = (box for box in boxes if not _in_fallback(box))
    apart(boxed, "text boxes", LeftOutKind.TEXT_BOX)
    if "word/comments.xml" in package:
        comments = named(package.xml("word/comments.xml"), "comment")
        apart(comments, "comments", LeftOutKind.COMMENT)
    repeated = [
        package.xml(name)
        for kind, name in package.related("word/document.xml").values()
        if kind in ("header", "footer")
    ]
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
    package = ZipContainer(data)
    manifest = "META-INF/manifest.xml"
    if manifest in package and b"encryption-data" in package.read(manifest):
        raise locked()
    root = package.xml("content.xml")
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


def read_epub(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the chapters of a book in their order, as one text."""
    package = ZipContainer(data)
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


_PPTX_SIGNS: Final = {"br": "\n", "tab": "\t"}
_FURNITURE: Final = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Places of a slide that hold its number, the date, and what stands on every slide."""


def read_pptx(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return slides and notes, together as main parts, one by one as alternatives."""
    package = ZipContainer(data)
    show = "ppt/presentation.xml"
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


def read_xlsx(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the sheets that show as main parts, the hidden ones, cells and comments apart."""
    package = ZipContainer(data)
    book = "xl/workbook.xml"
    related = package.related(book)
    strings = [
        "".join(_texts(item))
        for kind, name in related.values()
        if kind == "sharedStrings"
        for item in named(package.xml(name), "si")
    ]
    shown: list[Extract] = []
    apart: list[Extract] = []
    for sheet in named(package.xml(book), "sheet"):
        _, target = related.get(attribute(sheet, "id"), ("", ""))
        if not target:
            continue
        part = f"sheet {sheet.get('name', '')}"
        visible = sheet.get("state", "visible") == "visible"
        rows, others = _rows(package.xml(target), strings)
        text = "\n".join("\t".join(cell for _, cell in row) for row in rows)
        if not text.strip():
            continue
        notes = (sentence("left-out.number-cells", n=others),) if others else ()
        if visible:
            shown.append(Extract(text=text, part=part, kind=LeftOutKind.SHEET, notes=notes))
        else:
            apart.append(
                Extract(
                    text=text,
                    part=f"{part} (hidden)",
                    role=ALTERNATIVE,
                    kind=LeftOutKind.SHEET,
                    notes=notes,
                )
            )
        cells = [
            (place, cell) for row in rows for place, cell in row if len(cell.split()) >= MIN_WORDS
        ]
        if len(apart) + len(cells) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
        apart += [
            Extract(text=cell, part=f"{part}, cell {place}", role=ALTERNATIVE)
            for place, cell in cells
        ]
        for kind, name in package.related(target).values():
            if kind == "comments":
                said = ["".join(_texts(e)) for e in named(package.xml(name), "comment")]
                name = f"{part}, comments"
                apart.append(
                    Extract(
                        text="\n\n".join(said),
                        part=name,
                        role=ALTERNATIVE,
                        kind=LeftOutKind.COMMENT,
                    )
                )
    return [*shown, *apart]


def _texts(element: Any) -> Iterator[str]:
    """Yield the text of a cell or comment, without the readings of Japanese words above it."""
    for child in element:
        match local_name(child):
            case "t":
                yield child.text or ""
            case "rPh" | "phoneticPr":
                continue
            case _:
                yield from _texts(child)


def _rows(root: Any, strings: list[str]) -> tuple[list[list[tuple[str, str]]], int]:
    """Return the texts of each row, with their places, and how many cells hold none."""
    rows: list[list[tuple[str, str]]] = []
    others = size = 0
    for row in named(root, "row"):
        found: list[tuple[str, str]] = []
        for cell in (e for e in row if local_name(e) == "c"):
            text = _text(cell, strings)
            if text is None:
                others += 1
            elif text.strip():
                # A text that stands once in the file may be asked for in a million cells.
                size += len(text)
                if size > MAX_TOTAL_CHARACTERS:
                    raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)
                found.append((cell.get("r", ""), text))
        if found:
            rows.append(found)
    return rows, others


def _text(cell: Any, strings: list[str]) -> str | None:
    """Return the text of a cell, empty where there is nothing; None where it holds a number."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_texts(cell))
    value = next((e.text or "" for e in cell if local_name(e) == "v"), None)
    if value is None:
        return ""
    if kind == "str":  # of a formula, as it was worked out last
        return value
    if kind != "s":
        return None
    number = int(value)
    return strings[number] if 0 <= number < len(strings) else ""


_MAX_RTF: Final = 16 << 20
_BINARY: Final = re.compile(rb"\\bin(\d{1,9}) ?")
_PICTURE: Final = re.compile(rb"(?<=[\r\n ])[0-9a-fA-F\r\n]{512,}")


def read_rtf(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text; pictures and fields' codes are left out."""
    data = _PICTURE.sub(b"", _without_binary(data))
    if len(data) > _MAX_RTF:
        raise over("limit.file", mebibytes=_MAX_RTF >> 20)
    # RTF is ASCII; other bytes are of the code page that it names, like its \'xx escapes.
    source = re.sub(rb"[\x80-\xff]", lambda m: b"\\'%02x" % m[0][0], data).decode("ascii")
    text: str = rtf_to_text(  # type: ignore[no-untyped-call]
        source, encoding=options.encoding or "cp1252", errors="replace"
    )
    damaged = text.count("\ufffd")
    notes = (sentence("left-out.characters", n=damaged),) if damaged else ()
    blocks = [TextBlock(text=line) for line in text.replace("\x00", "").split("\n")]
    return [extract(blocks, notes=notes)]


def _without_binary(data: bytes) -> bytes:
    """Cut raw binary data out, whose bytes may look like braces."""
    out: list[bytes] = []
    at = 0
    while found := _BINARY.search(data, at):
        out.append(data[at : found.start()])
        at = found.end() + int(found[1])
    out.append(data[at:])
    return b"".join(out)

"""Workbooks: the texts of cells, sheet by sheet, and further content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import MAX_PARTS, MAX_TOTAL_CHARACTERS, ReadOptions, over
from pura.documents.readers.blocks import MIN_WORDS, TextBlock, extract_apart
from pura.documents.readers.drawings import drawing_texts, embedded_documents, texts_of_drawings
from pura.documents.readers.packages import Package, attribute, local_name, named, open_package
from pura.record.left_out import LeftOutKind
from pura.words.sentences import sentence

_HEADERS: Final = tuple(
    f"{page_kind}{end}" for end in ("Header", "Footer") for page_kind in ("odd", "even", "first")
)


def read_xlsx(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return visible sheets as main parts; hidden sheets, cells and the rest as further parts."""
    package = open_package(file_bytes)
    book = package.main_part("xl/workbook.xml")
    related = package.related(book)
    strings = _SharedStrings(
        [
            "".join(_texts(item))
            for kind, name in related.values()
            if kind == "sharedStrings"
            for item in named(package.xml(name), "si")
        ]
    )
    visible_sheets: list[Extract] = []
    separate_extracts: list[Extract] = []
    holders = [book]  # parts that may have drawings and embedded documents
    for sheet in named(package.xml(book), "sheet"):
        _, target = related.get(attribute(sheet, "id"), ("", ""))
        if not target:
            continue
        part = f"sheet {sheet.get('name', '')}"
        drawings = package.related_as(target, "drawing")
        holders += [target, *drawings]
        cells = _read_sheet(package.xml(target), strings)
        notes = (sentence("left-out.number-cells", n=cells.others),) if cells.others else ()
        if cells.text.strip():
            is_shown = sheet.get("state", "visible") == "visible"
            extract = Extract(
                text=cells.text,
                part=part if is_shown else f"{part} (hidden)",
                role=MAIN if is_shown else ALTERNATIVE,
                kind=LeftOutKind.SHEET,
                notes=notes,
            )
            (visible_sheets if is_shown else separate_extracts).append(extract)
        texts = [cell for cell in cells.all() if len(cell.text.split()) >= MIN_WORDS]
        if len(separate_extracts) + len(texts) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
        separate_extracts += [
            Extract(text=cell.text, part=f"{part}, cell {cell.reference}", role=ALTERNATIVE)
            for cell in texts
        ]
        separate_extracts += _beside(package, target, drawings, part, cells.headers)
    separate_extracts += extract_apart(
        [TextBlock(text=text, tight=True) for text in strings.unused()],
        "texts of no cell",
        LeftOutKind.HIDDEN_TEXT,
    )
    separate_extracts += texts_of_drawings(package, holders)
    separate_extracts += package.properties()
    separate_extracts += embedded_documents(package, holders)
    return [*visible_sheets, *separate_extracts]


def _beside(
    package: Package, target: str, drawings: list[str], part: str, headers: list[str]
) -> Iterator[Extract]:
    """Yield comments, text boxes, headers and footers of one sheet."""
    comments = [
        TextBlock(text="".join(_texts(comment)))
        for name in package.related_as(target, "comments")
        for comment in named(package.xml(name), "comment")
    ]
    yield from extract_apart(comments, f"{part}, comments", LeftOutKind.COMMENT)
    boxes = [
        TextBlock(text=text)
        for name in drawings
        for body in named(package.xml(name), "txBody")
        for text in drawing_texts(body)
    ]
    yield from extract_apart(boxes, f"{part}, text boxes", LeftOutKind.TEXT_BOX)
    lines = [TextBlock(text=text) for text in headers]
    yield from extract_apart(lines, f"{part}, headers and footers", LeftOutKind.HEADER)


class _SharedStrings:
    """The texts that cells refer to by number; some programs leave unused texts."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._used: set[int] = set()

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < len(self._texts):
            return ""
        self._used.add(number)
        return self._texts[number]

    def unused(self) -> list[str]:
        """Return the texts that no cell refers to."""
        return [text for number, text in enumerate(self._texts) if number not in self._used]


@dataclass(frozen=True, kw_only=True)
class _TextCell:
    """A cell with text; ``reference`` is its name, such as B7."""

    reference: str
    text: str


@dataclass(kw_only=True)
class _WorkbookSheet:
    """The content of a sheet.

    Attributes:
        rows: Cells with text, row by row.
        others: Number of other cells.
        headers: Headers and footers of the printed pages.
    """

    rows: list[list[_TextCell]] = field(default_factory=list)
    others: int = 0
    headers: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The sheet as one text."""
        return "\n".join("\t".join(cell.text for cell in row) for row in self.rows)

    def all(self) -> Iterator[_TextCell]:
        """Yield all cells with text."""
        return (cell for row in self.rows for cell in row)


def _texts(element: Any) -> Iterator[str]:
    """Yield the text of a cell or comment, without the readings of Japanese words."""
    for child in element:
        match local_name(child):
            case "t":
                yield child.text or ""
            case "rPh" | "phoneticPr":
                continue
            case _:
                yield from _texts(child)


def _read_sheet(root: Any, strings: _SharedStrings) -> _WorkbookSheet:
    sheet = _WorkbookSheet()
    size = 0
    for row in named(root, "row"):
        cells: list[_TextCell] = []
        for cell in (child for child in row if local_name(child) == "c"):
            text = _text(cell, strings)
            if text is None:
                sheet.others += 1
            elif text.strip():
                # A million cells may refer to one text of the file.
                size += len(text)
                if size > MAX_TOTAL_CHARACTERS:
                    raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)
                cells.append(_TextCell(reference=cell.get("r", ""), text=text))
        if cells:
            sheet.rows.append(cells)
    for element in root.iter():
        if local_name(element) in _HEADERS and element.text:
            sheet.headers.append(element.text)
    return sheet


def _text(cell: Any, strings: _SharedStrings) -> str | None:
    """Return the text of a cell, empty for an empty cell; None for a number."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_texts(cell))
    stored = next((child.text or "" for child in cell if local_name(child) == "v"), None)
    if stored is None:
        return ""
    if kind == "str":  # the last result of a formula
        return stored
    return strings[int(stored)] if kind == "s" else None

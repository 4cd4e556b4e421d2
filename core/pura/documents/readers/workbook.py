"""Workbooks: the texts of cells, sheet by sheet; their comments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import (
    MAX_PARTS,
    MAX_TOTAL_CHARACTERS,
    ReadOptions,
    over,
)
from pura.documents.readers.packages import attribute, local_name, named, open_package
from pura.documents.readers.rows import MIN_WORDS
from pura.record.left_out import LeftOutKind
from pura.words.sentences import sentence


def read_xlsx(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the sheets that show as main parts, the hidden ones, cells and comments apart."""
    package = open_package(data)
    book = package.main_part("xl/workbook.xml")
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

"""PDF: joining pieces of pages to columns, lines and paragraphs, without running headers."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from statistics import median
from typing import Final, TypeAlias
from unicodedata import bidirectional

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pura.documents.extraction import Extract
from pura.documents.formats import (
    LIGATURES,
    MAX_PAGES,
    MAX_TOTAL_CHARACTERS,
    ReadOptions,
    over,
    truncated,
)
from pura.documents.readers.packages import locked
from pura.documents.readers.pdf_beside import PdfBeside
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.transforms import Transform
from pura.words.sentences import sentence

_EDGE: Final = 2  # lines at either end of a page that may be a header or a footer
_SHARE: Final = 0.4  # of the pages; headers of left and right pages differ
_MARGIN: Final = 0.07  # of the height: 2 cm of A4, where office programs put no text
_SHORT: Final = 8  # words of a header that is on one page only
_NUMBER: Final = re.compile(
    r"[-–— ]*(page |seite |p\. ?)?\d{1,4}( ?(/|of|von) ?\d{1,4})?[-–— ]*", re.IGNORECASE
)
_WORD_END: Final = re.compile(r"[^\W\d_]+$")
_WORD_START: Final = re.compile(r"^[^\W\d_]+")


Boxes: TypeAlias = "array[int]"
"""uint16 [4 N]: left, top, right and bottom of each character in units of 1/:data:`SPAN` of its
displayed page; four zeros if the position is unknown."""
SPAN: Final = 0xFFFF
PointMap: TypeAlias = Callable[[float, float], tuple[float, float]]
"""Converts a position in points, from the lower left corner, to shares of the displayed page."""


def _no_boxes() -> Boxes:
    return array("H")


@dataclass(frozen=True, kw_only=True)
class PdfLine:
    """One line of a page; lengths in points, from the lower left corner.

    Attributes:
        text: Text without a hyphen at the line end.
        left: Left edge of the first character.
        right: Right edge of the last character.
        bottom: Lower edge of the em box.
        top: Upper edge of the em box.
        size: Font size.
        first_word: Width of the first word.
        page_height: Height of the page.
        hyphen: The line ended with a hyphen.
        boxes: Four numbers for each character that is not a blank, including a hyphen at the end,
            as in :data:`Boxes`; empty unless requested.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    first_word: float
    page_height: float
    hyphen: bool
    boxes: Boxes = field(default_factory=_no_boxes)


@dataclass(frozen=True, kw_only=True)
class AssembledPages:
    """The lines of all pages as one text.

    Attributes:
        text: The text without repeated headers and footers.
        transforms: Transforms of the lines.
        starts: Start of each page in the text, in characters.
        boxes: Boxes of all characters that are not blanks.
        running: Headers and footers, each once.
    """

    text: str
    transforms: list[Transform]
    starts: list[int]
    boxes: Boxes
    running: list[str]


def assemble(pages: list[list[PdfLine]]) -> AssembledPages:
    """Join the lines of pages, each in reading order."""
    pages, dropped = _without_running(pages)
    lines = [line for page in pages for line in page]
    joiner = _Joiner(lines)
    text, starts = joiner.join(pages)
    unsure = (sentence("changed.ambiguous", n=joiner.ambiguous),) if joiner.ambiguous else ()
    transforms = (
        Transform(name="headers-removed", count=len(dropped)),
        Transform(name="line-ends-joined", count=joiner.joined),
        Transform(name="hyphens-joined", count=joiner.hyphens, note=unsure),
    )
    return AssembledPages(
        text=text,
        transforms=[transform for transform in transforms if transform.count],
        starts=starts,
        boxes=joiner.boxes,
        running=list(dict.fromkeys(line.text for line in dropped if not _is_number(line))),
    )


def _without_running(pages: list[list[PdfLine]]) -> tuple[list[list[PdfLine]], list[PdfLine]]:
    """Remove lines that occur with the same words at the same height of many pages.

    Returns:
        The pages without these lines, and the lines.
    """
    counts: Counter[tuple[str, int]] = Counter()
    for page in pages:
        counts.update({_signature(line) for line in _edges(page)})
    least_pages = max(2, _SHARE * len(pages))
    dropped: list[PdfLine] = []
    remaining = []
    for page in pages:
        edges = _edges(page)
        dropped_ids = {id(line) for line in edges if counts[_signature(line)] >= least_pages}
        dropped_ids |= {id(line) for line in edges if _is_number(line)}
        dropped_ids |= {id(line) for line in _in_margin(page)}
        dropped += [line for line in page if id(line) in dropped_ids]
        remaining.append([line for line in page if id(line) not in dropped_ids])
    return remaining, dropped


def _edges(page: list[PdfLine]) -> list[PdfLine]:
    ordered = sorted(page, key=lambda line: -line.top)
    if len(ordered) <= 2 * _EDGE:
        return ordered
    return ordered[:_EDGE] + ordered[-_EDGE:]


def _in_margin(page: list[PdfLine]) -> list[PdfLine]:
    """Return first and last lines that are isolated in the margin of a single page.

    Titles are larger than the text, so they are kept.
    """
    ordered = sorted(page, key=lambda line: -line.top)
    if len(ordered) < 3:
        return []
    size = median(line.size for line in page)
    marginal = []
    for line, inner, outside in (
        (ordered[0], ordered[1], ordered[0].bottom > (1 - _MARGIN) * ordered[0].page_height),
        (ordered[-1], ordered[-2], ordered[-1].top < _MARGIN * ordered[-1].page_height),
    ):
        is_distant = abs(line.bottom - inner.bottom) > 2.2 * size
        short = len(line.text.split()) <= _SHORT and not line.hyphen
        if outside and is_distant and short and line.size < 1.1 * size:
            marginal.append(line)
    return marginal


def _signature(line: PdfLine) -> tuple[str, int]:
    return re.sub(r"\d+", "#", line.text), round(line.bottom / 3)


def _is_number(line: PdfLine) -> bool:
    middle = (line.bottom + line.top) / 2
    outside = middle < 0.12 * line.page_height or middle > 0.9 * line.page_height
    return outside and not line.hyphen and _NUMBER.fullmatch(line.text) is not None


class _Joiner:
    """Joins lines, and counts its changes."""

    def __init__(self, lines: list[PdfLine]) -> None:
        self.joined = self.hyphens = self.ambiguous = 0
        self.boxes = _no_boxes()
        spellings = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", " ".join(x.text for x in lines))
        self._words = {word.lower() for word in spellings}

    def join(self, pages: list[list[PdfLine]]) -> tuple[str, list[int]]:
        """Return the text of pages, and the start of each; for an empty page that of the next."""
        out: list[str] = []
        first: list[int] = []  # of each page, among the pieces
        before: PdfLine | None = None
        for page in pages:
            first.append(len(out) + (before is not None))
            step = _usual_step(page)
            right = _right_edges(page)
            for line in page:
                if before is not None:
                    gap = self._between(before, line, step, right)
                    out.append(self._hyphen(before, line) if before.hyphen else gap)
                    if before.hyphen and not out[-1]:
                        del self.boxes[-4:]
                out.append(line.text)
                self.boxes += line.boxes
                before = line
        if before is not None and before.hyphen:
            out.append("-")
        ends = [0, *accumulate(map(len, out))]
        return "".join(out), [ends[min(index, len(out))] for index in first]

    def _between(self, before: PdfLine, line: PdfLine, step: float, right: dict[int, float]) -> str:
        if before.hyphen:
            return ""
        edge = right.get(_column(before), before.right)
        spare = edge - before.right
        fitted = spare > line.first_word + line.size
        distance = before.bottom - line.bottom
        if distance < 0.2 * line.size:  # a new column, a new page, or the same line
            if abs(distance) <= 0.2 * line.size:
                return " "
            ended = before.text.endswith((".", "!", "?", "”", '"', ":")) and fitted
            return "\n\n" if ended else self._soft()
        sized = abs(before.size - line.size) > 0.15 * line.size
        if distance > 1.3 * step or sized:
            return "\n\n"
        indented = line.left - before.left > 0.8 * line.size
        if indented and (fitted or before.text.endswith((".", "!", "?", "”"))):
            return "\n\n"
        return "\n" if fitted else self._soft()

    def _soft(self) -> str:
        self.joined += 1
        return " "

    def _hyphen(self, before: PdfLine, line: PdfLine) -> str:
        """Return the hyphen at a line end if it belongs to the word, else an empty string.

        The spelling elsewhere in the text decides. Otherwise, lower-case parts are joined and
        counted as ambiguous; all other words keep their hyphen.
        """
        self.joined += 1
        self.hyphens += 1
        head, tail = _WORD_END.search(before.text), _WORD_START.search(line.text)
        if head is None or tail is None:
            return "-"
        first, second = head[0].lower(), tail[0].lower()
        if first + second in self._words:
            return ""
        if f"{first}-{second}" in self._words:
            return "-"
        if not tail[0][0].islower():
            return "-"
        self.ambiguous += 1
        return ""


def _column(line: PdfLine) -> int:
    return round(line.left / 24)


def _right_edges(page: list[PdfLine]) -> dict[int, float]:
    """Return the right edge of each column; columns are identified by their left edge."""
    edges: dict[int, float] = {}
    for line in page:
        edges[_column(line)] = max(edges.get(_column(line), 0.0), line.right)
    return edges


def _usual_step(page: list[PdfLine]) -> float:
    """Return the usual distance from line to line."""
    steps = [
        a.bottom - b.bottom
        for a, b in pairwise(page)
        if 0.5 * b.size < a.bottom - b.bottom < 3 * b.size
    ]
    # The smaller half: on pages of short paragraphs most distances are paragraph breaks.
    steps.sort()
    return median(steps[: max(1, (len(steps) + 1) // 2)]) if steps else 1e9


Row = Sequence[PdfLine]

_UPWARD: Final = 2 / 3
"""Share of upward steps from line to line above which a page was drawn from its end; columns and
side notes cause fewer."""
_UPWARD_IN_ONE_COLUMN: Final = 0.2
"""The same share for a page with one column, where the order of the lines is certain."""
_SAME_COLUMN: Final = 0.9  # of the lines


def top_down(rows: list[list[PdfLine]]) -> list[list[PdfLine]]:
    """Sort rows from top to bottom, if they were drawn in another order.

    Some programs draw a page from its last line to its first, or in no order at all.

    Args:
        rows: The rows in the order of drawing.

    Returns:
        The sorted rows; the same list if its order is kept.
    """
    steps = [after[0].bottom - before[0].bottom for before, after in pairwise(rows)]
    sizes = [row[0].size for row in rows[1:]]
    moves = [step for step, size in zip(steps, sizes, strict=True) if abs(step) > 0.5 * size]
    if len(moves) < 2:
        return rows
    upward = sum(step > 0 for step in moves) / len(moves)
    if upward <= (_UPWARD_IN_ONE_COLUMN if _is_one_column(rows) else _UPWARD):
        return rows
    ordered = sorted(rows, key=lambda row: -row[0].bottom)
    lines = [ordered[0]]
    for row in ordered[1:]:
        if abs(row[0].bottom - lines[-1][0].bottom) < 0.5 * row[0].size:
            lines[-1] = _along_line([*lines[-1], *row])
        else:
            lines.append(row)
    return lines


def _is_one_column(rows: Sequence[Row]) -> bool:
    """Return whether nearly all rows overlap horizontally."""
    lefts = sorted(min(line.left for line in row) for row in rows)
    rights = sorted(max(line.right for line in row) for row in rows)
    quantile_index = int(_SAME_COLUMN * (len(rows) - 1))
    return lefts[quantile_index] < rights[len(rows) - 1 - quantile_index]


def _along_line(pieces: list[PdfLine]) -> list[PdfLine]:
    """Sort the pieces of one line in the reading direction of its script."""
    letters = "".join(piece.text for piece in pieces)
    is_leftward = sum(bidirectional(c) in ("R", "AL") for c in letters) * 2 > len(letters)
    return sorted(pieces, key=lambda piece: -piece.right if is_leftward else piece.left)


_ROWS: Final = 3  # least rows of columns; fewer are a heading or a form
_WORDS: Final = 3.0  # average words per piece in columns; tables of figures and labels have fewer


def in_order(rows: Sequence[Row]) -> tuple[list[PdfLine], int]:
    """Return the lines of a page in reading order.

    Args:
        rows: Pieces of the same height, from left to right.

    Returns:
        The lines, and the number of rows that were split into columns.
    """
    out: list[PdfLine] = []
    moved = start = 0
    while start < len(rows):
        end = _run(rows, start)
        block = rows[start:end]
        split = [row for row in block if len(row) > 1]
        if len(split) >= _ROWS and _wordy(split):
            lefts = [line.left for line in split[0]]
            columns: list[list[PdfLine]] = [[] for _ in lefts]
            for row in block:
                for line in row:
                    columns[_nearest(lefts, line.left)].append(line)
            out += [line for column in columns for line in column]
            moved += len(split)
        else:
            out += [_merged(row) for row in block]
        start = end
    return out, moved


def _run(rows: Sequence[Row], start: int) -> int:
    """Return the end of the rows that share the columns of the row at ``start``."""
    lefts = [line.left for line in rows[start]]
    end = start + 1
    if len(lefts) < 2:
        return end
    while end < len(rows) and _fits(rows[end], lefts):
        end += 1
    return end


def _fits(row: Row, lefts: list[float]) -> bool:
    for line in row:
        column = _nearest(lefts, line.left)
        if abs(line.left - lefts[column]) > 2 * line.size:
            return False
        if column + 1 < len(lefts) and line.right > lefts[column + 1]:
            return False
    return len(row) <= len(lefts)


def _nearest(lefts: list[float], left: float) -> int:
    return min(range(len(lefts)), key=lambda k: abs(lefts[k] - left))


def _wordy(rows: Sequence[Row]) -> bool:
    pieces = [len(line.text.split()) for row in rows for line in row]
    return sum(pieces) / len(pieces) >= _WORDS


def _merged(row: Row) -> PdfLine:
    """Join the pieces of a row to one line."""
    if len(row) == 1:
        return row[0]
    texts = [line.text + ("-" if line.hyphen else "") for line in row[:-1]]
    return replace(
        row[0],
        text=" ".join([*texts, row[-1].text]),
        right=row[-1].right,
        bottom=min(line.bottom for line in row),
        top=max(line.top for line in row),
        hyphen=row[-1].hyphen,
        boxes=sum((line.boxes for line in row), _no_boxes()),
    )


_TABLE: Final = {ord(sign): letters for sign, letters in LIGATURES.items()}
_WRONG_PASSWORD: Final = 4
_END_OF_FILE: Final = b"%%EOF"
_OBJECT: Final = b"endobj"
_HYPHENS: Final = ("\x02", "\ufffe")  # how pdfium gives one at the end of a line, soft or hard
_UNTOLD: Final = ("-", "\u00ad")
_FIRST_HALVES: Final = (0xD800, 0xDBFF)
_SECOND_HALVES: Final = (0xDC00, 0xDFFF)
_FINE, _STEP = 1 << 24, 1000.0  # pixels of a page, and points, over which its map is measured
_WIDE: Final = 1.5  # em; the widest space of justified text is narrower


def read_pdf(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text of all pages, and further parts such as fields, comments and attachments."""
    document = opened(file_bytes)
    with suppress(pdfium.PdfiumError):  # without forms, annotations of fields still have the text
        document.init_forms()
    asides = PdfBeside()
    extract, _ = read_pages(document, placed=False, asides=asides)
    if _is_cut_off(file_bytes):
        if not extract.text:
            raise truncated()
        extract = extract.cut_off()
    return [extract, *asides.extracts(document)]


def _is_cut_off(file_bytes: bytes) -> bool:
    """Return whether the end of a PDF is missing: the end mark follows the last object."""
    return file_bytes.rfind(_END_OF_FILE) < file_bytes.rfind(_OBJECT)


def opened(file_bytes: bytes) -> pdfium.PdfDocument:
    """Open a PDF.

    Raises:
        InputError: The file needs a password, is incomplete, or has too many pages.
    """
    try:
        document = pdfium.PdfDocument(file_bytes)
    except pdfium.PdfiumError:
        if raw.FPDF_GetLastError() == _WRONG_PASSWORD:
            raise locked() from None
        if _is_cut_off(file_bytes):
            raise truncated() from None
        raise
    if len(document) > MAX_PAGES:
        raise over("limit.parts", most=MAX_PAGES)
    return document


def read_pages(
    document: pdfium.PdfDocument, *, placed: bool, asides: PdfBeside | None = None
) -> tuple[Extract, Boxes]:
    """Return the text of all pages as one.

    Args:
        document: The PDF.
        placed: Also return the positions of characters.
        asides: Collects fields and annotations of the pages; None ignores them.

    Returns:
        The text, and the boxes of its characters that are not blanks, if requested.
    """
    pages: list[list[PdfLine]] = []
    unreadable: list[int] = []
    characters = columns = turned = 0
    for number in range(len(document)):
        try:
            page = document[number]
        except pdfium.PdfiumError:
            unreadable.append(number)
            continue
        drawn = _rows(page, _point_map(page) if placed else None)
        rows = top_down(drawn)
        turned += rows is not drawn
        lines, split = in_order(rows)
        columns += split
        if asides is not None:
            asides.add_page(page)
        page.close()
        characters += sum(len(line.text) for line in lines)
        if characters > MAX_TOTAL_CHARACTERS:
            raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)
        pages.append(lines)
    assembled = assemble(pages)
    transforms, boxes = assembled.transforms, assembled.boxes
    if placed:
        boxes = _with_ligatures(assembled.text, boxes)
    if asides is not None:
        asides.running = assembled.running
    text, ligatures, starts = _expand(assembled.text, assembled.starts)
    for number in unreadable:
        starts.insert(number, starts[number] if number < len(starts) else len(text))
    if turned:
        transforms.append(Transform(name="lines-ordered", count=turned))
    if columns:
        transforms.append(Transform(name="columns-ordered", count=columns))
    if ligatures:
        transforms.append(Transform(name="ligatures", count=ligatures))
    notes = [sentence("left-out.pdf")]
    if unreadable:
        notes.append(sentence("left-out.pages", n=len(unreadable)))
    left_out = tuple(
        LeftOut(kind=LeftOutKind.UNREADABLE, words=None, location=f"page {number + 1}")
        for number in unreadable
    )
    extract = Extract(
        text=text,
        transforms=tuple(transforms),
        notes=tuple(notes),
        left_out=left_out,
        pages=tuple(starts),
    )
    return extract, boxes


def _with_ligatures(text: str, boxes: Boxes) -> Boxes:
    """Give every letter of an expanded ligature the box of the ligature."""
    if not any(sign in text for sign in LIGATURES):
        return boxes
    expanded = _no_boxes()
    for number, sign in enumerate("".join(text.split())):
        expanded += boxes[4 * number : 4 * number + 4] * len(LIGATURES.get(sign, " "))
    return expanded


def _expand(text: str, starts: list[int]) -> tuple[str, int, list[int]]:
    """Write ligatures as letters, and shift the starts of pages accordingly."""
    count = sum(text.count(sign) for sign in LIGATURES)
    if not count:
        return text, 0, starts
    pieces = [text[a:b].translate(_TABLE) for a, b in pairwise([0, *starts, len(text)])]
    return "".join(pieces), count, list(accumulate(map(len, pieces[:-1])))


def _point_map(page: pdfium.PdfPage) -> PointMap:
    """Return the conversion to the displayed page: rotation, cropping and scaling in one."""

    def device_point(x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page.raw, 0, 0, _FINE, _FINE, 0, x, y, across, down)
        return across.value, down.value

    (x0, y0), (x1, y1), (x2, y2) = (
        device_point(0, 0),
        device_point(_STEP, 0),
        device_point(0, _STEP),
    )
    share = SPAN / _FINE
    ax, ay, bx, by = (v * share / _STEP for v in (x1 - x0, y1 - y0, x2 - x0, y2 - y0))
    left, top = x0 * share, y0 * share
    return lambda x, y: (left + ax * x + bx * y, top + ay * x + by * y)


def _rows(page: pdfium.PdfPage, map_point: PointMap | None) -> list[list[PdfLine]]:
    """Return the rows of a page in the order of drawing, split at wide gaps."""
    height = page.get_height()
    text = page.get_textpage()
    count = raw.FPDFText_CountChars(text.raw)
    rows: list[list[PdfLine]] = []
    row: list[PdfLine] = []
    signs: list[str] = []
    indices: list[int] = []
    for index in range(max(0, count) + 1):
        sign = "\n" if index == count else chr(raw.FPDFText_GetUnicode(text.raw, index))
        ends = sign in ("\r", "\n", *_HYPHENS)
        if not ends and not (sign == " " and indices and _gap(text, indices[-1], index, count)):
            if sign == "\x00":
                sign = "\ufffd"
            if not sign.isspace():
                indices.append(index)
            signs.append(sign)
            continue
        if indices:
            line_text = _whole("".join(signs))
            hyphen = sign in _HYPHENS
            box_indices = [*indices, index] if hyphen else indices
            # The parser recognises a hyphen by the next line; not at a gap or the end of a page.
            untold = not ends or index == count
            if untold and line_text.endswith(_UNTOLD) and line_text[-2:-1].isalpha():
                line_text, hyphen = line_text[:-1], True
            line = _line(text, line_text, indices, height, hyphen=hyphen)
            if map_point is not None:
                line = replace(line, boxes=_boxes(text, box_indices, map_point))
            row.append(line)
        signs, indices = [], []
        if ends and row:
            rows.append(row)
            row = []
    text.close()
    return rows


def _whole(text: str) -> str:
    """Join the halves of characters beyond the first plane, which pdfium returns separately."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _gap(text: pdfium.PdfTextPage, before: int, space: int, count: int) -> bool:
    """Return whether a space was generated for the distance between two columns."""
    if space + 1 >= count or raw.FPDFText_IsGenerated(text.raw, space) != 1:
        return False
    size = max(raw.FPDFText_GetFontSize(text.raw, before), 1.0)
    return bool(_box(text, space + 1)[0] - _box(text, before)[1] > _WIDE * size)


def _line(
    text: pdfium.PdfTextPage, line_text: str, indices: list[int], height: float, *, hyphen: bool
) -> PdfLine:
    left, _, bottom, top = _box(text, indices[0])
    _, right, last_bottom, last_top = _box(text, indices[-1])
    size = raw.FPDFText_GetFontSize(text.raw, indices[0]) or 0.0
    # The end of the first word shows whether it would have fitted on the previous line.
    first = min(len(line_text.split(maxsplit=1)[0]), len(indices)) - 1
    word_right = _box(text, indices[first])[1]
    return PdfLine(
        text=" ".join(line_text.split()) if "\t" in line_text else line_text.strip(),
        left=left,
        right=right,
        bottom=min(bottom, last_bottom),
        top=max(top, last_top),
        size=max(size, 1.0),
        first_word=word_right - left,
        page_height=height,
        hyphen=hyphen,
    )


def _boxes(text: pdfium.PdfTextPage, indices: list[int], map_point: PointMap) -> Boxes:
    """Return the boxes of characters; two halves of one character have one box."""
    boxes, after_first_half = _no_boxes(), False
    for index in indices:
        unit = raw.FPDFText_GetUnicode(text.raw, index)
        if after_first_half and _SECOND_HALVES[0] <= unit <= _SECOND_HALVES[1]:
            after_first_half = False
            continue
        after_first_half = _FIRST_HALVES[0] <= unit <= _FIRST_HALVES[1]
        left, right, bottom, top = _box(text, index)
        if left == right or bottom == top:
            boxes.extend((0, 0, 0, 0))
            continue
        (x0, y0), (x1, y1) = map_point(left, top), map_point(right, bottom)
        edges = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        boxes.extend(min(SPAN, max(0, round(edge))) for edge in edges)
    return boxes


def _box(text: pdfium.PdfTextPage, index: int) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top of a character's em box, in points."""
    box = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text.raw, index, ctypes.byref(box)):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.right, box.bottom, box.top

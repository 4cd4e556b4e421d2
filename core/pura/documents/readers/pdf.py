"""PDF: lines are put together to paragraphs again, and what the page adds is taken away.

A PDF holds placed glyphs, not a text, so the text is always a reconstruction; every step that
changes characters is counted.
"""

from __future__ import annotations

import ctypes
from itertools import accumulate, pairwise
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pura.documents.limits import MAX_PAGES, MAX_TOTAL_CHARACTERS, over
from pura.documents.readers.packed import locked
from pura.documents.readers.pdf_columns import in_order
from pura.documents.readers.pdf_lines import PdfLine, assemble
from pura.documents.values import Extract, ReadOptions
from pura.record.transform import Transform
from pura.words.sentence import sentence

_LIGATURES: Final = {
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
}
_TABLE: Final = {ord(sign): letters for sign, letters in _LIGATURES.items()}
_WRONG_PASSWORD: Final = 4
_HYPHENS: Final = ("\x02", "\ufffe")  # how pdfium gives one at the end of a line, soft or hard
_WIDE: Final = 1.5  # em; the widest space of justified text is narrower


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text of all pages as one; empty when the pages hold pictures only."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError:
        if raw.FPDF_GetLastError() == _WRONG_PASSWORD:
            raise locked() from None
        raise
    if len(document) > MAX_PAGES:
        raise over("limit.parts", most=MAX_PAGES)
    pages: list[list[PdfLine]] = []
    unreadable: list[int] = []
    characters = columns = 0
    for number in range(len(document)):
        try:
            page = document[number]
        except pdfium.PdfiumError:
            unreadable.append(number)
            continue
        lines, rows = in_order(_rows(page))
        columns += rows
        page.close()
        characters += sum(len(line.text) for line in lines)
        if characters > MAX_TOTAL_CHARACTERS:
            raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)
        pages.append(lines)
    text, transforms, starts = assemble(pages)
    text, ligatures, starts = _expand(text, starts)
    for number in unreadable:
        starts.insert(number, starts[number] if number < len(starts) else len(text))
    if not text.strip():
        return []
    if columns:
        transforms.append(Transform(name="columns-ordered", count=columns))
    if ligatures:
        transforms.append(Transform(name="ligatures", count=ligatures))
    notes = [sentence("left-out.pdf")]
    if unreadable:
        notes.append(sentence("left-out.pages", n=len(unreadable)))
    return [
        Extract(text=text, transforms=tuple(transforms), notes=tuple(notes), pages=tuple(starts))
    ]


def _expand(text: str, starts: list[int]) -> tuple[str, int, list[int]]:
    """Write ligatures as letters; where pages begin moves with what stands before."""
    count = sum(text.count(sign) for sign in _LIGATURES)
    if not count:
        return text, 0, starts
    pieces = [text[a:b].translate(_TABLE) for a, b in pairwise([0, *starts, len(text)])]
    return "".join(pieces), count, list(accumulate(map(len, pieces[:-1])))


def _rows(page: pdfium.PdfPage) -> list[list[PdfLine]]:
    """Return the lines of a page in the order of the page, cut where they leave a wide gap."""
    height = page.get_height()
    text = page.get_textpage()
    count = raw.FPDFText_CountChars(text.raw)
    rows: list[list[PdfLine]] = []
    row: list[PdfLine] = []
    signs: list[str] = []
    where: list[int] = []
    for index in range(max(0, count) + 1):
        sign = "\n" if index == count else chr(raw.FPDFText_GetUnicode(text.raw, index))
        ends = sign in ("\r", "\n", *_HYPHENS)
        if not ends and not (sign == " " and where and _gap(text, where[-1], index, count)):
            if sign == "\x00":
                sign = "\ufffd"
            if not sign.isspace():
                where.append(index)
            signs.append(sign)
            continue
        if where:
            words = _whole("".join(signs))
            hyphen = sign in _HYPHENS
            if not ends and words.endswith("-") and words[-2:-1].isalpha():
                words, hyphen = words[:-1], True
            row.append(_line(text, words, where, height, hyphen=hyphen))
        signs, where = [], []
        if ends and row:
            rows.append(row)
            row = []
    text.close()
    return rows


def _whole(words: str) -> str:
    """Put characters beyond the first plane together, which pdfium gives in halves."""
    if words.isascii():
        return words
    return words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _gap(text: pdfium.PdfTextPage, before: int, space: int, count: int) -> bool:
    """Whether a space is not one of the text but the distance between two columns."""
    if space + 1 >= count or raw.FPDFText_IsGenerated(text.raw, space) != 1:
        return False
    size = max(raw.FPDFText_GetFontSize(text.raw, before), 1.0)
    return bool(_box(text, space + 1)[0] - _box(text, before)[1] > _WIDE * size)


def _line(
    text: pdfium.PdfTextPage, words: str, where: list[int], height: float, *, hyphen: bool
) -> PdfLine:
    left, _, bottom, top = _box(text, where[0])
    _, right, last_bottom, last_top = _box(text, where[-1])
    size = raw.FPDFText_GetFontSize(text.raw, where[0]) or 0.0
    # The end of the first word, to know what would have fitted on the line before.
    first = min(len(words.split(maxsplit=1)[0]), len(where)) - 1
    word_right = _box(text, where[first])[1]
    return PdfLine(
        text=" ".join(words.split()) if "\t" in words else words.strip(),
        left=left,
        right=right,
        bottom=min(bottom, last_bottom),
        top=max(top, last_top),
        size=max(size, 1.0),
        first_word=word_right - left,
        page_height=height,
        hyphen=hyphen,
    )


def _box(text: pdfium.PdfTextPage, index: int) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top of a character's em box, in points."""
    box = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text.raw, index, ctypes.byref(box)):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.right, box.bottom, box.top

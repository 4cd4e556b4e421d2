"""Pictures of text, read by Tesseract where it is installed.

A PDF without text is drawn page by page in the sandboxed child (:mod:`.pages`); a picture goes to
Tesseract as it is. Tesseract runs in a confined child of its own (:mod:`.ocr_child`) and answers
with words and their boxes, of which lines and paragraphs are made as of a PDF's own words. What it
read, with which languages, and how sure it was stands in the record.
"""

from __future__ import annotations

import json
import locale
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.base.catalogue import phrase
from pura.base.errors import InputError, os_error_as
from pura.base.process import NOT_SHUT_STATUS, converse, start_child
from pura.base.progress import Checkpoint, never_cancelled
from pura.documents.extraction import Extract
from pura.documents.formats import FORMATS, damaged
from pura.documents.pages import MAX_PIXELS, Pages
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.transforms import Transform
from pura.words.sentences import sentence

if TYPE_CHECKING:
    from pura.documents.readers.pdf import PdfLine

RECOGNISED: Final = "text-recognised"
"""Name of what was done to a text that was read from pictures."""
MAX_PAGES: Final = 200
"""Pages of one file that are read; further ones are listed."""
_DPI: Final = 300
"""Resolution at which pages are drawn; Tesseract's networks are trained on letters of that size."""
_POINTS: Final = 72
_A4_WIDTH: Final = 595.0  # points; a picture says nothing reliable about its size
_WALL_SECONDS: Final = 180.0
_MAX_ANSWER_BYTES: Final = 16 << 20
_UNSURE: Final = 60.0
"""Confidence, in per cent, below which Tesseract's own programs mark a word as doubtful."""
_MOST_LANGUAGES: Final = 3  # each further one takes as long as the first
_NO_LANGUAGES: Final = ("osd", "equ", "snum")
"""Data of Tesseract's that are no languages."""
_LANGUAGE_NAMES: Final = {
    "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng",
    "es": "spa", "et": "est", "fi": "fin", "fr": "fra", "he": "heb", "hr": "hrv", "hu": "hun",
    "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav", "nb": "nor", "nl": "nld",
    "nn": "nor", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk",
    "sl": "slv", "sr": "srp", "sv": "swe", "tr": "tur", "uk": "ukr", "vi": "vie",
    "zh": "chi_sim",
}  # fmt: skip
"""What Tesseract calls the languages that locales name."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Tesseract:
    """The program as it is installed here.

    Attributes:
        program: Where it is.
        version: Such as ``5.3.0``.
        languages: Those that it reads with, in the order in which it is told of them.
    """

    program: Path
    version: str
    languages: tuple[str, ...]

    @classmethod
    def installed(cls) -> Tesseract | None:
        """Return it, with the languages of this system; None where it is not installed.

        On Windows it is not used: nothing there confines it.
        """
        name = None if sys.platform == "win32" else shutil.which("tesseract")
        if name is None:
            return None
        engine = cls(program=Path(name), version="", languages=())
        version_output = engine._run(["--version"])
        language_list = engine._run(["--list-langs"])
        version = re.search(rb"tesseract v?([\w.-]+)", version_output or b"")
        names = (language_list or b"").decode("ascii", "replace").splitlines()[1:]
        languages = languages_of_system([one.strip() for one in names if one.strip()])
        if version is None or not languages:
            logger.warning("tesseract is installed and does not answer")
            return None
        return replace(engine, version=version[1].decode("ascii"), languages=languages)

    def read(
        self, picture: bytes, *, dpi: int = 0, heartbeat: Checkpoint = never_cancelled
    ) -> bytes | None:
        """Return the words of a picture as a table (TSV); None where it could not be read.

        Args:
            picture: PNG, JPEG, TIFF or PNM.
            dpi: Its resolution; 0 leaves that to Tesseract.
            heartbeat: Called twenty times a second; whatever it raises kills the child first.
        """
        arguments = ["stdin", "stdout", "-l", "+".join(self.languages)]
        arguments += ["--dpi", str(dpi)] if dpi else []
        return self._run([*arguments, "-c", "tessedit_create_tsv=1"], picture, heartbeat)

    def _run(
        self, arguments: list[str], data: bytes = b"", heartbeat: Checkpoint = never_cancelled
    ) -> bytes | None:
        head = json.dumps({"program": str(self.program), "arguments": arguments}).encode()
        with os_error_as(InputError, "reader.start", code="input-start"):
            child = start_child("pura.documents.ocr_child")
        ending = converse(
            child,
            head + b"\n" + data,
            seconds=_WALL_SECONDS,
            most=_MAX_ANSWER_BYTES,
            heartbeat=heartbeat,
        )
        if ending.status == NOT_SHUT_STATUS:
            raise InputError("reader.cage", code="input-sandbox")
        if ending.status or ending.late or len(ending.answer) > _MAX_ANSWER_BYTES:
            logger.warning("tesseract ended with %d, late: %s", ending.status, ending.late)
            return None
        return ending.answer


def languages_of_system(installed: Sequence[str]) -> tuple[str, ...]:
    """Return the languages to read with: those of the system's settings, and English.

    Args:
        installed: What Tesseract lists.

    Returns:
        Where none of them is installed, the first ones that are.
    """
    wanted = [*_locales(), "en"]
    names = dict.fromkeys(_LANGUAGE_NAMES.get(one[:2].lower(), "") for one in wanted)
    here = [name for name in names if name in installed]
    others = [name for name in installed if name not in _NO_LANGUAGES and "/" not in name]
    return tuple((here or others)[:_MOST_LANGUAGES])


def _locales() -> Iterator[str]:
    """Yield the languages that the system's settings name."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        yield from filter(None, os.environ.get(name, "").split(":"))
    yield locale.getlocale()[0] or ""


def missing() -> InputError:
    """Return what is said of pictures of text where Tesseract is not installed."""
    return InputError("ocr.missing", code="input-ocr")


def read_pdf(data: bytes, *, heartbeat: Checkpoint = never_cancelled) -> list[Extract]:
    """Read the pages of a PDF that holds no text.

    Args:
        data: The file.
        heartbeat: As of :meth:`Tesseract.read`.

    Raises:
        InputError: Tesseract is not installed, or no page could be read.
    """
    program = Tesseract.installed()
    if program is None:
        raise missing()
    tables: list[bytes | None] = []
    with closing(Pages(lambda: data)) as pages:
        sizes = pages.sizes()
        for number, (width, height) in enumerate(sizes[:MAX_PAGES]):
            heartbeat()
            scale = _DPI / _POINTS
            if (most := width * height * scale * scale) > MAX_PIXELS:
                scale *= (MAX_PIXELS / most) ** 0.5
            columns, rows = int(width * scale), int(height * scale)
            if min(columns, rows) < 1:
                tables.append(None)
                continue
            picture = _grey(pages.draw(number, columns, rows), columns, rows)
            dpi = round(scale * _POINTS)
            tables.append(program.read(picture, dpi=dpi, heartbeat=heartbeat))
    return _extracts(program, tables, unread=len(sizes) - len(tables), label="pdf")


def read_picture(data: bytes, *, heartbeat: Checkpoint = never_cancelled) -> list[Extract]:
    """Read a picture; see :func:`read_pdf`."""
    program = Tesseract.installed()
    if program is None:
        raise missing()
    table = program.read(data, heartbeat=heartbeat)
    return _extracts(program, [table], unread=0, label="picture")


def _grey(pixels: bytes, width: int, height: int) -> bytes:
    """Return a page that was drawn as a picture in grey (PGM)."""
    drawn = np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 4).astype(np.uint16)
    # Weights of ITU-R BT.601 in 256ths.
    grey = (29 * drawn[:, :, 0] + 150 * drawn[:, :, 1] + 77 * drawn[:, :, 2]) >> 8
    return b"P5\n%d %d\n255\n" % (width, height) + grey.astype(np.uint8).tobytes()


@dataclass(frozen=True, kw_only=True)
class _RecognisedWord:
    """A word as Tesseract saw it; lengths in pixels, from the upper left.

    Attributes:
        line: Numbers of page, block, paragraph and line.
        text: The word.
        left: Left edge.
        top: Upper edge.
        width: Its width.
        height: Its height.
        confidence: In per cent.
    """

    line: tuple[int, int, int, int]
    text: str
    left: int
    top: int
    width: int
    height: int
    confidence: float


def _words(table: bytes) -> tuple[list[_RecognisedWord], int, int]:
    """Return the words of a table, and the width and height of the page."""
    recognised: list[_RecognisedWord] = []
    width = height = 0
    for row in table.decode("utf-8", "replace").splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) != 12:
            continue
        level, *numbers = map(int, cells[:6])
        left, top, wide, high = map(int, cells[6:10])
        if level == 1:
            width, height = wide, high
        text = cells[11].strip()
        if level == 5 and text:
            recognised.append(
                _RecognisedWord(
                    line=(numbers[0], numbers[1], numbers[2], numbers[3]),
                    text=text,
                    left=left,
                    top=top,
                    width=wide,
                    height=high,
                    confidence=float(cells[10]),
                )
            )
    return recognised, width, height


def _extracts(
    program: Tesseract, tables: Sequence[bytes | None], *, unread: int, label: str
) -> list[Extract]:
    """Return the text of pages that were read, and what stands on one after the other.

    Raises:
        InputError: None of them could be.
    """
    from pura.documents.readers.blocks import TextBlock, extract_apart
    from pura.documents.readers.pdf import assemble

    if all(table is None for table in tables):
        raise damaged(FORMATS[label].label, phrase("reader.no-answer"))
    try:
        read = [_words(table or b"") for table in tables]
    except ValueError:
        raise damaged(FORMATS[label].label, phrase("reader.no-answer")) from None
    words = [word for page, _, _ in read for word in page]
    if not words:
        raise InputError("ocr.nothing", code="input-ocr-empty")
    text = assemble([list(_lines(*page)) for page in read])
    missed = [number for number, table in enumerate(tables, 1) if table is None]
    left_out = [
        LeftOut(kind=LeftOutKind.PAGE, words=None, location=str(number)) for number in missed
    ]
    if unread:
        left_out.append(LeftOut(kind=LeftOutKind.PAGE, words=None, location=f"{MAX_PAGES + 1} …"))
    unsure = sum(word.confidence < _UNSURE for word in words)
    notes = [
        sentence(
            "reading.ocr",
            n=len(tables) - len(missed),
            version=program.version,
            languages=", ".join(program.languages),
        ),
        sentence("reading.ocr-caution", words=len(words), unsure=unsure),
    ]
    done = Transform(name=RECOGNISED, count=len(words))
    main = Extract(
        text=text.text,
        transforms=(done, *(one for one in text.transforms if one.count)),
        notes=tuple(notes),
        left_out=tuple(left_out),
        pages=tuple(text.starts) if label == "pdf" else (),
    )
    running = [TextBlock(text=line) for line in text.running]
    return [main, *extract_apart(running, "headers and footers", LeftOutKind.HEADER)]


def _lines(words: list[_RecognisedWord], width: int, height: int) -> Iterator[PdfLine]:
    """Yield the lines of a page as those of a PDF, in points from the lower left.

    Boxes of words are as high as their letters; lines are put on one pitch by their middle, and
    have one size, or a line without descenders would look set apart.
    """
    from pura.documents.readers.pdf import PdfLine

    scale = _A4_WIDTH / max(1, width)
    size = median([word.height for word in words]) * scale if words else 1.0
    for _, group in groupby(words, key=lambda word: word.line):
        line = list(group)
        upper = min(word.top for word in line)
        lower = max(word.top + word.height for word in line)
        middle = (height - (upper + lower) / 2) * scale
        text = " ".join(word.text for word in line)
        hyphen = len(text) > 1 and text[-1] in "-‐" and text[-2].isalpha()
        yield PdfLine(
            text=text[:-1] if hyphen else text,
            left=line[0].left * scale,
            right=(line[-1].left + line[-1].width) * scale,
            bottom=middle - size / 2,
            top=middle + size / 2,
            size=size,
            first_word=line[0].width * scale,
            page_height=height * scale,
            hyphen=hyphen,
        )

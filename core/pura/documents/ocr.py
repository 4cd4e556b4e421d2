"""Text recognition in pictures by Tesseract, if it is installed.

The pages of a PDF without text are drawn in the sandboxed child (:mod:`.pages`); a picture is
passed to Tesseract unchanged. Tesseract runs in a separate, confined child (:mod:`.ocr_child`). It
returns words and their boxes, which are joined to lines and paragraphs like the words of a PDF. The
record shows which pages were read, with which languages, and how certain the result is.
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
"""Name of the transform of a text that was recognised in pictures."""
MAX_PAGES: Final = 200
"""Pages of one file that are read; further ones are listed."""
_DPI: Final = 300
"""Resolution at which pages are drawn; Tesseract's networks are trained on letters of that size."""
_POINTS: Final = 72  # to an inch
_A4_WIDTH: Final = 595.0  # points; the size that a picture declares is not reliable
_WALL_SECONDS: Final = 180.0  # for one page; a dense page takes five on a slow processor
_MAX_ANSWER_BYTES: Final = 16 << 20
_UNSURE: Final = 60.0
"""Confidence in per cent below which Tesseract's own tools mark a word as doubtful."""
_MOST_LANGUAGES: Final = 3  # each further one takes as long as the first
_NO_LANGUAGES: Final = ("osd", "equ", "snum")
"""Data files of Tesseract that are not languages."""
_LANGUAGE_NAMES: Final = {
    "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng",
    "es": "spa", "et": "est", "fi": "fin", "fr": "fra", "he": "heb", "hr": "hrv", "hu": "hun",
    "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav", "nb": "nor", "nl": "nld",
    "nn": "nor", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk",
    "sl": "slv", "sr": "srp", "sv": "swe", "tr": "tur", "uk": "ukr", "vi": "vie",
    "zh": "chi_sim",
}  # fmt: skip
"""Tesseract's names of languages, by the codes that locales use."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Tesseract:
    """An installed Tesseract.

    Attributes:
        program: Path of the program.
        version: Version, such as ``5.3.0``.
        languages: Languages to read with, most important first.
    """

    program: Path
    version: str
    languages: tuple[str, ...]

    @classmethod
    def installed(cls) -> Tesseract | None:
        """Return the installed Tesseract with the languages of this system, or None.

        On Windows it is not used, since nothing confines it there.
        """
        name = None if sys.platform == "win32" else shutil.which("tesseract")
        if name is None:
            return None
        engine = cls(program=Path(name), version="", languages=())
        version_output = engine._run(["--version"])
        language_list = engine._run(["--list-langs"])
        version = re.search(rb"tesseract v?([\w.-]+)", version_output or b"")
        names = (language_list or b"").decode("ascii", "replace").splitlines()[1:]
        languages = languages_of_system([name.strip() for name in names if name.strip()])
        if version is None or not languages:
            logger.warning("tesseract is installed and does not answer")
            return None
        return replace(engine, version=version[1].decode("ascii"), languages=languages)

    def read(
        self, picture: bytes, *, dpi: int = 0, heartbeat: Checkpoint = never_cancelled
    ) -> bytes | None:
        """Return the words of a picture as a table (TSV); None if it could not be read.

        Args:
            picture: PNG, JPEG, TIFF or PNM.
            dpi: Resolution of the picture; 0 lets Tesseract estimate it.
            heartbeat: Called twenty times a second; an exception kills the child first.
        """
        arguments = ["stdin", "stdout", "-l", "+".join(self.languages)]
        arguments += ["--dpi", str(dpi)] if dpi else []
        return self._run([*arguments, "-c", "tessedit_create_tsv=1"], picture, heartbeat)

    def _run(
        self,
        arguments: list[str],
        standard_input: bytes = b"",
        heartbeat: Checkpoint = never_cancelled,
    ) -> bytes | None:
        head = json.dumps({"program": str(self.program), "arguments": arguments}).encode()
        with os_error_as(InputError, "reader.start", code="input-start"):
            child = start_child("pura.documents.ocr_child")
        ending = converse(
            child,
            head + b"\n" + standard_input,
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
    """Return the languages to read with: those of the system's locale, and English.

    Args:
        installed: Languages that Tesseract has.

    Returns:
        The installed ones of these languages; if there are none, the first installed languages.
    """
    locales = [*_locales(), "en"]
    names = dict.fromkeys(
        _LANGUAGE_NAMES.get(locale_name[:2].lower(), "") for locale_name in locales
    )
    usable = [name for name in names if name in installed]
    all_languages = [name for name in installed if name not in _NO_LANGUAGES and "/" not in name]
    return tuple((usable or all_languages)[:_MOST_LANGUAGES])


def _locales() -> Iterator[str]:
    """Yield the languages that the system's settings name."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        yield from filter(None, os.environ.get(name, "").split(":"))
    yield locale.getlocale()[0] or ""


def missing() -> InputError:
    """Return the error for pictures of text if Tesseract is not installed."""
    return InputError("ocr.missing", code="input-ocr")


def read_pdf(file_bytes: bytes, *, heartbeat: Checkpoint = never_cancelled) -> list[Extract]:
    """Recognise the text on the pages of a PDF without text.

    Args:
        file_bytes: The file.
        heartbeat: As of :meth:`Tesseract.read`.

    Raises:
        InputError: Tesseract is not installed, or no page could be read.
    """
    program = Tesseract.installed()
    if program is None:
        raise missing()
    tables: list[bytes | None] = []
    with closing(Pages(lambda: file_bytes)) as pages:
        sizes = pages.sizes()
        for number, (width, height) in enumerate(sizes[:MAX_PAGES]):
            heartbeat()
            scale = _DPI / _POINTS
            if (pixels := width * height * scale * scale) > MAX_PIXELS:
                scale *= (MAX_PIXELS / pixels) ** 0.5
            columns, rows = int(width * scale), int(height * scale)
            if min(columns, rows) < 1:
                tables.append(None)
                continue
            picture = _grey(pages.draw(number, columns, rows), columns, rows)
            dpi = round(scale * _POINTS)
            tables.append(program.read(picture, dpi=dpi, heartbeat=heartbeat))
    return _extracts(program, tables, unread=len(sizes) - len(tables), label="pdf")


def read_picture(file_bytes: bytes, *, heartbeat: Checkpoint = never_cancelled) -> list[Extract]:
    """Recognise the text in a picture; see :func:`read_pdf`."""
    program = Tesseract.installed()
    if program is None:
        raise missing()
    table = program.read(file_bytes, heartbeat=heartbeat)
    return _extracts(program, [table], unread=0, label="picture")


def _grey(pixels: bytes, width: int, height: int) -> bytes:
    """Convert the pixels of a drawn page to a grey picture (PGM)."""
    drawn = np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 4).astype(np.uint16)
    # Weights of ITU-R BT.601 in 256ths.
    grey = (29 * drawn[:, :, 0] + 150 * drawn[:, :, 1] + 77 * drawn[:, :, 2]) >> 8
    return b"P5\n%d %d\n255\n" % (width, height) + grey.astype(np.uint8).tobytes()


@dataclass(frozen=True, kw_only=True)
class _RecognisedWord:
    """A recognised word; lengths in pixels from the upper left corner of the page.

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
    """Return the text of recognised pages, and their repeated headers and footers.

    Raises:
        InputError: No page could be read.
    """
    from pura.documents.readers.blocks import TextBlock, extract_apart
    from pura.documents.readers.pdf import assemble

    if all(table is None for table in tables):
        raise damaged(FORMATS[label].label, phrase("reader.no-answer"))
    try:
        read = [_words(table or b"") for table in tables]
    except ValueError:
        raise damaged(FORMATS[label].label, phrase("reader.no-answer")) from None
    recognised = [word for page, _, _ in read for word in page]
    if not recognised:
        raise InputError("ocr.nothing", code="input-ocr-empty")
    text = assemble([list(_lines(*page)) for page in read])
    missed = [number for number, table in enumerate(tables, 1) if table is None]
    left_out = [
        LeftOut(kind=LeftOutKind.PAGE, words=None, location=str(number)) for number in missed
    ]
    if unread:
        left_out.append(LeftOut(kind=LeftOutKind.PAGE, words=None, location=f"{MAX_PAGES + 1} …"))
    unsure = sum(word.confidence < _UNSURE for word in recognised)
    notes = [
        sentence(
            "reading.ocr",
            n=len(tables) - len(missed),
            version=program.version,
            languages=", ".join(program.languages),
        ),
        sentence("reading.ocr-caution", words=len(recognised), unsure=unsure),
    ]
    recognition = Transform(name=RECOGNISED, count=len(recognised))
    main = Extract(
        text=text.text,
        transforms=(recognition, *(change for change in text.transforms if change.count)),
        notes=tuple(notes),
        left_out=tuple(left_out),
        pages=tuple(text.starts) if label == "pdf" else (),
    )
    running = [TextBlock(text=line) for line in text.running]
    return [main, *extract_apart(running, "headers and footers", LeftOutKind.HEADER)]


def _lines(recognised: list[_RecognisedWord], width: int, height: int) -> Iterator[PdfLine]:
    """Yield the lines of a page like those of a PDF, in points from the lower left corner.

    Boxes of words are only as high as their letters. All lines therefore get the same size around
    their middle; otherwise lines without descenders would seem to have larger gaps.
    """
    from pura.documents.readers.pdf import PdfLine

    scale = _A4_WIDTH / max(1, width)
    size = median([word.height for word in recognised]) * scale if recognised else 1.0
    for _, group in groupby(recognised, key=lambda word: word.line):
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

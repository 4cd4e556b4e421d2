"""In every format, words that were left out forbid "no mark found" (more than three per cent)."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import docx
import pikepdf
import pytest
import typst
from openpyxl import Workbook
from openpyxl.comments import Comment
from tests.core.documents.test_documents_formats import (
    SHAPE,
    SLIDE,
    book,
    opendocument,
    presentation,
    rich,
)
from tests.core.documents.test_pdf_beside import with_

import pura
from pura.detect.verdict.policy import Policy
from pura.documents import FORMATS, read_data
from pura.record.left_out import left_out_share

CASES = Path(__file__).parents[2] / "data" / "cases" / "no-mark"
BODY = read_data((CASES / "m10.eml").read_bytes(), name="m10.eml").chosen[0].text
BESIDE = " ".join(["These words stand beside the text, in some other place."] * 6)
SHORT = "Only a few words."


def table() -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows([["answer"] + ["note"] * 20, [BODY] + [SHORT] * 20])
    return file.getvalue().encode()


def page() -> bytes:
    return f"<!doctype html><p>{html.escape(BODY)}</p><p hidden>{BESIDE}</p>".encode()


def word() -> bytes:
    document, file = docx.Document(), io.BytesIO()
    paragraph = document.add_paragraph(BODY)
    document.add_comment(paragraph.runs[0], text=BESIDE, author="Anna", initials="A")
    document.save(file)
    return file.getvalue()


def workbook() -> bytes:
    file, stream = Workbook(), io.BytesIO()
    file.active.append([BODY])
    file.active["A1"].comment = Comment(BESIDE, "Anna")
    file.save(stream)
    return stream.getvalue()


def slides() -> bytes:
    shown = SLIDE.format(show="", shapes=SHAPE.format(kind="body", text=html.escape(BODY)))
    hidden = SLIDE.format(show='show="0"', shapes=SHAPE.format(kind="body", text=BESIDE))
    empty = SLIDE.format(show="", shapes="")
    names = {"slides/slide1": shown, "slides/slide2": hidden, "slides/slide3": empty}
    names["notesSlides/notesSlide1"] = empty
    return presentation(**{f"ppt/{name}.xml": content for name, content in names.items()})


def printed() -> bytes:
    def attach(document: pikepdf.Pdf) -> None:
        document.attachments["a.txt"] = BESIDE.encode()

    text = BODY.translate({ord(sign): f"\\{sign}" for sign in "\\$#*_@<>`~"})
    return with_(attach, typst.compile(text.encode()))


def odt() -> bytes:
    beside = f"<office:annotation><text:p>{BESIDE}</text:p></office:annotation>"
    return opendocument(f"<text:p>{html.escape(BODY)}{beside}</text:p>")


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "c"
    message.set_content(f"{BODY}\n\n" + BESIDE.replace("These", "\n> These") + "\n")
    return bytes(message)


def chat() -> bytes:
    messages = [{"role": "user", "content": BESIDE}, {"role": "assistant", "content": BODY}]
    return json.dumps({"messages": messages}).encode()


def persons() -> bytes:
    lines = [f"02.11.26, 10:00 - Ben: {SHORT}"] * 20 + [f"02.11.26, 10:01 - Anna: {BODY}"]
    return "\n".join(lines).encode()


def subtitles() -> bytes:
    lines = "\n".join(line for line in BODY.split("\n") if line)
    return f"WEBVTT\n\nNOTE {BESIDE}\n\n00:01.000 --> 00:02.000\n{lines}".encode()


FILES: dict[str, Callable[[], bytes]] = {
    "csv": table,
    "pdf": printed,
    "docx": word,
    "odt": odt,
    "epub": lambda: book(f"<p>{html.escape(BODY)}</p><p hidden>{BESIDE}</p>"),
    "xlsx": workbook,
    "pptx": slides,
    "rtf": lambda: rich(BODY)[:-1] + rb"{\footnote " + BESIDE.encode() + b"}}",
    "json": chat,
    "jsonl": lambda: json.dumps({"text": BODY, "note": BESIDE}).encode(),
    "html": page,
    "eml": mail,
    "mbox": lambda: b"From a@b Mon Nov  2 10:00:00 2026\n" + mail(),
    "whatsapp": persons,
    "subtitles": subtitles,
}
WITHOUT_PLACES = {"text", "stream"}
"""Formats in which no word can stand beside the text."""


def file_of(name: str, folder: Path) -> Path:
    path = folder / f"x{(FORMATS[name].endings or ('.txt',))[0]}"
    path.write_bytes(FILES[name]())
    return path


def verdict_of(path: Path, model: object) -> pura.Audit:
    key = pura.SecretKey.from_hex((CASES / "key.hex").read_text(encoding="ascii").strip())
    profile = json.loads((CASES / "profile.json").read_text(encoding="utf-8"))
    return pura.verify(path, key=key, profile=pura.Profile.from_dict(profile), model=model)  # type: ignore[arg-type]


def test_every_format_with_places_has_a_file() -> None:
    assert FILES.keys() | WITHOUT_PLACES == FORMATS.keys()
    assert not FILES.keys() & WITHOUT_PLACES


@pytest.mark.parametrize("name", FILES)
def test_the_share_that_was_left_out_is_above_the_rule(name: str, tmp_path: Path) -> None:
    path = file_of(name, tmp_path)
    extraction = read_data(path.read_bytes(), name=path.name)
    assert extraction.format == name
    (document,) = extraction.chosen
    assert 0.95 < document.words / len(BODY.split()) < 1.1
    share = left_out_share(document.left_out, document.examined_words)
    assert Policy().left_out_share < share < 0.3


def test_the_same_text_alone_has_no_mark(builtin_model, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(BODY, encoding="utf-8")
    assert verdict_of(path, builtin_model).verdict == "no-mark"


@pytest.mark.parametrize("name", FILES)
def test_the_outcome_is_about_the_part_that_was_read(
    name: str, builtin_model, tmp_path: Path
) -> None:
    audit = verdict_of(file_of(name, tmp_path), builtin_model)
    assert audit.verdict == "insufficient"
    assert audit.sentences[0].key.startswith("outcome.insufficient-in-part")

"""Files of every kind that are made to keep a reader busy end within its limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from tests.core.documents.conftest import page_of
from tests.core.documents.office_files import Part, paragraph, word_package
from tests.core.documents.test_hostile_corpus import ends, refused
from tests.core.documents.test_pdf_beside import with_

from pura.documents import read_data
from pura.record.left_out import LeftOutKind

WORD = "application/octet-stream"
LINE = "Anna wrote, on Monday at 10:00 <anna@example.org>"


def mail_of_parts(count: int) -> bytes:
    head = "From: a@b\nSubject: c\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
    return (head + "--b\nContent-Type: text/plain\n\nwords\n" * count + "--b--\n").encode()


def plain_mail(text: str) -> bytes:
    return f"From: a@b\nSubject: c\n\n{text}\n".encode()


def nested_frames(levels: int) -> bytes:
    page = "<p>words</p>"
    for _ in range(levels):
        # Only quotes are escaped, or the source would double with each level.
        page = "<iframe srcdoc='" + page.replace("&", "&amp;").replace("'", "&#39;") + "'></iframe>"
    return f"<!doctype html><p>Anchor{page}".encode()


def side_by_side_frames() -> bytes:
    frame = escape("<iframe srcdoc='<p>words</p>'></iframe>" * 500)
    frames = f'<iframe srcdoc="{frame}"></iframe>' * 100
    return f"<!doctype html><p>Anchor{frames}".encode()


def nested_inserts(levels: int) -> bytes:
    data = word_package(paragraph("Inner."))
    for _ in range(levels):
        part = Part(name="chunk.dat", relation="aFChunk", content=data, content_type=WORD)
        data = word_package(f'{paragraph("Anchor")}<w:altChunk r:id="r1"/>', [part])
    return data


def inserted_again_and_again() -> bytes:
    inner = word_package(paragraph("Inner."))
    part = Part(name="chunk.dat", relation="aFChunk", content=inner, content_type=WORD)
    return word_package(paragraph("Anchor") + '<w:altChunk r:id="r1"/>' * 5_000, [part])


def annotations(count: int) -> bytes:
    def annotate(document: pikepdf.Pdf) -> None:
        note = document.make_indirect(
            Dictionary(Subtype=Name.Text, Rect=Array([0, 0, 9, 9]), Contents=String("words " * 9))
        )
        document.pages[0].Annots = Array([note] * count)

    return with_(annotate, page_of("BT /F1 12 Tf 72 700 Td (Anchor) Tj ET"))


def circular_chat() -> bytes:
    message = {"author": {"role": "assistant"}, "content": {"parts": ["Anchor"]}}
    nodes = {
        "a": {"message": message, "parent": None, "children": ["b"] * 9},
        "b": {"message": message, "parent": "a", "children": ["a", "b"]},
    }
    return json.dumps([{"mapping": nodes}]).encode()


def long_chat() -> bytes:
    messages = [{"role": "assistant", "content": "words"}] * 50_000
    return json.dumps({"messages": messages}).encode()


def style_page(sheet: str, body: str) -> bytes:
    return f"<!doctype html><style>{sheet}</style><p>Anchor</p>{body}".encode()


HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "mail of 10,000 parts": ("x.eml", lambda: mail_of_parts(10_000)),
    "mail of announcing lines": ("x.eml", lambda: plain_mail(f"{LINE}\n" * 50_000)),
    "mail of long announcing lines": ("x.eml", lambda: plain_mail(f"{LINE * 8}:\n" * 20_000)),
    "mail of rules": ("x.eml", lambda: plain_mail("_" * 30 + "\n" + "From: a\n" * 100_000)),
    "mail of quotes in turn": ("x.eml", lambda: plain_mail("> a\nb\n" * 100_000)),
    "sheet of 1 MB": (
        "x.html",
        lambda: style_page(
            "".join(f".a.b{n}{{display:none}}" for n in range(50_000)), '<p class="a">b</p>' * 999
        ),
    ),
    "sheet of braces": ("x.html", lambda: style_page("{" * 500_000 + "}" * 500_000, "")),
    "sheet of open comments": ("x.html", lambda: style_page("/*" * 500_000, "")),
    "sheet of open media": ("x.html", lambda: style_page("@media print{" * 80_000, "")),
    "sheet of commas": ("x.html", lambda: style_page(".a," * 300_000 + ".a{opacity:0}", "<p>b")),
    "style of 1 MB": ("x.html", lambda: style_page("", f'<p style="{"opacity:1;" * 99_999}">b')),
    "class of 1 MB": (
        "x.html",
        lambda: style_page(".a{opacity:1}", f'<p class="{" ".join(map(str, range(150_000)))}">b'),
    ),
    "frames inside frames": ("x.html", lambda: nested_frames(12)),
    "frames side by side": ("x.html", side_by_side_frames),
    "inserts inside inserts": ("x.docx", lambda: nested_inserts(12)),
    "an insert 5,000 times": ("x.docx", inserted_again_and_again),
    "annotations": ("x.pdf", lambda: annotations(50_000)),
    "a chat that is its own child": ("x.json", circular_chat),
    "a chat of 50,000 messages": ("x.json", long_chat),
    "a stream of pieces": (
        "x.sse",
        lambda: b'data: {"object": "text_completion", "choices": [{"text": "ab "}]}\n\n' * 99_999,
    ),
    "subtitles without end": (
        "x.srt",
        lambda: b"1\n00:00:01,000 --> 00:00:02,000\nab\n\n" * 99_999,
    ),
    "subtitles of open tags": (
        "x.srt",
        lambda: b"1\n00:00:01,000 --> 00:00:02,000\n" + b"<i" * 500_000 + b"\n",
    ),
    "a chat of one line each": ("x.txt", lambda: b"02.11.26, 10:00 - Anna: Hi.\n" * 99_999),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends(name: str) -> None:
    file_name, make = HOSTILE[name]
    ends(make(), file_name)


def test_what_lies_too_deep_is_listed() -> None:
    document = read_data(nested_inserts(8), name="x.docx").chosen[0]
    assert document.text.startswith("Anchor")
    assert LeftOutKind.UNREADABLE in {entry.kind for entry in document.left_out}


def test_too_many_parts_of_a_mail_are_refused_by_name() -> None:
    assert refused(mail_of_parts(10_000), "x.eml").key == "limit.parts"

"""Every reader on damaged files: a text or one refusal, never anything else."""

from __future__ import annotations

import io
import zipfile
from contextlib import closing
from functools import cache
from pathlib import Path

import docx
import pytest
import typst
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from tests.core.documents.test_documents_formats import WRITERS

from pura.base.errors import InputError, PuraError
from pura.documents import child, read_data
from pura.documents.formats import FORMATS, ReadOptions
from pura.documents.pages import Pages

ODT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>'
    '<text:p>Some <text:s text:c="2"/>words<text:line-break/>here</text:p></office:text>'
    "</office:body></office:document-content>"
)
DECK = {
    "ppt/presentation.xml": '<p xmlns:r="r"><sldId id="1" r:id="a"/></p>',
    "ppt/_rels/presentation.xml.rels": '<r><x Id="a" Type="t/slide" Target="slides/s.xml"/></r>',
    "ppt/slides/s.xml": '<s show="1"><sp><txBody><p><r><t>Some words</t></r></p></txBody></sp></s>',
}
MAIL = (
    b"From: a@b\nTo: c@d\nSubject: =?utf-8?q?x?=\nMIME-Version: 1.0\n"
    b'Content-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain; '
    b"charset=iso-8859-1; format=flowed\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe "
    b"\n> quoted\n\n-- \nme\n--b\nContent-Type: text/html\n\n<p>x</p>\n--b--\n"
)


@cache
def sample(name: str) -> bytes:
    if name == "docx":
        file = io.BytesIO()
        document = docx.Document()
        document.add_paragraph("Some words of a paragraph.")
        document.add_table(1, 2).cell(0, 0).text = "cell"
        document.save(file)
        return file.getvalue()
    if name == "xlsx":
        file = io.BytesIO()
        book = Workbook()
        book.active.append(["Some words of a cell that is long enough to be a part.", 2])
        book.save(file)
        return file.getvalue()
    if name == "pptx":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for entry, content in DECK.items():
                archive.writestr(entry, content)
        return file.getvalue()
    if name == "odt":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            archive.writestr("content.xml", ODT)
        return file.getvalue()
    if name == "epub":
        return (Path(__file__).resolve().parents[2] / "data/manifests/agrees.epub").read_bytes()
    if name == "pdf":
        return typst.compile(b"#set page(columns: 2)\nSome words of a page, " + b"and more " * 90)
    samples = {
        "csv": b'id,text\n1,"one two three four five six seven eight, nine"\n2,short\n',
        "json": b'[{"text": "some words", "n": [1, 2.5, null]}, {"output": {"text": "more"}}]',
        "jsonl": b'{"text": "some words"}\n{"content": "more \\u00e9"}\n',
        "html": b"<!doctype html><meta charset=utf-8><style>.h{display:none}</style><p>Some <b>w"
        b"</b><ul><li>a<li>b</ul><table><tr><td>1<td>2</table><p class=h>no<pre>\n x</pre>&amp;",
        "rtf": rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 A;}} Some \'e9 \u8220?words\par\bin3 abc}",
        "eml": MAIL,
        "mbox": b"From a@b Mon Jan 1\n" + MAIL + b"\n\nFrom c@d Tue\n" + MAIL,
    }
    return samples.get(name) or WRITERS.get(name, str.encode)("Some words of a text.")


@st.composite
def damaged(draw: st.DrawFn, name: str) -> bytes:
    """Cut, flip, double and mix the bytes of a good file."""
    data = bytearray(sample(name))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.sampled_from(["flip", "cut", "double", "insert"]))
        if kind == "flip" and data:
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at : at + draw(st.integers(1, 200))]
        elif kind == "double":
            data[at:at] = data[at : at + 100] * draw(st.integers(1, 5))
        else:
            data[at:at] = draw(st.binary(max_size=40))
    return bytes(data)


PURE = [f.name for f in FORMATS.values() if f.reader and f.name not in ("pdf", "picture")]


@pytest.mark.parametrize("name", PURE)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_files_give_a_text_or_one_refusal(name: str, data: st.DataObject) -> None:
    form = FORMATS[name]
    reader = form.load()
    answer = child._answer(reader, data.draw(damaged(name)), ReadOptions(), form)
    if "error" in answer:
        refusal = PuraError.unpacked(answer["error"])
        assert refusal.message
        assert refusal.hint
    else:
        assert all(isinstance(extract["text"], str) for extract in answer["extracts"])


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(data=damaged("pdf"))
def test_damaged_pdfs_never_leave_the_child(data: bytes) -> None:
    """They are read, drawn and measured, or refused; what is measured fits the text."""
    with closing(Pages(lambda: b"%PDF-1.7\n" + data)) as pages:
        try:
            (found,) = read_data(b"%PDF-1.7\n" + data, name="x.pdf").documents
            places = pages.places(found.text)
            assert places is not None
            assert [len(places.starts), len(places.boxes)] == [len(found.pages), len(found.text)]
            assert len(pages.sizes()) == len(found.pages)
            assert len(pages.draw(0, 90, 120)) == 4 * 90 * 120
        except InputError as error:
            assert error.hint  # noqa: PT017


@pytest.mark.parametrize("name", [*PURE, "pdf"])
def test_whole_samples_are_read(name: str) -> None:
    (ending, *_) = FORMATS[name].endings or (".txt",)
    assert read_data(sample(name), name=f"x{ending}").format == name

"""Words of a PDF beside its pages' own content are parts, and are listed with the text."""

from __future__ import annotations

import io
from collections.abc import Callable

import pikepdf
import pytest
import typst
from pikepdf import Array, Dictionary, Name, String
from tests.core.documents.conftest import page_of

from pura.base.errors import InputError
from pura.documents import Document, choose, read_data
from pura.record.left_out import LeftOutKind

BODY = "The body of this document has eight words."
BESIDE = "These nine words stand beside it, in some place."
PAGE = page_of(f"BT /F1 12 Tf 72 700 Td ({BODY}) Tj ET")


def with_(change: Callable[[pikepdf.Pdf], None], data: bytes = PAGE) -> bytes:
    """Return a PDF after a change by another program's library."""
    file = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as document:
        change(document)
        document.save(file)
    return file.getvalue()


def annotated(**values: object) -> bytes:
    def change(document: pikepdf.Pdf) -> None:
        rectangle = Array([72, 500, 400, 560])
        annotation = document.make_indirect(
            Dictionary(Type=Name.Annot, Rect=rectangle, F=4, **values)  # type: ignore[arg-type]
        )
        document.pages[0].Annots = Array([annotation])

    return with_(change)


def with_field(field_type: Name, value: str, flags: int = 0, pages: int = 1) -> bytes:
    """Return a PDF with a form whose field stands on so many pages."""

    def change(document: pikepdf.Pdf) -> None:
        field = document.make_indirect(
            Dictionary(FT=field_type, T=String("reasons"), V=String(value), Ff=flags, Kids=Array())
        )
        for _ in range(1, pages):
            document.pages.append(document.pages[0])
        for page in document.pages:
            widget = Dictionary(
                Type=Name.Annot, Subtype=Name.Widget, Rect=Array([72, 500, 400, 560]), Parent=field
            )
            widget = document.make_indirect(widget)
            page.Annots = Array([widget])
            field.Kids.append(widget)
        document.Root.AcroForm = Dictionary(Fields=Array([field]), DR=Dictionary(), DA=String(""))

    return with_(change)


def attached(name: str, data: bytes) -> bytes:
    def change(document: pikepdf.Pdf) -> None:
        document.attachments[name] = data

    return with_(change)


def titled() -> bytes:
    def change(document: pikepdf.Pdf) -> None:
        document.docinfo["/Title"] = BESIDE

    return with_(change)


def headed() -> bytes:
    setup = f"#set page(height: 12cm, margin: 3cm, header: [{BESIDE}])\n"
    return typst.compile(f"{setup}{BODY}\n#pagebreak()\nOther words stand here.".encode())


def chosen(data: bytes) -> Document:
    return read_data(data, name="x.pdf").chosen[0]


FREE_TEXT = {"Subtype": Name.FreeText, "Contents": String(BESIDE), "DA": String("/F1 12 Tf")}


FIELD = ("form fields", LeftOutKind.FORM_FIELD)
COMMENT = ("comments", LeftOutKind.COMMENT)
BESIDE_PAGES = {
    "field": (with_field(Name.Tx, BESIDE), *FIELD),
    "field of several lines": (with_field(Name.Tx, BESIDE, flags=1 << 12), *FIELD),
    "choice": (with_field(Name.Ch, BESIDE, flags=1 << 17), *FIELD),
    "field on three pages": (with_field(Name.Tx, BESIDE, pages=3), *FIELD),
    "free text": (annotated(**FREE_TEXT), "text boxes", LeftOutKind.TEXT_BOX),
    "sticky note": (annotated(Subtype=Name.Text, Contents=String(BESIDE)), *COMMENT),
    "highlight": (annotated(Subtype=Name.Highlight, Contents=String(BESIDE)), *COMMENT),
    "text file": (attached("a.txt", BESIDE.encode()), "attachment a.txt", LeftOutKind.ATTACHMENT),
    "page file": (
        attached("a.html", f"<html><p>{BESIDE}</html>".encode()),
        "attachment a.html",
        LeftOutKind.ATTACHMENT,
    ),
    "title": (titled(), "properties", LeftOutKind.METADATA),
    "header": (headed(), "headers and footers", LeftOutKind.HEADER),
}
WITHOUT_WORDS = {
    "button": with_field(Name.Btn, BESIDE),
    "link": annotated(Subtype=Name.Link, Contents=String(BESIDE)),
    "pop-up": annotated(Subtype=Name.Popup, Contents=String(BESIDE)),
}


@pytest.mark.parametrize("name", BESIDE_PAGES)
def test_words_beside_the_pages(name: str) -> None:
    data, part, kind = BESIDE_PAGES[name]
    document = chosen(data)
    assert BESIDE not in document.text
    assert [(e.kind, e.words, e.part) for e in document.left_out if e.matters] == [(kind, 9, part)]
    (taken,) = choose(read_data(data, name="x.pdf"), [part])
    assert taken.text == BESIDE


@pytest.mark.parametrize("name", WITHOUT_WORDS)
def test_what_describes_or_repeats_is_no_part(name: str) -> None:
    extraction = read_data(WITHOUT_WORDS[name], name="x.pdf")
    assert [document.part for document in extraction.documents] == [""]
    assert not extraction.chosen[0].left_out


@pytest.mark.parametrize("name", ["a.zip", "a.bin"])
def test_an_attached_file_without_a_reader_is_listed(name: str) -> None:
    data = attached(name, b"\x1f\x8b\x08 packed")
    entries = [(entry.kind, entry.words, entry.location) for entry in chosen(data).left_out]
    assert entries == [(LeftOutKind.UNREADABLE, None, name)]


def test_a_signed_manifest_is_no_attachment() -> None:
    manifest = b"\x00\x00\x00\x10jumb\x00\x00\x00\x08jumd"
    assert not chosen(attached("content_credential.c2pa", manifest)).left_out


def drawn(order: list[int]) -> bytes:
    """Return a page whose lines are drawn in an order, each told by its number from the top."""
    lines = [
        f"BT /F1 12 Tf 72 {700 - 20 * n} Td (line number {n} of the page) Tj ET" for n in order
    ]
    return page_of("\n".join(lines))


@pytest.mark.parametrize(
    "order", [[5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2], [0, 1, 2, 3, 4, 5], [1, 0, 3, 2, 5, 4]]
)
def test_lines_have_the_order_of_the_page(order: list[int]) -> None:
    document = chosen(drawn(order))
    numbers = [int(word) for word in document.text.split() if word.isdigit()]
    assert numbers == list(range(6))
    counts = {transform.name: transform.count for transform in document.transforms}
    assert counts.get("lines-ordered", 0) == (order != sorted(order))


def test_columns_that_were_drawn_one_after_the_other_stay() -> None:
    left = [(72, 700 - 20 * n, f"left {n} of this column") for n in range(6)]
    right = [(320, 700 - 20 * n, f"right {n} of this column") for n in range(6)]
    content = "\n".join(f"BT /F1 12 Tf {x} {y} Td ({t}) Tj ET" for x, y, t in [*left, *right])
    text = " ".join(chosen(page_of(content)).text.split())
    assert text == " ".join(t for _, _, t in [*left, *right])


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_a_pdf_whose_end_is_missing_says_so(share: float) -> None:
    """Its pages are listed at the end, so the parser finds them only if it searches."""
    pages = typst.compile("\n#pagebreak()\n".join([BODY] * 30).encode())
    try:
        document = chosen(pages[: int(len(pages) * share)])
    except InputError as error:
        said = error.key == "input.truncated"
    else:
        said = LeftOutKind.MISSING_END in {entry.kind for entry in document.left_out}
    assert said

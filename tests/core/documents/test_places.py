"""Each place of RTF, OpenDocument, workbooks, slides and books that holds words is found."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from tests.core.documents.compound_files import compound
from tests.core.documents.office_files import paragraph, word_package
from tests.core.documents.test_documents_formats import (
    ODT,
    RELATION,
    RELATIONS,
    SHAPE,
    SLIDE,
    book,
    presentation,
    sheet,
)
from tests.core.documents.test_hostile_corpus import archived, workbook
from tests.core.documents.test_packages import entries

from pura.documents import Document, choose, read_data

BODY = "The body of this document has eight words."
BESIDE = "These nine words stand beside it, in some place."


def chosen(data: bytes, name: str) -> Document:
    return read_data(data, name=name).chosen[0]


def listed(document: Document) -> dict[str, tuple[str, int | None]]:
    return {
        entry.part: (str(entry.kind), entry.words) for entry in document.left_out if entry.matters
    }


def check_part(data: bytes, name: str, part: str, kind: str) -> None:
    """The words beside the body are listed with it, and are a part of their own."""
    document = chosen(data, name)
    assert document.text == BODY
    assert listed(document) == {part: (kind, 9)}
    (taken,) = choose(read_data(data, name=name), [part])
    assert taken.text == BESIDE


# RTF


def rtf(beside: str, head: str = "") -> bytes:
    return rf"{{\rtf1\ansi\ansicpg1252{head} {BODY}{beside}}}".encode("cp1252")


@pytest.mark.parametrize(
    ("beside", "part", "kind"),
    [
        (rf"{{\v {BESIDE}}}", "hidden text", "hidden-text"),
        (rf"{{\v {BESIDE}\v0}}", "hidden text", "hidden-text"),
        (rf"{{\footnote\pard {BESIDE}}}", "footnotes", "note"),
        (rf"{{\*\footnote {BESIDE}}}", "footnotes", "note"),
        (rf"{{\*\annotation {{\*\atnid x}}{BESIDE}}}", "comments", "comment"),
        (rf"{{\header\pard {BESIDE}}}", "headers and footers", "header"),
        (rf"{{\footerf\pard {BESIDE}\par}}", "headers and footers", "header"),
        (rf"{{\shp{{\*\shpinst{{\shptxt {BESIDE}}}}}}}", "text boxes", "text-box"),
        (rf"{{\*\do\dptxbx{{\dptxbxtext {BESIDE}}}}}", "text boxes", "text-box"),
        (rf"{{\info{{\title {BESIDE}}}{{\author Nobody at all}}}}", "properties", "metadata"),
    ],
)
def test_rtf(beside: str, part: str, kind: str) -> None:
    check_part(rtf(beside), "x.rtf", part, kind)


@pytest.mark.parametrize(
    "beside",
    [
        rf"{{\deleted {BESIDE}}}",
        rf"\deleted {BESIDE}\deleted0 ",
        rf"{{\deleted\v {BESIDE}}}",
        rf"{{\deleted\revauthdel1\revdttmdel1 {BESIDE}}}",
    ],
)
def test_deleted_text_of_rtf_is_listed_and_in_the_original(beside: str) -> None:
    document = chosen(rtf(beside), "x.rtf")
    assert (document.part, document.text) == ("as accepted", BODY)
    assert listed(document) == {"as original": ("deleted-text", 9)}
    (original,) = choose(read_data(rtf(beside), name="x.rtf"), ["as original"])
    assert BESIDE in original.text


@pytest.mark.parametrize(
    "code",
    [
        r"{\*\generator Writer 7;}",
        r"{\field{\*\fldinst HYPERLINK x}{\fldrslt }}",
        r"{\pict\pngblip 89504e47}",
        r"{\*\bkmkstart here}{\*\bkmkend here}",
        r"{\stylesheet{\s0 Normal;}}",
        r"{\listtext\'b7\tab}",
        r"{\*\unknown words {of {no} reader}}",
        r"{\nonshppict{\pict ffff}}",
    ],
)
def test_codes_of_rtf_are_no_text(code: str) -> None:
    document = chosen(rtf(code), "x.rtf")
    assert (document.text, listed(document)) == (BODY, {})


def test_rows_and_nested_cells_of_rtf_keep_their_order() -> None:
    data = (
        rb"{\rtf1\ansi Before\par\trowd\cellx1\cellx2\intbl one\cell two\par more\cell\row"
        rb"\trowd\intbl three\cell four\cell\row\pard Behind}"
    )
    assert chosen(data, "x.rtf").text == "Before\n\none\ttwo\nmore\nthree\tfour\n\nBehind"


def test_fields_of_rtf_show_their_results() -> None:
    data = rtf(r"{\field{\*\fldinst HYPERLINK x}{\fldrslt{ and a link}}}")
    assert chosen(data, "x.rtf").text == f"{BODY} and a link"


@pytest.mark.parametrize(
    ("signs", "text"),
    [
        (r"\u8364?", "€"),
        (r"\uc2\u8364??", "€"),
        (r"\u-10179?\u-8704?", "\U0001f600"),
        (r"{\upr{plain}{\*\ud{\u8364?}}}", "€"),
        (r"\uc0\u8364 x", "€x"),
        (r"\'80", "€"),
        (r"\ldblquote a\rdblquote\~b\_c", "“a”\xa0b\u2011c"),
        ("{\\f1\\'e9}", "é"),
        ("{\\f2\\'c9}", "Й"),
    ],
)
def test_characters_of_rtf(signs: str, text: str) -> None:
    head = r"{\fonttbl{\f0 A;}{\f1\fcharset0 B;}{\f2\fcharset204 C;}}"
    assert chosen(rtf(" " + signs, head), "x.rtf").text.strip() == f"{BODY} {text}"


# Objects of other programs


def ole_object(inner: bytes, stream: str = "Package") -> bytes:
    """Return a compound file with a file in one of its streams, of 4,096 bytes or more."""
    return compound([stream], contents={stream: inner})


def test_a_document_in_an_ole_object_of_rtf_is_read() -> None:
    digits = (b"\x01\x05\0\0\x02\0\0\0" + ole_object(word_package(paragraph(BESIDE)))).hex()
    data = rtf(rf"{{\object\objemb{{\*\objdata {digits}}}{{\result }}}}")
    check_part(data, "x.rtf", "embedded object 1", "embedded-document")


def packaged(name: str, data: bytes) -> bytes:
    names = name.encode() + b"\0" + f"C:\\{name}".encode() + b"\0"
    inner = (
        b"\x02\0" + names + bytes(4) + struct.pack("<I", 3) + b"C:\\" + struct.pack("<I", len(data))
    )
    return struct.pack("<I", len(inner + data)) + inner + data


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (ole_object(word_package(paragraph(BESIDE))), "embedded object1.bin"),
        (ole_object(packaged("a.txt", BESIDE.encode()), "\x01Ole10Native"), "embedded a.txt"),
        (word_package(paragraph(BESIDE)), "embedded object1.bin"),
    ],
)
def test_objects_of_a_word_document_are_read(content: bytes, part: str) -> None:
    data = word_package(paragraph(BODY), **{"word/embeddings/object1.bin": content})
    check_part(data, "x.docx", part, "embedded-document")


@pytest.mark.parametrize("streams", [["WordDocument"], ["Anything"]])
def test_an_object_that_cannot_be_read_is_listed(streams: list[str]) -> None:
    data = word_package(paragraph(BODY), **{"word/embeddings/object1.bin": compound(streams)})
    assert [(str(e.kind), e.words) for e in chosen(data, "x.docx").left_out] == [
        ("unreadable", None)
    ]


def test_a_formula_is_no_document() -> None:
    formula = compound(["Equation Native"])
    data = word_package(paragraph(BODY), **{"word/embeddings/object1.bin": formula})
    assert not chosen(data, "x.docx").left_out


# OpenDocument

STYLES = (
    '<office:automatic-styles xmlns:style="s" ><style:style style:name="H"><style:text-properties '
    'text:display="none"/></style:style><style:style style:name="I" style:parent-style-name="H"/>'
    "</office:automatic-styles>"
)


def odt(beside: str, styles: str = "", **more: str | bytes) -> bytes:
    content = ODT.format(f"<text:p>{BODY}</text:p>{beside}")
    content = content.replace("<office:body>", f"{styles}<office:body>")
    content = content.replace(
        "<office:document-content ",
        '<office:document-content xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
        'xmlns:form="f" xmlns:xlink="l" ',
    )
    kind = "application/vnd.oasis.opendocument.text"
    return archived({"mimetype": kind, "content.xml": content, **more})


P = f"<text:p>{BESIDE}</text:p>"


@pytest.mark.parametrize(
    ("beside", "styles", "part", "kind"),
    [
        (
            (
                f"<text:p><text:note><text:note-citation>1</text:note-citation><text:note-body>{P}"
                "</text:note-body></text:note></text:p>"
            ),
            "",
            "footnotes",
            "note",
        ),
        (
            f"<text:p><draw:frame><draw:text-box>{P}</draw:text-box></draw:frame></text:p>",
            "",
            "text boxes",
            "text-box",
        ),
        (
            f"<text:p><draw:custom-shape>{P}</draw:custom-shape></text:p>",
            "",
            "text boxes",
            "text-box",
        ),
        (
            (
                f"<text:p><draw:a><draw:frame><draw:text-box>{P}</draw:text-box></draw:frame></draw:a>"
                "</text:p>"
            ),
            "",
            "text boxes",
            "text-box",
        ),
        (f"<text:p><office:annotation>{P}</office:annotation></text:p>", "", "comments", "comment"),
        (f'<text:p text:style-name="I">{BESIDE}</text:p>', STYLES, "hidden text", "hidden-text"),
        (
            f'<text:p><text:span text:style-name="H">{BESIDE}</text:span></text:p>',
            STYLES,
            "hidden text",
            "hidden-text",
        ),
        (f'<text:section text:display="none">{P}</text:section>', "", "hidden text", "hidden-text"),
        (
            f'<text:p><text:hidden-text text:string-value="{BESIDE}"/></text:p>',
            "",
            "hidden text",
            "hidden-text",
        ),
        (
            (
                f"<text:table-of-content><text:index-body>{P}</text:index-body>"
                "</text:table-of-content>"
            ),
            "",
            "table of contents",
            "main-text",
        ),
        (
            (
                "<office:forms><form:form>"
                f'<form:textarea form:current-value="{BESIDE}"/>'
                "</form:form></office:forms>"
            ),
            "",
            "form fields",
            "form-field",
        ),
    ],
)
def test_opendocument(beside: str, styles: str, part: str, kind: str) -> None:
    check_part(odt(beside, styles), "x.odt", part, kind)


@pytest.mark.parametrize("entries", ["", '<manifest:file-entry manifest:full-path="/"/>'])
def test_a_document_type_that_is_only_named_is_passed_over(entries: str) -> None:
    """Its prefixes may be declared there alone, as older office programs do."""
    kind = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "M.dtd">'
    manifest = f'<?xml version="1.0"?>\n{kind}<manifest:manifest>{entries}</manifest:manifest>'
    assert chosen(odt("", **{"META-INF/manifest.xml": manifest}), "x.odt").text == BODY


def test_headers_of_opendocument_are_a_part() -> None:
    styles = (
        '<office:document-styles xmlns:office="o" xmlns:style="s" xmlns:text="t">'
        f"<style:master-page><style:header>{P}</style:header></style:master-page></office:document-styles>"
    )
    check_part(odt("", **{"styles.xml": styles}), "x.odt", "headers and footers", "header")


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"Object 1/content.xml": ODT.format(P)}, "Object 1"),
        ({"Object 1": word_package(paragraph(BESIDE))}, "Object 1"),
    ],
)
def test_objects_of_opendocument_are_embedded(entry: dict[str, str | bytes], name: str) -> None:
    frame = f'<text:p><draw:frame><draw:object xlink:href="./{name}"/></draw:frame></text:p>'
    check_part(odt(frame, **entry), "x.odt", f"embedded {name}", "embedded-document")


def test_deleted_text_of_opendocument_is_listed() -> None:
    changes = (
        '<text:tracked-changes><text:changed-region text:id="c"><text:deletion>'
        f"{P}</text:deletion></text:changed-region></text:tracked-changes>"
        '<text:p><text:change text:change-id="c"/></text:p>'
    )
    document = chosen(odt(changes), "x.odt")
    assert listed(document) == {"as original": ("deleted-text", 9)}


# Workbooks


def saved(fill: Callable[[Workbook], None]) -> bytes:
    file, stream = Workbook(), io.BytesIO()
    file.active.append([BODY])
    fill(file)
    file.save(stream)
    return stream.getvalue()


def _comment(file: Workbook) -> None:
    file.active["B7"].comment = Comment(BESIDE, "somebody")


def _header(file: Workbook) -> None:
    file.active.oddHeader.center.text = BESIDE


def _hidden_sheet(file: Workbook) -> None:
    hidden = file.create_sheet("Two")
    hidden.append([BESIDE])
    hidden.sheet_state = "hidden"


def _title(file: Workbook) -> None:
    file.properties.title = BESIDE


def _chart(file: Workbook) -> None:
    chart = BarChart()
    chart.title = BESIDE
    file.active["C1"] = 3
    chart.add_data(Reference(file.active, min_col=3, min_row=1))
    file.active.add_chart(chart, "E5")


@pytest.mark.parametrize(
    ("fill", "part", "kind"),
    [
        (_comment, "sheet Sheet, comments", "comment"),
        (_hidden_sheet, "sheet Two (hidden)", "sheet"),
        (_title, "properties", "metadata"),
        (_chart, "charts", "diagram"),
    ],
)
def test_workbook(fill: Callable[[Workbook], None], part: str, kind: str) -> None:
    check_part(saved(fill), "x.xlsx", part, kind)


def test_headers_of_a_sheet_are_listed() -> None:
    document = chosen(saved(_header), "x.xlsx")
    assert [entry.part for entry in document.left_out] == ["sheet Sheet, headers and footers"]


def test_a_text_that_no_cell_has_is_listed() -> None:
    strings = f"<si><t>{BODY}</t></si><si><t>{BESIDE}</t></si>"
    data = workbook('<c t="s"><v>0</v></c>', strings)
    check_part(data, "x.xlsx", "texts of no cell", "hidden-text")


def test_a_document_in_a_workbook_is_embedded() -> None:
    inner = word_package(paragraph(BESIDE))
    data = archived(entries(sheet(BODY)) | {"xl/embeddings/a.docx": inner})
    check_part(data, "x.xlsx", "embedded a.docx", "embedded-document")


# Slides


def deck(shapes: str = "", **more: str) -> bytes:
    own = SLIDE.format(show="", shapes=SHAPE.format(kind="body", text=BODY) + shapes)
    empty = SLIDE.format(show="", shapes="")
    others = ("slides/slide1", "slides/slide2", "notesSlides/notesSlide1")
    slides = {f"ppt/{name}.xml": empty for name in others}
    return presentation(**{**slides, "ppt/slides/slide3.xml": own, **more})


def related(kind: str, target: str) -> dict[str, str]:
    """Return the relations of the slide with words."""
    return {
        "ppt/slides/_rels/slide3.xml.rels": RELATIONS.format(
            RELATION.format("r1", kind, target, "")
        )
    }


DRAWN = f"<a:p xmlns:a='a'><a:r><a:t>{BESIDE}</a:t></a:r></a:p>"


@pytest.mark.parametrize(
    ("shapes", "more", "part", "kind"),
    [
        (
            "",
            related("comments", "../c.xml")
            | {"ppt/c.xml": f"<cmLst><cm><text>{BESIDE}</text></cm></cmLst>"},
            "comments",
            "comment",
        ),
        (
            "",
            related("comments", "../c.xml")
            | {"ppt/c.xml": f"<cmLst><cm><txBody>{DRAWN}</txBody></cm></cmLst>"},
            "comments",
            "comment",
        ),
        (
            (
                "<p:sp><p:nvSpPr><p:cNvPr hidden='1'/></p:nvSpPr><p:txBody><a:p><a:r><a:t>"
                f"{BESIDE}</a:t></a:r></a:p></p:txBody></p:sp>"
            ),
            {},
            "hidden text",
            "hidden-text",
        ),
        (SHAPE.format(kind="ftr", text=BESIDE), {}, "headers and footers", "header"),
        (
            "",
            related("slideLayout", "../l.xml")
            | {"ppt/l.xml": f"<sldLayout><sp><txBody>{DRAWN}</txBody></sp></sldLayout>"},
            "headers and footers",
            "header",
        ),
        (
            "",
            related("diagramData", "../d.xml")
            | {"ppt/d.xml": f"<dataModel><pt><t>{DRAWN}</t></pt></dataModel>"},
            "diagrams",
            "diagram",
        ),
    ],
)
def test_slides(shapes: str, more: dict[str, str], part: str, kind: str) -> None:
    check_part(deck(shapes, **more), "x.pptx", part, kind)


# Books


def test_pages_beside_the_chapters_of_a_book_are_a_part() -> None:
    items = (
        "<item id='c0' href='a.xhtml' media-type='application/xhtml+xml'/>"
        "<item id='n' href='n.xhtml' media-type='application/xhtml+xml'/>"
    )
    spine = "<spine><itemref idref='c0'/></spine>"
    data = book(
        **{
            "b/book.opf": f"<package><manifest>{items}</manifest>{spine}</package>",
            "b/a.xhtml": f"<p>{BODY}</p>",
            "b/n.xhtml": f"<p>{BESIDE}</p>",
        }
    )
    check_part(data, "x.epub", "beside the chapters", "main-text")


def test_the_description_of_a_book_is_a_part() -> None:
    parts = entries(book(f"<p>{BODY}</p>"))
    described = f"<package><metadata><description>{BESIDE}</description></metadata>".encode()
    parts["b/book.opf"] = parts["b/book.opf"].replace(b"<package>", described)
    check_part(archived(parts), "x.epub", "properties", "metadata")

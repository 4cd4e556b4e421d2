"""Every place of a Word document that holds words is read, is a part, or is listed."""

from __future__ import annotations

import pytest
from tests.core.documents.office_files import NAMESPACES, Part, paragraph, story, word_package
from tests.core.documents.test_documents_formats import rich, sheet

from pura.documents import ALTERNATIVE, MAIN, Document, Extraction, choose, read_data
from pura.record.left_out import LeftOutKind

BODY = "The body of this document has eight words."
BESIDE = "These nine words stand beside it, in some place."


def read(data: bytes, name: str = "x.docx") -> Extraction:
    return read_data(data, name=name)


def body_of(data: bytes) -> Document:
    (document,) = read(data).chosen
    return document


def part_of(data: bytes, part: str) -> Document:
    return next(document for document in read(data).documents if document.part == part)


def listed(document: Document) -> dict[str, tuple[str, int | None]]:
    return {entry.part: (str(entry.kind), entry.words) for entry in document.left_out}


# Content controls and the like, around any element


def control(content: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{content}</w:sdtContent></w:sdt>"


CELL = f"<w:tc>{paragraph(BODY)}</w:tc>"
ROW = f"<w:tr>{CELL}</w:tr>"


@pytest.mark.parametrize(
    "body",
    [
        f"<w:tbl><w:tr>{control(CELL)}</w:tr></w:tbl>",
        f"<w:tbl><w:tr>{control(control(CELL))}</w:tr></w:tbl>",
        f"<w:tbl>{control(ROW)}</w:tbl>",
        f"<w:tbl><w:tr><w:customXml>{CELL}</w:customXml></w:tr></w:tbl>",
        f"<w:tbl><w:customXml>{ROW}</w:customXml></w:tbl>",
        control(f"<w:tbl>{ROW}</w:tbl>"),
        control(paragraph(BODY)),
        f"<w:p>{control(f'<w:r><w:t>{BODY}</w:t></w:r>')}</w:p>",
        f"<w:p><w:smartTag><w:r><w:t>{BODY}</w:t></w:r></w:smartTag></w:p>",
        f"<w:tbl><w:tr><w:tc>{control(f'<w:tbl>{ROW}</w:tbl>')}</w:tc></w:tr></w:tbl>",
        f"<w:tbl><w:tr><w:trPr><w:ins/></w:trPr>{CELL}</w:tr></w:tbl>",
    ],
)
def test_what_is_wrapped_is_read(body: str) -> None:
    document = body_of(word_package(body))
    assert document.text == BODY
    assert not any(entry.matters for entry in document.left_out)


def test_cells_keep_their_order_and_tabs_around_content_controls() -> None:
    first, second, third = (f"<w:tc>{paragraph(text)}</w:tc>" for text in ("one", "two", "three"))
    body = f"<w:tbl><w:tr>{first}{control(second)}{third}</w:tr></w:tbl>"
    assert body_of(word_package(body)).text == "one\ttwo\tthree"


# Inserted documents


def chunk_package(content: str | bytes, content_type: str, name: str = "chunk.dat") -> bytes:
    body = f'{paragraph("Before.")}<w:altChunk r:id="r1"/>{paragraph("Behind.")}'
    part = Part(name=name, relation="aFChunk", content=content, content_type=content_type)
    return word_package(body, [part])


MHT = (
    "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\n"
    "Content-Type: text/html; charset=utf-8\r\nContent-Location: file:///C:/x.htm\r\n\r\n"
    f"<html><body><p>{BODY}</p></body></html>\r\n--b--\r\n"
)
INNER = word_package(paragraph(BODY))


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (f"<html><body><p>{BODY}</p></body></html>", "text/html"),
        (f"<html><body><p>{BODY}</p></body></html>", "application/xhtml+xml"),
        (f"<html><body><p>{BODY}</p></body></html>", "text/html; charset=utf-8"),
        (MHT, "message/rfc822"),
        (rich(BODY), "application/rtf"),
        (BODY, "text/plain"),
        (INNER, "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"),
        (INNER, "application/octet-stream"),
    ],
)
def test_an_inserted_document_is_read_at_its_place(content: str | bytes, content_type: str) -> None:
    document = body_of(chunk_package(content, content_type))
    assert document.text == f"Before.\n\n{BODY}\n\nBehind."


def test_an_inserted_document_in_a_cell_is_read_there() -> None:
    cell = f'<w:tc><w:altChunk r:id="r1"/>{paragraph("")}</w:tc>'
    part = Part(name="a.html", relation="aFChunk", content=BODY, content_type="text/html")
    data = word_package(f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>", [part])
    assert body_of(data).text.strip() == BODY


def test_notes_of_an_inserted_document_are_parts() -> None:
    notes = Part(
        name="footnotes.xml",
        relation="footnotes",
        content=story("footnotes", f"<w:footnote>{paragraph(BESIDE)}</w:footnote>"),
    )
    data = chunk_package(word_package(paragraph(BODY), [notes]), "application/octet-stream")
    assert part_of(data, "inserted word/chunk.dat, footnotes").text == BESIDE


def test_an_inserted_document_that_cannot_be_read_is_listed() -> None:
    document = body_of(chunk_package(b"PK\x03\x04 no archive", "application/zip"))
    assert document.text == "Before.\n\nBehind."
    (entry,) = document.left_out
    assert (entry.kind, entry.words) == (LeftOutKind.UNREADABLE, None)


# What stands beside the body


def boxed(text: str) -> str:
    box = f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"
    return (
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>"
        f"{box}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict>"
        "</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )


def drawn(*texts: str) -> str:
    return "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)


DIAGRAM = (
    f"<dgm:dataModel {NAMESPACES}><dgm:ptLst><dgm:pt><dgm:t>{drawn(BESIDE)}</dgm:t></dgm:pt>"
    "</dgm:ptLst></dgm:dataModel>"
)
CHART = (
    f"<c:chartSpace {NAMESPACES}><c:title><c:tx><c:rich>{drawn(BESIDE)}</c:rich></c:tx>"
    "</c:title><c:cat>"
    "<c:strRef><c:f>Sheet1!$A$2</c:f><c:strCache><c:ptCount val='1'/><c:pt><c:v>North</c:v></c:pt>"
    "</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt><c:v>4.3</c:v></c:pt>"
    "</c:numCache></c:numRef></c:val></c:chartSpace>"
)
CORE = (
    '<cp:coreProperties xmlns:cp="x" xmlns:dc="y"><dc:title>{}</dc:title><dc:creator>An Author'
    "</dc:creator></cp:coreProperties>"
)


def styled(hidden: str) -> list[Part]:
    """Return styles, of which the last one is based on the one before."""
    styles = (
        f'<w:style w:styleId="a"><w:rPr>{hidden}</w:rPr></w:style>'
        '<w:style w:styleId="b"><w:basedOn w:val="a"/></w:style>'
    )
    return [Part(name="styles.xml", relation="styles", content=story("styles", styles))]


def noted(root: str, element: str, relation: str = "", content: str = "") -> list[Part]:
    content = content or paragraph(BESIDE)
    inner = f"<w:{element}>{content}</w:{element}>" if element else content
    relation = relation or root
    return [Part(name=f"{relation}1.xml", relation=relation, content=story(root, inner))]


@pytest.mark.parametrize(
    ("beside", "parts", "part", "kind"),
    [
        ("", noted("footnotes", "footnote"), "footnotes", "note"),
        ("", noted("endnotes", "endnote"), "endnotes", "note"),
        ("", noted("comments", "comment"), "comments", "comment"),
        ("", noted("hdr", "", "header"), "headers and footers", "header"),
        ("", noted("ftr", "", "footer"), "headers and footers", "header"),
        ("", noted("hdr", "", "header", boxed(BESIDE)), "text boxes", "text-box"),
        ("", noted("comments", "comment", content=boxed(BESIDE)), "text boxes", "text-box"),
        (boxed(BESIDE), [], "text boxes", "text-box"),
        (paragraph(BESIDE, "<w:vanish/>"), [], "hidden text", "hidden-text"),
        (
            paragraph(BESIDE, '<w:rStyle w:val="b"/>'),
            styled("<w:vanish/>"),
            "hidden text",
            "hidden-text",
        ),
        (
            f'<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>{BESIDE}</w:t></w:r></w:p>',
            styled("<w:vanish/>"),
            "hidden text",
            "hidden-text",
        ),
        (
            f"<w:p><w:r><w:drawing><wps:txBody>{drawn(BESIDE)}</wps:txBody></w:drawing></w:r></w:p>",
            [],
            "drawings",
            "diagram",
        ),
        (
            "",
            [Part(name="d.xml", relation="diagramData", content=DIAGRAM)],
            "diagrams",
            "diagram",
        ),
        (
            "",
            [Part(name="a.docx", relation="package", content=word_package(paragraph(BESIDE)))],
            "embedded a.docx",
            "embedded-document",
        ),
    ],
)
def test_words_beside_the_body_are_a_part_and_listed(
    beside: str, parts: list[Part], part: str, kind: str
) -> None:
    data = word_package(paragraph(BODY) + beside, parts)
    document = body_of(data)
    assert BESIDE not in document.text
    assert listed(document) == {part: (kind, 9)}
    taken = part_of(data, part)
    assert (taken.text, taken.role) == (BESIDE, ALTERNATIVE)
    assert not choose(read(data), ["all"])[0].left_out


@pytest.mark.parametrize("value", ["0", "false", "off"])
def test_text_that_is_shown_again_is_no_hidden_text(value: str) -> None:
    run = f'<w:rStyle w:val="a"/><w:vanish w:val="{value}"/>'
    data = word_package(paragraph(BODY, run), styled("<w:vanish/>"))
    assert body_of(data).text == BODY


def test_labels_of_a_chart_are_its_words_and_numbers_are_not() -> None:
    chart = Part(name="c.xml", relation="chart", content=CHART)
    assert part_of(word_package(paragraph(BODY), [chart]), "charts").text == f"{BESIDE}\nNorth"


def test_the_workbook_of_a_chart_is_an_embedded_document() -> None:
    chart = Part(name="charts/c.xml", relation="chart", content=CHART)
    relations = (
        '<Relationships><Relationship Id="r1" Type="x/package" Target="../data.xlsx"/>'
        "</Relationships>"
    )
    data = word_package(
        paragraph(BODY),
        [chart],
        **{"word/charts/_rels/c.xml.rels": relations, "word/data.xlsx": sheet(BESIDE)},
    )
    assert part_of(data, "embedded data.xlsx, sheet Sheet").text == BESIDE


@pytest.mark.parametrize(
    ("title", "parts"), [(BESIDE, ["properties"]), ("Four words of title", [])]
)
def test_a_title_is_listed_where_it_is_long(title: str, parts: list[str]) -> None:
    data = word_package(paragraph(BODY), **{"docProps/core.xml": CORE.format(title)})
    assert list(listed(body_of(data))) == parts


# Tracked changes

DELETED = (
    f"<w:p><w:del><w:r><w:delText>{BESIDE}</w:delText></w:r></w:del><w:r><w:t>{BODY}</w:t></w:r>"
    "</w:p>"
)
DELETED_ROW = (
    f"{paragraph(BODY)}<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>{paragraph(BESIDE)}</w:tc>"
    "</w:tr></w:tbl>"
)


@pytest.mark.parametrize(
    "deleted",
    [
        DELETED,
        DELETED.replace("w:del>", "w:moveFrom>").replace("w:delText", "w:t"),
        DELETED_ROW,
        f"{paragraph(BODY)}<w:del>{paragraph(BESIDE)}</w:del>",
    ],
)
def test_deleted_text_is_listed_and_stands_in_the_original(deleted: str) -> None:
    data = word_package(deleted)
    document = body_of(data)
    assert (document.part, document.text) == ("as accepted", BODY)
    assert listed(document) == {"as original": ("deleted-text", 9)}
    (original,) = choose(read(data), ["as original"])
    assert BESIDE in original.text
    assert not original.left_out


def test_readings_of_characters_are_listed() -> None:
    ruby = (
        "<w:ruby><w:rubyPr/><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby>"
    )
    document = body_of(word_package(f"<w:p><w:r>{ruby}</w:r></w:p>"))
    assert document.text == "東京"
    assert [(str(one.kind), one.letters) for one in document.left_out] == [("note", 5)]


def test_codes_of_fields_are_no_text() -> None:
    field = (
        '<w:p><w:r><w:instrText>PAGEREF "x"</w:instrText></w:r><w:fldSimple w:instr="DATE">'
        "<w:r><w:t>today</w:t></w:r></w:fldSimple></w:p>"
    )
    document = body_of(word_package(field))
    assert (document.text, document.role, document.left_out) == ("today", MAIN, ())

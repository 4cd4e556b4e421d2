"""Every format gives back the text that was written into it, by writers that are not ours."""

from __future__ import annotations

import csv
import html
import importlib.util
import io
import json
import sys
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from itertools import pairwise
from typing import Any

import docx
import pytest
import typst
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from tests.core.documents.compound_files import compound
from tests.core.documents.conftest import page_of
from tests.core.documents.test_hostile_corpus import archived

from pura.base.errors import InputError
from pura.detect.record_facts import input_facts
from pura.documents import (
    ALTERNATIVE,
    ATTACHMENT,
    FORMATS,
    MAIN,
    QUOTED,
    Extraction,
    ReadOptions,
    choose,
    formats,
    previews,
    read_data,
    tell,
)
from pura.record.left_out import LeftOutKind

PARAGRAPHS = [
    "The extraordinarily complicated configuration of the infrastructure necessitates "
    "differentiating international organisations from self-sufficient communities of efficient "
    "and well-known offices, which “quoted” nobody — or so they say… " * 3,
    "A second paragraph follows; it ends early.",
    "The third is about well-known offices and self-sufficient people. " * 8,
]
TEXT = "\n\n".join(p.strip() for p in PARAGRAPHS)


def read(data: bytes | str, name: str, **options: Any) -> Extraction:
    raw = data.encode() if isinstance(data, str) else data
    return read_data(raw, name=name, options=ReadOptions(**options))


def parts(found: Extraction) -> dict[str, str]:
    return {d.part: d.text for d in found.documents}


def roles(found: Extraction) -> dict[str, str]:
    return {d.part: d.role for d in found.documents}


def word(fill: Any) -> bytes:
    document = docx.Document()
    fill(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_the_content_decides_before_the_name() -> None:
    assert tell(b"%PDF-1.7", "x.txt").name == "pdf"
    assert tell(b"\xef\xbb\xbf%PDF-1.7", "x.pdf").name == "pdf"
    assert tell(b"{\\rtf1", "x.doc").name == "rtf"
    assert tell(b"<!DOCTYPE html><p>", "x.docx").name == "html"
    assert tell(b"<!DOCTYPE html><p>", "x.txt").name == "text"
    assert tell(b"  <html>", "-").name == "html"
    assert tell(b"From a@b Mon\nFrom: a@b\n", "-").name == "mbox"
    assert tell(b"From: a\nTo: b\nSubject: c\n\nx", "-").name == "eml"
    assert tell(b"From: a friend\n\nx", "-").name == "text"
    assert tell(b"a,b\n1,2", "x.csv").name == "csv"
    assert tell(b"PK\x03\x04xl/workbook", "x.docx").name == "package"
    assert tell(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "x.docx").name == "compound"
    assert tell(b"Before PDF files begin with %PDF-1.7 they are", "x.txt").name == "text"
    assert tell(b"\x89PNG\r\n\x1a\n", "x.txt").name == "picture"
    with pytest.raises(InputError, match="no reader"):
        tell(b"GIF89a", "x.txt")


# Word and OpenDocument


def test_word_gives_paragraphs_tables_and_lists_in_order() -> None:
    def fill(document: Any) -> None:
        document.add_heading("A heading")
        document.add_paragraph(PARAGRAPHS[0].strip())
        for item in ("first item", "second item"):
            document.add_paragraph(item, style="List Bullet")
        table = document.add_table(2, 2)
        for cell, text in zip(table._cells, "abcd", strict=True):
            cell.text = text
        paragraph = document.add_paragraph("After")
        paragraph.add_run(" a tab\tand a\nbreak.").bold = True
        hidden = paragraph.add_run("not to be seen")
        hidden.font.hidden = True

    found = read(word(fill), "x.docx").chosen[0]
    first = PARAGRAPHS[0].strip()
    assert found.text.startswith(f"A heading\n\n{first}\n\nfirst item")
    assert "a\tb\nc\td\n\nAfter a tab\tand a\nbreak." in found.text
    assert "not to be seen" not in found.text
    assert {t.name: t.count for t in found.transforms}["hidden-removed"] == 1
    facts = input_facts(found, 9)
    assert facts.format == "docx"
    assert facts.transforms[-1].name == "hidden-removed"


def test_empty_paragraphs_of_the_writer_are_its_blank_lines() -> None:
    def fill(document: Any) -> None:
        for line in TEXT.split("\n"):
            document.add_paragraph(line)

    found = read(word(fill), "x.docx").chosen[0]
    assert found.text == TEXT
    assert found.transforms == ()


def tracked(document: Any) -> None:
    paragraph = document.add_paragraph("The ")
    for tag, text in (("w:del", "old"), ("w:ins", "new")):
        change = OxmlElement(tag)
        change.set(qn("w:id"), "1")
        run = paragraph.add_run("")._r
        inner = OxmlElement("w:delText" if tag == "w:del" else "w:t")
        inner.text = text
        run.append(inner)
        change.append(run)
        paragraph._p.append(change)
    paragraph.add_run(" word.")


def test_tracked_changes_are_offered_in_both_readings() -> None:
    found = read(word(tracked), "x.docx")
    assert parts(found) == {"as accepted": "The new word.", "as original": "The old word."}
    assert [d.part for d in found.chosen] == ["as accepted"]
    assert [d.text for d in choose(found, ["as original"])] == ["The old word."]
    assert len(choose(found, ["all"])) == 2
    with pytest.raises(InputError) as caught:
        choose(found, ["page 3"])
    assert "as original" in caught.value.hint


def test_a_removed_paragraph_mark_joins_in_one_reading_only() -> None:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    xml = (
        f"<w:document {w}><w:body><w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>one</w:t>"
        "</w:r></w:p><w:p><w:r><w:t>two</w:t></w:r></w:p></w:body></w:document>"
    )
    notes = f"<w:footnotes {w}><w:footnote><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote>"
    notes += "</w:footnotes>"
    data = archived({"word/document.xml": xml, "word/footnotes.xml": notes})
    found = parts(read(data, "x.docx"))
    assert found["as accepted"] == "onetwo"
    assert found["as original"] == "one\n\ntwo"
    assert found["footnotes"] == "a note"


ODT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body><office:text>'
    "{}</office:text></office:body></office:document-content>"
)


def opendocument(body: str) -> bytes:
    kind = "application/vnd.oasis.opendocument.text"
    return archived({"mimetype": kind, "content.xml": ODT.format(body)})


def test_opendocument_gives_spaces_lists_tables_and_notes() -> None:
    body = (
        "<text:h>Head</text:h><text:p>Two<text:s text:c='2'/>spaces,\n  <text:span>one</text:span>"
        "<text:tab/>tab<text:note><text:note-body><text:p>noted</text:p></text:note-body>"
        "</text:note>.</text:p><text:list><text:list-item><text:p>a</text:p></text:list-item>"
        "<text:list-item><text:p>b</text:p></text:list-item></text:list><table:table>"
        "<table:table-row><table:table-cell><text:p>1</text:p></table:table-cell>"
        "<table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table>"
    )
    found = parts(read(opendocument(body), "x.odt"))
    assert found[""] == "Head\n\nTwo  spaces, one\ttab.\n\na\nb\n1\t2"
    assert found["footnotes"] == "noted"


def test_opendocument_changes_have_both_readings() -> None:
    body = (
        "<text:tracked-changes><text:changed-region text:id='c1'><text:deletion>"
        "<text:p>old</text:p></text:deletion></text:changed-region>"
        "<text:changed-region text:id='c2'><text:insertion/>"
        "</text:changed-region></text:tracked-changes><text:p>The "
        "<text:change text:change-id='c1'/>"
        "<text:change-start text:change-id='c2'/>new<text:change-end text:change-id='c2'/> word."
        "</text:p>"
    )
    found = parts(read(opendocument(body), "x.odt"))
    assert found == {"as accepted": "The new word.", "as original": "The old word."}


# PDF


SETTINGS = (
    "#set page(width: 13cm, height: {}, columns: {}, header: [Running head], numbering: {})\n"
)


@pytest.mark.parametrize(
    ("height", "columns", "justify"),
    [("40cm", 1, "true"), ("12cm", 2, "true"), ("9cm", 1, "false")],
)
def test_a_pdf_gives_back_words_and_paragraphs(height: str, columns: int, justify: str) -> None:
    head = SETTINGS.format(height, columns, '"1 / 1"')
    if height == "40cm":  # on one page nothing can tell a running head from a line of text
        head = head.replace("[Running head]", "none")
    head += f'#set text(lang: "en", hyphenate: true)\n#set par(justify: {justify})\n'
    data = typst.compile((head + TEXT).encode())
    found = read(data, "x.pdf").chosen[0]
    assert found.text.split() == TEXT.split()
    assert "Running head" not in found.text
    counts = {t.name: t.count for t in found.transforms}
    assert counts["line-ends-joined"] > 5
    if columns == 2:
        assert counts["hyphens-joined"] > 3
    else:
        assert found.text == TEXT.replace("  ", " ")


def test_a_pdf_says_where_its_pages_begin() -> None:
    first = "One page of a few words that fill no line"
    third = "An office (ffi) on the third page, whose lines are joined. " * 3
    data = typst.compile(
        f"#set text(ligatures: true)\n{first}#pagebreak()#page[]\n{third}#pagebreak()End".encode()
    )
    found = read(data, "x.pdf").chosen[0]
    starts = (*found.pages, len(found.text))
    pages = [found.text[a:b].strip() for a, b in pairwise(starts)]
    assert pages == [first, "", third.strip(), "End"]
    assert input_facts(found, 9).pages == found.pages
    assert input_facts(found, 9, "another text").pages == ()


def grid(rows: list[tuple[str, str]]) -> bytes:
    """Return a page with text placed where it is told."""
    placed = " ".join(
        f"1 0 0 1 {x} {700 - 14 * n} Tm ({text}) Tj"
        for n, row in enumerate(rows)
        for x, text in zip((72, 320), row, strict=True)
        if text
    )
    return page_of(f"BT /F1 10 Tf {placed} ET")


def test_columns_written_row_by_row_are_put_in_order() -> None:
    rows = [
        ("the left column of words begins at", "the right column goes on with more"),
        ("the top and it has a long and diffi-", "words of its own until it ends with"),
        ("cult word in it, and then this line", "a short line here."),
        ("is the last full one of the four.", ""),
    ]
    found = read(grid(rows), "x.pdf").chosen[0]
    left = "the left column of words begins at the top and it has a long and difficult word in it, "
    assert found.text.replace("\n\n", " ") == (
        left + "and then this line is the last full one of the four. the right column goes on with "
        "more words of its own until it ends with a short line here."
    )
    assert {t.name: t.count for t in found.transforms}["columns-ordered"] == 3


def test_a_table_of_figures_stays_in_rows() -> None:
    found = read(grid([("apples", "12"), ("pears", "7"), ("plums", "31")]), "x.pdf")
    assert found.chosen[0].text.split() == ["apples", "12", "pears", "7", "plums", "31"]


# The web, mail, data


def test_only_the_visible_text_of_a_page_is_read() -> None:
    page = """<!doctype html><html><head><title>T</title><meta charset="iso-8859-1">
    <style>.secret, #gone { color: red; display: none }</style></head><body>
    <h1>Head</h1><p>One   <b>bold</b>,
    line<br>two.<p>Three&nbsp;&amp; four<!-- comment -->.
    <div hidden>no</div><p style="DISPLAY : none">no</p><span style="opacity:0">no</span>
    <p class="x secret">no <b>no</b></p><div id=gone>no<p>no</div>
    <ul><li>a<li>b</ul><table><tr><th>1<th>2<tr><td>3<td>4</table><script>no()</script>
    <pre>  kept
    as is</pre><template>no</template><p>caf\xe9 end</body></html>"""
    found = read(page.encode("latin-1"), "x.html").chosen[0]
    assert found.text == (
        "Head\n\nOne bold, line\ntwo.\n\nThree\xa0& four.\n\na\nb\n\n1\t2\n3\t4\n\n  kept\n"
        "    as is\n\ncafé end"
    )
    assert found.encoding_source == "declared"
    assert {t.name: t.count for t in found.transforms} == {"hidden-removed": 7}


def mail() -> EmailMessage:
    message = EmailMessage()
    message["From"] = "a@example.com"
    message["Subject"] = "Grüße"
    body = (
        "Grüße! This long line is encoded as quoted-printable and so it is broken in transit, = \n"
        "\nOn Monday, Bob <b@c> wrote:\n> quoted words\n> go on\n\nMine again.\n-- \nA. Sender\n"
    )
    message.set_content(body, charset="iso-8859-1", cte="quoted-printable")
    message.add_alternative("<p>the same as HTML</p>", subtype="html")
    message.add_attachment("attached text\n", filename="notes.txt")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="p.png")
    return message


def test_mail_is_split_into_own_quoted_and_attached() -> None:
    found = read(bytes(mail()), "x.eml")
    assert roles(found) == {
        "body": MAIN,
        "quoted 1": QUOTED,
        "html version": ALTERNATIVE,
        "attachment notes.txt": ATTACHMENT,
    }
    texts = parts(found)
    assert texts["body"].startswith("Grüße! This long line is encoded as quoted-printable and so")
    assert texts["body"].endswith("= \n\nMine again.")
    assert texts["quoted 1"] == "quoted words\ngo on"
    assert [d.part for d in found.chosen] == ["body", "attachment notes.txt"]
    (body, _) = found.chosen
    said = {(one.kind, one.location or one.part, one.words) for one in body.left_out}
    assert said == {
        (LeftOutKind.SIGNATURE, "", 2),
        (LeftOutKind.HEADER, "", 6),
        (LeftOutKind.PICTURE, "p.png", 0),
        (LeftOutKind.QUOTED_ORIGINAL, "quoted 1", 4),
        (LeftOutKind.OTHER_VERSION, "html version", 4),
    }


def test_flowed_lines_are_joined() -> None:
    data = b"From: a@b\nContent-Type: text/plain; format=flowed\n\nOne line \ngoes on.\nNew.\n"
    found = read(data, "x.eml").chosen[0]
    assert found.text == "One line goes on.\nNew."
    assert found.transforms[0].count == 1


def test_a_mailbox_gives_every_message() -> None:
    one = bytes(mail())
    data = b"From a@b Mon\n" + one + b"\nFrom c@d Tue\n" + one.replace(b"Mine", b">From Mine")
    found = parts(read(data, "x.mbox"))
    assert found["message 1, body"].endswith("Mine again.")
    assert found["message 2, body"].startswith("Grüße")


LONG = "nine words that stand together in this one cell"


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_long_cells_and_columns_of_a_table(sign: str) -> None:
    rows = f'id{sign}text\n1{sign}"{LONG}\nand ""more"""\n2{sign}short\n'
    found = read(rows, "x.csv")
    assert parts(found)["row 2, column text"] == f'{LONG}\nand "more"'
    assert parts(found)["column text"].endswith("\nshort")
    assert roles(found)["column text"] == ALTERNATIVE
    assert [d.part for d in found.chosen] == ["row 2, column text"]
    (cell,) = found.chosen
    assert [(one.kind, one.words) for one in cell.left_out] == [(LeftOutKind.CELL, 1)]
    assert cell.examined_words == 11


def test_json_takes_the_text_and_not_the_prompt() -> None:
    assert parts(read('{"prompt": "p", "text": "t é"}', "x.json")) == {"": "t é"}
    nested = '{"meta": {"n": 1}, "items": [{"message": {"content": "a"}}, {"output": "b"}]}'
    assert list(parts(read(nested, "x.json")).values()) == ["a", "b"]
    lines = '{"a": "x", "essay": "one"}\n\n{"essay": "two\u2028three"}\n'
    assert parts(read(lines, "x.jsonl", field="essay")) == {
        "row 1": "one",
        "row 3": "two\u2028three",
    }
    with pytest.raises(InputError, match="in a field or column"):
        read('{"n": 1}', "x.json")
    with pytest.raises(InputError, match="Line 2"):
        read('{"text": "x"}\n{"text" 7}', "x.jsonl")


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (rb"{\*\unknown hidden}shown", "shown"),
        (b"{\r\n\\*\r\n\\unknown hidden}shown", "shown"),
        (rb"{\b\*\cs7 shown}", "shown"),
        (rb"{\b shown\*\unknown too}", "showntoo"),
    ],
)
def test_rtf_group_may_be_skipped_only_where_its_mark_comes_first(group: bytes, text: str):
    """StarOffice writes the mark among the settings of a group whose text everybody sees."""
    (document,) = read_data(rb"{\rtf1\ansi " + group + b"}", name="x.rtf").documents
    assert document.text.strip() == text


def test_rtf_gives_escapes_and_code_pages() -> None:
    data = rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator X;}caf\'e9 \u8220?q\u8221?"
    found = read(data + rb"\par\par next {\b bold} one\par\bin4 }}}} end}", "x.rtf").chosen[0]
    assert found.text.split() == ["café", "“q”", "next", "bold", "one", "end"]
    assert "\n\n" in found.text


# Encodings


@pytest.mark.parametrize(
    ("text", "encoding", "source"),
    [
        ("Съешь же ещё этих мягких французских булок, да выпей же чаю.", "cp1251", "detected"),
        ("Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και τα λοιπά.", "cp1253", "detected"),
        ("Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich", "cp1252", "fallback"),
        ("Příliš žluťoučký kůň", "cp1250", "fallback"),
        ("plain words without a mark", "utf-16-le", "pattern"),
        ("Grüße", "utf-32", "mark"),
    ],
)
def test_encodings_are_found_and_the_way_is_said(text: str, encoding: str, source: str) -> None:
    found = read(text.encode(encoding), "x.txt").chosen[0]
    assert found.text == text
    assert found.encoding_source == source


def test_the_user_has_the_last_word() -> None:
    data = "Příliš žluťoučký kůň úpěl ďábelské ódy".encode("iso-8859-2")
    assert read(data, "x.txt").chosen[0].encoding == "windows-1252"
    found = read(data, "x.txt", encoding="iso-8859-2").chosen[0]
    assert found.text.startswith("Příliš žluťoučký")
    assert found.encoding_source == "chosen"
    shown = {p.encoding: p.sample for p in previews(data, characters=6)}
    assert shown["iso-8859-2"] == "Příliš"
    assert "utf-8" not in shown
    codes = {"utf-8": "input-encoding", "base64": "usage", "utf-7": "usage", "no-such": "usage"}
    for wrong, code in codes.items():
        with pytest.raises(InputError, check=lambda e, c=code: e.code == c):
            read(data, "x.txt", encoding=wrong)
    with pytest.raises(InputError, check=lambda e: e.code == "usage"):
        read(data, "x.txt", format="xyz")


def test_every_format_has_a_line_in_the_page() -> None:
    from pathlib import Path

    root = Path(__file__).parents[3]
    page = (root / "docs" / "reference" / "documents.md").read_text(encoding="utf-8")
    for form in FORMATS.values():
        assert f"| `{form.name}` |" in page
        assert all(ending in page for ending in form.endings)


def test_every_part_that_cannot_be_read_is_told() -> None:
    rows = [b'"An honest line."', b'"half \\ud800 a pair"', b'"a \\u0000 in it"', b'""']
    data = b"\n".join(b'{"text": %s}' % row for row in rows)
    found = read_data(data, name="a.jsonl")
    assert [one.part for one in found.chosen] == ["row 1"]
    told = [(one.part, one.error.key) for one in found.missed()]
    assert told == [
        ("row 2", "input.surrogates"),
        ("row 3", "input.nul"),
        ("row 4", "input.empty"),
    ]
    assert [one.part for one in found.missed(["row 3"])] == ["row 3"]
    assert choose(found, ["row 3"]) == ()


def workbook() -> bytes:
    book = Workbook()
    sheet = book.active
    sheet.title = "Answers"
    sheet.append(["question", "answer", 3])
    sheet.append(["Why?", PARAGRAPHS[0].strip(), 4.5])
    sheet.append(["=1+1", None, "x"])
    sheet["A5"] = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"))
    sheet["B2"].comment = Comment("A comment on it", "somebody")
    drafts = book.create_sheet("Drafts")
    drafts.sheet_state = "hidden"
    drafts["A1"] = "what was hidden"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_workbook_gives_its_sheets_and_names_what_is_hidden() -> None:
    found = read(workbook(), "x.xlsx")
    said = PARAGRAPHS[0].strip()
    assert parts(found) == {
        "sheet Answers": f"question\tanswer\nWhy?\t{said}\nx\nplain bold",
        "sheet Answers, cell B2": said,
        "sheet Answers, comments": "A comment on it",
        "sheet Drafts (hidden)": "what was hidden",
    }
    (main,) = found.chosen
    assert [note.key for note in main.notes] == ["left-out.number-cells"]
    assert [(one.kind, one.part) for one in main.left_out] == [
        (LeftOutKind.COMMENT, "sheet Answers, comments"),
        (LeftOutKind.SHEET, "sheet Drafts (hidden)"),
    ]
    assert choose(found, ["sheet Drafts (hidden)"])[0].text == "what was hidden"


SLIDE = (
    '<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" {show}>'
    "<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
)
SHAPE = (
    '<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>'
    "<a:p><a:pPr/><a:r><a:rPr/><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
)
TABLE = (
    "<p:grpSp><p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>"
    "<a:tc><a:txBody><a:p><a:r><a:t>one</a:t></a:r></a:p></a:txBody></a:tc>"
    "<a:tc><a:txBody><a:p><a:r><a:t>two</a:t></a:r></a:p></a:txBody></a:tc>"
    "</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame></p:grpSp>"
)
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
RELATION = '<Relationship Id="{}" Type="http://x/{}" Target="{}"{}/>'


def presentation(**more: str) -> bytes:
    """A deck as PowerPoint writes it, with the last slide first in the folder and one hidden."""
    shown = (3, 1, 2)
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in shown)
    slides = {
        1: SLIDE.format(show="", shapes=SHAPE.format(kind="body", text="Second words") + TABLE),
        2: SLIDE.format(show='show="0"', shapes=SHAPE.format(kind="body", text="Never shown")),
        3: SLIDE.format(
            show="",
            shapes=SHAPE.format(kind="title", text="The harbour")
            + SHAPE.format(kind="sldNum", text="1"),
        ),
    }
    related = "".join(RELATION.format(f"r{n}", "slide", f"slides/slide{n}.xml", "") for n in slides)
    notes = RELATION.format("r1", "notesSlide", "../notesSlides/notesSlide1.xml", "")
    notes += RELATION.format("r2", "hyperlink", "http://localhost:9/x", ' TargetMode="External"')
    entries = {
        "ppt/presentation.xml": '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>'
        f"{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": RELATIONS.format(related),
        **{f"ppt/slides/slide{n}.xml": xml for n, xml in slides.items()},
        "ppt/slides/_rels/slide3.xml.rels": RELATIONS.format(notes),
        "ppt/notesSlides/notesSlide1.xml": SLIDE.format(
            show="", shapes=SHAPE.format(kind="body", text="What is said about it")
        ),
    }
    return archived(entries | more)


def test_a_presentation_gives_slides_in_the_order_of_the_show_and_notes() -> None:
    found = read(presentation(), "x.pptx")
    assert parts(found) == {
        "slides": "The harbour\n\nSecond words\n\none\ttwo",
        "notes": "What is said about it",
        "slide 1": "The harbour",
        "notes of slide 1": "What is said about it",
        "slide 2": "Second words\n\none\ttwo",
        "slide 3 (hidden)": "Never shown",
    }
    assert [one.part for one in found.chosen] == ["slides", "notes"]
    slides, notes = found.chosen  # the third is hidden
    assert slides.pages == (0, slides.text.index("Second"), len(slides.text))
    assert notes.pages == (0, len(notes.text), len(notes.text))
    assert [(one.kind, one.part, one.words) for one in slides.left_out] == [
        (LeftOutKind.SLIDE, "slide 3 (hidden)", 2)
    ]


# The whole table


def cell(text: str) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows([["id", "text"], ["1", text]])
    return file.getvalue().encode()


def rich(text: str) -> bytes:
    signs = [c if ord(c) < 128 else f"\\u{ord(c)}?" for c in text]
    return b"{\\rtf1\\ansi " + "".join(signs).encode() + b"}"


def sheet(text: str) -> bytes:
    book, file = Workbook(), io.BytesIO()
    book.active.append([text])
    book.save(file)
    return file.getvalue()


def deck(text: str) -> bytes:
    shown = SLIDE.format(show="", shapes=SHAPE.format(kind="body", text=text))
    empty = SLIDE.format(show="", shapes="")
    others = ("slides/slide2", "slides/slide3", "notesSlides/notesSlide1")
    slides = {f"ppt/{name}.xml": empty for name in others}
    return presentation(**{"ppt/slides/slide1.xml": shown, **slides})


def letter(text: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@b", "c@d", "e"
    message.set_content(text + "\n")
    return bytes(message)


CONTAINER = "<container><rootfiles><rootfile full-path='b/book.opf'/></rootfiles></container>"


def book(*chapters: str, **more: str) -> bytes:
    """A book; the order of its chapters is not that of the archive."""
    items = "".join(
        f"<item id='c{n}' href='c%20{n}.xhtml' media-type='application/xhtml+xml'/>"
        for n in range(len(chapters))
    )
    spine = "".join(f"<itemref idref='c{n}'/>" for n in reversed(range(len(chapters))))
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "b/book.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"b/c {n}.xhtml": one for n, one in enumerate(chapters)},
        **more,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_chapters_of_a_book_are_one_text_in_their_order() -> None:
    last, first = "<p>Last &amp; least.", "<h1>One</h1><script>x</script><p>First."
    (found,) = read(book(last, first), "x.epub").documents
    assert found.text == "One\n\nFirst.\n\nLast & least."
    sealed = "<encryption><CipherReference URI='b/c%200.xhtml'/></encryption>"
    fonts = sealed.replace("c%200.xhtml", "font.otf")
    assert read(book(last, **{"META-INF/encryption.xml": fonts}), "x.epub").documents
    with pytest.raises(InputError) as refused:
        read(book(last, **{"META-INF/encryption.xml": sealed}), "x.epub")
    assert refused.value.code == "input-encrypted"
    twice = book(last).replace(b"<itemref idref='c0'/>", b"<itemref idref='c7'/>")
    with pytest.raises(InputError, match="damaged"):
        read(twice, "x.epub")


def chunk(piece: str) -> dict[str, object]:
    choice = {"index": 0, "delta": {"content": piece}}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}


WRITERS: dict[str, Callable[[str], bytes]] = {
    "csv": cell,
    "pdf": lambda text: typst.compile(text.encode()),
    "docx": lambda text: word(lambda document: document.add_paragraph(text)),
    "odt": lambda text: opendocument(f"<text:p>{text}</text:p>"),
    "epub": lambda text: book(f"<html><body><p>{html.escape(text)}</p></body></html>"),
    "xlsx": sheet,
    "pptx": deck,
    "rtf": rich,
    "json": lambda text: json.dumps({"text": text}).encode(),
    "jsonl": lambda text: json.dumps({"text": text}).encode() + b"\n",
    "html": lambda text: f"<!doctype html><meta charset=utf-8><p>{html.escape(text)}".encode(),
    "eml": letter,
    "mbox": lambda text: b"From a@b Mon\n" + letter(text),
    "stream": lambda text: b"".join(
        b"data: " + json.dumps(chunk(piece)).encode() + b"\n\n" for piece in (text[:9], text[9:])
    ),
    "subtitles": lambda text: f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n".encode(),
    "msg": lambda text: compound(
        ["__properties_version1.0", "__substg1.0_1000001F"],
        {"__substg1.0_1000001F": text.encode("utf-16-le")},
    ),
    "whatsapp": lambda text: f"1/2/26, 10:00 - Anna: Hi.\n1/2/26, 10:01 - Ben: {text}\n".encode(),
}
"""A file of each format with one text, where that is not the text as it is."""


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "picture"])  # test_ocr.py
def test_every_format_gives_back_what_was_written_under_each_of_its_names(name: str) -> None:
    for text in (
        "Grüße an alle, die dieses eine Blatt lesen: es ist um 7 Uhr geöffnet.",
        "Nine other words — “quoted” ones — stand in this second text.",
    ):
        data = WRITERS.get(name, str.encode)(text)
        endings = FORMATS[name].endings or (".txt",)
        found = read(data, f"x{endings[0]}")
        assert (found.format, [d.text for d in found.chosen]) == (name, [text])
        for ending in endings:
            assert read(data, f"x{ending.upper()}").format == name


def test_no_reader_loads_what_a_later_python_has_no_more(monkeypatch):
    # PEP 594, and what went before it; each stands in the library of Python 3.11.
    gone = {
        *("aifc", "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "crypt", "distutils"),
        *("imghdr", "imp", "mailcap", "nntplib", "pipes", "smtpd", "sndhdr", "sunau", "telnetlib"),
        *("uu", "xdrlib"),
    }
    monkeypatch.setattr(sys, "version_info", (3, 13, 0, "final", 0))
    later = importlib.util.module_from_spec(formats.__spec__)
    formats.__spec__.loader.exec_module(later)
    assert later.FORMATS.keys() == FORMATS.keys()
    for form in later.FORMATS.values():
        assert not gone & {name.partition(".")[0] for name in form.preload}, form.name

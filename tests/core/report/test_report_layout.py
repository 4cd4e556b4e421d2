"""How a report is laid out: what stands where, what can be copied, where pages break."""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pikepdf
import pypdfium2
import pytest
from tests.core.records import RECORD

from pura.base.errors import InputError
from pura.base.numerals import LANGUAGES
from pura.record.audit import Audit
from pura.report.annexes import BEGINNING, BLOCK
from pura.report.blocks import (
    Block,
    Content,
    Labels,
    Section,
    compile_pdf,
    html_page,
    paragraph,
    render_pages,
    table,
)
from pura.report.build import build_report
from pura.report.check import GOOD, check_report
from pura.report.request import (
    EXCERPT,
    FULL,
    MAX_PAGE,
    REDACTED,
    TEXT_MODES,
    ItemNotes,
    PagePicture,
    Parties,
    ReportRequest,
    read,
)
from pura.words.sentences import scale

ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
HYPHENATED = "\ufffe"
"""What PDFium makes of a hyphen at the end of a line: it takes it for one of hyphenation."""
PARTIES = {
    "en": Parties(
        organisation="Examination office",
        address="1 Example Street, 10000 Example",
        place="Example",
        customer="City Paper Ltd",
        question="Does the text carry our mark?",
        purpose="Complaint of 3 November 2026",
        examiner="A. Example",
        reviewer="B. Second",
        authoriser="C. Third",
    ),
    "de": Parties(
        organisation="Prüfstelle",
        address="Beispielstraße 1, 10000 Beispiel",
        place="Beispiel",
        customer="Stadtzeitung GmbH",
        question="Trägt der Text unsere Markierung?",
        purpose="Beschwerde vom 3. November 2026",
        examiner="A. Beispiel",
        reviewer="B. Zweite",
        authoriser="C. Dritte",
    ),
}
CAME = ItemNotes(
    source="E-mail, attachment", received="3 November 2026, 14:10", custody="A. Example since then"
)


def pages_of(pdf: bytes) -> list[str]:
    """Return what can be copied of each page."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        return [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()


def lefts(pdf: bytes, words: str) -> set[int]:
    """Return where on their pages words begin, in points from the left."""
    document = pypdfium2.PdfDocument(pdf)
    found = set()
    try:
        for page in document:
            text = page.get_textpage()
            search = text.search(words, match_case=True)
            while (place := search.get_next()) is not None:
                found.add(round(text.get_charbox(place[0], loose=True)[0]))
    finally:
        document.close()
    return found


def blocks_of(content: Content) -> Iterator[Block]:
    yield from content.summary
    for section in content.sections:
        yield from section.blocks


def usual(language: str) -> ReportRequest:
    return ReportRequest(
        number="R-2026-117",
        case="2026-117",
        classification="X",
        language=language,
        parties=PARTIES[language],
        item=CAME,
    )


@pytest.fixture(scope="module")
def marked(audited: Any, samples: dict[str, Any]) -> Audit:
    """One mark in an English text, as the built-in model reads it."""
    found = audited(samples["marked-tbcc"]["texts"][1]["text"], name="statement.docx")
    assert isinstance(found, Audit)
    return found


@pytest.fixture(scope="module")
def three_marks(audited: Any, samples: dict[str, Any]) -> Audit:
    """Three marks in one text, each in paragraphs of its own."""
    texts = [sample["text"].strip() for sample in samples["marked-tbcc"]["texts"][:3]]
    host = " ".join(sample["text"] for sample in samples["plain"]["texts"][:2])
    parts = (host[:500], texts[0], host[500:1000], *texts[1:], host[1000:1300])
    found = audited("\n\n".join(parts), name="statement.docx")
    assert len(found.finding.marks) == 3
    assert isinstance(found, Audit)
    return found


@pytest.mark.model
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("many", [False, True])
def test_answer_and_evidence_stand_on_two_pages_before_the_method(
    marked, three_marks, language, many
):
    marked = three_marks if many else marked
    report = build_report([marked], usual(language))
    (behind,) = (s for s in report.content.sections if s.apart)
    pages = pages_of(report.pdf)
    (first,) = (n for n, text in enumerate(pages) if f"{behind.number} {behind.title}" in text)
    assert first <= 2
    before = " ".join("\n".join(pages[:first]).split())
    labels = Labels(language)
    for words in (
        marked.title(language),
        marked.input.sha256,
        labels("l"),
        labels("passages"),
        labels("lr"),
        PARTIES[language].authoriser,
        CAME.custody,
        *(row.word for row in scale(language)[-1:]),
    ):
        assert words in before, words
    assert labels("section.method") not in before


@pytest.mark.model
@pytest.mark.parametrize("language", LANGUAGES)
def test_values_stand_in_one_column(marked, language):
    report = build_report([marked], usual(language))
    rows = [
        row for block in blocks_of(report.content) if block.kind == "facts" for row in block.rows
    ]
    assert len(rows) > 30
    columns = [lefts(report.pdf, value[:12]) for _, value in rows if len(value) >= 12]
    assert len(columns) > 15
    assert set.intersection(*columns)
    names = [lefts(report.pdf, name[:12]) for name, _ in rows]
    assert set.intersection(*names) == {round(2 / 2.54 * 72)}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", TEXT_MODES)
def test_nothing_invisible_is_copied(honest_record, language, text):
    long = "/".join(["folder-of-the-newsroom"] * 9)
    found = honest_record()
    audit = replace(found, input=replace(found.input, name=f"a\u200bb\u00ad{long}"))
    report = build_report([audit, honest_record(1)], replace(usual(language), text=text))
    copied = "".join(pages_of(report.pdf))
    assert [f"U+{ord(sign):04X}" for sign in ZERO_WIDTH + HYPHENATED if sign in copied] == []
    assert not set(ZERO_WIDTH) & set(html_page(report.content))
    assert "⟨U+200B⟩" in copied
    assert found.input.sha256 in copied


@pytest.mark.parametrize("language", LANGUAGES)
def test_dates_are_written_in_one_way(honest_record, language):
    request = replace(usual(language), issued="2026-11-20")
    day = {"en": "21 November 2026", "de": "21. November 2026"}[language]
    for audits in ([RECORD], [honest_record()], [RECORD, honest_record()]):
        report = build_report(audits, request)
        for words in ("".join(pages_of(report.pdf)), html_page(report.content)):
            assert day.replace("21", "20") in words
            assert (day in words) == (RECORD in audits), "a field of the payload"
            assert re.findall(r"\d{4}-\d\d-\d\d", words) == []


@pytest.mark.parametrize("text", [EXCERPT, REDACTED])
def test_what_is_hidden_is_a_black_bar(honest_record, text):
    audit = honest_record(text="words " * 200)
    request = ReportRequest(text=text, redactions=((300, 900),))
    copied = "".join(pages_of(build_report([audit], request).pdf))
    assert f"U+{ord(BLOCK):04X}" not in copied
    assert copied.count(BLOCK) == 1200 - BEGINNING == 600


def of_blocks(*blocks: Block) -> Content:
    return Content(
        title="T",
        language="en",
        paper="a4",
        head="",
        foot="",
        page="",
        draft="",
        date=(2026, 11, 21),
        sections=(Section(number=1, title="S", blocks=blocks),),
        end="",
    )


def test_tables_break_between_rows_below_a_repeated_head():
    rows = [(f"begin{n}.", f"{'words ' * 60} end{n}.") for n in range(60)]
    for long in (
        table(("Columnhead", "Other"), rows, ("left", "left"), (1, 3)),
        Block(kind="facts", rows=tuple(rows)),
    ):
        pages = pages_of(compile_pdf(of_blocks(long)))
        assert len(pages) > 4
        for n in range(60):
            assert [f"begin{n}." in page and f"end{n}." in page for page in pages].count(True) == 1
        if long.head:
            assert all("Columnhead" in page for page in pages)


def test_a_row_longer_than_a_page_is_not_cut():
    long = table(("A", "B"), [("x", "words " * 3000 + "end.")], ("left", "left"), (1, 1))
    pages = pages_of(compile_pdf(of_blocks(long)))
    assert len(pages) > 1
    assert "end." in pages[-1]


@pytest.fixture(scope="module")
def pictures() -> tuple[PagePicture, ...]:
    (png,) = render_pages(compile_pdf(of_blocks(paragraph("Original"))), dpi=40)
    return ((3, png), (4, png))


def pictures_on(pdf: bytes) -> list[int]:
    """Return how many pictures each page has."""
    document = pypdfium2.PdfDocument(pdf)
    image = pypdfium2.raw.FPDF_PAGEOBJ_IMAGE
    try:
        return [len(list(page.get_objects([image], max_depth=9))) for page in document]
    finally:
        document.close()


@pytest.mark.parametrize("paper", ["a4", "us-letter"])
def test_pages_of_the_original_stand_in_the_annex_one_a_page(honest_record, paper, pictures):
    request = ReportRequest(paper=paper, pages=((), pictures))
    report = build_report([honest_record(), honest_record(1)], request)
    captions = [Labels("en")("annex.page", n=n) for n, _ in pictures]
    shown = [[words for words in captions if words in page] for page in pages_of(report.pdf)]
    assert pictures_on(report.pdf) == [len(words) for words in shown]
    assert [words for words in shown if words] == [[words] for words in captions]
    assert all(words in html_page(report.content) for words in captions)
    checked = check_report(report.pdf, moment=datetime.now(UTC))
    assert {one.name: one.state for one in checked.checks}["pages"] == GOOD


def test_pages_of_a_text_that_is_hidden_are_not_in_the_file(honest_record, pictures):
    for mode in TEXT_MODES:
        request = ReportRequest(text=mode, pages=(pictures, pictures))
        report = build_report([honest_record(), honest_record(1, text=None)], request)
        with pikepdf.open(io.BytesIO(report.pdf)) as document:
            told = bytes(document.attachments["particulars.json"].get_file().read_bytes())
        assert read(told)["request"].pages == ((pictures, ()) if mode == FULL else ())
        assert sum(pictures_on(report.pdf)) == (len(pictures) if mode == FULL else 0)


def test_what_is_no_picture_of_a_page_is_refused(honest_record):
    for data in (b"<svg/>", b"", b"\x89PNG\r\n\x1a\n", bytes(MAX_PAGE + 1)):
        with pytest.raises(InputError, match="picture"):
            build_report([honest_record()], ReportRequest(pages=(((1, data),),)))

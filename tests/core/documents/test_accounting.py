"""Every letter of a file is read, or stands in the list of what was left out.

Files are made at random, of places that each format has, and by other programs.
"""

from __future__ import annotations

import html
import io
import os
import subprocess
from collections import Counter
from email.message import EmailMessage
from itertools import count
from pathlib import Path

import docx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.documents.office_files import Part, paragraph, story, word_package

from pura.documents import Extraction, read_data

SLOW = settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)


def accounted(extraction: Extraction) -> Counter[str]:
    """Return the letters of a file that are examined or listed, by their kind.

    Each place has words of its own letters, so that one that is counted twice shows.
    """
    letters: Counter[str] = Counter()
    parts = {document.part: document for document in extraction.documents}
    listed = {entry.part for entry in extraction.chosen[0].left_out if entry.part}
    for document in (*extraction.chosen, *(parts[name] for name in listed)):
        letters.update(sign for sign in document.text if sign.isalnum())
    return letters


def counted(extraction: Extraction) -> int:
    """Return how many letters are examined or listed, as the answer counts them."""
    groups = {document.group: document for document in extraction.chosen}
    examined = sum(sum(map(str.isalnum, document.text)) for document in extraction.chosen)
    entries = [entry for document in groups.values() for entry in document.left_out]
    assert all(entry.words is not None for entry in entries)
    return examined + sum(entry.letters for entry in entries)


# Pages

CONTAINERS = [
    "div", "p", "ul", "section", "blockquote", "details", "dialog", "noscript", "td", "b", "button",
    "template", "svg", "object", "textarea", "option", "h1", "pre", "main", "span", "iframe",
]  # fmt: skip
ATTRIBUTES = [
    "", " hidden", ' aria-hidden="true"', ' style="display:none"', ' style="opacity:0"',
    ' style="font-size:0"', ' style="font-size:12px"', ' style="visibility:hidden"',
    ' style="visibility:visible"', ' class="a"', ' class="b a"', ' id="c"',
    ' shadowrootmode="open"', ' type="cite"',
]  # fmt: skip
SHEETS = [
    "", ".a{display:none}", "@media print{.a{display:none}}", "#c{opacity:0} .b{font-size:0}",
    "@media (max-width:9px){p{display:none}} div{visibility:hidden}", ".a{display:none",
]  # fmt: skip
WORDS = st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=0x24F), max_size=9)
WITHOUT_ELEMENTS = ("textarea", "iframe", "option", "noscript")
"""What a parser takes as text up to its end; elements inside would be text of another kind."""


@st.composite
def pages(draw: st.DrawFn, depth: int = 4) -> tuple[str, str]:
    """Draw the source of some elements, and the words in their text."""
    source, words = "", ""
    for _ in range(draw(st.integers(1, 4))):
        text = draw(WORDS)
        tag, attribute = draw(st.sampled_from(CONTAINERS)), draw(st.sampled_from(ATTRIBUTES))
        inner, inner_words = html.escape(text), text
        if depth and tag not in WITHOUT_ELEMENTS and draw(st.booleans()):
            deeper, deeper_words = draw(pages(depth - 1))
            inner, inner_words = f"{inner} {deeper}", f"{inner_words} {deeper_words}"
        before = draw(WORDS)
        source += f"{before} <{tag}{attribute}>{inner}</{tag}>"
        words += f" {before} {inner_words}"
    return source, words


@SLOW
@given(page=pages(), sheet=st.sampled_from(SHEETS))
def test_every_letter_of_a_page_is_read_or_listed(page: tuple[str, str], sheet: str) -> None:
    body, words = page
    source = f"<!doctype html><style>{sheet}</style><body>Anchor {body} anchor</body>"
    extraction = read_data(source.encode(), name="x.html")
    letters = Counter(sign for sign in f"Anchor anchor {words}" if sign.isalnum())
    assert accounted(extraction) == letters
    assert counted(extraction) == letters.total()


# Mail

LINES = st.lists(WORDS.map(lambda word: f"{word} and more."), min_size=1, max_size=4)


@SLOW
@given(
    own=LINES,
    quoted=st.lists(LINES, max_size=2),
    announced=st.booleans(),
    signature=st.one_of(st.none(), LINES),
    page=st.one_of(st.none(), pages(depth=2)),
    attached=st.lists(LINES, max_size=2),
)
def test_every_letter_of_a_mail_is_read_or_listed(
    own: list[str],
    quoted: list[list[str]],
    announced: bool,
    signature: list[str] | None,
    page: tuple[str, str] | None,
    attached: list[list[str]],
) -> None:
    lines = [*own, ""]
    for passage in quoted:
        if announced:
            lines += ["On Mon, Nov 2, 2026 at 10:00 AM Anna <anna@example.org> wrote:"]
        lines += [*(f"> {line}" for line in passage), "", "Between them.", ""]
    if signature is not None:
        lines += ["-- ", *signature]
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "c"
    text = "\n".join(lines)
    message.set_content(text + "\n")
    words = text
    if page is not None:
        # Far more words than the plain version has, so that it neither is nor repeats it.
        filling = " ".join(f"filling{number}" for number in range(2 * len(text.split()) + 9))
        message.add_alternative(f"<p>{filling}</p>{page[0]}", subtype="html")
        words += f"{filling} {page[1]}"
    for number, content in enumerate(attached):
        message.add_attachment("\n".join(content), filename=f"{number}.txt")
        words += " ".join(content)
    extraction = read_data(bytes(message), name="x.eml")
    assert counted(extraction) == sum(map(str.isalnum, words))


# Word

WRAPPERS = [
    "{}",
    "<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>",
    "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>",
    "<w:p><w:r><w:drawing><wps:txbx><w:txbxContent>{}</w:txbxContent></wps:txbx></w:drawing></w:r></w:p>",
    '<w:customXml w:element="x">{}</w:customXml>',
]
RUNS = [
    "<w:p><w:r><w:t>{}</w:t></w:r></w:p>",
    "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>{}</w:t></w:r></w:p>",
    "<w:p><w:ins><w:r><w:t>{}</w:t></w:r></w:ins></w:p>",
    "<w:p><w:del><w:r><w:delText>{}</w:delText></w:r></w:del></w:p>",
    "<w:p><w:hyperlink><w:r><w:t>{}</w:t></w:r></w:hyperlink></w:p>",
    "<w:p><w:smartTag><w:r><w:t>{}</w:t></w:r></w:smartTag></w:p>",
]
STORIES = {
    "footnotes": "footnote",
    "endnotes": "endnote",
    "comments": "comment",
    "header": "",
    "footer": "",
}


@st.composite
def bodies(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """Draw some blocks of a Word document, and the words in them."""
    source, words = "", ""
    for _ in range(draw(st.integers(1, 3))):
        if depth and draw(st.booleans()):
            inner, inner_words = draw(bodies(depth - 1))
            source += draw(st.sampled_from(WRAPPERS)).format(inner)
        else:
            inner_words = draw(WORDS)
            source += draw(st.sampled_from(RUNS)).format(inner_words)
        words += f" {inner_words}"
    return source, words


@SLOW
@given(body=bodies(), stories=st.dictionaries(st.sampled_from(sorted(STORIES)), bodies(depth=1)))
def test_every_letter_of_a_word_document_is_read_or_listed(
    body: tuple[str, str], stories: dict[str, tuple[str, str]]
) -> None:
    roots = {"header": "hdr", "footer": "ftr"}
    parts = [
        Part(
            name=f"{name}1.xml",
            relation=name,
            content=story(
                roots.get(name, name),
                f'<w:{STORIES[name]} w:id="1">{source}</w:{STORIES[name]}>'
                if STORIES[name]
                else source,
            ),
        )
        for name, (source, _) in stories.items()
    ]
    sections = "".join(
        f'<w:{name}Reference r:id="r{number}" w:type="default"/>'
        for number, name in enumerate(stories, 1)
        if not STORIES[name]
    )
    end = f"<w:sectPr>{sections}</w:sectPr>"
    data = word_package(f"{paragraph('Anchor')}{body[0]}{end}", parts)
    words = " ".join(["Anchor", body[1], *(inner for _, inner in stories.values())])
    assert counted(read_data(data, name="x.docx")) == sum(map(str.isalnum, words))


# Files of other programs

MARKDOWN = """# Bread and salt

Bread was once called *sacred commerce*[^1] by those who **baked** it.

- first item of a list
- second item with `code`

> A quoted sentence stands apart.

| kind | weight |
|------|--------|
| rye  | heavy  |
| oat  | light  |

The [end](https://example.org) comes here.

[^1]: A note about the words above.
"""
WORDS_OF_MARKDOWN = (
    "Bread and salt Bread was once called sacred commerce by those who baked it first item of a "
    "list second item with code A quoted sentence stands apart kind weight rye heavy oat light The "
    "end comes here A note about the words above"
)


def written_by_pandoc(ending: str) -> bytes:
    command = ["pandoc", "-f", "markdown", "--standalone", "-t", ending, "-o", "-"]
    return subprocess.run(
        [*command, "--metadata", "title= "],
        input=MARKDOWN.encode(),
        capture_output=True,
        check=True,
    ).stdout


def missing_words(extraction: Extraction) -> Counter[str]:
    """Return the words of the source that stand in no part that is examined or listed."""
    parts = {document.part: document for document in extraction.documents}
    chosen = extraction.chosen
    listed = {entry.part for document in chosen for entry in document.left_out if entry.part}
    words: Counter[str] = Counter()
    for text in [*(one.text for one in chosen), *(parts[name].text for name in listed)]:
        words.update("".join(s if s.isalpha() else " " for s in text).split())
    return Counter(WORDS_OF_MARKDOWN.split()) - words


@pytest.mark.programs("pandoc")
@pytest.mark.parametrize("ending", ["html", "docx", "odt", "epub", "rtf", "pptx"])
def test_every_word_that_pandoc_wrote_is_read_or_listed(ending: str) -> None:
    extraction = read_data(written_by_pandoc(ending), name=f"x.{ending}")
    assert not missing_words(extraction)


@pytest.mark.slow
@pytest.mark.weekly  # LibreOffice is large: the weekly job installs it
@pytest.mark.programs("pandoc", "soffice")
@pytest.mark.parametrize("ending", ["docx", "odt", "rtf", "html", "pdf", "fodt"])
def test_every_word_that_libreoffice_wrote_is_read_or_listed(ending: str, tmp_path: Path) -> None:
    source = tmp_path / "x.docx"
    source.write_bytes(written_by_pandoc("docx"))
    target = tmp_path / "out"
    subprocess.run(
        [
            "soffice",
            f"-env:UserInstallation=file://{tmp_path}/profile",
            "--headless",
            "--convert-to",
            ending,
            "--outdir",
            str(target),
            str(source),
        ],
        check=True,
        capture_output=True,
        # Without a font, as the tests of the window run, LibreOffice converts nothing.
        env={name: value for name, value in os.environ.items() if name != "FONTCONFIG_FILE"},
    )
    data = (target / f"x.{ending}").read_bytes()
    assert not missing_words(read_data(data, name=f"x.{ending}"))


def test_every_word_of_another_writer_of_word_documents_is_read_or_listed() -> None:
    numbers = count(1)

    def words() -> str:
        return " ".join(f"word{next(numbers)}" for _ in range(5))

    document = docx.Document()
    document.add_heading(words())
    run = document.add_paragraph(words()).add_run(words())
    run.font.hidden = True
    table = document.add_table(1, 2)
    for cell in table._cells:
        cell.text = words()
    section = document.sections[0]
    section.header.paragraphs[0].text = words()
    section.footer.paragraphs[0].text = words()
    document.add_comment(document.paragraphs[1].runs[0], text=words(), author="Anna", initials="A")
    file = io.BytesIO()
    document.save(file)
    total = sum(len(f"word{number}") for number in range(1, next(numbers)))
    assert counted(read_data(file.getvalue(), name="x.docx")) == total

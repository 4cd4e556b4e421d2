"""Every section of a report, as it is put together: in both languages, on the page, in the PDF."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from itertools import zip_longest

import pikepdf
import pytest

from pura.base.numerals import LANGUAGES
from pura.record.audit import Audit
from pura.report import ReportRequest, build, html_page
from pura.report.blocks import Block, Content, Section, compile_pdf, facts, paragraph
from pura.report.build import Seals, content_of
from pura.words.sentences import forbidden

SEALS = Seals(name="record.json", record="0" * 64, size=1)
OF_THE_RECORD = ("text", "mono")
"""Blocks that are the same in every language: the examined text, long numbers."""


def words_of(block: Block) -> Iterator[str]:
    yield from (block.text, *block.head, *(cell for row in block.rows for cell in row), block.alt)
    yield "".join(words for words, _ in block.runs)


def sections_of(language: str, audits: Sequence[Audit]) -> Content:
    return content_of(audits, ReportRequest(language=language), SEALS)


def of_a_block(block: Block, language: str, page: str) -> dict[str, bool]:
    words = [words.strip() for words in words_of(block) if words.strip()]
    of_ours = " ".join(words) if block.kind not in OF_THE_RECORD else ""
    return {
        "an empty block": not words and not block.svg,
        "not on the page": block.kind != "text" and any(one not in page for one in words),
        "says too much": bool(forbidden(of_ours, language)),
    }


def same(one: Section, other: Section) -> bool:
    """Whether two languages say something in the same words."""
    pairs = zip_longest(one.blocks, other.blocks)
    return one.title == other.title or any(
        a == b and a.kind not in OF_THE_RECORD for a, b in pairs if a and b
    )


def faults_of(audits: Sequence[Audit]) -> set[str]:
    """Say what is wrong with the sections of a report on some items."""
    made = {language: sections_of(language, audits) for language in LANGUAGES}
    met: list[tuple[str, bool]] = []
    for language, report in made.items():
        page = unescape(html_page(report))
        for number, section in enumerate(report.sections, 1):
            met.append(("number", section.number != number))
            met.append(("no title", f"{number}\u2002{section.title}</h2>" not in page))
            met.append(("says nothing", not section.blocks))
            for block in section.blocks:
                met += of_a_block(block, language, page).items()
    first, *others = (report.sections for report in made.values())
    for other in others:
        pairs = zip(first, other, strict=True)
        met += [("one language for all", same(*pair)) for pair in pairs]
    return {fault for fault, is_so in met if is_so}


@pytest.fixture
def audits(honest_record: Callable[..., Audit]) -> dict[str, list[Audit]]:
    """Reports of every kind: one item, several, one that could not be examined."""
    return {
        "one": [honest_record()],
        "several": [honest_record(), honest_record(1)],
        "not examinable": [honest_record(verdict="not-examinable")],
    }


def test_every_section_of_every_kind_of_report(audits: dict[str, list[Audit]]) -> None:
    for kind, some in audits.items():
        assert faults_of(some) == set(), kind


def test_every_section_is_in_the_pdf(audits: dict[str, list[Audit]]) -> None:
    report = sections_of("en", audits["several"])
    with (
        pikepdf.open(io.BytesIO(compile_pdf(report))) as document,
        document.open_outline() as outline,
    ):
        titles = [str(item.title) for item in outline.root]
    assert [title.split(maxsplit=1)[-1] for title in titles][-len(report.sections) :] == [
        section.title for section in report.sections
    ]


def test_a_wrong_section_is_seen(
    audits: dict[str, list[Audit]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for blocks, fault in (
        ((), "says nothing"),
        ((paragraph(" "),), "an empty block"),
        ((paragraph("Only in English."),), "one language for all"),
        ((replace(facts([("Lost", "in Form")]), kind="fact"),), "not on the page"),
    ):
        monkeypatch.setattr(build.annexes, "integrity", lambda *_, made=blocks: made)
        assert fault in faults_of(audits["one"])

"""Every section of a report: in both languages and formats, what it hides, names and prints."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from itertools import zip_longest

import numpy as np
import pikepdf
import pytest
from tests.core.record.test_json_io import make_audit

from pura.base.errors import InputError
from pura.base.numerals import LANGUAGES
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.evidence import PowerFacts, QuestionFacts, QuestionReading
from pura.record.naming import CandidateFacts, Passage
from pura.report import build
from pura.report.annexes import BLOCK, NO_ID, Seals, names, public_audit, public_audits, table_files
from pura.report.blocks import (
    Block,
    Content,
    Labels,
    Section,
    compile_pdf,
    covered,
    facts,
    html_page,
    paragraph,
    printable,
)
from pura.report.build import content_of
from pura.report.method import method, validation
from pura.report.request import OMITTED, REDACTED, ReportRequest, check_request
from pura.words.sentences import forbidden

SEALS = Seals(name="record.json", record="0" * 64, size=1)
QUESTIONS = QuestionFacts(
    stored=12_345,
    weight=0.5,
    log10_without=3.2,
    tried=(
        QuestionReading(
            number=417,
            same=3,
            by="words",
            tokens=38,
            until="2026-12-24",
            weight=0.2,
            log10_e=14.5,
            counted=True,
        ),
    ),
    carried=417,
    shown=417,
    gain=9.0,
    fits="yes",
)
OF_THE_RECORD = ("text",)
"""Blocks that are the same in every language."""


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
        "questions": [replace(honest_record(), questions=QUESTIONS)],
    }


def test_every_section_of_every_kind_of_report(audits):
    for kind, some in audits.items():
        assert faults_of(some) == set(), kind


def test_stored_questions_are_named_by_number(audits):
    page = unescape(html_page(sections_of("en", audits["questions"])))
    for words in ("Stored questions", "417", "12,345", "rare words", "24 December 2026"):
        assert words in page
    assert "fits the question that was asked" in page
    assert "Stored questions" not in unescape(html_page(sections_of("en", audits["one"])))


def test_every_section_is_in_the_pdf(audits):
    report = sections_of("en", audits["several"])
    with (
        pikepdf.open(io.BytesIO(compile_pdf(report))) as document,
        document.open_outline() as outline,
    ):
        titles = [str(item.title) for item in outline.root]
    assert [title.split(maxsplit=1)[-1] for title in titles][-len(report.sections) :] == [
        section.title for section in report.sections
    ]


def test_a_wrong_section_is_seen(audits, monkeypatch):
    for blocks, fault in (
        ((), "says nothing"),
        ((paragraph(" "),), "an empty block"),
        ((paragraph("Only in English."),), "one language for all"),
        ((replace(facts([("Lost", "in Form")]), kind="fact"),), "not on the page"),
    ):
        monkeypatch.setattr(build.annexes, "integrity", lambda *_, made=blocks: made)
        assert fault in faults_of(audits["one"])


@pytest.fixture
def audit() -> Audit:
    made = make_audit()
    place = Passage(first_token=0, last_token=1, start=0, end=7)
    tokens = replace(made.tokens, spans=np.array([[0, 5], [6, 7]]))
    return replace(made, text="Alice 7", tokens=tokens, passages=(place,))


def test_a_redacted_stretch_is_neither_text_nor_token(audit):
    shown = public_audit(audit, ReportRequest(text=REDACTED, redactions=((0, 5),)))
    assert shown.text == BLOCK * 5 + " 7"
    assert shown.tokens.ids.tolist() == [NO_ID, 1]
    assert "Alice" not in json_io.to_json(shown)


def test_every_text_has_stretches_of_its_own(audit):
    request = ReportRequest(text=REDACTED, redactions=((0, 5),), further=((), ((6, 7),)))
    shown = public_audits([audit] * 4, request)
    assert [one.text for one in shown] == [BLOCK * 5 + " 7", "Alice 7", "Alice " + BLOCK, "Alice 7"]
    tables = dict(table_files([replace(audit, id=f"{i:08}") for i in range(3)], request))
    assert len(tables) == 6
    held = [d.decode() for n, d in sorted(tables.items()) if n.endswith("tokens.csv")]
    assert ["Alice" in words for words in held] == [False, True, True]


def test_a_text_left_out_takes_its_tokens_along(audit):
    shown = public_audit(audit, ReportRequest(text=OMITTED))
    assert shown.text is None
    assert set(shown.tokens.ids.tolist()) == {NO_ID}


def test_names_are_kept_for_the_annex_alone(audit):
    assert names([audit]) == []  # the payload is in question: the entry is nobody's
    match = audit.register.matches[0]
    bits = match.payload
    mark = audit.identity(audit.key.fingerprint, bits)
    match = replace(match, key=mark.key, epoch=mark.epoch, profile=mark.profile)
    sure = replace(
        audit,
        register=replace(audit.register, matches=(match,)),
        verdict="mark",
        marks=(),
        decoded=replace(audit.decoded, bits=bits),
        candidates=(CandidateFacts(bits=bits, posterior=1.0, fields=audit.decoded.fields),),
    )
    assert names([sure])[0][2] == "w"
    shown = public_audit(sure, ReportRequest())
    assert all(match.who == "" for match in shown.register.matches)


@pytest.mark.parametrize(
    "wrong", [{"language": "fr"}, {"paper": "a3"}, {"logo": b"GIF89a"}, {"case": "x" * 5000}]
)
def test_what_no_report_can_be_made_of_is_refused(wrong):
    with pytest.raises(InputError):
        check_request(replace(ReportRequest(), **wrong))  # type: ignore[arg-type]


OWN = PowerFacts(table="6" * 64, name="Chat, German", own=True, texts=64, date="2026-11-22")


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_method_names_the_table(audit, language):
    audit = replace(audit, power=OWN)
    labels = Labels(language)
    own = str(method(audit, ReportRequest(), labels))
    assert "Chat, German" in own
    assert "6666" in own
    shipped = replace(audit, power=replace(OWN, name="", own=False))
    assert labels("power.shipped") in str(method(shipped, ReportRequest(), labels))
    assert labels("power.table") not in str(
        method(replace(audit, power=None), ReportRequest(), labels)
    )


def test_what_was_validated_follows_the_tables(audit):
    audit = replace(audit, power=OWN)
    labels = Labels("en")
    built_in, english = "SmolLM2-135M-Instruct", "Languages other than English"
    own = str(validation([audit], labels))
    assert "“Chat, German” of 22 November 2026, on 64 marked texts" in own
    assert built_in not in own
    assert english not in own
    before = str(validation([replace(audit, power=None)], labels))
    assert built_in in before
    assert english in before
    both = str(validation([audit, replace(audit, power=None)], labels))
    assert "Chat, German" in both
    assert built_in in both


@pytest.mark.parametrize(
    "text", ["Grüße", "Ελλάδα", "Привет", "العربية", "שלום", "हिन्दी", "漢字かな", "한국어"]
)
def test_every_script_that_ships_is_shown_as_it_is(text):
    assert all(covered(char) for char in text)
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x07b", "a␇b"),
        ("\x7f", "␡"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\ue000", "⟨U+E000⟩"),
        ("\U0001f9ff", "⟨U+1F9FF⟩"),
        ("\u07c0", "⟨U+07C0⟩"),
        ("a\tb\n", "a\tb\n"),
    ],
)
def test_what_has_no_picture_is_named(text, shown):
    assert printable(text) == shown


def test_no_character_is_dropped():
    for code in range(0x20000):
        if not 0xD800 <= code <= 0xDFFF:
            assert printable(chr(code))

"""Quotations and lists of references are left out by a rule, and stay parts of their own."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.documents.test_rule import opendocument

from pura.base.errors import PolicyError
from pura.detect.options import AuditText, Options
from pura.detect.together import audit_text
from pura.detect.verdict.policy import Policy
from pura.documents import ReadOptions, choose, from_text, read_data
from pura.documents.leave_out import LEAST_WORDS, apply_rule, under_rule
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.left_out import (
    LEAVE_OUT,
    QUOTATIONS,
    REFERENCES,
    LeftOutKind,
    letter_count,
    without_pieces,
)
from pura.scheme import Profile, SecretKey
from pura.words.sentences import fill

RULE = ReadOptions(leave_out=LEAVE_OUT)
LONG = " ".join(["Nobody who had seen the harbour that morning would have believed it."] * 2)
OWN = "The author writes a sentence of his own here."
HUMAN = (Path(__file__).parents[2] / "data" / "human.txt").read_text(encoding="utf-8")


def quotations(text: str) -> list[str]:
    """Return what is left out of a text, as parts."""
    return [part.text for part in apply_rule(from_text(text), LEAVE_OUT)[1]]


def rest(text: str) -> str:
    return apply_rule(from_text(text), LEAVE_OUT)[0].examined_text


MARKS = ("“{}”", "„{}“", "„{}”", "«{}»", "« {} »", "»{}«", "‘{}’", "‚{}‘", "‹{}›", '"{}"', "「{}」")


@pytest.mark.parametrize("marks", MARKS)
def test_quotation_between_the_marks_of_each_language_is_left_out(marks: str) -> None:
    text = f"{OWN} {marks.format(LONG)} {OWN}"
    assert quotations(text) == [LONG]
    assert rest(text) == f"{OWN} {OWN}"


def test_short_quotations_apostrophes_and_forgotten_marks_stay() -> None:
    words = LONG.split()[: LEAST_WORDS - 1]
    for text in (
        f"{OWN} “{' '.join(words)}” {OWN}",
        f"{OWN} The boys’ house isn’t {LONG} theirs’ {OWN}",
        f'{OWN} It is 6" long. {LONG} {OWN}',
        f"{OWN} “{LONG}\n\n{OWN}",
        f"{OWN} “{LONG} {OWN}",
    ):
        assert quotations(text) == []


def test_marks_inside_a_quotation_do_not_end_it() -> None:
    inner = f"{LONG} ‘A word,’ he said, “and another one,” and isn’t it {LONG}"
    assert quotations(f"{OWN} “{inner}” {OWN}") == [inner]


def test_quotation_of_several_paragraphs_is_a_part_for_each() -> None:
    assert quotations(f"{OWN}\n\n“{LONG}\n\n“{LONG}”\n\n{OWN}") == [LONG, LONG]
    assert rest(f"{OWN}\n\n“{LONG}\n\n“{LONG}”\n\n{OWN}") == f"{OWN}\n\n{OWN}"


def test_quoted_lines_and_environments_are_left_out() -> None:
    lines = LONG.replace(". ", ".\n> ")
    assert quotations(f"{OWN}\n\n> {lines}\n\n{OWN}") == [lines.replace("> ", "")]
    assert quotations(f"{OWN}\n\\begin{{quote}}\n{LONG}\n\\end{{quote}}\n{OWN}") == [LONG]


ENTRIES = "Smith, J. (2019). The title.\nDoe, A. 2020. Another one. https://example.org/2\n"


@pytest.mark.parametrize(
    "heading",
    ["References", "## Bibliography", "7. Works Cited", "**Literaturverzeichnis**", "参考文献"],
)
def test_list_of_references_is_left_out_up_to_the_next_heading(heading: str) -> None:
    text = f"{OWN}\n\n{heading}\n\n{ENTRIES}\nAppendix A\n\n{OWN}"
    assert quotations(text) == [ENTRIES.strip()]
    assert rest(text) == f"{OWN}\n\nAppendix A\n\n{OWN}"


def test_heading_without_a_list_stays() -> None:
    assert quotations(f"{OWN}\n\nSources\n\n{OWN} {OWN}\n{OWN}") == []


def test_only_what_the_rule_names_is_left_out() -> None:
    text = f"{OWN} “{LONG}”\n\nReferences\n{ENTRIES}"
    for name, kind in ((QUOTATIONS, LeftOutKind.QUOTATION), (REFERENCES, LeftOutKind.REFERENCES)):
        assert [part.kind for part in apply_rule(from_text(text), [name])[1]] == [kind]
    assert apply_rule(from_text(text), [])[1] == ()


def test_text_that_is_nothing_but_a_quotation_is_examined_whole() -> None:
    document, parts = apply_rule(from_text(f"“{LONG}”"), LEAVE_OUT)
    assert parts == ()
    assert document.examined_text == document.text


signs = st.text(alphabet="ab  \n>“”„«»‘’'\".,", max_size=400)


@given(text=signs.filter(str.strip))
def test_every_letter_is_examined_or_listed(text: str) -> None:
    if not letter_count(text):
        return
    document, parts = apply_rule(from_text(text * 3), LEAVE_OUT)
    found = letter_count(document.examined_text) + sum(letter_count(part.text) for part in parts)
    assert found == letter_count(document.text)
    ends = [place for piece in document.excluded for place in (piece.start, piece.end)]
    assert ends == sorted(ends)
    again = under_rule(document, LEAVE_OUT)
    assert again is document


@pytest.mark.parametrize(
    "piece", ["“ a ", '" a', "‘a ’a ", "References\n", "> a\n", "\\begin{quote}a\n", "\n\n“a", "«"]
)
def test_hostile_texts_end_in_time(piece: str) -> None:
    begin = time.process_time()
    apply_rule(from_text((piece * 30_000)[:100_000] + " own"), LEAVE_OUT)
    # A quadratic search would take minutes; this takes a second at most.
    assert time.process_time() - begin < 20


def test_parts_are_listed_and_chosen_by_name() -> None:
    text = f"{OWN} “{LONG}” {OWN}\n\nReferences\n\n{ENTRIES}"
    extraction = read_data(text.encode(), name="essay.txt", options=RULE)
    (own,) = extraction.chosen
    assert [(one.kind, one.words, one.part) for one in own.left_out] == [
        (LeftOutKind.QUOTATION, 24, "quotation 1"),
        (LeftOutKind.REFERENCES, 14, "references"),
    ]
    assert own.examined_words == 18
    (quotation,) = choose(extraction, ["quotation 1"])
    assert quotation.text == LONG
    assert under_rule(quotation, LEAVE_OUT) is quotation
    notes = " ".join(fill(note, "en") for note in own.notes)
    assert "one quotation was left out" in notes
    assert "list of references was left out" in notes


def word_file() -> bytes:
    document, file = docx.Document(), io.BytesIO()
    document.add_paragraph(OWN)
    document.add_paragraph(LONG, style="Intense Quote")
    document.add_paragraph(OWN)
    document.save(file)
    return file.getvalue()


def page_file() -> bytes:
    return f"<!doctype html><p>{OWN}</p><blockquote><p>{LONG}</p></blockquote><p>{OWN}</p>".encode()


def writer_file() -> bytes:
    return opendocument(
        f"<text:p>{OWN}</text:p><text:p text:style-name='Quotations'>{LONG}</text:p>"
        f"<text:p>{OWN}</text:p>"
    )


@pytest.mark.parametrize(
    ("name", "make"), [("a.docx", word_file), ("a.html", page_file), ("a.odt", writer_file)]
)
def test_paragraphs_that_a_format_calls_quotations_are_left_out(name: str, make: Any) -> None:
    extraction = read_data(make(), name=name, options=RULE)
    (own,) = extraction.chosen
    assert own.examined_text == f"{OWN}\n\n{OWN}"
    assert [part.text for part in extraction.documents if part.part == "quotation 1"] == [LONG]
    assert LONG in read_data(make(), name=name).chosen[0].text


def test_policy_refuses_what_no_rule_leaves_out() -> None:
    with pytest.raises(PolicyError, match="leave_out"):
        Policy.from_dict({"schema": "pura-policy/1", "leave_out": ["jokes"]})
    assert Policy.from_dict({"schema": "pura-policy/1", "leave_out": [QUOTATIONS]}).leave_out


def human_passages(count: int, words: int) -> list[str]:
    text = " ".join(HUMAN.replace("“", "").replace("”", "").replace('"', "").split())
    split = text.split()
    return [" ".join(split[n * words : (n + 1) * words]) for n in range(count)]


def audited(text: str, samples: dict[str, Any], model: Any, rule: tuple[str, ...]) -> Audit:
    data = samples["marked-tbcc"]
    return audit_text(
        AuditText(document=from_text(text)),
        model=model,
        keys=[(SecretKey.from_hex(data["key_hex"]), None)],
        profile=Profile.from_dict(data["profile"]),
        options=Options(policy=Policy(draws=0, leave_out=rule)),
    )


def with_quotations(marked: str, count: int, words: int) -> str:
    """Return a marked text with long quotations of somebody else at even distances."""
    own = marked.split(" ")
    step = len(own) // count
    pieces = []
    for number, passage in enumerate(human_passages(count, words)):
        end = (number + 1) * step if number < count - 1 else len(own)
        pieces.append(f"{' '.join(own[number * step : end])} “{passage}”")
    return " ".join(pieces)


@pytest.mark.model
def test_mark_among_long_quotations_is_found_with_the_rule_and_weaker_without(
    samples: dict[str, Any], builtin_model: Any
) -> None:
    marked = samples["marked-tbcc"]["texts"][0]["text"].strip()[:600].rpartition(" ")[0]
    text = with_quotations(marked, 3, 150)
    whole = audited(text, samples, builtin_model, ())
    ruled = audited(text, samples, builtin_model, (QUOTATIONS,))
    assert ruled.verdict == "mark"
    assert whole.verdict != "mark"
    assert ruled.evidence.log10_e > whole.evidence.log10_e + 10
    # The record shows the text as found, and each token where it stands there.
    assert ruled.text == text
    excluded = ruled.input.excluded
    assert len(excluded) == 3
    for start, end in ruled.tokens.spans.tolist():
        assert not any(start < piece.end and end > piece.start for piece in excluded)
    words = without_pieces(text, excluded)
    assert "".join(text[start:end] for start, end in ruled.tokens.spans) == words
    assert ruled.policy["leave_out"] == [QUOTATIONS]
    assert json_io.from_json(json_io.to_json(ruled)).input.excluded == excluded
    assert [entry.part for entry in ruled.input.left_out] == [piece.part for piece in excluded]


@pytest.mark.model
def test_marked_quotation_in_a_text_of_somebody_else_is_a_part_of_its_own(
    samples: dict[str, Any], builtin_model: Any
) -> None:
    marked = samples["marked-tbcc"]["texts"][0]["text"].replace("“", "").replace("”", "")
    before, behind = human_passages(2, 80)
    text = (
        f"{before}. The machine said:\n\n> {marked.replace(chr(10), chr(10) + '> ')}\n\n{behind}."
    )
    own = audited(text, samples, builtin_model, (QUOTATIONS,))
    assert own.verdict not in ("mark", "indication")
    assert own.verdict != "no-mark"  # most of the words were not examined
    extraction = read_data(text.encode(), name="letter.txt", options=RULE)
    (quotation,) = choose(extraction, [own.input.left_out[0].part])
    data = samples["marked-tbcc"]
    found = audit_text(
        AuditText(document=quotation),
        model=builtin_model,
        keys=[(SecretKey.from_hex(data["key_hex"]), None)],
        profile=Profile.from_dict(data["profile"]),
        options=Options(policy=Policy(draws=0, leave_out=(QUOTATIONS,))),
    )
    assert found.verdict == "mark"

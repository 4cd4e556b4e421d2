"""Each run of text of a page is shown, or stands in a part "hidden text"; none is lost."""

from __future__ import annotations

import pytest

from pura.documents import Document, Extraction, choose, read_data
from pura.record.left_out import LeftOutKind, letter_count

SHOWN = "These words are shown to everybody."
TEXT = "Four words stand here."


def read(body: str, head: str = "") -> Extraction:
    page = f"<!doctype html><html><head>{head}</head><body><p>{SHOWN}</p>{body}</body></html>"
    return read_data(page.encode(), name="x.html")


def chosen(body: str, head: str = "") -> Document:
    (document,) = read(body, head).chosen
    return document


def style(sheet: str, media: str = "") -> str:
    return f'<style media="{media}">{sheet}</style>'


@pytest.mark.parametrize(
    "body",
    [
        f'<div style="font-size:0"><p style="font-size:14px">{TEXT}</p></div>',
        f'<div style="font-size:0"><p style="font:bold 12px/1.5 Arial">{TEXT}</p></div>',
        f'<div style="visibility:hidden"><p style="visibility:visible">{TEXT}</p></div>',
        f'<p style="display:none;display:block">{TEXT}</p>',
        f'<p style="opacity:0.1">{TEXT}</p>',
        f'<p style="font-size:0.8em">{TEXT}</p>',
        f'<p style="display:none!important; display:none !x"><p>{TEXT}</p>',
        f'<main aria-hidden="true"><p>{TEXT}</p></main>',
        f'<iframe srcdoc="&lt;p&gt;{TEXT}&lt;/p&gt;"></iframe>',
        f"<textarea>{TEXT}</textarea>",
        f"<details><summary>Four</summary>{TEXT.removeprefix('Four')}</details>",
        f"<noscript><p>{TEXT}</p></noscript>",
        f"<dialog open><p>{TEXT}</p></dialog>",
        f'<div><template shadowrootmode="open"><p>{TEXT}</p></template></div>',
        f"<p hidden><p>{TEXT}</p>",
    ],
)
def test_text_that_a_reader_sees_is_read(body: str) -> None:
    document = chosen(body)
    assert document.text.split() == [*SHOWN.split(), *TEXT.split()]


@pytest.mark.parametrize(
    "head",
    [
        style(".a{display:none} .a{display:block}"),
        style("#b{display:block} .a{display:none}"),
        style("p.a{display:block} .a{display:none}"),
        style(".a{display:block !important} #b{display:none}"),
        style("@media print{.a{display:none}}"),
        style("@media screen and (max-width:600px){.a{display:none}}"),
        style("@media (prefers-reduced-motion){.a{opacity:0}}"),
        style(".a{display:none}", media="print"),
        style("/* .a{display:none} */"),
        style('.x::before{content:".a{display:none}"}'),
        style("@keyframes x{from{opacity:0}to{opacity:1}} @font-face{font-family:a}"),
        style(".a:hover{display:none} .x .a{display:none} .a>p{display:none}"),
    ],
)
def test_a_rule_that_does_not_hold_on_a_screen_hides_nothing(head: str) -> None:
    document = chosen(f'<p class="a" id="b">{TEXT}</p>', head)
    assert document.text == f"{SHOWN}\n\n{TEXT}"
    assert not any(entry.matters for entry in document.left_out)


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (f'<p style="display:none">{TEXT}</p>', ""),
        (f"<p hidden>{TEXT}</p>", ""),
        (f'<p style="opacity:0">{TEXT}</p>', ""),
        (f'<p style="opacity:0"><b style="opacity:1">{TEXT}</b></p>', ""),
        (f'<p style="display:none"><b style="display:inline">{TEXT}</b></p>', ""),
        (f'<p style="visibility:hidden">{TEXT}</p>', ""),
        (f'<p style="font-size:0px">{TEXT}</p>', ""),
        (f'<p class="a">{TEXT}</p>', style(".a{display:none}")),
        (f'<p class="b a">{TEXT}</p>', style("p.a.b{visibility:collapse}")),
        (f'<p id="a">{TEXT}</p>', style("div,#a{font-size:0}")),
        (f'<p class="a">{TEXT}</p>', style("@media screen{.a{display:none}}")),
        (f'<p class="a">{TEXT}</p>', style("@media (min-width:600px){.a{display:none}}")),
        (f'<p class="a">{TEXT}</p>', style(".a{display:none")),
        (f"<svg><text>{TEXT}</text></svg>", ""),
        (f"<template><p>{TEXT}</p></template>", ""),
        (f"<object>{TEXT}</object>", ""),
    ],
)
def test_text_that_a_reader_may_not_see_is_a_part_and_is_listed(body: str, head: str) -> None:
    extraction = read(body, head)
    (document,) = extraction.chosen
    assert document.text == SHOWN
    (entry,) = document.left_out
    assert (entry.kind, entry.words, entry.part) == (LeftOutKind.HIDDEN_TEXT, 4, "hidden text")
    (hidden,) = choose(extraction, ["hidden text"])
    assert hidden.text == TEXT


def test_words_of_a_form_are_a_part_of_their_own() -> None:
    extraction = read(
        '<form><select><option>One<option>Two</select><input value="Three">'
        '<input type="hidden" value="no"><input type="checkbox" value="no">'
        "<button>Four</button></form>"
    )
    (document,) = extraction.chosen
    assert document.text == SHOWN
    assert [(entry.kind, entry.words) for entry in document.left_out] == [
        (LeftOutKind.FORM_FIELD, 4)
    ]
    (fields,) = choose(extraction, ["form fields"])
    assert sorted(fields.text.split()) == ["Four", "One", "Three", "Two"]


def test_pages_inside_pages_end_and_what_lies_deeper_is_listed() -> None:
    from html import escape

    inner = f"<p>{TEXT}</p>"
    for _ in range(7):
        inner = f'<iframe srcdoc="{escape(inner)}"></iframe>'
    document = chosen(inner)
    assert document.text == SHOWN
    assert [(entry.kind, entry.words) for entry in document.left_out] == [
        (LeftOutKind.UNREADABLE, None)
    ]


def test_a_page_whose_whole_text_is_hidden_is_refused_by_no_empty_answer() -> None:
    page = f'<html><body style="opacity:0"><p>{SHOWN} {TEXT}</p></body></html>'
    extraction = read_data(page.encode(), name="x.html")
    assert [document.part for document in extraction.documents] == ["hidden text"]
    assert letter_count(extraction.chosen[0].text) == letter_count(SHOWN + TEXT)


def test_a_large_sheet_with_many_rules_ends_within_the_limits() -> None:
    rules = "".join(f".c{number}{{color:red;display:none}}" for number in range(60_000))
    document = chosen(f'<p class="a">{TEXT}</p>' * 2_000, style(rules))
    assert document.text.count(TEXT) == 2_000

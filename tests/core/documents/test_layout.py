"""Lines, blanks and paragraphs come back; what was not handled stays what it is."""

from __future__ import annotations

import re
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.documents.layout import BROKEN, KINDS, PREFIXES, RUNS, TRAILING, WRAPPED, restore_layout

PROSE = (
    "The committee met on Tuesday to look at the plan for the harbour, which had been changed "
    "twice since the spring. Nobody spoke against it, although the costs had grown by a third.\n\n"
    "In the afternoon the members walked along the old wall and looked at the places where the sea "
    "had taken stones out of it. They agreed that the work could not wait for another winter, and "
    "asked for three offers.\n\n"
    "- one from the town\n- one from the county\n- one from abroad"
)


def wrapped(text: str, column: int) -> str:
    return "\n".join(textwrap.fill(line, column) for line in text.split("\n"))


def names(text: str) -> list[str]:
    return [s.name for s in restore_layout(text).substitutions]


@pytest.mark.parametrize("column", [40, 60, 72, 100])
def test_lines_broken_at_a_column_are_joined(column: int) -> None:
    done = restore_layout(wrapped(PROSE, column))
    assert done.text == PROSE
    assert [s.name for s in done.substitutions] == [WRAPPED]


def test_lines_broken_twice_are_joined_amid_sentences() -> None:
    twice = wrapped(wrapped(PROSE, 76), 66)
    done = restore_layout(twice)
    assert BROKEN in [s.name for s in done.substitutions]
    assert done.text.count("\n") < twice.count("\n") / 2


def test_a_word_processor_with_a_paragraph_for_every_line() -> None:
    body = PROSE.split("\n\n- ", maxsplit=1)[0].replace("\n\n", " ")
    found = textwrap.fill(body, 72).replace("\n", "\n\n")
    assert restore_layout(found).text == body


def test_quotation_marks_are_taken_off_before_lines_are_joined() -> None:
    found = "\n".join(f"> {line}".rstrip() for line in wrapped(PROSE, 70).split("\n"))
    done = restore_layout(found)
    assert done.text == PROSE
    assert [s.name for s in done.substitutions] == [PREFIXES, WRAPPED]


def test_a_page_is_set_in_under_its_head_and_headings() -> None:
    body = PROSE.split("\n\n- ", maxsplit=1)[0]
    body += f"\n\n{body}"
    lines = textwrap.indent(wrapped(body, 60), " " * 7)
    page = f"PLAN(1)\n\nHARBOUR\n{lines}\n\nTown{' ' * 60}(1)"
    done = restore_layout(page)
    assert done.text.startswith(f"PLAN(1)\n\nHARBOUR\n{body}\n\nTown")
    assert [s.name for s in done.substitutions][:2] == [PREFIXES, WRAPPED]


def test_an_item_goes_on_under_its_first_word() -> None:
    item = "The first thing that was asked for was a wall that would stand for a hundred years."
    lines = textwrap.wrap(item, 38)
    found = "- " + "\n  ".join(lines) + "\n- " + "\n  ".join(lines)
    assert restore_layout(found).text == f"- {item}\n- {item}"


def test_divided_words() -> None:
    found = (
        "They said that the harbour was old and that the well-\n"
        "known wall around it would have to be made new by who-\n"
        "ever had the money; whoever had it did not say so, and it\n"
        "was a well-known thing that nobody would."
    )
    done = restore_layout(found).text
    assert "well-known wall" in done
    assert "by whoever had" in done


@pytest.mark.parametrize(
    ("found", "put", "kind"),
    [
        (PROSE.replace(" ", "  "), PROSE.replace("-  ", "- "), RUNS),
        (re.sub(r"(?<=\w) (?=\w)", "\t", PROSE), PROSE, RUNS),
        (re.sub(r"\. ", ".  ", PROSE * 3), PROSE * 3, RUNS),
        (PROSE.replace("\n", " \n") + " ", PROSE, TRAILING),
    ],
)
def test_blanks_come_back(found: str, put: str, kind: str) -> None:
    done = restore_layout(found)
    assert done.text == put
    assert kind in [s.name for s in done.substitutions]


def test_paragraphs_get_their_empty_line_where_lines_were_wrapped() -> None:
    body = PROSE.split("\n\n- ", maxsplit=1)[0]
    more = f"{body}\n\n{body}"
    assert restore_layout(wrapped(more, 72).replace("\n\n", "\n")).text == more
    # Without another sign they may as well have been written so.
    assert names(more.replace("\n\n", "\n")) == []


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "",
        "One line.",
        "Roses are red,\nViolets are blue,\nSugar is sweet\nAnd so are you.\nA longer line ends it",
        "def f(x):\n    y = x + 1\n    return y\n\n\ndef g(x):\n    return f(x) or  x\n",
        "So:\n\n    for one in all:\n        go(one)\n    if not all:\n        stop()\n    end()",
        "```\na long line of code that goes on\nand on until it is broken\nand on\nand on\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |",
        "Milk\nBread\nTwo eggs\nFlour for the cake\nSalt",
        "He came in.  She left.\n\nNobody spoke. It was late.\n",
    ],
)
def test_what_was_not_handled_stays(text: str) -> None:
    done = restore_layout(text)
    assert done.text == text
    assert not done.changed


@given(st.text(alphabet="ab .,A\n\t->", max_size=300))
def test_the_way_back_fits_and_no_word_is_lost(text: str) -> None:
    done = restore_layout(text)
    assert done.origin.size == len(done.text) + 1
    assert done.origin[-1] == len(text)
    assert np.all(np.diff(done.origin) >= 0)
    assert set(names(text)) <= set(KINDS)
    for place, char in enumerate(done.text):
        if char.isalpha():
            assert text[done.origin[place]] == char
    assert [c for c in done.text if c.isalpha()] == [c for c in text if c.isalpha()]

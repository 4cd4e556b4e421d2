"""Lines, blanks and paragraphs come back; what was not handled stays what it is."""

from __future__ import annotations

import re
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.documents.characters import unchanged
from pura.documents.layout import (
    BROKEN,
    FILLED,
    KINDS,
    PAGES,
    PREFIXES,
    RUNS,
    TRAILING,
    WRAPPED,
    layouts,
    nats,
    restore_layout,
)

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


def as_page(number: int) -> str:
    return f"\n\n2026-11-25{' ' * 20}The harbour{' ' * 20}Page {number}\n\n\n"


def test_heads_of_pages_are_taken_out_and_sentences_go_on_over_them() -> None:
    body = PROSE.split("\n\n- ", maxsplit=1)[0]
    lines = wrapped(body, 66).split("\n")
    first, second = "\n".join(lines[:2]), "\n".join(lines[2:])
    found = f"{as_page(1)}{first}\n\n\n\n{as_page(2)}{second}\n\n17\n"
    done = restore_layout(found)
    assert done.text == body
    assert [s.name for s in done.substitutions] == [PAGES, WRAPPED]
    # A line alone is one of its own, and so is one that is like no other.
    assert not restore_layout(f"{body}\n\nThe harbour{' ' * 9}now\n\n{body}").changed


def test_tabs_before_all_lines_are_an_indent() -> None:
    body = PROSE.split("\n\n- ", maxsplit=1)[0]
    found = textwrap.indent(wrapped(body, 60), "\t", lambda line: True)
    assert restore_layout(found).text == body


def by_length(text: str) -> float:
    return len(text.split(" ")) - 9 * text.count("\n\n")


def test_a_printed_line_ends_where_the_next_word_does_not_fit() -> None:
    """Lines of letters of different width; one of them ends before its column and is kept."""
    found = (
        "The committee met on Tuesday to look at the plan for the\n"
        "harbour, which had been changed twice since the spring.\n"
        "Nobody spoke against it\n"
        "Although the costs had grown by a third, the mayor said\n"
        "that nothing could be done before the committee of the\n"
        "county had met and heard all of the reports that there were"
    )
    ways = layouts([unchanged(found)], by_length)
    assert (
        "The committee met on Tuesday to look at the plan for the harbour, which had been changed "
        "twice since the spring. Nobody spoke against it\n"
        "Although the costs had grown by a third, the mayor said that nothing could be done before "
        "the committee of the county had met and heard all of the reports that there were"
    ) in {way.text.replace("\n\n", "\n") for way in ways}


def test_ways_are_ordered_by_what_their_texts_take() -> None:
    found = as_page(1) + wrapped(PROSE, 60).replace(" ", "  ")
    ways = layouts([unchanged(found)], by_length)
    taken = nats(ways, by_length)
    assert taken == sorted(taken)
    assert len({way.text for way in ways}) == len(ways) <= 4
    for way in ways:
        assert way.origin.size == len(way.text) + 1


def test_a_divided_word_is_whole_where_a_vocabulary_has_it() -> None:
    found = (
        "They said that the harbour was old and that the wall all around it would have to be for-\n"
        "gotten by everybody who had seen it in the time before the war, and that it was a well-\n"
        "known thing that the money was not there, which nobody had wanted to say in so many words"
    )
    known = {" forgotten": 1.0, " well-known": 1.0}
    [best, *_] = layouts([unchanged(found)], lambda text: known.get(text, len(text)))
    assert "be forgotten by" in best.text
    assert "a well-known thing" in best.text


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


APART = (
    "The ferry was late again , and nobody knew why . Don ' t ask the harbour - master ' s wife : "
    '" It ' + "'" + ' s the tide , " she said ( twice ) . It cost 1 , 500 pounds .'
)
TOGETHER = (
    "The ferry was late again, and nobody knew why. Don't ask the harbour-master's wife: "
    '"It\'s the tide," she said (twice). It cost 1,500 pounds.'
)


def test_signs_that_were_set_apart_cling_to_their_words_again():
    assert restore_layout(APART).text == TOGETHER
    # As programs for languages split a text.
    split = "We do n't know what 's there , and they 'll never say it . She is n't here ."
    assert restore_layout(split).text == (
        "We don't know what's there, and they'll never say it. She isn't here."
    )


@pytest.mark.parametrize(
    "text",
    [
        TOGETHER,
        "A dash - or two - stands between blanks, as in 3 / 4 & so on; the rest does not.",
        "Vous voulez savoir pourquoi ? Venez donc ! Il y a trois raisons : le vent ; la mer.",
        'A lone sign , like that one, is a slip; the "others" (all of them) stand right.',
    ],
)
def test_signs_stay_where_they_stand(text):
    assert not restore_layout(text).changed


def test_two_blanks_behind_some_sentences_were_a_line_end():
    text = "It rained. Nobody came. It was late.  The hall was cold.  We left. It rained again."
    ways = {way.text for way in layouts([unchanged(text)], lambda _: 0.0)}
    lines = "It rained. Nobody came. It was late.\nThe hall was cold.\nWe left. It rained again."
    assert {text, lines} <= ways
    assert names(text)[0] == FILLED
    # A habit says nothing.
    habit = re.sub(r"\. +", ".  ", text)
    assert "\n" not in restore_layout(habit).text

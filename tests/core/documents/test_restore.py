"""Substitutions and capitals are found, named and undone; other texts stay what they are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.documents.restore import KINDS, LOWER, UPPER, case_of, restore, restore_case


@pytest.mark.parametrize(
    ("found", "put", "kind"),
    [
        ("“Yes”, she said", '"Yes", she said', "curly-quotes"),
        ("it’s ‘here’", "it's 'here'", "curly-quotes"),
        ("1990–2000", "1990-2000", "dashes"),
        ("wait—now", "wait--now", "dashes"),
        ("and so on…", "and so on...", "ellipses"),
        ("10&nbsp;km &amp; &#8220;more&#8221;", '10 km & "more"', "curly-quotes"),
        ("10&nbsp;km", "10 km", "special-blanks"),
        ("5 &lt; 6 &lt; 7", "5 < 6 < 7", "character-references"),
        ("10\u00a0km\u202fand\u2009more", "10 km and more", "special-blanks"),
        ("hy\u00adphen\u00adated", "hyphenated", "soft-hyphens"),
        ("zero\u200bwidth\ufeff text\u2060", "zerowidth text", "invisible-characters"),
        ("le\u200dtter", "letter", "invisible-characters"),
        ("left \u202eright\u202c", "left right", "direction-marks"),
        ("one \ufe0fsign is enough", "one sign is enough", "variation-selectors"),
        ("a \u2063b", "a b", "invisible-characters"),
        ("a \x01b", "a b", "control-characters"),
        ("a \x0cb", "a b", "control-characters"),
        ("a\x0cb", "a\nb", "control-characters"),
        ("a \U000e0041b", "a b", "tag-characters"),
        ("a \u3164b", "a b", "blank-letters"),
        ("a\u2800b", "a b", "blank-letters"),
        ("e\u034f\u0301", "é", "decomposed-letters"),
        ("👨\u200d👩\u200d👧", "👨👩👧", "invisible-characters"),
        ("نمی\u200cشود", "نمیشود", "invisible-characters"),
        ("ﬁne eﬀect aﬄuent", "fine effect affluent", "ligatures"),
        ("ＡＢＣ１２", "ABC12", "wide-characters"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd", "line-ends"),
        ("pаypаl", "paypal", "look-alikes"),
        ("cafe\u0301 ole\u0301", "café olé", "decomposed-letters"),
        ("x\ufeff" + "\ufe01" * 12 + "y", "xy", "provenance-characters"),
    ],
)
def test_a_substitution_is_undone_and_named(found: str, put: str, kind: str) -> None:
    done = restore(found)
    assert done.text == put
    assert [s.name for s in done.substitutions][-1:] == [kind]
    assert kind in KINDS
    assert done.substitutions[0].count >= 1
    assert min(s.places[0] for s in done.substitutions) <= next(
        i for i in range(len(found)) if found[i : i + 1] != put[i : i + 1]
    )


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, 'quoted' and \"quoted\" - with a dash... and\n\ta tab.",
        "Привет, мир! Это обычный русский текст.",
        "Ένα ελληνικό κείμενο με λέξεις.",
        "Σωκράτης and Plato",
        "🙂 a face, 👩🏽 and नमस्ते",
        "日本語のテキスト",
        "",
    ],
)
def test_other_texts_stay_what_they_are(text: str) -> None:
    done = restore(text)
    assert done.text == text
    assert not done.changed
    assert done.origin.tolist() == list(range(len(text) + 1))


def test_every_character_knows_where_it_came_from() -> None:
    found = "“a”\u00ad b…\r\nﬃ c"
    done = restore(found)
    assert done.text == '"a" b...\nffi c'
    for i, char in enumerate(done.text):
        source = found[done.origin[i]]
        assert source == char or not source.isascii() or source == "\r"
    assert done.origin[-1] == len(found)
    assert np.all(np.diff(done.origin) >= 0)


def test_signs_without_a_picture_are_written_by_their_code_points() -> None:
    [blank] = restore("a\u00a0b").substitutions
    assert blank.examples == (("U+00A0", "U+0020"),)
    [run] = restore("x" + "\ufe01" * 40).substitutions
    assert len(run.examples[0][0]) < 60


@given(st.text(max_size=200))
def test_restoring_twice_changes_nothing_more_and_the_way_back_fits(text: str) -> None:
    done = restore(text)
    assert done.origin.size == len(done.text) + 1
    assert done.origin[-1] == len(text)
    assert np.all(np.diff(done.origin) >= 0)
    again = restore(done.text)
    # Marks may come to stand beside letters that were not there before.
    left = {s.name for s in again.substitutions}
    assert left <= {"decomposed-letters", "look-alikes", "line-ends"}


def test_a_long_text_takes_no_time_to_speak_of() -> None:
    text = "“Quoted” words — and more… " * 40_000
    assert restore(text).text.startswith('"Quoted" words -- and more... ')


TEXT = (
    'The committee met on Tuesday. "I was not asked," said the mayor, who came from the EU. "And I '
    'would not have come." Nobody spoke, e.g. about costs.\n\nIn the afternoon it rained. See '
    "www.harbour.example or write to mail@harbour.example! Don't wait.\n- One offer came."
)
KNOWN = {"tuesday": "Tuesday", "i": "I", "eu": "EU"}


def spelt(words: Iterable[str]) -> dict[str, str]:
    return {word: KNOWN.get(word, word) for word in words}


def test_which_case_a_text_has() -> None:
    assert case_of(TEXT) == ""
    assert case_of(TEXT.lower()) == LOWER
    assert case_of(TEXT.upper()) == UPPER
    assert case_of("too short to tell") == ""
    assert case_of("日本語のテキスト" * 40) == ""


@pytest.mark.parametrize("written", [TEXT.lower(), TEXT.upper()])
def test_capitals_come_back(written: str) -> None:
    done = restore_case(written, spelt)
    assert done.text == TEXT
    assert done.changed


def test_a_text_with_both_cases_stays() -> None:
    done = restore_case(TEXT, spelt)
    assert done.text == TEXT
    assert not done.changed


@given(st.text(alphabet="abß .!?\"'\nI1-", max_size=200))
def test_only_the_case_changes_and_the_way_back_fits(text: str) -> None:
    written = (text + "abc " * 40).lower()
    done = restore_case(written, spelt)
    assert done.text.lower() == written
    assert done.origin.tolist() == list(range(len(written) + 1))
    assert np.all(done.spans_in_found(np.array([[0, 3]])) == [[0, 3]])

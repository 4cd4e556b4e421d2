"""Capitals come back to texts of one case, and to no others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.documents.restore import LOWER, UPPER, case_of, restore_case

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

"""Characters that show nothing are Unicode's, all of them; where a script needs them is known."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from pura.documents.characters import KINDS, hidden_characters, kind_of_hidden
from pura.documents.restore import restore

regex = pytest.importorskip("regex")
EVERY = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]
LEFT = set("\t\n\r\x85")


@pytest.mark.sampled
def test_the_ranges_are_unicodes() -> None:
    """Those of another library, which is of another age; what Python knows is among them."""
    shown = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800]")
    wanted = {char for char in EVERY if shown.match(char)} - LEFT
    assert {char for char in EVERY if kind_of_hidden(char)} == wanted
    assert {c for c in EVERY if unicodedata.category(c) in ("Cf", "Cc")} - LEFT <= wanted
    assert {kind_of_hidden(char) for char in wanted} == set(KINDS)


def test_none_of_them_is_left_by_the_restored_reading() -> None:
    hidden = [char for char in EVERY if kind_of_hidden(char)]
    text = "".join(f"word {char}" for char in hidden)
    assert restore(text).text == "word " * len(hidden)
    counted = dict(hidden_characters(text))
    assert sum(counted.values()) == len(hidden)
    assert set(counted) == set(KINDS)


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧 family, 👩🏽‍🚀, ❤️ and a flag 🏳️‍🌈, 1️⃣ of 2",
        "a flag \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "नमस्ते क्‍या हाल है",
        "این کتاب‌ها را نمی‌خواهم\u200f.",
        "葛\U000e0100飾区",
        "\ufeffA byte order mark, and\n\fa page.",
        "ᠮᠣᠩᠭᠣᠯ\u180b",
        "x\ufeff" + "\ufe01" * 12 + "y",
    ],
)
def test_where_they_belong_nothing_is_said(text: str) -> None:
    assert hidden_characters(text) == ()


def test_elsewhere_each_kind_is_counted() -> None:
    text = "a \u2063b \ufe0fc\u202e ❤\ufe0f\ufe0f d\u00ade \x01f \u3164g h\U000e0041 wo\u200dld"
    assert hidden_characters(text) == (
        ("invisible-characters", 2),
        ("direction-marks", 1),
        ("variation-selectors", 2),
        ("tag-characters", 1),
        ("control-characters", 1),
        ("blank-letters", 1),
        ("soft-hyphens", 1),
    )

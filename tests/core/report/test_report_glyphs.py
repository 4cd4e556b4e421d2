"""Every character of a report is shown or named."""

from __future__ import annotations

import pytest

from pura.report.blocks import covered, printable


@pytest.mark.parametrize(
    "text", ["Grüße", "Ελλάδα", "Привет", "العربية", "שלום", "हिन्दी", "漢字かな", "한국어"]
)
def test_every_script_that_ships_is_shown_as_it_is(text: str) -> None:
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
def test_what_has_no_picture_is_named(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_no_character_is_dropped() -> None:
    for code in range(0x20000):
        if not 0xD800 <= code <= 0xDFFF:
            assert printable(chr(code))

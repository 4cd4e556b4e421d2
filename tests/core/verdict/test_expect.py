from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pura.scheme import Profile
from pura.verdict.expect import (
    estimate_tokens,
    expect,
    language_of,
    not_among,
    readable_bits,
)

GERMAN = (
    "Der Ausschuss hat sich in der letzten Woche mit der Frage befasst, ob die neuen Regeln für "
    "den Verkehr in der Stadt auch auf die Straßen am Rand angewendet werden, und er ist nicht zu "
    "einem Ergebnis gekommen, das alle Seiten als gerecht ansehen."
)
FRENCH = (
    "La commission a examiné la question dans les derniers jours et elle a décidé que les règles "
    "ne sont pas les mêmes pour une ville et pour la campagne, mais il est possible que cette "
    "décision soit revue au printemps avec les maires."
)
RUSSIAN = (
    "Комиссия рассмотрела вопрос и решила что правила для города и деревни не одни и те же " * 2
)


@pytest.fixture
def tbcc(samples: dict[str, Any]) -> Profile:
    return Profile.from_dict(samples["marked-tbcc"]["profile"])


def test_a_sample_text_is_expected_to_be_read_whole(samples: dict[str, Any], tbcc: Profile) -> None:
    for sample in samples["marked-tbcc"]["texts"]:
        found = expect(sample["text"], tbcc)
        assert found.bits == tbcc.payload_bits
        assert found.language == "English"
        assert found.notes == ()
        assert found.lines() == []  # nothing to say: it could be taken for a finding


def test_the_estimate_of_tokens_is_near(samples: dict[str, Any], tbcc: Profile) -> None:
    for sample in samples["marked-tbcc"]["texts"]:
        assert estimate_tokens(sample["text"]) == pytest.approx(200, rel=0.25)


def test_a_short_text_is_said_to_be_short(samples: dict[str, Any], tbcc: Profile) -> None:
    few = " ".join(samples["marked-tbcc"]["texts"][0]["text"].split()[:12])
    found = expect(few, tbcc)
    assert 0 < found.bits < tbcc.payload_bits
    assert found.notes == ("short",)
    assert not found.power
    said = found.lines()[0]
    assert "if this text is marked" in said
    assert f"about {found.bits} of 36 bits" in said


@pytest.mark.parametrize(
    ("text", "language"),
    [(GERMAN, "German"), (FRENCH, "French"), (RUSSIAN, "Cyrillic script"), ("Too few words.", "")],
)
def test_languages(text: str, language: str, tbcc: Profile) -> None:
    assert language_of(text) == language
    assert ("language" in expect(text * 5, tbcc).notes) == (language not in ("", "English"))


@pytest.mark.parametrize(
    ("text", "languages", "left_out"),
    [
        (GERMAN, (), ""),
        (GERMAN, ("de-CH",), ""),
        (GERMAN, ("en", "fr"), "German"),
        (GERMAN, ("en", "uk"), "German"),
        (RUSSIAN, ("en",), "Cyrillic script"),
        (RUSSIAN, ("en", "uk"), ""),
        ("Too few words.", ("fr",), ""),
    ],
)
def test_a_language_is_left_out_only_where_its_words_tell(
    text: str, languages: tuple[str, ...], left_out: str
) -> None:
    assert not_among(text, languages) == left_out


def test_human_english_is_english() -> None:
    text = Path(__file__).parents[2].joinpath("data/human.txt").read_text(encoding="utf-8")
    for start in range(0, 20_000, 2_000):
        assert language_of(text[start : start + 800]) == "English"


def test_numbers_and_repetition(tbcc: Profile) -> None:
    table = "\n".join(f"{i * 7919 % 1000:>8}; {i * 104729 % 9973:>9}; {i}" for i in range(80))
    assert "signs" in expect(table, tbcc).notes
    again = "The form has to be returned before the end of the month. " * 40
    repeated = expect(again, tbcc)
    assert "repetitive" in repeated.notes
    assert repeated.usable < repeated.tokens / 2


def test_bits_grow_with_positions_and_end_at_the_payload() -> None:
    counts = [readable_bits(n, 36) for n in range(0, 120, 6)]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == 36
    assert readable_bits(54, 36) == 36

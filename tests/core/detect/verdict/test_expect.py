from pathlib import Path
from typing import Any

import pytest

from pura.detect.verdict.expect import (
    advise,
    estimate_tokens,
    expect,
    language_of,
    length_needed,
    not_among,
    readable_bits,
)
from pura.scheme import Profile

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


def test_a_sample_text_is_expected_to_be_read_whole(samples, tbcc):
    for sample in samples["marked-tbcc"]["texts"]:
        found = expect(sample["text"], tbcc)
        assert found.bits == tbcc.payload_bits
        assert found.language == "English"
        assert found.notes == ()
        assert found.lines() == []  # nothing to say: it could be taken for a finding


def test_the_estimate_of_tokens_is_near(samples, tbcc):
    for sample in samples["marked-tbcc"]["texts"]:
        assert estimate_tokens(sample["text"]) == pytest.approx(200, rel=0.25)


def test_a_short_text_is_said_to_be_short(samples, tbcc):
    few = " ".join(samples["marked-tbcc"]["texts"][0]["text"].split()[:12])
    found = expect(few, tbcc)
    assert 0 < found.bits < tbcc.payload_bits
    assert found.notes == ("short",)
    said = found.lines()[0]
    assert "if this text is marked" in said
    assert f"about {found.bits} of 36 bits" in said


@pytest.mark.parametrize(
    ("text", "language"),
    [(GERMAN, "German"), (FRENCH, "French"), (RUSSIAN, "Cyrillic script"), ("Too few words.", "")],
)
def test_languages(text, language, tbcc):
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
def test_a_language_is_left_out_only_where_its_words_tell(text, languages, left_out):
    assert not_among(text, languages) == left_out


def test_human_english_is_english():
    text = Path(__file__).parents[3].joinpath("data/human.txt").read_text(encoding="utf-8")
    for start in range(0, 20_000, 2_000):
        assert language_of(text[start : start + 800]) == "English"


def test_numbers_and_repetition(tbcc):
    table = "\n".join(f"{i * 7919 % 1000:>8}; {i * 104729 % 9973:>9}; {i}" for i in range(80))
    assert "signs" in expect(table, tbcc).notes
    again = "The form has to be returned before the end of the month. " * 40
    repeated = expect(again, tbcc)
    assert "repetitive" in repeated.notes
    assert repeated.usable < repeated.tokens / 2


def test_bits_grow_with_positions_and_end_at_the_payload():
    counts = [readable_bits(n, 36) for n in range(0, 120, 6)]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == 36
    assert readable_bits(54, 36) == 36


def profile(**changes: object) -> Profile:
    values = {"payload_bits": 36, "code": "tbcc", "vocab_size": 100, "tokenizer": "a" * 16}
    return Profile.from_dict({"scheme": "pura1"} | values | changes)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"payload_bits": 12}, "few-bits"),
        ({"payload_bits": 256}, "many-bits"),
        ({"code": "spc", "blocks": 4}, "paper-code"),
        ({"temperature": 0.2}, "cold"),
        ({"temperature": 2}, "hot"),
        ({"top_k": 5}, "narrow-k"),
        ({"top_p": 0.3}, "narrow-p"),
        ({"entropy_thresholds_bits": [0.1, 3, 5]}, "low-gate"),
        ({"entropy_thresholds_bits": [4.5, 5, 6]}, "high-gate"),
        ({"context_window": 1}, "short-window"),
        ({"context_window": 6}, "long-window"),
        ({"tokenizer": None}, "no-tokenizer"),
    ],
)
def test_what_is_odd_is_said(changes, code):
    sound = profile(key="b" * 16)
    assert not advise(sound)
    assert list(advise(profile(key="b" * 16, **changes))) == [code]


def test_the_length_comes_from_the_measured_table_where_there_is_one():
    measured = length_needed(profile())
    # tbcc, 36 bits, prompt unknown (study.md §6).
    assert measured == (50, 56)
    # A shorter payload is no harder to find; longer ones were measured at 6 only.
    assert length_needed(profile(payload_bits=24)) == measured
    for changes in ({"temperature": 0.7}, {"payload_bits": 96}, {"payload_bits": 300}):
        assert length_needed(profile(**changes)) is None

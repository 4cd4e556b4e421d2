"""The sentence catalogue: complete, filled by one function, free of what must not be said."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.base import numerals
from pura.base.errors import RecordError
from pura.base.numerals import LANGUAGES
from pura.detect import handling as prepare
from pura.detect.restore import variants
from pura.detect.step_log import STEPS
from pura.documents import characters, layout, restore
from pura.words.sentences import (
    Sentence,
    fill,
    findings,
    forbidden,
    out_of_order,
    phrases,
    say,
    scale,
    scale_word,
    title,
)

VERDICTS = ("mark", "indication", "no-mark", "insufficient", "not-examinable")
SAMPLE = {
    "text": "a1b2c3d4e5f60718",
    "count": 1234,
    "plural": 3,
    "ratio": 45_000.0,
    "chance": 1e-5,
    "percent": 0.953,
    "share": 0.4,
    "weight": 0.99951,
    "date": "2026-03-14T09:30:00+00:00",
    "least": 1,
    "word": "very strong",
    "term": "reason.empty",
    "gaps": "922 935 1187 1313, 2001 2001 2400 2460, …",
}


def sample(key, **changes):
    values = {name: SAMPLE[kind] for name, kind in findings()[key].blanks.items()}
    return Sentence(key=key, values=values | changes)


def everything_said(key, language):
    """The sentence for many and, where it counts something, for one."""
    counted = re.findall(r"\{(\w+):plural", findings()[key].texts[language])
    return [
        fill(sentence, language)
        for sentence in (sample(key), *(sample(key, **{name: 1}) for name in counted))
    ]


# ------------------------------------------------------------------ the catalogue as a whole


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_fills_and_says_nothing_that_must_not_be_said(language, subtests):
    for key in findings():
        with subtests.test(key):
            for text in everything_said(key, language):
                assert text
                assert "{" not in text
                assert "}" not in text
                assert text == text.strip()
                assert "  " not in text
                assert forbidden(text, language) == []


def test_languages_differ():
    same = {key for key, found in findings().items() if found.texts["en"] == found.texts["de"]}
    assert same <= {"scale.none", "mark.ratio", "field.identified", "changed"}


def test_every_outcome_has_title_and_sentence():
    for verdict in VERDICTS:
        assert f"outcome.{verdict}" in findings()
        for language in LANGUAGES:
            assert title(verdict, language)
    assert title("mark", "en") == "A mark was found"
    assert title("mark", "de", 3) == "3 Markierungen wurden gefunden"
    assert title("insufficient", "de") == "Zu wenig Anhaltspunkte"


# -------------------------------------------------- rules for templates (reporting conventions)


def test_a_ratio_is_always_named_and_followed_by_n1():
    # What stands beside a mark in a list has N1 above it, with the sentence on the whole text.
    with_ratio = {k for k, t in findings().items() if "ratio" in t.blanks.values()}
    with_ratio -= {"mark.evidence", "mark.ratio"}
    assert with_ratio == {
        "outcome.mark",
        "evidence.for-h1",
        "evidence.for-h2",
        "evidence.neutral",
        "plain.for-h1",
    }
    # In one plain sentence, the window has N1 behind it as plain.n1 (tests of record.finding).
    for key in with_ratio - {"plain.for-h1"}:
        first = [] if key == "outcome.mark" else [sample("outcome.indication")]
        alone = [*first, sample(key)]
        assert out_of_order(alone) == [f"{key} is not followed by note.n1"]
        assert out_of_order([*alone, sample("note.n1")]) == []


def test_a_probability_says_what_it_is_not_and_how_many_draws():
    with_chance = {k for k, t in findings().items() if "chance" in t.blanks.values()}
    of_the_register = {"register.chance", "register.match", "register.nearest"}
    assert with_chance == {"note.n2", "note.bound"} | of_the_register
    assert findings()["note.n2"].blanks["N"] == "count"
    for key in ("note.n2", "note.bound"):
        assert "not the probability that the text is unmarked" in findings()[key].texts["en"]
        assert "nicht die Wahrscheinlichkeit" in findings()[key].texts["de"]


def test_no_mark_names_power_and_keys():
    assert findings()["outcome.no-mark"].blanks == {"k": "count", "power": "percent"}


def test_register_lines_name_size_and_date():
    for key in ("register.issued", "register.closest"):
        assert {"N", "date", "ver", "w0", "post"} <= findings()[key].blanks.keys()
    assert {"ver", "date"} <= findings()["register.none"].blanks.keys()


def test_order_of_sentences_is_checked():
    assert out_of_order([]) == ["the first sentence is not the outcome"]
    assert out_of_order([sample("scope")]) == ["the first sentence is not the outcome"]
    two = [sample("outcome.indication"), sample("outcome.insufficient")]
    assert out_of_order(two) == ["there is more than one outcome"]
    early = [sample("outcome.indication"), sample("register.issued")]
    assert out_of_order(early) == ["register.issued stands under an outcome other than a mark"]


# --------------------------------------------------------------------- the forbidden phrases

EXAMPLES = [
    (lang, name, text) for lang in LANGUAGES for name, _, some in phrases(lang) for text in some
]


def test_each_forbidden_phrase_is_caught():
    for language, name, text in EXAMPLES:
        assert name in {found for _, found, _ in forbidden(text, language)}
        assert name in {found for _, found, _ in forbidden(text.upper(), language)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_forbidden_phrase_has_examples(language):
    assert all(examples for *_, examples in phrases(language))
    names = [name for name, *_ in phrases(language)]
    assert len(set(names)) == len(names)


def test_a_phrase_broken_over_lines_is_caught_too():
    assert forbidden("beyond\n   doubt", "en")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "It is not the probability that the text is unmarked."),
        ("en", "The false-negative rate, to two significant figures."),
        ("en", "The entry is a match to register entry 17."),
        ("de", "Das ist nicht die Wahrscheinlichkeit, dass der Text unmarkiert ist."),
        ("de", "Die Verlässlichkeit einzelner Bits kann geringer sein."),
    ],
)
def test_allowed_neighbours_of_forbidden_phrases_pass(language, text):
    assert forbidden(text, language) == []


# ------------------------------------------------------------------------------- filling


def test_the_mark_sentence_in_both_languages():
    values = {"rule": "default/1", "capped": 1, "lr": 1e6, "word": "extremely strong"}
    values["one_in"] = 1_000_000
    assert say("outcome.mark", "en", **values) == (
        "Under decision rule default/1 a mark was found. The findings are at least 1,000,000 "
        "times more probable if H1 is true than if H2 is true; on the scale printed below this "
        "is extremely strong support for H1 over H2. If H2 is true, at most 1 in 1,000,000 texts "
        "reaches this decision threshold."
    )
    assert say("outcome.mark", "de", **values) == (
        "Nach der Entscheidungsregel default/1 wurde eine Markierung gefunden. Die Befunde sind "
        "mindestens 1.000.000-mal wahrscheinlicher, wenn H1 zutrifft, als wenn H2 zutrifft; nach "
        "der unten abgedruckten Skala stützen sie H1 gegenüber H2 äußerst stark. Trifft H2 zu, "
        "erreicht höchstens einer von 1.000.000 Texten diese Entscheidungsschwelle."
    )


def test_numbers_follow_the_language():
    assert "at most 1 in 100,000 (1,234 control draws)" in fill(sample("note.n2"), "en")
    assert "höchstens 1/100.000 auf (1.234 Kontrollziehungen)" in fill(sample("note.n2"), "de")
    assert "of 14 March 2026, 1,234 entries under" in fill(sample("register.issued"), "en")
    assert "vom 14. März 2026, 1.234 Einträge unter" in fill(sample("register.issued"), "de")
    assert "weight 0.9995." in fill(sample("register.issued"), "en")
    assert "Gewicht 0,9995." in fill(sample("register.issued"), "de")


def test_one_is_said_as_one():
    assert "with the one key listed" in say("outcome.no-mark", "en", k=1, power=0.97)
    assert "with the 2 keys listed" in say("outcome.no-mark", "en", k=2, power=0.97)
    assert "in einer Passage" in say("text.edited", "de", k=1, share=0.5, t=10)
    assert "one usable position" in say("outcome.insufficient", "en", n=1, nmin=40)


def test_missing_and_surplus_values_are_refused(subtests):
    for key in findings():
        good = sample(key)
        with subtests.test(key), pytest.raises(RecordError, match="surplus"):
            fill(Sentence(key=key, values=good.values | {"surplus": 1}), "en")
        for name in good.values:
            fewer = {k: v for k, v in good.values.items() if k != name}
            lacks = pytest.raises(RecordError, match=f"lacks the value “{name}”")
            with subtests.test(key, lacks=name), lacks:
                fill(Sentence(key=key, values=fewer), "en")


BAD_VALUES = {
    "text": [1, "", "x" * 1001, "line\nbreak", "\u202eback", "\x00", None],
    "count": [-1, 1.5, "3", True, None],
    "ratio": [0, -1.0, float("nan"), float("inf"), "10", True],
    "chance": [0, 1.1, float("nan"), -1e-9, "0.1"],
    "percent": [-0.1, 1.01, float("nan"), "95"],
    "share": [-0.1, 1.01, float("nan")],
    "weight": [-0.1, 1.01, float("nan"), "1"],
    "date": ["yesterday", "", 20260314, "2026-13-01"],
    "least": [2, -1, True, 0.0],
    "word": ["enormous", "scale.weak", 3],
    "term": ["reason.unknown", "outcome.mark", 3],
    "gaps": ["", "922 935 1187", "935 922 1187 1313", "a b c d", "1 2 3 -4", 3],
}


@pytest.mark.parametrize("kind", BAD_VALUES)
def test_bad_values_are_refused_with_their_name(kind):
    key, name = next(
        (key, name)
        for key, template in findings().items()
        for name, found in template.blanks.items()
        if found == kind and not key.startswith("title.")  # its number is written from 2 on
    )
    for value in BAD_VALUES[kind]:
        with pytest.raises(RecordError, match=f"“{name}”"):
            fill(sample(key, **{name: value}), "en")


def test_an_unknown_sentence_or_language_is_refused():
    with pytest.raises(RecordError, match="not in the catalogue"):
        fill(Sentence(key="outcome.guilty"), "en")
    with pytest.raises(ValueError, match="fr"):
        fill(Sentence(key="scope"), "fr")


# ------------------------------------------------------------------------------ the scale


def test_scale_bounds_are_included_below_and_excluded_above():
    assert [row.low for row in scale("en")][2:] == [1, 2, 3, 4, 6]
    for row in scale("en"):
        assert scale_word(row.low) == row.word
        if row.high is not None:
            assert scale_word(row.high) != row.word
            assert scale_word(row.high - 1e-9) == row.word
    assert scale_word(4000.0) == "extremely strong"


def test_the_scale_is_printed_in_full():
    assert [(r.range, r.word) for r in scale("de")] == [
        ("unter 2", "nicht in verwertbarer Weise"),
        ("2 bis unter 10", "schwach"),
        ("10 bis unter 100", "mäßig"),
        ("100 bis unter 1.000", "mäßig stark"),
        ("1.000 bis unter 10.000", "stark"),
        ("10.000 bis unter 1.000.000", "sehr stark"),
        ("1.000.000 und mehr", "äußerst stark"),
    ]


# -------------------------------------------------------------- numbers: what is printed is true


def printed(text):
    return float(text.replace(",", ""))


@given(st.floats(1.0, 1e14))
def test_a_ratio_above_one_is_never_exaggerated(value):
    shown = printed(numerals.ratio(value, "en"))
    assert value / 2.0000001 < shown <= value * (1 + 1e-8)


@given(st.floats(1e-9, 1.0))
def test_a_ratio_below_one_is_never_exaggerated(value):
    shown = printed(numerals.ratio(value, "en"))
    assert value * (1 - 1e-8) <= shown < value * 2.0000001


@given(st.floats(1e-14, 1.0))
def test_a_bound_is_never_understated(value):
    text = numerals.chance(value, "en")
    shown = 1 / printed(text[5:]) if text.startswith("1 in ") else printed(text)
    assert value * (1 - 1e-8) <= shown < value * 2.0000001


@given(st.floats(5e-324, 1e-15))
def test_the_smallest_bounds_still_print(value):
    assert re.fullmatch(r"1 in \d × 10[⁰¹²³⁴⁵⁶⁷⁸⁹]+|1 in [\d,]+", numerals.chance(value, "en"))


@pytest.mark.parametrize(
    ("value", "en", "de"),
    [
        (1.0, "1", "1"),
        (0.95, "0.95", "0,95"),
        (0.99989, "0.9998", "0,9998"),
        (1 - 1e-16, "over 0.9999", "über 0,9999"),
        (1e-7, "under 0.0001", "unter 0,0001"),
        (0.0, "0", "0"),
    ],
)
def test_weights(value, en, de):
    assert (numerals.weight(value, "en"), numerals.weight(value, "de")) == (en, de)


def test_shares_and_percentages():
    assert numerals.percent(0.9599, "en") == "95"
    assert numerals.percent(0.95, "en") == "95"
    assert numerals.share(0.999, "en") == "99 %"
    assert numerals.share(0.001, "en") == "1 %"
    assert numerals.share(1.0, "en") == "100 %"
    assert numerals.share(0.0, "en") == "0 %"


def test_what_an_audit_notes_by_a_name_is_in_the_catalogue():
    kinds = {
        *restore._NAMES.values(),
        *characters._RANGES,
        layout.PREFIXES,
        layout.WRAPPED,
        layout.PAGES,
    }
    kinds |= {layout.BROKEN, layout.TRAILING, layout.RUNS, layout.PARAGRAPHS}
    kinds |= {
        restore.SENTENCES,
        restore.WORDS,
        restore.LOWERED,
        characters.WHOLE,
        characters.INCOMPLETE,
    }
    signs = (prepare.CASE, prepare.LINES, prepare.TYPING, prepare.CHARACTERS)
    used = {
        *(f"change.{kind}" for kind in kinds),
        *(f"step.{name}" for name in STEPS),
        *(f"log.sign-{sign}" for sign in (*signs, prepare.WORDS, prepare.SETTINGS)),
        *(f"log.from-{name}" for name in (variants.FOUND, variants.RESTORED, variants.LAYOUT)),
        *(f"log.from-{name}" for name in (variants.CASE, variants.IDS)),
        *(f"log.outcome-{verdict}" for verdict in VERDICTS),
    }
    assert used - set(findings()) == set()

"""Handled texts are read again by restored readings; where restoring is a guess, no "no mark"."""

import itertools
import random
import re
import string
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from pura.batch.results import finding_of
from pura.detect.handling import (
    CASE,
    CHARACTERS,
    LINES,
    SETTINGS,
    TYPING,
    WORDS,
    handling_signs,
    odd_share,
    one_beside_gaps,
    pieces_of,
    unlike_written,
)
from pura.detect.options import Options
from pura.detect.restore.variants import CASE as CAPITALS
from pura.detect.restore.variants import FOUND, LAYOUT, variants_of
from pura.detect.verdict.policy import Policy
from pura.documents.characters import kind_of_hidden
from pura.documents.layout import restore_layout
from pura.documents.restore import restore
from pura.model.reading import Reading
from pura.model.tokenise import nats_of, usual_spelling
from pura.record import json_io
from pura.scheme import Profile, SecretKey
from pura.words.sentences import fill

pytestmark = pytest.mark.model
ODD = Policy().odd_characters
OTHER_KEY = SecretKey(bytes(range(7, 39)))


def wrapped(text: str) -> str:
    return "\n".join(textwrap.fill(line, 72) for line in text.split("\n"))


def with_errors(text: str) -> str:
    rng = random.Random(3)
    return "".join(
        rng.choice(string.ascii_lowercase) if c.isalpha() and rng.random() < 0.04 else c
        for c in text
    )


def in_short(text: dict[str, Any]) -> dict[str, Any]:
    return {"text": text["text"], "payload": "".join(map(str, text["payload"]))}


@pytest.fixture(scope="module")
def sample(small_samples) -> dict[str, Any]:
    return in_short(small_samples["marked-tbcc"]["texts"][0])


@pytest.fixture(scope="module")
def english(samples) -> dict[str, Any]:
    """For whatever "no mark" could be said of: that is measured for the built-in model alone."""
    return in_short(samples["marked-tbcc"]["texts"][4])


def undrawn(audited: Callable[..., Any], model: Any) -> Callable[..., Any]:
    def read(text: str, *, key: SecretKey | None = None, **options: Any) -> Any:
        # "No mark" is said only where the profile names the model that generates.
        chosen = Options(policy=replace(Policy(), draws=0), **options)
        return audited(text, profile={"model": model.fingerprint}, key=key, options=chosen)

    return read


@pytest.fixture(scope="module")
def audited(audited, builtin_model) -> Callable[..., Any]:
    return undrawn(audited, builtin_model)


@pytest.fixture(scope="module")
def small_audited(small_audited, small_model) -> Callable[..., Any]:
    return undrawn(small_audited, small_model)


def check_shown(audit: Any, text: str, name: str, payload: str) -> None:
    """The strongest reading is a restored one; the record still shows what was found."""
    assert audit.verdict == "mark"
    assert audit.payload.bits == payload
    by_name = {v.name: v for v in audit.variants}
    (shown,) = (v for v in audit.variants if v.shown)
    assert shown.name == name
    assert shown.changes
    assert shown.log10_e > by_name[FOUND].log10_e + 3
    read = [v.log10_e for v in audit.variants if v.read]
    wanted = np.logaddexp.reduce(np.array(read) * np.log(10)) / np.log(10) - np.log10(len(read))
    assert audit.evidence.log10_e == pytest.approx(wanted)
    assert audit.text == text
    spans = audit.tokens.spans
    assert spans[0, 0] == 0
    assert spans[-1, 1] == len(text)
    assert np.all(spans[1:, 0] == spans[:-1, 1])
    assert all(0 <= p.start < p.end <= len(text) for p in audit.passages)
    assert json_io.from_json(json_io.to_json(audit)).variants == audit.variants


def test_wrapped_lines_are_joined(small_audited, sample):
    text = wrapped(sample["text"]).strip()
    found = small_audited(text)
    check_shown(found, text, LAYOUT, sample["payload"])
    assert "lines broken at a column" in found.log[2].words("en")
    assert [v.name for v in small_audited(text, restore=False).variants] == [FOUND]


@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_capitals_are_given_back(small_audited, sample, case):
    text = case(sample["text"])
    found = small_audited(text)
    check_shown(found, text, CAPITALS, sample["payload"])
    assert "caution.handled-case" in {s.key for s in found.cautions}


def test_collapsed_text_is_read(small_audited, sample):
    found = small_audited(" ".join(sample["text"].split()))
    assert found.verdict == "mark"
    assert found.payload.bits == sample["payload"]


def test_no_mark_is_not_said_of_a_handled_text(audited, english):
    clean = audited(english["text"], key=OTHER_KEY)
    assert [v.name for v in clean.variants] == [FOUND]
    assert clean.verdict == "no-mark"
    assert not [s for s in clean.cautions if s.key.startswith("caution.handled")]
    for handled, sign in ((str.lower, CASE), (with_errors, TYPING)):
        found = audited(handled(english["text"]), key=OTHER_KEY)
        assert found.verdict == "insufficient"
        assert found.evidence.power is None
        caution = next(s for s in found.cautions if s.key.startswith("caution.handled"))
        assert caution.key == f"caution.handled-{sign}"
        assert fill(caution, "en") != fill(caution, "de")


def test_signs(small_model, samples):
    pieces = pieces_of(small_model)
    texts = [t["text"] for t in samples["marked-tbcc"]["texts"][:5]]

    def signs(change: Callable[[str], str], **options: Any) -> list[tuple[str, ...]]:
        return [handling_signs(change(text), pieces, odd=ODD, **options) for text in texts]

    assert signs(str) == [()] * 5
    assert signs(wrapped) == [()] * 5  # joined by their column: measured (study.md)
    assert all(LINES in found for found in signs(wrapped, restored=False))
    twice = signs(lambda text: wrapped(text.replace(" ", "\n", 1)).replace(" of ", "\nof "))
    assert sum(LINES in found for found in twice) >= 3
    assert all(CASE in found for found in signs(str.lower))
    assert all(found == (TYPING,) for found in signs(with_errors))


def test_german_is_not_full_of_typing_errors(small_model):
    german = "Der Ausschuss hat sich gestern mit der Frage befasst, ob die Regeln angewendet "
    assert handling_signs(german * 12, pieces_of(small_model), odd=ODD) == ()


def test_the_readings_do_not_depend_on_key_or_phases(small_model, small_audited, sample):
    """They are chosen from the text and the vocabulary; an audit adds none and leaves none out."""
    text = wrapped(sample["text"][:600].lower())

    def spelt(words: Sequence[str]) -> dict[str, str]:
        return usual_spelling(small_model.tokenizer, words)

    chosen = variants_of(text, spelt=spelt, costs=partial(nats_of, small_model.tokenizer))
    assert [(v.name, v.read) for v in chosen] == [(FOUND, False), (CAPITALS, True)]
    for key in (None, OTHER_KEY):
        found = small_audited(text, key=key)
        assert [v.name for v in found.variants] == [v.name for v in chosen]
        assert [v.characters for v in found.variants] == [len(v.text) for v in chosen]
        assert [v.text or found.text for v in found.variants] == [v.text for v in chosen]


def test_a_vocabulary_is_a_lexicon(small_model):
    words = ["tuesday", "the", "eu", "i", "london", "harbour", "zzyzxq"]
    found = usual_spelling(small_model.tokenizer, words)
    assert found["tuesday"] == "Tuesday"
    assert found["i"] == "I"
    assert found["eu"] == "EU"
    assert found["london"] == "London"
    assert (found["the"], found["harbour"], found["zzyzxq"]) == ("the", "harbour", "zzyzxq")
    assert usual_spelling(small_model.tokenizer, []) == {}


PROSE = (
    "The committee met on Tuesday in the old town hall and heard three reports, none of which was "
    "long. The first one spoke of the harbour, where the new pier has cost more than anyone had "
    "said before; the second was about the library and its roof. Nobody asked for the third, and "
    "so the mayor read it aloud to those who had stayed, until it was dark outside."
)


def silent(text: str, char: str) -> bool:
    """Whether "no mark" cannot follow: a restored reading is the text again, or a sign shows."""
    put = text.replace(" ", f" {char}")
    readings = {variant.text for variant in variants_of(put)}
    return text in readings or bool(handling_signs(put, lambda words: [1] * len(words), odd=ODD))


@pytest.mark.sampled
def test_no_character_behind_every_blank_leads_to_no_mark():
    """Over all code points: what restoring drops or changes by itself, the rest by one rule."""
    every = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]
    hidden = [char for char in every if kind_of_hidden(char)]
    dropped = restore("".join(f"word {char}" for char in hidden))
    assert dropped.text == "word " * len(hidden)
    shown = [char for char in every if not kind_of_hidden(char)]
    kept = set(restore(" ".join(shown)).text)
    special = [char for char in shown if char.isascii() or char.isspace() or char not in kept]
    assert len(special) > 200
    tried = [*special, *hidden[::100]]
    assert [hex(ord(char)) for char in tried if not silent(PROSE, char)] == []
    # Restoring leaves all others as they are, and none is a blank: the rule sees each at each gap,
    # and asks for nothing but how often it stands there.
    others = sorted(set(shown) - set(special))
    assert len(others) > 1_100_000
    assert re.fullmatch(r"\S+", "".join(others))
    gaps = " ".join(["word"] * 60)
    put = others[:3_000] + others[3_000::101]
    assert [hex(ord(c)) for c in put if not one_beside_gaps(gaps.replace(" ", f" {c}"))] == []
    assert all(silent(PROSE, char) for char in others[:: len(others) // 200])


def test_ordinary_prose_has_no_odd_characters():
    def signs(text: str) -> tuple[str, ...]:
        return handling_signs(text, lambda words: [1] * len(words), odd=ODD)

    chat = PROSE.replace("long.", "long 🙂.").replace("roof.", "roof ❤️!").replace("so ", "so 👍🏽 ")
    german = "„Größe ist nicht alles“, sagte sie – und schwieg … bis 20 % für 5 € fehlten. "
    russian = "Комитет собрался во вторник в старой ратуше и выслушал три доклада о гавани. "
    japanese = "委員会は火曜日に開かれ、港の報告を聞いた。「長かった」と市長は言った。"
    indented = "\n".join(f"\t{sentence}" for sentence in PROSE.split(". "))
    law = PROSE.replace(" and ", " & ").replace("long", "AT&T; long")
    for text in (PROSE, indented, law, chat, german * 4, russian * 4, japanese * 4):
        assert signs(text) == ()
        assert odd_share(text) < ODD / 2 or text == chat
    for odd in ("ꙮ", "🙂", "\ue000", "\U000e1fff", "𝐱", "\u0378"):
        assert signs(PROSE.replace(" of", f" {odd}of").replace(" the", f" {odd}the")) == (
            CHARACTERS,
        )


@pytest.mark.parametrize(
    ("found", "put"),
    [
        (r" ", "_"),
        (r" ", "."),
        (r" ", "&nbsp;"),
        (r"(?<=[b-z])[ae](?=[b-z]{2})", "&eacute;"),
        (r" ", "\u2063"),
        (r" (?=[a-m])", "\u2063"),
        (r" (?=[a-m])", "-"),
        (r"(?<=[b-z])[ae](?=[b-z]{2})", "á"),
        (r"(?<=[b-z])[eo](?=[b-z]{2})", "0"),
    ],
)
def test_joined_and_disguised_words_are_told(found, put):
    text = re.sub(found, put, PROSE * 2)
    assert CHARACTERS in handling_signs(text, lambda words: [1] * len(words), odd=ODD)


def test_words_in_the_cells_of_a_table_are_read_as_words():
    for text in (PROSE.replace(" ", "\t"), "\t" + PROSE.replace(" ", "\t")):
        assert restore_layout(text).text.strip() == PROSE.strip()
        assert CHARACTERS in handling_signs(
            text, lambda words: [1] * len(words), odd=ODD, restored=False
        )


@pytest.mark.parametrize("gap", [" ", "\t"])
@pytest.mark.parametrize("words", [1, 2, 3, 5])
def test_a_few_words_a_line_are_a_sign(words, gap):
    """Also where no line begins with a small letter, so that nothing joins them."""

    def signs(text: str) -> tuple[str, ...]:
        return handling_signs(text, lambda words: [1] * len(words), odd=ODD)

    pieces = (PROSE * 2).split(" ")
    cells = [gap.join(pieces[n : n + words]) for n in range(0, len(pieces), words)]
    for text in ("\n".join(cells), "\n".join(cell[0].upper() + cell[1:] for cell in cells)):
        assert "lines" in signs(text)
    verse = "\n".join(PROSE[n : n + 40] for n in range(0, len(PROSE), 40))
    said = "\n".join(f"{sentence}." for sentence in re.split(r"[.,;] ", PROSE * 2))
    for text in (verse[:400], said):
        assert "lines" not in signs(text)


HIDING = {
    "\u2063": "invisible-characters",
    "\ufe0f": "variation-selectors",
    "\x01": "control-characters",
    "\u3164": "blank-letters",
    "\u202e": "direction-marks",
    "\U000e0041": "tag-characters",
}


def test_a_mark_stays_one_behind_hidden_characters_of_any_kind(small_audited, sample):
    kinds, gaps = list(HIDING), sample["text"].count(" ")
    turn = itertools.cycle(kinds)
    found = small_audited(re.sub(" ", lambda _: f" {next(turn)}", sample["text"]))
    assert found.verdict == "mark"
    assert found.payload.bits == sample["payload"]
    told = {s.key: s for s in found.cautions}
    for place, char in enumerate(kinds):
        caution = told[f"caution.hidden-{HIDING[char]}"]
        assert caution.values == {"k": len(range(place, gaps, len(kinds)))}
        assert fill(caution, "en") != fill(caution, "de")
    assert found.to_row()["hidden"] == finding_of(found.finding)["hidden"] == gaps


@pytest.mark.parametrize("char", ["ꙮ", "*"])
def test_a_mark_stays_one_behind_characters_that_show(audited, english, char):
    found = audited(english["text"].replace(" ", f" {char}"))
    assert found.verdict != "no-mark"
    assert f"caution.handled-{CHARACTERS}" in {s.key for s in found.cautions}


def test_mixed_capitals_are_told_and_undone(small_audited, audited, sample, english):
    rng = random.Random(5)

    def swapped(text: str) -> str:
        return re.sub(
            r"[^\W\d_]+",
            lambda m: m[0][0].swapcase() + m[0][1:] if rng.random() < 0.3 else m[0],
            text,
        )

    def titled(text: str) -> str:
        return re.sub(r"[^\W\d_]+", lambda m: m[0].capitalize(), text)

    for change in (titled, swapped):
        text = change(sample["text"])
        check_shown(small_audited(text), text, CAPITALS, sample["payload"])
        assert audited(change(english["text"]), key=OTHER_KEY).verdict == "insufficient"


def test_exchanged_words_are_told(audited, english):
    rng, pool = random.Random(5), PROSE.split()
    words = [rng.choice(pool) if rng.random() < 0.4 else w for w in english["text"].split(" ")]
    found = audited(" ".join(words), key=OTHER_KEY)
    assert found.verdict == "insufficient"
    assert f"caution.handled-{WORDS}" in {s.key for s in found.cautions}


def drawn(temperature: float, exchanged: float) -> Reading:
    """Tokens of Zipf's laws, some of them exchanged; the reading has the laws at temperature 1."""
    rng = np.random.default_rng(1)
    probability, entropy = np.zeros(300), np.zeros(300)
    for at in range(300):
        law = np.arange(1, 1001) ** -rng.uniform(1, 2.5)
        law /= law.sum()
        colder = law ** (1 / temperature) / (law ** (1 / temperature)).sum()
        token = rng.integers(1000) if rng.random() < exchanged else rng.choice(1000, p=colder)
        probability[at], entropy[at] = law[token], -(law * np.log2(law)).sum()
    nothing = np.zeros((1, 300))
    return Reading(
        ids=np.zeros(300, np.int64),
        entropy_bits=entropy,
        probability=probability,
        lo=nothing,
        hi=nothing,
    )


@pytest.mark.parametrize("exchanged", [0.0, 0.05, 0.1])
def test_exchanged_words_do_not_hide_colder_settings(exchanged):
    profile = Profile(payload_bits=36, code="tbcc", vocab_size=1000)
    assert unlike_written([drawn(0.7, exchanged)], profile) == (SETTINGS,)
    assert SETTINGS not in unlike_written([drawn(1.0, exchanged)], profile)
    cut = profile.with_(top_p=0.95)
    assert unlike_written([drawn(0.7, exchanged)], cut) == ()

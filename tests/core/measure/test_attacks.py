"""What each attack does to a text, and what it leaves alone."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pura.measure.attacks.base import (
    Attacked,
    Tools,
    copy_paste,
    delete,
    edit_rate,
    insert,
    paste_spans,
    read_mythes,
    sentence_shuffle,
    splice,
    split_sentences,
    substitute,
    substitute_plausible,
    truncate,
    word_spans,
)
from pura.measure.attacks.table import (
    ATTACKS,
    Attack,
    AttackError,
    attack_ids,
    attack_many,
    attack_text,
    stress,
)

VOCABULARY = 500
TEXT = (
    "The ferry was late again. Nobody minded! “Is that the island?” asked Ida.\n"
    "The captain nodded. A gull sat down on the rail. It looked at the bread."
)
FOREIGN = tuple(f"Sentence number {i} is foreign." for i in range(20))


def text_ids(size: int = 200, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, VOCABULARY, size)


def characters(text: str) -> np.ndarray:
    return np.array([ord(c) for c in text], dtype=np.int64)


def spell(ids: np.ndarray) -> str:
    return "".join(map(chr, ids.tolist()))


TOOLS = Tools(
    vocab_size=VOCABULARY,
    decode=spell,
    tokenise=characters,
    propose=lambda ids: np.tile(np.arange(VOCABULARY, dtype=np.float32) / 50, (ids.size, 1)),
    foreign=FOREIGN,
)


def slow_edit_distance(a: list[int], b: list[int]) -> int:
    table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (x != y)
            )
    return table[len(a), len(b)]


@pytest.mark.parametrize("seed", range(8))
def test_edit_rate_is_the_edit_distance(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, rng.integers(1, 12)), rng.integers(0, 4, rng.integers(0, 12))
    assert edit_rate(a, b) == slow_edit_distance(a.tolist(), b.tolist()) / a.size


def test_edit_rate_of_nothing():
    empty = np.zeros(0, dtype=np.int64)
    assert edit_rate(empty, empty) == 0
    assert edit_rate(empty, text_ids(3)) == float("inf")


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 1.0])
def test_substitution_changes_exactly_its_share(rate):
    ids = text_ids()
    out = substitute(ids, np.random.default_rng(2), rate=rate, vocab_size=VOCABULARY)
    changed = out.ids != ids
    assert changed.sum() == round(rate * ids.size)
    np.testing.assert_array_equal(out.origin == -1, changed)
    np.testing.assert_array_equal(out.ids[~changed], ids[out.origin[~changed]])
    assert out.rate <= rate
    assert out.ids.min() >= 0
    assert out.ids.max() < VOCABULARY


def test_substitutes_are_uniform_over_the_other_tokens():
    ids, rng = np.full(200, 3), np.random.default_rng(3)
    out = [substitute(ids, rng, rate=1.0, vocab_size=5).ids for _ in range(100)]
    counts = np.bincount(np.concatenate(out), minlength=5)
    assert counts[3] == 0
    # 4 cells of 5000 expected, standard deviation 61: five of them, failure below 1e-5.
    assert np.all(np.abs(counts[[0, 1, 2, 4]] - 5000) < 310)


def test_plausible_substitutes_come_from_the_top_and_never_repeat_the_token():
    ids = text_ids()
    logits = np.random.default_rng(4).normal(size=(ids.size, VOCABULARY)).astype(np.float32)
    out = substitute_plausible(ids, np.random.default_rng(5), rate=0.5, logits=logits, top_k=10)
    places = np.flatnonzero(out.origin == -1)
    assert places.size == 100
    assert 0 not in places
    for place in places.tolist():
        assert out.ids[place] != ids[place]
        better = (logits[place] > logits[place, out.ids[place]]).sum()
        assert better < 11


def test_plausible_substitutes_follow_the_probabilities():
    ids, rng = np.zeros(201, dtype=np.int64), np.random.default_rng(6)
    logits = np.tile(np.log([0.5, 0.3, 0.15, 0.05]), (ids.size, 1))
    out = [
        substitute_plausible(ids, rng, rate=1.0, logits=logits, top_k=2).ids[1:] for _ in range(40)
    ]
    # Of the three others the top two are offered, two to one; standard deviation 42.
    counts = np.bincount(np.concatenate(out), minlength=4)
    assert counts[0] == counts[3] == 0
    assert abs(counts[1] - 8000 * 2 / 3) < 5 * 42


def test_insertion_keeps_the_text_in_order():
    ids = text_ids()
    out = insert(ids, np.random.default_rng(7), rate=0.2, vocab_size=VOCABULARY)
    assert out.ids.size == 240
    own = out.origin >= 0
    np.testing.assert_array_equal(out.origin[own], np.arange(200))
    np.testing.assert_array_equal(out.ids[own], ids)
    assert 0.15 < out.rate <= 0.2


def test_deletion_keeps_the_rest_in_order():
    ids = text_ids()
    out = delete(ids, np.random.default_rng(8), rate=0.1)
    assert out.ids.size == 180
    assert np.all(np.diff(out.origin) > 0)
    np.testing.assert_array_equal(out.ids, ids[out.origin])
    assert out.rate == pytest.approx(0.1)


def test_truncation_keeps_the_beginning():
    ids = text_ids()
    out = truncate(ids, tokens=60)
    np.testing.assert_array_equal(out.ids, ids[:60])
    assert out.rate == pytest.approx(0.7)
    np.testing.assert_array_equal(truncate(ids, tokens=999).ids, ids)


def test_splice_puts_the_passage_in_one_piece():
    passage, host = text_ids(50, 1), text_ids(120, 2)
    out = splice(passage, np.random.default_rng(9), host=host)
    inside = np.flatnonzero(out.origin >= 0)
    np.testing.assert_array_equal(inside, np.arange(inside[0], inside[0] + 50))
    np.testing.assert_array_equal(out.ids[inside], passage)
    np.testing.assert_array_equal(np.delete(out.ids, inside), host)
    assert splice(passage, np.random.default_rng(0), host=host, before=0).origin[0] == 0


def test_sentences_and_separators_are_the_text():
    sentences, separators = split_sentences(TEXT)
    assert len(sentences) == 7
    assert sentences[1] == "Nobody minded!"
    assert separators[3] == "\n"
    together = "".join(a + b for a, b in zip(sentences, [*separators, ""], strict=True))
    assert together == TEXT


@pytest.mark.parametrize("text", ["", "no end", "One. ", "\n\nx\n", "a.\n\nb!  c?", "…", "A. B."])
def test_every_text_survives_the_splitting(text):
    sentences, separators = split_sentences(text)
    assert "".join(a + b for a, b in zip(sentences, [*separators, ""], strict=True)) == text


def test_shuffle_keeps_every_sentence_and_changes_the_order():
    for seed in range(20):
        out = sentence_shuffle(TEXT, np.random.default_rng(seed))
        assert out != TEXT
        assert sorted(split_sentences(out)[0]) == sorted(split_sentences(TEXT)[0])
    assert sentence_shuffle("Only one.", np.random.default_rng(0)) == "Only one."


def test_copy_paste_reaches_its_share_and_keeps_the_own_sentences_in_order():
    for seed in range(20):
        out = copy_paste(TEXT, np.random.default_rng(seed), share=0.3, foreign=FOREIGN)
        sentences = split_sentences(out)[0]
        own = [s for s in sentences if "foreign" not in s]
        assert own == split_sentences(TEXT)[0]
        # 7 own sentences at 30 % foreign: 7 * 0.3 / 0.7 = 3.
        assert len(sentences) - len(own) == 3
    with pytest.raises(ValueError, match="too few"):
        copy_paste(TEXT, np.random.default_rng(0), share=0.9, foreign=FOREIGN[:3])


def test_attacks_say_what_they_lack():
    for name in ("substitute", "substitute-plausible", "sentence-shuffle"):
        with pytest.raises(AttackError):
            attack_ids(name, text_ids(), np.random.default_rng(1), Tools())
    with pytest.raises(AttackError, match="“unknown” is not known"):
        attack_ids("unknown", text_ids(), np.random.default_rng(1), TOOLS)
    with pytest.raises(ValueError, match="rate"):
        delete(text_ids(), np.random.default_rng(1), rate=1.5)


PLAIN = replace(TOOLS, propose=None)


def test_spellings_contractions_and_typography_go_there_and_back():
    def run(name: str, text: str) -> str:
        return stress(name, text, PLAIN, seed=1).text

    british = "The colour of the harbour: she realised it, realising THEATRE centres."
    american = "The color of the harbor: she realized it, realizing THEATER centers."
    assert run("spelling", british) == american
    assert run("spelling", american) == british
    assert run("contractions", "Do not say it is late.") == "Don't say it's late."
    assert run("contractions", "Don't say it's late.") == "Do not say it is late."
    assert run("office", '"It\'s 3 km" -- ("far")...') == "“It’s 3\u00a0km” – (“far”)…"


def test_attacks_on_characters_hit_their_share_and_nothing_else():
    words = len(word_spans(TEXT))
    for name in ("typos", "case", "homoglyphs", "zero-width", "punctuation"):
        done = stress(name, TEXT, PLAIN, seed=2, strength=0.5)
        assert done.damage.characters > 0, name
        assert stress(name, TEXT, PLAIN, seed=2, strength=0.0).text == TEXT, name
    cased = stress("case", TEXT, PLAIN, seed=3, strength=0.25).text
    assert cased.lower() == TEXT.lower()
    assert sum(a != b for a, b in zip(cased, TEXT, strict=True)) == round(words / 4)
    hidden = stress("zero-width", TEXT, PLAIN, seed=3, strength=0.1).text
    assert "".join(c for c in hidden if c not in "\u200b\u200c\u200d\u2060") == TEXT
    assert len(hidden) == len(TEXT) + round(len(TEXT) / 10)
    twins = stress("homoglyphs", TEXT, PLAIN, seed=3, strength=1.0).text
    assert len(twins) == len(TEXT)
    assert "a" not in twins


def test_synonyms_are_single_words_in_the_case_of_the_old_one(tmp_path):
    file = tmp_path / "th.dat"
    file.write_bytes(
        b"UTF-8\nferry|2\n(noun)|boat|craft (generic term)\n(verb)|ship\nbread|1\n(noun)|loaf\n"
    )
    known = read_mythes(file)
    assert known == {"ferry": ("boat", "ship"), "bread": ("loaf",)}
    tools = replace(PLAIN, thesaurus=lambda word: known.get(word, ()))
    text = stress("synonyms", "The ferry. Ferry BREAD!", tools, seed=1, strength=1.0).text
    assert re.fullmatch(r"The (boat|ship)\. (Boat|Ship) LOAF!", text)


def test_pieces_stand_in_order_in_other_text():
    ids, host = text_ids(120, 1), text_ids(300, 2)
    out = paste_spans(ids, np.random.default_rng(3), host=host, share=0.4, spans=4)
    own = out.origin >= 0
    np.testing.assert_array_equal(out.origin[own], np.arange(120))
    np.testing.assert_array_equal(out.ids[own], ids)
    np.testing.assert_array_equal(out.ids[~own], host[:80])
    edges = np.count_nonzero(np.diff(own.astype(int), prepend=0, append=0) == 1)
    assert 1 <= edges <= 4
    with pytest.raises(ValueError, match="short"):
        paste_spans(ids, np.random.default_rng(3), host=host[:10], share=0.4, spans=4)


class Said:
    """A writer that repeats the passage with one word more; it remembers what it was asked."""

    name = "said"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, system: str, user: str, *, seed: int, tokens: int) -> str:
        self.asked.append(user)
        return f"Well, {user.rpartition('Passage:')[2].strip()} {'x ' * (seed % 3)}".strip()

    def log_likelihoods(self, system: str, user: str, answer: str) -> np.ndarray:
        return np.full(len(answer), -1.0 if user else -2.0)


class Turned:
    """A translator whose other language is written backwards."""

    def __init__(self, name: str) -> None:
        self.name, self.turned = name, []

    def __call__(self, prompt: str, *, seed: int) -> str:
        self.turned.append(prompt)
        return prompt[::-1]


def test_rewriting_goes_three_sentences_at_a_time_and_names_its_model():
    writer = Said()
    tools = replace(PLAIN, writer=writer, propose=lambda ids: np.zeros((ids.size, 9000)))
    done = stress("paraphrase", TEXT, tools, seed=1)
    assert done.writer == "said"
    assert len(writer.asked) == 3  # of seven sentences
    assert done.text.count("Well, ") == 3
    assert stress("rlcracker", TEXT, tools, seed=1, tries=2).writer == "said"
    assert stress("sira", TEXT, tools, seed=1).writer == "said"
    assert stress("dipper", TEXT, tools, seed=1).writer == "said"
    codes: list[str] = []

    class Real:
        name = "DIPPER"

        def __call__(self, prompt: str, *, seed: int) -> str:
            codes.append(prompt)
            return "Said otherwise."

    real = Real()
    with pytest.raises(AttackError, match="there and back"):
        stress("back-translation", TEXT, tools, seed=1)
    both = [Turned("en-de"), Turned("de-en")]
    done = stress("back-translation", TEXT, replace(tools, translators=tuple(both)), seed=1)
    assert (done.writer, done.text) == ("en-de, de-en", " ".join(TEXT.split()))
    assert both[0].turned == split_sentences(TEXT)[0]
    done = stress("dipper", TEXT, replace(tools, paraphraser=real), seed=1, lexical=40)
    assert done.writer == "DIPPER"
    assert done.text == " ".join(["Said otherwise."] * 3)
    assert codes[1].startswith("lexical = 60, order = 80 Said otherwise. <sent> ")


def test_smoothing_changes_about_its_share_and_only_where_the_model_is_unsure():
    ids = np.zeros(400, dtype=np.int64)

    def stepper() -> Callable[[np.ndarray], np.ndarray]:
        count = iter(range(1, 500))

        # Every second step is sure of token 0, the others know nothing.
        def step(tokens: np.ndarray) -> np.ndarray:
            return np.tile(np.eye(1, 8) * (30.0 if next(count) % 2 else 0.0), (tokens.size, 1))

        return step

    tools = replace(PLAIN, stepper=stepper)
    done = attack_ids("smoothing", ids, np.random.default_rng(4), tools)
    assert set(np.flatnonzero(done.ids) % 2) == {0}
    assert 0.3 < np.count_nonzero(done.ids) / 400 < 0.5
    rng = [np.random.default_rng(seed) for seed in (5, 4)]
    beside = attack_many("smoothing", [ids[:90], ids], rng, tools)
    np.testing.assert_array_equal(beside[1].ids, done.ids)  # as if it were alone
    assert beside[0].ids.size == 90


def test_what_an_attack_did_is_measured():
    done = stress("delete", "abcd", PLAIN, seed=1, strength=0.25)
    assert (done.damage.characters, done.damage.tokens, done.damage.words) == (0.25, 0.25, 1.0)
    flat = replace(PLAIN, propose=lambda ids: np.zeros((ids.size, 9000)))
    assert stress("case", TEXT, flat, seed=1).damage.perplexity == pytest.approx(9000)
    assert stress("sentence-shuffle", "A b c. D e f.", PLAIN, seed=1).damage.similarity == 1.0
    with pytest.raises(AttackError, match="strength"):
        stress("sentence-shuffle", TEXT, PLAIN, seed=1, strength=0.1)
    with pytest.raises(AttackError, match="“spans” is not known"):
        stress("delete", TEXT, PLAIN, seed=1, spans=2)


class Knows:
    """A model of five words: any may follow any, but after 1, 1, 1 comes 4 for sure."""

    def __init__(self) -> None:
        self.seen: np.ndarray = np.zeros((0, 0), dtype=np.int64)

    def __call__(self, tokens: np.ndarray) -> np.ndarray:
        if not self.seen.size:
            self.seen = np.zeros((tokens.size, 0), dtype=np.int64)
        self.seen = np.concatenate([self.seen, tokens[:, None]], axis=1)
        sure = (self.seen[:, -3:] == 1).all(axis=1) & (self.seen.shape[1] >= 3)
        return np.where(sure[:, None], np.eye(1, 5, 4) * 30.0, np.zeros(5))

    def go_on_as(self, rows: np.ndarray) -> None:
        self.seen = self.seen[rows]


def test_gaps_are_filled_with_a_view_to_what_follows():
    ids = np.full(90, 4)
    tools = replace(PLAIN, stepper=Knows)
    filled = attack_ids("infill", ids, np.random.default_rng(2), tools, rate=0.1, tries=600)
    changed = np.flatnonzero(filled.origin == -1)
    gaps = np.split(filled.ids, np.flatnonzero(np.diff(filled.ids == 4)) + 1)
    # Of 125 fillings one makes what follows certain; 600 tries find it each time.
    assert [g.tolist() for g in gaps if g[0] != 4] == [[1, 1, 1]] * 3
    assert changed.size == 9
    rng = [np.random.default_rng(seed) for seed in (5, 2)]
    beside = attack_many("infill", [ids[:50], ids], rng, tools, tries=600)
    np.testing.assert_array_equal(beside[1].ids, filled.ids)  # as if it were alone
    with pytest.raises(ValueError, match="fit"):
        attack_ids("infill", ids, np.random.default_rng(2), tools, rate=0.5)


# The whole table


class Shortened(Turned):
    """A translator whose other language is written backwards and knows no "e"."""

    def __call__(self, prompt: str, *, seed: int) -> str:
        return super().__call__(prompt, seed=seed).replace("e", "")


class Flat:
    """A model that knows nothing."""

    def __call__(self, tokens: np.ndarray) -> np.ndarray:
        return np.zeros((tokens.size, PLACES))

    def go_on_as(self, rows: np.ndarray) -> None:
        pass


LONG = f'{TEXT} The colour of the harbour: "I do not know -- it\'s late..."'
PLACES = 9000  # wide enough for the characters of that text
NO_MODEL = replace(
    TOOLS,
    propose=lambda ids: np.zeros((ids.size, PLACES)),
    stepper=Flat,
    thesaurus=lambda word: (word[::-1],),
)
MODELS = replace(NO_MODEL, writer=Said(), translators=(Turned("en-de"), Shortened("de-en")))
GIVEN: dict[str, dict[str, Any]] = {"splice": {"host": characters("plain text around it")}}
"""What an attack has no default for."""


def faults_of(attack: Attack) -> set[str]:
    """Say in what an attack is not what its line in the table says."""
    given, ids = GIVEN.get(attack.name, {}), characters(LONG)
    before = ids.copy()

    def run(tools: Tools = MODELS, **params: Any) -> Attacked:
        return attack_ids(attack.name, ids, np.random.default_rng(11), tools, **given | params)

    def writes() -> bool:
        try:
            return not run(NO_MODEL)
        except AttackError:
            return True

    def at(share: float) -> float:
        return run(**{attack.strength: share * attack.params[attack.strength]}).rate

    hit = run()
    origin = np.full(hit.ids.size, -1) if hit.origin is None else hit.origin
    text, rate = attack_text(attack.name, LONG, np.random.default_rng(11), MODELS, **given)
    rng = [np.random.default_rng(seed) for seed in (5, 11)]
    _, beside = attack_many(attack.name, [ids[:150], ids], rng, MODELS, **given)
    faults = {
        "changes nothing": hit.rate == 0,
        "says another rate": not hit.rate == edit_rate(ids, hit.ids) == pytest.approx(rate),
        "is another with the same seed": not np.array_equal(hit.ids, run().ids),
        "changes what it was given": not np.array_equal(ids, before),
        "names wrong origins": not np.array_equal(hit.ids[origin >= 0], ids[origin[origin >= 0]]),
        "does otherwise to text": text != spell(hit.ids),
        "does otherwise beside another text": not np.array_equal(beside.ids, hit.ids),
        "writes anew, or not": writes() != attack.rewrites,
        "has no such strength": bool(attack.strength) and attack.strength not in attack.params,
    }
    if attack.strength and not attack.rewrites:
        faults["hits at no strength"] = at(0.0) > 0
        faults["hits no harder with more strength"] = at(0.25) >= hit.rate
    return {fault for fault, met in faults.items() if met}


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_what_its_line_says(name):
    assert faults_of(ATTACKS[name]) == set()


def test_a_wrong_line_is_seen(monkeypatch):
    def changed(share: float) -> Callable[..., str]:
        return lambda text, rng, **_: text.replace("e", "u", round(8 * share))

    def drawn(text: str, rng: np.random.Generator, **_: Any) -> str:
        return f"{text}{np.random.default_rng().random():.9f}"

    rate = {"strength": "rate", "params": {"rate": 0.1}}
    no_more = {"hits at no strength", "hits no harder with more strength"}
    for attack, faults in (
        (Attack(name="x", target="text", function=changed(1)), set()),
        (Attack(name="x", target="text", function=changed(0)), {"changes nothing"}),
        (Attack(name="x", target="text", function=changed(1), **rate), no_more),
        (
            Attack(name="x", target="text", function=changed(1), rewrites=True),
            {"writes anew, or not"},
        ),
        (replace(ATTACKS["paraphrase"], rewrites=False), {"writes anew, or not"}),
        (
            Attack(name="x", target="text", function=drawn),
            {
                "is another with the same seed",
                "does otherwise to text",
                "does otherwise beside another text",
            },
        ),
    ):
        monkeypatch.setitem(ATTACKS, attack.name, attack)
        assert faults_of(attack) == faults

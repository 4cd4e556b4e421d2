"""What each attack does to a text, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from pura.lab.attacks import (
    ATTACKS,
    Tools,
    attack_ids,
    attack_text,
    copy_paste,
    delete,
    edit_rate,
    insert,
    sentence_shuffle,
    splice,
    split_sentences,
    substitute,
    substitute_plausible,
    truncate,
)
from pura.lab.attacks.table import AttackError

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
def test_edit_rate_is_the_edit_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, rng.integers(1, 12)), rng.integers(0, 4, rng.integers(0, 12))
    assert edit_rate(a, b) == slow_edit_distance(a.tolist(), b.tolist()) / a.size


def test_edit_rate_of_nothing() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert edit_rate(empty, empty) == 0
    assert edit_rate(empty, text_ids(3)) == float("inf")


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 1.0])
def test_substitution_changes_exactly_its_share(rate: float) -> None:
    ids = text_ids()
    out = substitute(ids, np.random.default_rng(2), rate=rate, vocab_size=VOCABULARY)
    changed = out.ids != ids
    assert changed.sum() == round(rate * ids.size)
    np.testing.assert_array_equal(out.origin == -1, changed)
    np.testing.assert_array_equal(out.ids[~changed], ids[out.origin[~changed]])
    assert out.rate <= rate
    assert out.ids.min() >= 0
    assert out.ids.max() < VOCABULARY


def test_substitutes_are_uniform_over_the_other_tokens() -> None:
    ids = np.full(20_000, 3)
    out = substitute(ids, np.random.default_rng(3), rate=1.0, vocab_size=5).ids
    counts = np.bincount(out, minlength=5)
    assert counts[3] == 0
    # 4 cells of 5000 expected, standard deviation 61: five of them, failure below 1e-5.
    assert np.all(np.abs(counts[[0, 1, 2, 4]] - 5000) < 310)


def test_plausible_substitutes_come_from_the_top_and_never_repeat_the_token() -> None:
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


def test_plausible_substitutes_follow_the_probabilities() -> None:
    ids = np.zeros(8001, dtype=np.int64)
    logits = np.tile(np.log([0.5, 0.3, 0.15, 0.05]), (ids.size, 1))
    out = substitute_plausible(ids, np.random.default_rng(6), rate=1.0, logits=logits, top_k=2).ids
    # Of the three others the top two are offered, two to one; standard deviation 42.
    counts = np.bincount(out[1:], minlength=4)
    assert counts[0] == counts[3] == 0
    assert abs(counts[1] - 8000 * 2 / 3) < 5 * 42


def test_insertion_keeps_the_text_in_order() -> None:
    ids = text_ids()
    out = insert(ids, np.random.default_rng(7), rate=0.2, vocab_size=VOCABULARY)
    assert out.ids.size == 240
    own = out.origin >= 0
    np.testing.assert_array_equal(out.origin[own], np.arange(200))
    np.testing.assert_array_equal(out.ids[own], ids)
    assert 0.15 < out.rate <= 0.2


def test_deletion_keeps_the_rest_in_order() -> None:
    ids = text_ids()
    out = delete(ids, np.random.default_rng(8), rate=0.1)
    assert out.ids.size == 180
    assert np.all(np.diff(out.origin) > 0)
    np.testing.assert_array_equal(out.ids, ids[out.origin])
    assert out.rate == pytest.approx(0.1)


def test_truncation_keeps_the_beginning() -> None:
    ids = text_ids()
    out = truncate(ids, tokens=60)
    np.testing.assert_array_equal(out.ids, ids[:60])
    assert out.rate == pytest.approx(0.7)
    np.testing.assert_array_equal(truncate(ids, tokens=999).ids, ids)


def test_splice_puts_the_passage_in_one_piece() -> None:
    passage, host = text_ids(50, 1), text_ids(120, 2)
    out = splice(passage, np.random.default_rng(9), host=host)
    inside = np.flatnonzero(out.origin >= 0)
    np.testing.assert_array_equal(inside, np.arange(inside[0], inside[0] + 50))
    np.testing.assert_array_equal(out.ids[inside], passage)
    np.testing.assert_array_equal(np.delete(out.ids, inside), host)
    assert splice(passage, np.random.default_rng(0), host=host, at=0).origin[0] == 0


def test_sentences_and_separators_are_the_text() -> None:
    sentences, separators = split_sentences(TEXT)
    assert len(sentences) == 7
    assert sentences[1] == "Nobody minded!"
    assert separators[3] == "\n"
    together = "".join(a + b for a, b in zip(sentences, [*separators, ""], strict=True))
    assert together == TEXT


@pytest.mark.parametrize("text", ["", "no end", "One. ", "\n\nx\n", "a.\n\nb!  c?", "…", "A. B."])
def test_every_text_survives_the_splitting(text: str) -> None:
    sentences, separators = split_sentences(text)
    assert "".join(a + b for a, b in zip(sentences, [*separators, ""], strict=True)) == text


def test_shuffle_keeps_every_sentence_and_changes_the_order() -> None:
    for seed in range(20):
        out = sentence_shuffle(TEXT, np.random.default_rng(seed))
        assert out != TEXT
        assert sorted(split_sentences(out)[0]) == sorted(split_sentences(TEXT)[0])
    assert sentence_shuffle("Only one.", np.random.default_rng(0)) == "Only one."


def test_copy_paste_reaches_its_share_and_keeps_the_own_sentences_in_order() -> None:
    for seed in range(20):
        out = copy_paste(TEXT, np.random.default_rng(seed), share=0.3, foreign=FOREIGN)
        sentences = split_sentences(out)[0]
        own = [s for s in sentences if "foreign" not in s]
        assert own == split_sentences(TEXT)[0]
        # 7 own sentences at 30 % foreign: 7 * 0.3 / 0.7 = 3.
        assert len(sentences) - len(own) == 3
    with pytest.raises(ValueError, match="too few"):
        copy_paste(TEXT, np.random.default_rng(0), share=0.9, foreign=FOREIGN[:3])


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_every_attack_runs_both_ways_and_repeats_with_its_seed(name: str) -> None:
    params = {"host": characters("plain text around it")} if name == "splice" else {}
    ids = characters(TEXT)
    first, second = (
        attack_ids(name, ids, np.random.default_rng(11), TOOLS, **params) for _ in range(2)
    )
    np.testing.assert_array_equal(first.ids, second.ids)
    assert first.rate == edit_rate(ids, first.ids)
    assert first.rate > 0
    text, rate = attack_text(name, TEXT, np.random.default_rng(11), TOOLS, **params)
    assert text == spell(first.ids)
    assert rate == pytest.approx(first.rate)


def test_the_attacked_text_is_a_new_array() -> None:
    ids = text_ids()
    before = ids.copy()
    for name in ("substitute", "substitute-plausible", "insert", "delete", "truncate"):
        attack_ids(name, ids, np.random.default_rng(1), TOOLS)
        np.testing.assert_array_equal(ids, before)


def test_attacks_say_what_they_lack() -> None:
    for name in ("substitute", "substitute-plausible", "sentence-shuffle"):
        with pytest.raises(AttackError) as caught:
            attack_ids(name, text_ids(), np.random.default_rng(1), Tools())
        assert caught.value.hint
    with pytest.raises(AttackError, match="no attack"):
        attack_ids("paraphrase", text_ids(), np.random.default_rng(1), TOOLS)
    with pytest.raises(ValueError, match="rate"):
        delete(text_ids(), np.random.default_rng(1), rate=1.5)

"""Two texts side by side."""

import random

from hypothesis import given
from hypothesis import strategies as st

from pura.record.comparison import Kind, align, marked_in_one

WORDS = st.sampled_from(
    ["the", "the", "of", "mark", "key", "text", "Übung", "文", "\U0001f600", "."]
)
BLANKS = st.sampled_from([" ", " ", " ", "  ", "\n", ", ", ""])
TEXTS = st.lists(st.tuples(WORDS, BLANKS), max_size=60).map(
    lambda parts: "".join(word + blank for word, blank in parts)
)


def prose(words: int, seed: int) -> list[str]:
    """Words as frequent as in a language: a few very, most of them rarely."""
    rng = random.Random(seed)
    return [f"w{int(rng.paretovariate(0.7))}" for _ in range(words)]


@given(TEXTS, TEXTS)
def test_the_stretches_cover_both_texts_and_say_what_is_so(left, right):
    for other in (right, left + right, right + left, left):
        found = align(left, other)
        assert "".join(left[slice(*p.left)] for p in found.pairs) == left
        assert "".join(other[slice(*p.right)] for p in found.pairs) == other
        for pair in found.pairs:
            mine, theirs = left[slice(*pair.left)], other[slice(*pair.right)]
            assert mine or theirs
            assert (mine == theirs) == (pair.kind is Kind.SAME)
            assert (pair.kind is Kind.LEFT) <= (theirs == "")
            assert (pair.kind is Kind.RIGHT) <= (mine == "")
            assert (pair.kind is Kind.SPACING) <= (not mine.strip() and not theirs.strip())
            if pair.kind is Kind.SAME:
                assert found.right_of(pair.left[0]) == pair.right[0]
                assert found.left_of(pair.right[1] - 1) == pair.left[1] - 1


def test_words_that_differ_stand_whole_and_blanks_are_no_difference():
    found = align("One bank lent us\nthe very best.", "One bank lends us the best, surely.")
    pieces = [(p.kind, p.left, p.right) for p in found.pairs if p.kind is not Kind.SAME]
    words = [(kind, "One bank lent us\nthe very best."[slice(*left)]) for kind, left, _ in pieces]
    assert words == [
        (Kind.CHANGED, "lent"),
        (Kind.SPACING, "\n"),
        (Kind.LEFT, "very "),
        (Kind.RIGHT, ""),
    ]
    assert len(found.differences) == 3
    assert found.shared == 5


def test_the_passage_is_found_in_the_long_document():
    document, own = prose(30_000, 1), prose(40, 2)
    copied = list(document[21_000:21_300])
    for place in range(0, 300, 17):
        copied[place] = f"new{place}"
    left, passage = " ".join(document), " ".join([*own, *copied])
    found = align(left, passage)
    begin, end = len(" ".join(document[:21_000])), len(" ".join(document[:21_300]))
    inside = [p for p in found.pairs if p.kind is Kind.SAME and p.left[1] - p.left[0] > 8]
    assert min(p.left[0] for p in inside) >= begin
    assert max(p.left[1] for p in inside) <= end
    assert found.shared >= 300 - 18
    turned = align(passage, left)  # the passage may stand on either side
    assert abs(turned.shared - found.shared) < 10


def test_a_passage_that_stands_there_twice_and_a_text_of_one_word_are_aligned():
    document = prose(3000, 3)
    passage = " ".join(document[1000:1200])
    found = align(" ".join([*document, *document, *document, *document, *document]), passage)
    assert found.shared == 200
    same = align("word " * 4000, "word " * 1500 + "other " + "word " * 2500)
    assert same.shared > 3900


def test_unrelated_texts_have_nothing_in_common():
    left, right = prose(2000, 4), prose(2000, 5)
    assert align(" ".join(left), " ".join(right)).shared < 200
    assert [p.kind for p in align("", "a").pairs] == [Kind.RIGHT]
    assert align("", "").pairs == ()


def test_where_a_mark_is_seen_in_one_text_only():
    words = prose(200, 6)
    left, right = " ".join(words), " ".join([*words[:50], "put", "in", *words[50:]])
    alignment = align(left, right)
    end = len(left)
    offset = len(right) - len(left)
    assert marked_in_one(alignment, [(0, end)], [(0, len(right))]) == ()
    (only,) = marked_in_one(alignment, [(0, end)], [(400 + offset, end + offset)])
    assert (only.kind, only.left) == (Kind.LEFT, (0, 400))
    # What is shorter than ends of passages are known says nothing.
    assert marked_in_one(alignment, [(0, end)], [(20, len(right))]) == ()

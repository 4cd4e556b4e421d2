"""Where a passage begins and ends: intervals that hold the limits, and counted tokens."""

import numpy as np
import pytest

from pura.detect.decode.marks import AGES, PassageText, extent_of, misread

TOKENS, FIRST, LAST = 600, 200, 399
HIGH, LOW = 2.5, 0.2  # densities; unmarked text has the mean one
PLAIN = (1 - LOW) / (HIGH - LOW)


def text_of(rng, *, first=FIRST, last=LAST, uncounted=()):
    """A text with a marked stretch, read as badly behind its beginning as texts really are."""
    token = np.arange(TOKENS)
    counted = rng.random(TOKENS) < 0.6
    for begin, end in uncounted:
        counted[begin : end + 1] = False
    marked = (token >= first) & (token <= last)
    marked &= rng.random(TOKENS) >= (misread(token - first) if first else 0.0)
    density = np.where(rng.random(TOKENS) < np.where(marked, 0.8, PLAIN), HIGH, LOW)
    density[~counted] = 1.0
    return PassageText(
        young=density,
        clean=density,
        counted=counted,
        edited=np.full(TOKENS, 0.01),
        context_window=4,
    )


def extent(text, span=(230, 390), room=(0, TOKENS - 1)):
    return extent_of(text, span, room, lambda: None)


@pytest.mark.sampled
@pytest.mark.slow
def test_intervals_hold_the_limits_as_often_as_they_say():
    """Of 300 texts 95 % on average; fewer than 270 by chance once in 10,000 times."""
    rng = np.random.default_rng(3)
    begins = ends = 0
    for _ in range(300):
        one = extent(text_of(rng))
        begins += one.first_from <= FIRST <= one.first_to
        ends += one.last_from <= LAST <= one.last_to
    assert begins >= 270
    assert ends >= 270


def test_limits_are_counted_tokens_inside_their_intervals():
    rng = np.random.default_rng(4)
    for _ in range(50):
        text = text_of(rng, uncounted=[(170, 199), (400, 440)])
        one = extent(text)
        assert text.counted[[one.first, one.last]].all()
        assert one.first_from <= one.first <= one.first_to
        assert one.last_from <= one.last <= one.last_to


def test_a_mark_does_not_go_on_through_text_that_is_not_counted():
    """0.3.0 let it go on: a head that is repeated on each page was taken for marked text."""
    rng = np.random.default_rng(5)
    said = 0
    for _ in range(20):
        text = text_of(rng, uncounted=[(LAST + 1, 520)])
        one = extent(text, span=(230, 520))
        assert LAST - 25 <= one.last <= LAST
        assert one.last_to > LAST
        assert not one.first_uncounted
        said += one.last_uncounted
    assert said >= 15


def test_a_passage_stays_in_the_tokens_that_no_other_one_takes():
    one = extent(text_of(np.random.default_rng(6)), room=(215, 380), span=(220, 379))
    assert one.first_from >= 215
    assert one.last_to <= 380


def test_at_the_beginning_of_a_text_nothing_foreign_is_expected():
    rng = np.random.default_rng(7)
    widths = []
    for first in (0, FIRST):
        found = [extent(text_of(rng, first=first), span=(first + 5, 390)) for _ in range(20)]
        widths.append(np.mean([one.first_to - one.first_from for one in found]))
    assert widths[0] < widths[1]


@pytest.mark.parametrize("by", [0, 17])
def test_an_extent_moves_as_a_whole(by):
    one = extent(text_of(np.random.default_rng(8)))
    moved = one.moved(by)
    assert moved.first_from - one.first_from == moved.last_to - one.last_to == by
    assert (moved.first_uncounted, moved.last_uncounted) == (False, False)


def test_steps_are_misread_less_the_further_from_the_beginning():
    chance = misread(np.array([0, *AGES]))
    assert (np.diff(chance) <= 0).all()
    assert (misread(np.array([6]), pace=4.0) >= misread(np.array([6]))).all()

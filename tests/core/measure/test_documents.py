"""Documents put together from readings of their parts: which token's reading stands where."""

import dataclasses

import numpy as np
import pytest

from pura.detect.decode.exact import decide
from pura.detect.decode.likelihood import Intervals
from pura.measure.evaluate import PLACES, PlacedText, TextReading, finding, joined, spliced
from pura.scheme import Payload, Profile, SecretKey, schedule

VOCABULARY = 256
KEY = SecretKey(bytes(range(32)))
LEAD = 30


def reading(ids, source):
    """A reading whose every number tells where it came from."""
    ids = np.asarray(ids)
    told = source + np.arange(ids.size) / 1000
    return TextReading(ids=ids, entropy_bits=told, probability=told, lo=told, hi=told)


@pytest.fixture
def ring():
    return reading(np.arange(1000, 1400), 1.0)


@pytest.fixture
def passage(ring):
    marked = np.arange(50)
    return PlacedText(
        alone=reading(marked, 2.0),
        behind=reading(np.concatenate([ring.ids[:LEAD], marked]), 3.0),
        lead=LEAD,
    )


def test_the_parts_stand_where_the_place_says(passage, ring):
    made = {place: spliced(passage, ring, marked=40, tokens=200, place=place) for place in PLACES}
    assert [made[p].begin for p in PLACES] == [0, 80, 160]
    for document in made.values():
        assert document.reading.ids.size == 200
        assert document.reading.ids[document.begin :][:40].tolist() == list(range(40))
    np.testing.assert_array_equal(made["start"].reading.ids[40:], ring.ids[:160])
    assert set(np.floor(made["start"].reading.lo[:40])) == {2.0}
    middle = made["middle"].reading
    # The end of the ring, the lead as it was read with the passage, the passage, what follows.
    np.testing.assert_array_equal(middle.ids[:50], ring.ids[-50:])
    np.testing.assert_array_equal(middle.ids[50:80], ring.ids[:LEAD])
    np.testing.assert_array_equal(middle.lo[50:120], passage.behind.lo[:70])
    np.testing.assert_array_equal(middle.ids[120:], ring.ids[LEAD:110])
    np.testing.assert_array_equal(middle.lo[120:], ring.lo[LEAD:110])
    np.testing.assert_array_equal(made["end"].reading.ids[:130], ring.ids[-130:])


def test_a_short_beginning_takes_the_last_tokens_of_the_lead(passage, ring):
    document = spliced(passage, ring, marked=40, tokens=60, place="middle")
    assert document.begin == 10
    np.testing.assert_array_equal(document.reading.ids[:10], ring.ids[LEAD - 10 : LEAD])
    np.testing.assert_array_equal(document.reading.lo[:50], passage.behind.lo[LEAD - 10 :][:50])


@pytest.mark.parametrize("tokens", [39, 40 + 401])
def test_a_document_that_cannot_be_is_refused(passage, ring, tokens):
    with pytest.raises(ValueError, match="tokens"):
        spliced(passage, ring, marked=40, tokens=tokens, place="end")


def test_a_passage_is_found_where_it_was_put(marked_text):
    profile = Profile(payload_bits=36, code="tbcc", vocab_size=VOCABULARY)
    payload = Payload.from_int(123_456_789, 36)
    marked = marked_text(profile, payload, 150, seed=7)
    ring = marked_text(profile, None, 700, seed=8)
    passage = PlacedText(alone=marked, behind=joined([ring.part(0, LEAD), marked]), lead=LEAD)
    document = spliced(passage, ring, marked=150, tokens=800, place="middle")
    steps = schedule(document.reading.ids, document.reading.entropy_bits, KEY, profile)
    columns = document.reading
    decision = decide(
        Intervals.of(
            steps,
            columns.entropy_bits,
            columns.lo,
            columns.hi,
            profile,
            probability=columns.probability,
        )
    )
    found = finding(document, steps.token, decision, payload)
    assert found.right
    assert found.log10_e > 20 + found.log10_e_whole
    assert max(found.off) <= 10
    assert found.marked_usable > 120
    assert found.usable > 700
    other = finding(document, steps.token, decision, Payload.from_int(1, 36))
    assert other == dataclasses.replace(found, right=False)

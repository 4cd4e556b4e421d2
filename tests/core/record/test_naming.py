"""A payload is named only where it is identified; single fields by themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.record.naming import IDENTIFIED, CandidateFacts, identified_from, name_payload
from pura.scheme import FieldValue


def value(name, raw, known=True):
    return FieldValue(name=name, raw=raw, text=str(raw), known=known)


def candidate(bits, posterior, customer, day):
    fields = (value("customer", customer), value("issued", day))
    return CandidateFacts(bits=bits, posterior=posterior, fields=fields)


@pytest.mark.parametrize(
    ("weights", "identified", "in_question", "more"),
    [
        ([0.99, 0.01], True, 1, False),
        ([0.9899999, 0.01], False, 2, False),
        ([1.0], True, 1, False),
        ([0.5, 0.3, 0.15, 0.05], False, 4, False),
        ([0.5, 0.3, 0.1], False, 3, True),
        ([1e-5] * 4, False, 4, True),
    ],
)
def test_the_rule(weights, identified, in_question, more):
    bits = [format(i, "04b") for i in range(len(weights))]
    listed = [CandidateFacts(bits=b, posterior=w) for b, w in zip(bits, weights, strict=True)]
    named = name_payload(bits[0], (), listed, IDENTIFIED)
    assert (named.identified, named.in_question, named.more) == (identified, in_question, more)
    assert named.bits == (bits[0] if identified else None)
    assert named.best == bits[0]
    assert named.columns()["payload"] == named.bits


def test_a_customer_may_be_certain_while_the_day_is_not():
    listed = [
        candidate("000", 0.60, 417, 1),
        candidate("001", 0.395, 417, 2),
        candidate("100", 0.005, 9, 1),
    ]
    named = name_payload("000", listed[0].fields, listed, 0.99)
    customer, day = named.fields
    assert named.bits is None
    assert (customer.identified, customer.text) == (True, "417")
    assert customer.posterior == pytest.approx(0.995)
    assert (day.identified, day.text) == (False, "1")
    assert named.columns()["fields"] == {"customer": "417", "issued": None}
    assert named.columns()["fields_best"] == {"customer": "417", "issued": "1"}


def test_the_value_of_a_field_is_the_one_with_most_weight_not_that_of_the_best_payload():
    listed = [
        candidate(f"{i:03b}", w, c, i) for i, (w, c) in enumerate([(0.4, 1)] + [(0.2, 2)] * 3)
    ]
    named = name_payload("000", listed[0].fields, listed, 0.99)
    assert named.fields[0].text == "2"
    assert not named.fields[0].identified


def test_what_is_not_listed_counts_against_whatever_is_asked():
    named = name_payload("000", (value("customer", 417),), [candidate("000", 0.98, 417, 1)], 0.99)
    assert not named.identified
    assert not named.fields[0].identified
    assert named.more


def test_the_published_decoder_names_nothing_that_the_posterior_does_not_hold():
    listed = [CandidateFacts(bits="01", posterior=0.999), CandidateFacts(bits="11", posterior=1e-3)]
    assert name_payload("00", (), listed, 0.99).posterior == 0.0
    assert name_payload("00", (), listed, 0.99).bits is None
    assert name_payload("01", (), listed, 0.99).bits == "01"


def test_without_weights_nothing_is_identified():
    named = name_payload("01", (value("customer", 1),), (), 0.99)
    assert (named.identified, named.posterior, named.in_question) == (False, None, 0)
    assert named.fields[0].posterior is None


@pytest.mark.parametrize(
    ("policy", "level"),
    [
        ({}, 0.99),
        ({"single_weight": 0.999, "single_runner_up": 0.0005}, 0.999),
        ({"single_weight": 0.5}, 0.9),
        ({"single_weight": "x"}, 0.99),
    ],
)
def test_the_level_is_the_recorded_policys_and_never_below_nine_tenths(policy, level):
    assert identified_from(policy) == level


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12), st.floats(0.9, 1.0))
def test_who_is_identified_has_the_weight_and_so_have_all_its_fields(raw, level):
    total = max(1.0, sum(raw))
    weights = sorted((w / total for w in raw), reverse=True)
    listed = [candidate(f"{i:04b}", w, i % 3, i % 2) for i, w in enumerate(weights)]
    named = name_payload("0000", listed[0].fields, listed, level)
    assert named.identified == (weights[0] >= level)
    if named.identified:
        assert named.in_question == 1
        assert all(one.identified for one in named.fields)

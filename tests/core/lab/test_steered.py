"""Schedules that look back: what they may look at, and that the model's law is left as it is."""

import itertools

import numpy as np
import pytest

from pura.measure.evaluate import TextReading
from pura.scheme import Payload, Profile, SecretKey, anchor, encode
from pura.scheme.gray import sector_of
from pura.scheme.schedule import Gate, Step
from pura_lab.experiments.steered import RULES, least, steer

V, LENGTH = 4, 4
LAWS = np.random.default_rng(2).dirichlet(np.full(V, 4.0), V)  # by the token before
PROFILE = Profile(payload_bits=9, code="tbcc", vocab_size=V, context_window=1).with_(
    entropy_thresholds_bits=(0.5, 1.8, 9.0)
)
CODEWORD = encode(Payload(text="011010111"), PROFILE)


def reading(tokens):
    """Read a text of the Markov source; a token that is still to come stands as 0."""
    ids = np.array(tokens)
    laws = LAWS[np.concatenate([[0], ids[:-1]])]
    ends = np.cumsum(laws, axis=1)
    hi = ends[np.arange(ids.size), ids]
    p = laws[np.arange(ids.size), ids]
    return TextReading(
        ids=ids,
        entropy_bits=-(laws * np.log2(laws)).sum(axis=1),
        probability=p,
        lo=hi - p,
        hi=hi,
    )


def written(key, rule, rng):
    """Write a text, each step at the anchor that the rule's position asks for."""
    tokens = [0]
    while len(tokens) < LENGTH:
        steps = steer(reading([*tokens, 0]), key, PROFILE, rule)
        point = rng.random()
        if steps.token.size and steps.token[-1] == len(tokens):
            arity = int(steps.arity[-1])
            bits = CODEWORD[(steps.index[-1] + np.arange(arity)) % CODEWORD.size]
            step = Step(arity, float(steps.phase[-1]), 0, Gate.CARRIES)
            point = anchor(step, sector_of(bits.tolist()))
        tokens.append(int(np.searchsorted(np.cumsum(LAWS[tokens[-1]])[:-1], point, side="right")))
    return tuple(tokens)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_knows_nothing_of_the_token_that_it_decides_about(rule):
    key = SecretKey(bytes(range(32)))
    rng = np.random.default_rng(1)
    tokens = rng.integers(0, V, 12).tolist()
    for end in range(1, 12):
        heads = [steer(reading([*tokens[:end], x]), key, PROFILE, rule) for x in range(V)]
        whole = steer(reading(tokens), key, PROFILE, rule)
        for steps in heads:
            size = len(steps)
            assert steps.index.tolist() == whole.index[:size].tolist()
            assert steps.phase.tolist() == whole.phase[:size].tolist()


@pytest.mark.sampled
@pytest.mark.parametrize("rule", list(RULES)[2:])
def test_over_keys_every_text_is_as_likely_as_under_the_model(rule):
    rng = np.random.default_rng(3)
    keys, counts = 2000, dict.fromkeys(itertools.product(range(V), repeat=LENGTH - 1), 0)
    for _ in range(keys):
        counts[written(SecretKey(rng.bytes(32)), rule, rng)[1:]] += 1
    expected = {
        text: keys * np.prod([LAWS[a, b] for a, b in itertools.pairwise((0, *text))])
        for text in counts
    }
    chi = sum((counts[text] - expected[text]) ** 2 / expected[text] for text in counts)
    # 63 degrees of freedom: so large once in 10,000 times.
    assert chi < 114


def test_a_length_is_found_from_few_questions():
    asked = []

    def holds(tokens):
        asked.append(tokens)
        return tokens >= 37

    assert 37 <= least(holds, 200) <= 39
    assert len(asked) < 10
    assert least(lambda _: False, 200) == 201

"""The evidence over a range of epochs has mean one under H2 (evidence.md §3)."""

from __future__ import annotations

import numpy as np

from pura.decode.exact import decide
from pura.decode.likelihood import Intervals
from pura.keys.epochs import epoch_key, epochs
from pura.scheme import Profile, SecretKey, ranks, schedule


def test_the_mean_over_a_range_of_epochs_has_mean_one() -> None:
    """Texts that know no key; every epoch's key is derived, and all of a text read the same text.

    Chosen beforehand: texts of 10 tokens, so that single texts weigh little; 4 standard errors,
    which a right computation passes but for 1 in 30,000 seeds.
    """
    profile = Profile(payload_bits=4, blocks=2, vocab_size=64)
    rng = np.random.default_rng(14)
    pi = rng.dirichlet(np.full(64, 0.5), size=10)
    entropy = -(pi * np.log2(pi)).sum(axis=1)
    span = epochs("2026-W51..2027-W02")
    found = []
    for _ in range(100):
        ids = np.array([rng.choice(64, p=row) for row in pi])
        with SecretKey(bytearray(rng.bytes(32))) as root:
            logs = []
            for epoch in span:
                with epoch_key(root, epoch) as key:
                    order = key.vocabulary_order(64)
                    plan = schedule(ids, entropy, key, profile)
                    at = ranks(order)[ids]
                    sums = np.cumsum(pi[:, order], axis=1)
                    hi = np.minimum(sums[np.arange(10), at], 1.0)
                    lo = np.maximum(hi - pi[np.arange(10), ids], 0.0)
                    logs.append(decide(Intervals.of(plan, entropy, lo, hi, profile)).log_e)
        found.append(float(np.mean(np.exp(logs))))
    mean, error = np.mean(found), np.std(found) / np.sqrt(len(found))
    assert len(span) == 5
    assert 0 < error < 0.2
    assert abs(mean - 1) < 4 * error


def test_what_one_of_many_keys_weighs_is_a_bound_from_below() -> None:
    """So their mean is no larger than that of e-values, whatever is in sight at a first look."""
    profile = Profile(payload_bits=12, blocks=3, vocab_size=64)
    rng = np.random.default_rng(15)
    pi = rng.dirichlet(np.full(64, 0.5), size=150)
    entropy = -(pi * np.log2(pi)).sum(axis=1)
    ids = np.array([rng.choice(64, p=row) for row in pi])
    below = 0
    for number in range(6):
        with SecretKey(bytearray(rng.bytes(32))) as key:
            order = key.vocabulary_order(64)
            hi = np.minimum(np.cumsum(pi[:, order], axis=1)[np.arange(150), ranks(order)[ids]], 1)
            if number == 5:  # as a mark would have it: every token where its phase points
                plan = schedule(ids, entropy, key, profile)
                hi[plan.token] = np.minimum(plan.phase + 0.01, 1.0)
            lo = np.maximum(hi - (0.02 if number == 5 else pi[np.arange(150), ids]), 0.0)
            plan = schedule(ids, entropy, key, profile)
            whole = decide(Intervals.of(plan, entropy, lo, hi, profile))
            bound = decide(Intervals.of(plan, entropy, lo, hi, profile), one_of_many=True)
        assert bound.log_e <= whole.log_e + 1e-9
        assert bound.log_e_whole == whole.log_e_whole
        below += bound.log_e < whole.log_e
    assert bound.log_e == whole.log_e > 10, "what is in sight is weighed in full"
    assert below

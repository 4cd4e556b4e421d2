"""A prompt that was marked under the same key: mean one holds again where its contexts are left out
(evidence.md §3, "Known context")."""

from __future__ import annotations

import numpy as np
import pytest

from pura.decode.evidence_sums import sum_evidence
from pura.decode.likelihood import Intervals
from pura.scheme import Profile, Scheduler, SecretKey, anchor, contexts_before, ranks, schedule
from pura.scheme.gray import sector_of

QUOTED, NEW = 60, 3  # steps of a text at contexts of the prompt, and at others
LEADS = list(range(QUOTED + NEW))  # a free choice follows each; the prompt holds the first ones
FREE = np.arange(len(LEADS), len(LEADS) + 4)
VOCAB = len(LEADS) + FREE.size
TEXTS = 400
PROFILE = Profile(
    payload_bits=2,
    blocks=2,
    vocab_size=VOCAB,
    context_window=1,
    entropy_thresholds_bits=(1.0, 9.0, 10.0),
)


def written(key: SecretKey, word: list[int]) -> list[int]:
    """A marked prompt: behind each lead the token at the step's anchor, all free ones alike."""
    order = key.vocabulary_order(VOCAB)
    even = np.isin(order, FREE) / FREE.size
    walk, ids = Scheduler(key, PROFILE), []
    for lead in LEADS[:QUOTED]:
        walk.step(0.0)
        walk.push(lead)
        step = walk.step(np.log2(FREE.size))
        assert step.arity == 1
        place = anchor(step, sector_of([word[step.index]]))
        chosen = int(order[np.searchsorted(np.cumsum(even), place, side="right")])
        walk.push(chosen)
        ids += [lead, chosen]
    return ids


def read(key: SecretKey, text: np.ndarray, prompt: list[int]) -> tuple[np.ndarray, ...]:
    """What a model sees that expects behind a lead what stood behind it in the prompt (0.6)."""
    order = key.vocabulary_order(VOCAB)
    rank = ranks(order)
    seen = dict(zip(prompt[::2], prompt[1::2], strict=True))
    entropy, lo, hi = np.zeros(text.size), np.zeros(text.size), np.ones(text.size)
    for t in range(1, text.size, 2):
        pi = np.isin(np.arange(VOCAB), FREE) / FREE.size
        if (lead := int(text[t - 1])) in seen:
            pi = 0.4 * pi
            pi[seen[lead]] += 0.6
        entropy[t] = -float(pi[pi > 0] @ np.log2(pi[pi > 0]))
        lo[t] = pi[order[: rank[text[t]]]].sum()
        hi[t] = lo[t] + pi[text[t]]
    return entropy, lo, hi


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("left_out", [True, False])
def test_mean_e_with_a_marked_prompt(left_out: bool) -> None:
    """Texts by somebody who knows no key and quotes a prompt that was marked with it.

    With the prompt's contexts left out the mean is one from both sides; with them e reaches 100
    far more often than once in a hundred. Five standard errors: less than once in 10^6 seeds.
    """
    rng = np.random.default_rng(71)
    e = []
    for _ in range(TEXTS):
        key = SecretKey(rng.bytes(32))
        prompt = written(key, rng.integers(0, 2, PROFILE.codeword_length).tolist())
        text = np.array([*prompt, *(x for n in LEADS[QUOTED:] for x in (n, rng.choice(FREE)))])
        entropy, lo, hi = read(key, text, prompt)
        before = contexts_before([text], [prompt], PROFILE) if left_out else frozenset()
        plan = schedule(text, entropy, key, PROFILE, before=before)
        assert len(plan) == (NEW if left_out else QUOTED + NEW)
        e.append(np.exp(sum_evidence(Intervals.of(plan, entropy, lo, hi, PROFILE)).log_e_whole))
    error = np.std(e) / np.sqrt(TEXTS)
    reached = np.mean(np.array(e) >= 100)
    if left_out:
        assert abs(np.mean(e) - 1) <= 5 * error
        assert reached <= 0.01 + 5 * np.sqrt(0.01 / TEXTS)
    else:
        assert np.mean(e) > 2
        assert reached > 0.01 + 5 * np.sqrt(0.01 / TEXTS)

"""Attackers that learn, on a model that costs next to nothing."""

from typing import Any

import numpy as np
import pytest

from pura.measure.attacks.rewrite import ModelWriter, model_tools, request, rewards
from pura.scheme import Profile, SecretKey
from pura_lab.attacks.training import (
    learn_preferences,
    learn_rewards,
    preferences,
    strength,
    surrogates,
)

PROMPTS = ["The ferry was late", "A gull sat on the rail"]


class Rewriter:
    """Repeats a text, or says its words in another order."""

    name = "rewriter"

    def __call__(self, system: str, user: str, *, seed: int, tokens: int) -> str:
        words = user.rpartition("Passage:")[2].split()
        return " ".join(words if seed % 2 else words[::-1])

    def log_likelihoods(self, system: str, user: str, answer: str) -> Any:
        raise NotImplementedError


@pytest.mark.weekly
@pytest.mark.model
def test_attackers_learn_from_surrogate_keys_and_from_rewards(small_model):
    profile = Profile(payload_bits=12, code="tbcc", vocab_size=small_model.vocab_size)
    marked = surrogates(small_model, PROMPTS, profile, tokens=40, seed=1)
    assert len({key.fingerprint for _, key in marked}) == 2
    own = [strength(small_model, profile, key, text) for text, key in marked]
    assert min(own) > 6
    assert strength(small_model, profile, SecretKey(bytes(32)), marked[0][0]) < 2
    tools = model_tools(small_model)
    pairs = preferences(
        marked,
        lambda key, text: strength(small_model, profile, key, text),
        tools=tools,
        writer=Rewriter(),
        tries=6,
        seed=1,
    )
    told = [(text, " ".join(text.split()[::-1]), " ".join(text.split())) for text, _ in marked]
    assert pairs == told
    before = small_model.network.lm_head.weight.clone()
    learnt, losses = learn_preferences(small_model, pairs, steps=3, rate=2e-3, beta=1.0)
    assert losses[0] == pytest.approx(np.log(2), abs=1e-3)  # nothing is preferred at first
    assert losses[-1] < losses[0] / 2
    ask = request(pairs[0][0])
    gains = [
        ModelWriter(learnt).log_likelihoods(*ask, answer).sum()
        - ModelWriter(small_model).log_likelihoods(*ask, answer).sum()
        for answer in pairs[0][1:]
    ]
    assert gains[0] > gains[1]
    groups: list[list[str]] = []

    def last(text: str, some: Any) -> Any:
        worth = rewards(text, some, tools=tools, writer=ModelWriter(small_model))
        assert np.isfinite(worth).all()
        groups.append(list(some))
        return np.arange(float(len(some)))

    short = ["The ferry was late again."]
    better, seen = learn_rewards(
        small_model, short, last, steps=1, group=3, rate=2e-3, beta=0.0, tokens=8
    )
    assert seen == [1.0]
    gains = [
        ModelWriter(better).log_likelihoods(*request(short[0]), answer).sum()
        - ModelWriter(small_model).log_likelihoods(*request(short[0]), answer).sum()
        for answer in groups[0]
    ]
    assert gains[2] > gains[0]
    assert "1 rewards" in better.name
    assert small_model.network.lm_head.weight.equal(before)

"""Attackers that learn, on a model that costs next to nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pura.measure.attacks.rewrite import ModelWriter, model_tools, request, rewards
from pura.scheme import Profile, SecretKey
from pura_lab.attacks.training import (
    Preference,
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
def test_attackers_learn_from_surrogate_keys_and_from_rewards(small_model: Any) -> None:
    profile = Profile(payload_bits=12, code="tbcc", vocab_size=small_model.vocab_size)
    marked = surrogates(small_model, PROMPTS, profile, tokens=40, seed=1)
    assert len({m.key.fingerprint for m in marked}) == 2
    own = [strength(small_model, profile, m.key, m.text) for m in marked]
    assert min(own) > 6
    assert strength(small_model, profile, SecretKey(bytes(32)), marked[0].text) < 2
    tools = model_tools(small_model)
    pairs = preferences(
        marked,
        lambda m, text: strength(small_model, profile, m.key, text),
        tools=tools,
        writer=Rewriter(),
        tries=6,
        seed=1,
    )
    told = [
        Preference(
            text=m.text, chosen=" ".join(m.text.split()[::-1]), rejected=" ".join(m.text.split())
        )
        for m in marked
    ]
    assert pairs == told
    before = small_model.network.lm_head.weight.clone()
    learnt, losses = learn_preferences(small_model, pairs, steps=3, rate=2e-3, beta=1.0)
    assert losses[0] == pytest.approx(np.log(2), abs=1e-3)  # nothing is preferred at first
    assert losses[-1] < losses[0] / 2
    ask = request(pairs[0].text)
    gains = [
        ModelWriter(learnt).log_likelihoods(*ask, answer).sum()
        - ModelWriter(small_model).log_likelihoods(*ask, answer).sum()
        for answer in (pairs[0].chosen, pairs[0].rejected)
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

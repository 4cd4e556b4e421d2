"""Attackers that learn: the training halves of Diaa et al. and of RLCracker.

Diaa et al. know the scheme and not the key: they mark texts under surrogate keys of their own, let
a model rewrite them, and have it learn to prefer rewritings whose mark is gone and whose sense is
kept (direct preference optimisation). RLCracker learns from its reward alone (group relative policy
optimisation, :func:`~pura.measure.attacks.rewrite.rewards`). Whoever learnt rewrites like any local
model: ``pura lab attack paraphrase --model DIR``.

Both papers train adapters of models with three billion weights and more, and judge sense with a
trained model. Here all weights of the given model learn, and sense is the likeness of the words.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.progress import Checkpoint, never_cancelled
from pura.measure.attacks.base import TextWriter, Tools, damage
from pura.measure.attacks.rewrite import ModelWriter, request
from pura.measure.evaluate import TextReading, decide
from pura.model.tokenise import tokenise
from pura.scheme import F64, Payload, Profile, SecretKey, schedule
from pura.scheme.keys import KEY_BYTES

if TYPE_CHECKING:
    import torch

    from pura.model.load import LanguageModel

REMOVED_BELOW: Final = 2.0
"""log10 e below which a mark counts as gone."""


def surrogates(
    model: LanguageModel, prompts: Sequence[str], profile: Profile, *, tokens: int, seed: int
) -> list[tuple[str, SecretKey]]:
    """Write a text after each prompt, with a key and a payload of its own.

    The keys are the attacker's and guard nothing.
    """
    from pura.embed.generate import generate_batch

    rng = np.random.default_rng(seed)
    keys = [SecretKey(rng.bytes(KEY_BYTES)) for _ in prompts]
    bits = rng.integers(0, 2, (len(prompts), profile.payload_bits))
    generated = generate_batch(
        model,
        prompts,
        [Payload.from_bits(row) for row in bits],
        keys,
        profile,
        tokens=tokens,
        seed=seed,
        ignore_eos=True,
    )
    return [(m.text, key) for m, key in zip(generated, keys, strict=True)]


def strength(model: LanguageModel, profile: Profile, key: SecretKey, text: str) -> float:
    """Return the evidence, log10 e, that a text is marked with a key."""
    from pura.model.evidence import read

    ids = tokenise(model.tokenizer, text).ids
    if not ids.size:
        return 0.0
    model_reading = read(model, ids, keys=[key], profile=profile)
    reading = TextReading.of(model_reading)
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    return decide(reading, steps, profile, prompt_known=False).log10_e


def preferences(
    texts: Sequence[tuple[str, SecretKey]],
    left: Callable[[SecretKey, str], float],
    *,
    tools: Tools,
    writer: TextWriter,
    tries: int,
    seed: int,
    min_likeness: float = 0.6,
) -> list[tuple[str, str, str]]:
    """Rewrite marked texts and keep, of each, a rewriting to prefer and one to avoid.

    Args:
        texts: Texts, each with the surrogate key that it is marked with.
        left: What is left of a key's mark in a rewriting, log10 e (:func:`strength`).
        tools: For the likeness.
        writer: Rewrites.
        tries: Rewritings of each text.
        seed: Of the sampling.
        min_likeness: Likeness below which the sense counts as lost.

    Returns:
        For each text that has both kinds: the text, a rewriting that keeps its sense without the
        mark, and one with the mark or without the sense. Others teach nothing.
    """
    assert tools.tokenise is not None
    rng, pairs = np.random.default_rng(seed), []
    for marked, key in texts:
        role, request_text = request(marked)
        limit = 40 + 2 * len(marked.split())
        good: list[tuple[float, str]] = []
        bad: list[tuple[float, str]] = []
        for _ in range(tries):
            new = writer(role, request_text, seed=int(rng.integers(1 << 31)), tokens=limit)
            if not new.strip():
                continue
            pair = [(text, tools.tokenise(text)) for text in (marked, new)]
            like = damage(pair[0], pair[1], replace(tools, propose=None)).similarity
            evidence = left(key, new)
            preserved = like >= min_likeness and evidence < REMOVED_BELOW
            (good if preserved else bad).append((evidence - 10 * like, new))
        if good and bad:
            pairs.append((marked, min(good)[1], max(bad)[1]))
    return pairs


def learn_preferences(
    model: LanguageModel,
    pairs: Sequence[tuple[str, str, str]],
    *,
    steps: int,
    rate: float = 5e-6,
    beta: float = 0.1,
    seed: int = 1,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[LanguageModel, list[float]]:
    """Have a model learn from preferences (Rafailov et al. 2023), one pair a step.

    Args:
        model: The model; it stays as it is and is the reference.
        pairs: What it shall prefer.
        steps: How many.
        rate: Of learning (AdamW).
        beta: How far it may leave the reference.
        seed: Of the order of the pairs.
        checkpoint: Called before each step; may raise.

    Returns:
        The model that learnt, and the loss of each step.
    """
    import torch

    policy, learning = _learner(model, rate)
    ask, rng, losses = ModelWriter(model), np.random.default_rng(seed), []
    for _ in range(steps):
        checkpoint()
        text, preferred, rejected = pairs[int(rng.integers(len(pairs)))]
        start = ask.request(*request(text))
        margin = torch.zeros(())
        for answer, sign in ((preferred, 1.0), (rejected, -1.0)):
            ids = tokenise(model.tokenizer, answer).ids.tolist()
            with torch.no_grad():
                before = _log_p(model.network, start, ids).sum()
            margin = margin + sign * (_log_p(policy, start, ids).sum() - before)
        loss = -torch.nn.functional.logsigmoid(beta * margin)
        losses.append(_step(loss, learning))
    return _learnt(model, policy, f"{model.name} after {steps} preferences"), losses


def learn_rewards(
    model: LanguageModel,
    texts: Sequence[str],
    reward: Callable[[str, Sequence[str]], F64],
    *,
    steps: int,
    group: int = 12,
    rate: float = 1e-6,
    beta: float = 0.04,
    tokens: int = 256,
    seed: int = 1,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[LanguageModel, list[float]]:
    """Have a model learn from rewards (GRPO, Shao et al. 2024), one text a step.

    A group of rewritings is drawn from the model as it is; each is as good as its reward lies above
    the group's, in spreads; the k3 estimate holds the model near its beginning.

    Args:
        model: The model; it stays as it is.
        texts: Marked texts to rewrite.
        reward: Rewards of some rewritings of a text.
        steps: How many.
        group: Rewritings of a text.
        rate: Of learning (AdamW).
        beta: Weight of the divergence from the beginning.
        tokens: The most tokens of a rewriting.
        seed: Of order and sampling.
        checkpoint: Called before each step; may raise.

    Returns:
        The model that learnt, and the mean reward of each step.
    """
    import torch

    policy, learning = _learner(model, rate)
    ask = ModelWriter(replace(model, network=policy))
    rng, mean_rewards = np.random.default_rng(seed), []
    for _ in range(steps):
        checkpoint()
        text = texts[int(rng.integers(len(texts)))]
        role, request_text = request(text)
        start = ask.request(role, request_text)
        seeds = rng.integers(1 << 31, size=group).tolist()
        rewritings = [ask(role, request_text, seed=s, tokens=tokens) for s in seeds]
        rewritings = [s for s in rewritings if s.strip()]
        if len(rewritings) < 2:
            continue
        worth = reward(text, rewritings)
        mean_rewards.append(float(worth.mean()))
        better = (worth - worth.mean()) / (worth.std() + 1e-4)
        loss = torch.zeros(())
        for answer, gain in zip(rewritings, better.tolist(), strict=True):
            ids = tokenise(model.tokenizer, answer).ids.tolist()
            log_p = _log_p(policy, start, ids)
            with torch.no_grad():
                log_ratio = _log_p(model.network, start, ids)
            log_ratio = log_ratio - log_p
            away = torch.exp(log_ratio) - log_ratio - 1
            gained = gain * torch.exp(log_p - log_p.detach())
            loss = loss + (beta * away - gained).mean() / len(rewritings)
        _step(loss, learning)
    return _learnt(model, policy, f"{model.name} after {steps} rewards"), mean_rewards


def _learner(model: LanguageModel, rate: float) -> tuple[Any, torch.optim.Optimizer]:
    import torch

    policy = copy.deepcopy(model.network)
    policy.requires_grad_(requires_grad=True)
    return policy, torch.optim.AdamW(policy.parameters(), lr=rate, weight_decay=0.0)


def _learnt(model: LanguageModel, policy: Any, name: str) -> LanguageModel:
    from pura.model.head import find_head

    policy.requires_grad_(requires_grad=False)
    return replace(model, network=policy, head=find_head(policy), name=name, fingerprint="")


def _log_p(network: Any, start: Sequence[int], ids: Sequence[int]) -> torch.Tensor:
    """Return the log probability of each token of an answer; float [A]."""
    import torch

    device = next(network.parameters()).device
    fed = torch.tensor([[*start, *ids]], device=device)
    logits = network(input_ids=fed, use_cache=False).logits[0, len(start) - 1 : -1]
    picked = fed[0, len(start) :, None]
    log_p: torch.Tensor = logits.float().log_softmax(dim=1).gather(1, picked)[:, 0]
    return log_p


def _step(loss: torch.Tensor, learning: torch.optim.Optimizer) -> float:
    learning.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    learning.step()
    return float(loss.detach())

"""Attackers that learn: the training halves of Diaa et al. and of RLCracker.

Diaa et al. know the scheme but not the key: they mark texts with surrogate keys, let a model
rewrite them, and train it to prefer rewritings that lose the mark and keep the sense (direct
preference optimisation). RLCracker learns from its reward alone (group relative policy
optimisation, :func:`~pura.measure.attacks.rewrite.rewards`). The trained model rewrites like any
local model: ``pura lab attack paraphrase --model DIR``.

Both papers train adapters of models with three billion weights and more, and judge the sense with a
trained model. Here all weights of the given model learn, and sense is the similarity of the words.
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
"""log10 e below which a mark counts as removed."""


def surrogates(
    model: LanguageModel, prompts: Sequence[str], profile: Profile, *, tokens: int, seed: int
) -> list[tuple[str, SecretKey]]:
    """Write a text for each prompt, with its own key and payload.

    The keys are the attacker's and are not secret.
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
    """Rewrite marked texts, and select for each a preferred and a rejected rewriting.

    Args:
        texts: Texts, each with its surrogate key.
        left: Returns the remaining evidence in a rewriting, log10 e (:func:`strength`).
        tools: Tools to measure similarity.
        writer: The writer that rewrites.
        tries: Number of rewritings of each text.
        seed: Seed of the sampling.
        min_likeness: Similarity below which the sense counts as lost.

    Returns:
        For each text with both kinds: the text, a rewriting that keeps its sense without the mark,
        and one that keeps the mark or loses the sense.
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
    """Train a model on preferences (Rafailov et al. 2023), one pair for each step.

    Args:
        model: The model, which is not changed and serves as reference.
        pairs: Text, preferred and rejected rewriting.
        steps: Number of steps.
        rate: Learning rate (AdamW).
        beta: Weight that keeps the model near the reference.
        seed: Seed of the order of the pairs.
        checkpoint: Called before each step; may raise.

    Returns:
        The trained model, and the loss of each step.
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
    """Train a model on rewards (GRPO, Shao et al. 2024), one text for each step.

    A group of rewritings is drawn from the current model. The advantage of each is its reward above
    the mean of the group, in standard deviations; the k3 estimate keeps the model near its initial
    state.

    Args:
        model: The model, which is not changed.
        texts: Marked texts to rewrite.
        reward: Returns the rewards of some rewritings of a text.
        steps: Number of steps.
        group: Number of rewritings of a text.
        rate: Learning rate (AdamW).
        beta: Weight of the divergence from the initial state.
        tokens: Largest number of tokens of a rewriting.
        seed: Seed of order and sampling.
        checkpoint: Called before each step; may raise.

    Returns:
        The trained model, and the mean reward of each step.
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

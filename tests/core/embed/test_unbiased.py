"""The mark changes no distribution (paper, "Computational Unbiasedness").

Every statistical test here draws from fixed seeds, so it gives the same answer on every run. Its
false-alarm rate, for a scheme that is right and a seed that was not chosen, is ``ALARM``; there
are 6 + 1 + 2 + 1 of them, so one of them would have failed at first sight with probability
below 10 · 1e-4. Each has a twin that shows a biased scheme failing it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from pura.embed import generate_batch
from pura.embed.engine import MarkingEngine, StepOutcome, entropy_bits, rngs_for
from pura.model.load import LanguageModel
from pura.scheme import Payload, Profile, SecretKey

ALARM = 1e-4
VOCAB = 64
# Logits spread so that the entropy of 64 tokens gives arity 1, 2 and 3.
SPREAD = {1: 4.5, 2: 2.2, 3: 0.6}
PAYLOADS = ("000000000000", "101100111000")
CONTEXT = (1, 2)  # behind it, a step may carry


def keys(count: int, seed: int) -> list[SecretKey]:
    rng = np.random.default_rng(seed)
    return [SecretKey(rng.bytes(32)) for _ in range(count)]


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the p-value; rare tokens are pooled so that every cell expects at least 8."""
    total = counts.sum()
    rank = np.argsort(-probabilities)
    seen, want = [0.0], [0.0]
    for c, p in zip(counts[rank], probabilities[rank], strict=True):
        if want[-1] >= 8:
            seen.append(0.0)
            want.append(0.0)
        seen[-1] += c
        want[-1] += p * total
    if want[-1] < 8:
        rest_seen, rest_want = seen.pop(), want.pop()
        seen[-1] += rest_seen
        want[-1] += rest_want
    return float(stats.chisquare(seen, want).pvalue)


def draw(
    rows: Sequence[SecretKey | None],
    payload: Payload | None,
    profile: Profile,
    logits: torch.Tensor,
    seed: int,
    tokens: Sequence[int] = (),
) -> StepOutcome:
    """Return what one step draws with every key, behind these tokens."""
    engine = MarkingEngine()
    rngs = rngs_for(seed, len(rows))
    numbers = [
        engine.add(key, payload, profile, rng, tokens=tokens)
        for key, rng in zip(rows, rngs, strict=True)
    ]
    return engine.step(logits.expand(len(rows), -1), numbers)


@pytest.mark.sampled
@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_token_distribution_over_keys_is_pi(arity: int, payload: str) -> None:
    """8 000 keys, one fixed payload: chi-square against π at every arity.

    A bias of every cell by an eighth is missed less than once in 600 times.
    """
    rng = np.random.default_rng(arity)
    logits = torch.from_numpy(rng.normal(size=VOCAB) * SPREAD[arity]).float()
    pi = torch.softmax(logits.double(), dim=0).numpy()
    profile = Profile(payload_bits=12, blocks=3, vocab_size=VOCAB)
    counts = np.zeros(VOCAB)
    for chunk in range(2):
        rows = keys(4000, seed=100 * arity + chunk)
        drawn = draw(rows, Payload(text=payload), profile, logits, 1, CONTEXT)
        assert (drawn.arity == arity).all()
        counts += np.bincount(drawn.tokens, minlength=VOCAB)
    assert counts.sum() == 8_000
    assert chi_square(counts, pi) > ALARM


@pytest.mark.weekly
def test_plain_steps_draw_from_pi() -> None:
    """One key, 20 000 texts: the steps without context take ordinary randomness."""
    logits = torch.from_numpy(np.random.default_rng(0).normal(size=VOCAB)).float()
    pi = torch.softmax(logits.double(), dim=0).numpy()
    profile = Profile(payload_bits=12, blocks=3, vocab_size=VOCAB)
    rows = keys(1, seed=0) * 20_000
    drawn = draw(rows, Payload(text=PAYLOADS[1]), profile, logits, 2)
    assert not drawn.arity.any()
    assert chi_square(np.bincount(drawn.tokens, minlength=VOCAB).astype(float), pi) > ALARM


def test_the_chi_square_would_see_a_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anchors without their phase: the same test, on the same keys, fails by far."""
    import pura.embed.engine

    rng = np.random.default_rng(1)
    logits = torch.from_numpy(rng.normal(size=VOCAB) * SPREAD[1]).float()
    pi = torch.softmax(logits.double(), dim=0).numpy()
    profile = Profile(payload_bits=12, blocks=3, vocab_size=VOCAB)
    payload = Payload(text=PAYLOADS[0])

    def squeezed(step: Any, sector: int) -> float:
        return 0.1 + 0.8 * (step.phase + (sector + 0.5) / (1 << step.arity)) % 1.0

    order = np.arange(VOCAB)
    monkeypatch.setattr(pura.embed.engine, "anchor", squeezed)
    monkeypatch.setattr(SecretKey, "vocabulary_order", lambda _self, _size: order)
    drawn = draw(keys(4000, seed=100), payload, profile, logits, 1, CONTEXT)
    counts = np.bincount(drawn.tokens, minlength=VOCAB).astype(float)
    assert chi_square(counts, pi) < 1e-12


def homogeneity(a: np.ndarray, b: np.ndarray) -> float:
    """Return the p-value of "both columns come from one distribution"; rare tokens pooled."""
    both = a + b
    common = both >= 16
    table = np.stack([np.append(x[common], x[~common].sum()) for x in (a, b)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


@pytest.mark.sampled
@pytest.mark.model
@pytest.mark.parametrize(
    ("prompt", "profile_kind", "chunks"),
    [
        ("The city council met on", "whole", 8),
        ("My favourite colour is", "cut", 4),
    ],
)
def test_marked_and_plain_steps_of_the_real_model(
    builtin_model: LanguageModel, prompt: str, profile_kind: str, chunks: int
) -> None:
    """50 keys and 200 plain draws a chunk, one step of the real model, two-sample chi-square."""
    ids = torch.tensor([builtin_model.tokenizer(prompt)["input_ids"]])
    with torch.inference_mode():
        logits = builtin_model.network(ids).logits[0, -1].clone()
    profile = Profile(payload_bits=36, blocks=4, vocab_size=builtin_model.vocab_size)
    if profile_kind == "cut":
        profile = profile.with_(
            temperature=0.8, top_k=50, top_p=0.95, entropy_thresholds_bits=(0.5, 1.0, 2.0)
        )
    width = logits.numel()
    counts = {"marked": np.zeros(width), "plain": np.zeros(width)}
    payload = Payload.from_int(0x5A5A5A5A5, 36)
    for chunk in range(chunks):
        drawn = draw(keys(50, seed=chunk), payload, profile, logits, chunk, CONTEXT)
        assert drawn.arity.min() > 0
        counts["marked"] += np.bincount(drawn.tokens, minlength=width)
        plain = draw([None] * 200, None, profile, logits, 1000 + chunk)
        counts["plain"] += np.bincount(plain.tokens, minlength=width)
    assert homogeneity(counts["marked"], counts["plain"]) > ALARM
    shifted = np.roll(counts["marked"][np.argsort(-counts["plain"])], 1)
    assert homogeneity(shifted, np.sort(counts["plain"])[::-1]) < ALARM


def mean_surprisal(model: LanguageModel, texts: list[Any]) -> np.ndarray:
    """Return the mean surprisal in bits of every text under the model itself.

    All are of one length, behind one prompt.
    """
    ids = torch.from_numpy(np.stack([np.concatenate([t.prompt_ids, t.ids]) for t in texts]))
    start = texts[0].prompt_ids.size
    with torch.inference_mode():
        logits = model.network(ids).logits[:, start - 1 : -1].double()
        own = torch.log_softmax(logits, dim=-1).gather(2, ids[:, start:, None])
    return -own[..., 0].mean(dim=1).numpy() / np.log(2)


@pytest.mark.weekly
@pytest.mark.model
def test_marked_and_plain_texts(small_model: LanguageModel) -> None:
    """48 marked texts, each with its own key, against 48 plain ones: the same surprisal.

    Two-sample Kolmogorov-Smirnov. Texts drawn at temperature 0.5 fail it: it has teeth.
    """
    profile = Profile(payload_bits=36, blocks=4, vocab_size=small_model.vocab_size)
    rows = 48
    prompts = ["The city council met on Tuesday evening to discuss"] * rows

    def texts(payload: Payload | None, p: Profile, seed: int) -> list[Any]:
        return generate_batch(
            small_model,
            prompts,
            [payload] * rows,
            keys(rows, seed=77),
            p,
            tokens=12,
            seed=seed,
            ignore_eos=True,
            batch_size=rows,
        )

    def surprisal(made: list[Any]) -> np.ndarray:
        return mean_surprisal(small_model, made)

    marked = texts(Payload.from_int(1, 36), profile, 1)
    assert np.mean([t.arity.sum() for t in marked]) > 8
    plain = surprisal(texts(None, profile, 2))
    assert stats.ks_2samp(surprisal(marked), plain).pvalue > ALARM
    colder = surprisal(texts(None, profile.with_(temperature=0.5), 3))
    assert stats.ks_2samp(colder, plain).pvalue < ALARM


def test_entropy_of_the_spreads_gives_the_arities() -> None:
    """The tests above stand on this: each spread really lies in its band."""
    band: Callable[[float], int] = lambda h: int(np.searchsorted([1.0, 3.0, 5.0], h, "right"))  # noqa: E731
    for arity, spread in SPREAD.items():
        logits = np.random.default_rng(arity).normal(size=VOCAB) * spread
        weights = np.exp(logits - logits.max())
        assert band(entropy_bits(weights / weights.sum())) == arity

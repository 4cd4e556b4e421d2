"""Replay: a payload says which token an edit replaced, and what follows has its context again.

decision 028. For a payload of the list each step's anchor
is known, so where a token may have been substituted the tokens that the source may have drawn are
few. A path through the text says of each token: as it stands; substituted, the source's unknown;
or substituted, the source's was ``v``. The contexts of the keyed functions follow the path; the
model's distributions are those of the text as it stands, nothing is read again::

    python bench/replay.py run --cache DIR --study STUDY
    python bench/replay.py table --cache DIR

STUDY is the cache of ``bench/evidence.py``, whose texts are taken.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

import _common
from _study_read import Reader, make_proxy
from pura.detect.decode.likelihood import (
    SECTOR_OFFSETS,
    SIXTEENTHS,
    MismatchTable,
    arity_weights,
    blur_scale,
    blurred_interval,
    default_model,
)
from pura.detect.decode.trellis import codeword_windows
from pura.measure.attacks.rewrite import logits_of
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, SEED
from pura.measure.evaluate import TextReading, decide
from pura.model.reading import distribution, full_order
from pura.scheme import Payload, Profile, SecretKey, schedule
from pura.scheme.keys import LABEL_INDEX, LABEL_SEED, unit_interval
from pura.scheme.profile import encode_rows
from pura.scheme.schedule import context_bytes
from pura_lab.design import ATTACKED

TEXTS: Final = 16
CELL: Final = CELLS["tbcc-36"]
ATTACK: Final = "plaus20"
VERIFIERS: Final = {"blind": "same model", "proxy": "proxy that lacks six layers"}
PAYLOADS: Final = 4  # of the list, the strongest
WIDTHS: Final = (0, 2, 4)  # paths with a replayed token in their context; 0 is without replay
SHARES: Final = (0.1, 0.25)  # of substituted tokens
TABLES: Final = ("same-model, prompt unknown", "proxy, prompt unknown")
REPLAYED: Final = 0.1  # share of the substituted tokens that are replayed; 0.02 to 0.3 were tried
GUESSES: Final = 3  # tokens that a replay may put in
LIKELY: Final = 40  # tokens among which they are looked for
UNKNOWN: Final = -1


@dataclass(kw_only=True, eq=False)
class Text:
    """A text as one verifier reads it, whole distributions and all.

    Attributes:
        ids: int64 [L].
        p: float64 [L, V], distributions.
        order: int64 [V], the secret order.
        cdf: float64 [L, V], along the order.
        reading: Entropies and intervals.
        key: The key.
        profile: The profile.
    """

    ids: Any
    p: Any
    order: Any
    cdf: Any
    reading: TextReading
    key: SecretKey
    profile: Profile
    known: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model = default_model()
        self.tables: list[MismatchTable] = [
            next(t for t in model.tables if t.name == name) for name in TABLES
        ]
        self.bins = model.bins(np.arange(self.ids.size))
        self.arity = [
            arity_weights(
                t, self.bins, self.reading.entropy_bits, self.profile.entropy_thresholds_bits
            )
            for t in self.tables
        ]
        self.likely = np.argpartition(-self.p, LIKELY, axis=1)[:, :LIKELY]
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(self.order.size)

    def phase(self, context: tuple[int, int]) -> tuple[float, int]:
        """Return phase and first codeword position of a context."""
        if context not in self.known:
            data = context_bytes(context)
            self.known[context] = (
                unit_interval(self.key.prf(LABEL_SEED, data)),
                self.key.prf(LABEL_INDEX, data) % self.profile.codeword_length,
            )
        return self.known[context]  # type: ignore[no-any-return]

    def step(self, t: int, context: tuple[int, int], word: Any) -> tuple[Any, list[Any]]:
        """Return the density of the observed token by table, and by table what may be replayed.

        Args:
            t: The token.
            context: What the path says stood before it.
            word: int64 [n], window indices of the codeword.
        """
        phase, index = self.phase(context)
        combo = int(word[index])
        at = (t, context, combo)
        if at not in self.known:
            anchor = (phase + SECTOR_OFFSETS[1:, combo] / SIXTEENTHS) % 1.0
            density = self.density(t, self.reading.lo[t], self.reading.hi[t], anchor)
            arity = np.stack([a[t] for a in self.arity])
            factor = arity[:, 0] + (arity[:, 1:] * density).sum(axis=1)
            best = arity[:, 1:].argmax(axis=1)
            guesses = [
                self.guesses(t, float(anchor[a])) if weights[0] <= 0.5 else None
                for a, weights in zip(best, arity, strict=True)
            ]
            guesses = [[] if g is None else g[n] for n, g in enumerate(guesses)]
            self.known[at] = factor, guesses
        return self.known[at]  # type: ignore[no-any-return]

    def density(self, t: int, lo: Any, hi: Any, anchor: Any) -> Any:
        """Return the blurred density of intervals by table; [tables, ...]."""
        bin_ = int(self.bins[t])
        widths = default_model().blur_widths[:, None] * blur_scale(lo, hi)
        parts = blurred_interval(lo, hi, anchor, widths)
        return np.stack([t.uniform[bin_] + t.weights[bin_] @ parts for t in self.tables])

    def guesses(self, t: int, anchor: float) -> list[list[tuple[int, float]]]:
        """Return by table the tokens that the source may have drawn, and chance times density."""
        inside = min(int(np.searchsorted(self.cdf[t], anchor, side="right")), self.order.size - 1)
        tokens = np.unique(np.append(self.likely[t], self.order[inside]))
        tokens = tokens[tokens != self.ids[t]]
        chance = self.p[t, tokens]
        hi = self.cdf[t, self.rank[tokens]]
        density = self.density(t, hi - chance, hi, np.array(anchor))
        out = []
        for value in chance / max(1e-9, 1 - float(self.p[t, self.ids[t]])) * density:
            best = np.argsort(-value, kind="stable")[:GUESSES]
            out.append([(int(tokens[i]), float(value[i])) for i in best])
        return out


def path_sum(text: Text, word: Any, table: int, share: float, width: int, replayed: float) -> float:
    """Return the log of the mixture over paths for one codeword, nats.

    Its mean under H2 is at most one, given the text: along every path the factor of a step is 1, a
    density of a phase that no path has looked at before, or the chance of a token times such a
    density, with chances that add up to one at most; paths that are dropped only take away. A
    context that any path has looked at before counts for none.
    """
    residual = default_model().passages.residual
    ids = text.ids.tolist()
    seen: set[tuple[int, int]] = set()
    states: dict[tuple[int, int], float] = {(UNKNOWN, UNKNOWN): 1.0}
    total = 0.0
    for t, token in enumerate(ids):
        after: dict[tuple[int, int], float] = {}
        looked: set[tuple[int, int]] = set()
        carries = t >= 2 and text.reading.entropy_bits[t] >= text.profile.entropy_thresholds_bits[0]
        for (first, last), weight in states.items():
            context = (first, last)
            fresh = carries and UNKNOWN not in context and context not in seen
            factor, guesses = 1.0, []
            if fresh:
                looked.add(context)
                density, every = text.step(t, context, word)
                factor = (1 - residual) * float(density[table]) + residual
                guesses = every[table] if width else []
            lost = replayed if guesses else 0.0
            for new, value in (
                (token, (1 - share) * factor),
                (UNKNOWN, share * (1 - lost)),
                *((guess, share * lost * chance) for guess, chance in guesses),
            ):
                state = (last, new)
                after[state] = after.get(state, 0.0) + weight * value
        seen |= looked
        plain = {UNKNOWN, token}, {UNKNOWN, ids[t - 1] if t else UNKNOWN}
        kept = {s: w for s, w in after.items() if s[1] in plain[0] and s[0] in plain[1]}
        others = sorted((s for s in after if s not in kept), key=lambda s: -after[s])[:width]
        kept |= {s: after[s] for s in others}
        scale = sum(kept.values())
        total += float(np.log(scale))
        states = {s: w / scale for s, w in kept.items()}
    return total


def log_replay(text: Text, bits: Any, width: int) -> Any:
    """Return the log likelihood ratio of payloads, mean over tables and shares; [C]."""
    words = codeword_windows(encode_rows(bits, text.profile))
    every = np.array(
        [
            [
                path_sum(text, word, table, share, width, REPLAYED if width else 0.0)
                for table in range(len(TABLES))
                for share in SHARES
            ]
            for word in words
        ]
    )
    return np.logaddexp.reduce(every, axis=1) - np.log(every.shape[1])


def text_of(logits: Any, ids: Any, key: SecretKey, profile: Profile) -> Text:
    """Work out what replay needs of a text."""
    p = distribution(logits, temperature=profile.temperature, top_k=0, top_p=1.0)
    order = full_order(key, profile.vocab_size, p.shape[1])
    cdf = np.cumsum(p[:, order], axis=1)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    rows = np.arange(ids.size)
    own = p[rows, ids]
    hi = cdf[rows, rank[ids]]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(p > 0, p * np.log2(p), 0.0).sum(axis=1)
    reading = TextReading(ids=ids, entropy_bits=entropy, probability=own, lo=hi - own, hi=hi)
    for name, value in (("entropy_bits", 0.0), ("probability", 1.0), ("lo", 0.0), ("hi", 1.0)):
        getattr(reading, name)[0] = value  # nothing predicted the first token
    return Text(ids=ids, p=p, order=order, cdf=cdf, reading=reading, key=key, profile=profile)


def guessed(text: Text, original: Any, payload: Payload) -> list[float]:
    """Return how often a replay in the right context names the right token; first, or among all.

    Args:
        text: The text.
        original: int64 [L], before the edits.
        payload: The right one.

    Returns:
        Substituted tokens with a whole context that carry, those named first, those named.
    """
    word = codeword_windows(encode_rows(payload.array[None], text.profile))[0]
    steps = schedule(text.ids, text.reading.entropy_bits, text.key, text.profile)
    count, first, among = 0, 0, 0
    for t in steps.token.tolist():
        before = (int(original[t - 2]), int(original[t - 1]))
        whole = before == (int(text.ids[t - 2]), int(text.ids[t - 1]))
        if original[t] == text.ids[t] or not whole:
            continue
        named = [token for token, _ in text.step(t, before, word)[1][0]]
        count += 1
        first += int(named[:1] == [int(original[t])])
        among += int(int(original[t]) in named)
    return [count, first, among]


def outcome(text: Text, original: Any, payload: Payload) -> Any:
    """Return the numbers of one text, as :func:`table` reads them.

    Today's log10 e, payload right, listed, among the first; for each width log10 of the sum over
    paths, log10 e with a third of its weight on it, payload right; then :func:`guessed`.
    """
    steps = schedule(text.ids, text.reading.entropy_bits, text.key, text.profile)
    decision = decide(text.reading, steps, text.profile, prompt_known=False)
    listed = decision.listed
    truth = (listed == payload.array).all(axis=1)
    row = [decision.log10_e, float(decision.payload == payload), float(truth.any())]
    row.append(float(truth[:PAYLOADS].any()))
    bits = listed[:PAYLOADS]
    today = decision.log_ratios(listed, text.profile)
    log_payloads = text.profile.payload_bits * np.log(2)
    for width in WIDTHS:
        ratios = log_replay(text, bits, width)
        e_replay = np.logaddexp.reduce(ratios) - log_payloads
        both = np.logaddexp(np.log(2 / 3) + decision.log_e, np.log(1 / 3) + e_replay)
        share = today + np.log(2 / 3)
        share[: len(bits)] = np.logaddexp(share[: len(bits)], ratios + np.log(1 / 3))
        row += [
            e_replay / np.log(10),
            both / np.log(10),
            float(truth[int(np.argmax(share))]),
        ]
    return np.array(row + guessed(text, original, payload))


def run(cache: Cache, study: Cache, texts: int) -> None:
    """Attack, read and weigh texts that are not on the cache."""
    import torch

    torch.set_num_threads(1)
    source = _common.load_builtin()
    models = {"blind": source, "proxy": make_proxy(source, "proxy")}
    attacker = Reader(source, study)
    stored = study.get(f"texts.{CELL.name}")["ids"]
    profile = CELL.profile(source.vocab_size)
    for number in range(texts):
        missing = [v for v in VERIFIERS if f"replay.{v}.{number}" not in cache]
        if not missing:
            continue
        start = time.perf_counter()
        rng = CELL.generator(f"attack {ATTACK}", number)
        edited = attacker.attacked(ATTACKED[ATTACK], stored[number], rng).ids
        for verifier in missing:
            logits = logits_of(models[verifier], edited)
            text = text_of(logits, edited, CELL.key(number), profile)
            row = outcome(text, stored[number], CELL.payload(number))
            cache.put(f"replay.{verifier}.{number}", {"row": [row]})
        print(f"text {number} in {time.perf_counter() - start:.0f} s", flush=True)


def table(cache: Cache, texts: int) -> None:
    """Print what came out."""
    _common.print_facts("Replay", SEED)
    rows = []
    for verifier, label in VERIFIERS.items():
        got = np.stack(
            [
                cache.get(f"replay.{verifier}.{i}")["row"][0]
                for i in range(texts)
                if f"replay.{verifier}.{i}" in cache
            ]
        )
        rows.append(_row(label, "today", got, got[:, 0], got[:, 1]))
        for n, width in enumerate(WIDTHS):
            e, right = got[:, 4 + 3 * n + 1], got[:, 4 + 3 * n + 2]
            rows.append(_row(label, f"paths, width {width}" if width else "paths", got, e, right))
        print(
            f"{label}: {len(got)} texts; the right payload is listed in {got[:, 2].sum():.0f}, "
            f"among the first {PAYLOADS} in {got[:, 3].sum():.0f}; substituted tokens with a whole "
            f"context {got[:, -3].sum():.0f}, named first {got[:, -2].sum():.0f}, "
            f"named {got[:, -1].sum():.0f}"
        )
        for n, width in enumerate(WIDTHS[1:], start=1):
            gain = got[:, 4 + 3 * n] - got[:, 4]
            error = 1.96 * gain.std(ddof=1) / np.sqrt(gain.size)
            print(f"  replay alone, width {width}: {gain.mean():+.2f} ± {error:.2f} log10")
    _common.print_table(
        ["verifier", "evidence", "log10 e", "mean gain", "e ≥ 10^6", "payload"], rows
    )


def _row(label: str, what: str, got: Any, e: Any, right: Any) -> Sequence[str]:
    gain = e - got[:, 0]
    error = 1.96 * gain.std(ddof=1) / np.sqrt(gain.size)
    return [
        label,
        what,
        f"{np.median(e):.1f}",
        f"{gain.mean():+.2f} ± {error:.2f}",
        f"{int((e >= 6).sum())} of {e.size}",
        f"{int(right.sum())} of {e.size}",
    ]


def main() -> None:
    """Run one stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=("run", "table"))
    parser.add_argument("--cache", type=Path, required=True, help="folder for outcomes")
    parser.add_argument("--study", type=Path, help="cache of bench/evidence.py")
    parser.add_argument("--texts", type=int, default=TEXTS)
    args = _common.parse(parser, texts=2)
    cache = Cache(args.cache)
    if args.stage == "run":
        run(cache, Cache(args.study), args.texts)
    else:
        table(cache, args.texts)


if __name__ == "__main__":
    main()

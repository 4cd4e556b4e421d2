"""Gate mismatch: what it costs when a verifier's entropies stand on the other side of a threshold.

study.md, "Gate mismatch". Texts are read by their generator and by verifiers whose entropies
differ; then marks are *simulated* on the readings, so that both history rules and any thresholds
meet the same texts: a scheme that leaves the distribution of the text as it is may as well be given
the text first, and the phases after it. At each step that the generator takes for a carrier the
anchor is drawn from the token's interval under the generator, and the phase of its context follows
from it; every other context keeps its keyed phase::

    python bench/gates.py read --cache DIR --study STUDY
    python bench/gates.py table --cache DIR

STUDY is the cache of ``bench/evidence.py``, whose texts of temperature 1 are taken; those of
temperature 0.7 are generated here, without a mark.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

import _common
from pura.detect.decode import exact
from pura.detect.decode.likelihood import Intervals, LikelihoodModel, default_model
from pura.embed.generate import generate_batch
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, SEED, Cell
from pura.measure.evaluate import TextReading
from pura.model.evidence import read
from pura.model.head import find_head
from pura.scheme import Payload, Profile, Schedule, SecretKey, encode, schedule
from pura.scheme.gray import sector_of
from pura_lab.design import DROPPED
from pura_lab.proxy import drop_layers

TEXTS: Final = 24
TOKENS: Final = 150
CELL: Final = CELLS["tbcc-36"]
COOL: Final = Cell(name="gates", code="tbcc", payload_bits=36, texts=TEXTS, tokens=TOKENS)
VOCABULARY: Final = 49_152
SETS: Final = {"1.0": CELL, "0.7": COOL}
VERIFIERS: Final = {
    "blind": "same model, prompt unknown",
    "proxy": "proxy that lacks six layers, prompt unknown",
    "bfloat16": "same model in bfloat16, prompt known",
}
USUAL: Final = (1.0, 3.0, 5.0)
COSTED: Final = ("blind", "proxy")  # bfloat16 moves two arities in a hundred
NEAR: Final = 0.25  # bits from a threshold
LOW: Final = 0.3  # the soft gate looks at steps from here on
GATES: Final = ("hard", "today", "soft", "oracle")


def read_all(cache: Cache, study: Cache) -> None:
    """Generate and read what is not on the cache."""
    import torch

    torch.set_num_threads(1)
    model = _common.load_builtin()
    if "texts.0.7" not in cache:
        texts = generate_batch(
            model,
            COOL.prompts(),
            [None] * TEXTS,
            None,
            profile_of("0.7", "used"),
            tokens=TOKENS,
            seed=[int(COOL.generator("dice", i).integers(1 << 62)) for i in range(TEXTS)],
            ignore_eos=True,
            batch_size=TEXTS,
        )
        cache.put(
            "texts.0.7",
            {"ids": [t.ids for t in texts], "prompt_ids": [t.prompt_ids for t in texts]},
        )
    if "texts.1.0" not in cache:
        stored = study.get(f"texts.{CELL.name}")
        cache.put(
            "texts.1.0",
            {
                "ids": [ids[:TOKENS] for ids in stored["ids"][:TEXTS]],
                "prompt_ids": stored["prompt_ids"][:TEXTS],
            },
        )
    for verifier in ("generator", *VERIFIERS):
        reader = None
        for name, cell in SETS.items():
            target = f"reading.{name}.{verifier}"
            if target in cache:
                continue
            start = time.perf_counter()
            reader = reader or reader_of(model, verifier)
            texts = cache.get(f"texts.{name}")
            known = verifier in ("generator", "bfloat16")
            rows = [
                read(
                    reader,
                    ids,
                    keys=[cell.key(i)],
                    profile=profile_of(name, "used"),
                    prompt_ids=prompt.tolist() if known else None,
                )
                for i, (ids, prompt) in enumerate(
                    zip(texts["ids"], texts["prompt_ids"], strict=True)
                )
            ]
            cache.put(
                target,
                {
                    "ids": [r.ids for r in rows],
                    "entropy_bits": [r.entropy_bits for r in rows],
                    "probability": [r.probability for r in rows],
                    "lo": [r.lo[0] for r in rows],
                    "hi": [r.hi[0] for r in rows],
                },
            )
            print(f"{target} in {time.perf_counter() - start:.0f} s", flush=True)


def reader_of(model: Any, verifier: str) -> Any:
    """Return the model that a verifier reads with."""
    import torch

    if verifier == "proxy":
        return drop_layers(model, DROPPED)
    if verifier == "bfloat16":
        network = copy.deepcopy(model.network).to(torch.bfloat16)
        return replace(model, network=network, head=find_head(network), name="bfloat16")
    return model


def profile_of(name: str, history: str, thresholds: tuple[float, ...] = USUAL) -> Profile:
    """Return the profile of a set of texts."""
    return replace(
        CELL.profile(VOCABULARY),
        temperature=float(name),
        history=history,
        entropy_thresholds_bits=thresholds,
    )


def readings(cache: Cache, name: str, verifier: str) -> list[TextReading]:
    """Return the readings of a set."""
    stored = cache.get(f"reading.{name}.{verifier}")
    return [TextReading(**{column: stored[column][i] for column in stored}) for i in range(TEXTS)]


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A text with a simulated mark.

    Attributes:
        steps: The generator's schedule, with the phases that the mark gave it.
        phases: Phase by context, of the steps that carry.
        key: The key.
        payload: What was put in.
        profile: Of the generator.
    """

    steps: Schedule
    phases: dict[bytes, float]
    key: SecretKey
    payload: Payload
    profile: Profile

    def seen(self, reading: TextReading, gate: str) -> Schedule:
        """Return the schedule as a verifier sees it."""
        low = (LOW, *self.profile.entropy_thresholds_bits[1:])
        profile = replace(self.profile, entropy_thresholds_bits=low) if gate == "soft" else None
        steps = schedule(reading.ids, reading.entropy_bits, self.key, profile or self.profile)
        phase = [
            self.phases.get(context(reading.ids, t, self.profile), own)
            for t, own in zip(steps.token.tolist(), steps.phase.tolist(), strict=True)
        ]
        return replace(steps, phase=np.array(phase))


def context(ids: Any, t: int, profile: Profile) -> bytes:
    """Return what stands before a token, as far as the key looks."""
    return bytes(ids[t - profile.context_window : t].tobytes())


def marked(source: TextReading, key: SecretKey, profile: Profile, rng: Any) -> Marked:
    """Put a mark into a text: phases that would have led the generator to this text."""
    payload = Payload.from_bits(rng.integers(0, 2, profile.payload_bits))
    word = encode(payload, profile)
    steps = schedule(source.ids, source.entropy_bits, key, profile)
    phase, where = np.empty(len(steps)), rng.random(source.ids.size)
    for row in range(len(steps)):
        t, arity, index = (int(c[row]) for c in (steps.token, steps.arity, steps.index))
        sector = sector_of([int(word[(index + j) % word.size]) for j in range(arity)])
        anchor = source.lo[t] + (source.hi[t] - source.lo[t]) * where[t]
        phase[row] = (anchor - (sector + 0.5) / (1 << arity)) % 1.0
    phases = {
        context(source.ids, t, profile): u
        for t, u in zip(steps.token.tolist(), phase.tolist(), strict=True)
    }
    return Marked(
        steps=replace(steps, phase=phase), phases=phases, key=key, payload=payload, profile=profile
    )


def hard_model() -> LikelihoodModel:
    """Return the shipped likelihood, with the arity taken at its word."""
    model = default_model()
    tables = tuple(
        replace(t, entropy_noise_bits=0 * t.entropy_noise_bits, entropy_shift_bits=0 * t.uniform)
        for t in model.tables
    )
    return replace(model, tables=tables)


def decide(
    mark: Marked,
    source: TextReading,
    seen: TextReading,
    gate: str,
    done: dict[Any, Any],
    *,
    known: bool,
) -> Any:
    """Decode a marked text with one of the gates; log10 e, and whether the payload is right.

    What has been done is kept: both rules, or two gates, often see the very same steps.
    """
    steps = mark.steps if gate == "oracle" else mark.seen(seen, gate)
    hard = gate in ("hard", "oracle")
    same = (gate == "oracle", hard, steps.token.tobytes(), steps.phase.tobytes())
    if same not in done:
        decision = exact.decide(
            Intervals.of(
                steps,
                source.entropy_bits if gate == "oracle" else seen.entropy_bits,
                seen.lo,
                seen.hi,
                mark.profile,
                model=hard_model() if hard else None,
                prompt_known=known,
                probability=seen.probability,
            ),
            candidates=1,
        )
        done[same] = decision.log10_e, decision.payload == mark.payload
    return done[same]


def stress(cache: Cache) -> tuple[float, ...]:
    """Return thresholds where the entropies of temperature 1 crowd."""
    bits = np.concatenate([r.entropy_bits for r in readings(cache, "1.0", "generator")])
    return tuple(float(np.round(x, 2)) for x in np.quantile(bits, [0.4, 0.5, 0.6]))


def cases(cache: Cache) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Return the rows of the tables: a title, the texts, the thresholds."""
    yield "temperature 1, usual thresholds", "1.0", USUAL
    yield "temperature 0.7, usual thresholds", "0.7", USUAL
    crowded = stress(cache)
    yield f"temperature 1, thresholds {', '.join(f'{x:g}' for x in crowded)}", "1.0", crowded


def disagreement(cache: Cache) -> None:
    """Print how often generator and verifier disagree."""
    rows = []
    for title, name, thresholds in cases(cache):
        sources = readings(cache, name, "generator")
        carriers = {
            rule: sum(
                len(
                    schedule(r.ids, r.entropy_bits, COOL.key(0), profile_of(name, rule, thresholds))
                )
                for r in sources
            )
            for rule in ("used", "all")
        }
        print(f"{title}: carriers of the generator {carriers}")
        for verifier, label in VERIFIERS.items():
            total = dict.fromkeys(("steps", "near", "arity", "arity near", "zero", "repeats"), 0)
            history = {"used": 0, "all": 0}
            for i, (a, b) in enumerate(zip(sources, readings(cache, name, verifier), strict=True)):
                theirs, ours = (
                    np.searchsorted(thresholds, r.entropy_bits, side="right")[2:] for r in (a, b)
                )
                gap = np.abs(a.entropy_bits[2:, None] - np.array(thresholds)).min(axis=1)
                total["steps"] += gap.size
                total["near"] += int((gap < NEAR).sum())
                total["arity"] += int((theirs != ours).sum())
                total["arity near"] += int(((theirs != ours) & (gap < NEAR)).sum())
                total["zero"] += int(((theirs == 0) != (ours == 0)).sum())
                for rule in history:
                    profile = profile_of(name, rule, thresholds)
                    key = SETS[name].key(i)
                    x, y = (schedule(r.ids, r.entropy_bits, key, profile).gate for r in (a, b))
                    # What differs although both sides take the entropy for high enough.
                    differs = ((x == 0) != (y == 0))[2:] & (theirs > 0) & (ours > 0)
                    history[rule] += int(differs.sum())
                    total["repeats"] += int((x == 3).sum()) if rule == "used" else 0
            rows.append(
                [
                    f"{title}; {label}",
                    str(total["steps"]),
                    f"{100 * total['near'] / total['steps']:.0f}",
                    f"{100 * total['arity'] / total['steps']:.1f}",
                    f"{100 * total['arity near'] / max(1, total['near']):.1f}",
                    f"{100 * total['zero'] / total['steps']:.1f}",
                    str(total["repeats"]),
                    str(history["used"]),
                    str(history["all"]),
                ]
            )
    _common.print_table(
        [
            "texts; verifier",
            "tokens",
            "near %",
            "other arity %",
            "of those near %",
            "carrier or not %",
            "repeats",
            "out of step, used",
            "out of step, all",
        ],
        rows,
    )


def costs(cache: Cache, draws: int) -> None:
    """Print what the disagreement costs."""
    for title, name, thresholds in cases(cache):
        rows = []
        sources = readings(cache, name, "generator")
        for verifier in COSTED:
            label = VERIFIERS[verifier]
            found = outcomes(cache, name, thresholds, verifier, sources, draws)
            for rule in ("used", "all"):
                base = found[rule, "today"][0]
                cells = [label, rule]
                for gate in GATES:
                    e, right = found[rule, gate]
                    gained = "" if gate == "today" else f" ({_gain(e - base, draws)})"
                    cells.append(f"{np.median(e):.1f}{gained}, {int(right.sum())}")
                rows.append(cells)
            gain = found["all", "today"][0] - found["used", "today"][0]
            print(f"{label}: all against used {_gain(gain, draws)}", flush=True)
        print(f"\n{title}, {TOKENS} tokens, {TEXTS * draws} marks\n")
        _common.print_table(["verifier", "history", *GATES], rows)


def _gain(gain: Any, draws: int) -> str:
    """Return mean and error of a gain; the marks of one text are no independent texts."""
    mean = gain.reshape(-1, draws).mean(axis=1)
    return f"{mean.mean():+.2f} ± {1.96 * mean.std(ddof=1) / np.sqrt(mean.size):.2f}"


def outcomes(
    cache: Cache,
    name: str,
    thresholds: tuple[float, ...],
    verifier: str,
    sources: list[TextReading],
    draws: int,
) -> dict[tuple[str, str], Any]:
    """Return log10 e and right payloads by rule and gate, worked out once."""
    at = "-".join(f"{x:g}" for x in thresholds)
    target = f"cost.{default_model().fingerprint}.{name}.{at}.{verifier}.{draws}"
    ways = [(rule, gate) for rule in ("used", "all") for gate in GATES]
    if target not in cache:
        start = time.perf_counter()
        rows = []
        for i, (source, seen) in enumerate(
            zip(sources, readings(cache, name, verifier), strict=True)
        ):
            # The texts of temperature 1 were marked once, which other thresholds would let through.
            key = SETS[name].key(i) if thresholds == USUAL else COOL.key(TEXTS + i)
            for draw in range(draws):
                row: list[Any] = []
                done: dict[Any, Any] = {}
                for rule, gate in ways:
                    rng = COOL.generator(f"mark {name} {draw}", i)
                    mark = marked(source, key, profile_of(name, rule, thresholds), rng)
                    row.append(decide(mark, source, seen, gate, done, known=verifier == "bfloat16"))
                rows.append(row)
        cache.put(target, {"outcomes": [np.array(rows, dtype=np.float64).transpose(1, 2, 0)]})
        print(f"{target} in {time.perf_counter() - start:.0f} s", flush=True)
    table = cache.get(target)["outcomes"][0]
    return {way: table[n] for n, way in enumerate(ways)}


def main() -> None:
    """Run one stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=("read", "table"))
    parser.add_argument("--cache", type=Path, required=True, help="folder for texts and readings")
    parser.add_argument("--study", type=Path, help="cache of bench/evidence.py")
    parser.add_argument("--draws", type=int, default=2, help="marks a text")
    args = parser.parse_args()
    cache = Cache(args.cache)
    if args.stage == "read":
        read_all(cache, Cache(args.study))
        return
    _common.print_facts("Gate mismatch", SEED)
    disagreement(cache)
    costs(cache, args.draws)


if __name__ == "__main__":
    main()

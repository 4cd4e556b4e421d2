"""Texts of many marks: what is found, what it costs, and what other keys find.

``python bench/every_mark.py read --cache DIR`` reads the parts, ``table`` prints the tables of
study.md §5. The laws are held: entropies and intervals are those of the sample texts
(``tests/data/samples``, 200 tokens each), read with their prompt as the source saw them, and behind
250 tokens of a novel as a verifier sees them in a document; the text around is that novel. Phases
and ring positions are simulated: at a marked step the anchor of the codeword's bits lies uniformly
in the source's interval, elsewhere the phase is uniform. So a text costs no reading.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.detect.decode.exact import ExactDecision, decide
from pura.detect.decode.likelihood import (
    Intervals,
    default_model,
    step_likelihoods,
    window_likelihoods,
)
from pura.detect.decode.passages import find_passages, log_anywhere
from pura.detect.decode.prior import PayloadPrior
from pura.detect.decode.trellis import make_trellis
from pura.measure.cache import Cache
from pura.scheme import Payload, Profile, Schedule, SecretKey, encode
from pura.scheme.gray import sector_of

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
SEED = 28
LEAD = 250
VOCABULARY = 49_152
PROFILES = {
    "tbcc": Profile(payload_bits=36, code="tbcc", vocab_size=VOCABULARY),
    "spc": Profile(payload_bits=36, blocks=4, vocab_size=VOCABULARY),
}
APART = (0, 1, 2, 3, 4, 5, 8, 18)
LENGTHS = ((281, 120), (120, 281), (150, 150))
GAP = 80
IDENTIFIED = 0.99
KEYS = 60

Part = tuple[int, Payload | None]


class Document(NamedTuple):
    """A text as a verifier sees it, and what stands where."""

    schedule: Schedule
    entropy_bits: Any
    probability: Any
    lo: Any
    hi: Any
    truth: list[tuple[int, int, Payload]]


class Laws:
    """What was read, and the texts that are made of it."""

    def __init__(self, cache: Cache) -> None:
        self._around = np.concatenate(cache.get("around")["law"], axis=1)
        self._source = cache.get("source")["law"]
        self._behind = cache.get("behind")["law"]

    def document(self, rng: Any, profile: Profile, parts: Sequence[Part]) -> Document:
        """Put a text together."""
        thresholds, length = profile.entropy_thresholds_bits, profile.codeword_length
        columns, phases, indices, truth, at = [], [], [], [], 0
        for size, payload in parts:
            index, phase = rng.integers(0, length, size), rng.random(size)
            if payload is None:
                begin = int(rng.integers(self._around.shape[1]))
                where = (begin + np.arange(size)) % self._around.shape[1]
                columns.append(self._around[:, where])
            else:
                source, seen = self._passage(rng, size)
                word = encode(payload, profile)
                arity = np.searchsorted(thresholds, source[0], side="right")
                for t in np.flatnonzero(arity):
                    a = int(arity[t])
                    anchor = source[2, t] + rng.random() * (source[3, t] - source[2, t])
                    bits = [int(word[(index[t] + j) % length]) for j in range(a)]
                    phase[t] = (anchor - (sector_of(bits) + 0.5) / (1 << a)) % 1.0
                columns.append(seen)
                truth.append((at, at + size - 1, payload))
            phases.append(phase)
            indices.append(index)
            at += size
        entropy, probability, lo, hi = np.concatenate(columns, axis=1)
        arity = np.searchsorted(thresholds, entropy, side="right")
        arity[: profile.context_window] = 0
        token = np.flatnonzero(arity)
        plan = Schedule(
            token=token,
            arity=arity[token],
            phase=np.concatenate(phases)[token],
            index=np.concatenate(indices)[token],
            gate=np.where(arity > 0, 0, 2).astype(np.uint8),
        )
        return Document(plan, entropy, probability, lo, hi, truth)

    def _passage(self, rng: Any, size: int) -> tuple[Any, Any]:
        """Laws of a marked passage at its source and behind other text; [4, size] each."""
        source, seen = np.empty((4, 0)), np.empty((4, 0))
        while source.shape[1] < size:
            number = int(rng.integers(len(self._source)))
            most = size - source.shape[1]
            # What follows the first text of a passage is read in its own context.
            then = self._behind[number] if not source.size else self._source[number]
            source = np.concatenate([source, self._source[number][:, :most]], axis=1)
            seen = np.concatenate([seen, then[:, :most]], axis=1)
        return source, seen


def read_laws(cache: Cache, texts: int | None) -> None:
    """Read the novel, and every sample text twice; or fewer texts, and 2,000 tokens of it."""
    from pura.model.evidence import read
    from pura.model.tokenise import tokenise

    model = _common.load_builtin()
    key, profile = SecretKey(bytes(range(32))), PROFILES["tbcc"]

    def law(ids: Any, prompt: Any = ()) -> Any:
        seen = read(model, ids, keys=[key], profile=profile, prompt_ids=tuple(prompt))
        return np.stack([seen.entropy_bits, seen.probability, seen.lo[0], seen.hi[0]])

    novel = (DATA / "human.txt").read_text(encoding="utf-8").replace("\n%\n", "\n\n")
    around = tokenise(model.tokenizer, novel).ids[: 2_000 if texts else None]
    cache.put("around", {"law": [law(around[i : i + 2_000]) for i in range(0, around.size, 2_000)]})
    source, behind = [], []
    for path in sorted((DATA / "samples").glob("*.json")):
        for text in json.loads(path.read_text(encoding="utf-8"))["texts"][:texts]:
            ids = np.array(text["tokens"])
            begin = len(source) * 157 % (around.size - LEAD)
            source.append(law(ids, tokenise(model.tokenizer, text["prompt"]).ids.tolist()))
            lead = around[begin : begin + LEAD]
            behind.append(law(np.concatenate([lead, ids]))[:, LEAD:])
    cache.put("source", {"law": source})
    cache.put("behind", {"law": behind})


def weigh(text: Document, profile: Profile) -> tuple[ExactDecision, float]:
    """Return what is decided, and the processor seconds it took."""
    start = time.process_time()
    found = decide(
        Intervals.of(
            text.schedule,
            text.entropy_bits,
            text.lo,
            text.hi,
            profile,
            probability=text.probability,
        )
    )
    return found, time.process_time() - start


def compare(text: Document, found: ExactDecision) -> tuple[Counter[str], list[int]]:
    """Count what became of the passages; and tokens between true limits and found ones."""
    count: Counter[str] = Counter(passages=len(text.truth))
    off: list[int] = []
    used = {payload.text for *_, payload in text.truth}
    placed = [(*r, mark) for mark in found.marks for r in mark.ranges]
    for first, last, payload in text.truth:
        over = [p for p in placed if min(last, p[1]) - max(first, p[0]) >= (last - first) / 2]
        if over:
            count["found"] += 1
            count["right"] += over[0][2].payload == payload
            off += [abs(over[0][0] - first), abs(over[0][1] - last)]
    for a, b, _ in placed:
        inside = sum(max(0, min(b, last) - max(a, first) + 1) for first, last, _ in text.truth)
        count["false"] += inside < (b - a + 1) / 2
    for mark in found.marks:
        wrong = not any(
            payload == mark.payload and any(a <= last and first <= b for a, b in mark.ranges)
            for first, last, payload in text.truth
        )
        sure = mark.candidates[0].posterior >= IDENTIFIED
        count["identified"] += sure
        count["identified, wrong"] += sure and wrong
        count["never used"] += mark.payload.text not in used
    return count, off


def random_payload(rng: Any, profile: Profile) -> Payload:
    """Return any payload."""
    return Payload.from_bits(rng.integers(0, 2, profile.payload_bits).astype(np.uint8))


def near(payload: Payload, apart: int, rng: Any) -> Payload:
    """Return a payload that differs in so many bits."""
    bits = payload.array.copy()
    bits[rng.choice(bits.size, apart, replace=False)] ^= 1
    return Payload.from_bits(bits)


def print_near(laws: Laws, texts: int, apart_by: Sequence[int]) -> None:
    """Two passages whose payloads differ in a few bits."""
    rows = []
    for code, profile in PROFILES.items():
        for apart in apart_by:
            count: Counter[str] = Counter()
            for lengths in LENGTHS:
                for number in range(texts):
                    rng = np.random.default_rng([SEED, apart, number, *lengths])
                    one = random_payload(rng, profile)
                    parts = [(lengths[0], one), (GAP, None), (lengths[1], near(one, apart, rng))]
                    text = laws.document(rng, profile, parts)
                    count += compare(text, weigh(text, profile)[0])[0]
            rows.append([code, str(apart), *_counted(count)])
    _common.print_table(["code", "bits apart", *_COUNTED], rows)


_COUNTED = ("passages", "found", "right", "identified", "identified, wrong", "false")


def _counted(count: Counter[str]) -> list[str]:
    return [str(count[name]) for name in _COUNTED]


def print_many(laws: Laws, texts: int, passages_of_text: int | None) -> None:
    """Documents of many marks, each of a payload of its own."""
    rows = []
    for name, passages, marked, gap in (
        ("20 of 200 tokens, joined", 20, 200, 0),
        ("20 of 200 tokens, 60 between", 20, 200, 60),
        ("50 of 100 tokens in 20,000", 50, 100, 300),
    ):
        for code, profile in PROFILES.items():
            count, off, seconds = Counter[str](), list[int](), list[float]()
            for number in range(texts):
                rng = np.random.default_rng([SEED, passages, gap, number])
                parts: list[Part] = []
                for _ in range(passages_of_text or passages):
                    parts += [(gap, None)] if gap else []
                    parts.append((marked, random_payload(rng, profile)))
                text = laws.document(rng, profile, parts)
                found, taken = weigh(text, profile)
                some, limits = compare(text, found)
                count, off = count + some, off + limits
                seconds.append(taken)
            limits_ = f"{np.median(off):.0f}, {np.quantile(off, 0.9):.0f}"
            rows.append([name, code, *_counted(count), limits_, f"{np.median(seconds):.1f}"])
    _common.print_table(["text", "code", *_COUNTED, "limits off, median, 90 %", "seconds"], rows)


def print_keys(laws: Laws, keys: int) -> None:
    """Other keys on a text of twenty marks, searched through whatever the headline says."""
    rows = []
    model = default_model()
    grid = model.grids[False]
    for code, profile in PROFILES.items():
        rng = np.random.default_rng([SEED, 1])
        parts: list[Part] = [(200, random_payload(rng, profile)) for _ in range(20)]
        text = laws.document(rng, profile, parts)
        plan, prior = text.schedule, PayloadPrior(trellis=make_trellis(profile))
        reached = Counter[float]()
        for _ in range(keys):
            other = Schedule(
                token=plan.token, arity=plan.arity, phase=rng.random(len(plan)),
                index=rng.integers(0, profile.codeword_length, len(plan)), gate=plan.gate,
            )  # fmt: skip
            steps = step_likelihoods(
                Intervals.of(
                    other,
                    text.entropy_bits,
                    text.lo,
                    text.hi,
                    profile,
                    model=model,
                    probability=text.probability,
                ),
                grid,
                passages=True,
            )
            windows = window_likelihoods(steps)
            log_f = log_anywhere(windows[len(windows) // 2 :])
            none = np.zeros((0, profile.payload_bits), dtype=np.uint8)
            for level in (0.0, 1.0, 2.0, 6.0):
                found, _ = find_passages(
                    log_f, other.index, prior, profile,  # type: ignore[arg-type]
                    level * math.log(10), none, lambda: None,
                )  # fmt: skip
                reached[level] += bool(found)
        rows.append([code, str(keys), *(str(reached[level]) for level in (0.0, 1.0, 2.0, 6.0))])
    _common.print_table(["code", "keys", "level 1", "level 10", "level 100", "level 10^6"], rows)


def print_costs(laws: Laws, tokens: int) -> None:
    """One mark in 100,000 tokens, and 200; or fewer, in as many times 500 tokens."""
    rows = []
    profile = PROFILES["tbcc"]
    for marks in (1, tokens // 2_000, tokens // 500):
        rng = np.random.default_rng([SEED, 2])
        parts: list[Part] = []
        for _ in range(marks):
            parts += [(tokens // marks - 200, None), (200, random_payload(rng, profile))]
        text = laws.document(rng, profile, parts)
        timed = [weigh(text, profile) for _ in range(2)]
        count, off = compare(text, timed[0][0])
        seconds = min(taken for _, taken in timed)
        rows.append([str(marks), *_counted(count), f"{np.median(off):.0f}", f"{seconds:.1f}"])
    _common.print_table(["marks", *_COUNTED, "limits off, median", "seconds"], rows)


def main() -> None:
    """Read, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=("read", "table"))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--near", type=int, default=20, help="texts a row and pair of lengths")
    parser.add_argument("--many", type=int, default=4, help="texts a row")
    parser.add_argument("--apart", type=int, nargs="+", default=APART, help="bits, of near ones")
    parser.add_argument("--passages", type=int, help="of a text of many marks, in place of its own")
    parser.add_argument("--keys", type=int, default=KEYS)
    parser.add_argument("--tokens", type=int, default=100_000, help="of the text that is timed")
    parser.add_argument("--samples", type=int, help="read only so many texts of each file")
    args = _common.parse(
        parser, near=1, many=1, apart=[2], passages=2, keys=2, tokens=2_000, samples=1
    )
    cache = Cache(args.cache)
    if args.stage == "read":
        read_laws(cache, args.samples)
        return
    _common.print_facts("every mark", SEED)
    laws = Laws(cache)
    print_near(laws, args.near, args.apart)
    print_many(laws, args.many, args.passages)
    print_keys(laws, args.keys)
    print_costs(laws, args.tokens)


if __name__ == "__main__":
    main()

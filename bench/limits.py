"""What limits of payload fields are worth: the same readings with and without them.

``python bench/limits.py --cache DIR`` prints the table of study.md §15. The laws are held:
entropies and intervals are those of texts that the built-in model wrote with a mark, read by it
with their prompt as the source saw them, and without as a verifier does (``bench/calibration.py``
makes and reads them). Phases and ring positions are simulated as in ``bench/every_mark.py``, so one
reading carries any payload under any number of keys. ``--real KEYS`` prints the false positives on
texts without a mark, by people, by the model and of repetition, each under so many random keys;
``--text N`` on one of them alone. How improbable the largest of these is: ``bench/rare.py``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.detect.decode.exact import ExactDecision, decide
from pura.detect.decode.likelihood import Intervals, default_model
from pura.detect.decode.limited import Issuable
from pura.measure.cache import Cache
from pura.measure.evaluate import wilson
from pura.model.evidence import read
from pura.model.tokenise import tokenise
from pura.scheme import Payload, Profile, Schedule, SecretKey, encode, schedule
from pura.scheme.gray import sector_of

DATA: Final = Path(__file__).resolve().parent.parent / "tests" / "data"
SEED: Final = 286
FOUND: Final = 6.0
NULL_TOKENS: Final = 100
OUTSIDE: Final = 0.01
KEYS_AT_ONCE: Final = 250  # whose intervals of a text stand in memory together
LENGTHS: Final = (20, 25, 30, 35, 40, 50, 60)
PROFILES: Final = {
    "tbcc": Profile(payload_bits=36, code="tbcc", vocab_size=49_152),
    "spc": Profile(payload_bits=36, blocks=4, vocab_size=49_152),
}
LIMITS: Final = {
    "customers below 2,000 of 2^18, 500 days of 2^12, 3 versions of 2^6": (
        (18, ((0, 1_999),)), (12, ((365, 864),)), (6, ((9, 11),))),
}  # fmt: skip


def payload_within(rng: Any, fields: Any) -> Payload:
    """Draw a payload that the limits admit, all alike."""
    text = ""
    for width, ranges in fields:
        numbers = [n for a, b in ranges for n in range(a, b + 1)]
        text += format(int(rng.choice(numbers)), f"0{width}b")
    return Payload(text=text)


def simulated(rng: Any, source: Any, seen: Any, payload: Payload | None, profile: Profile) -> Any:
    """Return a text with the phases of a mark, for :func:`pura.detect.decode.exact.decide`."""
    length, size = profile.codeword_length, source["entropy_bits"].size
    index, phase = rng.integers(0, length, size), rng.random(size)
    thresholds = profile.entropy_thresholds_bits
    if payload is not None:
        word = encode(payload, profile)
        arity = np.searchsorted(thresholds, source["entropy_bits"], side="right")
        for t in np.flatnonzero(arity):
            a = int(arity[t])
            width = source["hi"][t] - source["lo"][t]
            anchor = source["lo"][t] + rng.random() * width
            bits = [int(word[(index[t] + j) % length]) for j in range(a)]
            phase[t] = (anchor - (sector_of(bits) + 0.5) / (1 << a)) % 1.0
    arity = np.searchsorted(thresholds, seen["entropy_bits"], side="right")
    arity[: profile.context_window] = 0
    token = np.flatnonzero(arity)
    return Schedule(
        token=token,
        arity=arity[token],
        phase=phase[token],
        index=index[token],
        gate=np.where(arity > 0, 0, 2).astype(np.uint8),
    )


def weigh(
    plan: Schedule, seen: Any, first: int, profile: Profile, issuable: Issuable | None
) -> tuple[ExactDecision, float]:
    """Decode the first tokens; the decision, and the processor seconds that it took."""
    start, count = time.process_time(), int(np.searchsorted(plan.token, first))
    part = Schedule(
        token=plan.token[:count],
        arity=plan.arity[:count],
        phase=plan.phase[:count],
        index=plan.index[:count],
        gate=plan.gate[:first],
    )
    arrays = (seen[name][:first] for name in ("entropy_bits", "lo", "hi"))
    found = decide(
        Intervals.of(part, *arrays, profile, probability=seen["probability"][:first]),
        issuable=issuable,
    )
    return found, time.process_time() - start


def needed(shares: list[float], wanted: float) -> str:
    """Return from which length on so many are found, read off between the lengths."""
    for (a, x), (b, y) in zip(
        zip(LENGTHS, shares, strict=True), zip(LENGTHS[1:], shares[1:], strict=True), strict=False
    ):
        if x < wanted <= y:
            return f"{a + (b - a) * (wanted - x) / (y - x):.0f}"
    return f"below {LENGTHS[0]}" if shares[0] >= wanted else f"above {LENGTHS[-1]}"


def null(code: str, pair: Any, issuable: Issuable, runs: int) -> list[str]:
    """Weigh readings under random phases: what another key says of them; a row of the table."""
    values = []
    for number in range(runs):
        rng = np.random.default_rng([SEED, 1, number])
        seen = {name: rows[number % len(rows)] for name, rows in pair[1].items()}
        plan = simulated(rng, seen, seen, None, PROFILES[code])
        found, _ = weigh(plan, seen, NULL_TOKENS, PROFILES[code], issuable)
        values.append(found.log10_e)
    return [code, *_counted(values)]


def _counted(values: Sequence[float]) -> list[str]:
    e = 10.0 ** np.array(values)
    error = e.std(ddof=1) / math.sqrt(e.size)
    hits = [str(int((e >= level).sum())) for level in (10, 100, 1000)]
    return [str(e.size), f"{e.mean():.3f} ± {error:.3f}", *hits, f"{max(values):.2f}"]


def unmarked_texts(model: Any) -> list[tuple[str, Any]]:
    """Return texts that carry no mark: who wrote each, and its first tokens."""
    texts = [
        (kind, tokenise(model.tokenizer, part.strip()).ids)
        for kind, file in (("human", "human.txt"), ("repeated", "boilerplate.txt"))
        for part in (DATA / file).read_text(encoding="utf-8").split("\n%\n")
    ]
    samples = json.loads((DATA / "samples" / "plain.json").read_text(encoding="utf-8"))["texts"]
    texts += [("model", np.array(sample["tokens"])) for sample in samples]
    return [(kind, ids[:NULL_TOKENS]) for kind, ids in texts]


def random_key(text: int, number: int) -> SecretKey:
    """Return a random key for a text, the same one each time."""
    label = f"{SEED}/real/{text}/{number}".encode()
    return SecretKey(blake2b(label, digest_size=32).digest())


def read_under(
    model: Any, ids: Any, keys: Sequence[SecretKey], profile: Profile
) -> Iterator[Intervals]:
    """Read a text once, and yield what each key sees of it."""
    for first in range(0, len(keys), KEYS_AT_ONCE):
        some = keys[first : first + KEYS_AT_ONCE]
        seen = read(model, ids, keys=some, profile=profile)
        for number, key in enumerate(some):
            yield Intervals.of(
                schedule(ids, seen.entropy_bits, key, profile),
                seen.entropy_bits,
                seen.lo[number],
                seen.hi[number],
                profile,
                probability=seen.probability,
            )


def real(code: str, issuable: Issuable, keys: int, only: int | None) -> list[list[str]]:
    """Weigh texts without a mark under random keys, without the limits and with them; rows."""
    model, profile = _common.load_builtin(), PROFILES[code]
    evidence: dict[tuple[str, str], list[float]] = {}
    for text, (kind, ids) in enumerate(unmarked_texts(model)):
        if only not in (None, text):
            continue
        tried = [random_key(text, number) for number in range(keys)]
        for intervals in read_under(model, ids, tried, profile):
            for name, limits in (("without", None), ("with", issuable)):
                log10_e = decide(intervals, issuable=limits, least=math.inf).log10_e
                for group in (kind, "all"):
                    evidence.setdefault((group, name), []).append(log10_e)
        print(f"{code}, text {text}", file=sys.stderr, flush=True)
    return [[code, *labels, *_counted(values)] for labels, values in sorted(evidence.items())]


def main() -> None:
    """Simulate, decode, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="folder with the readings; not for --real")
    parser.add_argument("--code", choices=list(PROFILES), action="append", help="only this one")
    parser.add_argument("--texts", type=int, default=64, help="of each code and limits")
    parser.add_argument("--null", type=int, default=0, help="random keys instead, so many")
    parser.add_argument("--real", type=int, default=0, help="random keys a text without a mark")
    parser.add_argument("--text", type=int, help="with --real: number of the only text")
    args = parser.parse_args()
    if args.cache is None and not args.real:
        parser.error("--cache is missing")
    _common.print_facts("Limits as prior", SEED)
    print(f"likelihood table {default_model().fingerprint}\n")
    for code in args.code or PROFILES:
        profile = PROFILES[code]
        for label, fields in LIMITS.items():
            issuable = Issuable.of(fields, OUTSIDE)
            bits = -issuable.log_share / math.log(2)
            head = ["keys", "mean e ± s.e.", "≥ 10", "≥ 100", "≥ 1000", "max log10 e"]
            if args.real:
                rows = real(code, issuable, args.real, args.text)
                _common.print_table(["code", "texts of", "limits", *head], rows)
                continue
            blind, prompted = (
                f"reading.calibration-{code}.{who}.0.0" for who in ("blind", "prompt")
            )
            cache = Cache(args.cache)
            pair = [cache.get(prompted), cache.get(blind)]
            if args.null:
                _common.print_table(["code", *head], [null(code, pair, issuable, args.null)])
                continue
            print(f"\n{code}; {label}: {bits:.1f} of 36 bits are excluded\n")
            rows, found = [], []
            for first in LENGTHS:
                log10_e, right, spent = [], [], []
                for number in range(args.texts):
                    rng = np.random.default_rng([SEED, number])
                    source, seen = (
                        {name: rows[number % len(rows)] for name, rows in one.items()}
                        for one in pair
                    )
                    payload = payload_within(rng, fields)
                    plan = simulated(rng, source, seen, payload, profile)
                    both = [weigh(plan, seen, first, profile, one) for one in (None, issuable)]
                    log10_e.append([d.log10_e for d, _ in both])
                    right.append([d.payload == payload for d, _ in both])
                    spent.append([seconds for _, seconds in both])
                print(f"{code}, {first} tokens", file=sys.stderr, flush=True)
                e = np.array(log10_e)
                hits = (e >= FOUND).mean(axis=0)
                found.append(hits)
                rows.append([
                    str(first),
                    " → ".join(f"{x:.1f}" for x in np.median(e, axis=0)),
                    " → ".join(_share(h, args.texts) for h in hits),
                    " → ".join(_share(h, args.texts) for h in np.mean(right, axis=0)),
                    " → ".join(f"{x:.2f}" for x in np.median(spent, axis=0)),
                ])  # fmt: skip
            head = ["tokens", "log10 e", "e ≥ 10^6 %", "payload right %", "seconds"]
            _common.print_table(head, rows)
            for wanted in (0.5, 0.9):
                tokens = [needed([f[i] for f in found], wanted) for i in (0, 1)]
                print(f"{wanted:.0%} found from {tokens[0]} → {tokens[1]} tokens")


def _share(share: float, texts: int) -> str:
    low, high = wilson(round(share * texts), texts)
    return f"{100 * share:.0f} ({100 * low:.0f}-{100 * high:.0f})"


if __name__ == "__main__":
    main()

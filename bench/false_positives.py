"""How often an unmarked text looks marked: many keys over plain texts.

``python bench/false_positives.py --cache DIR`` reads the plain texts under 20 000 random keys and
prints the table of study.md. Under a fresh key only the secret order, the phases and the
indices change; a text's distributions are computed once a round and its intervals summed up for
each key; ``--prompted`` reads texts that quote a prompt which was marked with the key, with and
without the steps that both share; ``--again`` does so for texts that are long enough for a second
reading of some windows; ``--handled`` audits them after every kind of handling of
``bench/handling.py``, eight at a time under a key of their own, with all readings.
Texts of the study's cell ``plain`` are used when they are in the cache
(``bench/evidence.py generate``). Work goes in rounds over all texts. What is done stays in the
cache: a run that was stopped goes on, and the tables are of the rounds that are whole.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.detect.decode.evidence_sums import sum_evidence
from pura.detect.decode.likelihood import Intervals, default_model
from pura.detect.decode.prior import Issued
from pura.detect.decode.significance import combine, redraw_p
from pura.keys.epochs import epoch_key, epochs
from pura.measure.cache import Cache
from pura.measure.corpora import MAIN, SEED
from pura.measure.evaluate import wilson
from pura.scheme import Profile, SecretKey, ranks, schedule

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
TOKENS = 200
LONG_TOKENS = 1200
LONG_TEXTS = 4
HANDLED_TEXTS = 56  # in each kind of handling
HANDLED_TOKENS = 64  # of a text that is handled
TOGETHER = 8  # handled texts that share a key and are read side by side
PROMPT_TOKENS = 60  # of a prompt that is marked
PERSON_CHARACTERS = 500  # of what a person writes behind the quotation
AGAIN_TOKENS = 2_560  # the shortest texts of which a window may be read again
KEYS = 20_000
ROUND = 20  # keys a text; the first one of each round gets the redraw p-value too
REGISTERED = 5  # the first ones are weighed with a register as prior, too, and stopped early
DRAWS = 99
LEVELS = (0.1, 0.01, 0.001)
HALVES = ("", ", whole text", ", list")
REGISTER = ", register"  # as prior
STOPPED = ", stopped"  # at the first of so many looks that reaches 10
EPOCHS = ", a month of days"  # the mean over the keys of 30 days, all derived from one key
MONTH = "2026-11-01..2026-11-30"
LOOKS = 6
ENTRIES = 1000
CODES = {cell.code: cell for cell in MAIN}


def plain_texts(model: Any, cache: Cache) -> dict[str, Any]:
    """Return token ids by name; the part of the name before the dot says the kind."""
    from pura.model.tokenise import tokenise

    texts: dict[str, Any] = {}
    samples = json.loads((DATA / "samples" / "plain.json").read_text(encoding="utf-8"))["texts"]
    for i, sample in enumerate(samples):
        texts[f"model.sample-{i}"] = np.array(sample["tokens"])
    if "texts.plain" in cache:
        for i, ids in enumerate(cache.get("texts.plain")["ids"][:16]):
            texts[f"model.study-{i}"] = ids
    for kind, file in (("human", "human.txt"), ("repeated", "boilerplate.txt")):
        for i, text in enumerate((DATA / file).read_text(encoding="utf-8").split("\n%\n")):
            texts[f"{kind}.{i}"] = tokenise(model.tokenizer, text.strip()).ids
    stored = [f"texts.{cell.name}" for cell in MAIN if f"texts.{cell.name}" in cache]
    for i, ids in enumerate(cache.get(stored[0])["ids"][:5]):
        texts[f"foreign.{i}"] = ids
    texts = {name: ids[:TOKENS] for name, ids in texts.items()}
    # Long ones, where windows name most of the list.
    whole = (DATA / "human.txt").read_text(encoding="utf-8").replace("\n%\n", "\n\n")
    ids = tokenise(model.tokenizer, whole).ids
    for i in range(LONG_TEXTS):
        texts[f"long.{i}"] = ids[i * LONG_TOKENS : (i + 1) * LONG_TOKENS]
    return texts


def distributions(model: Any, ids: Any) -> Any:
    """Return what predicted each token but the first; float32 [L - 1, V]."""
    import torch

    with torch.inference_mode():
        fed = torch.from_numpy(np.ascontiguousarray(ids))[None, :-1]
        logits = model.network(input_ids=fed, use_cache=False).logits[0]
        table = torch.softmax(logits.double(), dim=1).float().numpy()
    return np.ascontiguousarray(table[:, : model.vocab_size])


def entropies(table: Any) -> Any:
    """Return float64 [L], in bits; 0 for the first token."""
    bits = [-float(row @ np.log2(np.maximum(row, 1e-300))) for row in table.astype(np.float64)]
    return np.maximum(np.array([0.0, *bits]), 0.0)


def intervals(table: Any, ids: Any, key: SecretKey, wanted: Any) -> tuple[Any, Any]:
    """Return ``lo`` and ``hi`` of the wanted tokens under one key; float64 [L] each.

    Args:
        table: Of :func:`distributions`.
        ids: int64 [L].
        key: Its secret order counts.
        wanted: int64 [S], tokens whose interval is asked for; others get the whole circle.
    """
    rank = ranks(key.vocabulary_order(table.shape[1])).astype(np.int32)
    lo, hi = np.zeros(ids.size), np.ones(ids.size)
    for t in wanted.tolist():
        row, token = table[t - 1], ids[t]
        lo[t] = row @ (rank < rank[token]).astype(np.float32)
        hi[t] = lo[t] + row[token]
    return np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)


def key_of(text: str, number: int) -> SecretKey:
    """Return one of the random keys."""
    label = f"{SEED}/null/{text}/{number}"
    return SecretKey(blake2b(label.encode(), digest_size=32).digest())


def again_texts(model: Any, cache: Cache) -> dict[str, Any]:
    """Return texts that are long enough for a second reading: two by a person, one by the model."""
    from pura.model.tokenise import tokenise

    whole = (DATA / "human.txt").read_text(encoding="utf-8").replace("\n%\n", "\n\n")
    ids = tokenise(model.tokenizer, whole).ids
    plain = [v for name, v in plain_texts(model, cache).items() if name.startswith("model.")]
    foreign = [v for name, v in plain_texts(model, cache).items() if name.startswith("foreign.")]
    made = np.concatenate([*plain, *foreign])
    texts = {"human.first": ids, "human.last": ids[-AGAIN_TOKENS:], "model.all": made}
    return {f"again.{name}": found[:AGAIN_TOKENS] for name, found in texts.items()}


def weigh_again(model: Any, name: str, ids: Any, numbers: range, cache: Cache) -> None:
    """Weigh a long text under some keys, with the windows that each of them names.

    All keys are decided first; then each window is read once, for the keys that name it.
    """
    from pura.detect.key_reading import KeyReading, KeyTrial, decode, evidence, weigh
    from pura.detect.windows import SIZE, Weights, windows_of

    profile = CODES["tbcc"].profile(model.vocab_size)
    weights = Weights(keys=1, readings=1, forms=(ids.size,))

    def read(text: Any) -> tuple[Any, ...]:
        table = distributions(model, text)
        own = table[np.arange(text.size - 1), text[1:]].astype(np.float64)
        return text, table, entropies(table), np.concatenate([[1.0], own])

    def tried(seen: tuple[Any, ...], number: int, weight: float, begin: int | None) -> KeyReading:
        text, table, entropy, own = seen
        key = key_of(name, number)
        wanted = 1 + np.flatnonzero(entropy[1:] >= profile.entropy_thresholds_bits[0])
        lo, hi = intervals(table, text, key, wanted)
        steps = schedule(text, entropy, key, profile)
        part = Intervals.of(steps, entropy, lo, hi, profile, probability=own)
        return decode(KeyTrial(log10_weight=weight, begin=begin), text, part, weigh(part))

    whole = read(ids)
    trials = {number: [tried(whole, number, weights.first, None)] for number in numbers}
    del whole
    asked: dict[int, list[int]] = {}
    for number, first in trials.items():
        again = windows_of(first, weights, 6.0)
        for begin in again.begins if again is not None else ():
            asked.setdefault(begin, []).append(number)
    for begin, some in asked.items():
        seen = read(ids[begin : begin + SIZE])
        for number in some:
            trials[number].append(tried(seen, number, weights.second(0), begin))
    first = np.array([found[0].exact.log10_e for found in trials.values()])
    both = np.array([evidence(found) for found in trials.values()])
    second = np.array([evidence(found[1:]) for found in trials.values()])
    cache.put(
        f"null.{default_model().fingerprint}.{numbers.start}.{name}",
        {"first": [first], "both": [both], "second": [second]},
    )


def weigh_prompted(model: Any, number: int) -> dict[str, tuple[float, int]]:
    """Weigh a person's text that quotes a prompt marked with the key, the prompt being known.

    Returns:
        log10 of the evidence and the steps that carry bits, with the shared contexts left out and
        with them kept.
    """
    from pura.embed import generate
    from pura.measure.evaluate import TextReading, decide
    from pura.model.evidence import read
    from pura.model.tokenise import tokenise
    from pura.scheme import Payload, contexts_before

    profile = CODES["tbcc"].profile(model.vocab_size)
    key = key_of("prompted", number)
    rng = np.random.default_rng([SEED, number])
    bits = "".join(map(str, rng.integers(0, 2, profile.payload_bits)))
    told = generate(
        model, "The weather report for the coast:", Payload(text=bits), key, profile,
        tokens=PROMPT_TOKENS, seed=number, ignore_eos=True,
    )  # fmt: skip
    human = (DATA / "human.txt").read_text(encoding="utf-8").split("\n%\n")
    own = human[number % len(human)].strip()[:PERSON_CHARACTERS]
    text = f"You wrote: “{told.text.strip()}” {own}"
    ids = tokenise(model.tokenizer, text).ids
    prompt = tokenise(model.tokenizer, told.text).ids.tolist()
    reading = read(model, ids, keys=[key], profile=profile, prompt_ids=prompt)
    seen = TextReading(
        ids=reading.ids, entropy_bits=reading.entropy_bits, probability=reading.probability,
        lo=reading.lo[0], hi=reading.hi[0],
    )  # fmt: skip
    out = {}
    for name, before in (
        ("left out", contexts_before([ids], [prompt], profile)),
        ("kept", frozenset[bytes]()),
    ):
        steps = schedule(ids, seen.entropy_bits, key, profile, before=before)
        out[name] = decide(seen, steps, profile, prompt_known=True).log10_e, len(steps)
    return out


def prompted_table(model: Any, keys: int) -> None:
    """Print the evidence over texts that quote a prompt which was marked with the same key."""
    found = [weigh_prompted(model, number) for number in range(keys)]
    rows = []
    for name in ("left out", "kept"):
        values = np.array([one[name][0] for one in found])
        e = 10.0 ** np.minimum(values, 300.0)
        hits = [str(int((values >= -np.log10(level)).sum())) for level in LEVELS]
        steps = f"{np.mean([one[name][1] for one in found]):.0f}"
        rows.append(
            [name, str(keys), steps, f"{e.mean():.3g}", *hits,
             f"{np.median(values):.2f}", f"{values.max():.2f}"]
        )  # fmt: skip
    head = ["shared contexts", "keys", "steps", "mean e", *(f"≥ {1 / x:g}" for x in LEVELS)]
    _common.print_table([*head, "median log10", "max log10"], rows)


def again_table(cache: Cache, names: list[str], starts: list[int]) -> None:
    """Print the evidence read once, of the windows alone, and together."""
    stored = [
        cache.get(f"null.{default_model().fingerprint}.{start}.{name}")
        for name in names
        for start in starts
    ]
    rows = []
    for column in ("first", "second", "both"):
        values = np.concatenate([one[column][0] for one in stored]) * np.log(10)
        e = np.exp(values)
        hits = [f"{(values >= -np.log(level)).sum()}" for level in LEVELS]
        error = e.std(ddof=1) / np.sqrt(e.size)
        most = f"{values.max() / np.log(10):.2f}"
        rows.append([column, str(e.size), f"{e.mean():.4f} ± {error:.4f}", *hits, most])
    head = ["", "keys", "mean ± s.e.", *(f"≥ {1 / x:g}" for x in LEVELS), "max log10"]
    _common.print_table(head, rows)


def weigh_handled(model: Any, texts: dict[str, Any], log: Path) -> None:
    """Audit plain texts after each kind of handling, and print the evidence of all readings."""
    from handling import HANDLINGS, handled
    from pura.detect.options import AuditText, Options
    from pura.detect.together import audit_documents
    from pura.detect.verdict.policy import Policy
    from pura.documents import from_text
    from pura.model.tokenise import decode

    rows = [json.loads(x) for x in log.read_text().splitlines()] if log.exists() else []
    known = {(row["text"], row["handling"]) for row in rows}
    profile = CODES["spc"].profile(model.vocab_size)
    options = Options(policy=replace(Policy(), draws=0))
    plain = {
        f"{name}.{start}": decode(model.tokenizer, ids[start : start + HANDLED_TOKENS])
        for start in range(0, TOKENS, HANDLED_TOKENS)
        for name, ids in texts.items()
        if ids.size >= start + HANDLED_TOKENS
    }
    names = list(plain)[:HANDLED_TEXTS]
    missing = (
        (names[start : start + TOGETHER], kind)
        for start in range(0, len(names), TOGETHER)
        for kind in HANDLINGS
        if (names[start], kind) not in known
    )
    with log.open("a", encoding="utf-8") as sink:
        for some, kind in missing:
            audits = audit_documents(
                [AuditText(document=from_text(handled(plain[n], kind, n), name=n)) for n in some],
                model=model,
                keys=[(key_of(f"{some[0]}.{kind}", 0), None)],
                profile=profile,
                options=options,
            )
            for name, audit in zip(some, audits, strict=True):
                if isinstance(audit, Exception):
                    raise audit
                row = {"text": name, "handling": kind, "log10_e": audit.evidence.log10_e}
                row |= {"verdict": audit.verdict, "readings": audit.readings}
                rows.append(row | {"named": any(m.payload.bits for m in audit.finding.marks)})
                sink.write(json.dumps(rows[-1]) + "\n")
            sink.flush()
    table = []
    for kind in (*HANDLINGS, "all"):
        mine = [row for row in rows if kind in ("all", row["handling"])]
        values = np.array([row["log10_e"] for row in mine])
        e = 10.0**values
        cells = [kind, str(e.size), f"{np.mean([row['readings'] for row in mine]):.1f}"]
        cells.append(f"{e.mean():.3f} ± {e.std(ddof=1) / np.sqrt(e.size):.3f}")
        cells += [str(int((e >= 1 / level).sum())) for level in LEVELS]
        cells += [f"{values.max():.2f}", str(sum(row["named"] for row in mine))]
        table.append(cells)
    head = ["handling", "texts", "readings, mean", "mean e ± s.e."]
    head += [*(f"e ≥ {1 / level:g}" for level in LEVELS), "max log10 e", "payloads named"]
    _common.print_table(head, table)


def register_of(text: str, number: int, payload_bits: int) -> Issued:
    """Return a register of random payloads, half of the prior weight on them."""
    label = f"{SEED}/register/{text}/{number}"
    rng = np.random.default_rng(int.from_bytes(blake2b(label.encode()).digest(), "little"))
    rows = rng.integers(0, 2, (ENTRIES, payload_bits)).astype(np.uint8)
    return Issued.of([rows], payload_bits, 0.5)


def weigh_text(
    model: Any, name: str, ids: Any, turn: int, cache: Cache, *, halves: bool = False
) -> None:
    """Weigh one text under the keys of a round and store the evidence.

    Args:
        model: Reads the text.
        name: Of the text.
        ids: int64 [L].
        turn: The round.
        cache: Keeps what is done.
        halves: No register, no stopping early, no redraws: a fifth of the work.
    """
    start = time.perf_counter()
    table = distributions(model, ids)
    entropy = entropies(table)
    log_e: dict[str, list[float]] = {code + half: [] for code in CODES for half in HALVES}
    log_e |= {code + more: [] for code in CODES for more in (REGISTER, STOPPED)}
    p: dict[str, list[float]] = {code: [] for code in CODES}
    own = table[np.arange(ids.size - 1), ids[1:]].astype(np.float64)
    own = np.concatenate([[1.0], own])
    least = next(iter(CODES.values())).profile(model.vocab_size).entropy_thresholds_bits[0]
    wanted = 1 + np.flatnonzero(entropy[1:] >= least)
    usable = 0
    for number in range(turn * ROUND, (turn + 1) * ROUND):
        key = key_of(name, number)
        lo, hi = intervals(table, ids, key, wanted)
        for code, cell in CODES.items():
            profile: Profile = cell.profile(model.vocab_size)
            steps = schedule(ids, entropy, key, profile)
            usable = len(steps)
            seen = Intervals.of(steps, entropy, lo, hi, profile, probability=own)
            found = sum_evidence(seen)
            for half, value in zip(HALVES, found, strict=True):
                log_e[code + half].append(value)
            if number % ROUND < REGISTERED and not halves:
                issued = register_of(name, number, profile.payload_bits)
                found = sum_evidence(seen, issued=issued)
                log_e[code + REGISTER].append(found.log_e)
                whole = (ids, entropy, lo, hi, own)
                log_e[code + STOPPED].append(stopped_early(whole, key, profile))
            if number % ROUND == 0 and not halves:
                test = redraw_p(seen, seed=number, draws=DRAWS, stop_after=None)
                p[code].append(test.p if len(steps) else np.nan)
    columns = {f"log_e.{c}": [np.array(v)] for c, v in log_e.items()}
    columns |= {f"p.{c}": [np.array(v)] for c, v in p.items()}
    columns["usable"] = [np.array([usable])]
    cache.put(store_name(name, turn), columns)
    print(f"{name}: round {turn}, {time.perf_counter() - start:.0f} s", flush=True)


def weigh_epochs(model: Any, name: str, ids: Any, cache: Cache) -> None:
    """Weigh one text under the keys of a range of days, and store the mean of their evidence."""
    table = distributions(model, ids)
    entropy = entropies(table)
    own = table[np.arange(ids.size - 1), ids[1:]].astype(np.float64)
    own = np.concatenate([[1.0], own])
    columns = {}
    for code, cell in CODES.items():
        profile: Profile = cell.profile(model.vocab_size)
        wanted = 1 + np.flatnonzero(entropy[1:] >= profile.entropy_thresholds_bits[0])
        days = []
        for day in epochs(MONTH):
            key = epoch_key(key_of(f"{name}{EPOCHS}", 0), day)
            lo, hi = intervals(table, ids, key, wanted)
            steps = schedule(ids, entropy, key, profile)
            seen = Intervals.of(steps, entropy, lo, hi, profile, probability=own)
            days.append(sum_evidence(seen).log_e)
        columns[f"log_e.{code}{EPOCHS}"] = [np.array([log_mean(days)])]
    cache.put(store_name(name, EPOCHS), columns)
    print(f"{name}: {MONTH}", flush=True)


def log_mean(logs: list[float]) -> float:
    """Return the log of the mean of what some logs are of."""
    return combine(np.array(logs) / np.log(10)) * float(np.log(10))


def stopped_early(seen: tuple[Any, ...], key: SecretKey, profile: Profile) -> float:
    """Return the log evidence at the first look that reaches 10, or at the end of the text.

    Args:
        seen: ids, entropy, lo, hi and token probability, [L] each.
        key: The key.
        profile: The profile.
    """
    size, value = seen[0].size, 0.0
    for look in range(1, LOOKS + 1):
        ids, entropy, lo, hi, own = (part[: size * look // LOOKS] for part in seen)
        steps = schedule(ids, entropy, key, profile)
        value = sum_evidence(
            Intervals.of(steps, entropy, lo, hi, profile, probability=own, text_tokens=size)
        ).log_e
        if value >= np.log(10):
            break
    return float(value)


def store_name(text: str, turn: int | str) -> str:
    """Name on the cache: another likelihood or round is another result."""
    return f"null.{default_model().fingerprint}.{'-'.join(CODES)}.{turn}.{text}"


def together(cache: Cache, text: str, turns: int) -> dict[str, Any]:
    """Return what all rounds say of a text."""
    stored = [cache.get(store_name(text, turn)) for turn in range(turns)]
    if store_name(text, EPOCHS) in cache:
        stored.append(cache.get(store_name(text, EPOCHS)))
    return {
        name: [np.concatenate([s[name][0] for s in stored if name in s])]
        for name in dict.fromkeys(name for s in stored for name in s)
        if name != "usable"
    }


def tables(results: dict[str, dict[str, Any]]) -> None:
    """Print the evidence and the p-values, by kind of text and together."""
    from scipy.stats import kstest

    kinds = [*dict.fromkeys(name.split(".")[0] for name in results), "all"]
    rows = []
    for code in (code + half for code in CODES for half in (*HALVES, REGISTER, STOPPED, EPOCHS)):
        for kind in kinds:
            chosen = [r for n, r in results.items() if kind in ("all", n.split(".")[0])]
            name = f"log_e.{code}"  # rounds of before the register as prior lack one
            values = np.concatenate([r[name][0] for r in chosen if name in r] or [np.zeros(0)])
            if values.size < 2:
                continue
            e = np.exp(values)
            error = e.std(ddof=1) / np.sqrt(e.size)
            cells = [code, kind, str(len(chosen)), str(e.size), f"{e.mean():.3f} ± {error:.3f}"]
            for level in LEVELS:
                hits = int((values >= -np.log(level)).sum())
                low, high = wilson(hits, e.size)
                cells.append(f"{hits / e.size:.5f} ({low:.5f}-{high:.5f})")
            rows.append([*cells, f"{values.max() / np.log(10):.2f}"])
    head = ["code", "texts of", "texts", "keys", "mean e ± s.e."]
    head += [f"P(e ≥ {1 / x:g})" for x in LEVELS] + ["max log10 e"]
    _common.print_table(head, rows)
    rng = np.random.default_rng(SEED)
    rows = []
    for code in CODES:
        column = f"p.{code}"
        p = np.concatenate([r[column][0] for r in results.values() if column in r] or [[]])
        p = p[np.isfinite(p)]
        if not p.size:
            continue
        # Uniform on k/(R+1), so moved down by a uniform share of a step it is uniform on [0, 1].
        test = kstest(p - rng.random(p.size) / (DRAWS + 1), "uniform")
        cells = [code, str(p.size), f"{test.statistic:.4f}", f"{test.pvalue:.3f}"]
        rows.append([*cells, *(f"{(p <= x).mean():.4f}" for x in (0.05, 0.1, 0.5))])
    _common.print_table(
        ["code", "p-values", "KS distance", "KS p", "P(p ≤ 0.05)", "P(p ≤ 0.1)", "P(p ≤ 0.5)"], rows
    )


def weigh_missing(model: Any, texts: dict[str, Any], turns: int, cache: Cache, args: Any) -> None:
    """Weigh every text that the cache lacks something of."""
    for name, ids in texts.items() if args.epochs else ():
        if store_name(name, EPOCHS) not in cache and ids.size <= TOKENS:
            weigh_epochs(model, name, ids, cache)
    for turn in range(turns):
        for name, ids in texts.items():
            if store_name(name, turn) not in cache:
                weigh_text(model, name, ids, turn, cache, halves=args.halves)


def main() -> None:
    """Weigh what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--keys", type=int, default=KEYS, help="over all texts together")
    parser.add_argument("--no-work", action="store_true", help="only print what is there")
    parser.add_argument("--halves", action="store_true", help="new rounds: the evidence alone")
    parser.add_argument("--again", action="store_true", help="long texts, with second readings")
    parser.add_argument("--prompted", action="store_true", help="quotations of marked prompts")
    parser.add_argument("--epochs", action="store_true", help="also a month of days' keys a text")
    parser.add_argument("--handled", action="store_true", help="handled, with all readings")
    parser.add_argument("--code", choices=list(CODES), help="only this one")
    args = parser.parse_args()
    if args.code:
        for code in set(CODES) - {args.code}:
            del CODES[code]
    import torch

    torch.set_num_threads(1)
    cache = Cache(args.cache)
    model = _common.load_builtin()
    if args.again:
        starts, texts = list(range(0, args.keys, ROUND)), again_texts(model, cache)
        for start in starts:
            for name, ids in texts.items():
                if f"null.{default_model().fingerprint}.{start}.{name}" not in cache:
                    weigh_again(model, name, ids, range(start, start + ROUND), cache)
                    print(f"{name}: {start}, {time.process_time():.0f} s", flush=True)
        _common.print_facts("Second readings under the null", SEED)
        again_table(cache, list(texts), starts)
        return
    if args.prompted:
        _common.print_facts("A prompt that was marked under the same key", SEED)
        prompted_table(model, args.keys)
        return
    texts = plain_texts(model, cache)
    if args.handled:
        _common.print_facts("False positives after handling, all readings", SEED)
        short = {name: ids for name, ids in texts.items() if not name.startswith("long.")}
        weigh_handled(model, short, args.cache / "handled.jsonl")
        return
    turns = -(-args.keys // (ROUND * len(texts)))
    if not args.no_work:
        weigh_missing(model, texts, turns, cache, args)
    whole = 0
    while whole < turns and all(store_name(name, whole) in cache for name in texts):
        whole += 1
    _common.print_facts("False positives", SEED)
    print(f"likelihood table {default_model().fingerprint}, {whole * ROUND} keys a text\n")
    if whole or args.epochs:
        tables({name: together(cache, name, whole) for name in texts})


if __name__ == "__main__":
    main()

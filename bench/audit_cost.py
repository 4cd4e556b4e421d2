"""What a whole audit costs beside the bare forward pass, many keys, many texts side by side.

Run ``python bench/audit_cost.py``. All ways go over the same text in turn, in one thread; the times
are processor seconds, so that a busy machine meets all of them alike, medians of several rounds.
The bare pass is ``model(ids).logits`` of the network as transformers loads and runs it, *own pass*
the same of ours; an audit is everything from the text to its record. Peaks of memory are those of
processes of their own. ``--model NAME`` takes an installed model, for which the sample carries no
mark; peaks stay those of the built-in one.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import pstats
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.base.progress import Stage
from pura.detect.options import Options
from pura.detect.restore.variants import readings_of
from pura.detect.together import audit_text
from pura.model.evidence import Request, read, read_documents
from pura.model.tokenise import tokenise
from pura.scheme import Profile, SecretKey

SEED = 20_261_122
LENGTHS = (200, 1000, 4000)
BATCHES = (1, 4, 16)
READING = 5  # the step of an audit
SAMPLES = Path(__file__).resolve().parents[1] / "tests" / "data" / "samples"
QUOTES = str.maketrans({'"': "”", "'": "’"})


def sample() -> tuple[str, SecretKey, Profile]:
    """Return marked sample texts in a row, straight quotes only, their key and profile."""
    data = json.loads((SAMPLES / "marked.json").read_text(encoding="utf-8"))
    text = "\n\n".join(str(entry["text"]).strip() for entry in data["texts"])
    for curly, straight in (("“", '"'), ("”", '"'), ("’", "'"), ("—", "-"), ("–", "-")):
        text = text.replace(curly, straight)
    return text, SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])


def profile_for(model: Any, profile: Profile) -> Profile:
    """Return the sample's profile, or the usual one of a model with another vocabulary."""
    return profile if profile.vocab_size == model.vocab_size else Profile.new(model)


def first_tokens(model: Any, text: str, tokens: int) -> str:
    """Return as much of a text, repeated where it is too short, as makes so many tokens."""
    while (found := tokenise(model.tokenizer, text)).ids.size < tokens:
        text += "\n\n" + text
    return text[: int(found.spans[tokens - 1, 1])]


def with_quotes(text: str, every: int) -> str:
    """Put every so many sentences between curly quotes, as office software makes them."""
    parts = text.split(". ")
    for number in range(0, len(parts), every):
        parts[number] = f"“{parts[number]}”"
    return ". ".join(parts)


def ways_of(model: Any, plain: Any, tokens: int, keys: int) -> dict[str, Callable[[], Any]]:
    """Return the ways to go over the first tokens of the sample."""
    import torch

    whole, key, profile = sample()
    profile = profile_for(model, profile)
    text = first_tokens(model, whole, tokens)
    ids = tokenise(model.tokenizer, text).ids
    many = [SecretKey(SEED.to_bytes(28, "big") + i.to_bytes(4, "big")) for i in range(keys)]

    def passed(words: str, network: Any) -> Callable[[], Any]:
        ids = tokenise(model.tokenizer, words).ids
        fed = torch.from_numpy(ids)[None].to(model.device.torch_device)

        def once() -> Any:
            with torch.inference_mode():
                return network(fed).logits

        return once

    def audited(words: str) -> Any:
        return audit_text(
            words, model=model, keys=[(key, None)], profile=profile, options=Options()
        )

    several = {f"{keys} keys": lambda: read(model, ids, keys=many, profile=profile)}
    return {
        "bare": passed(text, plain),
        "own pass": passed(text, model.network),
        "reading": lambda: read(model, ids, keys=[key], profile=profile),
        **(several if keys else {}),
        "audit": lambda: audited(text),
        "audit, quotes in each fifth sentence": lambda: audited(with_quotes(text, 5)),
        "audit, quotes in every sentence": lambda: audited(with_quotes(text, 1)),
        "bare, quotes in every sentence": passed(with_quotes(text, 1), plain),
    }


def taken(way: Callable[[], Any]) -> float:
    """Return the processor seconds of one call."""
    start = time.process_time()
    way()
    return time.process_time() - start


def cost_table(model: Any, lengths: list[int], keys: int, rounds: int) -> None:
    """Print processor seconds, and ratios to the bare pass, median by median."""
    rows, plain = [], _common.plain_network(model)
    for tokens in lengths:
        ways = ways_of(model, plain, tokens, keys)
        if tokens == lengths[0]:  # it has warmed up what the longer ones use
            for way in ways.values():
                way()
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, way in ways.items():
                times[name].append(taken(way))
        middle = {name: statistics.median(took) for name, took in times.items()}
        row = [str(tokens), f"{middle['bare']:.2f}"]
        row += [f"{middle[n] / middle['bare']:.2f}" for n in ways if n != "bare"]
        row.append(f"{middle[f'{keys} keys'] / middle['reading']:.2f}" if keys else "–")
        rows.append(row)
        print(" ".join(row), flush=True)
    heads = ["tokens", "bare, s", *(f"{n} ×" for n in ways if n != "bare"), "keys : reading"]
    _common.print_table(heads, rows)


def batch_table(model: Any, batches: list[int], rounds: int) -> None:
    """Print tokens a processor second of texts side by side against one at a time."""
    whole, key, profile = sample()
    profile = profile_for(model, profile)
    ids = tokenise(model.tokenizer, first_tokens(model, whole, 4000)).ids
    rng = np.random.default_rng(SEED)
    ends = np.cumsum(rng.integers(60, 260, max(batches)))
    texts = [ids[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    rows = []
    for count in batches:
        some = [Request(texts=[ids]) for ids in texts[:count]]
        tokens = sum(text.size for text in texts[:count])

        def alone(requests: list[Request] = some) -> None:
            for request in requests:
                read_documents(model, [request], keys=[key], profile=profile)

        def together(requests: list[Request] = some) -> None:
            read_documents(model, requests, keys=[key], profile=profile)

        together()
        pairs = [(taken(alone), taken(together)) for _ in range(rounds)]
        ratio = statistics.median(a / b for a, b in pairs)
        rates = [tokens / statistics.median(column) for column in zip(*pairs, strict=True)]
        rows.append([str(count), str(tokens), *(f"{r:.0f}" for r in rates), f"{ratio:.2f}"])
        print(" ".join(rows[-1]), flush=True)
    heads = ["texts", "tokens", "one at a time, tokens/s", "side by side, tokens/s", "gain ×"]
    _common.print_table(heads, rows)


def peak_table(tokens: int) -> None:
    """Print the most memory that a reading takes, of a text and of the same one with quotes."""
    rows = []
    for every in (0, 1):
        words = [sys.executable, __file__, "--peak", str(tokens), str(every)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        quotes, peak = done.stdout.split()[-2:]
        rows.append([quotes, f"{int(peak) / 1e9:.2f}"])
    rows[1].append(f"{float(rows[1][1]) / float(rows[0][1]):.2f}")
    rows[0].append("")
    _common.print_table([f"quotes in {tokens} tokens", "peak, GB", "times"], rows)


def print_peak(tokens: int, every: int) -> None:
    """Read one text and print how many quotes it has and the most memory that was taken."""
    model = _common.load_builtin("cpu")
    whole, key, profile = sample()
    text = first_tokens(model, whole, tokens)
    if every:
        text = with_quotes(text, every)
    _, found, _ = readings_of(model, text, restored=True)
    read_documents(model, [Request(texts=[one.ids for one in found])], keys=[key], profile=profile)
    print(sum(text.count(quote) for quote in "“”"), _common.peak_memory_bytes())


def long_table(model: Any, lengths: list[int]) -> None:
    """Print what texts of some lengths take, shortest first, and how it looks to who waits."""
    whole, key, profile = sample()
    rows = []
    for tokens in sorted(lengths):
        text = first_tokens(model, whole, tokens)
        checked: list[float] = []
        told: list[tuple[float, float]] = []  # of the reading: seconds, and the share that is done

        def tell(stage: Stage, told: list[tuple[float, float]] = told) -> None:
            if stage.number == READING and stage.total:
                told.append((time.process_time(), stage.done / stage.total))

        def check(checked: list[float] = checked) -> None:
            checked.append(time.process_time())

        begun = time.process_time()
        audit_text(
            text,
            model=model,
            keys=[(key, None)],
            profile=profile_for(model, profile),
            progress=tell,
            checkpoint=check,
        )
        ended = time.process_time()
        at, share = np.array(told).T
        off = np.abs((at - at[0]) / (at[-1] - at[0]) - share).max()
        waits = np.diff([begun, *checked, ended])
        rows.append(
            [
                str(tokens),
                f"{(ended - begun) / tokens * 1000:.2f}",
                f"{(at[-1] - at[0]) / (ended - begun):.0%}",
                f"{_common.peak_memory_bytes() / 1e9:.2f}",
                f"{off:.1%}",
                f"{waits.max():.2f}",
            ]
        )
        print(" ".join(rows[-1]), flush=True)
    heads = ["tokens", "ms a token", "of it reading", "peak so far, GB"]
    _common.print_table([*heads, "progress off by", "longest until it stops, s"], rows)


def print_profile(model: Any, tokens: int) -> None:
    """Print where the processor time of one audit goes."""
    way = ways_of(model, None, tokens, 1)["audit"]
    profile = cProfile.Profile(timer=time.process_time)
    profile.runcall(way)
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("cumulative").print_stats(
        r"run\.py|feeding|passes|tiles|orders|trial|exact|chain|significance|tokenise|facts|schedule"
    )
    print("\n".join(line for line in out.getvalue().splitlines()[6:32] if line.strip()))


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--batches", type=int, nargs="*", default=list(BATCHES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, default=8000, help="tokens of the text for the peaks")
    parser.add_argument("--model", default="", help="installed model; left out: the built-in one")
    parser.add_argument("--long", type=int, nargs="+", help="only these lengths, watched")
    parser.add_argument("--peak", type=int, nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    if args.peak:
        print_peak(*args.peak)
        return
    _common.print_facts("What an audit costs", SEED)
    model = _common.load_builtin("cpu", instead=args.model)
    if args.long:
        long_table(model, args.long)
        return
    cost_table(model, args.lengths, args.keys, args.rounds)
    print_profile(model, args.lengths[0])
    if args.memory:
        peak_table(args.memory)
    if args.batches:
        batch_table(model, args.batches, args.rounds)


if __name__ == "__main__":
    main()

"""What a CUDA device gives: the same evidence, how fast, in how much memory.

Run ``python bench/device.py`` on a machine with one; ``--device cpu`` runs the same program where
there is none. Evidence is compared with that of the processor in float32. ``bare`` is the model's
own ``model(ids).logits``, *reading* our pass for one key and for several. Times are of the clock,
medians of interleaved runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from audit_cost import SAMPLES, SEED, first_tokens, sample, with_quotes
from pura.base.errors import ModelError
from pura.detect.options import AuditText, Options
from pura.detect.together import audit_documents, audit_text
from pura.documents import from_text
from pura.model.evidence import read
from pura.model.product import product
from pura.model.tokenise import tokenise
from pura.model.window_scheduler import Passes
from pura.scheme import Profile, SecretKey

KEYS = (1, 16)
PARTS = ("roofline", "evidence", "own", "company", "pile", "cost", "long", "memory")


def models(device: str, formats: list[str]) -> dict[str, Any]:
    """Return the built-in model on the processor, then on the device in each number format."""
    from pura.base.paths import user_paths
    from pura.model.device import choose_device
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    known = ModelStore(user_paths().models).install_builtin()
    found = {"processor, float32": load_model(known, choose_device("cpu"))}
    for dtype in formats:
        found[f"device, {dtype}"] = load_model(known, choose_device(device, dtype))
    return found


def evidence_table(readers: dict[str, Any]) -> None:
    """Print what each reader finds in the marked samples, and how far it is from the first."""
    rows = []
    first: list[float] = []
    for scheme in ("marked", "marked-tbcc"):
        data = json.loads((SAMPLES / f"{scheme}.json").read_text(encoding="utf-8"))
        key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
        for name, model in readers.items():
            audits = [
                audit_text(
                    entry["text"], model=model, keys=[(key, None)], profile=profile,
                    options=Options(),
                )
                for entry in data["texts"]
            ]  # fmt: skip
            found = [audit.evidence.log10_e for audit in audits]
            right = sum(
                audit.decoded.bits == entry["payload"]
                for audit, entry in zip(audits, data["texts"], strict=True)
            )
            first = found if name == next(iter(readers)) else first
            apart = max(abs(a - b) for a, b in zip(found, first, strict=True))
            whole = sum(found) / sum(first)
            payloads = f"{right} of {len(found)}"
            rows.append([f"{scheme}: {name}", f"{whole:.5f}", f"{apart:.5f}", payloads])
    heads = ["texts and reader", "kept of log10 e", "largest difference", "payloads right"]
    _common.print_table(heads, rows)


def own_table(readers: dict[str, Any], wait: Callable[[], Any]) -> None:
    """Print how far our network's logits are from transformers', and its time by theirs."""
    import torch

    rows = []
    for name, model in readers.items():
        plain = _common.plain_network(model)
        for tokens in (1, 200, 1000):
            ids = tokenise(model.tokenizer, first_tokens(model, sample()[0], tokens)).ids
            fed = torch.from_numpy(ids)[None].to(plain.device)
            with torch.inference_mode():
                own, theirs = (net(fed).logits.float() for net in (model.network, plain))
                apart = float((own - theirs).abs().max())
                ways = {n: partial(net, fed) for n, net in (("own", model.network), ("", plain))}
                took = timed(ways, wait)
            rows.append([f"{name}, {tokens}", f"{apart:.1e}", f"{took['own'] / took['']:.2f}"])
    _common.print_table(["reader, tokens", "largest difference of logits", "time ×"], rows)


def company_table(readers: dict[str, Any]) -> None:
    """Print what each reader finds in marked texts full of quotes, alone and side by side."""
    data = json.loads((SAMPLES / "marked.json").read_text(encoding="utf-8"))
    key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
    texts = [with_quotes(entry["text"], 1) for entry in data["texts"][:12]]
    rows, first = [], 0.0
    for name, model in readers.items():

        def found(some: list[str], model: Any = model) -> list[float]:
            asked = [AuditText(document=from_text(text, name="text")) for text in some]
            audits = audit_documents(
                asked, model=model, keys=[(key, None)], profile=profile, options=Options()
            )
            return [audit.evidence.log10_e for audit in audits]

        alone, together = [found([text])[0] for text in texts], found(texts)
        first = first or sum(alone)
        apart = max(abs(a - b) for a, b in zip(alone, together, strict=True))
        rows.append([name, f"{sum(alone) / first:.5f}", f"{apart:.5f}"])
    _common.print_table(["reader", "kept of log10 e", "together and alone, at most"], rows)


def timed(ways: dict[str, Callable[[], Any]], wait: Callable[[], Any]) -> dict[str, float]:
    """Return the median seconds of each way, waiting for the device."""

    def waited(way: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: (way(), wait())

    times = _common.interleaved({n: waited(w) for n, w in ways.items()}, rounds=3)
    return {name: statistics.median(took) for name, took in times.items()}


def ways_of(model: Any, tokens: int) -> dict[str, Callable[[], Any]]:
    """Return the ways to go over the first tokens of the sample."""
    import torch

    whole, key, profile = sample()
    text = first_tokens(model, whole, tokens)
    ids = tokenise(model.tokenizer, text).ids
    fed = torch.from_numpy(ids)[None].to(model.device.torch_device)
    many = [SecretKey(SEED.to_bytes(31, "big") + bytes([n])) for n in range(max(KEYS))]

    def bare() -> Any:
        with torch.inference_mode():
            return model.network(fed).logits

    ways: dict[str, Callable[[], Any]] = {"bare": bare}
    for keys in KEYS:
        ways[f"reading, {keys}"] = partial(read, model, ids, keys=many[:keys], profile=profile)
    ways["audit"] = lambda: audit_text(
        text, model=model, keys=[(key, None)], profile=profile, options=Options()
    )
    return ways


def cost_table(readers: dict[str, Any], lengths: list[int], wait: Callable[[], Any]) -> None:
    """Print the seconds of the bare pass, and the others as multiples of it."""
    rows = []
    for name, model in readers.items():
        for tokens in lengths:
            found = timed(ways_of(model, tokens), wait)
            bare = found.pop("bare")
            ratios = [f"{took / bare:.2f}" for took in found.values()]
            rows.append([f"{name}, {tokens}", f"{bare * 1000:.1f}", *ratios])
            print(" ".join(rows[-1]), flush=True)
    _common.print_table(["reader, tokens", "bare, ms", *(f"{n} ×" for n in found)], rows)


def pile_table(
    readers: dict[str, Any], count: int, wait: Callable[[], Any], clock: Callable[[], float]
) -> None:
    """Print tokens a second of a pile of texts of 50 to 400 tokens, as found and half with quotes.

    The bare pass is that of the network as transformers loads it, logits and all, 16 texts of about
    the same length at a time.
    """
    import torch

    rng = np.random.default_rng(SEED)
    rows = []
    for name, model in readers.items():
        whole, key, profile = sample()
        text = first_tokens(model, whole, 4000)
        spans = tokenise(model.tokenizer, text).spans
        lengths = rng.integers(50, 401, count)
        starts = rng.integers(0, 4000 - 400, count)
        found = [
            text[int(spans[a, 0]) : int(spans[a + n - 1, 1])]
            for a, n in zip(starts, lengths, strict=True)
        ]
        plain = _common.plain_network(model)
        quoted = [with_quotes(one, 1) if n % 2 else one for n, one in enumerate(found)]
        for pile, texts in (("as found", found), ("half with quotes", quoted)):
            ids = [tokenise(model.tokenizer, one).ids for one in texts]
            tokens, ordered = sum(one.size for one in ids), sorted(ids, key=len)

            def bare(plain: Any = plain, ids: Any = ordered) -> None:
                with torch.inference_mode():
                    for n in range(0, count, 16):
                        fed = torch.nn.utils.rnn.pad_sequence(
                            [torch.from_numpy(one) for one in ids[n : n + 16]], batch_first=True
                        )
                        _ = plain(fed.to(plain.device)).logits

            def audit(
                model: Any = model, texts: Any = texts, key: Any = key, p: Any = profile
            ) -> None:
                for n in range(0, count, 64):
                    some = [
                        AuditText(document=from_text(one, name="text")) for one in texts[n:][:64]
                    ]
                    audit_documents(
                        some, model=model, keys=[(key, None)], profile=p, options=Options()
                    )

            rounds = 1 if count > 500 else 2
            rates = [tokens / min(measured(way, wait, clock, rounds)) for way in (bare, audit)]
            rows.append([f"{name}, {pile}", str(tokens), *(f"{rate:.0f}" for rate in rates)])
            rows[-1].append(f"{rates[1] / rates[0]:.2f}")
            print(" ".join(rows[-1]), flush=True)
    heads = ["reader, pile", "tokens", "bare, tokens/s", "audit, tokens/s", "audit : bare"]
    _common.print_table(heads, rows)


def measured(
    way: Callable[[], Any],
    wait: Callable[[], Any],
    clock: Callable[[], float] = time.perf_counter,
    rounds: int = 2,
) -> list[float]:
    """Return the seconds of some calls."""
    found = []
    for _ in range(rounds):
        begun = clock()
        way()
        wait()
        found.append(clock() - begun)
    return found


def long_table(model: Any, lengths: list[int], wait: Callable[[], Any]) -> None:
    """Print time a token and the device's peak of memory of long texts."""
    import torch

    whole, key, profile = sample()
    rows = []
    for tokens in lengths:
        ids = tokenise(model.tokenizer, first_tokens(model, whole, tokens)).ids
        torch.cuda.reset_peak_memory_stats()
        took = min(measured(partial(read, model, ids, keys=[key], profile=profile), wait))
        peak = torch.cuda.max_memory_allocated() / 1e9
        rows.append([str(tokens), f"{took:.2f}", f"{took / tokens * 1e6:.1f}", f"{peak:.2f}"])
    _common.print_table(["tokens", "s", "µs a token", "peak, GB"], rows)


def short_memory(model: Any) -> None:
    """Print what a reading does on a device that is nearly full, and on one that is full."""
    import torch

    whole, key, profile = sample()
    ids = tokenise(model.tokenizer, first_tokens(model, whole, 2000)).ids
    wanted = read(model, ids, keys=[key], profile=profile).hi
    for room in (1500, 400, 120, 40, 8):
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        held = torch.empty(max(free - room * 2**20, 0), dtype=torch.uint8, device="cuda")
        try:
            found = read(model, ids, keys=[key], profile=profile).hi
            said = f"read; largest difference {np.nanmax(np.abs(found - wanted)):.1e}"
        except ModelError as error:
            said = str(error)
        print(f"{room} MiB free: {said}", flush=True)
        del held


def roofline(model: Any, lengths: list[int], wait: Callable[[], Any], clock: Any) -> None:
    """Print what the machine does in a copy and in products, and what a pass asks of both."""
    import torch

    device, dtype = model.head.weight.device, model.head.weight.dtype
    size = 1 << (28 if device.type == "cuda" else 24)
    source = torch.zeros(size, device=device)
    target = torch.empty_like(source)
    copied = 8 * size / min(measured(lambda: target.copy_(source), wait, clock))
    print(f"copy: {copied / 1e9:.1f} GB/s, read and written")
    edge = 8192 if device.type == "cuda" else 1024
    speed = {}
    for kind in (torch.float32, torch.bfloat16):
        left = torch.randn(edge, edge, device=device).to(kind)
        multiply = partial(product, left, left)
        with torch.inference_mode():  # as the layers of a network do
            multiply()
            speed[kind] = 2 * edge**3 / min(measured(multiply, wait, clock))
        print(f"product of matrices, {kind}: {speed[kind] / 1e12:.3f} TFLOP/s", flush=True)
    config, rows = model.network.config, []
    weights = Passes(model).weights
    for length in lengths:
        ids = torch.arange(length, device=device)[None] + 300
        with torch.inference_mode():
            took = min(measured(lambda ids=ids: model.network(input_ids=ids), wait, clock))  # type: ignore[misc]
        seen = 2 * length * config.num_hidden_layers * config.hidden_size  # half of a square
        operations = 2 * (weights + model.head.weight.numel()) + seen
        read_ = (weights + model.head.weight.numel()) * dtype.itemsize / length
        least = max(operations / speed[dtype], read_ / copied)
        rows.append(
            [
                str(length),
                f"{operations / 1e6:.0f}",
                f"{read_ / 1e6:.2f}",
                f"{operations / speed[dtype] * 1e3:.2f}",
                f"{read_ / copied * 1e3:.2f}",
                f"{took / length * 1e3:.2f}",
                f"{took / length / least:.2f}",
            ]
        )
    _common.print_table(
        [
            "tokens",
            "million operations a token",
            "MB of weights a token",
            "ms by products",
            "ms by copies",
            "ms measured",
            "times the larger",
        ],
        rows,
    )


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument(
        "--dtypes", nargs="+", default=["float32", "bfloat16", "float16"], help="on the device"
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=[200, 1000, 4000, 16000])
    parser.add_argument("--texts", type=int, default=64, help="of the pile")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    args = parser.parse_args()
    import torch

    cuda = args.device == "cuda"
    wait: Callable[[], Any] = torch.cuda.synchronize if cuda else lambda: None
    if not cuda:
        torch.set_num_threads(1)
    _common.print_facts("On a device", SEED)
    # Other programs leave a processor's seconds alone; a device has only those of the clock.
    clock = time.perf_counter if cuda else time.process_time
    readers = models(args.device, args.dtypes)
    if "roofline" in args.parts:
        roofline(readers[f"device, {args.dtypes[0]}"], [1, 16, *args.lengths[:2]], wait, clock)
    if "evidence" in args.parts:
        evidence_table(readers)
    if "company" in args.parts:
        company_table(readers)
    del readers["processor, float32"]
    if "own" in args.parts:
        own_table(readers, wait)
    if "pile" in args.parts:
        pile_table(readers, args.texts, wait, clock)
    if "cost" in args.parts:
        cost_table(readers, args.lengths, wait)
    if cuda and "long" in args.parts:
        long_table(next(iter(readers.values())), [4_000, 100_000], wait)
    if cuda and "memory" in args.parts:
        short_memory(next(iter(readers.values())))


if __name__ == "__main__":
    main()

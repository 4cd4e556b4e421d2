"""Marked generation against plain sampling of the transformers library, side by side.

Run ``python bench/generation.py``; ``--tokens`` and ``--rounds`` make it longer. Every way writes
the same number of tokens from the same prompts: ``plain`` is ``model.generate(do_sample=True)``
from the whole distribution, ``marked`` is ours, ``processor`` is the library's greedy loop around
our logits processor (serving.md), ``keys`` is ours with another key in every row. A second
table repeats the vocabulary of the model up to 262,144 tokens, as wide as any in use; such a model
writes nonsense at the price of a real one. ``--model NAME`` takes an installed model, without that
table. On a processor the times are its own seconds, so that other programs do not count; on a GPU
they are those of the clock.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common

SEED = 20_261_121
PROMPT = "The city council met on Tuesday evening to discuss the new plan for the harbour and"
WAYS = ("plain", "marked", "processor", "keys")
ROUNDS = {1: 7, 16: 3, 32: 3}
WIDE = 262_144


def widened(model: Any) -> Any:
    """Return the same model with its vocabulary repeated, a little noise on every copy."""
    import torch

    weight = model.network.get_input_embeddings().weight
    copies = weight.repeat(-(-WIDE // len(weight)), 1)[:WIDE].clone()
    noise = torch.Generator(device=weight.device).manual_seed(SEED)
    copies.add_(torch.randn(copies.shape, generator=noise, device=weight.device), alpha=0.01)
    model.network.set_input_embeddings(torch.nn.Embedding.from_pretrained(copies))
    head = torch.nn.Linear(copies.shape[1], WIDE, bias=False, device="meta")
    head.weight = torch.nn.Parameter(copies, requires_grad=False)
    model.network.set_output_embeddings(head)
    model.network.config.vocab_size = WIDE
    return dataclasses.replace(model, vocab_size=WIDE)


def make_ways(model: Any, batch: int, tokens: int) -> dict[str, Callable[[], Any]]:
    """Return the ways to write ``batch`` texts of ``tokens`` tokens."""
    import torch

    from pura.embed import generate_batch
    from pura.embed.processor import PuraLogitsProcessor
    from pura.scheme import Payload, Profile, SecretKey

    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    key = SecretKey(bytes(range(32)))
    keys = [SecretKey(bytes([i]) * 32) for i in range(batch)]
    payload = Payload.from_int(0x123456789, 36)
    start = model.tokenizer(PROMPT)["input_ids"]
    ids = torch.tensor([start] * batch).to(model.device.torch_device)

    def library(*processors: Any, sample: bool = True) -> Any:
        torch.manual_seed(SEED)
        with torch.inference_mode():
            return model.network.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                **({"do_sample": True, "top_k": 0} if sample else {"do_sample": False}),
                min_new_tokens=tokens,
                max_new_tokens=tokens,
                logits_processor=list(processors),
            )

    def ours(secret: Any) -> Any:
        return generate_batch(
            model,
            [start] * batch,
            [payload] * batch,
            secret,
            profile,
            tokens=tokens,
            seed=SEED,
            ignore_eos=True,
            batch_size=batch,
        )

    return {
        "plain": library,
        "marked": lambda: ours(key),
        "processor": lambda: library(
            PuraLogitsProcessor(key, payload, profile, seed=SEED), sample=False
        ),
        "keys": lambda: ours(keys),
    }


def table(model: Any, tokens: int, rounds: int | None, batches: list[int]) -> None:
    """Print medians of interleaved runs."""
    clock = time.process_time if model.device.torch_device.type == "cpu" else time.perf_counter
    rows = []
    for batch in batches:
        ways = make_ways(model, batch, tokens)
        times = _common.interleaved(ways, rounds=rounds or ROUNDS[batch], clock=clock)
        rows.append(
            [
                str(batch),
                *(f"{statistics.median(times[name]) / tokens * 1000:.1f}" for name in WAYS),
                *(f"{_common.median_ratio(times, name, 'plain'):.3f}" for name in WAYS[1:]),
                f"{max(times['plain']) / min(times['plain']):.2f}",
            ]
        )
    print(
        f"Milliseconds a step on {model.device.name}, {model.vocab_size:,} tokens to choose from, "
        f"{tokens} written "
        "(medians; × = median ratio to plain)"
    )
    heads = ["batch", *WAYS, *(f"{name} ×" for name in WAYS[1:]), "plain slowest/fastest"]
    _common.print_table(heads, rows)


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--batches", type=int, nargs="+", choices=ROUNDS, default=list(ROUNDS))
    parser.add_argument("--model", default="", help="installed model; left out: the built-in one")
    options = _common.parse(parser, tokens=4, rounds=1, batches=[1])
    import torch

    _common.print_facts("Generation", SEED)
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        model = _common.load_builtin(device, instead=options.model, library=True)
        table(model, options.tokens, options.rounds, options.batches)
        if not options.model:
            table(widened(model), options.tokens, options.rounds, options.batches)


if __name__ == "__main__":
    main()

"""Speculative decoding of marked texts: how often a draft is accepted, and what it saves.

Run ``python bench/drafts.py``. The first table asks, at each token of texts that the built-in model
wrote with a mark, what a draft model would have proposed: drawn at the row's own point in the
secret order (as the engine offers), drawn by itself, and what rejection sampling would accept at
best (1 - total variation). Draft models are the built-in one in bfloat16, and without some of its
last layers. The second table is ``generate()`` of transformers with prompt lookup, with and without
a mark, on prompts that are repeated in the text; times are the processor's. The third writes texts
with and without drafts by one seed and counts the draws that a longer batch rounds another way: a
text counts up to the first, since behind it all differs.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common

SEED = 20_261_126
PROMPTS = (
    "The city council met on Tuesday evening to discuss the new plan for the harbour and",
    "A history of the lighthouse begins with the families who lived on the rock:",
    "Dear customers, this autumn we are changing how your invoices are sent.",
)
LIST = "Repeat this list: red, blue, green, white, black, brown, grey. The list again: red, blue,"


def drafts_of(model: Any) -> dict[str, Any]:
    """Return draft models by name."""
    import torch

    found = {"bfloat16": copy.deepcopy(model.network).to(torch.bfloat16)}
    for layers in (2, 6):
        shorter = copy.deepcopy(model.network)
        shorter.model.layers = shorter.model.layers[:-layers]
        shorter.config.num_hidden_layers -= layers
        found[f"{layers} layers fewer"] = shorter
    return found


def acceptance(model: Any, tokens: int) -> None:
    """Print the first table."""
    import numpy as np
    import torch

    from pura.embed import MarkingEngine, generate
    from pura.scheme import Payload, Profile, SecretKey

    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    key, payload = SecretKey(bytes(range(32))), Payload.from_int(0x123456789, 36)
    networks = {"itself": model.network, **drafts_of(model)}
    rng = np.random.default_rng(SEED)
    agreed: dict[str, list[tuple[bool, bool, float]]] = {name: [] for name in networks}
    for number, prompt in enumerate(PROMPTS):
        made = generate(
            model, prompt, payload, key, profile, tokens=tokens, seed=number, ignore_eos=True
        )
        start = model.tokenizer(prompt)["input_ids"]
        ids = torch.tensor([[*start, *made.ids.tolist()]])
        with torch.inference_mode():
            said = {
                name: network(input_ids=ids).logits[0, len(start) - 1 : -1].float()
                for name, network in networks.items()
            }
        for name, logits in said.items():
            engine = MarkingEngine()
            row = engine.add(key, payload, profile, np.random.default_rng(number))
            for at, token in enumerate(made.ids.tolist()):
                p = torch.softmax(said["itself"][at].double(), 0)
                q = torch.softmax(logits[at].double(), 0)
                proposed = int(engine.step(logits[at][None], [row]).tokens[0])
                engine.rewind(row, at)
                engine.step(said["itself"][at][None], [row])
                if engine.tokens(row)[-1] != token:  # ordinary randomness, or another rounding
                    engine.resume(row, made.ids[: at + 1].tolist())
                target = int(engine.tokens(row)[-1])
                alone = int(
                    torch.searchsorted(q.cumsum(0), float(rng.random())).clamp(max=len(q) - 1)
                )
                best = 1 - 0.5 * float((p - q).abs().sum())
                agreed[name].append((proposed == target, alone == target, best))
    rows = []
    for name in list(networks)[1:]:
        own, alone, best = (statistics.mean(one) for one in zip(*agreed[name], strict=True))
        rows.append([name, f"{own:.3f}", f"{alone:.3f}", f"{best:.3f}"])
    print(f"Share of draft tokens that are accepted, {len(PROMPTS)} texts of {tokens} tokens")
    _common.print_table(["draft", "at the row's point", "by itself", "1 - total variation"], rows)


def lookup(model: Any, tokens: int, rounds: int) -> None:
    """Print the second table."""
    import torch

    from pura.embed.processor import PuraLogitsProcessor
    from pura.scheme import Payload, Profile, SecretKey

    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size, temperature=0.3)
    key, payload = SecretKey(bytes(range(32))), Payload.from_int(5, 36)
    inputs = model.tokenizer(LIST, return_tensors="pt")

    def write(*, marked: bool, drafts: int) -> None:
        torch.manual_seed(SEED)
        processors = [PuraLogitsProcessor(key, payload, profile, seed=SEED)] if marked else []
        sampling = {"do_sample": False} if marked else {"do_sample": True, "temperature": 0.3}
        more = {"prompt_lookup_num_tokens": drafts} if drafts else {}
        with torch.inference_mode():
            model.network.generate(
                **inputs,
                **sampling,
                **more,
                top_k=0,
                min_new_tokens=tokens,
                max_new_tokens=tokens,
                logits_processor=processors,
            )

    ways = {
        f"{'marked' if marked else 'plain'}, {'prompt lookup' if drafts else 'no drafts'}": (
            lambda marked=marked, drafts=drafts: write(marked=marked, drafts=drafts)
        )
        for marked in (False, True)
        for drafts in (0, 4)
    }
    times = _common.interleaved(ways, rounds=rounds, clock=time.process_time)
    base = next(iter(ways))
    rows = [
        [
            name,
            f"{1000 * statistics.median(times[name]) / tokens:.1f}",
            f"{_common.median_ratio(times, name, base):.3f}",
        ]
        for name in ways
    ]
    print(f"Milliseconds a token, {tokens} written (medians of {rounds})")
    _common.print_table(["way", "ms", "× plain"], rows)


def rounding(model: Any, texts: int, tokens: int) -> None:
    """Print the third table."""
    import torch

    from pura.embed.processor import PuraLogitsProcessor
    from pura.scheme import Payload, Profile, SecretKey

    warm = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    cold = warm.with_(temperature=0.3)
    key, payload = SecretKey(bytes(range(32))), Payload.from_int(0x123456789, 36)
    shorter = copy.deepcopy(model.network).to(torch.bfloat16)
    draft = copy.deepcopy(shorter)
    draft.generation_config.num_assistant_tokens = 8
    draft.generation_config.num_assistant_tokens_schedule = "constant"
    draft.generation_config.assistant_confidence_threshold = 0.0
    ways: dict[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
        "prompt lookup, 4": (cold, (LIST,), {"prompt_lookup_num_tokens": 4}),
        "prompt lookup, 8": (cold, (LIST,), {"prompt_lookup_num_tokens": 8}),
        "draft model, 8": (warm, PROMPTS, {"assistant_model": draft}),
        "draft model, 8, at 0.3": (cold, PROMPTS, {"assistant_model": draft}),
    }
    passes = 0

    def count(*_: object) -> None:
        nonlocal passes
        passes += 1

    def write(
        network: Any, profile: Any, prompts: tuple[str, ...], number: int, drafts: dict[str, Any]
    ) -> list[int]:
        inputs = model.tokenizer(prompts[number % len(prompts)], return_tensors="pt")
        one = PuraLogitsProcessor(key, payload, profile, seed=SEED + number)
        with torch.inference_mode():
            made = network.generate(
                **inputs,
                **drafts,
                do_sample=False,
                min_new_tokens=tokens,
                max_new_tokens=tokens,
                logits_processor=[one],
            )
        return made[0, inputs["input_ids"].shape[1] :].tolist()

    rows = []
    for network in (model.network, shorter):
        for name, (profile, prompts, drafts) in ways.items():
            same = draws = passes = 0
            for number in range(texts):
                plain = write(network, profile, prompts, number, {})
                counted = network.register_forward_hook(count)
                drafted = write(network, profile, prompts, number, drafts)
                counted.remove()
                pairs = zip(plain, drafted, strict=True)
                agreed = next((at for at, (a, b) in enumerate(pairs) if a != b), tokens)
                same += agreed == tokens
                draws += min(agreed + 1, tokens)
            form = str(network.dtype).removeprefix("torch.")
            batch = f"{texts * tokens / passes:.2f}"
            rows.append([f"{form}, {name}", batch, f"{same} of {texts}", str(draws)])
            rows[-1].append(f"{100 * (texts - same) / draws:.2f} %")
    print(f"Texts of {tokens} tokens with drafts beside the same without")
    columns = ["way", "tokens a pass", "same texts", "draws", "changed"]
    _common.print_table(columns, rows)


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--texts", type=int, default=12, help="of the third table")
    options = _common.parse(parser, tokens=12, rounds=1, texts=1)
    _common.print_facts("Drafts", SEED)
    model = _common.load_builtin("cpu", library=True)
    acceptance(model, options.tokens)
    lookup(model, options.tokens, options.rounds)
    rounding(model, options.texts, options.tokens)


if __name__ == "__main__":
    main()

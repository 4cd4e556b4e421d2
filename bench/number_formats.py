"""What other number formats and another runtime gain on a processor, and what evidence they lose.

    python bench/number_formats.py [--words 45 60 80 110 1000] [--batches 1 4 16] [--formats NAME]

Marked texts of both codes and beginnings of them, of so many words, are audited with the built-in
model in each format, as found, in turn in one run, in one thread. ``float32, MKL`` is the network
with the products that torch chooses, ``float32`` as the program runs it. ``int8`` is torch's
dynamic quantisation of the linear layers, ``int8 weights`` keeps the numbers between them as
float32; the output head is left as it is. OpenVINO, which no part of the program needs, joins in
where it is installed. What is not ``float32`` or ``bfloat16`` is measured here and not offered by
the program. Speed is that of
the network alone, 256 tokens a text; the head is that of the network.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common
from audit_cost import SAMPLES
from pura.detect.options import Options
from pura.detect.together import audit_text
from pura.model.device import Device, instructions
from pura.scheme import Profile, SecretKey

TOKENS = 256


def models() -> Iterator[tuple[str, Any]]:
    """Yield the built-in model in every number format, float32 as torch runs it first."""
    import torch

    from pura.base.paths import user_paths
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    known = ModelStore(user_paths().models).get("smollm2-135m")

    def loaded(dtype: str) -> Any:
        return load_model(known, Device(kind="cpu", name="", dtype=dtype, reason=""))

    ours = loaded("float32")
    plain = copy.deepcopy(ours.network)
    for layer in plain.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.__class__ = torch.nn.Linear  # whose products torch chooses, and libraries know
    yield "float32, MKL", replace(ours, network=plain)
    yield "float32", ours
    yield "bfloat16", loaded("bfloat16")
    yield "float16", loaded("float16")
    small = copy.deepcopy(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small.model = torch.ao.quantization.quantize_dynamic(
            small.model, {torch.nn.Linear}, dtype=torch.qint8
        )
    yield "int8", replace(ours, network=small)
    light = copy.deepcopy(plain)
    for layer in light.model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.forward = int8_weights(layer)
    yield "int8 weights", replace(ours, network=light)
    if find_spec("openvino"):
        for name, precision in (("float32", "f32"), ("bfloat16", "bf16")):
            other = copy.deepcopy(plain)
            other.model = openvino_decoder(other.model, precision)
            yield f"OpenVINO, {name}", replace(ours, network=other)


def int8_weights(layer: Any) -> Callable[[Any], Any]:
    """Return what a linear layer does with weights of 8 bits, one scale an output."""
    import torch

    scale = layer.weight.abs().amax(dim=1) / 127
    weights = (layer.weight / scale[:, None]).round().to(torch.int8)

    def forward(rows: Any) -> Any:
        # torch knows this product for activations of 16 bits as well as 32.
        found = torch._weight_int8pack_mm(rows.flatten(0, -2), weights, scale)  # noqa: SLF001
        return found.unflatten(0, rows.shape[:-1])

    return forward


def openvino_decoder(decoder: Any, precision: str) -> Any:
    """Return a network without its head as OpenVINO runs it."""
    import openvino
    import torch

    lowest = torch.finfo(torch.float32).min

    class Asked(torch.nn.Module):
        def forward(self, ids: Any, see: Any, at: Any) -> Any:
            found = decoder(input_ids=ids, attention_mask=see, position_ids=at, use_cache=False)
            return found.last_hidden_state

    def given(ids: Any) -> tuple[Any, Any, Any]:
        size = ids.shape[1]
        see = torch.full((1, 1, size, size), lowest).triu(1)
        return ids, see, torch.arange(size)[None]

    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = openvino.convert_model(Asked(), example_input=given(torch.arange(40)[None]))
    setting = {
        "INFERENCE_PRECISION_HINT": precision,
        "INFERENCE_NUM_THREADS": 1,
        "NUM_STREAMS": 1,
    }
    run = openvino.Core().compile_model(graph, "CPU", setting)

    class Compiled(torch.nn.Module):
        config = decoder.config

        def forward(self, input_ids: Any, **_: Any) -> Any:
            (hidden,) = run([one.numpy() for one in given(input_ids)]).values()
            return argparse.Namespace(last_hidden_state=torch.from_numpy(hidden.copy()))

    return Compiled()


def rate(model: Any, batch: int) -> float:
    """Return tokens a processor second of the network alone."""
    import torch

    ids = (torch.arange(TOKENS) * 37 % 40_000)[None].repeat(batch, 1)
    with torch.inference_mode():
        model.network.model(ids)
        begun = time.process_time()
        model.network.model(ids)
    return batch * TOKENS / (time.process_time() - begun)


def marked(words: list[int]) -> list[tuple[str, str, SecretKey, Profile]]:
    """Return marked texts and beginnings of them: words, payload, key and profile."""
    found: list[tuple[str, str, SecretKey, Profile]] = []
    for name in ("marked", "marked-tbcc"):
        data = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))
        key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
        for entry in data["texts"]:
            split = entry["text"].split(" ")
            found += [
                (" ".join(split[:size]), entry["payload"], key, profile)
                for size in sorted({min(size, len(split)) for size in words})
            ]
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, nargs="+", default=[45, 60, 80, 110, 1000])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--formats", nargs="+", help="only these, by name")
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    _common.print_facts("Number formats on a processor", 0)
    print(f"instructions: {', '.join(sorted(instructions())) or 'unknown'}\n")
    texts = marked(args.words)
    rows: list[list[str]] = []
    first: tuple[float, float] | None = None
    for name, model in models():
        if name not in (args.formats or [name]):
            continue
        speeds = [rate(model, batch) for batch in args.batches]
        found, right = [], 0
        begun = time.process_time()
        for text, payload, key, profile in texts:
            audit = audit_text(
                text,
                model=model,
                keys=[(key, None)],
                profile=profile,
                options=Options(restore=False),
            )
            found.append(audit.evidence.log10_e)
            right += audit.decoded.bits == payload
        spent, whole = (time.process_time() - begun) / len(texts), sum(found)
        first = first or (spent, whole)
        rows.append(
            [
                name,
                *(f"{speed:.0f}" for speed in speeds),
                f"{spent:.2f}",
                f"{spent / first[0]:.2f}",
                f"{whole / len(texts):.1f}",
                f"{whole / first[1]:.3f}",
                f"{len(texts) - right} of {len(texts)}",
            ]
        )
        print(" ".join(rows[-1]), flush=True)
    heads = [f"tokens/s, batch {batch}" for batch in args.batches]
    columns = ["format", *heads, "audit, s", "audit ×", "mean log10 e", "kept", "wrong payloads"]
    _common.print_table(columns, rows)


if __name__ == "__main__":
    main()

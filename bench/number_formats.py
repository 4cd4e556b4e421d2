"""What 16-bit and 8-bit weights gain on a processor, and what evidence they lose.

    python bench/number_formats.py [--texts 8] [--batches 1 4 16]

The same marked texts are audited with the built-in model in each number format, in turn in one
run, in one thread. ``int8`` is torch's dynamic quantisation of the linear layers, the output head
left as it is; it is measured here and not offered by the program. Speed is that of the network
alone, 256 tokens a text; the head is that of the network.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common
from audit_cost import SAMPLES
from pura.audit.options import Options
from pura.audit.run import audit_text
from pura.model.device import Device, instructions
from pura.scheme import Profile, SecretKey

TOKENS = 256


def models() -> dict[str, Any]:
    """Return the built-in model in every number format."""
    import torch

    from pura.base.paths import user_paths
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    known = ModelStore(user_paths().models).get("smollm2-135m")
    found = {}
    for dtype in ("float32", "bfloat16"):
        device = Device(kind="cpu", name="", dtype=dtype, reason="")
        found[dtype] = load_model(known, device)
    small = load_model(known, found["float32"].device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small.network.model = torch.ao.quantization.quantize_dynamic(
            small.network.model, {torch.nn.Linear}, dtype=torch.qint8
        )
    found["int8"] = replace(small, name="int8")
    return found


def rate(model: Any, batch: int) -> float:
    """Return tokens a processor second of the network alone."""
    import torch

    ids = (torch.arange(TOKENS) * 37 % 40_000)[None].repeat(batch, 1)
    with torch.inference_mode():
        model.network.model(ids)
        begun = time.process_time()
        model.network.model(ids)
    return batch * TOKENS / (time.process_time() - begun)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16])
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    _common.print_facts("Number formats on a processor", 0)
    print(f"instructions: {', '.join(sorted(instructions())) or 'unknown'}\n")
    data = json.loads((SAMPLES / "marked.json").read_text(encoding="utf-8"))
    key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
    texts = [entry["text"] for entry in data["texts"][: args.texts]]
    rows, whole = [], 0.0
    for name, model in models().items():
        speeds = [rate(model, batch) for batch in args.batches]
        found, right = [], 0
        begun = time.process_time()
        for text, entry in zip(texts, data["texts"], strict=False):
            audit = audit_text(
                text, model=model, keys=[(key, None)], profile=profile, options=Options()
            )
            found.append(audit.evidence.log10_e)
            right += audit.decoded.bits == entry["payload"]
        spent = time.process_time() - begun
        whole = whole or sum(found)
        rows.append(
            [
                name,
                *(f"{speed:.0f}" for speed in speeds),
                f"{spent / len(texts):.2f}",
                f"{sum(found) / len(texts):.1f}",
                f"{100 * (1 - sum(found) / whole):.1f}",
                f"{right} of {len(texts)}",
            ]
        )
        print(" ".join(rows[-1]), flush=True)
    heads = [f"tokens/s, batch {batch}" for batch in args.batches]
    columns = ["weights", *heads, "audit, s", "mean log10 e", "lost, %", "payloads found"]
    _common.print_table(columns, rows)


if __name__ == "__main__":
    main()

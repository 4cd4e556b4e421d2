"""What a mark costs inside vLLM: tokens a second and the first token, with and without it.

Run ``.engines/vllm/bin/python bench/engines.py`` after ``packaging/weekly.sh engines``. One engine
in this process writes 1, 8 and 32 texts at once, in turn without and with marks, every text with a
payload of its own. The tickets of marked texts are redeemed over a gateway's channel, and each
token is reported there, but no row is written. Plain sampling is at the same temperature. Times are
the processor's, all threads together, so that other programs hardly count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.update(
    HF_HUB_OFFLINE="1",
    VLLM_CPU_KVCACHE_SPACE="1",
    VLLM_ENABLE_V1_MULTIPROCESSING="0",
    VLLM_USE_V2_MODEL_RUNNER="0",
    VLLM_NO_USAGE_STATS="1",
)

import _common
from pura.embed.serving.channel import ChannelServer
from pura.embed.serving.tickets import TICKET, AssignedMark, TicketOffice
from pura.scheme import Payload

SEED = 20_261_126
PROMPT = "The city council met on Tuesday evening to discuss the new plan for the harbour and"
BATCHES = (1, 8, 32)
WAYS = ("plain", "marked")


def deployed(folder: Path, model: Path) -> None:
    """Write what the adapter may mark with."""
    from pura.scheme import Profile, SecretKey

    size = json.loads((model / "pura-model.json").read_text())["vocab_size"]
    _common.write_private(
        folder / "house.json", Profile(payload_bits=36, blocks=4, vocab_size=size).to_json()
    )
    _common.write_private(folder / "house.key", SecretKey(bytes(range(32))).to_hex())
    rows = {"house": {"profile": "house.json", "key": "house.key"}}
    stated = {"deployments": rows, "required": False, "tickets": "tickets"}
    os.environ["PURA_SERVING"] = str(
        _common.write_private(folder / "serving.json", json.dumps(stated))
    )


def measure(engine: Any, office: TicketOffice, batch: int, tokens: int, rounds: int) -> list[str]:
    """Return a row of the table."""
    from vllm import SamplingParams

    def ticket(number: int) -> dict[str, str]:
        mark = AssignedMark(deployment="house", payload=Payload.from_int(number, 36))
        return {TICKET: office.open(mark).text}

    def write(way: str, length: int) -> None:
        arguments = [ticket(number + 1) if way == "marked" else None for number in range(batch)]
        asked = [
            SamplingParams(max_tokens=length, ignore_eos=True, temperature=1.0, extra_args=one)
            for one in arguments
        ]
        engine.generate([PROMPT] * batch, asked, use_tqdm=False)

    def ways(length: int) -> dict[str, list[float]]:
        calls = {way: (lambda way=way: write(way, length)) for way in WAYS}
        return _common.interleaved(calls, rounds=rounds, clock=time.process_time)

    first, whole = ways(1), ways(tokens)
    speed = {way: batch * tokens / statistics.median(whole[way]) for way in WAYS}
    return [
        str(batch),
        *(f"{speed[way]:.1f}" for way in WAYS),
        f"{_common.median_ratio(whole, 'marked', 'plain'):.3f}",
        *(f"{1000 * statistics.median(first[way]):.0f}" for way in WAYS),
        f"{_common.median_ratio(first, 'marked', 'plain'):.3f}",
        f"{max(whole['plain']) / min(whole['plain']):.2f}",
    ]


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    options = _common.parse(parser, tokens=5, rounds=1)
    import vllm

    from pura.base.paths import user_paths

    model = user_paths().models / "smollm2-135m"
    _common.print_facts(f"Marking inside vLLM {vllm.__version__}", SEED)
    with tempfile.TemporaryDirectory() as folder:
        deployed(Path(folder), model)
        office = TicketOffice(lambda marks, series: list(marks))
        listening = ChannelServer(Path(folder) / "tickets", office)
        engine = vllm.LLM(
            str(model),
            dtype="float32",
            enforce_eager=True,
            max_model_len=512,
            max_num_seqs=max(BATCHES),
            logits_processors=["pura.embed.serving.vllm_v1:PuraLogitsProcessor"],
        )
        rows = [measure(engine, office, batch, options.tokens, options.rounds) for batch in BATCHES]
        listening.close()
    _common.print_table(
        [
            "requests",
            "plain tok/s",
            "marked tok/s",
            "time ×",
            "first plain ms",
            "marked ms",
            "×",
            "noise",
        ],
        rows,
    )


if __name__ == "__main__":
    main()

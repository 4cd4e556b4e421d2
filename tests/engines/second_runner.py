"""Texts that vLLM writes with its second model runner: a program of its own.

Its kernels are Triton's, which compiles for no processor, so Triton's interpreter runs them here,
one operation after another: the same program, only slowly. What the package for processors asks
for, a backend of that name, is entered before it looks.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.update(
    TRITON_INTERPRET="1", VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_USE_V2_MODEL_RUNNER="1"
)

from triton.backends import backends

BACKEND: Any = SimpleNamespace(driver=SimpleNamespace(is_active=lambda: True), compiler=None)


# Of every run, so that two of them draw alike where the engine computes alike.
ENTROPY = 2**100 + 7


def accepted(engine: Any) -> int:
    """Return how many drafted tokens an engine has accepted."""
    name = "vllm:spec_decode_num_accepted_tokens"
    return sum(metric.value for metric in engine.get_metrics() if metric.name == name)


def main(asked: Path) -> None:
    """Write the texts of a request file beside it.

    Args:
        asked: ``{"model": …, "runs": [{"engine": {…}, "prompts": […], "arguments": […], "tokens":
            …}]}``; the answer is a list of ``{"texts": [[id, …], …], "accepted": …}``, one a run.
    """
    backends["cpu"] = BACKEND
    import vllm

    from pura.embed.serving import vllm_requests

    vllm_requests.secrets = SimpleNamespace(randbits=lambda bits: ENTROPY)  # type: ignore[assignment]

    request = json.loads(asked.read_text())
    made = []
    for run in request["runs"]:
        engine = vllm.LLM(
            request["model"],
            dtype="float32",
            enforce_eager=True,
            max_model_len=256,
            max_num_seqs=8,
            disable_log_stats=False,
            **run["engine"],
        )
        params = [
            vllm.SamplingParams(
                max_tokens=run["tokens"], ignore_eos=True, temperature=1.0, extra_args=arguments
            )
            for arguments in run["arguments"]
        ]
        texts = engine.generate(run["prompts"], params, use_tqdm=False)
        ids = [list(text.outputs[0].token_ids) for text in texts]
        made.append({"texts": ids, "accepted": accepted(engine)})
        del engine
    asked.with_suffix(".made").write_text(json.dumps(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

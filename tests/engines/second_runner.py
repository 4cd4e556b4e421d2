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


def main(asked: Path) -> None:
    """Write the texts of a request file beside it.

    Args:
        asked: ``{"model": …, "runs": [{"engine": {…}, "prompts": […], "arguments": […], "tokens":
            …}]}``; the answer, ``[[[id, …], …], …]``, holds a list of texts for each run.
    """
    backends["cpu"] = BACKEND
    import vllm

    request = json.loads(asked.read_text())
    made = []
    for run in request["runs"]:
        engine = vllm.LLM(
            request["model"],
            dtype="float32",
            enforce_eager=True,
            max_model_len=256,
            max_num_seqs=8,
            **run["engine"],
        )
        params = [
            vllm.SamplingParams(
                max_tokens=run["tokens"], ignore_eos=True, temperature=1.0, extra_args=arguments
            )
            for arguments in run["arguments"]
        ]
        found = engine.generate(run["prompts"], params, use_tqdm=False)
        made.append([list(one.outputs[0].token_ids) for one in found])
        del engine
    asked.with_suffix(".made").write_text(json.dumps(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

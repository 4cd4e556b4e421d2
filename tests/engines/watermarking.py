"""Texts that vLLM's own sampler marks: a program of its own, called with a file of settings.

vLLM marks in its second model runner, whose kernels are Triton's. Triton compiles for no processor,
so its interpreter runs them here, one operation after another: the same program, only slowly. What
the package for processors asks for, a backend of that name, is entered before it looks.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.update(TRITON_INTERPRET="1", VLLM_ENABLE_V1_MULTIPROCESSING="0")

from triton.backends import backends

BACKEND: Any = SimpleNamespace(driver=SimpleNamespace(is_active=lambda: True), compiler=None)


def main(asked: Path) -> None:
    """Write the texts of a request file beside it.

    Args:
        asked: ``{"model": …, "prompts": […], "tokens": …, "settings": […]}``; the answer,
            ``[[[id, …], …], …]``, holds a list of texts for each of the settings.
    """
    backends["cpu"] = BACKEND
    import vllm

    request = json.loads(asked.read_text())
    made = []
    for settings in request["settings"]:
        engine = vllm.LLM(
            request["model"],
            dtype="float32",
            enforce_eager=True,
            max_model_len=256,
            max_num_seqs=8,
            watermark_config=settings,
        )
        params = vllm.SamplingParams(
            max_tokens=request["tokens"], ignore_eos=True, temperature=1.0, seed=7
        )
        found = engine.generate(request["prompts"], params, use_tqdm=False)
        made.append([list(one.outputs[0].token_ids) for one in found])
        del engine
    asked.with_suffix(".made").write_text(json.dumps(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

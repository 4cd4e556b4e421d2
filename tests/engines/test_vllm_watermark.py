"""vLLM's own mark, as ``--watermark-config`` has it: a running engine's texts, read twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer
from vllm.config.watermarking import WatermarkConfig
from vllm.v1.watermarking import (
    DualKeyGumbelWatermarkDetector,
    GumbelWatermarkDetector,
    PhiloxPRF,
    derive_watermark_key,
)

from conftest import KEYS, PROMPTS, Deployed, of_engine, of_engine_only
from pura.extract.foreign import draws_of, first_contexts
from pura.keys.sealed import open_secret

LENGTH = 60
SETTINGS: tuple[dict[str, Any], ...] = (
    {"algorithm": "gumbel", "key": 2**63 + 11},
    {"algorithm": "dual_key_gumbel", "key": 42, "alpha": 0.25, "context_width": 3},
)


@pytest.fixture(scope="module")
def texts(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """A text of an engine with each of the settings; minutes, as an interpreter runs kernels."""
    asked = tmp_path_factory.mktemp("watermark") / "asked.json"
    request = {"model": str(deployed.model), "prompts": PROMPTS[:1], "tokens": LENGTH}
    asked.write_text(json.dumps(request | {"settings": SETTINGS}))
    program = Path(__file__).with_name("watermarking.py")
    command = [sys.executable, program, asked]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    made = json.loads(asked.with_suffix(".made").read_text())
    assert [len(ids) for (ids,) in made] == [LENGTH] * len(SETTINGS)
    return [ids for (ids,) in made]


def test_its_detector_and_ours_read_the_same_numbers(
    deployed: Deployed, texts: list[list[int]]
) -> None:
    for settings, ids in zip(SETTINGS, texts, strict=True):
        dual, key = settings["algorithm"] == "dual_key_gumbel", settings["key"]
        width = WatermarkConfig(**settings).context_width
        kind = DualKeyGumbelWatermarkDetector if dual else GumbelWatermarkDetector
        more = {"alpha": settings["alpha"]} if dual else {}
        theirs = kind(key, context_width=width, **more).detect(ids)
        profile = of_engine(deployed, settings)
        assert profile.foreign is not None
        secret = open_secret(KEYS["house"], profile.scheme, profile.foreign.sealed)
        token, numbers = draws_of(profile.foreign, secret, np.array(ids))
        # Theirs counts the first tokens too, whose contexts it fills up.
        assert token.size == theirs.num_scored_tokens - width
        assert theirs.p_value < 1e-6
        contexts = torch.from_numpy(first_contexts(np.array(ids), width)[1])
        keys = [derive_watermark_key(key, which) for which in (b"key_a", b"key_b")]
        for column, one in enumerate(keys if dual else [key]):
            uniform = PhiloxPRF(one).uniform(contexts, torch.tensor(ids)[token][:, None])[:, 0]
            words = (uniform.double() * (2**24 + 1) - 1).round().numpy()
            assert (np.floor(numbers[:, column] * 2**24) == words).all()


def test_each_text_is_found_under_its_own_settings_alone(
    deployed: Deployed, texts: list[list[int]]
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(deployed.model)
    profiles = [of_engine(deployed, settings) for settings in SETTINGS]
    of_engine_only(deployed, profiles, [tokenizer.decode(ids) for ids in texts])

"""vLLM's second runner: its own mark, read by its detectors and by us, and our adapter in it."""

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
ASKED: tuple[tuple[str, int] | None, ...] = (("desk", 0x5A3), None, ("house", 0x123456789))


@pytest.fixture(scope="module")
def made(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> list[list[list[int]]]:
    """Texts of an engine with each mark of its own, and with ours; minutes."""
    asked = tmp_path_factory.mktemp("second") / "asked.json"
    own: list[dict[str, Any]] = [
        {"engine": {"watermark_config": one}, "prompts": PROMPTS[:1], "arguments": [None]}
        for one in SETTINGS
    ]
    ours = {
        "engine": {"logits_processors": ["pura.embed.serving.vllm_v2:PuraLogitsProcessor"]},
        "prompts": PROMPTS[: len(ASKED)],
        "arguments": [None if one is None else deployed.arguments(*one) for one in ASKED],
        "tokens": 2 * LENGTH,
    }
    runs = [one | {"tokens": LENGTH} for one in own] + [ours]
    asked.write_text(json.dumps({"model": str(deployed.model), "runs": runs}))
    command = [sys.executable, Path(__file__).with_name("second_runner.py"), asked]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    found: list[list[list[int]]] = json.loads(asked.with_suffix(".made").read_text())
    return found


@pytest.fixture(scope="module")
def texts(made: list[list[list[int]]]) -> list[list[int]]:
    """A text with each of its own marks."""
    return [ids for (ids,) in made[:-1]]


@pytest.fixture(scope="module")
def tokenizer(deployed: Deployed) -> Any:
    return AutoTokenizer.from_pretrained(deployed.model)


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
    deployed: Deployed, tokenizer: Any, texts: list[list[int]]
) -> None:
    profiles = [of_engine(deployed, settings) for settings in SETTINGS]
    of_engine_only(deployed, profiles, [tokenizer.decode(ids) for ids in texts])


def test_our_adapter_marks_what_is_asked_and_nothing_else(
    deployed: Deployed, tokenizer: Any, made: list[list[list[int]]]
) -> None:
    for asked, ids in zip(ASKED, made[-1], strict=True):
        text = tokenizer.decode(ids)
        if asked is not None:
            deployed.check(text, *asked, ids)
        for name in deployed.profiles.keys() - {asked and asked[0]}:
            assert deployed.audit(text, name).verdict != "mark"

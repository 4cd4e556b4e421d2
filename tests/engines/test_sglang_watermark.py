"""SGLang's own mark: texts that its sampler chooses, read by its detector and by ours.

Its server marks on CUDA only. The class that does it has all of it for a processor as well, except
the kernels; around it stands what the runner of the server does in each step.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sglang.srt.sampling.watermarking import WatermarkDetector
from sglang.srt.sampling.watermarking.config import load_watermark_config
from sglang.srt.sampling.watermarking.core import WatermarkState
from transformers import AutoModelForCausalLM, AutoTokenizer

from conftest import KEYS, PROMPTS, Deployed, of_engine, of_engine_only
from pura.detect.local.third_party import draws_of
from pura.keys.sealed import open_secret

LENGTH = 120
SETTINGS: tuple[dict[str, Any], ...] = (
    {"key": "ffffffffffffff0b"},
    {"key": "0x2A", "context_window": 3},
    {"key": "2A", "key_b": "8000000000000001", "mixing_probability": 0.3},
    {"key": "C0FFEE", "key_b": "BEEF", "mixing_probability": 0.7, "max_probability": 0.9},
)


def written(model: Any, prompt: list[int], settings: dict[str, Any]) -> list[int]:
    """Return the tokens that the engine's class chooses from what a model says."""
    config = load_watermark_config(json.dumps(settings))
    state = WatermarkState(
        max_num_reqs=1,
        context_window=config.context_window or 4,
        max_contexts_per_req=4096,
        key=config.key,
        key_b=config.key_b,
        mixing_probability=config.mixing_probability or 0.5,
        max_probability=config.max_probability or 1.0,
        enforce_all=True,
        device="cpu",
    )
    vocab_size = model.config.vocab_size
    asked = SimpleNamespace(
        temperatures=torch.ones(1, 1),
        top_ks=torch.tensor([vocab_size]),
        top_ps=torch.ones(1),
        min_ps=torch.zeros(1),
        max_top_k=vocab_size,
        has_watermark_candidates=True,
        watermark_keys=None,
        watermark_context_windows=None,
        watermark_enabled=None,
    )
    row, dice = torch.tensor([0]), torch.Generator().manual_seed(5)
    state.init_from_prompt(row, [prompt[-state.context_window :]])
    ids, past = torch.tensor([prompt]), None
    chosen: list[int] = []
    with torch.inference_mode():
        for _ in range(LENGTH):
            out = model(ids, past_key_values=past, use_cache=True)
            past, logits = out.past_key_values, out.logits[:, -1].float()
            state.force(logits, row, asked)
            ids = torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=dice)
            state.append(row, ids[:, 0])
            chosen.append(int(ids))
    return chosen


@pytest.fixture(scope="module")
def tokenizer(deployed: Deployed) -> Any:
    return AutoTokenizer.from_pretrained(deployed.model)


@pytest.fixture(scope="module")
def texts(deployed: Deployed, tokenizer: Any) -> list[list[int]]:
    """A text for each of the settings."""
    model = AutoModelForCausalLM.from_pretrained(deployed.model, dtype=torch.float32).eval()
    prompts = [tokenizer.encode(prompt) for prompt in PROMPTS]
    return [written(model, prompt, one) for prompt, one in zip(prompts, SETTINGS, strict=True)]


def test_its_detector_and_ours_read_the_same_numbers(
    deployed: Deployed, texts: list[list[int]]
) -> None:
    for settings, ids in zip(SETTINGS, texts, strict=True):
        names = ("key", "key_b", "mixing_probability", "context_window")
        detector = WatermarkDetector(**{n: settings[n] for n in names if n in settings})
        profile = of_engine(deployed, settings)
        assert profile.foreign is not None
        secret = open_secret(KEYS["house"], profile.scheme, profile.foreign.sealed)
        for some in (ids, np.random.default_rng(1).integers(0, 40, 300).tolist()):
            theirs = detector.detect_tokens(some).combined
            token, numbers = draws_of(profile.foreign, secret, np.array(some))
            assert token.size == theirs.num_contexts
            assert -np.log1p(-numbers).sum() == pytest.approx(theirs.score, rel=1e-12)
        assert detector.detect_tokens(ids).combined.p_value < 1e-6


def test_each_text_is_found_under_its_own_settings_alone(
    deployed: Deployed, tokenizer: Any, texts: list[list[int]]
) -> None:
    profiles = [of_engine(deployed, settings) for settings in SETTINGS]
    of_engine_only(deployed, profiles, [tokenizer.decode(ids) for ids in texts])

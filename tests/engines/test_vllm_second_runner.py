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
from pura.detect.local.third_party import draws_of, first_contexts
from pura.keys.sealed import open_secret

LENGTH = 60
SETTINGS: tuple[dict[str, Any], ...] = (
    {"algorithm": "gumbel", "key": 2**63 + 11},
    {"algorithm": "dual_key_gumbel", "key": 42, "alpha": 0.25, "context_width": 3},
)
ASKED: tuple[tuple[str, int] | None, ...] = (("desk", 0x5A3), None, ("house", 0x123456789))


# Prompts that answers go on with in the same words, so that drafts are accepted now and then.
LISTS = (
    "One, two, three, four, five, six. One, two, three, four, five, six. One, two, three,",
    "The harbour is old. The bridge is old. The market is old. The harbour is old. The",
)
DRAFTS = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3}


@pytest.fixture(scope="module")
def runs(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Texts of an engine with our marks, without drafts and with them, and with its own; minutes.

    Ours come first: their tickets must be redeemed before they are too old.
    """
    asked = tmp_path_factory.mktemp("second") / "asked.json"
    adapter = {"logits_processors": ["pura.embed.serving.vllm_v2:PuraLogitsProcessor"]}
    ours = {
        "engine": adapter,
        "prompts": PROMPTS[: len(ASKED)],
        "arguments": [None if one is None else deployed.arguments(*one) for one in ASKED],
        "tokens": 2 * LENGTH,
    }
    drafted = [
        {
            "engine": adapter | more,
            "prompts": LISTS,
            "arguments": [deployed.arguments("house", number) for number in range(len(LISTS))],
            "tokens": LENGTH,
        }
        for more in ({}, {"speculative_config": DRAFTS})
    ]
    own: list[dict[str, Any]] = [
        {
            "engine": {"watermark_config": one},
            "prompts": PROMPTS[:1],
            "arguments": [None],
            "tokens": LENGTH,
        }
        for one in SETTINGS
    ]
    asked.write_text(json.dumps({"model": str(deployed.model), "runs": [*drafted, ours, *own]}))
    command = [sys.executable, Path(__file__).with_name("second_runner.py"), asked]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    made: list[dict[str, Any]] = json.loads(asked.with_suffix(".made").read_text())
    return made


@pytest.fixture(scope="module")
def made(runs: list[dict[str, Any]]) -> list[list[list[int]]]:
    """The texts without drafts: ours last, and before them those with its own marks."""
    return [run["texts"] for run in (*runs[3:], runs[2])]


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


def test_drafts_change_no_token(runs: list[dict[str, Any]]) -> None:
    """N-gram drafts: what vLLM accepts of them are the tokens that the adapter chose."""
    plain, drafted = runs[:2]
    assert drafted["accepted"] > 0
    assert drafted["texts"] == plain["texts"]

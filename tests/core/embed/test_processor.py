"""The processor inside the real ``generate()`` of transformers."""

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GenerationConfig, LogitsProcessorList, pipeline
from transformers.generation.continuous_batching.cb_logits_processors import (
    ContinuousBatchingLogitsProcessorList,
)
from transformers.generation.logits_process import (
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
)

from pura.base.errors import GenerationError, PayloadError, ProfileError
from pura.embed import generate_batch
from pura.embed.generate import prompt_ids
from pura.embed.processor import (
    PuraLogitsProcessor,
    PuraWatermarkingConfig,
    check_generation_config,
)
from pura.model.load import LanguageModel
from pura.scheme import Payload, Profile, SecretKey

PROMPTS = ["a", "The council met", "on Tuesday"]
PAYLOADS = [Payload.from_int(v, 12) for v in (7, 1234, 4095)]
END = 0


def padded(model: LanguageModel, prompts: list[str]) -> dict[str, torch.Tensor]:
    rows = [prompt_ids(model, p) for p in prompts]
    width = max(map(len, rows))
    ids = [[END] * (width - len(r)) + r for r in rows]
    mask = [[0] * (width - len(r)) + [1] * len(r) for r in rows]
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}


def library(
    model: LanguageModel, processor: PuraLogitsProcessor, prompts: list[str], **settings: Any
) -> list[list[int]]:
    """Return what ``generate()`` wrote in each row, up to its end."""
    return written(model, prompts, logits_processor=[processor], max_new_tokens=60, **settings)


def written(model: LanguageModel, prompts: list[str], **settings: Any) -> list[list[int]]:
    inputs = padded(model, prompts)
    out = model.network.generate(**inputs, **settings)
    rows = out[:, inputs["input_ids"].shape[1] :].tolist()
    return [row[: row.index(END)] if END in row else row for row in rows]


@pytest.fixture
def processor(key: SecretKey, profile: Profile) -> PuraLogitsProcessor:
    return PuraLogitsProcessor(key, PAYLOADS[0], profile, seed=1, eos_token_id=END)


@pytest.mark.parametrize(
    "settings",
    [
        {"do_sample": False},
        {"do_sample": True, "temperature": 0.8, "top_k": 40, "top_p": 0.95},
        {"do_sample": False, "renormalize_logits": True},
    ],
    ids=["greedy", "sampled", "normalised"],
)
@pytest.mark.parametrize("history", ["used", "all"])
def test_it_writes_what_our_own_loop_writes(
    tiny: LanguageModel, key: SecretKey, profile: Profile, history: str, settings: dict[str, Any]
) -> None:
    """Per-row history, left padding, rows that end early, and nothing after it has a say."""
    p = profile.with_(temperature=0.8, top_k=40, top_p=0.95, history=history)
    seeds = [21, 22, 23]
    own = generate_batch(tiny, PROMPTS, PAYLOADS, key, p, tokens=60, seed=seeds)
    processor = PuraLogitsProcessor(key, PAYLOADS, p, seed=seeds, eos_token_id=END)
    assert library(tiny, processor, PROMPTS, **settings) == [t.ids.tolist() for t in own]


SAMPLED = {"do_sample": True, "temperature": 0.8, "top_k": 40, "top_p": 0.95}
OTHER_SETTINGS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"temperature": 0.7}, "temperature=0.7"),
    ({"temperature": 1.0}, "temperature=1.0"),
    ({"top_k": 50}, "top_k=50"),
    ({"top_k": 3}, "top_k=3"),
    ({"top_k": 0}, "top_k=0"),
    ({"top_p": 0.9}, "top_p=0.9"),
    ({"top_p": 1.0}, "top_p=1.0"),
    ({"min_p": 0.1}, "MinP"),
    ({"typical_p": 0.9}, "Typical"),
    ({"eta_cutoff": 0.01}, "Eta"),
    ({"epsilon_cutoff": 0.01}, "Epsilon"),
    ({"repetition_penalty": 1.3}, "RepetitionPenalty"),
    ({"no_repeat_ngram_size": 3}, "NoRepeatNGram"),
    ({"bad_words_ids": [[5]]}, "NoBadWords"),
    ({"sequence_bias": [[[5], 2.0]]}, "SequenceBias"),
    ({"suppress_tokens": [5]}, "SuppressTokens"),
    ({"guidance_scale": 1.5}, "Guidance"),
    ({"exponential_decay_length_penalty": (2, 1.5)}, "ExponentialDecay"),
    ({"num_beams": 2}, "beam search"),
)
"""What the settings of a call change that the profile does not say, and what the refusal names."""


@pytest.mark.parametrize("way", ["logits_processor", "watermarking_config"])
@pytest.mark.parametrize(("settings", "words"), OTHER_SETTINGS)
def test_settings_that_are_not_the_profiles_are_refused(
    tiny: LanguageModel,
    key: SecretKey,
    profile: Profile,
    way: str,
    settings: dict[str, Any],
    words: str,
) -> None:
    """The token is chosen at the profile's, so another one would be ignored in silence."""
    shared = profile.with_(temperature=0.8, top_k=40, top_p=0.95)
    with pytest.raises(GenerationError, match=words):
        marked_by(way, tiny, key, shared, **{**SAMPLED, **settings})


def marked_by(
    way: str, model: LanguageModel, key: SecretKey, profile: Profile, **settings: Any
) -> list[int]:
    """Return what ``generate()`` writes, marked in one of the two ways."""
    marking: dict[str, Any] = {
        "logits_processor": [
            PuraLogitsProcessor(key, PAYLOADS[0], profile, seed=5, eos_token_id=END)
        ],
        "watermarking_config": PuraWatermarkingConfig(
            key, PAYLOADS[0], profile, seed=5, eos_token_id=END
        ),
    }
    return written(model, PROMPTS[:1], **{way: marking[way], "max_new_tokens": 20, **settings})[0]


PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "serving.md"


def test_the_page_says_what_each_setting_does(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    """Each row of its table, by both ways in."""
    shared = profile.with_(temperature=0.8, top_k=40, top_p=0.95)
    table = PAGE.read_text(encoding="utf-8").split("| setting of the generation config |")[1]
    rows = [line.strip("| ").split(" | ") for line in table.split("\n\n")[0].splitlines()[2:]]
    refused = {name: value for settings, _ in OTHER_SETTINGS for name, value in settings.items()}
    letter = tiny.tokenizer.decode([97])
    unchanged: dict[str, Any] = {
        "max_new_tokens": 10,
        "min_new_tokens": 5,
        "stop_strings": [letter],
        "prompt_lookup_num_tokens": 4,
        "assistant_model": resembling(tiny),
        "cache": {"cache_implementation": "static"},
    }
    tested = set()
    for way in ("logits_processor", "watermarking_config"):
        plain = marked_by(way, tiny, key, shared, do_sample=False)
        assert marked_by(way, tiny, key, shared, **SAMPLED) == plain, way
        for names, effect in rows:
            for name in re.findall(r"`(\w+)`", names):
                tested.add(name)
                if effect.startswith(("refused", "must be the profile's", "must be those of")):
                    changed = {**SAMPLED, name: refused[name]}
                    with pytest.raises(GenerationError):
                        marked_by(way, tiny, key, shared, **changed)
                else:
                    assert effect == "unchanged", names
                    more = {"tokenizer": tiny.tokenizer} if name == "stop_strings" else {}
                    made = marked_by(
                        way, tiny, key, shared, do_sample=False, **{name: unchanged[name]}, **more
                    )
                    assert made, name
                    assert made == plain[: len(made)], name
    assert {"temperature", "top_k", "top_p", "min_p", "typical_p", "num_beams"} <= tested
    cached = unchanged["cache"]
    assert marked_by("watermarking_config", tiny, key, shared, do_sample=False, **cached)


def test_rows_that_end_early_leave_the_others_alone(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    prompts = ["x"] * 12
    own = generate_batch(tiny, prompts, [PAYLOADS[0]] * 12, key, profile, tokens=60, seed=5)
    assert any(t.ended for t in own)
    assert not all(t.ended for t in own)
    processor = PuraLogitsProcessor(
        key, PAYLOADS[0], profile, seed=5, generation_config=tiny.network.generation_config
    )
    assert library(tiny, processor, prompts, do_sample=True, top_k=0) == [
        t.ids.tolist() for t in own
    ]
    blind = PuraLogitsProcessor(key, PAYLOADS[0], profile, seed=5)
    with pytest.raises(GenerationError, match="eos_token_id"):
        library(tiny, blind, prompts, do_sample=True, top_k=0)


def test_one_token_is_left_standing(tiny: LanguageModel, key: SecretKey, profile: Profile) -> None:
    processor = PuraLogitsProcessor(key, PAYLOADS[0], profile, seed=1)
    ids = torch.tensor([[5, 6], [7, 8]])
    scores = torch.randn((2, 261), generator=torch.Generator().manual_seed(1))
    out = processor(ids, scores)
    assert out.shape == scores.shape
    assert (out == 0).sum(dim=1).tolist() == [1, 1]
    assert torch.isneginf(out).sum(dim=1).tolist() == [260, 260]


@pytest.mark.parametrize("beams", [2, 3, 4])
@pytest.mark.parametrize("sample", [False, True])
def test_beam_search_is_refused_at_its_first_step(
    tiny: LanguageModel, processor: PuraLogitsProcessor, beams: int, sample: bool
) -> None:
    with pytest.raises(GenerationError, match="beam search") as refused:
        library(tiny, processor, ["The council"], num_beams=beams, do_sample=sample)
    assert "num_beams=1" in refused.value.hint


def test_several_texts_a_prompt_are_not_beams(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    processor = PuraLogitsProcessor(key, PAYLOADS[:2], profile, seed=1, eos_token_id=END)
    rows = library(tiny, processor, ["The"], num_return_sequences=2, do_sample=True, top_k=0)
    assert rows[0] != rows[1]


def resembling(model: LanguageModel) -> Any:
    """Return a network that says nearly what the model's says."""
    network = copy.deepcopy(model.network)
    noise = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weights in network.parameters():
            weights += torch.randn(weights.shape, generator=noise) * 0.02 * weights.std()
    return network


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("by", ["prompt lookup", "draft model"])
def test_a_text_with_drafts_is_the_text_without(
    tiny: LanguageModel, key: SecretKey, profile: Profile, by: str, *, sample: bool
) -> None:
    prompt, network, passes = "one two one two one two one two", tiny.network, 0

    def count(*_: object) -> None:
        nonlocal passes
        passes += 1

    more: dict[str, Any] = {"top_k": 0} if sample else {}

    def written(**settings: Any) -> list[int]:
        processor = PuraLogitsProcessor(key, PAYLOADS[1], profile, seed=1, eos_token_id=END)
        return library(tiny, processor, [prompt], do_sample=sample, **more, **settings)[0]

    drafts: dict[str, Any] = {
        "prompt lookup": {"prompt_lookup_num_tokens": 4},
        "draft model": {"assistant_model": resembling(tiny)},
    }
    plain = written()
    counted = network.register_forward_hook(count)
    assert written(**drafts[by]) == plain
    counted.remove()
    assert passes < len(plain) or by == "prompt lookup"  # random weights repeat nothing


def test_a_draft_model_with_another_tokenizer_is_refused(
    tiny: LanguageModel, processor: PuraLogitsProcessor
) -> None:
    prompt = torch.tensor([[5, 6]])

    def _assisted_decoding(ids: torch.Tensor, width: int) -> torch.Tensor:
        scores = torch.randn((1, width), generator=torch.Generator().manual_seed(1))
        return processor(ids, scores)

    _assisted_decoding(prompt, 261)
    for ids, width in ((torch.tensor([[7, 8, 9]]), 261), (prompt, 200)):
        with pytest.raises(GenerationError, match="assisted"):
            _assisted_decoding(ids, width)


def test_prompt_lookup_is_told_that_nothing_more_is_forbidden(
    processor: PuraLogitsProcessor,
) -> None:
    """It asks with equal scores, from which a least length has taken the end of the text."""

    def _assisted_decoding(scores: torch.Tensor) -> torch.Tensor:
        return processor(torch.tensor([[5, 6]]), scores)

    asked = torch.ones((1, 261))
    asked[0, END] = float("-inf")
    for scores in (torch.ones((1, 261)), asked):
        assert torch.equal(_assisted_decoding(scores.clone()), scores)


def test_a_second_call_needs_a_second_processor(
    tiny: LanguageModel, processor: PuraLogitsProcessor
) -> None:
    library(tiny, processor, ["The council"])
    with pytest.raises(GenerationError, match="another call") as refused:
        library(tiny, processor, ["The council"])
    assert "new PuraLogitsProcessor" in refused.value.hint


def test_rows_that_move_are_refused(key: SecretKey, profile: Profile) -> None:
    scores = torch.randn((2, 257), generator=torch.Generator().manual_seed(2))
    begun = torch.tensor([[5, 6], [7, 8]])

    def go_on(change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Take a first step, change what was written, and take a second."""
        processor = PuraLogitsProcessor(key, PAYLOADS[0], profile, seed=1, eos_token_id=END)
        chosen = processor(begun, scores).argmax(dim=1, keepdim=True)
        ids = change(torch.cat([begun, chosen], dim=1))
        processor(ids, scores[: len(ids)])

    def another_token(ids: torch.Tensor) -> torch.Tensor:
        ids[0, -1] = (ids[0, -1] + 1) % 200
        return ids

    go_on(lambda ids: ids)
    for change, words in (
        (lambda ids: ids.flip(0), "beam search"),
        (lambda ids: ids[:1], "beam search"),
        (lambda ids: torch.cat([ids, ids[:, :1]], dim=1), "assisted"),
        (another_token, "beam search or assisted"),
    ):
        with pytest.raises(GenerationError, match=words):
            go_on(change)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"num_beams": 4}, "beam search"),
        ({"penalty_alpha": 0.6, "top_k": 4}, "contrastive"),
        ({"dola_layers": "low"}, "DoLa"),
    ],
)
def test_settings_that_cannot_carry_a_mark(
    key: SecretKey, profile: Profile, settings: dict[str, Any], name: str
) -> None:
    config = GenerationConfig(**settings)
    with pytest.raises(GenerationError, match=name):
        check_generation_config(config)
    with pytest.raises(GenerationError, match=name):
        PuraLogitsProcessor(key, PAYLOADS[0], profile, generation_config=config)


def test_settings_that_can() -> None:
    check_generation_config(GenerationConfig())
    check_generation_config(GenerationConfig(do_sample=True, temperature=0.7, top_k=20, top_p=0.9))
    check_generation_config(GenerationConfig(prompt_lookup_num_tokens=3))


@pytest.mark.parametrize(
    "settings",
    [
        {"repetition_penalty": 1.3},
        {"no_repeat_ngram_size": 3},
        {"bad_words_ids": [[5]]},
        {"behind": TemperatureLogitsWarper(0.5)},
        {"behind": RepetitionPenaltyLogitsProcessor(1.3), "last": True},
    ],
)
def test_what_changes_the_distribution_beside_it_is_refused(
    tiny: LanguageModel, settings: dict[str, Any], processor: PuraLogitsProcessor
) -> None:
    behind, last = settings.get("behind"), settings.get("last", False)
    more = {k: v for k, v in settings.items() if k not in ("behind", "last")}
    listed = [processor, behind] if last else [behind, processor] if behind else [processor]
    with pytest.raises(GenerationError, match=r"changes the distribution|would not write"):
        tiny.network.generate(
            **padded(tiny, ["a"]), logits_processor=listed, max_new_tokens=5, **more
        )


def test_a_least_length_may_stand_beside_it(
    tiny: LanguageModel, processor: PuraLogitsProcessor
) -> None:
    [row] = library(tiny, processor, ["a"], min_new_tokens=20, do_sample=True, top_k=0)
    assert len(row) >= 20


def test_wrong_arguments(key: SecretKey, profile: Profile) -> None:
    with pytest.raises(PayloadError):
        PuraLogitsProcessor(key, Payload(text="1"), profile)
    with pytest.raises(ProfileError, match="0" * 16):
        PuraLogitsProcessor(key, PAYLOADS[0], profile.with_(key="0" * 16))
    processor = PuraLogitsProcessor(key, PAYLOADS, profile)
    with pytest.raises(GenerationError, match="2 texts to generate, but 3"):
        processor(torch.tensor([[1], [2]]), torch.zeros((2, 257)))
    processor = PuraLogitsProcessor(key, PAYLOADS[0], profile)
    with pytest.raises(GenerationError, match="256 logits"):
        processor(torch.tensor([[1]]), torch.zeros((1, 256)))
    with pytest.raises(GenerationError, match="no finite"):
        processor(torch.tensor([[1]]), torch.full((1, 257), float("nan")))
    with pytest.raises(GenerationError):
        copy.deepcopy(processor)


def test_nothing_secret_in_its_repr(key: SecretKey, profile: Profile) -> None:
    assert key.to_hex()[:8] not in repr(PuraLogitsProcessor(key, PAYLOADS[0], profile))


# --- generate(watermarking_config=…) ------------------------------------------------------------


def configured(key: SecretKey, profile: Profile, **settings: Any) -> PuraWatermarkingConfig:
    return PuraWatermarkingConfig(key, PAYLOADS, profile, seed=5, eos_token_id=END, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"do_sample": False},
        {"do_sample": False, "cache_implementation": "static"},
        {"do_sample": True, "temperature": 0.8, "top_k": 40, "top_p": 0.95},
    ],
    ids=["greedy", "static cache", "sampled"],
)
def test_a_watermarking_config_marks_as_the_processor_does(
    tiny: LanguageModel, key: SecretKey, profile: Profile, settings: dict[str, Any]
) -> None:
    """And once more: a config serves any number of calls."""
    shared = profile.with_(temperature=0.8, top_k=40, top_p=0.95)
    own = generate_batch(tiny, PROMPTS, PAYLOADS, key, shared, tokens=60, seed=5)
    settings |= {"watermarking_config": configured(key, shared), "max_new_tokens": 60}
    for _ in range(2):
        assert written(tiny, PROMPTS, **settings) == [text.ids.tolist() for text in own]


def test_settings_that_leave_a_text_as_it_is(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    """Drafts, a cache, a least length; a stop string cuts the same text off."""

    sampled = {"do_sample": True, "temperature": 0.8, "top_k": 40, "top_p": 0.95}
    shared = profile.with_(temperature=0.8, top_k=40, top_p=0.95)

    def made(**settings: Any) -> list[int]:
        config = PuraWatermarkingConfig(key, PAYLOADS[0], shared, seed=5, eos_token_id=END)
        settings = {"max_new_tokens": 60, "do_sample": False, **settings}
        return written(tiny, PROMPTS[:1], watermarking_config=config, **settings)[0]

    plain = made()
    for settings in (
        {"prompt_lookup_num_tokens": 4},
        {"assistant_model": resembling(tiny)},
        {"assistant_model": resembling(tiny), **sampled},
        {"prompt_lookup_num_tokens": 4, **sampled},
        {"cache_implementation": "static"},
        {"min_new_tokens": 5},
    ):
        assert made(**settings) == plain, settings
    letters = [tiny.tokenizer.decode([token]) for token in plain]
    stop = next(one for one in letters if one.isalpha() and one.isascii())
    cut = made(stop_strings=[stop], tokenizer=tiny.tokenizer)
    assert cut == plain[: letters.index(stop) + 1]
    assert len(cut) < len(plain)


def test_a_pipeline_marks_as_the_processor_does(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    made = generate_batch(tiny, PROMPTS[:1], PAYLOADS[:1], key, profile, tokens=20, seed=5)
    config = PuraWatermarkingConfig(key, PAYLOADS[0], profile, seed=5, eos_token_id=END)
    write = pipeline("text-generation", model=tiny.network, tokenizer=tiny.tokenizer)
    found = write(
        PROMPTS[0],
        watermarking_config=config,
        max_new_tokens=20,
        do_sample=False,
        return_tensors=True,
        add_special_tokens=False,
    )
    ids = found[0]["generated_token_ids"]
    assert ids[-len(made[0].ids) :] == made[0].ids.tolist()


def test_nothing_secret_leaves_a_watermarking_config(
    tmp_path: Path, key: SecretKey, profile: Profile
) -> None:
    config = configured(key, profile)
    generation = GenerationConfig(watermarking_config=config)
    config.to_json_file(tmp_path / "config.json")
    written = (
        (tmp_path / "config.json").read_text(),
        repr(config) + config.to_json_string() + str(dict(config)) + str(config.to_dict()),
        repr(generation.to_dict()),
    )
    for text in written:
        assert key.to_hex() not in text
        assert profile.fingerprint in text
    with pytest.raises(GenerationError):
        pickle.dumps(config)


def test_continuous_batching_is_refused(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    """Left to the library, the processor would be dropped with a warning."""
    processors = LogitsProcessorList([configured(key, profile).construct_processor(261)])
    with pytest.raises(GenerationError, match="continuous batching"):
        ContinuousBatchingLogitsProcessorList(processors)

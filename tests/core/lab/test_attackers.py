"""Attacks by a model that is not the one under attack: other tokens, another opening."""

import numpy as np
import pytest
import torch
from tests.core.tiny import LLAMA, byte_tokenizer
from tokenizers import processors
from transformers import LlamaConfig, LlamaForCausalLM

from pura.measure.attacks.base import perplexity
from pura.measure.attacks.rewrite import ModelStepper, ModelWriter, logits_of, model_tools
from pura.measure.cache import Cache
from pura.measure.evaluate import TextReading
from pura.model.device import choose_device
from pura.model.load import LanguageModel, wrap
from pura.model.tokenise import decode, tokenise
from pura_lab.experiments.bench import ExperimentBench, PlainText

TEXT = (
    "The ferry left the harbour before sunrise, and nobody on the pier noticed that the captain"
    " had forgotten his coat. When the fog lifted, the passengers saw an island that was on none"
    " of their maps. They went ashore, found a small chapel with an open door, and waited there"
    " until the evening, when the ship came back for them."
)


@pytest.fixture(scope="module")
def letters() -> LanguageModel:
    """A random model of bytes whose tokenizer opens every document with a token of its own."""
    tokenizer = byte_tokenizer("<s>", bos_token="<s>", eos_token="<s>")
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    config = LlamaConfig(vocab_size=len(tokenizer), **LLAMA)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = LlamaForCausalLM(config)
        torch.nn.init.normal_(network.lm_head.weight, std=0.5)
    return wrap(network, tokenizer, choose_device("cpu"), name="letters")


def test_a_model_reads_its_opening_before_a_text(letters, tmp_path):
    ids = tokenise(letters.tokenizer, "The ferry").ids
    with torch.inference_mode():
        opened = torch.from_numpy(np.concatenate([[0], ids]))[None]
        want = letters.network(input_ids=opened).logits[0].numpy()
    np.testing.assert_allclose(logits_of(letters, ids)[1:], want[1:-1], atol=1e-5)
    np.testing.assert_allclose(logits_of(letters, opened[0].numpy())[1:], want[:-1], atol=1e-5)
    step = ModelStepper(letters)
    other = (ids + 1) % letters.vocab_size
    for t in range(4):
        both = np.array([other[t], ids[t]])
        if t == 3:
            step.go_on_as(np.array([1, 1]))
            both[0] = ids[t]
        rows = step(both)
    np.testing.assert_allclose(rows, np.stack([want[4], want[4]]), atol=1e-5)
    # No chat template: the request is the beginning of a text that is gone on with.
    assert ModelWriter(letters).request("You rewrite.", "Say it.")[:2] == [0, ids[0] + 5]
    assert ExperimentBench(letters, Cache(tmp_path)).plain.prefix == "bos"


@pytest.mark.weekly
@pytest.mark.model
def test_another_model_attacks_a_text_that_it_splits_otherwise(letters, builtin_model, tmp_path):
    ids = tokenise(letters.tokenizer, TEXT).ids
    flat = np.zeros(ids.size)
    read = TextReading(ids=ids, entropy_bits=flat, probability=flat, lo=flat, hi=flat)
    text = PlainText(number=0, prompt_ids=ids[:0], generator=read, points=flat)
    bench = ExperimentBench(letters, Cache(tmp_path), attacker=builtin_model)
    tools = model_tools(builtin_model)
    assert tools.tokenise is not None
    seen = {}
    for attack in ("substitute", "substitute-plausible", "infill"):
        hit = bench.attacked(text, attack, rate=0.2)
        changed = decode(letters.tokenizer, hit.ids.tolist())
        np.testing.assert_array_equal(hit.ids, tokenise(letters.tokenizer, changed).ids)
        assert 0.1 < hit.rate < 1.5
        seen[attack] = perplexity(tools.tokenise(changed), tools) or 0
    # What the attacker would have written itself; where it looks ahead, still more so.
    assert seen["infill"] < seen["substitute-plausible"] < seen["substitute"] / 2
    # Kept by who attacked: the model itself is another attacker.
    alone = ExperimentBench(letters, Cache(tmp_path)).attacked(text, "substitute", rate=0.2)
    assert alone.rate == pytest.approx(0.2, abs=0.01)

"""A model that fits into a test: a random Llama of two layers over a byte-level vocabulary."""

import pytest
import torch
from tests.core.tiny import LLAMA, byte_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from pura.model.device import choose_device
from pura.model.load import LanguageModel, wrap
from pura.scheme import Profile, SecretKey

PADDING_ROWS = 4
END = "<|end|>"


def random_llama(vocab_size: int, *, sharpness: float) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=vocab_size,
        **(LLAMA | {"intermediate_size": 64}),
        max_position_embeddings=256,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        network = LlamaForCausalLM(config)
        torch.nn.init.normal_(network.lm_head.weight, std=sharpness)
    return network


@pytest.fixture(scope="session")
def tiny() -> LanguageModel:
    """257 tokens, entropies from about 1 to 8 bits, and four logits that no token has."""
    tokenizer = byte_tokenizer(END, eos_token=END, pad_token=END)
    network = random_llama(len(tokenizer) + PADDING_ROWS, sharpness=0.5)
    return wrap(network, tokenizer, choose_device("cpu"), name="tiny")


@pytest.fixture(scope="session")
def key() -> SecretKey:
    return SecretKey(bytes(range(32)))


@pytest.fixture
def profile(tiny: LanguageModel) -> Profile:
    return Profile(payload_bits=12, blocks=3, vocab_size=tiny.vocab_size)

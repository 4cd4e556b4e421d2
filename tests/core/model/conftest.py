"""Fixtures of the model room: the real model once, and tiny random ones of four families."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pura.model import libraries

libraries.prepare()

import torch  # noqa: E402

from pura.model.device import Device, choose_device  # noqa: E402
from pura.model.load import LanguageModel, wrap  # noqa: E402

VOCAB = 331  # prime, so that no tile divides it
PADDED = 337


@pytest.fixture(scope="session")
def cpu() -> Device:
    return choose_device("cpu")


@pytest.fixture(scope="session")
def real_model(builtin_model: LanguageModel) -> LanguageModel:
    """The built-in model, once a session."""
    return builtin_model


def _config(family: str) -> Any:
    import transformers as tr
    from tests.core.tiny import LLAMA

    small: dict[str, Any] = LLAMA | {
        "vocab_size": PADDED,
        "head_dim": 8,
        "max_position_embeddings": 64,
    }
    plain = {k: v for k, v in small.items() if k not in ("num_key_value_heads", "head_dim")}
    match family:
        case "llama":
            return tr.LlamaConfig(**small, tie_word_embeddings=False)
        case "llama3":
            stretched = {
                "rope_type": "llama3",
                "rope_theta": 500_000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 32,
            }
            return tr.LlamaConfig(**small, rope_parameters=stretched)
        case "gemma2":
            return tr.Gemma2Config(**small, final_logit_softcapping=3.0, sliding_window=16)
        case "gemma3":
            kinds = ["sliding_attention", "full_attention"]
            return tr.Gemma3TextConfig(**small, sliding_window=16, layer_types=kinds)
        case "gemma3-capped":
            return tr.Gemma3TextConfig(**small, sliding_window=16, final_logit_softcapping=2.0)
        case "gpt-neox":
            return tr.GPTNeoXConfig(**plain)
        case "bloom":
            return tr.BloomConfig(vocab_size=PADDED, hidden_size=32, n_layer=2, n_head=4)
        case "cohere":
            return tr.CohereConfig(**small, logit_scale=0.25)
        case "granite":
            return tr.GraniteConfig(**small, logits_scaling=4.0)
        case "phi":  # a head with a bias
            return tr.PhiConfig(**plain)
    raise AssertionError(family)


@pytest.fixture(scope="session")
def tiny(cpu: Device) -> Callable[[str], LanguageModel]:
    """A tiny random model of a family; its logits are spread like those of a trained one."""
    made: dict[str, LanguageModel] = {}

    def build(family: str) -> LanguageModel:
        if family not in made:
            from tests.core.tiny import CountingTokenizer
            from transformers import AutoModelForCausalLM

            torch.manual_seed(7)
            auto: Any = AutoModelForCausalLM
            network = auto.from_config(_config(family))
            with torch.no_grad():
                for name, parameter in network.named_parameters():
                    if parameter.ndim > 1 or name.endswith("bias"):
                        parameter.normal_(0.0, 0.5)
            made[family] = wrap(network, CountingTokenizer(VOCAB), cpu, name=family)
        return made[family]

    return build


@pytest.fixture(scope="session")
def _small_original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete tiny Llama with a byte-level tokenizer, as a folder."""
    from tests.core.tiny import LLAMA, byte_tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("original") / "small"
    tokenizer = byte_tokenizer("<s>", bos_token="<s>")
    torch.manual_seed(11)
    config = LlamaConfig(
        vocab_size=len(tokenizer), **LLAMA, max_position_embeddings=64, bos_token_id=0
    )
    network = LlamaForCausalLM(config)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def small_folder(_small_original: Path, tmp_path: Path) -> Path:
    """A fresh copy of it that a test may damage."""
    return Path(shutil.copytree(_small_original, tmp_path / "small"))


@pytest.fixture
def shard() -> Callable[[Path], None]:
    """Cut the weights of a folder into shards with an index."""

    def cut(folder: Path) -> None:
        from transformers import LlamaForCausalLM

        network = LlamaForCausalLM.from_pretrained(folder)
        (folder / "model.safetensors").unlink()
        network.save_pretrained(folder, max_shard_size="30KB")

    return cut

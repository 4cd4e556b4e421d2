"""The own network gives the numbers of the library's, bit for bit, and leaves the rest to it."""

import copy
import json
import sys
from pathlib import Path

import pytest
import torch
from tests.core.programs import python

from pura.model import llama
from pura.model.folder import inspect
from pura.model.product import speed_up

DTYPES = (torch.float32, torch.bfloat16)


def _both(folder, dtype):
    from transformers import AutoModelForCausalLM

    own = llama.load(inspect(folder), dtype)
    theirs = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, local_files_only=True)
    assert own is not None
    assert type(own).__name__ == type(theirs).__name__
    return [network.eval().requires_grad_(requires_grad=False) for network in (own, theirs)]


def _ids(*shape, below):
    return torch.randint(0, below, shape)


@torch.inference_mode()
def _alike(own, theirs, sizes):
    """Feed both the same in all ways in which networks are fed; return what differs."""
    torch.manual_seed(3)
    rows, dtype = own.lm_head.out_features, own.lm_head.weight.dtype
    differ = []

    def feed(what, ids, caches=(None, None), **more):
        one, other = (
            network(input_ids=ids, past_key_values=cache, **more)
            for network, cache in zip((own, theirs), caches, strict=True)
        )
        if not torch.equal(one.logits, other.logits):
            differ.append(what)
        return one.past_key_values, other.past_key_values

    for size in sizes:
        feed(f"alone {size}", _ids(1, size, below=rows), use_cache=False)
        feed(f"side by side {size}", _ids(3, size, below=rows), use_cache=False)
    feed("the last only", _ids(2, 9, below=rows), use_cache=False, logits_to_keep=1)

    caches = (None, None)
    for size in (20, 7, 1, 5, 1):
        caches = feed(f"read on {size}", _ids(1, size, below=rows), caches, use_cache=True)

    # Prompts of unlike length, filled up on the left, and what is written behind them.
    text = torch.ones(3, 24, dtype=torch.long)
    text[1, :10], text[2, :3] = 0, 0
    caches, places = (None, None), (text.cumsum(1) - 1).clamp_(min=0)
    for size in (24, 1, 1, 4):
        if size < 24:
            text = torch.cat([text, text.new_ones(3, size)], dim=1)
            places = places[:, -1:] + 1 + torch.arange(size)
        ids = _ids(3, size, below=rows)
        more = {"attention_mask": text, "position_ids": places, "use_cache": True}
        caches = feed(f"filled up {size}", ids, caches, **more)

    # What the passes over several pieces and the branches feed: a mask of any form, and places.
    see = (torch.rand(2, 30, 30) < 0.4) | torch.eye(30, dtype=torch.bool)
    mask = torch.zeros(2, 1, 30, 30, dtype=dtype)
    mask.masked_fill_(~see.tril()[:, None], torch.finfo(dtype).min)
    more = {"attention_mask": mask, "position_ids": _ids(2, 30, below=40), "use_cache": False}
    feed("masked", _ids(2, 30, below=rows), **more)
    caches = feed("before branches", _ids(1, 12, below=rows), use_cache=True)
    for size in (1, 6):
        behind = torch.zeros(1, 1, size, 12 + size, dtype=dtype)
        behind[..., 3:9] = torch.finfo(dtype).min
        more = {"attention_mask": behind, "position_ids": _ids(1, size, below=40)}
        feed(f"branch {size}", _ids(1, size, below=rows), copy.deepcopy(caches), **more)
    return differ


@pytest.mark.model
@pytest.mark.sampled
def test_the_built_in_model_reads_bit_for_bit_as_in_the_library(builtin_files):
    for dtype in DTYPES:
        own, theirs = _both(builtin_files, dtype)
        assert _alike(own, theirs, (1, 2, 64, 205)) == [], dtype


_SCALED = {"rope_type": "linear", "factor": 4.0, "rope_theta": 5000.0}
_LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "rope_theta": 500000.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
KINDS = {
    "plain": {},
    "a head for all queries, biases": {
        "num_key_value_heads": 1,
        "attention_bias": True,
        "mlp_bias": True,
    },
    "a key for each query, own head": {"num_key_value_heads": 4, "tie_word_embeddings": False},
    "wide heads": {"head_dim": 32},
    "wider heads than kernels share": {"head_dim": 288, "rope_parameters": _SCALED},
    "linear": {"rope_parameters": _SCALED},
    "llama3": {"rope_parameters": {**_LLAMA3, "original_max_position_embeddings": 16}},
    "llama3, by its length": {"rope_parameters": _LLAMA3},
}


@pytest.fixture
def folder_of(tmp_path):
    """A folder of a network with some settings, its numbers spread like those of a trained one."""

    def save(name, settings):
        from transformers import LlamaConfig, LlamaForCausalLM

        usual = {"num_key_value_heads": 2, "tie_word_embeddings": True}
        torch.manual_seed(5)
        network = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=300,
                hidden_size=64,
                intermediate_size=96,
                num_hidden_layers=3,
                num_attention_heads=4,
                max_position_embeddings=64,
                **(usual | settings),
            )
        )
        with torch.no_grad():
            for weight in network.parameters():
                weight.normal_(0.2, 0.4)
        folder = tmp_path / name
        network.save_pretrained(folder)
        (folder / "tokenizer.json").write_text("{}")
        return folder

    return save


def test_every_setting_that_is_known_reads_bit_for_bit_as_in_the_library(folder_of):
    differ = {}
    for name, settings in KINDS.items():
        folder = folder_of(name, settings)
        for dtype in DTYPES:
            own, theirs = _both(folder, dtype)
            differ[name, dtype] = _alike(own, theirs, (1, 2, 50))
            assert own.generation_config.eos_token_id == theirs.generation_config.eos_token_id
            for network in (own, theirs):
                speed_up(network)
            differ[name, dtype, "sped up"] = _alike(own, theirs, (2, 50))
            assert sum(p.numel() for p in own.parameters()) == theirs.num_parameters()
    assert {kind: what for kind, what in differ.items() if what} == {}


def test_a_config_of_old_reads_as_in_the_library(folder_of):
    folder = folder_of("old", {"rope_parameters": _SCALED})
    config = json.loads((folder / "config.json").read_text())
    config.pop("rope_parameters")
    config |= {"rope_theta": 700.0, "rope_scaling": {"type": "linear", "factor": 2.0}}
    (folder / "config.json").write_text(json.dumps(config))
    own, theirs = _both(folder, torch.float32)
    assert _alike(own, theirs, (40,)) == []


def test_what_is_not_known_is_left_to_the_library(folder_of):
    folder = folder_of("x", {})
    config = json.loads((folder / "config.json").read_text())
    yarn = {"rope_type": "yarn", "factor": 2.0, "rope_theta": 10000.0}
    for change in (
        {"hidden_act": "gelu"},
        {"quantization_config": {"quant_method": "mxfp4"}},
        {"sliding_window": 16},
        {"rope_parameters": yarn},
        {"rope_parameters": {**_SCALED, "partial_rotary_factor": 0.5}},
        {"num_hidden_layers": 4},
        {"hidden_size": 128},
        {"tie_word_embeddings": False},
    ):
        (folder / "config.json").write_text(json.dumps(config | change))
        assert llama.load(inspect(folder), torch.float32) is None, change
    (folder / "config.json").write_text(json.dumps(config))
    assert llama.load(inspect(folder), torch.float32) is not None


def test_a_loaded_model_has_this_network_and_needs_no_transformers(small_folder):
    said = python(
        "import sys; from pathlib import Path; from pura.model.load import load_model\n"
        "from pura.model.device import choose_device\n"
        "model = load_model(Path(sys.argv[1]), choose_device('cpu'))\n"
        "print(type(model.network).__module__, model.architecture, 'transformers' in sys.modules)",
        small_folder,
    )
    assert said.split() == ["pura.model.llama", "LlamaForCausalLM", str(False)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_weights_stay_in_their_file(small_folder):
    network = llama.load(inspect(small_folder), torch.float32)
    assert network is not None
    lines = Path("/proc/self/maps").read_text().splitlines()
    ours = [line.split()[0].split("-") for line in lines if str(small_folder) in line]
    mapped = [range(int(low, 16), int(high, 16)) for low, high in ours]
    places = [weight.data_ptr() for weight in network.parameters()]
    assert all(any(at in one for one in mapped) for at in places)

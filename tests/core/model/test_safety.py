"""Model folders are untrusted: what is unsafe, damaged or absurd is refused before it is loaded."""

import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from pura.base.errors import ModelError
from pura.model.folder import inspect_folder, inspect_safetensors
from pura.model.load import fingerprint_of, load_model
from pura.model.suitability import metadata_of


def test_good_folder_is_described_and_loads(small_folder, cpu):
    facts = inspect_folder(small_folder)
    assert facts.architecture == "LlamaForCausalLM"
    assert facts.dtype == "F32"
    model = load_model(small_folder, cpu)
    assert model.parameters == facts.parameters
    assert model.fingerprint == fingerprint_of(small_folder)
    assert model.name == small_folder.name
    assert model.weights == "safetensors"
    assert model.context_length == 64


@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "x.PT", "w.pth", "w.ckpt", "w.pkl", "training_args.bin"]
)
def test_pickles_are_refused_unopened(small_folder, cpu, name):
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (small_folder / "exploded",))

    (small_folder / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ModelError, match=name) as caught:
        load_model(small_folder, cpu)
    assert caught.value.code == "model-unsafe"
    assert not (small_folder / "exploded").exists()


Act = Callable[[Path], object]


def _tensors(change: Callable[[dict[str, torch.Tensor]], object]) -> Act:
    def act(folder: Path) -> None:
        path = folder / "model.safetensors"
        tensors = load_file(path)
        change(tensors)
        save_file(tensors, path, metadata={"format": "pt"})

    return act


HARMS: dict[str, tuple[Act, str]] = {
    "a pickle only": (
        lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
        "run code",
    ),
    "a pickle under a safe name": (
        lambda f: torch.save({"w": torch.zeros(9)}, f / "model.safetensors"),
        "damaged",
    ),
    "Python": (
        lambda f: (f / "modeling_evil.py").write_text("raise SystemExit('ran')"),
        r"modeling_evil\.py",
    ),
    "a tokenizer of nonsense": (
        lambda f: (f / "tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": 5}}'),
        "tokenizer",
    ),
    "no config": (lambda f: (f / "config.json").unlink(), r"config\.json"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "tokenizer"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "safetensors"),
    "a tensor missing": (
        _tensors(lambda tensors: tensors.pop("model.layers.0.mlp.up_proj.weight")),
        "missing",
    ),
    "weights that are no numbers": (
        _tensors(lambda tensors: tensors["model.norm.weight"].fill_(float("nan"))),
        "finite",
    ),
}


@pytest.mark.parametrize("name", HARMS)
def test_what_is_unsafe_damaged_or_missing_is_refused(small_folder, cpu, name):
    act, words = HARMS[name]
    act(small_folder)
    with pytest.raises(ModelError, match=words):
        load_model(small_folder, cpu)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_remote_code_is_refused(small_folder, cpu, name):
    path = small_folder / name
    data = json.loads(path.read_text()) | {"auto_map": {"AutoModelForCausalLM": "evil--x.Evil"}}
    path.write_text(json.dumps(data))
    with pytest.raises(ModelError, match="run code", check=lambda e: e.code == "model-unsafe"):
        load_model(small_folder, cpu)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden_size", -1),
        ("hidden_size", 1 << 40),
        ("vocab_size", 1 << 62),
        ("num_hidden_layers", 0),
        ("num_hidden_layers", 10_000_000),
        ("num_attention_heads", "many"),
        ("max_position_embeddings", True),
        ("intermediate_size", 1.5),
        ("head_dim", [8, -8]),
        # Within the bounds, but far beyond what the weights hold.
        ("intermediate_size", 1 << 20),
        ("num_hidden_layers", 400),
        ("vocab_size", 1 << 24),
        # Known names, wrong shapes.
        ("hidden_size", 64),
        ("num_hidden_layers", 3),
        ("model_type", "no-such-architecture"),
        ("model_type", None),
        ("model_type", 7),
        ("hidden_act", "no-such-function"),
        ("rope_parameters", {"rope_type": "nonsense"}),
        ("rope_parameters", 3),
    ],
)
def test_absurd_config_is_a_model_error(small_folder, cpu, field, value):
    path = small_folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(ModelError) as caught:
        load_model(small_folder, cpu)
    assert str(small_folder) not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b"null"])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_damaged_json_is_a_model_error(small_folder, cpu, name, content):
    (small_folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=name):
        load_model(small_folder, cpu)


def test_no_folder_at_all(tmp_path, cpu):
    with pytest.raises(ModelError, match="not there"):
        load_model(tmp_path / "nowhere", cpu)


def test_truncated_and_padded_weights_are_refused(small_folder, cpu):
    path = small_folder / "model.safetensors"
    whole = path.read_bytes()
    for content in (whole[:-1], whole + b"\0", whole[: len(whole) // 2], whole[:5], b""):
        path.write_bytes(content)
        with pytest.raises(ModelError, match="damaged or incomplete"):
            load_model(small_folder, cpu)


def test_index_must_name_files_of_the_folder(small_folder, cpu):
    index = small_folder / "model.safetensors.index.json"
    for mapping, word in (
        ({"a": "../outside.safetensors"}, "damaged"),
        ({"a": 5}, "damaged"),
        ({}, "damaged"),
        ({"a": "model-00002-of-00002.safetensors"}, "00002"),
    ):
        index.write_text(json.dumps({"weight_map": mapping}))
        with pytest.raises(ModelError, match=word):
            load_model(small_folder, cpu)


HEADER = {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}


def write_safetensors(path: Path, header: object, data: bytes) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "X9"},
        {"dtype": ["F32"]},
        {"shape": [2, -3]},
        {"shape": [1 << 70, 3]},
        {"shape": "2x3"},
        {"data_offsets": [0, 20]},
        {"data_offsets": [-4, 20]},
        {"data_offsets": [0]},
        {"data_offsets": [24, 48]},
    ],
    ids=str,
)
def test_headers_that_lie_are_refused(tmp_path, change):
    path = tmp_path / "w.safetensors"
    assert inspect_safetensors(write_safetensors(path, HEADER, bytes(24))).counts == {"F32": 6}
    write_safetensors(path, {"w": HEADER["w"] | change}, bytes(24))
    with pytest.raises(ModelError):
        inspect_safetensors(path)


@settings(max_examples=200)
@given(data=st.binary(max_size=80))
def test_any_bytes_are_refused_calmly(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(data)
    for check in (inspect_safetensors, metadata_of):
        with pytest.raises(ModelError):
            check(path)


def test_gguf_of_nonsense_is_a_model_error(tmp_path, cpu):
    path = tmp_path / "model.gguf"
    for content in (
        b"GGUF",
        b"PK\x03\x04" + bytes(60),
        struct.pack("<4sIQQ", b"GGUF", 3, 1 << 60, 1) + bytes(99),
        struct.pack("<4sIQQ", b"GGUF", 3, 2, 3) + bytes(400),
    ):
        path.write_bytes(content)
        with pytest.raises(ModelError):
            load_model(path, cpu)


def test_shards_are_read_through_their_index(small_folder, cpu, shard):
    before = load_model(small_folder, cpu)
    shard(small_folder)
    assert len(inspect_folder(small_folder).weights) > 1
    assert load_model(small_folder, cpu).parameters == before.parameters

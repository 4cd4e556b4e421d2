"""What cannot be loaded is said for what it is, before a library stumbles over it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from pura.base.errors import ModelError
from pura.model.folder import inspect_folder
from pura.model.gguf_header import read_metadata
from pura.model.load import load_model
from pura.model.store import ModelStore


@pytest.fixture
def folder(small_files: Path, tmp_path: Path) -> Path:
    """A sound folder, whose config a test changes."""
    target = tmp_path / "model"
    shutil.copytree(small_files, target)
    return target


def changed(folder: Path, **settings: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return folder


QUANTISED = [
    ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "AWQ"),
    ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "GPTQ"),
    ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}, "bitsand"),
    ({"quantization_config": {"quant_method": "compressed-tensors"}}, "compressed-tensors"),
    ({"quantization_config": {"quant_method": "fp8"}}, "FP8"),
    ({"compression_config": {"format": "pack-quantized"}}, "pack-quantized"),
    ({"text_config": {"quantization_config": {"quant_method": "awq"}}}, "AWQ"),
    ({"quantization": {"group_size": 64, "bits": 4}}, "MLX"),
]


@pytest.mark.parametrize(("settings", "method"), QUANTISED, ids=lambda value: str(value)[:40])
def test_quantised_weights_are_named_by_their_config(
    folder: Path, settings: dict[str, Any], method: str
) -> None:
    with pytest.raises(ModelError) as caught:
        inspect_folder(changed(folder, **settings))
    assert caught.value.key == "model.quantised"
    assert method in caught.value.message


@pytest.mark.parametrize(
    ("tensor", "method"),
    [
        ("model.layers.0.mlp.up_proj.qweight", "GPTQ / AWQ"),
        ("model.layers.0.mlp.up_proj.weight_packed", "compressed-tensors"),
        ("model.layers.0.mlp.up_proj.weight.absmax", "bitsandbytes"),
    ],
)
def test_quantised_weights_are_named_by_their_tensors(
    folder: Path, tensor: str, method: str
) -> None:
    save_file({tensor: np.zeros((2, 2), np.int32)}, folder / "model.safetensors")
    with pytest.raises(ModelError) as caught:
        inspect_folder(folder)
    assert caught.value.values["method"] == method


def test_a_quantiser_that_left_the_config_as_it_was_is_named_by_its_file(folder: Path) -> None:
    (folder / "quantize_config.json").write_text("{}")
    with pytest.raises(ModelError) as caught:
        inspect_folder(folder)
    assert caught.value.values["method"] == "GPTQ"


def test_weights_that_the_library_expands_by_itself_are_let_through(folder: Path) -> None:
    inspect_folder(changed(folder, quantization_config={"quant_method": "mxfp4"}))


@pytest.mark.parametrize(
    ("kind", "key"),
    [("qwen9_moe", "model.architecture-unknown"), ("clip", "model.no-causal")],
)
def test_an_architecture_that_writes_no_text_here_is_named(
    folder: Path, cpu: Any, kind: str, key: str
) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(changed(folder, model_type=kind, architectures=["X"]), cpu)
    assert (caught.value.key, caught.value.values["name"]) == (key, kind)


def test_an_adapter_is_named(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError) as caught:
        inspect_folder(tmp_path)
    assert caught.value.key == "model.adapter"


# GGUF


def packed(path: Path, architecture: str = "llama", **metadata: Any) -> Path:
    """Write a GGUF file with some metadata in front of, and behind, a vocabulary."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_token_list(["a", "b" * 100])
    writer.add_array("numbers", [1, 2, 3])
    for key, value in metadata.items():
        name = key.replace("_", ".", 1)
        if isinstance(value, str):
            writer.add_string(name, value)
        else:
            writer.add_uint16(name, value)
    writer.add_tensor("x.weight", np.zeros((64, 64), np.float32))
    for write in ("header", "kv_data", "tensors"):
        getattr(writer, f"write_{write}_to_file")()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        ({"split_no": 1, "split_count": 3}, "model.gguf-split"),
        ({"architecture": "clip"}, "model.gguf-projector"),
        ({"general_type": "mmproj"}, "model.gguf-projector"),
        ({"general_type": "adapter"}, "model.adapter"),
        ({"architecture": "qwen9moe"}, "model.architecture-unknown"),
    ],
    ids=str,
)
def test_a_gguf_file_that_is_no_whole_model_is_named(
    tmp_path: Path, metadata: dict[str, Any], key: str
) -> None:
    file = packed(tmp_path / "x.gguf", **metadata)
    with pytest.raises(ModelError) as caught:
        ModelStore(tmp_path / "store").add(file, "x")
    assert caught.value.key == key
    assert caught.value.values["name"] in ("x.gguf", "qwen9moe")
    assert caught.value.hint


def test_a_piece_of_a_gguf_file_says_which_it_is(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        ModelStore(tmp_path / "store").add(packed(tmp_path / "x.gguf", split_no=1, split_count=3))
    assert "piece 2 of 3" in caught.value.message


def test_a_folder_of_a_gguf_file_says_so(tmp_path: Path) -> None:
    packed(tmp_path / "x.gguf")
    with pytest.raises(ModelError) as caught:
        inspect_folder(tmp_path)
    assert caught.value.key == "model.gguf-folder"


def test_metadata_is_read_past_lists_and_long_strings(tmp_path: Path) -> None:
    file = packed(tmp_path / "x.gguf", general_name="name", tokenizer_chat="x" * 9000, split_no=7)
    metadata = read_metadata(file)
    assert metadata["general.architecture"] == "llama"
    assert (metadata["general.name"], metadata["split.no"]) == ("name", 7)
    assert metadata["tokenizer.chat"] == ""


@given(data=st.data())
def test_a_damaged_gguf_header_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    if not path.exists():
        packed(path)
    whole = path.read_bytes()[:600]
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    other = path.with_name("other.gguf")
    other.write_bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    try:
        read_metadata(other)
    except ModelError as error:
        assert error.hint  # noqa: PT017

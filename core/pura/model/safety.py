"""Look at a model folder before any library does.

A model folder is untrusted input. This module reads names, sizes and JSON only, and refuses what
could run code (pickles, Python files, remote code) or take the machine down (absurd sizes,
headers that promise more than the file holds). Nothing here imports torch.
"""

from __future__ import annotations

import math
import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pura.base.errors import ModelError
from pura.base.files import open_regular
from pura.base.json_text import read_json

PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib")
CODE: Final = (".py", ".pyc", ".so", ".dll", ".dylib")
MAX_JSON_BYTES: Final = 128 << 20  # a tokenizer of a million tokens takes some 80 MB
MAX_CONFIG_BYTES: Final = 4 << 20
MAX_HEADER_BYTES: Final = 100 << 20  # the limit of the safetensors format itself
GGUF_MAGIC: Final = b"GGUF"
_ITEM_BITS: Final = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "I8", "U8", "BOOL"), 8),
}
# Bounds no causal language model comes near; they stop sizes that are meant to exhaust memory.
_BOUNDS: Final = {
    "hidden_size": 1 << 17,
    "n_embd": 1 << 17,
    "d_model": 1 << 17,
    "intermediate_size": 1 << 20,
    "num_hidden_layers": 4096,
    "n_layer": 4096,
    "num_attention_heads": 1 << 14,
    "n_head": 1 << 14,
    "num_key_value_heads": 1 << 14,
    "head_dim": 1 << 14,
    "vocab_size": 1 << 24,
    "max_position_embeddings": 1 << 28,
}


@dataclass(frozen=True, kw_only=True)
class FolderFacts:
    """What a model folder says about itself.

    Attributes:
        weights: The safetensors files, in order of their names.
        architecture: Class name from the config, or its model type.
        parameters: Numbers stored in the weights.
        dtype: The number format of most of them, as safetensors writes it.
        config: The parsed ``config.json``.
    """

    weights: tuple[Path, ...]
    architecture: str
    parameters: int
    dtype: str
    config: dict[str, Any]


def inspect(path: Path) -> FolderFacts | None:
    """Check a folder of safetensors or a GGUF file; of the latter nothing is told."""
    if path.is_file():
        inspect_gguf(path)
        return None
    return inspect_folder(path)


def inspect_folder(folder: Path) -> FolderFacts:
    """Check a folder of safetensors weights.

    Raises:
        ModelError: Missing, unsafe or damaged; the file at fault is named.
    """
    names = _names(folder)
    _refuse_code(names)
    _refuse_special(folder, names)
    config = read_object(folder / "config.json", MAX_CONFIG_BYTES)
    _check_config(config)
    for name in ("tokenizer_config.json", "processor_config.json", "tokenizer.json"):
        if name in names:
            data = read_object(folder / name, MAX_JSON_BYTES)
            if name != "tokenizer.json":
                _refuse_remote_code(data, name)
    if not any(n in names for n in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise ModelError("model.lacks", name="tokenizer.json")
    weights = _weight_files(folder, names)
    counts: dict[str, int] = {}
    for path in weights:
        for dtype, numbers in inspect_safetensors(path).items():
            counts[dtype] = counts.get(dtype, 0) + numbers
    kinds = config.get("architectures")
    architecture = kinds[0] if isinstance(kinds, list) and kinds else config["model_type"]
    return FolderFacts(
        weights=weights,
        architecture=str(architecture),
        parameters=sum(counts.values()),
        dtype=max(counts, key=counts.__getitem__),
        config=config,
    )


def _names(folder: Path) -> set[str]:
    try:
        return {path.name for path in folder.iterdir()}
    except OSError:
        raise ModelError("model.folder", name=folder.name) from None


def _refuse_code(names: set[str]) -> None:
    for name in sorted(names):
        suffix = Path(name).suffix.lower()
        if suffix in PICKLES:
            raise ModelError("model.unsafe", name=name, code="model-unsafe")
        if suffix in CODE:
            raise ModelError("model.unsafe", name=name, code="model-unsafe")


def _refuse_special(folder: Path, names: set[str]) -> None:
    """Refuse what a library would wait for or never come to the end of; links to files may stay."""
    for name in sorted(names):
        try:
            facts = (folder / name).stat()
        except OSError:
            raise ModelError("model.folder", name=name) from None
        if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
            raise ModelError("model.unsafe", name=name, code="model-unsafe")
        loaded = name.endswith((".json", ".model", ".txt", ".jinja"))
        if loaded and stat.S_ISREG(facts.st_mode) and facts.st_size > MAX_JSON_BYTES:
            raise ModelError("model.file-large", name=name)


def read_object(path: Path, limit: int) -> dict[str, Any]:
    """Read a JSON object of at most ``limit`` bytes.

    Raises:
        ModelError: Missing, too large, damaged, or not an object.
    """
    name = path.name
    try:
        with open_regular(path) as file:
            content = file.read(limit + 1)
        if len(content) > limit:
            raise ModelError("model.file-large", name=name)
        data = read_json(content)
    except FileNotFoundError:
        raise ModelError("model.lacks", name=name) from None
    except (OSError, ValueError, RecursionError):
        raise ModelError("model.file-damaged", name=name) from None
    if not isinstance(data, dict):
        raise ModelError("model.file-damaged", name=name)
    return data


def _nested(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stack = [data]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(v for v in here.values() if isinstance(v, dict))


def _refuse_remote_code(data: dict[str, Any], name: str) -> None:
    if any("auto_map" in part for part in _nested(data)):
        raise ModelError("model.unsafe", name=name, code="model-unsafe")


def _check_config(config: dict[str, Any]) -> None:
    _refuse_remote_code(config, "config.json")
    if not isinstance(config.get("model_type"), str):
        raise ModelError("model.impossible", name="model_type")
    for part in _nested(config):
        for name, bound in _BOUNDS.items():
            value = part.get(name)
            # A list holds one value a layer; None means the architecture's own default.
            for number in value if isinstance(value, list) else [value]:
                if number is None:
                    continue
                if type(number) is not int or not 1 <= number <= bound:
                    raise ModelError("model.impossible", name=name)


def _weight_files(folder: Path, names: set[str]) -> tuple[Path, ...]:
    index = "model.safetensors.index.json"
    if index in names:
        mapping = read_object(folder / index, MAX_JSON_BYTES).get("weight_map")
        files = set(mapping.values()) if isinstance(mapping, dict) else set()
        if not files or not all(isinstance(f, str) and f == Path(f).name for f in files):
            raise ModelError("model.file-damaged", name=index)
        if missing := sorted(files - names):
            raise ModelError("model.lacks", name=missing[0])
        return tuple(folder / name for name in sorted(files))
    if "model.safetensors" in names:
        return (folder / "model.safetensors",)
    raise ModelError("model.lacks", name="model.safetensors")


def inspect_safetensors(path: Path) -> dict[str, int]:
    """Check header and size of a safetensors file without loading it.

    Returns:
        How many numbers it holds, by number format.

    Raises:
        ModelError: Not safetensors, cut short, or a header that does not fit the file.
    """
    damaged = ModelError("model.file-damaged", name=path.name, code="model-damaged")
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            (length,) = struct.unpack("<Q", file.read(8))
            if not 2 <= length <= min(MAX_HEADER_BYTES, size - 8):
                raise damaged
            header = read_json(file.read(length))
    except (OSError, ValueError, RecursionError, struct.error):
        raise damaged from None
    if not isinstance(header, dict):
        raise damaged
    header.pop("__metadata__", None)
    counts: dict[str, int] = {}
    end = 0
    for entry in header.values():
        dtype, numbers, last = _tensor(entry, damaged)
        counts[dtype] = counts.get(dtype, 0) + numbers
        end = max(end, last)
    if not counts or end != size - 8 - length:
        raise damaged
    return counts


def _tensor(entry: object, damaged: ModelError) -> tuple[str, int, int]:
    if not isinstance(entry, dict):
        raise damaged
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in _ITEM_BITS:
        raise damaged
    if not isinstance(shape, list) or not isinstance(offsets, list):
        raise damaged
    if len(offsets) != 2 or not all(type(x) is int and x >= 0 for x in (*shape, *offsets)):
        raise damaged
    numbers = math.prod(shape)
    if offsets[1] - offsets[0] != numbers * _ITEM_BITS[dtype] // 8:
        raise damaged
    return dtype, numbers, offsets[1]


def inspect_gguf(path: Path) -> None:
    """Check that a file starts like a GGUF file whose counts are possible.

    Raises:
        ModelError: It does not.
    """
    damaged = ModelError("model.file-damaged", name=path.name, code="model-damaged")
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            magic, version, tensors, entries = struct.unpack("<4sIQQ", file.read(24))
    except (OSError, struct.error):
        raise damaged from None
    # Every tensor and every entry takes tens of bytes of the file itself.
    possible = tensors and 16 * (tensors + entries) <= size
    if magic != GGUF_MAGIC or version not in (2, 3) or not possible:
        raise damaged

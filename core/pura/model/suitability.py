"""Checks whether a model can be loaded here, and names the usual causes if it cannot.

Libraries report these cases as missing packages, unknown keys or damaged files. Each is recognised
beforehand, from the metadata of the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pura.base.errors import ModelError
from pura.base.numerals import visible
from pura.model.gguf_header import Metadata, read_metadata

# Common names of quantisations, by their names in config.json.
_QUANTISATIONS: Final = {
    "awq": "AWQ",
    "gptq": "GPTQ",
    "exl2": "EXL2",
    "exl3": "EXL3",
    "fp8": "FP8",
    "hqq": "HQQ",
    "aqlm": "AQLM",
    "eetq": "EETQ",
}
# Files that older quantisers write beside an untouched config.json.
_QUANTISER_FILES: Final = {"quantize_config.json": "GPTQ", "quant_config.json": "AWQ"}
# Endings of the names of packed weights, for quantisers that do not change config.json.
_PACKED_WEIGHTS: Final = {
    ".qweight": "GPTQ / AWQ",
    ".weight_packed": "compressed-tensors",
    ".absmax": "bitsandbytes",
}
_LOADABLE: Final = frozenset({"mxfp4"})
"""Formats that transformers expands on any processor (gpt-oss)."""
_MAX_NAME: Final = 60  # characters of a name from the model that a message repeats


def refuse_quantised(
    config: Mapping[str, Any], files: Collection[str], weights: Collection[str]
) -> None:
    """Refuse a folder whose weights are quantised in a way that needs the quantiser's library.

    Args:
        config: The parsed ``config.json``.
        files: Names of the files in the folder.
        weights: Names of the tensors.

    Raises:
        ModelError: Names the quantisation.
    """
    for method in _methods(config, files, weights):
        if method.lower() not in _LOADABLE:
            name = _QUANTISATIONS.get(method.lower(), method)
            raise ModelError("model.quantised", method=_printable(name), code="model-quantised")


def _methods(
    config: Mapping[str, Any], files: Collection[str], weights: Collection[str]
) -> Iterator[str]:
    for part in (config, *(value for value in config.values() if isinstance(value, dict))):
        settings = part.get("quantization_config") or part.get("compression_config")
        if isinstance(settings, dict):
            yield str(settings.get("quant_method") or settings.get("format") or "?")
        elif isinstance(part.get("quantization"), dict):
            yield "MLX"
    yield from (method for name, method in _QUANTISER_FILES.items() if name in files)
    for ending, method in _PACKED_WEIGHTS.items():
        if any(name.endswith(ending) for name in weights):
            yield method


def refuse_part_of_gguf(metadata: Metadata, name: str) -> None:
    """Refuse a GGUF file that is one piece of several, or not a language model.

    Args:
        metadata: Metadata of the file.
        name: Name of the file.

    Raises:
        ModelError: The file is one of these; the message tells which.
    """
    pieces = metadata.get("split.count", 0)
    if isinstance(pieces, int) and pieces > 1:
        piece = metadata.get("split.no", 0)
        number = piece + 1 if isinstance(piece, int) else 1
        raise ModelError(
            "model.gguf-split", name=name, number=number, count=pieces, code="model-gguf-split"
        )
    kind = metadata.get("general.type", "model")
    if metadata.get("general.architecture") == "clip" or kind in ("mmproj", "projector"):
        raise ModelError("model.gguf-projector", name=name, code="model-gguf-projector")
    if kind == "adapter":
        raise ModelError("model.adapter", name=name, code="model-adapter")


def metadata_of(path: Path) -> Metadata:
    """Return the metadata of a GGUF file that holds a whole language model.

    Raises:
        ModelError: The file is damaged, or holds something else.
    """
    metadata = read_metadata(path)
    refuse_part_of_gguf(metadata, path.name)
    return metadata


def refuse_unknown_architecture(config: Mapping[str, Any]) -> None:
    """Refuse a model that this version of transformers does not support, or that writes no text.

    Args:
        config: The parsed ``config.json``.

    Raises:
        ModelError: Names the architecture.
    """
    from transformers.models.auto import modeling_auto
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = str(config["model_type"])
    if kind not in CONFIG_MAPPING:
        raise _unknown(kind)
    if kind not in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        raise ModelError("model.no-causal", name=_printable(kind), code="model-not-causal")


def refuse_unknown_gguf(metadata: Metadata) -> None:
    """Refuse a GGUF file of an architecture that transformers cannot expand.

    Raises:
        ModelError: Names the architecture.
    """
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

    kind = str(metadata.get("general.architecture", ""))
    architectures = {_bare(name) for name in GGUF_CONFIG_MAPPING} - {"general", "tokenizer"}
    # The library accepts further spellings, such as "qwen2moe" and "gpt-oss".
    if not any(name in _bare(kind) for name in architectures):
        raise _unknown(kind)


def _unknown(kind: str) -> ModelError:
    import transformers

    return ModelError(
        "model.architecture-unknown",
        name=_printable(kind),
        version=transformers.__version__,
        code="model-architecture",
    )


def _bare(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _printable(name: str) -> str:
    return visible(name[:_MAX_NAME]) or "?"

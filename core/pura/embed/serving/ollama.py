"""Ollama's store of models, read and never written.

Ollama keeps a model as a manifest, which names blobs by their SHA-256. The one with the weights is
a GGUF file that llama.cpp loads as it is; others hold a system prompt and texts that end an answer.

    python -m pura.embed.serving.ollama NAME

prints where the weights of a model lie, for ``pura profile new`` and ``pura model install``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pura.base.errors import GenerationError, PuraError
from pura.base.files import open_regular, read_bounded
from pura.base.json_text import read_json

STORE_VARIABLE: Final = "OLLAMA_MODELS"
_DEFAULT_HOST: Final = "registry.ollama.ai"
_DEFAULT_NAMESPACE: Final = "library"
_DEFAULT_TAG: Final = "latest"
# Where the service of Ollama's Linux installer keeps its models, and where a user's own does.
_STORES: Final = (Path("/usr/share/ollama/.ollama/models"), Path("~/.ollama/models"))
_PART: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
_MEDIA: Final = "application/vnd.ollama.image."
_MAX_MANIFEST: Final = 1 << 20
_MAX_SETTINGS: Final = 1 << 20
_MAGIC: Final = b"GGUF"
# Without these the file of weights is not the model that Ollama would run.
_BESIDE_WEIGHTS: Final = ("adapter", "projector", "messages")


@dataclass(frozen=True, kw_only=True)
class OllamaModel:
    """A model of Ollama's store.

    Attributes:
        name: Its name with tag, as Ollama lists it.
        weights: The GGUF file.
        digest: SHA-256 of the manifest's weights, 64 hex digits, as the store has it.
        size: Of the weights, in bytes.
        modified: When the manifest was written, seconds since 1970.
        system: The system prompt; empty for none.
        stop: Texts that end an answer.
    """

    name: str
    weights: Path
    digest: str
    size: int
    modified: float
    system: str = ""
    stop: tuple[str, ...] = ()


def store_folder() -> Path:
    """Return the folder of models: what ``OLLAMA_MODELS`` names, or where Ollama keeps them.

    Raises:
        GenerationError: There is none.
    """
    named = os.environ.get(STORE_VARIABLE)
    candidates = [Path(named)] if named else [path.expanduser() for path in _STORES]
    for folder in candidates:
        if (folder / "manifests").is_dir():
            return folder
    raise GenerationError("ollama.no-store", name=STORE_VARIABLE)


def find_model(name: str, store: Path) -> OllamaModel:
    """Look up a model.

    Args:
        name: ``NAME``, ``NAME:TAG`` or ``HOST/NAMESPACE/NAME:TAG``.
        store: Ollama's folder of models.

    Raises:
        GenerationError: There is none of that name, or it is not one file of weights.
    """
    manifest_path = store / "manifests" / _manifest_of(name)
    if not manifest_path.is_file():
        raise GenerationError("ollama.no-model", name=name[:100])
    layers = _layers(manifest_path)
    for beside in _BESIDE_WEIGHTS:
        if beside in layers:
            raise GenerationError("ollama.beside", name=name[:100], what=beside)
    if "model" not in layers:
        raise GenerationError("ollama.damaged", name=name[:100])
    weights, digest = _blob(store, layers["model"], name)
    with open_regular(weights) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise GenerationError("ollama.damaged", name=name[:100])
    return OllamaModel(
        name=name if ":" in name else f"{name}:{_DEFAULT_TAG}",
        weights=weights,
        digest=digest,
        size=weights.stat().st_size,
        modified=manifest_path.stat().st_mtime,
        system=_text(store, layers.get("system"), name).strip(),
        stop=_stops(_text(store, layers.get("params"), name), name),
    )


def _manifest_of(name: str) -> Path:
    """Return where the manifest of a name lies below the manifests."""
    path, _, tag = name.partition(":")
    parts = path.split("/")
    usual = [_DEFAULT_HOST, _DEFAULT_NAMESPACE]
    whole = [*usual[: max(0, 3 - len(parts))], *parts, tag or _DEFAULT_TAG]
    if len(whole) != 4 or not all(_PART.fullmatch(part) for part in whole):
        raise GenerationError("ollama.no-model", name=name[:100])
    return Path(*whole)


def _layers(path: Path) -> dict[str, Any]:
    """Return the layers of a manifest by the end of their media type."""
    try:
        manifest = read_json(read_bounded(path, _MAX_MANIFEST, GenerationError))
        return {str(layer["mediaType"]).removeprefix(_MEDIA): layer for layer in manifest["layers"]}
    except (ValueError, KeyError, TypeError):
        raise GenerationError("ollama.damaged", name=path.name) from None


def _blob(store: Path, layer: Any, name: str) -> tuple[Path, str]:
    """Return the file of a layer and its digest."""
    match = _DIGEST.fullmatch(str(layer.get("digest")))
    path = store / "blobs" / f"sha256-{match[1]}" if match else None
    if match is None or path is None or not path.is_file():
        raise GenerationError("ollama.damaged", name=name[:100])
    if path.stat().st_size != layer.get("size"):
        raise GenerationError("ollama.damaged", name=name[:100])
    return path, match[1]


def _text(store: Path, layer: Any, name: str) -> str:
    if layer is None:
        return ""
    content = read_bounded(_blob(store, layer, name)[0], _MAX_SETTINGS, GenerationError)
    return content.decode("utf-8", "replace")


def _stops(settings: str, name: str) -> tuple[str, ...]:
    """Return the texts that end an answer; the profile rules all other settings."""
    if not settings:
        return ()
    try:
        stops = json.loads(settings).get("stop", [])
    except (ValueError, AttributeError):
        raise GenerationError("ollama.damaged", name=name[:100]) from None
    listed = [stops] if isinstance(stops, str) else stops
    return tuple(stop for stop in listed if isinstance(stop, str) and stop)


def main() -> None:
    """Print where the weights of a model lie."""
    parser = argparse.ArgumentParser(prog="python -m pura.embed.serving.ollama")
    parser.add_argument("name", help="name of a model, as `ollama list` shows it")
    options = parser.parse_args()
    try:
        model = find_model(options.name, store_folder())
    except PuraError as error:
        parser.error(str(error))
    print(model.weights)  # noqa: T201  (the answer of the command)


if __name__ == "__main__":
    main()

"""What is known of an installed model: the record ``pura-model.json`` in its folder.

The record is written last, so a folder without one is not a model, whatever else it holds.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pura.base.errors import ModelError
from pura.base.files import open_regular
from pura.model.safety import read_object

RECORD: Final = "pura-model.json"
_BLOCK: Final = 4 << 20
_MAX_RECORD: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class InstalledModel:
    """One model of the store.

    Attributes:
        name: Its name in the store.
        folder: Its folder in the store, which holds the record.
        path: Where weights and tokenizer lie; another place when the model is only referenced.
        source: Where it came from, in words.
        licence: Licence of the weights, or "" when unknown.
        fingerprint: 16 hex digits that name the weights.
        tokenizer_fingerprint: 16 hex digits (docs/scheme.md §6).
        architecture: Class name.
        parameters: Numbers stored.
        dtype: Their format as stored.
        vocab_size: ``len(tokenizer)``.
        weights: Where the weights came from: ``safetensors`` or ``gguf``.
        size_bytes: Of all its files.
        created: When it was installed, ISO 8601 in UTC.
        files: SHA-256 by file name.
    """

    name: str
    folder: Path
    path: Path
    source: str
    licence: str
    fingerprint: str
    tokenizer_fingerprint: str
    architecture: str
    parameters: int
    dtype: str
    vocab_size: int
    weights: str
    size_bytes: int
    created: str
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def referenced(self) -> bool:
        """True when the files lie outside the store and are only pointed at."""
        return self.path != self.folder

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON holds it: without the folder that it lies in."""
        data = asdict(self)
        del data["folder"]
        data["path"] = str(self.path) if self.referenced else "."
        data["files"] = dict(self.files)
        return data


_FIELDS: Final = {
    "name": str,
    "path": str,
    "source": str,
    "licence": str,
    "fingerprint": str,
    "tokenizer_fingerprint": str,
    "architecture": str,
    "parameters": int,
    "dtype": str,
    "vocab_size": int,
    "weights": str,
    "size_bytes": int,
    "created": str,
    "files": dict,
}


def read_record(folder: Path) -> InstalledModel:
    """Read the record of an installed model.

    Raises:
        ModelError: No record, or a damaged one: the folder is not a complete model.
    """
    data = read_object(folder / RECORD, _MAX_RECORD)
    for name, kind in _FIELDS.items():
        if type(data.get(name)) is not kind:
            raise ModelError("model.file-damaged", name=folder.name, code="model-damaged")
    path = folder if data["path"] == "." else Path(data["path"])
    known = {name: data[name] for name in _FIELDS if name != "path"}
    return InstalledModel(folder=folder, path=path, **known)


def write_record(model: InstalledModel, folder: Path) -> None:
    """Write the record into ``folder`` so that it is there whole or not at all."""
    text = json.dumps(model.to_dict(), indent=2, ensure_ascii=False) + "\n"
    partial = folder / (RECORD + ".part")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / RECORD)


def file_hash(path: Path, checkpoint: Callable[[], None] | None = None) -> str:
    """Return the SHA-256 of a file in hex.

    Raises:
        ModelError: The file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with open_regular(path) as file:
            while block := file.read(_BLOCK):
                if checkpoint is not None:
                    checkpoint()
                digest.update(block)
    except OSError:
        raise ModelError("model.folder", name=path.name) from None
    return digest.hexdigest()


def model_fingerprint(files: Mapping[str, str], *, gguf: bool = False) -> str:
    """Return the 16 hex digits that name a model.

    SHA-256 over the sorted ``name NUL digest NUL`` of its weights and its config. A GGUF file
    counts by its content alone, so that its converted form, whose bytes depend on the library
    that wrote them, keeps the name of what it was made from.
    """
    text = hashlib.sha256()
    for name, digest in sorted(files.items()):
        text.update(b"gguf" if gguf else name.encode())
        text.update(b"\0" + digest.encode() + b"\0")
    return text.hexdigest()[:16]

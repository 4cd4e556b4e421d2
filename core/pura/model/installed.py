"""An installed model: its record, its copying, and whether it still is what it was."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from pura.base.errors import ModelError
from pura.base.files import open_regular
from pura.model.safety import MAX_JSON_BYTES, inspect_folder, read_object

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


def verify(
    model: InstalledModel,
    progress: Callable[[int, int], None],
    checkpoint: Callable[[], None],
) -> None:
    """Compare a model with its record.

    Args:
        model: The installed model.
        progress: Gets files done and files in all.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        ModelError: What is missing, changed or new, by name; or the folder has become unsafe.
    """
    inspect_folder(model.path)
    there = {path.name for path in _files(model.path)}
    missing = sorted(model.files.keys() - there)
    # Documentation may come and go; whatever a loader could read may not.
    new = sorted(name for name in there - model.files.keys() if _is_loaded(name))
    changed = []
    known = sorted(there & model.files.keys())
    for number, name in enumerate(known):
        progress(number, len(known))
        if file_hash(model.path / name, checkpoint) != model.files[name]:
            changed.append(name)
    progress(len(known), len(known))
    faults = [
        f"{what}: {', '.join(names)}"
        for what, names in (("missing", missing), ("changed", changed), ("new", new))
        if names
    ]
    if faults:
        raise ModelError(
            "model.changed", name=model.name, faults="; ".join(faults), code="model-changed"
        )


def refuse_changed(model: InstalledModel) -> None:
    """Refuse a model whose settings or tokenizer are not what was installed and rehearsed.

    Weights are large and hold numbers only; :func:`verify` hashes them too.

    Raises:
        ModelError: What is missing, changed or new, by name.
    """
    there = {path.name: path for path in _files(model.path) if _is_settings(path.name)}
    known = {name: digest for name, digest in model.files.items() if _is_settings(name)}
    faults = sorted(there.keys() ^ known.keys())
    faults += [
        name
        for name in sorted(there.keys() & known.keys())
        if there[name].stat().st_size > MAX_JSON_BYTES or file_hash(there[name]) != known[name]
    ]
    if faults:
        raise ModelError(
            "model.changed", name=model.name, faults=", ".join(faults), code="model-changed"
        )


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and path.name != RECORD]


def _is_loaded(name: str) -> bool:
    return name.endswith(".safetensors") or _is_settings(name)


def _is_settings(name: str) -> bool:
    return name.endswith((".json", ".model", ".txt", ".jinja"))


RESUME: Final = ".resume-"
KEPT_SECONDS: Final = 7 * 24 * 3600
_NOTE: Final = "source.json"


def cache_for(store: Path, source: Path, name: str) -> Path:
    """Return where the copy of a folder grows until it is complete."""
    digest = hashlib.sha256(f"{source}\0{name}".encode("utf-8", "surrogateescape")).hexdigest()
    return store / f"{RESUME}{digest[:16]}"


def copied_bytes(cache: Path, files: Sequence[Path]) -> int:
    """Return how much of the files an earlier run has copied already."""
    if _note(cache) != _facts(files):
        return 0
    return sum(min(_size(cache / "model" / f.name), f.stat().st_size) for f in files)


def copy_files(
    files: Sequence[Path],
    cache: Path,
    progress: Callable[[int, int], None],
    checkpoint: Callable[[], None],
) -> Path:
    """Copy files, or go on with it; returns the folder that holds the copies.

    Args:
        files: The source's files.
        cache: From :func:`cache_for`.
        progress: Gets bytes done and bytes in all.
        checkpoint: Called between blocks; may raise :class:`~pura.base.errors.Cancelled`, after
            which the same call goes on where this one stopped.

    Raises:
        ModelError: The source changed while it was copied.
        OSError: The disk failed.
    """
    made = cache / "model"
    facts = _facts(files)
    if _note(cache) != facts:
        shutil.rmtree(cache, ignore_errors=True)
        made.mkdir(parents=True)
        (cache / _NOTE).write_text(json.dumps(facts), encoding="utf-8")
    total = sum(f.stat().st_size for f in files)
    done, resumed = 0, []
    for file in files:
        before = _size(made / file.name)
        if before:
            resumed.append(file)
        _copy(file, made / file.name, partial(_add, progress, done, total), checkpoint)
        done += file.stat().st_size
    if _facts(files) != facts:
        shutil.rmtree(cache, ignore_errors=True)
        raise _changed()
    for file in resumed:
        if file_hash(file, checkpoint) != file_hash(made / file.name, checkpoint):
            shutil.rmtree(cache, ignore_errors=True)
            raise _changed()
    return made


def sweep(store: Path, now: float | None = None) -> None:
    """Remove interrupted copies that nobody has gone on with for a week."""
    now = time.time() if now is None else now
    for cache in store.glob(f"{RESUME}*"):
        with contextlib.suppress(OSError):
            newest = max(p.stat().st_mtime for p in (cache, cache / "model") if p.exists())
            if now - newest > KEPT_SECONDS:
                shutil.rmtree(cache, ignore_errors=True)


def _add(progress: Callable[[int, int], None], base: int, total: int, done: int) -> None:
    progress(base + done, total)


def _copy(
    source: Path, target: Path, told: Callable[[int], None], checkpoint: Callable[[], None]
) -> None:
    with source.open("rb") as reader, target.open("ab") as writer:
        done = writer.tell()
        reader.seek(done)
        while True:
            checkpoint()
            told(done)
            block = reader.read(_BLOCK)
            if not block:
                break
            writer.write(block)
            done += len(block)


def _facts(files: Sequence[Path]) -> dict[str, list[int]]:
    return {f.name: [f.stat().st_size, f.stat().st_mtime_ns] for f in files}


def _note(cache: Path) -> object:
    try:
        return json.loads((cache / _NOTE).read_bytes())
    except (OSError, ValueError):
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _changed() -> ModelError:
    return ModelError("model.busy")

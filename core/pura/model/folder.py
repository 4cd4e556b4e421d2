"""Inspection of a model folder before any library opens it, and the record of an installed model.

A model folder is untrusted input. This module reads only names, sizes and JSON. It refuses files
that could run code (pickles, Python files, remote code) or exhaust the machine (absurd sizes,
headers that promise more than the file holds). Nothing here imports torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import stat
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from pura.base.errors import ModelError
from pura.base.files import open_regular, write_atomic
from pura.base.json_text import read_json
from pura.base.progress import Checkpoint, never_cancelled
from pura.model.suitability import metadata_of, refuse_quantised

PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib")
CODE: Final = (".py", ".pyc", ".so", ".dll", ".dylib")
MAX_JSON_BYTES: Final = 128 << 20  # a tokenizer of a million tokens takes some 80 MB
MAX_CONFIG_BYTES: Final = 4 << 20
MAX_HEADER_BYTES: Final = 100 << 20  # the limit of the safetensors format itself
_ITEM_BITS: Final = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "I8", "U8", "BOOL"), 8),
}
# Far beyond any causal language model; they stop sizes that are meant to exhaust memory.
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
    """Facts about a model folder, from its own files.

    Attributes:
        weights: The safetensors files, in order of their names.
        architecture: Class name from the config, or its model type.
        parameters: Numbers stored in the weights.
        dtype: The number format of most of them, as safetensors names it.
        config: The parsed ``config.json``.
    """

    weights: tuple[Path, ...]
    architecture: str
    parameters: int
    dtype: str
    config: dict[str, Any]


def inspect(path: Path, *, as_installed: bool = False) -> FolderFacts | None:
    """Check a folder of safetensors or a GGUF file; return None for the latter."""
    if path.is_file():
        metadata_of(path)
        return None
    return inspect_folder(path, as_installed=as_installed)


def inspect_folder(folder: Path, *, as_installed: bool = False) -> FolderFacts:
    """Check a folder of safetensors weights.

    Args:
        folder: The folder.
        as_installed: Whether the tokenizer, byte by byte, was inspected before.

    Raises:
        ModelError: The folder is missing, unsafe or damaged; the file at fault is named.
    """
    names = _names(folder)
    _refuse_code(names)
    _refuse_special(folder, names)
    if "config.json" not in names:
        _refuse_other_kinds(folder, names)
    config = read_object(folder / "config.json", MAX_CONFIG_BYTES)
    _check_config(config)
    # Before the weights are inspected: a quantiser may have packed them in its own format.
    refuse_quantised(config, names, ())
    for name in ("tokenizer_config.json", "processor_config.json"):
        if name in names:
            _refuse_remote_code(read_object(folder / name, MAX_JSON_BYTES), name)
    if "tokenizer.json" in names and not as_installed:
        read_object(folder / "tokenizer.json", MAX_JSON_BYTES)
    if not any(n in names for n in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise ModelError("model.lacks", name="tokenizer.json")
    weights = _weight_files(folder, names)
    counts: dict[str, int] = {}
    tensors: set[str] = set()
    for path in weights:
        header = inspect_safetensors(path)
        tensors |= header.names
        for dtype, numbers in header.counts.items():
            counts[dtype] = counts.get(dtype, 0) + numbers
    refuse_quantised(config, names, tensors)
    kinds = config.get("architectures")
    architecture = kinds[0] if isinstance(kinds, list) and kinds else config["model_type"]
    return FolderFacts(
        weights=weights,
        architecture=str(architecture),
        parameters=sum(counts.values()),
        dtype=max(counts, key=counts.__getitem__),
        config=config,
    )


def _refuse_other_kinds(folder: Path, names: set[str]) -> None:
    """Refuse a folder without a config.json with the kind of its content, if recognised."""
    if "adapter_config.json" in names:
        raise ModelError("model.adapter", name=folder.name, code="model-adapter")
    packed = sorted(name for name in names if name.lower().endswith(".gguf"))
    if packed:
        raise ModelError("model.gguf-folder", name=packed[0], code="model-gguf-folder")


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
    """Refuse pipes, devices and oversized files, on which a library would hang; allow links."""
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
        ModelError: The file is missing, too large, damaged, or not an object.
    """
    name = path.name
    try:
        with open_regular(path) as file:
            file_bytes = file.read(limit + 1)
        if len(file_bytes) > limit:
            raise ModelError("model.file-large", name=name)
        document = read_json(file_bytes)
    except FileNotFoundError:
        raise ModelError("model.lacks", name=name) from None
    except (OSError, ValueError, RecursionError):
        raise ModelError("model.file-damaged", name=name) from None
    if not isinstance(document, dict):
        raise ModelError("model.file-damaged", name=name)
    return document


def _nested(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stack = [document]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(v for v in part.values() if isinstance(v, dict))


def _refuse_remote_code(document: dict[str, Any], name: str) -> None:
    if any("auto_map" in part for part in _nested(document)):
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


@dataclass(frozen=True, kw_only=True)
class SafetensorsHeader:
    """The header of a safetensors file.

    Attributes:
        names: Names of the tensors.
        counts: How many numbers the file holds, by number format.
    """

    names: frozenset[str]
    counts: dict[str, int]


def inspect_safetensors(path: Path) -> SafetensorsHeader:
    """Check header and size of a safetensors file without loading it.

    Raises:
        ModelError: The file is not safetensors, is cut short, or does not fit its header.
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
    return SafetensorsHeader(names=frozenset(header), counts=counts)


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


RECORD: Final = "pura-model.json"
_STAMPS_FILE: Final = f"{RECORD}.seen"
_BLOCK: Final = 4 << 20
_MAX_RECORD: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class InstalledModel:
    """A model in the store.

    Attributes:
        name: Name of the model in the store.
        folder: Folder of the model in the store, which holds the record.
        path: Folder of weights and tokenizer; outside the store if the model is only referenced.
        source: Origin of the model, for people.
        licence: Licence of the weights, or "" if unknown.
        fingerprint: 16 hex digits that name the weights.
        tokenizer_fingerprint: 16 hex digits (scheme.md §6).
        architecture: Class name.
        parameters: Numbers stored.
        dtype: Number format in which they are stored.
        vocab_size: ``len(tokenizer)``.
        weights: Format of the original weights: ``safetensors`` or ``gguf``.
        size_bytes: Total size of the files.
        created: Time of installation, ISO 8601 in UTC.
        files: SHA-256 of each file, by its name.
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
        """Whether the files lie outside the store."""
        return self.path != self.folder

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON, without the folder that it lies in."""
        record = asdict(self)
        del record["folder"]
        record["path"] = str(self.path) if self.referenced else "."
        record["files"] = dict(self.files)
        return record


_JSON_TYPES: Final = {"str": str, "Path": str, "int": int, "Mapping[str, str]": dict}


def read_record(folder: Path) -> InstalledModel:
    """Read the record of an installed model.

    Raises:
        ModelError: The record is missing or damaged: the folder is not a complete model.
    """
    record = read_object(folder / RECORD, _MAX_RECORD)
    stored_fields = [field for field in fields(InstalledModel) if field.name != "folder"]
    if any(
        type(record.get(entry.name)) is not _JSON_TYPES[str(entry.type)] for entry in stored_fields
    ):
        raise ModelError("model.file-damaged", name=folder.name, code="model-damaged")
    path = folder if record["path"] == "." else Path(record["path"])
    arguments = {entry.name: record[entry.name] for entry in stored_fields} | {"path": path}
    return InstalledModel(folder=folder, **arguments)


def write_record(model: InstalledModel, folder: Path) -> None:
    """Write the record of files just hashed to ``folder``, completely or not at all."""
    (folder / _STAMPS_FILE).write_text(
        json.dumps(_stamps(model.path if model.referenced else folder))
    )
    text = json.dumps(model.to_dict(), indent=2, ensure_ascii=False) + "\n"
    partial = folder / (RECORD + ".part")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / RECORD)


def file_hash(path: Path, checkpoint: Checkpoint = never_cancelled) -> str:
    """Return the SHA-256 of a file in hex.

    Raises:
        ModelError: The file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with open_regular(path) as file:
            while block := file.read(_BLOCK):
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
        progress: Called with the files done and all files.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        ModelError: Files are missing, changed or new, which are named; or the folder is unsafe.
    """
    inspect_folder(model.path)
    present = {path.name for path in model_files(model.path)}
    missing = sorted(model.files.keys() - present)
    # Documentation may change; files that a loader could read may not.
    new = sorted(
        name for name in present - model.files.keys() if _is_weights(name) or _is_settings(name)
    )
    changed = []
    recorded = sorted(present & model.files.keys())
    for number, name in enumerate(recorded):
        progress(number, len(recorded))
        if file_hash(model.path / name, checkpoint) != model.files[name]:
            changed.append(name)
    progress(len(recorded), len(recorded))
    faults = [
        f"{change}: {', '.join(names)}"
        for change, names in (("missing", missing), ("changed", changed), ("new", new))
        if names
    ]
    if faults:
        raise ModelError(
            "model.changed", name=model.name, faults="; ".join(faults), code="model-changed"
        )


def refuse_changed(model: InstalledModel) -> None:
    """Refuse a model if its settings or tokenizer changed since they were installed.

    Weights are large and hold numbers only: see :func:`refuse_changed_weights`.

    Raises:
        ModelError: What is missing, changed or new, by name.
    """
    present = {path.name: path for path in model_files(model.path) if _is_settings(path.name)}
    recorded = {name: digest for name, digest in model.files.items() if _is_settings(name)}
    faults = sorted(present.keys() ^ recorded.keys())
    faults += [
        name
        for name in sorted(present.keys() & recorded.keys())
        if present[name].stat().st_size > MAX_JSON_BYTES
        or file_hash(present[name]) != recorded[name]
    ]
    if faults:
        raise ModelError(
            "model.changed", name=model.name, faults=", ".join(faults), code="model-changed"
        )


def refuse_changed_weights(model: InstalledModel) -> None:
    """Refuse a model if its weights changed since they were installed.

    A file is hashed again if its size, time or inode differ from when it was last hashed. Anyone
    who can forge these can also forge the record; :func:`verify` hashes all files.

    Raises:
        ModelError: What is missing, changed or new, by name.
    """
    note = model.folder / _STAMPS_FILE
    before = _note(note)
    recorded = before if isinstance(before, dict) else {}
    now = _stamps(model.path)
    faults = {name for name in model.files if _is_weights(name)} ^ now.keys()
    faults |= {
        name
        for name in now.keys() & model.files.keys()
        if now[name] != recorded.get(name) and file_hash(model.path / name) != model.files[name]
    }
    if faults:
        names = ", ".join(sorted(faults))
        raise ModelError("model.changed", name=model.name, faults=names, code="model-changed")
    if now != recorded:
        with contextlib.suppress(OSError):  # the folder may be read-only
            write_atomic(note, json.dumps(now).encode())


def model_files(folder: Path) -> list[Path]:
    """Return the files of a model in order of their names, without the record and its notes."""
    notes = (RECORD, _STAMPS_FILE)
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name not in notes)


def _is_weights(name: str) -> bool:
    return name.endswith(".safetensors")


def _stamps(folder: Path) -> dict[str, list[int]]:
    """Return size, time and inode of the weights, by name."""
    statuses = {path.name: path.stat() for path in model_files(folder) if _is_weights(path.name)}
    return {
        name: [status.st_size, status.st_mtime_ns, status.st_ino]
        for name, status in statuses.items()
    }


def _is_settings(name: str) -> bool:
    return name.endswith((".json", ".model", ".txt", ".jinja"))


RESUME: Final = ".resume-"
KEPT_SECONDS: Final = 7 * 24 * 3600  # an interrupted copy can be resumed for a week
_NOTE: Final = "source.json"


def cache_for(store: Path, source: Path, name: str) -> Path:
    """Return the folder in which a copy grows until it is complete."""
    digest = hashlib.sha256(f"{source}\0{name}".encode("utf-8", "surrogateescape")).hexdigest()
    return store / f"{RESUME}{digest[:16]}"


def copied_bytes(cache: Path, files: Sequence[Path]) -> int:
    """Return how many bytes of the files an earlier run has copied."""
    if _note(cache / _NOTE) != _facts(files):
        return 0
    return sum(min(_size(cache / "model" / f.name), f.stat().st_size) for f in files)


def copy_files(
    files: Sequence[Path],
    cache: Path,
    progress: Callable[[int, int], None],
    checkpoint: Callable[[], None],
) -> Path:
    """Copy files, or resume an interrupted copy; return the folder that holds the copies.

    Args:
        files: The files to copy.
        cache: From :func:`cache_for`.
        progress: Called with the bytes done and all bytes.
        checkpoint: Called between blocks; may raise :class:`~pura.base.errors.Cancelled`. The
            same call resumes the copy.

    Raises:
        ModelError: The source changed while it was copied.
        OSError: The disk failed.
    """
    target = cache / "model"
    facts = _facts(files)
    if _note(cache / _NOTE) != facts:
        shutil.rmtree(cache, ignore_errors=True)
        target.mkdir(parents=True)
        (cache / _NOTE).write_text(json.dumps(facts), encoding="utf-8")
    total = sum(f.stat().st_size for f in files)
    copied, resumed = 0, []
    for file in files:
        before = _size(target / file.name)
        if before:
            resumed.append(file)
        _copy(file, target / file.name, partial(_add, progress, copied, total), checkpoint)
        copied += file.stat().st_size
    if _facts(files) != facts:
        shutil.rmtree(cache, ignore_errors=True)
        raise ModelError("model.busy")
    for file in resumed:
        if file_hash(file, checkpoint) != file_hash(target / file.name, checkpoint):
            shutil.rmtree(cache, ignore_errors=True)
            raise ModelError("model.busy")
    return target


def sweep(store: Path, now: float | None = None) -> None:
    """Remove interrupted copies that nobody resumed for a week."""
    now = time.time() if now is None else now
    for cache in store.glob(f"{RESUME}*"):
        with contextlib.suppress(OSError):
            newest = max(p.stat().st_mtime for p in (cache, cache / "model") if p.exists())
            if now - newest > KEPT_SECONDS:
                shutil.rmtree(cache, ignore_errors=True)


def _add(progress: Callable[[int, int], None], base: int, total: int, copied: int) -> None:
    progress(base + copied, total)


def _copy(
    source: Path, target: Path, progress: Callable[[int], None], checkpoint: Callable[[], None]
) -> None:
    with source.open("rb") as reader, target.open("ab") as writer:
        copied = writer.tell()
        reader.seek(copied)
        while True:
            checkpoint()
            progress(copied)
            block = reader.read(_BLOCK)
            if not block:
                break
            writer.write(block)
            copied += len(block)


def _facts(files: Sequence[Path]) -> dict[str, list[int]]:
    return {f.name: [f.stat().st_size, f.stat().st_mtime_ns] for f in files}


def _note(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

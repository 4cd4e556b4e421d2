"""A model folder, looked at before any library does, and the record of an installed one.

A model folder is untrusted input. This module reads names, sizes and JSON only, and refuses what
could run code (pickles, Python files, remote code) or take the machine down (absurd sizes,
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


def inspect(path: Path, *, as_installed: bool = False) -> FolderFacts | None:
    """Check a folder of safetensors or a GGUF file; of the latter nothing is told."""
    if path.is_file():
        metadata_of(path)
        return None
    return inspect_folder(path, as_installed=as_installed)


def inspect_folder(folder: Path, *, as_installed: bool = False) -> FolderFacts:
    """Check a folder of safetensors weights.

    Args:
        folder: The folder.
        as_installed: Its tokenizer is, byte by byte, one that was inspected before.

    Raises:
        ModelError: Missing, unsafe or damaged; the file at fault is named.
    """
    names = _names(folder)
    _refuse_code(names)
    _refuse_special(folder, names)
    if "config.json" not in names:
        _refuse_other_kinds(folder, names)
    config = read_object(folder / "config.json", MAX_CONFIG_BYTES)
    _check_config(config)
    # Before the weights: whoever quantised them may have packed them in a format of their own.
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
    """Say what a folder without a config.json is, where that can be told."""
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


@dataclass(frozen=True, kw_only=True)
class SafetensorsHeader:
    """What the header of a safetensors file says.

    Attributes:
        names: Of its tensors.
        counts: How many numbers it holds, by number format.
    """

    names: frozenset[str]
    counts: dict[str, int]


def inspect_safetensors(path: Path) -> SafetensorsHeader:
    """Check header and size of a safetensors file without loading it.

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
_SEEN: Final = f"{RECORD}.seen"
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
        tokenizer_fingerprint: 16 hex digits (scheme.md §6).
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


_JSON_TYPES: Final = {"str": str, "Path": str, "int": int, "Mapping[str, str]": dict}


def read_record(folder: Path) -> InstalledModel:
    """Read the record of an installed model.

    Raises:
        ModelError: No record, or a damaged one: the folder is not a complete model.
    """
    data = read_object(folder / RECORD, _MAX_RECORD)
    own = [field for field in fields(InstalledModel) if field.name != "folder"]
    if any(type(data.get(one.name)) is not _JSON_TYPES[str(one.type)] for one in own):
        raise ModelError("model.file-damaged", name=folder.name, code="model-damaged")
    path = folder if data["path"] == "." else Path(data["path"])
    known = {one.name: data[one.name] for one in own} | {"path": path}
    return InstalledModel(folder=folder, **known)


def write_record(model: InstalledModel, folder: Path) -> None:
    """Write the record of files just hashed into ``folder``; it is there whole or not at all."""
    (folder / _SEEN).write_text(json.dumps(_stamps(model.path if model.referenced else folder)))
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
        progress: Gets files done and files in all.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        ModelError: What is missing, changed or new, by name; or the folder has become unsafe.
    """
    inspect_folder(model.path)
    there = {path.name for path in model_files(model.path)}
    missing = sorted(model.files.keys() - there)
    # Documentation may come and go; whatever a loader could read may not.
    new = sorted(
        name for name in there - model.files.keys() if _is_weights(name) or _is_settings(name)
    )
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

    Weights are large and hold numbers only: see :func:`refuse_changed_weights`.

    Raises:
        ModelError: What is missing, changed or new, by name.
    """
    there = {path.name: path for path in model_files(model.path) if _is_settings(path.name)}
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


def refuse_changed_weights(model: InstalledModel) -> None:
    """Refuse a model whose weights are not what was installed.

    A file is hashed anew where its size, time or inode is another than when it was last hashed.
    Whoever can set these back can set back the record, too; :func:`verify` hashes all.

    Raises:
        ModelError: What is missing, changed or new, by name.
    """
    note = model.folder / _SEEN
    before = _note(note)
    seen = before if isinstance(before, dict) else {}
    now = _stamps(model.path)
    faults = {name for name in model.files if _is_weights(name)} ^ now.keys()
    faults |= {
        name
        for name in now.keys() & model.files.keys()
        if now[name] != seen.get(name) and file_hash(model.path / name) != model.files[name]
    }
    if faults:
        names = ", ".join(sorted(faults))
        raise ModelError("model.changed", name=model.name, faults=names, code="model-changed")
    if now != seen:
        with contextlib.suppress(OSError):  # a folder that nobody may write into
            write_atomic(note, json.dumps(now).encode())


def model_files(folder: Path) -> list[Path]:
    """Return the files of a model in order of their names, without what is noted about it."""
    notes = (RECORD, _SEEN)
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name not in notes)


def _is_weights(name: str) -> bool:
    return name.endswith(".safetensors")


def _stamps(folder: Path) -> dict[str, list[int]]:
    """Return size, time and inode of the weights, by name."""
    found = {path.name: path.stat() for path in model_files(folder) if _is_weights(path.name)}
    return {name: [one.st_size, one.st_mtime_ns, one.st_ino] for name, one in found.items()}


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
    if _note(cache / _NOTE) != _facts(files):
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
    if _note(cache / _NOTE) != facts:
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
        raise ModelError("model.busy")
    for file in resumed:
        if file_hash(file, checkpoint) != file_hash(made / file.name, checkpoint):
            shutil.rmtree(cache, ignore_errors=True)
            raise ModelError("model.busy")
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

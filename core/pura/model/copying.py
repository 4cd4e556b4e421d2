"""Copying a model folder so that an interrupted copy goes on where it stopped.

The copy grows in a hidden folder ``.resume-…`` of the store, which is never listed. A note beside
it says which files, of which size and date, it is a copy of; a source that has changed since is
copied afresh. What was taken over from an earlier run is compared with the source in the end.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pura.base.errors import ModelError
from pura.model.installed import file_hash

RESUME: Final = ".resume-"
KEPT_SECONDS: Final = 7 * 24 * 3600
_BLOCK: Final = 4 << 20
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

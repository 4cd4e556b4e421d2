"""A place inside the store where a model is made, and that leaves nothing behind.

A model is made in a folder whose name starts with ``.partial-`` and moved out of it in one step.
One process at a time holds the store's lock; whoever holds it may sweep what an earlier,
interrupted one left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pura.base.errors import ModelError
from pura.base.files import make_private
from pura.base.locks import file_lock
from pura.model.copying import sweep

PARTIAL: Final = ".partial-"
SPARE_BYTES: Final = 64 << 20


@contextlib.contextmanager
def workshop(folder: Path, need: int) -> Iterator[Path]:
    """Yield a fresh folder inside the store; it is gone afterwards, however it ends.

    Args:
        folder: The store; made when it is not there.
        need: Bytes that the work will take.

    Raises:
        ModelError: No space, no permission, or another installation is under way.
    """
    try:
        make_private(folder)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise ModelError("model.folder-write", why=error.errno or 0) from None
    if free < need + SPARE_BYTES:
        raise ModelError(
            "model.space",
            need=_megabytes(need + SPARE_BYTES),
            free=_megabytes(free),
            code="model-space",
        )
    with _locked(folder / ".lock"):
        for remains in folder.glob(f"{PARTIAL}*"):
            shutil.rmtree(remains, ignore_errors=True)
        sweep(folder)
        shop = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=folder))
        try:
            yield shop
        except OSError as error:
            raise ModelError("model.folder-write", why=error.errno or 0) from None
        finally:
            shutil.rmtree(shop, ignore_errors=True)


def sync(path: Path) -> None:
    """Force a file or folder onto the disk, where the system can do that."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _megabytes(size: int) -> int:
    return -(-size // 1_000_000)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the store's lock; an installation takes too long to wait for it."""
    try:
        lock = file_lock(path)
        lock.acquire()
    except TimeoutError:
        raise ModelError("model.busy") from None
    except OSError as error:
        raise ModelError("model.folder-write", why=error.errno or 0) from None
    try:
        yield
    finally:
        lock.release()

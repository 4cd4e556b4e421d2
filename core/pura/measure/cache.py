"""A folder of arrays of uneven length, which a study computes once and reads many times."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import BaseFileLock

from pura.base.files import file_lock

Array = npt.NDArray[Any]


class Cache:
    """Rows of arrays by name, with one file for each name.

    Files are written atomically, so an interrupted study can resume, and two processes may fill the
    same cache.

    Args:
        folder: Folder of the cache; created if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._claims: dict[str, BaseFileLock] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def __contains__(self, name: str) -> bool:
        return self._path(name).exists()

    def names(self) -> list[str]:
        """Return the names in the cache, sorted."""
        return sorted(p.name.removesuffix(".npz") for p in self._folder.glob("*.npz"))

    def put(self, name: str, columns: Mapping[str, Sequence[Array]]) -> None:
        """Store columns of arrays.

        Args:
            name: Name of the file.
            columns: For each column, an array [..., L_i] for each row; rows may differ in the
                length of their last axis.
        """
        flat: dict[str, Array] = {}
        for column, rows in columns.items():
            flat[column] = np.concatenate([np.asarray(r) for r in rows], axis=-1)
            flat[f"{column}/lengths"] = np.array([np.shape(r)[-1] for r in rows], dtype=np.int64)
        part = self._path(name).with_suffix(f".{os.getpid()}.part")
        with part.open("wb") as file:
            np.savez(file, **flat)  # type: ignore[arg-type]  # its stub takes every name for a switch
        part.replace(self._path(name))
        if claim := self._claims.pop(name, None):
            claim.release()

    def claim(self, name: str) -> bool:
        """Claim the work for a name; return False if it is done or claimed by another process.

        A claim ends with its process, so that a dead process leaves nothing to clean up.
        """
        lock = file_lock(self._path(name).with_suffix(".claim"))
        try:
            lock.acquire()
        except TimeoutError:
            return False
        if name in self:
            lock.release()
            return False
        self._claims[name] = lock  # until it is stored, or this process ends
        return True

    def get(self, name: str) -> dict[str, list[Array]]:
        """Return the arrays stored under a name, as a list for each column."""
        with np.load(self._path(name), allow_pickle=False) as arrays:
            return {
                column: np.split(
                    arrays[column], np.cumsum(arrays[f"{column}/lengths"])[:-1], axis=-1
                )
                for column in arrays.files
                if not column.endswith("/lengths")
            }

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.npz"

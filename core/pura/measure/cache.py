"""A folder of arrays of uneven length: what a study computes once and reads many times."""

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
    """Rows of arrays under a name, one file a name.

    A file appears whole or not at all, so a study that was stopped goes on where it was, and two
    processes may fill one cache.

    Args:
        folder: Made when it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._claims: dict[str, BaseFileLock] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def __contains__(self, name: str) -> bool:
        return self._path(name).exists()

    def names(self) -> list[str]:
        """Return the names on the cache, sorted."""
        return sorted(p.name.removesuffix(".npz") for p in self._folder.glob("*.npz"))

    def put(self, name: str, columns: Mapping[str, Sequence[Array]]) -> None:
        """Store columns of arrays.

        Args:
            name: Of the file.
            columns: By column, one array [..., L_i] a row; rows may differ in their last axis.
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
        """Take on the work for a name; False when it is done or another process is at it.

        Only a process that runs holds a claim: one that died leaves nothing to clean up.
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
        """Return what was stored under a name; one list of arrays a column."""
        with np.load(self._path(name), allow_pickle=False) as data:
            return {
                column: np.split(data[column], np.cumsum(data[f"{column}/lengths"])[:-1], axis=-1)
                for column in data.files
                if not column.endswith("/lengths")
            }

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.npz"

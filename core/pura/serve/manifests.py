"""Manifests that belong to payloads: what the operator says about where they are.

A soft binding (C2PA) is a payload that an identified mark carries. Its value is the payload as a
number, big-endian, in as many bytes as its bits need, in base64.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final

from pura.base.decoder import DecodeError, Decoder
from pura.base.errors import PayloadError, ServeError
from pura.base.files import read_bounded
from pura.base.strict import read_json
from pura.scheme import Payload

SCHEMA: Final = "pura-manifests/1"
MAX_BYTES: Final = 64 << 20
MAX_MANIFEST: Final = 16 << 20
_BYTE: Final = 8
_DECODER: Final = Decoder(sparse=True)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A C2PA manifest and the payload that leads to it.

    Attributes:
        payload: Characters 0 and 1.
        manifest: Its identifier.
        endpoint: Address of the interface that has it; empty: this one, from ``file``.
        file: The manifest store, beside the index; empty: an endpoint has it.
    """

    payload: str
    manifest: str
    endpoint: str = ""
    file: str = ""

    @property
    def value(self) -> str:
        """The value of the soft binding."""
        return binding(self.payload)


@dataclass(frozen=True, kw_only=True)
class Manifests:
    """The index of manifests.

    Attributes:
        schema: :data:`SCHEMA`.
        alg: The name of this detector's soft binding, as C2PA's list of algorithms has it.
        manifests: See there.
        folder: Where the files are.
    """

    schema: str
    alg: str
    manifests: tuple[Manifest, ...]
    folder: str = ""

    @classmethod
    def read(cls, path: Path) -> Manifests:
        """Read an index.

        Raises:
            ServeError: It is none, or names a file that is not there.
        """
        data = read_bounded(path, MAX_BYTES, ServeError)
        try:
            raw = read_json(data)
            if isinstance(raw, dict):
                raw["folder"] = str(path.parent.resolve())
            found = _DECODER.decode(cls, raw)
            where = _amiss(found)
        except DecodeError as error:
            where = error.where or "manifests"
        except ValueError:
            where = "JSON"
        if where:
            raise ServeError("serve.manifests", name=path.name, where=where, code="usage")
        return found

    def of(self, payloads: Iterable[str]) -> tuple[Manifest, ...]:
        """Return the manifests of payloads, each once, in their order."""
        each = (self._by.get(payload, ()) for payload in dict.fromkeys(payloads))
        return tuple(chain.from_iterable(each))

    def bound(self, value: str) -> tuple[Manifest, ...]:
        """Return the manifests of a soft binding's value.

        Raises:
            ValueError: It is no base64.
        """
        try:
            wanted = base64.b64encode(base64.b64decode(value, validate=True)).decode()
        except binascii.Error:
            raise ValueError("base64") from None
        return self._bound.get(wanted, ())

    def store(self, identifier: str) -> bytes | None:
        """Return a manifest store that is held here; None where it is not.

        Raises:
            ServeError: Its file cannot be read, or is too large.
        """
        for one in self.manifests:
            if one.manifest == identifier and one.file:
                return read_bounded(Path(self.folder) / one.file, MAX_MANIFEST, ServeError)
        return None

    @cached_property
    def _by(self) -> dict[str, tuple[Manifest, ...]]:
        return _grouped((one.payload, one) for one in self.manifests)

    @cached_property
    def _bound(self) -> dict[str, tuple[Manifest, ...]]:
        return _grouped((one.value, one) for one in self.manifests)


def binding(payload: str) -> str:
    """Return a payload as the value of a soft binding."""
    size = -(-len(payload) // _BYTE)
    return base64.b64encode(int(payload, 2).to_bytes(size, "big")).decode()


def _grouped(pairs: Iterable[tuple[str, Manifest]]) -> dict[str, tuple[Manifest, ...]]:
    found: dict[str, tuple[Manifest, ...]] = {}
    for name, one in pairs:
        found[name] = (*found.get(name, ()), one)
    return found


def _amiss(index: Manifests) -> str:
    """Return the place of what is wrong; empty where nothing is."""
    if index.schema != SCHEMA:
        return "schema"
    if not index.alg:
        return "alg"
    folder = Path(index.folder)
    for place, one in enumerate(index.manifests):
        try:
            Payload(text=one.payload)
        except PayloadError:
            return f"manifests[{place}].payload"
        if not one.manifest:
            return f"manifests[{place}].manifest"
        if bool(one.file) is bool(one.endpoint):
            return f"manifests[{place}].file"
        there = (folder / one.file).resolve()
        if one.file and not (there.is_relative_to(folder) and there.is_file()):
            return f"manifests[{place}].file"
    return ""

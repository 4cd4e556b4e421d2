"""Power tables that an organisation measured: as JSON, sealed and signed."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.decoder import DecodeError, Decoder, later
from pura.base.errors import PolicyError, naming, unusable
from pura.base.files import read_bounded, read_start, write_or_refuse
from pura.base.json_text import canonical, read_json, sha256
from pura.verdict.power import PowerEntry, PowerTable

TABLE_SCHEMA: Final = "pura-power/1"
MAX_BYTES: Final = 1 << 22
_DECODER: Final = Decoder()


@dataclass(frozen=True, kw_only=True)
class _PowerJson:
    schema: str
    level: float
    conditions: dict[str, Any]
    entries: tuple[Any, ...]
    likelihood: Any = later(None)


def load_power(path: Path) -> PowerTable:
    """Read a power table.

    Raises:
        PolicyError: The file cannot be read or is damaged; the entry is named.
    """
    text = read_start(path, MAX_BYTES, PolicyError)
    try:
        data = read_json(text) if len(text) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        raise _refuse(phrase("what.no-json")) from None
    return parse_power(data)


_UNFIT: Final = phrase("what.unfit")


def _refuse(what: Phrase, name: str = "") -> PolicyError:
    return unusable(PolicyError, "power", what, name)


def parse_power(data: object) -> PowerTable:
    """Read a power table from parsed JSON.

    Raises:
        PolicyError: It is damaged; the entry is named.
    """
    if not isinstance(data, dict) or data.get("schema") != TABLE_SCHEMA:
        raise _refuse(phrase("what.schema", schema=TABLE_SCHEMA))
    try:
        whole = _DECODER.decode(_PowerJson, data)
    except DecodeError as error:
        raise _refuse(error.what, error.where) from None
    if not 0.5 <= whole.level < 1:
        raise _refuse(_UNFIT, "level")
    likelihood = None
    if whole.likelihood is not None:
        from pura.decode.likelihood import (  # late: few tables hold one
            LikelihoodError,
            LikelihoodModel,
        )

        try:
            likelihood = LikelihoodModel.from_dict(whole.likelihood)
        except LikelihoodError:
            raise _refuse(_UNFIT, "likelihood") from None
        if likelihood.fingerprint != whole.conditions.get("likelihood"):
            raise _refuse(_UNFIT, "likelihood")
    models = whole.conditions.get("models", [])
    if not isinstance(models, list) or not all(isinstance(m, str) for m in models):
        raise _refuse(_UNFIT, "models")
    return PowerTable(
        entries=tuple(
            _parse_entry(entry, i + 1, whole.level) for i, entry in enumerate(whole.entries)
        ),
        models=tuple(models),
        conditions=whole.conditions,
        fingerprint=_fingerprint(data),
        likelihood=likelihood,
    )


def _fingerprint(data: object) -> str:
    try:
        return sha256(canonical(data))
    except (ValueError, RecursionError):
        raise _refuse(phrase("what.no-json")) from None


def _parse_entry(entry: object, number: int, level: float) -> PowerEntry:
    try:
        if isinstance(entry, dict) and "level" in entry:
            raise DecodeError(phrase("what.unknown"), "level")
        data = {**entry, "level": level} if isinstance(entry, dict) else entry
        parsed = _DECODER.decode(PowerEntry, data)
    except DecodeError as error:
        where = error.below(f"entries[{number - 1}]")
        raise _refuse(error.what, where) from None
    if not len(parsed.usable) == len(parsed.found) == len(parsed.texts) > 0:
        raise _refuse(_UNFIT, f"entries[{number - 1}]")
    if parsed.usable[0] < 0 or any(
        low >= high for low, high in zip(parsed.usable, parsed.usable[1:], strict=False)
    ):
        raise _refuse(_UNFIT, f"entries[{number - 1}].usable")
    if any(not 0 <= f <= n for f, n in zip(parsed.found, parsed.texts, strict=True)):
        raise _refuse(_UNFIT, f"entries[{number - 1}].found")
    return parsed


SCHEMA: Final = "pura-power-file/1"
SHORT: Final = 16
"""Digits of a fingerprint that people are shown, and that name a file of the folder."""
MAX_NAME: Final = 80
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_KEYS: Final = {"schema", "table", "sha256"}


@dataclass(frozen=True, kw_only=True)
class PowerFile:
    """A sealed table.

    Attributes:
        data: The table as plain JSON values.
        table: The same, read.
        signature: CMS over :func:`statement`, DER; None where nobody signed.
    """

    data: Mapping[str, Any]
    table: PowerTable
    signature: bytes | None = None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the table, 64 hex digits."""
        return self.table.fingerprint

    def to_bytes(self) -> bytes:
        """Return the file."""
        whole: dict[str, Any] = {"schema": SCHEMA, "table": self.data, "sha256": self.fingerprint}
        if self.signature is not None:
            whole["signature"] = base64.b64encode(self.signature).decode()
        return json.dumps(whole, ensure_ascii=False, indent=1).encode() + b"\n"


def statement(fingerprint: str) -> bytes:
    """Return the bytes that are signed."""
    return canonical({"schema": SCHEMA, "sha256": fingerprint})


def seal(data: Mapping[str, Any], signature: bytes | None = None) -> PowerFile:
    """Seal a table.

    Args:
        data: The table as plain JSON values.
        signature: Over the :func:`statement` of its fingerprint.

    Raises:
        PolicyError: It is no table.
    """
    return PowerFile(data=data, table=parse_power(data), signature=signature)


def parse_power_file(data: bytes) -> PowerFile:
    """Read a sealed table.

    Raises:
        PolicyError: Not such a file, or its fingerprint is not that of the table in it.
    """
    try:
        whole = read_json(data)
    except (ValueError, RecursionError):
        raise unusable(PolicyError, "power", phrase("what.no-json")) from None
    if not isinstance(whole, dict) or whole.get("schema") != SCHEMA:
        raise unusable(PolicyError, "power", phrase("what.schema", schema=SCHEMA))
    if whole.keys() - {"signature"} != _KEYS or not isinstance(whole["table"], dict):
        raise unusable(PolicyError, "power", phrase("what.schema", schema=SCHEMA))
    sealed = seal(whole["table"], _signature(whole.get("signature")))
    _check_conditions(sealed.table.conditions)
    if sealed.fingerprint != whole["sha256"]:
        raise PolicyError("power.altered", code="power-altered")
    return sealed


def read_power_file(path: Path) -> PowerFile:
    """Read a sealed table from a file; see :func:`parse_power_file`."""
    data = read_bounded(path, MAX_BYTES, PolicyError)
    with naming(path.name):
        return parse_power_file(data)


class PowerFolder:
    """The sealed tables of this installation, a file each.

    Args:
        folder: Usually ``user_paths().power``; made when the first one is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def paths(self) -> tuple[Path, ...]:
        """Return all files, sound or not."""
        found = self.folder.glob("*.json") if self.folder.is_dir() else ()
        return tuple(sorted(path for path in found if not path.name.startswith(".")))

    def find(self, name: str) -> Path:
        """Return the file of a table.

        Args:
            name: The beginning of its fingerprint, or what it is called.

        Raises:
            PolicyError: There is none, or more than one.
        """
        found = [p for p in self.paths() if name and p.stem.startswith(name.lower()[:SHORT])]
        found = found or [p for p in self.paths() if _called(p) == name]
        if len(found) != 1:
            if found:
                raise PolicyError("name.ambiguous", name=name[:SHORT], code="power-several")
            raise PolicyError("power.absent", name=name[:SHORT], code="power-absent")
        return found[0]

    def get(self, name: str) -> PowerFile:
        """Return a table by its fingerprint, the beginning of that, or its name.

        Raises:
            PolicyError: It is not here, damaged, or another one than asked for.
        """
        sealed = read_power_file(self.find(name))
        if len(name) > SHORT and sealed.fingerprint != name and sealed.table.name != name:
            raise PolicyError("power.absent", name=name[:SHORT], code="power-absent")
        return sealed

    def put(self, sealed: PowerFile) -> Path:
        """Store a table; one that is here already takes its signature.

        Raises:
            PolicyError: The folder cannot be written.
        """
        path = self.folder / f"{sealed.fingerprint[:SHORT]}.json"
        write_or_refuse(path, sealed.to_bytes(), PolicyError, own=True)
        return path

    def remove(self, name: str) -> None:
        """Delete a table.

        Raises:
            PolicyError: It is not here, or cannot be deleted.
        """
        path = self.find(name)
        try:
            path.unlink()
        except OSError:
            raise PolicyError("file.delete", name=path.stem) from None


def _called(path: Path) -> str | None:
    try:
        return read_power_file(path).table.name
    except PolicyError:
        return None


def _check_conditions(conditions: Mapping[str, Any]) -> None:
    """Refuse what records and sentences could not name."""
    name, date, texts = (conditions.get(k) for k in ("name", "date", "texts"))
    sound = (
        isinstance(name, str)
        and 0 < len(name) <= MAX_NAME
        and name.isprintable()
        and isinstance(date, str)
        and _DAY.fullmatch(date)
        and type(texts) is int
    )
    if not sound:
        raise unusable(PolicyError, "power", phrase("what.unfit"), "conditions")


def _signature(value: object) -> bytes | None:
    if value is None:
        return None
    try:
        if not isinstance(value, str):
            raise TypeError
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError):
        raise unusable(PolicyError, "power", phrase("what.schema", schema=SCHEMA)) from None

"""Power tables that an organisation measured: the sealed file, and the folder that keeps it.

The file holds the table (:mod:`pura.verdict.power_json`), its SHA-256 in canonical form, and,
where somebody signed it, a signature over that number. A policy names a table by the number, so
what a policy relies on cannot be altered unseen, signed or not; the signature tells others who
answers for it (:mod:`pura.usecases.power` checks it). ::

    {"schema": "pura-power-file/1", "table": {…}, "sha256": "64 hex digits",
     "signature": "CMS, DER, Base64; may be left out"}
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pura.base.canonical import canonical
from pura.base.catalogue import phrase
from pura.base.errors import PolicyError, naming, unusable
from pura.base.files import read_bounded, write_or_refuse
from pura.base.strict import read_json
from pura.verdict.power import PowerTable
from pura.verdict.power_json import MAX_BYTES, parse_power

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

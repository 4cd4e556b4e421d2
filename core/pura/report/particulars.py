"""What a report was told beside the audits, as a file inside it: its pages can be made again.

All of it stands on the pages anyway; names of the sealed annex are not in it.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from typing import Any, Final

from pura.base.strict import read_json
from pura.report.request import ItemNotes, Parties, ReportRequest
from pura.version import __version__

SCHEMA: Final = "pura-particulars/1"
NAME: Final = "particulars.json"
_ADDED: Final = {"standing": ""}  # which files of 0.2.0 do not have
_PARTS: Final[dict[str, type[Parties | ItemNotes]]] = {"parties": Parties, "item": ItemNotes}


@dataclass(frozen=True, kw_only=True)
class Particulars:
    """What the pages of a report are made of beside its record.

    Attributes:
        request: What it was told.
        annex: SHA-256 of the sealed annex; empty when there is none.
        made_with: Names and versions of the programs that made it.
    """

    request: ReportRequest
    annex: str = ""
    made_with: dict[str, str]


def here() -> dict[str, str]:
    """Return the versions on which the bytes of a report depend."""
    return {"pura": __version__, "typst": metadata.version("typst")}


def write(request: ReportRequest, annex: str) -> bytes:
    """Return the file."""
    told = asdict(request)
    told["logo"] = None if request.logo is None else base64.b64encode(request.logo).decode()
    whole = {"schema": SCHEMA, "made_with": here(), "annex": annex, "request": told}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True).encode()


def read(data: bytes) -> Particulars:
    """Read the file.

    Raises:
        ValueError: It is none, or a field is missing, unknown or of another type.
    """
    found = read_json(data)
    try:
        if found.pop("schema") != SCHEMA:
            raise ValueError("schema")
        told, made_with, annex = found.pop("request"), found.pop("made_with"), found.pop("annex")
        if found or not isinstance(annex, str):
            raise ValueError("fields")
        return Particulars(
            request=_request(told),
            annex=annex,
            made_with={str(name): str(version) for name, version in made_with.items()},
        )
    except (AttributeError, KeyError, TypeError, binascii.Error) as error:
        raise ValueError(type(error).__name__) from None


def _request(told: dict[str, Any]) -> ReportRequest:
    plain = _ADDED | told
    for name, kind in _PARTS.items():
        plain[name] = _typed(kind, plain[name])
    plain["redactions"] = _ranges(plain["redactions"])
    plain["further"] = tuple(_ranges(part) for part in plain["further"])
    if plain["logo"] is not None:
        plain["logo"] = base64.b64decode(plain["logo"], validate=True)
    request: ReportRequest = _typed(ReportRequest, plain)
    return request


def _typed(kind: Any, plain: dict[str, Any]) -> Any:
    known = {field.name: field.type for field in fields(kind)}
    if plain.keys() != known.keys():
        raise ValueError("fields")
    for name, value in plain.items():
        wanted = {"str": str, "int": int, "bool": bool}.get(str(known[name]))
        if wanted is not None and type(value) is not wanted:
            raise ValueError(name)
    return kind(**plain)


def _ranges(found: Any) -> tuple[tuple[int, int], ...]:
    ranges = tuple((start, end) for start, end in found)
    if not all(type(number) is int for pair in ranges for number in pair):
        raise ValueError("ranges")
    return ranges

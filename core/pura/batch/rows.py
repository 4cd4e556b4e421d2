"""One flat row a text: columns of its finding beside where it stands, in JSON and out.

The columns are those of ``resources/batch-row.schema.json``. Rows hold nothing that differs from
one run to the next: the same texts, keys, profile and model give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from functools import cache
from typing import Any, Final

from pura.base.decoder import DecodeError, Decoder, later
from pura.base.errors import PuraError, RecordError
from pura.record.finding import COLUMNS, Finding, named_marks, named_payload
from pura.words.sentences import headline

NOT_EXAMINABLE: Final = "not-examinable"
MAX_ROW_BYTES: Final = 64 << 20
"""Longest line of a file of rows; passages and fields are what makes one long."""

Row = dict[str, Any]
"""Plain JSON values by the names of :func:`columns`, in their order."""

_PLACE: Final[dict[str, Any]] = {
    "input": int,  # number of the file in the order of the inputs, from 1
    "item": int,  # number of the row, message or entry within its file, from 1
    "piece": int,  # number of the text within that, from 1
    "id": str | None,  # the caller's own identifier
    "path": str,
    "part": str,
    "digest": str | None,  # SHA-256 of the text in UTF-8; None where there is no text
    "verdict": str,  # ``not-examinable`` for all that no text could be made of
}
_ORDER: Final = (
    *("log10_e", "payload", "payload_best", "payload_posterior", "payloads_in_question"),
    *("fields_outside", "fields", "marks", "marks_payloads", "passages", "passages_limits"),
    *("share", "tokens", "usable", "hidden", "cautions", "undone"),
    *("register_entry", "register_who", "register_posterior", "key", "profile", "model"),
)
"""As files of rows have always had them; what is new comes behind."""
_STATE: Final[dict[str, Any]] = {
    "chosen": bool | None,  # from the batch, at a false discovery rate; None where none was asked
    "error": str | None,  # code of what went wrong
    "message": str | None,  # the same in words, English
}
_DECODER: Final = Decoder()


@cache
def columns() -> dict[str, Any]:
    """Return the columns of a row with their types, in their order."""
    named = {name: one.kind for name, one in COLUMNS.items() if one.batch}
    found = {name: named[name] for name in (*_ORDER, *named) if name not in _PLACE}
    return {**_PLACE, **{name: _holding(kind) for name, kind in found.items()}, **_STATE}


def _holding(kind: Any) -> Any:
    """Return the type of a column of a finding where there may be none."""
    return kind if _many(kind) else kind | None


def _many(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is tuple


@cache
def _shape() -> Any:
    """Return rows as a type that can be checked."""
    own = {**_PLACE, **_STATE}
    made = [
        (
            name,
            kind,
            field() if name in own else later(() if _many(kind) else None, omitted=False),
        )
        for name, kind in columns().items()
    ]
    about = {"__doc__": "What became of one text."}
    return make_dataclass("Row", made, namespace=about, kw_only=True)


def row_of(place: Mapping[str, Any], found: Mapping[str, Any]) -> Row:
    """Return a row.

    Args:
        place: Where the text stands, and whether it was chosen.
        found: See :func:`finding_of` and :func:`failed`.
    """
    given = {**place, **found}
    return {name: given.get(name, [] if _many(kind) else None) for name, kind in columns().items()}


def read_row(data: object) -> Row:
    """Read a row, also one that an earlier version wrote.

    Such a row states a payload and its fields without saying how probable they are, so they are
    taken for the most probable ones, and for nothing more.

    Raises:
        RecordError: It is none of ours.
    """
    try:
        _DECODER.decode(_shape(), data)
    except DecodeError:
        raise RecordError("batch.row", code="batch-row") from None
    row = row_of({}, dict(data))  # type: ignore[call-overload]  # an object of JSON
    stated = row["payload"]
    if stated is not None and row["payload_best"] is None:
        unknown = ("payload", "register_entry", "register_who", "register_posterior")
        row |= {**dict.fromkeys(unknown), "payload_best": stated}
        row["fields"] = dict.fromkeys(row["fields"]) if row["fields"] else None
    return row


def row_line(row: Row) -> bytes:
    """Return one line of a file of rows, with its line feed."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def finding_in(row: Row) -> Finding | None:
    """Return what a row says of a text; None where there is no finding."""
    if row["log10_e"] is None and row["verdict"] != NOT_EXAMINABLE:
        return None
    if row["payload_best"] is None:  # several marks, or none; their fields are in the records
        payloads = [named_payload(bits or "", {}) for bits in row["marks_payloads"]]
    else:
        fields = row["fields"] or {}
        payloads = [named_payload(row["payload"] or "", fields, best=row["payload_best"])]
    marks = row["marks"] or 0
    return Finding(
        name=row["id"] or row["path"],
        sha256=row["digest"] or "",
        tokens=row["tokens"] or 0,
        usable=row["usable"] or 0,
        verdict=row["verdict"],
        log10_e=row["log10_e"] or 0.0,
        marks=named_marks(payloads),
        counted=marks,
        share=row["share"] if row["verdict"] == "mark" else None,
        headline=headline(row["verdict"], marks),
        undone=tuple(row["undone"]),
    )


def finding_of(finding: Finding, error: PuraError | None = None) -> dict[str, Any]:
    """Return the columns of a row that a finding fills.

    Args:
        finding: The finding.
        error: Why the text could not be examined.
    """
    row = {name: one.of(finding) for name, one in COLUMNS.items() if one.batch}
    if error is not None:
        row |= dict.fromkeys(("log10_e", "marks", "share", "hidden"))
    return row | failed(error)


def failed(error: PuraError | None) -> dict[str, Any]:
    """Return the columns that say what went wrong."""
    if error is None:
        return {"error": None, "message": None}
    return {"verdict": NOT_EXAMINABLE, "error": error.code, "message": str(error)}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a row, made from its columns."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of a batch of audits",
        **_DECODER.schema(_shape()),
        # A file has all columns; those of earlier versions are read without some.
        "required": [*columns()],
    }

"""One flat row a text: its columns, how a record becomes one, and JSON in and out.

The columns are those of ``resources/batch-row.schema.json``. Rows hold nothing that differs from
one run to the next: the same texts, keys, profile and model give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final, Self

from pura.base.errors import PuraError, RecordError
from pura.record.audit import Audit

NOT_EXAMINABLE: Final = "not-examinable"
MAX_ROW_BYTES: Final = 64 << 20
"""Longest line of a file of rows; passages and fields are what makes one long."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What became of one text.

    Attributes:
        input: Number of the file in the order of the inputs, from 1.
        item: Number of the row, message or entry within its file, from 1.
        piece: Number of the text within that, from 1.
        id: The caller's own identifier.
        path: Full path of the file.
        part: Which part of the file.
        digest: SHA-256 of the text in UTF-8; None where there is no text.
        verdict: As in the record; ``not-examinable`` for all that no text could be made of.
        log10_e: log10 of the e-value.
        payload: Bits, where the verdict is ``mark``.
        fields: What the profile's layout makes of them, by name.
        passages: First character and the one after the last, of all marks.
        share: Part of the tokens that lies in passages.
        tokens: Length of the text.
        usable: Steps that carry bits.
        register_entry: Number of the most probable entry of the register.
        register_who: To whom its payload was issued.
        register_posterior: Its weight.
        key: Fingerprint of the key that the finding is about.
        profile: Fingerprint of the profile.
        model: Fingerprint of the model.
        chosen: Chosen from the batch at the false discovery rate that was asked for; None where
            none was.
        error: Code of what went wrong.
        message: The same in words, English.
    """

    input: int
    item: int
    piece: int
    id: str | None
    path: str
    part: str
    digest: str | None
    verdict: str
    log10_e: float | None = None
    payload: str | None = None
    fields: Mapping[str, str] | None = None
    passages: tuple[tuple[int, int], ...] = ()
    share: float | None = None
    tokens: int | None = None
    usable: int | None = None
    register_entry: int | None = None
    register_who: str | None = None
    register_posterior: float | None = None
    key: str | None = None
    profile: str | None = None
    model: str | None = None
    chosen: bool | None = None
    error: str | None = None
    message: str | None = None

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a row.

        Raises:
            RecordError: It is none of ours.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(data, dict) or data.keys() != names:
            raise RecordError("batch.row", code="batch-row")
        _check_types(data)
        spans = tuple((int(start), int(end)) for start, end in data["passages"])
        return cls(**(data | {"passages": spans}))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, in the order of the columns."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["passages"] = [list(span) for span in self.passages]
        return found

    def to_json(self) -> bytes:
        """Return one line of a file of rows, with its line feed."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def finding_of(audit: Audit, error: PuraError | None = None) -> dict[str, Any]:
    """Return the columns of a row that a record fills.

    Args:
        audit: The record.
        error: Why the text could not be examined.
    """
    marked = audit.verdict == "mark"
    passages = sorted({(p.first_token, p.last_token, p.start, p.end) for p in _passages(audit)})
    match = audit.register.matches[0] if audit.register and audit.register.matches else None
    return {
        "verdict": audit.verdict,
        "log10_e": audit.evidence.log10_e if error is None else None,
        "payload": audit.payload.bits or None if marked else None,
        "fields": {f.name: f.text for f in audit.payload.fields} if marked else None,
        "passages": [[start, end] for _, _, start, end in passages],
        "share": _share(passages, audit.input.tokens) if error is None else None,
        "tokens": audit.input.tokens,
        "usable": audit.evidence.usable,
        "register_entry": match.entry if match else None,
        "register_who": match.who if match else None,
        "register_posterior": match.posterior if match else None,
        "key": audit.key.fingerprint,
        "profile": audit.profile.fingerprint,
        "model": audit.model.fingerprint,
    } | failed(error)


def failed(error: PuraError | None) -> dict[str, Any]:
    """Return the columns that say what went wrong."""
    if error is None:
        return {"error": None, "message": None}
    return {"verdict": NOT_EXAMINABLE, "error": error.code, "message": str(error)}


def _passages(audit: Audit) -> list[Any]:
    if audit.verdict != "mark":
        return []
    return [p for mark in audit.marks for p in mark.passages] or list(audit.passages)


def _share(passages: list[tuple[int, int, int, int]], tokens: int) -> float:
    """Return the part of the tokens inside the passages, each token counted once."""
    covered, reached = 0, -1
    for first, last, _, _ in passages:
        covered += max(0, last - max(first, reached + 1) + 1)
        reached = max(reached, last)
    return round(covered / tokens, 6) if tokens else 0.0


_PLAIN: Final = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}


@cache
def _types() -> dict[str, tuple[type, ...]]:
    found: dict[str, tuple[type, ...]] = {}
    for field in fields(Row):
        base, _, rest = str(field.type).partition(" | ")
        if base in _PLAIN:
            found[field.name] = (*_PLAIN[base], *([type(None)] if rest else []))
    return found


def _check_types(data: dict[str, Any]) -> None:
    for name, kinds in _types().items():
        value = data[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise RecordError("batch.row", code="batch-row")
    spans, named = data["passages"], data["fields"]
    whole = isinstance(spans, list) and all(
        isinstance(s, list) and len(s) == 2 and all(type(end) is int for end in s) for s in spans
    )
    strings = named is None or (
        isinstance(named, dict)
        and all(isinstance(k, str) and isinstance(v, str) for k, v in named.items())
    )
    if not whole or not strings:
        raise RecordError("batch.row", code="batch-row")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a row, made from its columns."""
    words = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
    properties: dict[str, Any] = {}
    for field in fields(Row):
        base, _, rest = str(field.type).partition(" | ")
        if base in words:
            properties[field.name] = {"type": [words[base], "null"] if rest else words[base]}
    span = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    properties["passages"] = {"type": "array", "items": span}
    strings = {"type": "string"}
    properties["fields"] = {"type": ["object", "null"], "additionalProperties": strings}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of a batch of audits",
        "type": "object",
        "properties": {field.name: properties[field.name] for field in fields(Row)},
        "required": [field.name for field in fields(Row)],
        "additionalProperties": False,
    }

"""The record as JSON and back, without loss; without its text; and one number over its findings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from pura.base.decoder import decode, refused_as, schema_of
from pura.base.errors import RecordError
from pura.base.json_text import canonical, former, json_text, read_json, sha256
from pura.record.audit import SCHEMA, Audit
from pura.record.evidence import encode
from pura.record.finding import SUMMARY, VALUES, ShownValue
from pura.record.naming import WITHHELD, CandidateFacts, Passage

_FORMER: Final = {"payload": "decoded"}
"""What records of earlier versions called otherwise: there a payload in question had that name."""
_SUMMARY: Final = (
    "schema",
    "id",
    "created",
    "input",
    "verdict",
    "evidence",
    "power",
    "bits",
    "key",
    "decoder",
    "cautions",
    "prompts",
    "questions",
    "prior",
    "limits",
    "stopped",
    "rereading",
    "epochs",
    "schemes",
    "register",
    "provenance",
    "bindings",
)
FINDING: Final = "pura-finding/2"
_OF_FIELDS: Final = {"type": ["object", "null"]}
_NAMED: Final[dict[str, dict[str, Any]]] = {
    "payload": {
        "type": ["string", "null"],
        "description": "The payload where it is identified, of a text with one mark.",
    },
    "payload_best": {
        "type": ["string", "null"],
        "description": "The most probable payload, identified or not.",
    },
    "payload_posterior": {"type": ["number", "null"], "description": "Its weight."},
    "payloads_in_question": {
        "type": ["integer", "null"],
        "description": "The fewest payloads that together have the weight that identifies; where "
        "those that are listed do not have it, their number: at least so many are in question.",
    },
    "payload_withheld": {
        "enum": [*WITHHELD, None],
        "description": "Why the payload is withheld and nobody is named: its words fit the mark "
        "far less than a text written under it (unfit), or the mark stands in short pieces of "
        "several marked texts (pieces). Null where it is not withheld.",
    },
    "fields_outside": {
        "type": ["array", "null"],
        "items": {"type": "string"},
        "description": "Fields that are identified and outside the limits that the profile states.",
    },
    "fields": _OF_FIELDS | {"additionalProperties": {"type": ["string", "null"]}},
    "fields_best": _OF_FIELDS | {"additionalProperties": {"type": "string"}},
    "fields_posterior": _OF_FIELDS | {"additionalProperties": {"type": ["number", "null"]}},
}


def summary(audit: Audit) -> dict[str, Any]:
    """Return the part of the record that answers the question; the names are the record's.

    It is no record, and says so: its schema is ``resources/finding.schema.json``.
    """
    whole = audit.to_dict() | {"schema": FINDING}
    found: dict[str, Any] = {name: whole[name] for name in _SUMMARY if name in whole}
    payload = audit.payload
    found |= dict.fromkeys(_NAMED) if payload is None else payload.columns()
    found["passages"] = encode(tuple(p for _, p in audit.finding.passages))
    found |= {name: one.of(audit.finding) for name, one in _summarised().items()}
    found["input"] = {name: part for name, part in found["input"].items() if name not in found}
    found["marks"] = [
        {"number": mark.number, "key": mark.key, "log10_e": mark.log10_e}
        | {"share": mark.share, "passages": encode(mark.passages)}
        | mark.payload.columns()
        | {"candidates": encode(mark.candidates)}
        for mark in audit.named_marks
    ]
    if audit.marks_limited:
        found["more_marks"] = True
    return found


def _summarised() -> dict[str, ShownValue]:
    return {name: one for name, one in VALUES.items() if SUMMARY in one.files}


def to_json(audit: Audit) -> str:
    """Return the whole record as JSON text."""
    return json_text(audit.to_dict())


def from_json(text: str | bytes) -> Audit:
    """Read a record.

    Raises:
        RecordError: Not JSON, another schema, or a part is missing, unknown or of a wrong type.
    """
    with refused_as(RecordError, "record"):
        data = read_json(text)
    return from_dict(data)


def from_dict(data: object) -> Audit:
    """Read a record from parsed JSON; see :func:`from_json`."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise RecordError("record.schema", schema=SCHEMA)
    body = {_FORMER.get(k, k): v for k, v in data.items() if k != "schema"}
    with refused_as(RecordError, "record", "record"):
        return decode(Audit, body)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the record, generated from its dataclasses."""
    body = schema_of(Audit)
    body["properties"] = {"schema": {"const": SCHEMA}, **body["properties"]}
    body["required"] = ["schema", *body["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "PURA audit record",
        **body,
    }


def finding_schema() -> dict[str, Any]:
    """Return the JSON Schema of a row of ``pura verify --json`` that holds a finding."""
    whole = json_schema()
    parts = {name: whole["properties"][name] for name in _SUMMARY if name in whole["properties"]}
    text = {"type": "string"}
    item = dict(parts["input"])
    of_input = {n: part for n, part in item["properties"].items() if n not in _summarised()}
    item["properties"] = of_input | {"path": text}
    error = dict.fromkeys(("code", "message", "hint"), text)
    number = {"type": ["number", "null"]}
    about = {
        "number": {"type": "integer", "description": "From 1, in the order of the text."},
        "key": text,
        "log10_e": number | {"description": "Of the statement that its passages carry a mark."},
        "share": number,
        "passages": {"type": "array", "items": schema_of(Passage)},
        **_NAMED,
        "candidates": {"type": "array", "items": schema_of(CandidateFacts)},
    }
    mark = {
        "type": "object",
        "description": "One mark and what may be said of its payload.",
        "properties": about,
        "required": sorted(about),
        "additionalProperties": False,
    }
    parts |= {
        "schema": {"const": FINDING},
        "input": item,
        "error": {"type": "object", "properties": error, "required": ["code", "message"]},
        **_NAMED,
        "passages": {
            "type": "array",
            "items": schema_of(Passage),
            "description": "Of all marks, in the order of the text; marks tell them apart.",
        },
        **{name: schema_of((one.kind, one.about)) for name, one in _summarised().items()},
        "marks": {"type": "array", "items": mark},
        "read_alone": {
            "const": True,
            "description": "It was read by itself, since reading it beside others failed.",
        },
        "more_marks": {"const": True, "description": "A limit was reached: there may be more."},
    }
    return whole | {
        "title": "PURA finding",
        "description": "What an audit found, without how it was found.",
        "properties": parts,
        "required": sorted(
            {*whole["required"]} & {*_SUMMARY} | {*_NAMED, *_summarised(), "marks", "passages"}
        ),
    }


NO_ID: Final = -1


def without_text(audit: Audit) -> Audit:
    """Return the record without text, token ids and the texts of other readings."""
    variants = tuple(replace(one, text=None) for one in audit.variants)
    ids = np.full_like(audit.tokens.ids, NO_ID)
    return replace(audit, text=None, variants=variants, tokens=replace(audit.tokens, ids=ids))


FORM: Final = 2
FORMS: Final = (FORM, 1)
"""2 is RFC 8785; 1 stands in reports of version 0.1.0, whose fractions Python wrote."""
_PARTS: Final = (
    "text",
    "prompt",
    "profile",
    "tokens",
    "steps",
    "bits",
    "payload",
    "decoder",
    "candidates",
    "evidence",
    "verdict",
    "passages",
    "variants",
    "policy",
)


def findings_digest(audit: Audit, form: int = FORM) -> str:
    """Return the SHA-256 over the findings, 64 hex digits.

    Args:
        audit: The record.
        form: One of :data:`FORMS`, how the findings are written to be hashed.
    """
    whole = audit.to_dict()
    # Records of earlier versions keep their number: what they called payload keeps that name here.
    whole["payload"] = whole["decoded"]
    part: dict[str, Any] = {name: whole[name] for name in _PARTS}
    later = (
        *("marks", "more_marks", "prompts", "questions", "prior", "limits", "power", "stopped"),
        "rereading",
    )
    part |= {name: whole[name] for name in later if name in whole}
    part["keys"] = [key["fingerprint"] for key in whole["keys"]]
    part["model"] = whole["model"]["fingerprint"]
    part["device"] = [whole["device"]["kind"], whole["device"]["dtype"]]
    return sha256(former(part) if form == 1 else canonical(part))

"""The rows that commands write with ``--json``, a type for each kind, and their JSON Schema.

``resources/rows.schema.json`` is written from these types by ``make schemas``.
"""

from __future__ import annotations

import types
import typing
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict


class RefusedInput(TypedDict):
    """The input that an error is about."""

    name: str
    path: str
    part: NotRequired[str]


class Problem(TypedDict):
    """What went wrong, and the way out."""

    code: str
    message: str
    hint: NotRequired[str]


class ErrorRow(TypedDict):
    """Why an input of pura verify is no finding; without an input: why none can be."""

    input: NotRequired[RefusedInput]
    error: Problem


class ChoiceRow(TypedDict):
    """Which texts of pura verify --fdr are chosen."""

    fdr: float
    texts: int
    chosen: list[str]


class BatchRow(TypedDict):
    """The summary of a batch."""

    output: str
    rows: int
    outcomes: dict[str, int]
    errors: dict[str, int]
    chosen: int | None
    examined_now: int
    read_alone: Annotated[
        int, "Texts of this run that were read one by one, since reading them together failed."
    ]
    seconds: float
    skipped: dict[str, int]
    missing: Annotated[
        tuple[int, int] | None,
        "Input and row of the first row that is not there: a shard's result is missing.",
    ]


class KeyRow(TypedDict):
    """A stored key, without its secret."""

    name: str
    fingerprint: str
    created: str
    note: str
    role: Literal["single", "master", "derived"]
    master: str
    deployment: str
    place: Literal["keyring", "files"]


class KeyStoreRow(TypedDict):
    """The state of the key store."""

    store: str
    state: str
    files: str
    message: str
    hint: str


class KeyCheckRow(TypedDict):
    """Whether a stored key can be read."""

    name: str
    fingerprint: str
    state: str
    message: str
    hint: str


class ModelMemory(TypedDict):
    """Whether a model fits into memory."""

    fits: bool | None
    need_bytes: int
    free_bytes: int | None
    reason: str


class ModelRow(TypedDict):
    """An installed model."""

    name: str
    path: str
    source: str
    licence: str
    fingerprint: str
    tokenizer_fingerprint: str
    architecture: str
    parameters: int
    dtype: str
    vocab_size: int
    weights: Literal["safetensors", "gguf"]
    size_bytes: int
    created: str
    files: dict[str, str]
    memory: ModelMemory


class FitnessResult(TypedDict):
    """How one text was read."""

    tokens: int
    usable: int
    log10_e: float
    matched: bool
    bits_right: float


class Interval(TypedDict):
    """A measured value with its interval."""

    value: float | None
    low: float | None
    high: float | None


class FitnessRow(TypedDict):
    """How well a model reads the marks of a profile."""

    model: str
    model_fingerprint: str
    profile: str
    dtype: str
    made_here: bool
    results: list[FitnessResult]
    found: Interval
    matched: Interval
    evidence: Interval
    evidence_per_100: Interval
    bits_right: Interval
    kl_bits: Interval | None
    source: str | None
    word: str
    rule: str


class PowerRow(TypedDict):
    """A power table, docs/power.md."""

    level: float
    conditions: dict[str, Any]
    entries: list[Any]


class IssueRow(TypedDict):
    """An entry of the register of issued payloads."""

    entry: int
    payload: str
    who: str
    when: str
    model: str


class ReportCheck(TypedDict):
    """One check of a report."""

    name: str
    state: str
    finding: str
    text: str


class ReportCheckRow(TypedDict):
    """What became of the checks of a report."""

    file: str
    sha256: str
    signed: bool
    standing: Literal["amiss", "unsigned", "signed", "trusted"]
    headline: str
    checks: list[ReportCheck]


class MissingValue(TypedDict):
    """A value that an erasure took out of an entry."""

    log: str
    seq: int
    field: str


class CaseReview(TypedDict):
    """What a second person made of a finding."""

    state: Literal["confirmed", "disputed"]
    time: str
    who: str | None
    by: str
    recomputed: str | None
    words: str | None


class CaseFinding(TypedDict):
    """A finding of a case."""

    id: str
    name: str | None
    sha256: str | None
    verdict: str
    log10_e: float | None
    payload: str | None
    text: Literal["keep", "seal", "leave-out"]
    run: int
    marks: int | None
    examiner: str | None
    examined: str
    auditor: str | None
    saved: str
    kept: bool
    missing: bool
    review: CaseReview | None


class CaseRow(TypedDict):
    """A case of the case log."""

    id: str
    name: str | None
    opened: str
    changed: str
    auditor: str | None
    tags: list[str]
    held: bool
    closed: bool
    imported: str
    failures: int
    missing: list[MissingValue]
    notes: list[dict[str, Any]]
    audits: list[CaseFinding]
    history: NotRequired[list[dict[str, Any]]]


class LogCheckRow(TypedDict):
    """One check of the case log; further fields are the values of its text."""

    check: str
    state: str
    code: str
    text: str


class DoctorRow(TypedDict):
    """One thing that pura doctor looked at."""

    check: str
    grade: Literal["ok", "warning", "fault"]
    text: str
    hint: str


class AttackRow(TypedDict):
    """A text that was attacked, and how hard it was hit."""

    text: str
    ids: list[int]
    by: str | None
    characters: float
    words: float
    tokens: float
    similarity: float
    perplexity_before: float | None
    perplexity: float | None


class BitCounts(TypedDict):
    """What a decoder saw at one payload bit."""

    readings: NotRequired[int]
    gamma: NotRequired[float]
    wrong: NotRequired[bool]
    bound: NotRequired[float]


class DecompositionRow(TypedDict):
    """What of the evidence an attack took, and why."""

    paper: dict[str, float | None]
    exact: dict[str, float | None]
    paper_interval: dict[str, tuple[float, float]]
    exact_interval: dict[str, tuple[float, float]]
    paper_bits: list[BitCounts]
    exact_bits: list[BitCounts]
    outcome: dict[str, Any]
    token: list[int]
    position: list[int]
    z: list[float]
    synchronised: list[bool]


class ScoreRow(TypedDict):
    """A score of summaries or translations, or a difference of two."""

    metric: Literal["rouge1", "bleu", "bertscore"]
    system: str
    against: str | None
    texts: int
    value: float
    low: float
    high: float
    by: str


class ComparisonRow(TypedDict):
    """Watermarks compared with one model."""

    model: str
    cells: list[dict[str, Any]]
    unmarked: list[dict[str, Any]]


class TokenRow(TypedDict):
    """A token that a detector is asked with."""

    id: str
    name: str
    role: str
    per_day: int
    made: str
    expires: str
    revoked: str


class StatedPlace(TypedDict):
    """A stretch of the text, in characters; ``end`` is after the last."""

    start: int
    end: int


class StatedMark(TypedDict):
    """A mark in a statement."""

    places: list[StatedPlace]
    fields: dict[str, str]


class StatementFacts(TypedDict):
    """What a statement says."""

    schema: Literal["pura-statement/1", "pura-statement/2"]
    detector: str
    version: str
    role: str
    language: str
    id: str
    verdict: str
    headline: str
    strength: str
    supports: Literal["mark", "no-mark", ""]
    meaning: str
    sha256: str
    created: str
    policy: str
    policy_name: str
    marks: list[StatedMark] | None
    record: str


class StatementCheckRow(TypedDict):
    """What became of the checks of a detector's statement."""

    file: str
    standing: Literal["amiss", "signed", "trusted"]
    headline: str
    statement: StatementFacts | None
    checks: list[ReportCheck]


ROWS: Final[dict[str, type]] = {
    "error": ErrorRow,
    "choice": ChoiceRow,
    "batch": BatchRow,
    "key": KeyRow,
    "key-store": KeyStoreRow,
    "key-check": KeyCheckRow,
    "model": ModelRow,
    "fitness": FitnessRow,
    "power": PowerRow,
    "issue": IssueRow,
    "report-check": ReportCheckRow,
    "case": CaseRow,
    "log-check": LogCheckRow,
    "doctor": DoctorRow,
    "attack": AttackRow,
    "decomposition": DecompositionRow,
    "score": ScoreRow,
    "comparison": ComparisonRow,
    "token": TokenRow,
    "statement-check": StatementCheckRow,
}


OPEN: Final = (PowerRow, LogCheckRow)
"""Kinds that hold further fields: those of a table, the values of a text."""

_JSON: Final[dict[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of all kinds of rows, made from their types."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rows of the command",
        "description": "What the commands write with --json, by the field schema. Findings: "
        "finding.schema.json; whole records: audit.schema.json; rows of a batch: "
        "batch-row.schema.json.",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in ROWS],
        "$defs": {kind: _row(kind, row) for kind, row in ROWS.items()},
    }


def _row(kind: str, row: type) -> dict[str, Any]:
    found = _object(row)
    found["properties"] = {"schema": {"const": f"pura-{kind}/1"}, **found["properties"]}
    found["required"] = sorted({"schema", *found["required"]})
    return found


def _object(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        "type": "object",
        "description": kind.__doc__,
        "properties": {name: _schema(one) for name, one in hints.items()},
        # The type itself does not know, where annotations are strings.
        "required": sorted(n for n, h in hints.items() if typing.get_origin(h) is not NotRequired),
        "additionalProperties": kind in OPEN,
    }


def _schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a field's type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is NotRequired:
        return _schema(inner[0])
    if origin is Annotated:
        return {**_schema(inner[0]), "description": inner[1]}
    if origin is Literal:
        return {"enum": [*inner]} if len(inner) > 1 else {"const": inner[0]}
    if origin is types.UnionType:
        return {"anyOf": [_schema(one) for one in inner]}
    if origin is list:
        return {"type": "array", "items": _schema(inner[0])}
    if origin is tuple:
        size = {"minItems": len(inner), "maxItems": len(inner)}
        return {"type": "array", "items": _schema(inner[0]), **size}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    if typing.is_typeddict(kind):
        return _object(kind)
    return {"type": _JSON[kind]} if kind in _JSON else {}

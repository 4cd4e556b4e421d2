"""What goes over the wire, for the description of the interface (OpenAPI 3.1)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Shape(BaseModel):
    """Something that goes over the wire."""

    model_config = ConfigDict(extra="forbid")


class Question(Shape):
    """A text to be checked."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "The city council met on Tuesday evening …"}]},
    )

    text: str = Field(min_length=1, description="The text.")
    name: str = Field(default="text", max_length=200, description="What it is called.")
    case: str | None = Field(
        default=None,
        max_length=200,
        description="Internal askers: the open case of the case log that takes the record.",
    )


class Place(Shape):
    """A stretch of the text, in characters."""

    start: int = Field(description="First character.")
    end: int = Field(description="Character after the last.")


class Mark(Shape):
    """A mark."""

    places: list[Place] = Field(description="Where it stands.")
    fields: dict[str, str] = Field(
        description="Fields of its payload that are identified and released."
    )


class Policy(Shape):
    """The decision rule."""

    name: str
    version: int
    sha256: str = Field(description="Of its canonical JSON (RFC 8785).")


class Answer(Shape):
    """An answer. The public gets verdict, headline and meaning, and nothing else."""

    verdict: Literal[
        "marked",
        "no-statement",
        "mark",
        "indication",
        "no-mark",
        "insufficient",
        "not-examinable",
    ] = Field(description="The public: marked or no-statement. Others: the outcome.")
    headline: str = Field(description="The same in a few words.")
    meaning: str = Field(description="What it means, and what it does not.")
    strength: str | None = Field(default=None, description="How strong the evidence is, in words.")
    supports: Literal["", "mark", "no-mark"] | None = Field(
        default=None, description="What it supports."
    )
    sha256: str | None = Field(default=None, description="Of the bytes that were asked about.")
    created: str | None = Field(default=None, description="When it was read, ISO 8601.")
    policy: Policy | None = None
    marks: list[Mark] | None = None
    statement: str | None = Field(
        default=None,
        description="The signed statement (JWS) of the whole check as it stands here; of the "
        "record, the SHA-256 of its canonical JSON (RFC 8785).",
    )
    record: dict[str, Any] | None = Field(
        default=None, description="Internal askers: the whole record (pura-audit/1)."
    )


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:pura:problem:serve-budget",
                    "title": "The budget is used up for now.",
                    "status": 429,
                    "detail": "Ask again after the time that “Retry-After” says.",
                    "code": "serve-budget",
                }
            ]
        },
    )

    type: str
    title: str = Field(description="What happened and what it means.")
    status: int
    detail: str = Field(description="The way out.")
    code: str = Field(description="Stable, for programs.")


class Check(Shape):
    """A check."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "id": "0Jv2nK1qD3sRzT6uYw8xAbCdEfGhIjKl",
                    "status": "done",
                    "answer": {
                        "verdict": "no-statement",
                        "headline": "No statement",
                        "meaning": "…",
                    },
                },
                {"id": "0Jv2nK1qD3sRzT6uYw8xAbCdEfGhIjKl", "status": "waiting"},
            ]
        },
    )

    id: str = Field(description="Whoever asked fetches the answer under it.")
    status: Literal["waiting", "done", "failed"]
    answer: Answer | None = None
    problem: Problem | None = None


class Meaning(Shape):
    """What an answer of the public means."""

    headline: str
    meaning: str


class FalseFindings(Shape):
    """What holds of false findings, however many questions are asked (docs/evidence.md)."""

    one: float = Field(description="Most chance that a text without the mark is called marked.")
    questions: int | None = Field(
        description="Texts of the least length that the public can ask about within 24 hours; "
        "null: no limit."
    )
    any_of_a_day: float | None = Field(
        description="Most chance that any of these is, whoever asks and however they choose."
    )
    meaning: str


class Detector(Shape):
    """What there is to know of the detector."""

    name: str
    version: str
    contact: str
    detects: str
    least_tokens: int
    languages: list[str] = Field(description="Validated for; empty: nothing was said.")
    formats: list[str] = Field(description="Endings of files that are read.")
    answers: dict[str, Meaning]
    anyone: bool = Field(description="Whoever has no token may ask.")
    most_bytes: int
    most_characters: int
    check_tokens: int = Field(description="Tokens of a text that costs one check of a budget.")
    per_day_block: int | None = Field(
        description="Checks that flow into the budget of an address block in a day; null: no limit."
    )
    policy: Policy
    statement_key: str = Field(
        description="Public key of signed answers, PEM; empty: they are not signed."
    )
    false_findings: FalseFindings


class SoftBinding(Shape):
    """A soft binding (C2PA)."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"alg": "org.example.pura.1", "value": "AaE="}]},
    )

    alg: str = Field(max_length=200, description="Which soft binding it is.")
    value: str = Field(max_length=2000, description="Its value, base64.")


class Match(Shape):
    """A manifest that belongs to a soft binding."""

    manifestId: str = Field(description="The manifest's identifier.")  # noqa: N815
    endpoint: str | None = Field(default=None, description="Who has it; absent: this service.")
    similarityScore: int = Field(  # noqa: N815
        ge=0, le=100, description="Always 100: payloads that are not identified lead nowhere."
    )


class Matches(Shape):
    """Manifests that were found."""

    matches: list[Match]


class Algorithm(Shape):
    """The name of a soft binding."""

    alg: str


class SoftBindings(Shape):
    """Which soft bindings are looked up."""

    watermarks: list[Algorithm]
    fingerprints: list[Algorithm]

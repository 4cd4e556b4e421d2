"""What goes over the wire (OpenAPI 3.1), and errors as problem details (RFC 9457)."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, TypeAlias

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from pura.base.catalogue import phrase
from pura.base.decoder import IS_TEXT, UNBROKEN, described, form_of, text
from pura.base.errors import PuraError
from pura.base.numerals import LANGUAGES

MEDIA: Final = "application/problem+json"
_STATUS: Final = {
    "serve-request": 400,
    "serve-auth": 401,
    "serve-role": 403,
    "serve-elsewhere": 403,
    "serve-unknown": 404,
    "serve-method": 405,
    "serve-slow": 408,
    "serve-large": 413,
    "input-limit": 413,
    "serve-media": 415,
    "serve-host": 421,
    "serve-busy": 429,
    "serve-budget": 429,
    "serve": 503,  # its own files: nothing that the asker could do
    "serve-draining": 503,
    "serve-lost": 503,
    "model-memory": 503,
    "serve-time": 503,
    "internal": 500,
    "serve-fault": 500,
    "disk-full": 507,
}
_UNREADABLE: Final = 422


class RefusalError(PuraError):
    """A question is not taken.

    Args:
        key: As of every error.
        code: As of every error.
        again_s: Seconds after which asking again may do; None: it never will.
        **values: As of every error.
    """

    code = "serve-request"

    def __init__(
        self, key: str, /, *, code: str | None = None, again_s: float | None = None, **values: Any
    ) -> None:
        super().__init__(key, code=code, **values)
        self.again_s = again_s


def language_of(request: Request) -> str:
    """Return the language that is answered in, by ``Accept-Language``; English where none fits."""
    wanted: list[tuple[float, str]] = []
    for part in request.headers.get("accept-language", "").split(",")[:20]:
        name, _, weight = part.strip().partition(";q=")
        try:
            share = float(weight) if weight else 1.0
        except ValueError:
            continue
        wanted.append((-share, name.strip().lower().partition("-")[0]))
    ranked = [name for share, name in sorted(wanted, key=lambda one: one[0]) if share < 0]
    return next((name for name in ranked if name in LANGUAGES), "en")


def details(error: PuraError, language: str) -> dict[str, Any]:
    """Return an error as the members of a problem."""
    happened, way_out = error.words(language)
    return {
        "type": f"urn:pura:problem:{error.code}",
        "title": happened,
        "status": _STATUS.get(error.code, _UNREADABLE),
        "detail": way_out,
        "code": error.code,
    }


def problem(request: Request, error: PuraError) -> JSONResponse:
    """Return an error as an answer."""
    language = language_of(request)
    shown = details(error, language)
    headers = {"Content-Language": language, "Vary": "Accept-Language"}
    if shown["status"] == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if shown["status"] in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE):
        headers["Connection"] = "close"  # the rest of the request is not waited for
    again = getattr(error, "again_s", None)
    if again is not None:
        headers["Retry-After"] = str(max(1, round(again)))
    return JSONResponse(shown, status_code=shown["status"], headers=headers, media_type=MEDIA)


class Shape(BaseModel):
    """Something that goes over the wire."""

    model_config = ConfigDict(extra="forbid")


_Name: TypeAlias = Annotated[str, text(phrase("what.not-text"), 0, 200, UNBROKEN)]
_SomeText: TypeAlias = Annotated[
    str, form_of({"type": "string", "minLength": 1}, IS_TEXT, (bool, IS_TEXT[1]), UNBROKEN)
]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A text to be checked.

    Attributes:
        text: The text.
        name: What it is called.
        case: Internal askers: the open case of the case log that takes the record.
    """

    text: _SomeText
    name: _Name = "text"
    case: _Name | None = None


def question_schema() -> dict[str, Any]:
    """Return the JSON Schema of a question."""
    example = {"text": "The city council met on Tuesday evening …"}
    return described(Question) | {"examples": [example]}


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

"""What goes over the wire (OpenAPI 3.1), and errors as problem details (RFC 9457)."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, TypeAlias

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from pura.base.catalogue import phrase
from pura.base.decoder import IS_TEXT, UNBROKEN, described, form_of, text, whole
from pura.base.errors import PuraError
from pura.base.numerals import LANGUAGES
from pura.record.answers import MARKED, NO_STATEMENT, POLICY, answer_values

MEDIA: Final = "application/problem+json"
_STATUS: Final = {
    "serve-request": 400,
    "serve-auth": 401,
    "serve-role": 403,
    "serve-elsewhere": 403,
    "serve-reference": 403,
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


class SoftBinding(BaseModel):
    """A soft binding (C2PA)."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"alg": "org.example.pura.1", "value": "x5/KWgwBoQ=="}]},
    )

    alg: str = Field(max_length=200, description="Which soft binding it is.")
    value: str = Field(max_length=2000, description="Its value, base64.")


class Binding(BaseModel):
    """A value, and the manifest to which it leads (C2PA)."""

    value: str = Field(
        alias="bindingValue", max_length=2000, description="Base64, with profile and width."
    )
    manifest: str = Field(
        alias="manifestId", max_length=200, description="A manifest that was published here."
    )


def _named(shape: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{shape}"}


def answered(
    name: str, what: str = "The answer.", media: str = "application/json"
) -> dict[str, Any]:
    """Return what OpenAPI says of an answer whose shape is one of :data:`SHAPES`."""
    return {"description": what, "content": {media: {"schema": _named(name)}}}


_MEANING: Final = {"headline": str, "meaning": str}
_ALGORITHM: Final = {"alg": str}
SHAPES: Final[dict[str, Any]] = {
    "Answer": (
        {
            **{n if row.public else f"{n}?": row.shape for n, row in answer_values().items()},
            "statement?": (
                str,
                "Signed statement (JWS) of the whole check; of the record, its SHA-256 (RFC 8785).",
            ),
            "record?": (dict[str, Any], "Internal askers: the whole record (pura-audit/1)."),
        },
        "An answer. The public gets verdict, headline and meaning, and nothing else.",
    ),
    "Problem": (
        {
            "type": str,
            "title": (str, "What happened and what it means."),
            "status": int,
            "detail": (str, "The way out."),
            "code": (str, "Stable, for programs."),
        },
        "What went wrong (RFC 9457).",
    ),
    "Check": (
        {
            "id": (str, "Whoever asked fetches the answer under it."),
            "status": Literal["waiting", "done", "failed"],
            "answer?": form_of(_named("Answer")),
            "problem?": form_of(_named("Problem")),
        },
        "A check.",
    ),
    "Detector": (
        {
            "name": str,
            "version": str,
            "contact": str,
            "detects": str,
            "least_tokens": int,
            "languages": ([str], "Validated for; empty: nothing was said."),
            "formats": ([str], "Endings of files that are read."),
            "answers": (
                dict.fromkeys((MARKED, NO_STATEMENT), _MEANING),
                "What an answer of the public means.",
            ),
            "anyone": (bool, "Whoever has no token may ask."),
            "soft_binding": (
                str,
                "Name of the soft binding (C2PA) by which manifests are found; empty: none are.",
            ),
            "public_lookups": (bool, "The public may look up manifests."),
            "most_bytes": int,
            "most_characters": int,
            "check_tokens": (int, "Tokens of a text that costs one check of a budget."),
            "per_day_block": (
                int | None,
                "Checks that flow into the budget of an address block in a day; null: no limit.",
            ),
            "policy": POLICY,
            "statement_key": (
                str,
                "Public key of signed answers, PEM; empty: they are not signed.",
            ),
            "false_findings": (
                {
                    "one": (float, "Most chance that a text without the mark is called marked."),
                    "questions": (
                        int | None,
                        "Texts of the least length for the public in 24 hours; null: no limit.",
                    ),
                    "any_of_a_day": (
                        float | None,
                        "Most chance that any of these is, whoever asks and however they choose.",
                    ),
                    "meaning": str,
                },
                "What holds of false findings, whatever is asked (evidence.md).",
            ),
        },
        "What there is to know of the detector.",
    ),
    "Matches": (
        {
            "matches": [
                {
                    "manifestId": (str, "The manifest's identifier."),
                    "endpoint?": (str, "Who has it; absent: this service."),
                    "similarityScore?": (
                        Annotated[int, whole(0, 100)],
                        "100 less the bits between the fingerprints of text and manifest, if known",
                    ),
                }
            ]
        },
        "Manifests that were found.",
    ),
    "Published": ({"manifestId": (str, "The active manifest's identifier.")}, "It is kept."),
    "Discovery": (
        dict.fromkeys(
            ("apiEndpoint", "c2paSpecificationVersion", "capabilitiesEndpoint", "statusEndpoint"),
            str,
        ),
        "Where the interface is (C2PA).",
    ),
    "Capabilities": (
        {"c2paSpecificationVersion": str, "supportedCapabilities": [str]},
        "What of the interface there is (C2PA).",
    ),
    "Status": ({"status": Literal["ok", "degraded"]}, "Whether questions are taken (C2PA)."),
    "SoftBindings": (
        {"watermarks": [_ALGORITHM], "fingerprints": [_ALGORITHM]},
        "Which soft bindings are looked up.",
    ),
}
"""What is answered, see :func:`~pura.base.decoder.schema_of`."""

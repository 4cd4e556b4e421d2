"""Errors as problem details (RFC 9457), in the words of the tool and the asker's language."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi.responses import JSONResponse
from starlette.requests import Request

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

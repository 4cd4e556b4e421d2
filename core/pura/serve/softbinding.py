"""From a text to the manifest that was made with it: C2PA's Soft Binding Resolution API 1.0.0.

Who asks gets what the payload of an identified mark leads to, so it takes a token of trusted or
internal askers: the public is told of no payload. Below ``/v1/softbinding`` stand the addresses
that the specification names.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect, Request

from pura.serve import budgets, shapes
from pura.serve.manifests import Manifest, Manifests
from pura.serve.problems import RefusalError
from pura.serve.roles import Asker, Role
from pura.serve.routes import (
    NOT_FOUND,
    PROBLEMS,
    asker_of,
    document_of,
    ended,
    service_of,
)

MEDIA: Final = "application/c2pa"
_TEXTS: Final = ("text", "application")
_GONE: Final = 204
_STRONGEST: Final = 100
_MOST_RESULTS: Final = 1000
_ANSWERS: Final = PROBLEMS | NOT_FOUND

router = APIRouter(prefix="/v1/softbinding", tags=["soft binding"])

MostResults = Annotated[int, Query(alias="maxResults", ge=1)]


@router.get(
    "/services/supportedAlgorithms", response_model=shapes.SoftBindings, responses=NOT_FOUND
)
async def supported(request: Request) -> JSONResponse:
    """Say which soft bindings are looked up."""
    return JSONResponse({"watermarks": [{"alg": _manifests(request).alg}], "fingerprints": []})


@router.get("/matches/byBinding", response_model=shapes.Matches, responses=_ANSWERS)
async def by_binding(
    request: Request,
    value: str,
    alg: str,
    maxResults: MostResults = 10,
) -> JSONResponse:
    """Find manifests by the value of a soft binding."""
    return _looked_up(request, alg, value, maxResults)


@router.post("/matches/byBinding", response_model=shapes.Matches, responses=_ANSWERS)
async def by_large_binding(
    request: Request,
    asked: shapes.SoftBinding,
    maxResults: MostResults = 10,
) -> JSONResponse:
    """Find manifests by the value of a soft binding, which is in the body."""
    return _looked_up(request, asked.alg, asked.value, maxResults)


@router.post(
    "/matches/byContent",
    response_model=shapes.Matches,
    responses=_ANSWERS,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"text/*": {}, "application/*": {}},  # bytes have no schema
        }
    },
)
async def by_content(
    request: Request,
    alg: str = "",
    maxResults: MostResults = 10,
) -> Response:
    """Find manifests by what the marks of a text carry; waits until it is read."""
    service, asker, manifests = service_of(request), _entitled(request), _manifests(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.partition("/")[0] not in _TEXTS:
        raise RefusalError("serve.media", code="serve-media")
    service.admit(asker)
    try:
        data = await request.body()
    except ClientDisconnect:
        return Response(status_code=_GONE)
    name = f"asset{mimetypes.guess_extension(kind) or ''}"
    document = await document_of(request, asker, data, name)
    check = await service.ask(asker, document)
    if not await ended(request, check, within_s=None):
        return Response(status_code=_GONE)
    service.drop(check)
    if check.error is not None:
        raise check.error
    assert check.answer is not None  # it has ended
    known = alg in ("", manifests.alg)
    found = manifests.of(check.answer.payloads) if known else ()
    return _matches(found, maxResults)


@router.get("/manifests/{manifestId}", responses={200: {"content": {MEDIA: {}}}, **_ANSWERS})
async def manifest(
    request: Request,
    manifestId: str,
    returnActiveManifest: bool = False,
) -> Response:
    """Return a manifest store that is held here."""
    _entitled(request)
    found = _manifests(request).store(manifestId)
    if found is None or returnActiveManifest:  # a store is handed out whole, and never opened
        raise RefusalError("serve.unknown", code="serve-unknown")
    return Response(found, media_type=MEDIA)


def _looked_up(request: Request, alg: str, value: str, most: int) -> JSONResponse:
    manifests, asker = _manifests(request), _entitled(request)
    service_of(request).spend(asker, budgets.LOOK_UP)
    try:
        found = manifests.bound(value) if alg == manifests.alg else ()
    except ValueError:
        raise RefusalError("serve.request", field="value", code="serve-request") from None
    return _matches(found, most)


def _matches(found: Sequence[Manifest], most: int) -> JSONResponse:
    shown: list[dict[str, Any]] = [
        {"manifestId": one.manifest, "similarityScore": _STRONGEST}
        | ({"endpoint": one.endpoint} if one.endpoint else {})
        for one in found[: min(most, _MOST_RESULTS)]
    ]
    return JSONResponse({"matches": shown})


def _manifests(request: Request) -> Manifests:
    found: Manifests | None = request.app.state.manifests
    if found is None:
        raise RefusalError("serve.unknown", code="serve-unknown")
    return found


def _entitled(request: Request) -> Asker:
    asker = asker_of(request)
    if asker.role is Role.PUBLIC:
        raise RefusalError("serve.role", code="serve-role")
    return asker
